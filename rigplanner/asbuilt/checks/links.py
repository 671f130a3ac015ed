"""PCIe links: width and generation of each card, the port above it, errors on the way, NUMA nodes
and root ports; and links that no plan names, by the law that a link trains to what both ends
can."""

from collections.abc import Iterator

from rigplanner.asbuilt.checks.line import Line, Pair, Verdict, View
from rigplanner.asbuilt.merged import Card
from rigplanner.asbuilt.promise import PromisedCard
from rigplanner.asbuilt.seen import SeenEvent, of_kind
from rigplanner.machine.nodes import pair_of


def links(view: View) -> Iterator[Line]:
    """Yield the lines of all links."""
    for pair in view.pairs:
        if pair.card is not None:
            yield from _width(pair.promised, pair.card)
            yield from _generation(pair.promised, pair.card, view.loaded)
            yield from _slot(pair, view)
    paired = {pair.card.address for pair in view.pairs if pair.card}
    for card in view.cards:
        if card.address not in paired or not card.address:
            yield from _lawful(card)
        yield from _alive(card)
        yield from _errors(card)
    yield from _told_narrow(view, paired)
    yield from _grouping(view, "numa")
    yield from _grouping(view, "root-port")


def _width(wanted: PromisedCard, card: Card) -> Iterator[Line]:
    seen = card.running.width
    if wanted.width is None or (seen is None and not card.address):
        return
    verdict: Verdict = "unseen" if seen is None else "kept" if seen >= wanted.width else "broken"
    yield Line(
        code="link-width",
        group="links",
        verdict=verdict,
        subject=wanted.piece or wanted.name,
        where=card.address,
        promised=wanted.width,
        seen=seen,
        unit="lanes",
        cause=_width_cause(wanted, card) if verdict == "broken" else "",
        values={"place": wanted.place, "port": card.port.address if card.port else ""},
    )


def _width_cause(wanted: PromisedCard, card: Card) -> str:
    """Return the likely cause: another card, a port that has no more lanes, or contacts."""
    needed = wanted.width or 0
    if card.capable.width is not None and card.capable.width < needed:
        return "card-narrow"
    wired = card.port.capable.width if card.port else card.reachable.width
    if wired is not None and wired < needed:
        return "slot-narrow"
    if wired is None:
        return "slot-or-contacts"
    return "riser-contacts" if wanted.riser else "contacts"


def _generation(wanted: PromisedCard, card: Card, loaded: bool) -> Iterator[Line]:
    """Compare the generation. A GPU at rest lets its link fall back to Gen1: then what its driver
    says the link can reach decides, and without a driver nothing does."""
    seen, reach = card.running.generation, card.reachable.generation
    if wanted.generation is None or (seen is None and reach is None):
        return
    best = max(value for value in (seen, reach) if value is not None)
    resting = card.kind == "gpu" and card.idle is not False and not loaded
    if best >= wanted.generation:
        verdict: Verdict = "kept"
    elif resting and reach is None:
        verdict = "unseen"
    else:
        verdict = "broken"
    yield Line(
        code="link-generation",
        group="links",
        verdict=verdict,
        subject=wanted.piece or wanted.name,
        where=card.address,
        promised=wanted.generation,
        seen=best,
        cause=_generation_cause(wanted, card) if verdict == "broken" else "",
        values={"place": wanted.place, "resting": seen != best or verdict == "unseen"},
    )


def _generation_cause(wanted: PromisedCard, card: Card) -> str:
    needed = wanted.generation or 0
    if (card.capable.generation or needed) < needed:
        return "card-generation"
    port = card.port
    if port is not None and (port.target or needed) < needed <= (port.capable.generation or 0):
        return "bios-generation"
    if port is not None and (port.capable.generation or needed) < needed:
        return "slot-generation"
    return "riser-signal" if wanted.riser else "signal"


def _slot(pair: Pair, view: View) -> Iterator[Line]:
    card, wanted = pair.card, pair.promised
    if card is None or not wanted.place or not view.slots:
        return
    above = card.port.address if card.port else ""
    name = view.slots.get(card.address) or view.slots.get(above)
    if name is None:
        return
    plain = [
        "".join(word for word in text.lower() if word.isalnum()) for text in (name, wanted.place)
    ]
    known = any(
        "".join(word for word in slot.lower() if word.isalnum()) == plain[1]
        for slot in view.slots.values()
    )
    verdict: Verdict = "kept" if plain[0] == plain[1] else "remark" if known else "unseen"
    yield Line(
        code="slot",
        group="links",
        verdict=verdict,
        subject=wanted.piece or wanted.name,
        where=card.address,
        promised=wanted.place,
        seen=name,
        cause="other-slot" if verdict == "remark" else "",
    )


