"""The Workloads tab: what the rig shall do, whether it fits into memory, how fast it runs and what limits it."""

from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import Qt
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QShowEvent
from PySide6.QtWidgets import QCompleter, QHeaderView, QLineEdit, QSplitter, QVBoxLayout, QWidget

from rigplanner.desktop.breakdown import show_breakdown
from rigplanner.desktop.change import Change
from rigplanner.desktop.memory_bars import MemoryBars
from rigplanner.desktop.session import Session
from rigplanner.desktop.tables import fill, fit_height, plain_table
from rigplanner.desktop.theme import row_px
from rigplanner.desktop.widgets import button, column, icon_button, label, panel, row, rule, scrolled, strip
from rigplanner.desktop.words import interval, percent, quantity, shortened
from rigplanner.desktop.workload_form import TEXT_KINDS, WorkloadForm
from rigplanner.planning.limits import limits
from rigplanner.report.language import Words, tr
from rigplanner.report.quote_jobs import memory_bars, workload_title
from rigplanner.rig.edits import Edit
from rigplanner.rig.task import Workload

if TYPE_CHECKING:
    from rigplanner.rules.assess import Assessment, Job

LARGEST_CONFIG_BYTES = 1_000_000
FIT = QHeaderView.ResizeMode.ResizeToContents
BOUND_WORDS = Words(
    {
        "compute": "arithmetic of the GPU",
        "bandwidth": "memory bandwidth of the GPU",
        "link": "links between GPUs",
        "cpu": "the CPU that feeds the GPUs",
        "storage": "storage",
        "memory capacity": "memory of the GPU",
        "launch": "kernel launches",
        "power": "the power cap",
        "unknown": "not known",
    }
)


