"""Is the rig whole: parts the catalog does not know, kinds not chosen yet, doubtful figures."""

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from rigplanner.catalog.schema.parts import GPU, Chassis, Part, System, kind_of
from rigplanner.rig.document import Item
from rigplanner.rig.edits import Edit
from rigplanner.rig.facts import FactFault, unusable
from rigplanner.rules.core.context import Context
from rigplanner.rules.core.finding import Finding, Named
from rigplanner.rules.core.fixes import fix
from rigplanner.rules.core.registry import rule
from rigplanner.rules.core.rests import MEASURED, ROOMS, deciding_fields, said_figure


class Listed(Named, frozen=True):
    """An item of the rig and its part, None when nobody knows it."""

    item: Item
    part: Part | None


def items(context: Context) -> Iterator[Listed]:
    """All items of the rig."""
    for item in context.rig.items:
        yield Listed(f"{item.uid}.0", item, context.part(item.part))


@rule(
    "RIG001",
    "Part is not in the catalog",
    "unknown",
    over=items,
    reason="Nothing can be said of a part without its data.",
    source="The catalog and the file's own snapshot",
)
def unlisted(context: Context, case: Listed) -> Iterator[Finding]:
    """Name items whose part is neither in the catalog nor in the file."""
    if case.part is None:
        removal = fix(
            context, "remove", Edit("remove_item", {"uid": case.item.uid}), piece=case.name
        )
        yield Finding(
            code="RIG001",
            severity="unknown",
            subjects=case.subjects,
            missing=(f"{case.item.part}:*",),
            fixes=(removal,),
        )


class Lack(Struct, frozen=True):
    """Kinds of part that the rig needs to run, or without which it can still start."""

    kinds: tuple[str, ...]
    severity: Literal["unknown", "info"]

    @property
    def subjects(self) -> tuple[str, ...]:
        return ()


WHOLE = ("embedded", "complete", "rack")
"""Roles of systems that come with processor, memory and supply."""


def lacks(context: Context) -> Iterator[Lack]:
    """What a rig needs and has not, once something is in it."""
    if not context.machine.pieces or any(system.role in WHOLE for _, system in context.of(System)):
        return
    there = {
        "motherboard": context.board is not None,
        "cpu": bool(context.cpus),
        "memory": bool(context.memory),
        "psu": bool(context.supplies),
    }
    yield Lack(tuple(kind for kind, chosen in there.items() if not chosen), "unknown")
    yield Lack(() if context.drives else ("storage",), "info")


@rule(
    "RIG002",
    "Not chosen yet",
    "unknown",
    may_err=True,
    over=lacks,
    reason="What is not chosen is not judged.",
    source="Arithmetic",
)
def not_chosen(context: Context, case: Lack) -> Iterator[Finding]:
    """Name the kinds that are absent; a rig without a drive is only a remark."""
    if case.kinds:
        missing = tuple(f"rig:{kind}" for kind in case.kinds)
        yield Finding(
            code="RIG002",
            severity=case.severity,
            missing=missing,
            values={"kinds": list(case.kinds)},
        )


def disputed(context: Context) -> Iterator[Listed]:
    """The first item of each part with a field about which sources disagree, and by which some rule
    decides."""
    different = {case.item.part: case for case in reversed(list(items(context)))}
    yield from (case for case in reversed(different.values()) if disputes(case.part, context))


def disputes(part: Part | None, context: Context) -> dict[str, list[str]]:
    """Return what sources say of the disputed fields of a part that decide something: of a length
    or height only where the room of a chassis lies between them. Of that room RIG006 says whether
    the narrower decides otherwise."""
    if part is None:
        return {}
    fields = deciding_fields(kind_of(part))
    return {
        field: list(doubt.values)
        for field, doubt in part.doubts.items()
        if doubt.state == "conflict"
        and field in fields
        and field not in MEASURED
        and _parts_the_answers(part, field, doubt.values, context)
    }


def _parts_the_answers(part: Part, field: str, values: tuple[str, ...], context: Context) -> bool:
    """Say whether what is said of a measure lies on both sides of a room; True for any other
    field."""
    room = ROOMS.get(f"{kind_of(part)}.{field}")
    said = [figure for value in values if (figure := said_figure(value)) is not None]
    if room is None or len(said) < len(values):
        return True
    limits = [getattr(case.enclosure, room) for _, case in context.of(Chassis)]
    limits += [getattr(case.enclosure, room) for _, case in context.of(System) if case.enclosure]
    return any(limit is not None and min(said) <= limit < max(said) for limit in limits)


