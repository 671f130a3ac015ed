"""What the values of a comparison rest on."""

from collections.abc import Callable, Sequence

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import AnyPart, MemoryKit
from rigplanner.desktop.panels.reasons import (
    Inputs,
    Reason,
    grouped,
    hire_step,
    lanes_reason,
    load_reason,
    memory_reason,
    own_hire_steps,
    price_reason,
    source_of,
    speed_reason,
    spot_step,
    work_step,
    year_steps,
)
from rigplanner.evidence import Step
from rigplanner.planning.compare import CompareRow, Hires, job_behind, offers_behind
from rigplanner.report.comparison.content import ATTRIBUTE_WORDS, row_text, row_title, subject_text
from rigplanner.report.language import listed, tr
from rigplanner.report.words.faults import fault_text
from rigplanner.report.words.findings import STATE_WORDS, fact_text, finding_text, rule_title
from rigplanner.report.words.hire import provider_text
from rigplanner.rules.assess import Assessment

COUNTED = {"errors": "error", "warnings": "warning", "unknown": "unknown"}
ENERGY = ("energy_year", "three_years")
HIRED = ("hire", "hire_cost", "hire_spot", "hire_after")


def compare_reason(
    row: CompareRow, rig: int, assessments: Sequence[Assessment], catalog: Catalog, hires: Hires
) -> Reason:
    """Return what the value of one rig in a row rests on; without steps where the value is no sum
    of others."""
    assessment, code = assessments[rig], row.attribute.code
    title, headline = f"{assessment.rig.name}: {row_title(row)}", row_text(row, rig)
    if code in HIRED:
        made = _hire_reason(row, rig, assessments, hires)
    elif row.attribute.group == "workloads":
        made = _workload_reason(row, rig, assessments)
    elif code == "unverified":
        made = Reason("", "", _figure_steps(assessment, catalog))
    elif code in COUNTED or code == "verdict":
        made = Reason("", "", _finding_steps(assessment, COUNTED.get(code), catalog))
    elif code in ENERGY:
        made = Reason(
            "", "", year_steps(assessment), tr("Energy and years need a tariff and hours a day.")
        )
    else:
        made = MAKERS[code](assessment, catalog) if code in MAKERS else Reason("", "", ())
    return Reason(title, headline, (*made.steps, *_exchange_step(row, rig, assessment)), made.note)


def _figure_steps(assessment: Assessment, catalog: Catalog) -> tuple[Step, ...]:
    """Return the deciding figures that nobody verified, with what the catalog notes of them."""
    return tuple(
        Step(
            fact_text(figure.fact, assessment.rig, catalog),
            tr(STATE_WORDS[figure.state]),
            {},
            1.0,
            "",
            figure.note,
        )
        for figure in assessment.report.unverified
    )


def _exchange_step(row: CompareRow, rig: int, assessment: Assessment) -> tuple[Step, ...]:
    """Return how a sum in other money was counted, () for one in the rig's own."""
    own, value, rates = assessment.totals.currency, row.values[rig], assessment.rig.exchange
    if (
        row.attribute.code != "total"
        or not isinstance(value, int | float)
        or row.attribute.unit == own
        or not value
    ):
        return ()
    inputs: Inputs = {own: assessment.totals.total, tr("rate"): value / assessment.totals.total}
    source = f"{rates.source}, {rates.day}" if rates else ""
    return (Step(tr("Total"), tr("amount × rate"), inputs, value, row.attribute.unit, source),)


def _workload_reason(row: CompareRow, rig: int, assessments: Sequence[Assessment]) -> Reason:
    job, code = job_behind(row, rig, assessments), row.attribute.code
    if job is None:
        return Reason("", "", (), tr("There is no GPU in the rig."))
    if code in ("memory", "fits"):
        if not job.memory:
            return Reason(
                "", "", (), fault_text(job.memory_fault) or tr("There is no GPU in the rig.")
            )
        made = memory_reason(max(job.memory, key=lambda estimate: estimate.device_gib))
        return Reason("", "", made.steps, f"{made.headline}. {made.note}")
    made = speed_reason(job)
    if row.values[rig] is None:
        fault = fault_text(job.speed_fault) or tr(
            "What does not fit into memory has no speed; what is without a whole price has none per"
            " money."
        )
        return Reason("", "", (), fault)
    if code in ("speed", "bound", "lift"):
        return Reason("", "", made.steps, f"{made.headline}. {made.note}")
    return Reason("", "", (*made.steps, _share_step(row, rig, assessments[rig])), made.note)


