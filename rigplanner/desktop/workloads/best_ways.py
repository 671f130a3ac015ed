"""The formats of a model that writes or draws which fit the rig, each with its place and its speed,
to be taken with one click."""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QSizePolicy, QWidget

from rigplanner.desktop.controls.tips import plain
from rigplanner.desktop.controls.widgets import button, clear, column, label, row, stretchy
from rigplanner.desktop.document.session import Session
from rigplanner.errors import WorkloadFault
from rigplanner.performance.best_format import Proposal, proposals, proposes, taken
from rigplanner.report.language import tr
from rigplanner.report.words.faults import fault_text
from rigplanner.report.words.memory import place_text, rate_text
from rigplanner.rig.edits import Edit

if TYPE_CHECKING:
    from rigplanner.rules.assess import Assessment, Job

WRITES = ("inference", "decode", None)


class BestWays(QWidget):
    """A link that asks what fits best, and below it one line a format: a link that takes it, where
    it lies, tokens a second. The best is marked."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._job: Job | None = None
        self._assessment: Assessment | None = None
        self.ask = button(
            tr("What fits best?"),
            self._ask,
            role="link",
            name=tr("What fits best: formats and places of this model on this rig"),
        )
        self.ask.setToolTip(
            plain(
                tr(
                    "Lists the formats of the model that this rig holds, with place and speed of"
                    " each. One click takes one."
                )
            )
        )
        self.ask.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.ways = column(spacing=2)
        self.setLayout(column(self.ask, self.ways, spacing=2))

    def begin(self, job: "Job", assessment: "Assessment") -> None:
        """Another state of a workload is shown: what was listed held for the one before."""
        self._job, self._assessment = job, assessment
        clear(self.ways)
        work = job.workload
        self.setVisible(work.task in WRITES and proposes(work, None))

    def _ask(self) -> None:
        """Work the list out aside; an answer for another state is dropped."""
        job, assessment = self._job, self._assessment
        if job is None or assessment is None:
            return
        machine = assessment.machine
        gpus = [node.gpu for node in machine.gpus]

        def work(_: object) -> list[Proposal] | WorkloadFault:
            try:
                return proposals(job.workload, gpus, machine, None)
            except WorkloadFault as fault:
                return fault

        def take(found: list[Proposal] | WorkloadFault) -> None:
            if self._job is job:
                self._show(found)

        self._session.tasks.run_task("best ways", work, take)

    def _show(self, found: list[Proposal] | WorkloadFault) -> None:
        clear(self.ways)
        if isinstance(found, WorkloadFault) or not found:
            said = (
                fault_text(str(found))
                if isinstance(found, WorkloadFault)
                else tr("No format fits: neither the GPUs nor the memory of the computer hold it.")
            )
            self.ways.addWidget(label(said, "small", wrap=True))
            return
        several = len({way.stack for way in found}) > 1
        for way in found:
            name = way.precision.upper()
            if several:
                name = f"{name} ({way.stack})"
            use = button(
                tr("{format}, the best", format=name) if way.best else name,
                partial(self._use, way),
                role="link",
                name=tr("Use {size}", size=name),
            )
            place, speed = _place(way), _speed(way)
            use.setToolTip(plain(f"{tr('Use {size}', size=name)}: {place}. {speed}"))
            use.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
            told = stretchy(label(f"{place} · {speed}", "small", wrap=True))
            self.ways.addLayout(row(use, told))

    def _use(self, way: Proposal) -> None:
        """Make the workload the way that was chosen, in one step that undo takes back."""
        if self._job is None:
            return
        fields = taken(self._job.workload, way)
        edit = Edit("change_workload", {"index": self._job.index, **fields})
        self._session.edit(tr("Change workload {number}", number=self._job.index + 1), edit)


def _place(way: Proposal) -> str:
    return place_text(way.cards, way.device_gib, way.host_gib, way.gpu_layers, way.n_cpu_moe)


def _speed(way: Proposal) -> str:
    told = way.speed
    if told is None:
        return rate_text(None, None, None, None)
    return rate_text(told.value, told.low, told.high, told.metric)