@rule(
    "RIG003",
    "Sources disagree about a part",
    "info",
    over=disputed,
    reason="Both values are shown rather than one chosen in silence.",
    source="The part's own sources",
)
def conflict(context: Context, case: Listed) -> Iterator[Finding]:
    """Name the disputed fields of a part with what the sources say."""
    yield conflict.finding(case, disputes=disputes(case.part, context), part=case.item.part)


@rule(
    "RIG004",
    "Part's description contradicts itself",
    "error",
    over=items,
    reason=(
        "A system that contains itself, or switches that are connected in a circle, cannot be "
        "built; what lies beyond is not judged."
    ),
    source="The catalog's own structure",
)
def impossible(context: Context, case: Listed) -> Iterator[Finding]:
    """Walk the parts of a system, and the switches of its board, until one comes twice."""
    removal = Edit("remove_item", {"uid": case.item.uid})
    path = _circle(context, case.item.part, ())
    if path:
        yield impossible.finding(
            case, path=" > ".join(path), fixes=(fix(context, "remove", removal, piece=case.name),)
        )
    origins = {
        switch.id: switch.origin
        for switch in getattr(getattr(case.part, "layout", None), "switches", ())
    }
    for start in origins:
        walked = [start]
        while origins.get(walked[-1]) in origins and len(walked) <= len(origins):
            walked.append(origins[walked[-1]])
        if len(walked) > len(origins):
            around = " > ".join(dict.fromkeys(walked))
            fixes = (fix(context, "remove", removal, piece=case.name),)
            yield impossible.finding(case, path=around, variant="switch", fixes=fixes)
            return


def _circle(context: Context, part_id: str, above: tuple[str, ...]) -> tuple[str, ...]:
    """Return the way from a system back to itself, () when there is none."""
    if part_id in above:
        return (*above[above.index(part_id) :], part_id)
    part = context.part(part_id)
    inner = part.includes if isinstance(part, System) else ()
    found = (_circle(context, inclusion.part, (*above, part_id)) for inclusion in inner)
    return next((path for path in found if path), ())


class Own(Named, frozen=True):
    """A figure of the owner's for a part that cannot have it."""

    part: Part
    fact: str
    fault: FactFault


def strange_facts(context: Context) -> Iterator[Own]:
    """Figures in the rig that its parts cannot have: a file may bring them, or a catalog may have
    moved on."""
    for part_id, facts in context.rig.facts.items():
        item = next((item for item in context.rig.items if item.part == part_id), None)
        bare = context.catalog.get(part_id) or context.rig.snapshot.get(part_id)
        if item is not None and bare is not None:
            for name, fault in unusable(bare, facts).items():
                yield Own(f"{item.uid}.0", bare, name, fault)


@rule(
    "RIG007",
    "Figure of your own does not suit the part",
    "warning",
    over=strange_facts,
    reason="What a part cannot have is kept in the file and not used.",
    source="The catalog's own structure",
)
def unsuited(context: Context, case: Own) -> Iterator[Finding]:
    """Name the figure, what is wrong with it, and offer to forget it."""
    edit = Edit("set_fact", {"part": case.part.id, "name": case.fact, "value": None})
    removal = fix(context, "forget-fact", edit)
    fault = {"what": case.fault.code, "own": f"{case.part.id}:{case.fact}", **case.fault.values}
    yield unsuited.finding(case, fixes=(removal,), **fault)


class Mixed(Struct, frozen=True):
    """The GPU models of a rig."""

    names: tuple[str, ...]
    gpus: tuple[GPU, ...]

    @property
    def subjects(self) -> tuple[str, ...]:
        return self.names


def several_models(context: Context) -> Iterator[Mixed]:
    """Rigs of several GPUs for jobs."""
    cards = context.that_work(context.cards)
    if len(cards) > 1:
        yield Mixed(tuple(card.name for card in cards), tuple(card.card for card in cards))


@rule(
    "GPU002",
    "Different GPU models in one rig",
    "info",
    over=several_models,
    reason="A job over several cards runs at the pace and in the memory of the weakest.",
    source="Data-parallel and tensor-parallel training synchronise every step",
)
def mixed_models(context: Context, case: Mixed) -> Iterator[Finding]:
    """A warning when some job runs over all of them, and where they are of different makers."""
    models = sorted({gpu.id for gpu in case.gpus})
    makers = {gpu.chip_maker for gpu in case.gpus}
    if len(models) > 1:
        yield mixed_models.finding(
            case,
            "warning" if context.jobs or len(makers) > 1 else "info",
            actual=len(models),
            unit="models",
            models=models,
            variant="makers" if len(makers) > 1 else "",
        )
