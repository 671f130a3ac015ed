"""What a workload does on the rig: memory and what fits, speed and what limits it, more GPUs, power
caps, the input pipeline."""

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QHeaderView, QPushButton, QWidget

from rigplanner.desktop.controls.flow_row import FlowRow, flow_strip
from rigplanner.desktop.controls.tables import fill, fit_height, plain_table
from rigplanner.desktop.controls.tips import plain
from rigplanner.desktop.controls.unit_cells import UnitCells
from rigplanner.desktop.controls.widgets import (
    button,
    column,
    icon_button,
    label,
    panel,
    row,
    rule,
    stretchy,
)
from rigplanner.desktop.document.session import Session
from rigplanner.desktop.panels.breakdown import show_breakdown
from rigplanner.desktop.panels.reasons import memory_reason, speed_reason
from rigplanner.desktop.words import interval, percent, quantity, shortened
from rigplanner.desktop.workloads.best_ways import BestWays
from rigplanner.desktop.workloads.memory_bars import MemoryBars
from rigplanner.desktop.workloads.prospects import Prospects, ProspectsPanel
from rigplanner.report.language import tr, trn
from rigplanner.report.quote.jobs import host_text, memory_bars, workload_title
from rigplanner.report.words.faults import fault_text
from rigplanner.report.words.speed import BOUND_WORDS, speed_facts
from rigplanner.report.words.workloads import LIFT_WORDS, STAGE_WORDS, assumed_text
from rigplanner.rig.edits import Edit

if TYPE_CHECKING:
    from rigplanner.performance.answer import Anchor, SpeedEstimate
    from rigplanner.rules.assess import Assessment, Job

FIT, STRETCH = QHeaderView.ResizeMode.ResizeToContents, QHeaderView.ResizeMode.Stretch
MOST_ANCHORS = 5


