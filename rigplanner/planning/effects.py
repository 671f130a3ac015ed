"""What an edit would change: two assessments side by side, as figures."""

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from rigplanner.catalog.load import Catalog
from rigplanner.rig.document import Rig
from rigplanner.rig.edits import Edit, EditFault, apply
from rigplanner.rules.core.finding import Finding

if TYPE_CHECKING:
    from rigplanner.rules.assess import Assessment

Measure = Literal["vram", "load", "price", "speed", "speed_per_money"]


class Effect(Struct, frozen=True, kw_only=True):
    """One figure before and after in `unit`; None is unknown. `better` is None where neither
    direction is."""

    measure: Measure
    before: float | None
    after: float | None
    unit: str
    better: bool | None = None
    job: int | None = None

    @property
    def change(self) -> float | None:
        """`after` less `before`, None when either is unknown."""
        return None if self.before is None or self.after is None else self.after - self.before


class Effects(Struct, frozen=True, kw_only=True):
    """All figures that change, and the findings that come (to `rig`, which is what becomes of it)
    and go."""

    rig: Rig
    figures: tuple[Effect, ...]
    come: tuple[Finding, ...]
    gone: tuple[Finding, ...]


def effects(before: "Assessment", after: "Assessment") -> Effects:
    """Return what differs between two assessments of a rig."""
    money = after.totals.currency
    price = _effect("price", before.totals.total, after.totals.total, money, -1)
    if set(after.totals.unpriced + after.totals.foreign) - set(
        before.totals.unpriced + before.totals.foreign
    ):
        price = Effect(measure="price", before=before.totals.total, after=None, unit=money)
    figures = [
        _effect("vram", vram_gib(before), vram_gib(after), "GiB", 1),
        _effect("load", before.machine.power.sustained_w, after.machine.power.sustained_w, "W", -1),
        price,
    ]
    for old, new in zip(before.jobs, after.jobs, strict=False):
        was, now = old.speed, new.speed
        unit = now.metric if now else was.metric if was else ""
        figures.append(
            _effect(
                "speed", was.value if was else None, now.value if now else None, unit, 1, old.index
            )
        )
        if was and now and before.totals.total and price.after:
            each = (was.value / before.totals.total * 1000, now.value / price.after * 1000)
            figures.append(
                _effect("speed_per_money", *each, f"{unit} per 1000 {money}", 1, old.index)
            )
    return Effects(
        rig=after.rig,
        figures=tuple(figure for figure in figures if figure.before != figure.after),
        come=_difference(after.report.findings, before.report.findings),
        gone=_difference(before.report.findings, after.report.findings),
    )


def effects_of(
    rig: Rig, edits: tuple[Edit, ...], catalog: Catalog, today: str = ""
) -> Effects | None:
    """Return what edits would change; None when they cannot be made."""
    from rigplanner.rules.assess import assess

    changed = rig
    try:
        for edit in edits:
            changed = apply(changed, edit)
    except EditFault:
        return None
    return effects(assess(rig, catalog, today), assess(changed, catalog, today))


def vram_gib(assessment: "Assessment") -> float | None:
    """Return the memory of all GPUs in GiB, None when that of one is unknown."""
    sizes = [node.gpu.memory_gib for node in assessment.machine.gpus]
    return (
        None
        if any(size is None for size in sizes)
        else sum(size for size in sizes if size is not None)
    )


def _effect(
    measure: Measure,
    before: float | None,
    after: float | None,
    unit: str,
    direction: int,
    job: int | None = None,
) -> Effect:
    better = (
        None
        if before is None or after is None or before == after
        else (after > before) == (direction > 0)
    )
    return Effect(measure=measure, before=before, after=after, unit=unit, better=better, job=job)


def _difference(these: tuple[Finding, ...], those: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Findings among `these` whose code and subjects are not among `those`."""
    known = {(finding.code, finding.subjects, finding.severity) for finding in those}
    return tuple(
        finding
        for finding in these
        if (finding.code, finding.subjects, finding.severity) not in known
    )
