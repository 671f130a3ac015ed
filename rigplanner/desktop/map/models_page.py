"""The map turned round: every model of the zoo, or of a folder, against the rig or other GPUs."""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QFileDialog,
    QLineEdit,
    QProgressBar,
    QTableView,
    QWidget,
)

from rigplanner.catalog.schema.parts import GPU
from rigplanner.desktop.controls.flow_row import flow_strip
from rigplanner.desktop.controls.tips import plain
from rigplanner.desktop.controls.widgets import (
    button,
    column,
    label,
    panel,
    row,
    scrolled,
    stretchy,
)
from rigplanner.desktop.document.change import Change
from rigplanner.desktop.document.session import Session
from rigplanner.desktop.document.tasks import Ticket
from rigplanner.desktop.look.theme import look, row_px
from rigplanner.desktop.map.runs_model import RunsModel
from rigplanner.desktop.panels.breakdown import show_breakdown
from rigplanner.desktop.panels.reasons import estimate_reason
from rigplanner.errors import WorkloadFault
from rigplanner.planning.map.runs import NAMES, TASKS, WRITES, Run
from rigplanner.planning.map.runs_asked import MachineQuestion, RunsSoFar, growing_runs
from rigplanner.report.language import Words, tr
from rigplanner.report.map.models import PURPOSE_WORDS, more_lines
from rigplanner.rig.edits import Edit
from rigplanner.rig.workload import Workload

TOPIC = "map-models"
TASK_CHOICES = Words(
    {
        "inference": "Run",
        "serve": "Serve many users",
        "lora": "Train with LoRA",
        "qlora": "Train with QLoRA",
        "full": "Train all weights",
    }
)
MOST_GPUS, LEAST_ROWS = 64, 8


