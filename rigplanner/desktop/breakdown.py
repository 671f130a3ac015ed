"""The breakdown behind a number: every step with its formula, inputs and source. Opened by a click on any figure."""

from collections.abc import Sequence

from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QDialog, QHeaderView, QTableWidget, QTableWidgetItem, QWidget

from rigplanner.catalog.load import Catalog
from rigplanner.desktop.gauges import TITLES, gauge_text
from rigplanner.desktop.theme import row_px
from rigplanner.desktop.widgets import button, column, label, row
from rigplanner.desktop.words import cell, money, quantity
from rigplanner.evidence import Step
from rigplanner.planning.limits import Limit
from rigplanner.report.language import tr
from rigplanner.report.quote_jobs import workload_title
from rigplanner.report.words_memory import step_title
from rigplanner.rules.assess import Assessment


def show_breakdown(parent: QWidget, title: str, headline: str, steps: Sequence[Step], note: str = "") -> QDialog:
    """Show the steps of a figure in a dialog that waits for nothing; return it."""
    dialog = QDialog(parent)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setWindowTitle(title)
    table = QTableWidget(len(steps), 4)
    table.setAccessibleName(tr("Steps of {title}", title=title))
    table.setHorizontalHeaderLabels([tr("Step"), tr("Formula and inputs"), tr("Value"), tr("Source")])
    table.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setShowGrid(False)
    table.setWordWrap(True)
    table.setTabKeyNavigation(False)
    table.verticalHeader().hide()
    for n, step in enumerate(steps):
        inputs = ", ".join(f"{name} = {cell(value)}" for name, value in step.inputs.items())
        for m, text in enumerate(
            (
                step_title(step.name),
                "\n".join(t for t in (tr(step.formula), inputs) if t),
                quantity(step.value, step.unit),
                step.source,
            )
        ):
            item = QTableWidgetItem(text)
            if m == 2:
                item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            table.setItem(n, m, item)
    dialog.resize(row_px() * 38, row_px() * 18)
    header = table.horizontalHeader()
    for m, width in enumerate((8, 14, 5, 9)):
        header.setSectionResizeMode(m, QHeaderView.ResizeMode.Interactive)
        header.resizeSection(m, row_px() * width)
    header.setStretchLastSection(True)
    table.resizeRowsToContents()
    empty = "" if steps else tr("No steps are recorded for this figure.")
    close = button(tr("Close"), dialog.close)
    dialog.setLayout(
        column(
            label(title, "section"),
            label(headline, "large", wrap=True),
            label(" ".join(t for t in (note, empty) if t), "small", wrap=True),
            table,
            row(1, close),
            margins=(16, 12, 16, 12),
        )
    )
    dialog.open()
    return dialog


def limit_steps(assessment: Assessment, limit: Limit) -> tuple[str, str, tuple[Step, ...]]:
    """Return title, headline and steps of a gauge."""
    headline = gauge_text(limit)
    if limit.axis == "price":
        return tr("Price"), headline, _price_steps(assessment)
    if limit.axis in ("supply", "circuit"):
        return TITLES[limit.axis], headline, (*_load_steps(assessment), *assessment.machine.power.steps)
    if limit.axis in ("lanes", "slots"):
        return TITLES[limit.axis], headline, _slot_steps(assessment)
    job = assessment.jobs[limit.job or 0]
    steps = max(job.memory, key=lambda estimate: estimate.device_gib).steps if job.memory else ()
    note = f"{workload_title(job)}: {headline}" if job.memory else job.memory_fault or tr("There is no GPU in the rig.")
    return tr("Memory per GPU"), note, steps


def _price_steps(assessment: Assessment) -> tuple[Step, ...]:
    sums, rig = assessment.totals, assessment.rig
    names = {piece.uid: piece.part.name for piece in assessment.machine.pieces if "/" not in piece.name}
    steps = []
    for line in sums.lines:
        each = money(line.unit.amount, line.unit.currency) if line.unit else tr("no price")
        source = f"{line.unit.source}, {line.unit.day}" if line.unit else ""
        if line.amount is not None:
            inputs: dict[str, float | str | None] = {tr("quantity"): float(line.quantity), tr("price"): each}
            steps.append(Step(names.get(line.uid, line.uid), tr("quantity × price"), inputs, line.amount, sums.currency, source))
    discount = rig.quote.discount_percent
    if discount:
        steps.append(Step(tr("Discount"), tr("subtotal × percent"), {tr("percent"): discount}, -sums.discount, sums.currency))
    how = tr("contained in the prices") if rig.quote.prices_include_tax else tr("added to the prices")
    steps += [Step(tr("Tax"), how, {tr("percent"): rate}, amount, sums.currency) for rate, amount in sums.taxes]
    return (*steps, Step(tr("Total"), tr("sum"), {}, sums.total, sums.currency))


