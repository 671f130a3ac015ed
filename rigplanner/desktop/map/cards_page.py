"""Every card against the work: a table and four pictures of one ranking."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QMenu,
    QProgressBar,
    QStackedWidget,
    QTabBar,
    QTableView,
    QWidget,
)

from rigplanner.catalog.schema.parts import GPU
from rigplanner.desktop.controls.flow_row import flow_strip
from rigplanner.desktop.controls.widgets import (
    button,
    column,
    label,
    panel,
    row,
    scrolled,
    stretchy,
    strip,
)
from rigplanner.desktop.document.change import Change
from rigplanner.desktop.document.exports import ask_export, write
from rigplanner.desktop.document.session import Session
from rigplanner.desktop.document.tasks import Ticket
from rigplanner.desktop.look.theme import look, row_px
from rigplanner.desktop.map.advice_reason import advice_reason
from rigplanner.desktop.map.filters import Filters
from rigplanner.desktop.map.rows_model import FIT_COLUMN, NAME_COLUMN, RowsModel
from rigplanner.desktop.map.scene_view import SceneView
from rigplanner.desktop.map.weights import Weights
from rigplanner.desktop.map.works import WorkChooser, Works
from rigplanner.desktop.panels.breakdown import show_breakdown
from rigplanner.desktop.panels.reasons import estimate_reason
from rigplanner.planning.map.advice import Advice, advice
from rigplanner.planning.map.asked import RowsSoFar, growing
from rigplanner.planning.map.cards import same_kind
from rigplanner.planning.map.measured_ratios import Side, boards_of, ratios
from rigplanner.planning.map.nearest import shortages
from rigplanner.planning.map.rank import RUNS, Row
from rigplanner.planning.map.swap import swap_edits, swapped
from rigplanner.report.forms import form_title
from rigplanner.report.language import tr, trn
from rigplanner.report.map import advice as in_words
from rigplanner.report.map import table, want
from rigplanner.report.map.charts import CHART_WORDS, CHARTS, Chart, Heading, chart
from rigplanner.report.map.figures import title_of
from rigplanner.report.map.scene import Measure, Scene
from rigplanner.report.words.measured_ratios import ratios_text

if TYPE_CHECKING:
    from rigplanner.rig.document import Rig

TOPIC = "map"
MOST_COMPARED, LEAST_ROWS = 12, 8
MOST_NAME = 0.36
"""Share of the table that names may take."""
FORMS = ("png", "svg", "html", "csv", "json", "text")


class CardsPage(QWidget):
    """The ranking; `compare_asked` carries rigs with chosen cards, and what each is called."""

    compare_asked = Signal(list)

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._works = Works()
        self._stale, self._begun = True, False
        self.chooser = WorkChooser(session)
        self.filters = Filters(session)
        self.weights = Weights()
        self.chooser.changed.connect(self.refresh)
        self.weights.changed.connect(self.refresh)
        self.filters.changed.connect(self.refresh)
        self.model = RowsModel(self)
        self.table = self._make_table()
        self.scene = SceneView(tr("Picture of the map"))
        self.scene.asked.connect(self.open_reason)
        self.views = QTabBar()
        self.views.setDrawBase(False)
        self.views.setExpanding(False)
        self.views.setAccessibleName(tr("Table or picture"))
        self.views.addTab(tr("Table"))
        for kind in CHARTS:
            self.views.addTab(CHART_WORDS[kind])
        self.views.currentChanged.connect(lambda _: self._show_view())
        self.stack = QStackedWidget()
        self.stack.addWidget(self.table)
        self.stack.addWidget(scrolled(self.scene, tr("Picture of the map")))
        self.progress = QProgressBar()
        self.progress.setAccessibleName(tr("Progress"))
        self.progress.setTextVisible(False)
        self.progress.setFixedWidth(row_px() * 5)
        self.cancel = button(tr("Cancel"), self.stop)
        self._busy = panel(row(self.progress, self.cancel))
        self._busy.hide()
        self.note = label("", "small", wrap=True)
        self.advice = label("", wrap=True)
        self.advice.setAccessibleName(tr("Advice on the chosen card"))
        self.advice.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.advice.hide()
        self.figures = button(tr("Figures"), self._open_figures, "info",
                              name=tr("Figures behind the advice"))  # fmt: skip
        self.figures.hide()
        self._advised: Advice | None = None
        self._lay_out()
        session.rig_changed.connect(self._rig_changed)
        look.look_changed.connect(self.table.viewport().update)

    def _make_table(self) -> QTableView:
        made = QTableView()
        made.setModel(self.model)
        made.setAccessibleName(tr("Cards against the work"))
        made.setShowGrid(False)
        made.setTabKeyNavigation(False)
        made.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        made.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        made.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        made.verticalHeader().hide()
        made.verticalHeader().setDefaultSectionSize(row_px())
        made.horizontalHeader().setHighlightSections(False)
        made.horizontalHeader().setStretchLastSection(True)
        made.activated.connect(lambda index: self.open_reason(index.row()))
        made.selectionModel().selectionChanged.connect(lambda *_: self._show_deeds())
        return made

    def _lay_out(self) -> None:
        self.put = button(tr("Put into the rig"), self.put_into_rig, "gpu")
        self.compare = button(tr("Compare"), self.compare_chosen, "compare",
                              name=tr("Compare the chosen cards in the rig"))  # fmt: skip
        self.why = button(tr("Steps and measurements"), self._open_chosen, "info")
        self.export = button(tr("Export"), self._open_export, "export",
                             name=tr("Save the map as a file"))  # fmt: skip
        head = panel(
            column(self.chooser, self.weights, self.filters, margins=(12, 8, 12, 4), spacing=6)
        )
        line = strip(row(self.views, 1, self._busy, margins=(12, 0, 12, 0)))
        deeds = flow_strip(self.put, self.compare, self.why, self.figures, self.export)
        foot = panel(column(self.note, self.advice, deeds, margins=(12, 6, 12, 8), spacing=6))
        self.stack.setMinimumHeight(row_px() * LEAST_ROWS)
        body = column(head, line, stretchy(self.stack), foot, spacing=0)
        body.setStretch(2, 1)
        self.setLayout(column(scrolled(panel(body), tr("Cards for the work")), spacing=0))
        self._show_deeds()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self.refresh()

    def _rig_changed(self, change: Change) -> None:
        asks = change.workloads or change.another or change.before.site != change.after.site
        if not (asks or change.before.currency != change.after.currency):
            return
        self._stale = True
        if self.isVisible():
            self.refresh()

    def refresh(self) -> None:
        """Ask the map anew; rows come as they are worked out."""
        self._stale = False
        self.chooser.refresh()
        if not self._begun:
            self._begun = True
            self.filters.start_with(self.chooser.gpus())
        self._works = self.chooser.chosen()
        self.weights.show_works(self._works.titles)
        if not any(wish.weight for wish in self.weights.wishes(len(self._works.works))):
            self.stop()
            self._take(RowsSoFar([], 0, 0))
            self.note.setText(
                tr(
                    "Add a workload to the rig, or name a model above, to see every card against"
                    " it."
                )
            )
            return
        wishes = self.weights.wishes(len(self._works.works))
        counting = [n for n, wish in enumerate(wishes) if wish.weight]
        question = self.filters.question(
            [self._works.works[n] for n in counting],
            self._works.own,
            [wishes[n] for n in counting],
        )
        catalog = self._session.catalog
        currency = question.money.currency

        def work(ticket: Ticket) -> Iterator[RowsSoFar]:
            from rigplanner.catalog.cloud import shipped_cloud
            from rigplanner.catalog.zoo import shipped_zoo

            yield from growing(
                question, catalog, shipped_cloud(), shipped_zoo(), lambda: ticket.cancelled
            )

        self.model.currency = currency
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

    def _take(self, told: RowsSoFar) -> None:
        """Show a ranking, whole or growing; chosen rows stay chosen."""
        self.progress.setRange(0, max(1, told.cards))
        self.progress.setValue(told.looked_at)
        chosen = {(each.id, each.count) for each in self.chosen_rows()}
        self.model.show(told.rows, self.model.currency)
        self._fit_columns()
        for at, each in enumerate(told.rows if chosen else ()):
            if (each.id, each.count) in chosen:
                self.table.selectionModel().select(
                    self.model.index(at, 0),
                    self.table.selectionModel().SelectionFlag.Select
                    | self.table.selectionModel().SelectionFlag.Rows,
                )
        self.note.setText(" ".join(self._notes(told)))
        self._show_view()
        self._show_deeds()

    def _fit_columns(self) -> None:
        """Give each column the width of its widest cell among the first rows; names, which the
        tool tip shows whole, leave room for the figures."""
        metrics = self.table.fontMetrics()
        seen = [self.model.cells_of(at) for at in range(min(60, len(self.model.rows)))]
        head = self.table.horizontalHeader()
        for n in range(self.model.columnCount()):
            title = str(self.model.headerData(n, Qt.Orientation.Horizontal))
            widest = max((metrics.horizontalAdvance(line[n]) for line in seen), default=0)
            room = row_px() * 2 if n == FIT_COLUMN else row_px()
            if n == NAME_COLUMN:
                widest = min(widest, round(MOST_NAME * self.table.viewport().width()) - room)
            self.table.setColumnHidden(n, bool(seen) and widest == 0)
            head.resizeSection(n, max(widest + room, metrics.horizontalAdvance(title) + row_px()))

    def _notes(self, told: RowsSoFar) -> list[str]:
        running = sum(1 for each in told.rows if each.fit in RUNS)
        notes = [
            trn("{count} row of {all} runs it.", "{count} rows of {all} run it.", running,
                all=len(told.rows))
        ]  # fmt: skip
        if any(one.place == two.place for one, two in zip(told.rows, told.rows[1:], strict=False)
               if one.place):  # fmt: skip
            notes.append(tr("Rows of one number: their intervals overlap, either may be faster."))
        if told.rows and not running:
            notes += want.told(shortages(told.rows), self._works.titles)
        day = self.filters.money().day
        if day:
            notes.append(table.market(day))
        elif typed := self.filters.day.text().strip():
            notes.append(tr("{text} is no day up to today: prices are of today.", text=typed))
        return notes

    def _heading(self) -> Heading:
        note = table.note(self._session.today, self.filters.money().day)
        return Heading(self._works.title, note, self.model.currency)

    def _show_view(self) -> None:
        at = self.views.currentIndex()
        self.stack.setCurrentIndex(0 if at == 0 else 1)
        self.scene.show_scene(self._drawn if at and self.model.rows else None)

    def _kind(self) -> Chart:
        return CHARTS[max(0, self.views.currentIndex() - 1)]

    def _drawn(self, width: float, height: float, measure: Measure) -> Scene:
        sort = self.filters.sort.currentData()
        rows, heading = self.model.rows, self._heading()
        return chart(self._kind(), rows, heading, sort, width, measure, 40, height)

    def chosen_rows(self) -> list[Row]:
        """Return the rows that are chosen in the table."""
        found = self.table.selectionModel().selectedRows()
        return [
            self.model.rows[index.row()] for index in found if index.row() < len(self.model.rows)
        ]

    def _show_deeds(self) -> None:
        chosen = self.chosen_rows()
        cards = [each for each in chosen if each.kind == "card"]
        self.put.setEnabled(len(cards) == 1 and len(chosen) == 1)
        self.compare.setEnabled(bool(cards) and self._session.is_open)
        self.why.setEnabled(len(chosen) == 1)
        self.export.setEnabled(bool(self.model.rows))
        self._advise(chosen)

    def _advise(self, chosen: list[Row]) -> None:
        """Say of the one card that is chosen its class, what it lacks, what does it for less."""
        told, found = "", None
        if len(chosen) == 1:
            money = self.filters.money()
            found = advice(chosen[0], self.model.rows, self._session.catalog, money)
            told = " ".join(in_words.lines(found, self.model.currency)) if found else ""
        elif len(chosen) == 2:
            told = self._measured(*chosen)
        self._advised = found
        self.figures.setVisible(found is not None)
        self.advice.setVisible(bool(told))
        self.advice.setText(told)

    def _measured(self, one: Row, other: Row) -> str:
        """How many times one of two rows is as fast as the other, by who measured both."""
        gpus = [self._session.catalog.get(row.gpu) for row in (one, other)]
        sides = [
            Side(gpus=boards_of(gpu, same_kind), count=row.count)
            for gpu, row in zip(gpus, (one, other), strict=True)
            if isinstance(gpu, GPU)
        ]
        if len(sides) < 2 or sides[0] == sides[1]:
            return ""
        return ratios_text(ratios(sides[0], sides[1]), title_of(one), title_of(other))

    def put_into_rig(self) -> None:
        """Make the chosen card the GPU of the rig."""
        (chosen,) = self.chosen_rows()
        edits = swap_edits(self._session.rig, chosen, self._session.catalog)
        name = title_of(chosen)
        if self._session.edit(tr("Put {name} into the rig", name=name), *edits):
            self._session.tell(
                tr("{name} is in the rig.", name=name), "info", tr("Undo"), self._session.undo
            )

    def compare_chosen(self) -> None:
        """Show the rig with each of the chosen cards side by side."""
        cards = [each for each in self.chosen_rows() if each.kind == "card"]
        rig, catalog = self._session.rig, self._session.catalog
        made: list[tuple[str, Rig]] = [
            (title_of(each), swapped(rig, each, catalog)) for each in cards[:MOST_COMPARED]
        ]
        if len(cards) > MOST_COMPARED:
            self._session.tell(
                tr("The first {most} of them are compared.", most=MOST_COMPARED), "info"
            )
        self.compare_asked.emit(made)

    def _open_chosen(self) -> None:
        index: QModelIndex = self.table.selectionModel().selectedRows()[0]
        self.open_reason(index.row())

    def open_reason(self, at: int) -> None:
        """Show the steps that a row's speed rests on, and the measurements that it leans on."""
        if not 0 <= at < len(self.model.rows):
            return
        asked = self.model.rows[at]
        answer = next((each for each in asked.answers if each.speed is not None), None)
        if answer is None or answer.speed is None:
            self._session.tell(f"{title_of(asked)}: {self.model.tip(at)}", "info")
            return
        show_breakdown(self, estimate_reason(answer.speed, title_of(asked), self._session.catalog))

    def _open_figures(self) -> None:
        """Show the figures behind the advice on the chosen card."""
        if self._advised is not None:
            catalog, currency = self._session.catalog, self.model.currency
            show_breakdown(self, advice_reason(self._advised, catalog, currency))

    def _open_export(self) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for form in FORMS:
            title = {"png": "PNG", "svg": "SVG"}.get(form) or form_title(form)
            menu.addAction(title, partial(self._ask_export, form))
        menu.popup(self.export.mapToGlobal(self.export.rect().bottomLeft()))

    def _ask_export(self, form: str) -> None:
        name = tr("Map of {work}", work=self._works.title[:60])
        ask_export(
            self, self._session, tr("Save the map"), name, form, lambda path: self.save(path, form)
        )

    def save(self, path: Path, form: str) -> None:
        """Write what is shown: the picture that is open (bars where the table is), or the table."""
        write(self._session, path, lambda: self.content(form))

    def content(self, form: str) -> bytes:
        """Return the map in one of the forms of export."""
        rows, currency, works = self.model.rows, self.model.currency, self._works.titles
        if form == "csv":
            return table.csv_text(rows, works, currency).encode()
        if form == "json":
            return table.json_text(rows, works, currency).encode()
        sort = self.filters.sort.currentData()
        lines = table.text(rows, works, currency, len(rows), sort)
        if form == "text":
            return ("\n".join(lines) + "\n").encode()
        from rigplanner.report.map import picture

        heading = self._heading()
        if form == "html":
            scenes = [chart(kind, rows, heading, sort) for kind in CHARTS]
            return picture.page_html(scenes, heading.work, lines).encode()
        if form == "svg":
            return picture.svg(chart(self._kind(), rows, heading, sort)).encode()
        drawn = chart(self._kind(), rows, heading, sort, measure=picture.font_width)
        return picture.png(drawn, "light")