class ModelsPage(QWidget):
    """Which models run here, in which format, how fast; the best of each purpose has a star."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._stale = True
        self._files: tuple[Workload, ...] | None = None
        self.gpus = QLineEdit()
        self.gpus.setPlaceholderText(tr("This rig; or GPUs, as 2x RTX 3090"))
        self.gpus.setAccessibleName(tr("Machine"))
        self.gpus.setMaxLength(120)
        self.gpus.setClearButtonEnabled(True)
        self.gpus.setMinimumWidth(row_px() * 10)
        self.gpus.returnPressed.connect(self.refresh)
        self.purpose = _choice(
            tr("Purpose"),
            [(PURPOSE_WORDS[name], (name,)) for name in NAMES] + [(tr("All purposes"), NAMES)],
        )
        self.task = _choice(tr("Task"), [(TASK_CHOICES[name], name) for name in TASKS])
        self.order = _choice(
            tr("Order"), [(tr("Newest first"), True), (tr("Largest that run well first"), False)]
        )
        for box in (self.purpose, self.task, self.order):
            box.activated.connect(lambda _: self.refresh())
        self.folder = button(tr("Files of a folder…"), self._ask_folder, "open")
        self.model = RunsModel(self)
        self.table = self._make_table()
        self.progress = QProgressBar()
        self.progress.setAccessibleName(tr("Progress"))
        self.progress.setTextVisible(False)
        self.progress.setFixedWidth(row_px() * 5)
        self.cancel = button(tr("Cancel"), self.stop)
        self._busy = panel(row(self.progress, self.cancel, 1))
        self._busy.hide()
        self.note = label("", "small", wrap=True)
        self.add = button(tr("Add as a workload"), self._add, "plus")
        self.why = button(tr("Steps and measurements"), self._open_chosen, "info")
        fields = flow_strip(
            self.gpus, self.purpose, self.task, self.order, self.folder, self._busy,
            margins=(12, 8, 12, 6),
        )  # fmt: skip
        deeds = flow_strip(self.add, self.why)
        foot = panel(column(self.note, deeds, margins=(12, 6, 12, 8), spacing=6))
        body = column(fields, stretchy(self.table), foot, spacing=0)
        body.setStretch(1, 1)
        self.table.setMinimumHeight(row_px() * LEAST_ROWS)
        self.setLayout(column(scrolled(panel(body), tr("Models for the machine")), spacing=0))
        self._show_deeds()
        session.rig_changed.connect(self._rig_changed)
        look.look_changed.connect(self.table.viewport().update)

    def _make_table(self) -> QTableView:
        made = QTableView()
        made.setModel(self.model)
        made.setAccessibleName(tr("Models against the machine"))
        made.setShowGrid(False)
        made.setTabKeyNavigation(False)
        made.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        made.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        made.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        made.verticalHeader().hide()
        made.verticalHeader().setDefaultSectionSize(row_px())
        made.horizontalHeader().setHighlightSections(False)
        made.horizontalHeader().setStretchLastSection(True)
        made.activated.connect(self._open)
        made.selectionModel().selectionChanged.connect(lambda *_: self._show_deeds())
        return made

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self.refresh()

    def _rig_changed(self, change: Change) -> None:
        self._stale |= change.machine or change.another
        if self._stale and self.isVisible() and not self._session.pending:
            self.refresh()

    def _question(self) -> MachineQuestion | None:
        """What is asked; None where no machine is named or it is not known yet."""
        words = self.gpus.text().strip()
        machine, gpus = None, tuple[GPU, ...]()
        if words:
            try:
                gpus = _named(words)
            except WorkloadFault as fault:
                self._session.tell(str(fault), "warning")
                return None
        elif self._session.is_open and self._session.assessment is not None:
            machine = self._session.assessment.machine
            gpus = tuple(node.gpu for node in machine.gpus)
        if not gpus and (machine is None or not machine.cpus):
            return None
        return MachineQuestion(
            gpus=gpus,
            machine=machine,
            purposes=self.purpose.currentData(),
            task=self.task.currentData(),
            newest=self.order.currentData(),
            files=self._files,
        )

    def refresh(self) -> None:
        """Ask anew; models come as they are worked out."""
        question = self._question()
        if question is None:
            self._take(RunsSoFar([], 0, 0))
            self.note.setText(
                tr("Open a rig with a GPU, or name GPUs above, to see which models run there.")
            )
            return
        self._stale = False

        def work(ticket: Ticket) -> Iterator[RunsSoFar]:
            from rigplanner.catalog.zoo import shipped_zoo

            yield from growing_runs(question, shipped_zoo(), lambda: ticket.cancelled)

        self._busy.show()
        self.progress.setRange(0, 0)
        self._session.tasks.run_task(
            TOPIC, work, lambda _: self._busy.hide(), self._failed, self._take
        )

    def _failed(self, fault: Exception) -> None:
        self._busy.hide()
        self._session.tell(str(fault), "error")

    def stop(self) -> None:
        """Work out no more; what is shown stays."""
        self._session.tasks.cancel(TOPIC)
        self._busy.hide()

    def _take(self, told: RunsSoFar) -> None:
        self.progress.setRange(0, max(1, told.models))
        self.progress.setValue(told.looked_at)
        self.model.show(told.runs)
        self.table.clearSpans()
        for at, line in enumerate(self.model.lines):
            if isinstance(line, str):
                self.table.setSpan(at, 0, 1, self.model.columnCount())
        self._fit_columns()
        groups = groupby(told.runs, key=lambda run: run.purpose)
        self.note.setText(
            "\n".join(line.strip() for _, g in groups for line in more_lines(list(g)))
        )
        self._show_deeds()

    def _fit_columns(self) -> None:
        metrics = self.table.fontMetrics()
        seen = [
            self.model.cells_of(at)
            for at, line in enumerate(self.model.lines[:120])
            if not isinstance(line, str)
        ]
        head = self.table.horizontalHeader()
        for n in range(self.model.columnCount()):
            title = str(self.model.headerData(n, Qt.Orientation.Horizontal))
            widest = max((metrics.horizontalAdvance(cells[n]) for cells in seen), default=0)
            self.table.setColumnHidden(n, bool(seen) and widest == 0 and n > 0)
            head.resizeSection(
                n, max(widest + row_px(), metrics.horizontalAdvance(title) + row_px())
            )

    def chosen(self) -> Run | None:
        """Return the run that is chosen in the table."""
        found = self.table.selectionModel().selectedRows()
        line = self.model.lines[found[0].row()] if found else None
        return line if isinstance(line, Run) else None

    def _show_deeds(self) -> None:
        run = self.chosen()
        self.add.setEnabled(run is not None and self._session.is_open and self._files is None)
        self.why.setEnabled(run is not None and run.speed is not None)

    def _add(self) -> None:
        run = self.chosen()
        if run is None:
            return
        from rigplanner.catalog.zoo import shipped_zoo

        task = self.task.currentData()
        writes = shipped_zoo().models[run.model].kind in WRITES
        told = task == "inference" and writes and run.precision
        work = Workload(
            model=run.model,
            task=TASKS[task],
            precision=run.precision if told else None,
            stack=run.speed.stack if told and run.speed else None,
            gpu_layers=run.gpu_layers,
            n_cpu_moe=run.n_cpu_moe,
        )
        self._session.edit(
            tr("Add {name}", name=run.name), Edit("add_workload", {"workload": work})
        )
        self._session.tell(tr("{name} is a workload of the rig.", name=run.name))

    def _open(self, index: QModelIndex) -> None:
        line = self.model.lines[index.row()]
        if isinstance(line, Run) and line.speed is not None:
            show_breakdown(self, estimate_reason(line.speed, line.name, self._session.catalog))

    def _open_chosen(self) -> None:
        self._open(self.table.selectionModel().selectedRows()[0])

    def _ask_folder(self) -> None:
        if self._files is not None:
            self.show_files(None)
            return
        dialog = QFileDialog(self, tr("Folder of model files"))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.fileSelected.connect(lambda name: self.show_files(Path(name)))
        dialog.open()

    def show_files(self, folder: Path | None) -> None:
        """Show the models of a folder's files; None goes back to the zoo."""
        from rigplanner.planning.model_files import works_of_folder

        works, faults = works_of_folder(folder) if folder is not None else ([], [])
        if folder is not None and not works:
            said = faults[0] if faults else tr("There is no GGUF or safetensors file in it.")
            self._session.tell(f"{folder.name}: {said}", "warning")
            return
        self._files = tuple(works) if folder is not None else None
        words = tr("Files of a folder…") if folder is None else tr("Back to all models")
        self.folder.setText(words)
        self.purpose.setEnabled(folder is None)
        self.refresh()


def _named(words: str) -> tuple[GPU, ...]:
    """GPUs as `2x RTX 3090`. Raises WorkloadFault for what nothing knows."""
    from rigplanner.catalog.gpus import find_gpu

    count, _, name = words.partition("x ")
    if name and count.strip().isdigit() and 1 <= int(count) <= MOST_GPUS:
        return (find_gpu(name.strip()),) * int(count)
    return (find_gpu(words),)


def _choice(name: str, entries: list[tuple[str, object]]) -> QComboBox:
    made = QComboBox()
    made.setAccessibleName(name)
    made.setToolTip(plain(name))
    made.setMinimumContentsLength(max(10, min(18, max(len(text) for text, _ in entries))))
    made.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    for text, value in entries:
        made.addItem(text, value)
    return made
