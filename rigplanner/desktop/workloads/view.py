"""The Workloads tab: what the rig shall do, whether it fits into memory, how fast it runs and what
limits it."""

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QHeaderView, QSplitter, QWidget

from rigplanner.desktop.controls.tables import fill, fit_height, plain_table
from rigplanner.desktop.controls.unit_cells import UnitCells
from rigplanner.desktop.controls.widgets import column, label, panel, scrolled, strip
from rigplanner.desktop.document.change import Change
from rigplanner.desktop.document.session import Session
from rigplanner.desktop.look.theme import row_px
from rigplanner.desktop.words import percent, quantity, shortened
from rigplanner.desktop.workloads.add import AddWorkload
from rigplanner.desktop.workloads.form import WorkloadForm
from rigplanner.desktop.workloads.prospects import Prospects, prospects
from rigplanner.desktop.workloads.results import WorkloadResults
from rigplanner.planning.limits import limits
from rigplanner.report.language import tr
from rigplanner.report.quote.jobs import workload_title
from rigplanner.report.words.speed import BOUND_WORDS

if TYPE_CHECKING:
    from rigplanner.rules.assess import Assessment, Job

PROSPECTS_DELAY_MS = 90
"""What a workload could become is worked out when the settings have rested for so long."""
MOST_ROWS = 4
FIELD_ROWS, RESULT_ROWS = 9, 15
"""Widths that fields and results want, in heights of a row."""


class WorkloadsView(QWidget):
    """List on top, settings left, results right. A file of a model dropped here becomes a
    workload."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._index = 0
        self._count = 0
        self.setAcceptDrops(True)
        self.add = AddWorkload(session)
        self.zoo = self.add.field
        self.list = plain_table(
            tr("Workloads"), (tr("Workload"), tr("Memory"), tr("Speed"), tr("Limited by"))
        )
        self.list.currentCellChanged.connect(lambda line, *_: self._choose(line))
        for n in (1, 2):
            self.list.setItemDelegateForColumn(n, UnitCells(self.list))
        self.form = WorkloadForm(session)
        self.results = WorkloadResults(session)
        self.bars = self.results.bars
        self.speed = self.results.speed
        self._empty = label(
            tr(
                "No workloads yet. Add a model above to see its memory per GPU and its speed on"
                " this rig."
            ),
            wrap=True,
        )
        split = QSplitter(Qt.Orientation.Horizontal)
        split.addWidget(
            scrolled(
                panel(column(self.form, 1, margins=(12, 8, 12, 8))), tr("Settings of the workload")
            )
        )
        split.addWidget(scrolled(self.results, tr("Results of the workload")))
        split.setChildrenCollapsible(False)
        self._split = split
        self._arrange(Qt.Orientation.Horizontal)
        self._rest = QWidget()
        self._none = strip(column(self._empty, margins=(12, 12, 12, 12)))
        self.setLayout(
            column(strip(column(self.add)), self.list, self._none, split, self._rest, spacing=0)
        )
        self._delay = QTimer(self, singleShot=True, interval=PROSPECTS_DELAY_MS)
        self._delay.timeout.connect(self._ask_prospects)
        self._stale = True
        session.rig_changed.connect(self._rig_changed)
        session.subject_pointed.connect(self._point)
        self._refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        narrow = event.size().width() < self.form.label_width() + row_px() * (
            FIELD_ROWS + RESULT_ROWS
        )
        orientation = Qt.Orientation.Vertical if narrow else Qt.Orientation.Horizontal
        if orientation != self._split.orientation():
            self._arrange(orientation)

    def _arrange(self, orientation: Qt.Orientation) -> None:
        """Put the results beside the settings, or below them where both would be cut; what limits a
        workload they tell too."""
        beside = orientation == Qt.Orientation.Horizontal
        self._split.setOrientation(orientation)
        self.list.setColumnHidden(3, not beside)
        form = (
            min(self.form.label_width() + row_px() * FIELD_ROWS, row_px() * 14)
            if beside
            else row_px() * 5
        )
        self._split.setSizes([form, row_px() * 24 if beside else row_px() * 8])
        self._split.setStretchFactor(0, 0 if beside else 5)
        self._split.setStretchFactor(1, 1 if beside else 8)

    def focus_zoo(self) -> None:
        """Put the cursor into the field that adds a model."""
        self.zoo.setFocus()
        self.zoo.selectAll()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if any(self.add.takes(url.toLocalFile()) for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        for url in event.mimeData().urls()[:1]:
            self.add.add_file(Path(url.toLocalFile()))

    def _rig_changed(self, change: Change) -> None:
        self._stale |= change.machine or change.workloads
        if self._stale and self.isVisible():
            self._refresh()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self._refresh()
        self._delay.start()

    def _refresh(self) -> None:
        if self._session.pending:
            return
        self._stale = False
        assessment = self._session.assessment if self._session.is_open else None
        jobs = assessment.jobs if assessment else ()
        if len(jobs) > self._count > 0:
            self._index = len(jobs) - 1
        self._count = len(jobs)
        self._index = max(0, min(self._index, len(jobs) - 1))
        self._none.setVisible(not jobs)
        self._rest.setVisible(not jobs)
        self.list.setVisible(bool(jobs))
        self._split.setVisible(bool(jobs))
        if not jobs or assessment is None:
            self.form.show_job(None)
            return
        self._show_list(assessment)
        self._show_job(jobs[self._index], assessment)

    def _show_list(self, assessment: "Assessment") -> None:
        jobs = assessment.jobs
        vram = [limit for limit in limits(assessment) if limit.axis == "vram"]
        rows = [
            (
                shortened(workload_title(job), 60),
                percent(limit.share) if limit.share is not None else tr("unknown"),
                quantity(job.speed.value, job.speed.metric) if job.speed else tr("unknown"),
                BOUND_WORDS[job.speed.bound] if job.speed else "",
            )
            for job, limit in zip(jobs, vram, strict=True)
        ]
        self.list.blockSignals(True)
        fill(self.list, rows, numbers=(1, 2))
        self.list.setCurrentCell(self._index, 0)
        self.list.blockSignals(False)
        header = self.list.horizontalHeader()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        for n in (1, 2, 3):
            header.setSectionResizeMode(n, QHeaderView.ResizeMode.ResizeToContents)
        fit_height(self.list, MOST_ROWS)

    def _choose(self, line: int) -> None:
        assessment = self._session.assessment
        if assessment is not None and 0 <= line < len(assessment.jobs):
            self._index = line
            self._show_job(assessment.jobs[line], assessment)

    def _show_job(self, job: "Job", assessment: "Assessment") -> None:
        self.form.show_job(job, assessment)
        self.results.show_job(job, assessment)
        if self.isVisible():
            self._delay.start()

    def _ask_prospects(self) -> None:
        """Work out aside what the workload could become; an answer for another state is dropped."""
        assessment, catalog, index = self._session.assessment, self._session.catalog, self._index
        if assessment is None or index >= len(assessment.jobs):
            return
        job = assessment.jobs[index]

        def take(found: Prospects) -> None:
            if self._session.assessment is assessment and self._index == index:
                self.results.show_prospects(found)

        self._session.tasks.run_task(
            "prospects", lambda _: prospects(job, assessment, catalog), take
        )

    def _point(self, subject: str) -> None:
        if self._stale:
            self._refresh()
        head, _, tail = subject.partition(".")
        if head == "workload" and tail.isdigit() and int(tail) < self.list.rowCount():
            self.list.setCurrentCell(int(tail), 0)