def _lawful(card: Card) -> Iterator[Line]:
    """Judge a link that no plan names: it trains to what both ends can, narrower only by a
    fault."""
    width, own = card.running.width, card.capable.width
    if width is None or own is None or card.kind not in ("gpu", "drive", "network", "other"):
        return
    port = card.port.capable.width if card.port else None
    least = own if port is None else min(own, port)
    if width >= least:
        return
    unnamed = card.kind == "other" and (card.name or card.ids)
    if unnamed:
        return
    yield Line(
        code="link-width",
        group="links",
        verdict="remark" if port is None else "broken",
        subject=card.name,
        where=card.address,
        promised=least,
        seen=width,
        unit="lanes",
        cause="slot-or-contacts" if port is None else "contacts",
    )


def _alive(card: Card) -> Iterator[Line]:
    if not card.alive:
        yield Line(
            code="off-bus",
            group="health",
            verdict="broken",
            subject=card.name,
            where=card.address,
            cause="off-bus",
        )


def _errors(card: Card) -> Iterator[Line]:
    """Judge error bits and replays. A corrected bit that stands alone came up at some time since
    the start, mostly while the link trained: eight healthy H100 of one server all show some."""
    replays = card.gpu.replays if card.gpu else None
    worst = [error for error in card.errors if not error.islower()]
    if worst or replays or "rollover" in card.errors:
        yield Line(
            code="link-errors",
            group="links",
            verdict="broken" if worst else "remark",
            subject=card.name,
            where=card.address,
            seen=", ".join(dict.fromkeys(card.errors)) or float(replays or 0),
            cause="signal",
        )


def _told_narrow(view: View, paired: set[str]) -> Iterator[Line]:
    """The kernel says at start which link holds a device back; the plan may have meant it so."""
    planned = [pair.promised.width for pair in view.pairs]
    narrowest = min([width for width in planned if width is not None], default=None)
    for event in of_kind(view.facts, SeenEvent):
        if event.kind != "narrow-link" or event.address in paired or event.link.width is None:
            continue
        able = event.capable.width or 0
        if event.link.width >= able or (narrowest is not None and event.link.width >= narrowest):
            continue
        yield Line(
            code="link-width",
            group="links",
            verdict="remark" if narrowest is None else "broken",
            where=event.address,
            promised=able if narrowest is None else narrowest,
            seen=event.link.width,
            unit="lanes",
            cause="slot-narrow",
            values={"port": event.at},
        )


def _grouping(view: View, code: str) -> Iterator[Line]:
    """Compare which GPUs share a NUMA node, or a port at the root: numbers differ between plan and
    machine, the groups do not. Cards behind one root port share its lanes."""
    seen = [pair.card for pair in view.gpus if pair.card is not None]
    if len(seen) < 2 or len(seen) < len(view.gpus):
        return
    if code == "numa":
        keys: list[object] = [card.numa for card in seen]
        plan: list[object] = [pair.promised.numa for pair in view.gpus]
    else:
        keys = [card.root for card in seen]
        near = view.promise.matrix
        if any(pair_of(cell).linked for row in near for cell in row):
            return
        plan = [_first_near(near, pair.promised.index) for pair in view.gpus]
    if any(key in (None, "") for key in (*keys, *plan)):
        return
    ours, theirs = _partition(plan), _partition(keys)
    yield Line(
        code=code,
        group="links",
        verdict="kept" if ours == theirs else "remark",
        promised=_groups_text(ours),
        seen=_groups_text(theirs),
        cause="" if ours == theirs else f"other-{code}",
    )


def _first_near(matrix: tuple[tuple[str, ...], ...], index: int | None) -> int | None:
    if index is None or index >= len(matrix):
        return None
    letters = matrix[index]
    return min([n for n, cell in enumerate(letters) if cell in ("X", "PIX", "PXB")], default=index)


def _partition(keys: list[object]) -> tuple[int, ...]:
    first: dict[object, int] = {}
    return tuple([first.setdefault(key, n) for n, key in enumerate(keys)])


def _groups_text(groups: tuple[int, ...]) -> str:
    members: dict[int, list[str]] = {}
    for number, group in enumerate(groups):
        members.setdefault(group, []).append(str(number))
    return " | ".join(",".join(group) for group in members.values())