class WorkloadResults(QWidget):
    """The right half of the Workloads tab; every figure in it opens its steps."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._job: Job | None = None
        self.title = label("", "strong")
        self.remove = icon_button("trash", tr("Remove the workload"), self._remove_current)
        self.bars = MemoryBars()
        self.bars.clicked.connect(self._open_memory)
        self.memory_note = label("", "small", wrap=True)
        self.speed = button("", self._open_speed, role="number", name=tr("Speed"))
        self.speed_span = label("", "small")
        self.speed_note = label("", wrap=True)
        self._facts = FlowRow(spacing=10)
        self._facts.setContentsMargins(-4, 0, 0, 0)
        self._fact_buttons: list[QPushButton] = []
        self.stack_note = label("", "small", wrap=True)
        self.prospects = ProspectsPanel(session)
        self.best = BestWays(session)
        self.pipeline = plain_table(tr("Input pipeline"), (tr("Stage"), tr("Rate")))
        self.pipeline.setItemDelegateForColumn(1, UnitCells(self.pipeline))
        self.pipeline_note = label("", "small", wrap=True)
        self.anchors = plain_table(
            tr("Measurements behind this prediction"),
            (tr("Measured on"), tr("Model"), tr("Value"), tr("Weight")),
        )
        for n in (2, 3):
            self.anchors.setItemDelegateForColumn(n, UnitCells(self.anchors))
        self._make_layout()

    def _make_layout(self) -> None:
        self._pipeline = panel(
            column(
                rule(),
                label(tr("Input pipeline").upper(), "section"),
                self.pipeline,
                self.pipeline_note,
                spacing=4,
            )
        )
        self._measured = panel(
            column(rule(), label(tr("Measured").upper(), "section"), self.anchors, spacing=4)
        )
        self.setLayout(
            column(
                row(stretchy(self.title), self.remove),
                label(tr("Memory per GPU").upper(), "section"),
                self.bars,
                self.memory_note,
                self.prospects.sizes,
                self.best,
                rule(),
                label(tr("Speed").upper(), "section"),
                flow_strip(self.speed, self.speed_span),
                self.speed_note,
                self._facts,
                self.prospects.curves,
                self._pipeline,
                self._measured,
                self.stack_note,
                1,
                margins=(16, 8, 16, 8),
                spacing=5,
            )
        )

    def show_job(self, job: "Job", assessment: "Assessment") -> None:
        """Show a workload; what it could become follows by `show_prospects`."""
        self._job = job
        self.title.setText(shortened(workload_title(job), 80))
        bars = memory_bars(job, assessment.machine)
        self.bars.show_bars(bars)
        self.bars.setVisible(bool(bars))
        fault = fault_text(job.memory_fault) or ("" if bars else tr("There is no GPU in the rig."))
        said = tr("Not computed: {fault}", fault=fault) if fault else host_text(job)
        self.memory_note.setText(said)
        self.memory_note.setVisible(bool(said))
        self._show_speed(job)
        self._show_pipeline(job, assessment)
        self.prospects.begin(job, assessment)
        self.best.begin(job, assessment)

    def show_prospects(self, found: Prospects) -> None:
        """Show what was worked out aside."""
        self.prospects.show_prospects(found)

    def _show_speed(self, job: "Job") -> None:
        speed = job.speed
        for widget in (self.speed, self.speed_span):
            widget.setVisible(speed is not None)
        self._measured.setVisible(bool(speed and speed.anchors))
        self._show_facts(speed_facts(speed) if speed else [])
        assumed = dict(job.memory[0].assumed) if job.memory else {}
        if speed is None:
            self.speed_note.setText(
                tr(
                    "Not predicted: {reason}",
                    reason=fault_text(job.speed_fault) or tr("There is no GPU in the rig."),
                )
            )
            self.stack_note.setText(assumed_text(assumed))
            return
        self.speed.setText(quantity(speed.value, speed.metric))
        self.speed.setAccessibleName(
            tr("Speed {speed}, opens its steps", speed=quantity(speed.value, speed.metric))
        )
        self.speed_span.setText(
            tr("80 % interval {interval}", interval=interval(speed.low, speed.high, speed.metric))
        )
        limited = tr("Limited by {limit}.", limit=BOUND_WORDS[speed.bound])
        lift = LIFT_WORDS.get(speed.lift or "", "")
        self.speed_note.setText(f"{limited} {lift}".strip())
        stack = tr("Software: {stack}.", stack=speed.stack)
        self.stack_note.setText(f"{stack} {assumed_text({**assumed, **speed.assumed})}".strip())
        self._show_anchors(speed)

    def _show_facts(self, facts: list[tuple[str, str]]) -> None:
        """One button a fact; buttons are kept, since making one takes longer than all the rest of
        an edit."""
        while len(self._fact_buttons) < len(facts):
            made = button("", self._open_speed, role="link")
            self._fact_buttons.append(made)
            self._facts.addWidget(made)
        for n, fact in enumerate(self._fact_buttons):
            fact.setVisible(n < len(facts))
            if n < len(facts) and fact.text() != facts[n][0]:
                fact.setText(facts[n][0])
                fact.setAccessibleName(f"{facts[n][0]}. {facts[n][1]}")
                fact.setToolTip(plain(facts[n][1]))

    def _show_anchors(self, speed: "SpeedEstimate") -> None:
        shown = [anchor for anchor in speed.anchors if round(100 * anchor.weight)][:MOST_ANCHORS]
        rows = [
            (
                self._measured_on(anchor),
                _measured_work(anchor),
                quantity(anchor.value, anchor.metric),
                percent(anchor.weight),
            )
            for anchor in shown
        ]
        tips = [
            f"{on}: {work}\n{anchor.source}"
            for (on, work, *_), anchor in zip(rows, shown, strict=True)
        ]
        for n, mode in enumerate((STRETCH, STRETCH, FIT, FIT)):
            self.anchors.horizontalHeader().setSectionResizeMode(n, mode)
        fill(self.anchors, rows, numbers=(2, 3), tips=tips)
        fit_height(self.anchors, MOST_ANCHORS)

    def _show_pipeline(self, job: "Job", assessment: "Assessment") -> None:
        from rigplanner.performance.limits.host import epoch_of, fastest_drives, feed_of
        from rigplanner.report.words.speed import epoch_text

        feed = feed_of(job.workload, assessment.machine)
        self._pipeline.setVisible(feed is not None)
        if feed is None:
            return
        stages = (("storage", feed.storage_s), ("cpu", feed.decode_s), ("link", feed.bus_s))
        rows = [
            (STAGE_WORDS[name], quantity(rate, "samples/s"))
            for name, rate in stages
            if rate is not None
        ]
        fill(self.pipeline, rows, numbers=(1,))
        self.pipeline.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.pipeline.horizontalHeader().setStretchLastSection(False)
        self.pipeline.horizontalHeader().setSectionResizeMode(1, FIT)
        fit_height(self.pipeline, 3)
        drives = fastest_drives(assessment.machine)
        best = next((node.storage.name for node in assessment.machine.storage), "")
        if feed.cached:
            note = tr("The data set fits into RAM, so it is read from there after the first epoch.")
        elif job.workload.dataset_place == "network":
            note = tr(
                "The data set is read over the network, at what the rig's fastest port gives of its"
                " rate to files."
            )
        elif drives is None:
            note = tr("There is no drive in the rig to hold the data set.")
        elif drives.count > 1:
            note = tr("The data set is read from {count} equal drives as one.", count=drives.count)
        else:
            note = tr("The data set is read from the fastest drive of {drive}.", drive=best)
        read = epoch_text(epoch_of(job.workload, assessment.machine))
        self.pipeline_note.setText(" ".join(filter(None, (note, read))))

    def _measured_on(self, anchor: "Anchor") -> str:
        name = self._gpu_name(anchor.gpu)
        return name if anchor.count == 1 else f"{anchor.count} × {name}"

    def _gpu_name(self, gpu: str) -> str:
        part = self._session.catalog.get(gpu)
        return part.name if part else gpu

    def _remove_current(self) -> None:
        if self._job is not None and self._job.index < len(self._session.rig.workloads):
            name = self.title.text()
            if self._session.edit(
                tr("Remove workload {name}", name=name),
                Edit("remove_workload", {"index": self._job.index}),
            ):
                self._session.tell(
                    tr("Removed {name}.", name=name), "info", tr("Undo"), self._session.undo
                )

    def _open_memory(self, bar: int) -> None:
        job, assessment = self._job, self._session.assessment
        if job is None or not job.memory or assessment is None:
            return
        shown = memory_bars(job, assessment.machine)
        asked = shown[bar].total_gib if bar < len(shown) else None
        estimate = next((each for each in job.memory if each.device_gib == asked), job.memory[0])
        show_breakdown(self, memory_reason(estimate))

    def _open_speed(self) -> None:
        if self._job is not None:
            show_breakdown(self, speed_reason(self._job))


def _measured_work(anchor: "Anchor") -> str:
    """The settings by which rows of one card and network differ, network and software."""
    batch = anchor.batch_per_gpu
    return ", ".join(
        words
        for words in (
            anchor.precision,
            trn("batch {count}", "batch {count}", batch) if batch else None,
            anchor.model,
            anchor.stack,
        )
        if words
    )