def _hire_reason(
    row: CompareRow, rig: int, assessments: Sequence[Assessment], hires: Hires
) -> Reason:
    """Return the machine for hire that does the work of a rig for the least, against its price."""
    found = offers_behind(row, rig, assessments, hires)
    if not found:
        return Reason(
            "",
            "",
            (),
            tr("Renting can be compared once every price and the speed are known."),
        )
    offer, sums = found[0], assessments[rig].totals
    cost = work_step(
        ATTRIBUTE_WORDS["hire_cost"],
        offer.rent,
        offer.counted,
        offer,
        offer.same_work,
        sums.currency,
    )
    spot, pays = spot_step(offer, sums.currency), hire_step(subject_text(row), offer, sums.total)
    machine = (
        f"{provider_text(offer.provider)} {offer.instance}, {offer.gpus.replace(' x ', ' × ')}"
    )
    return Reason("", "", (cost, *filter(None, (spot, pays))), machine)


def _share_step(row: CompareRow, rig: int, assessment: Assessment) -> Step:
    value = row.values[rig]
    money = row.attribute.code == "speed_per_1000"
    inputs: Inputs = {
        tr("price") if money else tr("wall in W"): (
            assessment.totals.total if money else assessment.machine.power.wall_w
        )
    }
    formula = tr("1000 × speed / price") if money else tr("1000 × speed / power from the wall")
    return Step(
        row_title(row),
        formula,
        inputs,
        value if isinstance(value, int | float) else 0.0,
        row.attribute.unit,
    )


def _finding_steps(
    assessment: Assessment, severity: str | None, catalog: Catalog
) -> tuple[Step, ...]:
    """One step a rule with findings of a severity (None: all that count), with how often it
    speaks."""
    found: dict[str, list[str]] = {}
    for finding in assessment.report.findings:
        if finding.severity == severity or (severity is None and finding.severity != "info"):
            found.setdefault(finding.code, []).append(
                finding_text(finding, assessment.rig, catalog)
            )
    return tuple(
        Step(f"{code}  {rule_title(code)}", listed(texts, " "), {}, len(texts), "")
        for code, texts in found.items()
    )


def _summed(
    parts: Sequence[tuple[AnyPart, float | None]], field: str, unit: str, catalog: Catalog
) -> Reason:
    """Return a figure of parts as quantity × each, with their sources, and the sum."""
    by_id = {part.id: part for part, _ in parts}
    steps = []
    for (part_id, each), count in grouped(
        (part.id, value) for part, value in parts if value is not None
    ).items():
        part = by_id[part_id]
        inputs: Inputs = {tr("quantity"): float(count), tr("each"): each}
        steps.append(
            Step(
                part.name,
                tr("quantity × each"),
                inputs,
                count * each,
                unit,
                source_of(part, field, catalog),
            )
        )
    unknown = [part.name for part, value in parts if value is None]
    note = tr("Unknown of {parts}.", parts=listed(dict.fromkeys(unknown))) if unknown else ""
    if len(steps) > 1 and not unknown:
        steps.append(Step(tr("Total"), tr("sum"), {}, sum(step.value for step in steps), unit))
    return Reason("", "", tuple(steps), note)


def _gpu_memory(assessment: Assessment, catalog: Catalog) -> Reason:
    return _summed(
        [(node.gpu, node.gpu.memory_gib) for node in assessment.machine.gpus],
        "memory_gib",
        "GiB",
        catalog,
    )


def _gpu_bandwidth(assessment: Assessment, catalog: Catalog) -> Reason:
    return _summed(
        [(node.gpu, node.gpu.bandwidth_gbs) for node in assessment.machine.gpus],
        "bandwidth_gbs",
        "GB/s",
        catalog,
    )


def _ram(assessment: Assessment, catalog: Catalog) -> Reason:
    kits = [piece.part for piece in assessment.machine.pieces if isinstance(piece.part, MemoryKit)]
    return _summed(
        [(kit, kit.modules * kit.module_gib) for kit in kits], "module_gib", "GiB", catalog
    )


def _drives(assessment: Assessment, catalog: Catalog) -> Reason:
    drives = [node.storage for node in assessment.machine.storage]
    return _summed([(drive, drive.capacity_gb) for drive in drives], "capacity_gb", "GB", catalog)


def _slowest_link(assessment: Assessment, _: Catalog) -> Reason:
    steps = [
        Step(
            f"GPU {node.index}  {node.gpu.name}",
            tr("narrowest link between card and host memory"),
            {tr("place"): node.place, tr("width"): node.width, tr("generation"): node.gen},
            node.host_gbs,
            "GB/s",
        )
        for node in assessment.machine.gpus
        if node.host_gbs is not None
    ]
    return Reason("", "", tuple(steps), tr("The slowest one decides."))


MAKERS: dict[str, Callable[[Assessment, Catalog], Reason]] = {
    "gpus": _gpu_memory,
    "gpu_memory": _gpu_memory,
    "gpu_bandwidth": _gpu_bandwidth,
    "ram": _ram,
    "drives": _drives,
    "slowest_gpu_link": _slowest_link,
    "lanes_used": lambda assessment, _: lanes_reason(assessment),
    "total": lambda assessment, _: price_reason(assessment),
    "own_hire": lambda assessment, _: Reason("", "", tuple(own_hire_steps(assessment))),
    **dict.fromkeys(("sustained", "wall", "supply_load", "circuit_load"), load_reason),
}
