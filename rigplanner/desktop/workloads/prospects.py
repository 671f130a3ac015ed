"""What a workload could become, shown in two blocks: sizes and ways that fit, and speed over GPUs
and under power caps."""

from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace
from PySide6.QtWidgets import QSizePolicy, QWidget

from rigplanner.desktop.controls.flow_row import FlowRow
from rigplanner.desktop.controls.tips import plain
from rigplanner.desktop.controls.widgets import (
    button,
    clear,
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
from rigplanner.desktop.panels.reasons import Reason, memory_reason
from rigplanner.desktop.words import interval, number, percent, quantity
from rigplanner.desktop.workloads.curve import Curve, Mark
from rigplanner.memory.capacity.capacity_search import Reach
from rigplanner.memory.capacity.changes import Change
from rigplanner.performance.answer import TIME_METRICS
from rigplanner.planning.what_if import (
    CapPoint,
    Room,
    ScalePoint,
    Scaling,
    gpu_item,
    power_caps,
    room,
    scaling,
)
from rigplanner.report.format import unit_text
from rigplanner.report.language import listed, tr, trn
from rigplanner.report.quote.jobs import memory_bars
from rigplanner.report.words.speed import BOUND_WORDS
from rigplanner.report.words.workloads import CHANGE_WORDS
from rigplanner.rig.edits import Edit

if TYPE_CHECKING:
    from rigplanner.catalog.load import Catalog
    from rigplanner.rules.assess import Assessment, Job

MOST_WAYS = 4
KEPT_AT_CAP = 0.95
"""Share of speed that a recommended power cap keeps at least."""


class Prospects(Struct, frozen=True):
    """Everything that is worked out aside for one workload."""

    room: Room
    scaling: Scaling | None
    caps: tuple[CapPoint, ...]


def prospects(job: "Job", assessment: "Assessment", catalog: "Catalog") -> Prospects:
    """Return what a workload could become; takes up to some hundred milliseconds."""
    return Prospects(
        room(job, assessment.machine),
        scaling(assessment, job, catalog),
        power_caps(assessment, job, catalog),
    )


class ProspectsPanel:
    """Two widgets, `sizes` and `curves`, that are filled when the answer comes."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._job: Job | None = None
        self._assessment: Assessment | None = None
        self.sizes, self.curves = QWidget(), QWidget()
        self._links = FlowRow(spacing=10)
        self._ways = column(spacing=2)
        self._largest = label("", "small")
        self.sizes.setLayout(column(self._largest, self._links, self._ways, spacing=2))
        self.scale = Curve(tr("Speed by number of GPUs"))
        self.caps = Curve(tr("Speed under a power limit"))
        self.scale.clicked.connect(self._open_scale)
        self.caps.clicked.connect(self._open_cap)
        self._scale_points: tuple[ScalePoint, ...] = ()
        self._cap_points: tuple[CapPoint, ...] = ()
        self.scale_note, self.cap_note = (
            label("", "small", wrap=True),
            label("", "small", wrap=True),
        )
        self.use_cap = button("", self._use_cap, role="link", name=tr("Use the power limit"))
        self._cap: CapPoint | None = None
        self._units = (label("", "small"), label("", "small"))
        self._scale_box = self._boxed(
            tr("Speed by number of GPUs"), self._units[0], self.scale, self.scale_note
        )
        self._cap_box = self._boxed(
            tr("Speed under a power limit"), self._units[1], self.caps, self.cap_note, self.use_cap
        )
        self.curves.setLayout(
            column(rule(), row(self._scale_box, self._cap_box, spacing=16), spacing=4)
        )
        for box in (self._scale_box, self._cap_box):
            stretchy(box)
        self.curves.hide()
        self.sizes.hide()

    def _boxed(self, title: str, unit: QWidget, *things: QWidget) -> QWidget:
        head = row(unit)
        head.insertWidget(0, label(title.upper(), "section", wrap=True), 1)
        return panel(column(head, *things, 1, spacing=4))

    def begin(self, job: "Job", assessment: "Assessment") -> None:
        """Another state of a workload is shown; its figures will follow. Those of another workload
        are taken away at once."""
        if self._job is None or self._job.index != job.index or job.speed is None:
            self.sizes.hide()
            self.curves.hide()
        self._job, self._assessment = job, assessment

    def show_prospects(self, found: Prospects) -> None:
        """Show the answer."""
        for unit in self._units:
            unit.setText(unit_text(self._job.speed.metric) if self._job and self._job.speed else "")
        self._show_sizes(found.room)
        self._show_scaling(found.scaling)
        self._show_caps(found.caps)
        self.curves.setVisible(
            self._scale_box.isVisibleTo(self.curves) or self._cap_box.isVisibleTo(self.curves)
        )

    def _show_sizes(self, found: Room) -> None:
        clear(self._links)
        clear(self._ways)
        links: list[tuple[str, Reach, dict[str, object]]] = []
        if found.batch and found.batch.value:
            size = found.batch.value
            links.append(
                (trn("batch {count}", "batch {count}", size), found.batch, {"batch_per_gpu": size})
            )
        if found.users and found.users.value:
            users = found.users
            each = max(1, users.value // (users.users.replicas if users.users else 1))
            links.append(
                (
                    trn("{count} user at once", "{count} users at once", users.value),
                    users,
                    {"batch_per_gpu": each},
                )
            )
        if found.context and found.context.value:
            length = found.context.value
            words = trn("context of {count} token", "context of {count} tokens", length)
            links.append((words, found.context, {self._length_field(): length}))
        if links:
            self._largest.setText(tr("Largest that fits:"))
        elif found.batch is not None or found.users is not None:
            self._largest.setText(tr("Not even one sample fits."))
        self._largest.setVisible(bool(links) or found.batch is not None or found.users is not None)
        for text, reach, fields in links:
            use = button(
                text, partial(self._use, fields), role="link", name=tr("Use {size}", size=text)
            )
            use.setToolTip(plain(f"{tr('Use {size}', size=text)}. {_sure(reach)}"))
            pair = row(use, spacing=0)
            if reach.at is not None:
                opens = partial(self._open_reach, text, reach, fields)
                pair.addWidget(icon_button("info", tr("Steps of {title}", title=text), opens))
            self._links.addWidget(panel(pair))
        self._show_ways(found)
        self.sizes.setVisible(bool(self._largest.isVisibleTo(self.sizes) or self._ways.count()))

    def _open_reach(self, text: str, reach: Reach, fields: dict[str, object]) -> None:
        """Show what the largest size rests on: the memory that it needs on the smallest card, in
        the room there is."""
        from rigplanner.rules.assess import memory_of

        gpus = self._assessment.machine.gpus if self._assessment else ()
        if self._job is None or not gpus:
            return
        smallest = min(gpus, key=lambda node: node.gpu.memory_gib or 0.0).gpu
        found = memory_of(replace(self._job.workload, **fields), smallest, len(gpus))
        room = (
            f"{tr('{size} are free for it.', size=quantity(reach.room_gib, 'GiB', 1))}"
            f" {_sure(reach)}"
        )
        made = Reason(text, found, (), room) if isinstance(found, str) else memory_reason(found)
        show_breakdown(
            self.sizes,
            replace(made, title=text, note=f"{room} {made.note}" if made.steps else room),
        )

    def _length_field(self) -> str:
        work = self._job.workload if self._job else None
        return "input_tokens" if work and (work.input_tokens or work.output_tokens) else "seq_len"

    def _show_ways(self, found: Room) -> None:
        """Where the workload does not fit for certain: the single changes that need less."""
        job, assessment = self._job, self._assessment
        bars = memory_bars(job, assessment.machine) if job and assessment else ()
        if all(bar.verdict in ("fits", "unknown") for bar in bars):
            return
        self._ways.addWidget(label(tr("Ways to reduce memory:"), "small"))
        for change in found.changes[:MOST_WAYS]:
            codes = change.code.split("+")
            words = listed((CHANGE_WORDS.get(code, code.replace("_", " ")) for code in codes), "; ")
            title = (
                words
                if len(codes) == 1
                else trn("{count} change", "{count} changes together", len(codes))
            )
            use = button(
                title,
                partial(self._use_change, change),
                role="link",
                name=tr("Use {size}", size=words),
            )
            use.setToolTip(plain(change.source))
            use.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
            kept = tr("{share} of the speed", share=percent(change.speed_share))
            verdict = tr("fits") if change.fits else tr("still too much")
            text = listed([quantity(change.device_gib, "GiB", 1), verdict, kept])
            self._ways.addLayout(row(use, stretchy(label(text, "small", wrap=True))))
            if len(codes) > 1:
                what = label(words, "small", wrap=True)
                what.setContentsMargins(4, 0, 0, 4)
                self._ways.addWidget(what)
        if not found.changes:
            self._ways.addWidget(
                label(
                    tr(
                        "No single change of its settings needs less; a larger GPU or more of them"
                        " would."
                    ),
                    "small",
                )
            )

    def _use(self, fields: dict[str, object]) -> None:
        if self._job is not None:
            edit = Edit("change_workload", {"index": self._job.index, **fields})
            self._session.edit(tr("Change workload {number}", number=self._job.index + 1), edit)

    def _use_change(self, change: Change) -> None:
        """Make a change, with more GPUs where it asks for them."""
        if self._job is None or self._assessment is None:
            return
        edits = [Edit("change_workload", {"index": self._job.index, **change.typed_fields()})]
        uid, own = (
            gpu_item(self._session.rig, self._assessment.machine),
            len(self._assessment.machine.gpus),
        )
        if change.count > own and uid is not None:
            edits.append(Edit("set_quantity", {"uid": uid, "quantity": change.count}))
        self._session.edit(tr("Change workload {number}", number=self._job.index + 1), *edits)

    def _show_scaling(self, found: Scaling | None) -> None:
        known = [point for point in found.points if point.value] if found else []
        self._scale_points = tuple(known)
        self._scale_box.setVisible(len(known) > 1)
        if found is None or len(known) < 2:
            return
        own = len(self._assessment.machine.gpus) if self._assessment else 0
        marks = [
            Mark(
                x=float(point.gpus),
                value=point.value or 0.0,
                low=point.low or 0.0,
                high=point.high or 0.0,
                text=f"{point.gpus}",
                tip=_scale_tip(point, found.metric),
                own=point.gpus == own,
                dim=not point.placed or point.fits is False,
            )
            for point in known
        ]
        self.scale.show_marks(marks, found.metric)
        self.scale_note.setText(_scale_words(found))

    def _show_caps(self, found: tuple[CapPoint, ...]) -> None:
        self._cap_points = found
        job, full = self._job, found[-1] if found else None
        self._cap_box.setVisible(len(found) > 1)
        if job is None or job.speed is None or full is None or len(found) < 2:
            return
        now = self._assessment.machine.gpus[0].power_cap_w if self._assessment else None
        metric = job.speed.metric
        self.caps.show_marks(
            [
                Mark(
                    x=p.cap_w,
                    value=p.value,
                    low=p.low,
                    high=p.high,
                    text=number(p.cap_w, 0),
                    own=p.cap_w == (now or full.cap_w),
                    tip=_cap_tip(p, metric),
                )
                for p in found
            ],
            metric,
        )
        enough = [p for p in found if _kept(p, full, metric) >= KEPT_AT_CAP]
        self._cap = min(enough, key=lambda p: p.cap_w)
        kept = percent(_kept(self._cap, full, metric))
        self.cap_note.setText(
            tr(
                "At {cap} per GPU: {share} of the speed, {saved} less power.",
                cap=quantity(self._cap.cap_w, "W", 0),
                share=kept,
                saved=quantity(self._cap.saved_w, "W", 0),
            )
        )
        self.use_cap.setText(tr("Limit to {cap}", cap=quantity(self._cap.cap_w, "W", 0)))
        self.use_cap.setVisible(self._cap.saved_w > 0 and now != self._cap.cap_w)

    def _open_scale(self, n: int) -> None:
        point, metric = self._scale_points[n], self._metric()
        show_breakdown(
            self.curves,
            Reason(tr("Speed by number of GPUs"), _scale_tip(point, metric), point.steps),
        )

    def _open_cap(self, n: int) -> None:
        point = self._cap_points[n]
        show_breakdown(
            self.curves,
            Reason(tr("Speed under a power limit"), _cap_tip(point, self._metric()), point.steps),
        )

    def _metric(self) -> str:
        return self._job.speed.metric if self._job and self._job.speed else ""

    def _use_cap(self) -> None:
        uid = gpu_item(self._session.rig, self._assessment.machine) if self._assessment else None
        if uid is not None and self._cap is not None:
            words = tr("Limit to {cap}", cap=quantity(self._cap.cap_w, "W", 0))
            self._session.edit(words, Edit("set_power_cap", {"uid": uid, "watts": self._cap.cap_w}))


def _sure(found: Reach) -> str:
    return tr("With its whole interval {sure} fit.", sure=number(found.sure, 0))


def _kept(point: CapPoint, full: CapPoint, metric: str) -> float:
    return full.value / point.value if metric in TIME_METRICS else point.value / full.value


def _scale_tip(point: ScalePoint, metric: str) -> str:
    speed = quantity(point.value, metric)
    span = interval(point.low, point.high, metric)
    said = [
        trn(
            "{count} GPU: {speed}, {span}",
            "{count} GPUs: {speed}, {span}",
            point.gpus,
            speed=speed,
            span=span,
        )
    ]
    if point.fits is False:
        said.append(tr("does not fit in the memory of that many GPUs"))
    elif not point.placed:
        said.append(tr("this rig has no place for so many"))
    return ", ".join(said)


def _scale_words(found: Scaling) -> str:
    if found.enough is not None:
        return trn(
            "Little gain beyond {count} GPU: limited by {limit}.",
            "More than {count} GPUs gain little: {limit} is in the way.",
            found.enough,
            limit=BOUND_WORDS[found.bound],
        )
    unplaced = any(not point.placed for point in found.points)
    too_large = any(point.fits is False for point in found.points)
    if unplaced and too_large:
        return tr("Hollow: not enough memory, or no free slot.")
    if unplaced:
        return tr("Hollow: not in this rig as it stands.")
    return tr("Hollow: does not fit.") if too_large else tr("Each added GPU still helps.")


def _cap_tip(point: CapPoint, metric: str) -> str:
    span = interval(point.low, point.high, metric)
    return tr(
        "{cap} per GPU: {speed}, {span}",
        cap=quantity(point.cap_w, "W", 0),
        speed=quantity(point.value, metric),
        span=span,
    )