def _load_steps(assessment: Assessment) -> tuple[Step, ...]:
    """The loads by part, their sum, what the supply and the circuit can give, and the assumptions that went in."""
    power, site = assessment.machine.power, assessment.rig.site
    names = {piece.name: piece.part.name for piece in assessment.machine.pieces}
    grouped: dict[tuple[str, float], int] = {}
    for piece, watts in power.loads:
        if watts is not None:
            grouped[names.get(piece, piece), watts] = grouped.get((names.get(piece, piece), watts), 0) + 1
    steps = [
        Step(name, tr("quantity × load at full use"), {tr("quantity"): float(count), tr("each in W"): watts}, count * watts, "W")
        for (name, watts), count in grouped.items()
    ]
    if power.sustained_w is not None:
        steps.append(Step(tr("Sustained load"), tr("sum of the parts"), {}, power.sustained_w, "W"))
    if power.supply_w is not None:
        steps.append(
            Step(
                tr("Power supply, continuous"),
                tr("rating at the site's voltage"),
                {tr("mains in V"): site.volts},
                power.supply_w,
                "W",
            )
        )
    if power.wall_w is not None:
        wall: dict[str, float | str | None] = {tr("efficiency"): power.efficiency, tr("other load in W"): site.other_load_w}
        steps.append(Step(tr("Drawn from the wall"), tr("sustained load / efficiency + other load"), wall, power.wall_w, "W"))
    if power.circuit_w is not None:
        circuit: dict[str, float | str | None] = {tr("mains in V"): site.volts, tr("breaker in A"): site.breaker_a}
        steps.append(Step(tr("Circuit, continuous limit"), tr("volts × amperes × 0.8"), circuit, power.circuit_w, "W"))
    return tuple(steps)


def _slot_steps(assessment: Assessment) -> tuple[Step, ...]:
    names = {piece.name: piece.part.name for piece in assessment.machine.pieces}
    steps = []
    for use in assessment.machine.slots:
        if use.piece and use.width:
            inputs: dict[str, float | str | None] = {
                tr("origin"): use.slot.origin,
                tr("generation"): use.gen,
                tr("slot offers"): use.available_width,
            }
            steps.append(
                Step(f"{use.slot.id}: {names.get(use.piece, use.piece)}", tr("negotiated width"), inputs, use.width, "lanes")
            )
    for drive in assessment.machine.drives:
        if drive.pieces and drive.width:
            held = ", ".join(names.get(piece, piece) for piece in drive.pieces)
            steps.append(
                Step(
                    f"{drive.port.id}: {held}",
                    tr("negotiated width"),
                    {tr("origin"): drive.port.origin, tr("generation"): drive.gen},
                    drive.width,
                    "lanes",
                )
            )
    return tuple(steps)


def cost_steps(assessment: Assessment, catalog: Catalog) -> tuple[Step, ...]:
    """Return what years cost, and after how many hours the rig is cheaper than the machines for hire that it ever beats."""
    from rigplanner.catalog.cloud import shipped_cloud
    from rigplanner.economics.running import three_year_total
    from rigplanner.planning.compare import yearly_energy
    from rigplanner.planning.renting import offers

    sums, year = assessment.totals, yearly_energy(assessment)
    steps: list[Step] = []
    if year is not None:
        share = (assessment.rig.quote.resale_percent or 0.0) / 100
        steps += [replace(step, unit=step.unit or sums.currency) for step in year.steps]
        three: dict[str, float | str | None] = {
            tr("price"): sums.total, tr("energy of a year"): year.cost, tr("resale in %"): 100 * share,
        }  # fmt: skip
        formula = tr("price × (1 − resale) + 3 × energy of a year")
        steps.append(Step(tr("Three years"), formula, three, three_year_total(sums.total, year.cost, share), sums.currency))
    for job in assessment.jobs:
        for offer in offers(assessment, job, catalog, shipped_cloud()):
            if offer.hours is None:
                continue
            inputs: dict[str, float | str | None] = {
                tr("price"): sums.total, tr("rent an hour"): offer.rent.amount, tr("speed of the rig"): offer.own,
                tr("speed of the hire"): offer.rented, tr("unit of speed"): offer.metric,
            }  # fmt: skip
            name = tr("{job}: cheaper than {machine} after", job=workload_title(job), machine=f"{offer.provider} {offer.instance}")
            formula = tr("price / (rent × speed of the rig / speed of the hire − energy of an hour)")
            steps.append(Step(name, formula, inputs, offer.hours, "h", f"{offer.rent.source}, {offer.rent.day}"))
    return tuple(steps)
