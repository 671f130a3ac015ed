"""Is the rig whole: parts the catalog does not know, kinds not chosen yet, doubtful figures."""

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from rigplanner.catalog.parts import GPU, Part, System
from rigplanner.rig.document import Item
from rigplanner.rig.edits import Edit
from rigplanner.rules.finding import Finding, Named
from rigplanner.rules.fixes import fix
from rigplanner.rules.registry import rule
from rigplanner.rules.situation import Situation


class Listed(Named, frozen=True):
    """An item of the rig and its part, None when nobody knows it."""

    item: Item
    part: Part | None


def items(situation: Situation) -> Iterator[Listed]:
    """All items of the rig."""
    for item in situation.rig.items:
        yield Listed(f"{item.uid}.0", item, situation.part(item.part))


@rule(
    "RIG001", "Part is not in the catalog", "unknown", over=items,
    reason="Nothing can be said of a part without its data.",
    source="The catalog and the file's own snapshot",
)  # fmt: skip
def unlisted(situation: Situation, case: Listed) -> Iterator[Finding]:
    """Name items whose part is neither in the catalog nor in the file."""
    if case.part is None:
        removal = fix(situation, "remove", Edit("remove_item", {"uid": case.item.uid}), piece=case.name)
        yield Finding(code="RIG001", severity="unknown", subjects=case.subjects, missing=(f"{case.item.part}:*",), fixes=(removal,))


class Lack(Struct, frozen=True):
    """Kinds of part that the rig needs to run, or without which it can still start."""

    kinds: tuple[str, ...]
    severity: Literal["unknown", "info"]

    @property
    def subjects(self) -> tuple[str, ...]:
        return ()


WHOLE = ("embedded", "complete", "rack")
"""Roles of systems that come with processor, memory and supply."""


def lacks(situation: Situation) -> Iterator[Lack]:
    """What a rig needs and has not, once something is in it."""
    if not situation.machine.pieces or any(system.role in WHOLE for _, system in situation.of(System)):
        return
    there = {
        "motherboard": situation.board is not None,
        "cpu": bool(situation.cpus),
        "memory": bool(situation.memory),
        "psu": bool(situation.supplies),
    }
    yield Lack(tuple(kind for kind, chosen in there.items() if not chosen), "unknown")
    yield Lack(() if situation.drives else ("storage",), "info")


@rule(
    "RIG002", "Not chosen yet", "unknown", over=lacks,
    reason="What is not chosen is not judged.",
    source="Arithmetic",
)  # fmt: skip
def not_chosen(situation: Situation, case: Lack) -> Iterator[Finding]:
    """Name the kinds that are absent; a rig without a drive is only a remark."""
    if case.kinds:
        missing = tuple(f"rig:{kind}" for kind in case.kinds)
        yield Finding(code="RIG002", severity=case.severity, missing=missing, values={"kinds": list(case.kinds)})


def disputed(situation: Situation) -> Iterator[Listed]:
    """Items with a field about which sources disagree."""
    for case in items(situation):
        if case.part is not None and any(doubt.state == "conflict" for doubt in case.part.doubts.values()):
            yield case


@rule(
    "RIG003", "Sources disagree about a part", "info", over=disputed,
    reason="Both values are shown rather than one chosen in silence.",
    source="The part's own sources",
)  # fmt: skip
def conflict(situation: Situation, case: Listed) -> Iterator[Finding]:
    """Name the disputed fields of a part with what the sources say."""
    doubts = case.part.doubts.items() if case.part else ()
    yield conflict.finding(case, disputes={field: list(doubt.values) for field, doubt in doubts if doubt.state == "conflict"})


@rule(
    "RIG004", "Part's description contradicts itself", "error", over=items,
    reason="A system that contains itself, or switches that hang on each other, cannot be built; what lies beyond is not judged.",
    source="The catalog's own structure",
)  # fmt: skip
def impossible(situation: Situation, case: Listed) -> Iterator[Finding]:
    """Walk the parts of a system, and the switches of its board, until one comes twice."""
    removal = Edit("remove_item", {"uid": case.item.uid})
    path = _circle(situation, case.item.part, ())
    if path:
        yield impossible.finding(case, path=" > ".join(path), fixes=(fix(situation, "remove", removal, piece=case.name),))
    origins = {switch.id: switch.origin for switch in getattr(getattr(case.part, "layout", None), "switches", ())}
    for start in origins:
        walked = [start]
        while origins.get(walked[-1]) in origins and len(walked) <= len(origins):
            walked.append(origins[walked[-1]])
        if len(walked) > len(origins):
            around = " > ".join(dict.fromkeys(walked))
            fixes = (fix(situation, "remove", removal, piece=case.name),)
            yield impossible.finding(case, path=around, variant="switch", fixes=fixes)
            return


def _circle(situation: Situation, part_id: str, above: tuple[str, ...]) -> tuple[str, ...]:
    """Return the way from a system back to itself, () when there is none."""
    if part_id in above:
        return (*above[above.index(part_id) :], part_id)
    part = situation.part(part_id)
    inner = part.includes if isinstance(part, System) else ()
    found = (_circle(situation, inclusion.part, (*above, part_id)) for inclusion in inner)
    return next((path for path in found if path), ())


class Mixed(Struct, frozen=True):
    """The GPU models of a rig."""

    names: tuple[str, ...]
    gpus: tuple[GPU, ...]

    @property
    def subjects(self) -> tuple[str, ...]:
        return self.names


def several_models(situation: Situation) -> Iterator[Mixed]:
    """Rigs of several GPUs."""
    cards = situation.cards
    if len(cards) > 1:
        yield Mixed(tuple(card.name for card in cards), tuple(card.card for card in cards))


@rule(
    "GPU002", "Different GPU models in one rig", "info", over=several_models,
    reason="A job over several cards runs at the pace and in the memory of the weakest.",
    source="Data-parallel and tensor-parallel training synchronise every step",
)  # fmt: skip
def mixed_models(situation: Situation, case: Mixed) -> Iterator[Finding]:
    """A warning when some job runs over all of them, and where they are of different makers."""
    models = sorted({gpu.id for gpu in case.gpus})
    makers = {gpu.chip_maker for gpu in case.gpus}
    if len(models) > 1:
        yield mixed_models.finding(
            case,
            "warning" if situation.jobs or len(makers) > 1 else "info",
            actual=len(models),
            unit="models",
            models=models,
            variant="makers" if len(makers) > 1 else "",
        )