class WorkloadsView(QWidget):
    """List on top, settings left, results right. A config.json dropped here becomes a workload."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._index = 0
        self.setAcceptDrops(True)
        self.zoo = QLineEdit()
        self.zoo.setPlaceholderText(tr("Add a model: llama-3-8b, resnet-50, sdxl …"))
        self.zoo.setAccessibleName(tr("Model to add as a workload"))
        self.zoo.setMaxLength(200)
        self.zoo.returnPressed.connect(self._add_first)
        self._completer: QCompleter | None = None
        self.list = plain_table(tr("Workloads"), (tr("Workload"), tr("Memory"), tr("Speed"), tr("Limited by")))
        self.list.currentCellChanged.connect(lambda line, *_: self._choose(line))
        self.form = WorkloadForm(session)
        self.bars = MemoryBars()
        self.bars.clicked.connect(self._open_memory)
        self.memory_note = label("", "small", wrap=True)
        self.speed = button("", self._open_speed, role="number", name=tr("Speed"))
        self.speed_note = label("", wrap=True)
        self.stack_note = label("", "small", wrap=True)
        self.anchors = plain_table(
            tr("Measurements that the prediction leans on"), (tr("Measured on"), tr("Model"), tr("Value"), tr("Weight"))
        )
        self.title = label("", "strong")
        self._remove = icon_button("trash", tr("Remove the workload"), self._remove_current)
        self._empty = label(
            tr("No workloads yet. Add a model above to see its memory per GPU and its speed on this rig."), wrap=True
        )
        split = QSplitter(Qt.Orientation.Horizontal)
        split.addWidget(scrolled(panel(column(self.form, 1, margins=(12, 8, 12, 8))), tr("Settings of the workload")))
        split.addWidget(scrolled(panel(self._results()), tr("Results of the workload")))
        split.setSizes([row_px() * 13, row_px() * 24])
        split.setChildrenCollapsible(False)
        self._split = split
        self._rest = QWidget()
        head = row(self.zoo, button(tr("Add"), self._add_first, "plus", name=tr("Add the model")), margins=(12, 6, 12, 6))
        self._none = strip(column(self._empty, margins=(12, 12, 12, 12)))
        self.setLayout(column(strip(head), self.list, self._none, split, self._rest, spacing=0))
        session.rig_changed.connect(self._rig_changed)
        session.subject_pointed.connect(self._point)
        self._refresh()

    def _results(self) -> QVBoxLayout:
        return column(
            row(self.title, 1, self._remove),
            label(tr("Memory per GPU").upper(), "section"),
            self.bars,
            self.memory_note,
            rule(),
            label(tr("Speed").upper(), "section"),
            row(self.speed, 1),
            self.speed_note,
            self.stack_note,
            self.anchors,
            1,
            margins=(16, 8, 16, 8),
            spacing=6,
        )

    def focus_zoo(self) -> None:
        """Put the cursor into the field that adds a model."""
        self.zoo.setFocus()
        self.zoo.selectAll()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._completer is None:
            from rigplanner.catalog.zoo import shipped_zoo

            self._completer = QCompleter([model.name for model in shipped_zoo().models.values()], self)
            self._completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
            self._completer.setFilterMode(Qt.MatchFlag.MatchContains)
            self.zoo.setCompleter(self._completer)

    def _add_first(self) -> None:
        from rigplanner.catalog.zoo import shipped_zoo

        zoo, words = shipped_zoo(), self.zoo.text().strip()
        found = zoo.get(words) or next(iter(zoo.find(words)), None) if words else None
        if found is None:
            near = ", ".join(zoo.nearest(words)) if words else ""
            self._session.tell(
                tr("No model is called {words}.", words=f"{shortened(words, 40)!r}")
                + (tr(" Near: {near}.", near=near) if near else ""),
                "warning",
            )
            return
        text = found.kind in TEXT_KINDS
        task = "inference" if found.kind.startswith("diffusion") else "train"
        work = Workload(
            model=found.slug,
            task=task,
            precision="bf16" if text else "amp",
            batch_per_gpu=1 if text else 32,
            seq_len=2048 if text else None,
        )
        self._add(work, found.name)
        self.zoo.clear()

    def _add(self, work: Workload, name: str) -> None:
        self._index = len(self._session.rig.workloads)
        self._session.edit(tr("Add workload {name}", name=name), Edit("add_workload", {"workload": work}))

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if any(url.toLocalFile().endswith(".json") for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        for url in event.mimeData().urls()[:1]:
            self.add_config(url.toLocalFile())

    def add_config(self, path: str) -> None:
        """Add a workload from a Hugging Face config.json; say what is wrong with a file that is none."""
        from pathlib import Path

        file = Path(path)
        try:
            if file.stat().st_size > LARGEST_CONFIG_BYTES:
                raise ValueError("larger than a model configuration")
            config = msgspec.json.decode(file.read_bytes(), type=dict)
        except (OSError, ValueError, RecursionError) as fault:
            self._session.tell(tr("{name}: not a model configuration ({fault}).", name=file.name, fault=fault), "error")
            return
        name = str(config.get("_name_or_path") or file.parent.name or "model")[:80]
        self._add(Workload(name=name, config=config, task="train", precision="bf16", batch_per_gpu=1, seq_len=2048), name)

    def _remove_current(self) -> None:
        if 0 <= self._index < len(self._session.rig.workloads):
            name = self.title.text()
            if self._session.edit(tr("Remove workload {name}", name=name), Edit("remove_workload", {"index": self._index})):
                self._session.tell(tr("Removed {name}.", name=name), "info", tr("Undo"), self._session.undo)

    def _rig_changed(self, change: Change) -> None:
        if change.machine or change.workloads:
            self._refresh()

    def _refresh(self) -> None:
        if self._session.pending:
            return
        assessment = self._session.assessment if self._session.is_open else None
        jobs = assessment.jobs if assessment else ()
        self._index = max(0, min(self._index, len(jobs) - 1))
        self._none.setVisible(not jobs)
        self._rest.setVisible(not jobs)
        self.list.setVisible(bool(jobs))
        self._split.setVisible(bool(jobs))
        if not jobs or assessment is None:
            self.form.show_job(None)
            return
        vram = [limit for limit in limits(assessment) if limit.axis == "vram"]
        rows = [
            (
                shortened(workload_title(job), 60),
                percent(limit.share) if limit.share is not None else "unknown",
                quantity(job.speed.value, job.speed.metric) if job.speed else "unknown",
                BOUND_WORDS[job.speed.bound] if job.speed else "",
            )
            for job, limit in zip(jobs, vram, strict=True)
        ]
        self.list.blockSignals(True)
        fill(self.list, rows, numbers=(1, 2))
        self.list.setCurrentCell(self._index, 0)
        self.list.blockSignals(False)
        header = self.list.horizontalHeader()
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        for n in (1, 2, 3):
            header.setSectionResizeMode(n, QHeaderView.ResizeMode.ResizeToContents)
        fit_height(self.list, 5)
        self._show_job(jobs[self._index], assessment)

    def _choose(self, line: int) -> None:
        assessment = self._session.assessment
        if assessment is not None and 0 <= line < len(assessment.jobs):
            self._index = line
            self._show_job(assessment.jobs[line], assessment)

    def _show_job(self, job: "Job", assessment: "Assessment") -> None:
        self.form.show_job(job)
        self.title.setText(shortened(workload_title(job), 80))
        bars = memory_bars(job, assessment.machine)
        self.bars.show_bars(bars)
        self.bars.setVisible(bool(bars))
        assumed = job.memory[0].assumed if job.memory else {}
        fault = job.memory_fault or ("" if bars else tr("There is no GPU in the rig."))
        self.memory_note.setText(tr("Not computed: {fault}", fault=fault) if fault else _assumed(assumed))
        self._show_speed(job)

    def _show_speed(self, job: "Job") -> None:
        speed = job.speed
        self.speed.setVisible(speed is not None)
        self.anchors.setVisible(bool(speed and speed.anchors))
        if speed is None:
            self.speed_note.setText(tr("Not predicted: {reason}", reason=job.speed_fault or "there is no GPU in the rig"))
            self.stack_note.setText("")
            return
        self.speed.setText(quantity(speed.value, speed.metric))
        self.speed.setAccessibleName(tr("Speed {speed}, opens its steps", speed=quantity(speed.value, speed.metric)))
        scaling = (
            tr("Scaling over the GPUs: {share}.", share=percent(speed.scaling_efficiency))
            if speed.scaling_efficiency is not None
            else ""
        )
        used = tr("{share} of the peak rate is used.", share=percent(speed.mfu)) if speed.mfu is not None else ""
        self.speed_note.setText(
            " ".join(
                text
                for text in (
                    tr("80 % interval {interval}.", interval=interval(speed.low, speed.high, speed.metric)),
                    tr("Limited by {limit}.", limit=BOUND_WORDS[speed.bound]),
                    scaling,
                    used,
                )
                if text
            )
        )
        self.stack_note.setText(
            " ".join(text for text in (tr("Software: {stack}.", stack=speed.stack), _assumed(speed.assumed)) if text)
        )
        rows = [
            (
                self._gpu_name(anchor.gpu),
                f"{anchor.model}, {anchor.stack}",
                quantity(anchor.value, anchor.metric),
                percent(anchor.weight),
            )
            for anchor in speed.anchors[:5]
        ]
        for n, mode in enumerate((FIT, QHeaderView.ResizeMode.Stretch, FIT, FIT)):
            self.anchors.horizontalHeader().setSectionResizeMode(n, mode)
        fill(self.anchors, rows, numbers=(2, 3), tips=[anchor.source for anchor in speed.anchors[:5]])
        fit_height(self.anchors, 5)

    def _gpu_name(self, gpu: str) -> str:
        part = self._session.catalog.get(gpu)
        return part.name if part else gpu

    def _job(self) -> "Job | None":
        assessment = self._session.assessment
        return assessment.jobs[self._index] if assessment and self._index < len(assessment.jobs) else None

    def _open_memory(self, _: int) -> None:
        job = self._job()
        if job is not None and job.memory:
            worst = max(job.memory, key=lambda estimate: estimate.device_gib)
            headline = tr(
                "{device_gib} per GPU, {low_gib}",
                device_gib=quantity(worst.device_gib, "GiB", 1),
                low_gib=interval(worst.low_gib, worst.high_gib, "GiB"),
            )
            show_breakdown(
                self,
                tr("Memory per GPU"),
                headline,
                worst.steps,
                tr("Software: {stack}. {assumed}", stack=worst.stack, assumed=_assumed(worst.assumed)),
            )

    def _open_speed(self) -> None:
        job = self._job()
        if job is not None and job.speed is not None:
            speed = job.speed
            headline = f"{quantity(speed.value, speed.metric)}, {interval(speed.low, speed.high, speed.metric)}"
            show_breakdown(
                self,
                tr("Speed"),
                headline,
                speed.steps,
                tr("Software: {stack}. {assumed}", stack=speed.stack, assumed=_assumed(speed.assumed)),
            )

    def _point(self, subject: str) -> None:
        head, _, tail = subject.partition(".")
        if head == "workload" and tail.isdigit() and int(tail) < self.list.rowCount():
            self.list.setCurrentCell(int(tail), 0)


def _assumed(assumed: dict[str, str]) -> str:
    return (
        "Assumed: " + ", ".join(f"{field.replace('_', ' ')} {value}" for field, value in sorted(assumed.items())) + "."
        if assumed
        else ""
    )
