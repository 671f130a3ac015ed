"""Where does another database contradict ours? Figures of the same product side by side.

The other side is no authority: a difference means that somebody must look. A difference that stands
in the catalog as a conflict is told apart, for there somebody looked."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal

from msgspec import Struct

from rigplanner.catalog.find.find import PartIndex
from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import AnyPart, Plug, kind_of

State = Literal["agree", "mixed", "differ"]
"""agree: every row says what we say; mixed: some rows do; differ: none does."""


class Compared(Struct, frozen=True, kw_only=True):
    """One figure of one part: ours, what the rows of the other side say, and `noted`, the state of
    our own doubt ("" where we have none)."""

    part: str
    field: str
    ours: float | str
    theirs: tuple[float | str, ...]
    state: State
    noted: str


class Figure(Struct, frozen=True):
    """How a figure is read off a part, and how far two of them may lie apart and still agree."""

    read: Callable[[Any], float | str | None]
    within: float = 0.0


def _plugs(kind: str) -> Callable[[Any], float | None]:
    def count(plugs: Iterable[Plug] | None) -> float | None:
        found = sum(plug.count for plug in plugs or () if plug.type == kind)
        return float(found) if found else None  # there none and not known are one

    return lambda part: count(
        part.supply.plugs if kind_of(part) == "psu" else getattr(part, "connectors", None)
    )


FIGURES: Mapping[str, Mapping[str, Figure]] = {
    "gpu": {
        "memory_gib": Figure(lambda p: p.memory_gib),
        "length_mm": Figure(lambda p: p.length_mm, 3.0),
        "slots": Figure(lambda p: p.slots, 0.3),
        "tdp_w": Figure(lambda p: p.tdp_w, 5.0),
        "connectors.pcie8": Figure(_plugs("pcie8")),
    },
    "cpu": {
        "socket": Figure(lambda p: p.socket),
        "cores": Figure(lambda p: p.cores),
        "threads": Figure(lambda p: p.threads),
        "tdp_w": Figure(lambda p: p.tdp_w),
    },
    "motherboard": {
        "layout.chipset": Figure(lambda p: p.layout.chipset),
        "layout.memory_type": Figure(lambda p: p.layout.memory_type),
        "layout.memory_slots": Figure(lambda p: p.layout.memory_slots),
    },
    "psu": {
        "supply.ratings": Figure(lambda p: max((r.watts for r in p.supply.ratings), default=None)),
        "length_mm": Figure(lambda p: p.length_mm, 2.0),
        "supply.plugs.eps8": Figure(_plugs("eps8")),
        "supply.plugs.pcie8": Figure(_plugs("pcie8")),
    },
    "chassis": {
        "enclosure.gpu_length_mm": Figure(lambda p: p.enclosure.gpu_length_mm, 3.0),
        "enclosure.cooler_height_mm": Figure(lambda p: p.enclosure.cooler_height_mm, 1.5),
        "enclosure.slot_columns": Figure(lambda p: p.enclosure.slot_columns),
    },
    "cooler": {
        "height_mm": Figure(lambda p: p.height_mm, 1.5),
        "radiator_mm": Figure(lambda p: p.radiator_mm),
    },
    "memory": {
        "type": Figure(lambda p: p.type),
        "modules": Figure(lambda p: p.modules),
        "module_gib": Figure(lambda p: p.module_gib),
        "speed_mts": Figure(lambda p: p.speed_mts),
        "cas": Figure(lambda p: p.cas),
    },
    "storage": {
        "capacity_gb": Figure(lambda p: p.capacity_gb, 30.0),
        "form_factor": Figure(lambda p: p.form_factor),
    },
}
"""Figures that decide verdicts and that both sides state in one meaning."""


OF_A_CHIP = frozenset(("memory_gib",))
"""Figures that cards of one chip share, whoever builds them."""


def compare(catalog: Catalog, others: Iterable[AnyPart]) -> Iterator[Compared]:
    """Yield each figure that both sides state, part by part in the catalog's order."""
    index = PartIndex(catalog.parts.values())
    met: dict[str, list[AnyPart]] = {}
    for other in others:
        kind = kind_of(other)
        if kind not in FIGURES:
            continue
        number = next((n for n in map(index.named_in, other.aliases) if n.part is not None), None)
        named = index.named_in(f"{other.vendor} {other.name}", kind)
        part = named.part if named.confidence == "exact" else None
        if part is None and number is not None and number.confidence == "exact" and kind != "gpu":
            part = number.part
        if part is not None and kind_of(part) == kind:
            met.setdefault(part.id, []).append(other)
    for part in catalog.parts.values():
        if part.id in met:
            yield from _compared(part, met[part.id])


def _compared(part: AnyPart, rows: list[AnyPart]) -> Iterator[Compared]:
    for field, figure in FIGURES[kind_of(part)].items():
        ours = figure.read(part)
        alike = [row for row in rows if not _partner(part, row) or field in OF_A_CHIP]
        theirs = [value for row in alike if (value := figure.read(row)) is not None]
        if ours is None or not theirs:
            continue
        agreeing = sum(_same(ours, value, figure.within) for value in theirs)
        doubt = part.doubts.get(field) or part.doubts.get(field.rpartition(".")[0])
        yield Compared(
            part=part.id,
            field=field,
            ours=ours,
            theirs=tuple(sorted(set(theirs), key=str)),
            state="agree" if agreeing == len(theirs) else "mixed" if agreeing else "differ",
            noted=doubt.state if doubt else "",
        )


def _partner(part: AnyPart, row: AnyPart) -> bool:
    """Say whether a row is a partner's card and ours that of the chip's maker, or of another
    partner: what is built around the chip differs."""
    return kind_of(part) == "gpu" and part.vendor.casefold() != row.vendor.casefold()


def _same(ours: float | str, theirs: float | str, within: float) -> bool:
    if isinstance(ours, str) or isinstance(theirs, str):
        return str(ours).casefold() == str(theirs).casefold()
    return abs(ours - theirs) <= within
