"""The main window: panels, tabs, menus and nothing that thinks."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from PySide6.QtCore import QByteArray, QSize, Qt, QTimer
from PySide6.QtGui import (
    QCloseEvent,
    QContextMenuEvent,
    QDragEnterEvent,
    QDropEvent,
    QFontMetrics,
    QShowEvent,
)
from PySide6.QtWidgets import (
    QDockWidget,
    QMainWindow,
    QMenu,
    QTabBar,
    QTabWidget,
    QToolBar,
    QWidget,
)

from rigplanner.desktop import documents, faults
from rigplanner.desktop.actions import fill_menus, make_actions, paint_actions
from rigplanner.desktop.controls.lazy_tab import Later
from rigplanner.desktop.controls.tab_stops import step_focus, tab_stops
from rigplanner.desktop.controls.tips import plain
from rigplanner.desktop.controls.widgets import button, label, panel, retint, row
from rigplanner.desktop.document.session import Session
from rigplanner.desktop.dropped import open_dropped
from rigplanner.desktop.findings.view import FindingsView
from rigplanner.desktop.help.hints import give_hints
from rigplanner.desktop.locale import speak
from rigplanner.desktop.look import icons
from rigplanner.desktop.look.fade import want_motion
from rigplanner.desktop.look.theme import Scheme, look, row_px, sized_font
from rigplanner.desktop.panels import notices
from rigplanner.desktop.panels.gauges import GaugeRow
from rigplanner.desktop.panels.message_bar import MessageBar
from rigplanner.desktop.parts.build_list import BuildList
from rigplanner.desktop.words import shortened
from rigplanner.report.format import use_inches
from rigplanner.report.language import tr

if TYPE_CHECKING:
    from rigplanner.desktop.panels.palette import PaletteBox
    from rigplanner.desktop.panels.tour import Tour
    from rigplanner.desktop.parts.view import PartsView
    from rigplanner.planning.limits import Limit
    from rigplanner.rig.document import Rig
    from rigplanner.rules.core.finding import Finding

FRAME_PX, TITLE_PX = 8, 40
"""What a window manager's frame takes at most of usual themes, before it has told its own."""
TOUR_SAMPLE = "dual-rtx-3090"
INDEX_DELAY_MS = 300
"""The index of all words is made when the window has been painted."""
held: list["Window"] = []
"""The window that is shown, and its only hold: the former one goes when another takes its place,
as when the language changes."""
TABS = ("Start", "Parts", "Machine", "Workloads", "Map", "Compare", "Quote")


class Window(QMainWindow):
    """One window, one session."""

    session: Session
    build: BuildList

    def __init__(self, session: Session, journals: Path | None = None) -> None:
        super().__init__()
        self.session = session
        self._shown = False
        want_motion(session.preferences.now.motion)
        use_inches(session.preferences.now.lengths == "in")
        self.setWindowIcon(icons.icon("rigplanner", "accent"))
        self.setAcceptDrops(True)
        self.setDockOptions(
            QMainWindow.DockOption.AnimatedDocks | QMainWindow.DockOption.AllowTabbedDocks
        )
        self.journals = journals
        self.build = BuildList(session)
        self.findings = FindingsView(session)
        self.gauges = GaugeRow(session)
        self.history = Later(self._make_history)
        self._make_tabs()
        self.messages = MessageBar(session, self.tabs, self.tab_bar)
        self._make_panels()
        give_hints(self)
        self.actions_by_id = make_actions(self)
        self._make_menu_bar()
        self._palette_box: PaletteBox | None = None
        self._connect()
        self._restore_layout()
        self._show_title()

    def _make_tabs(self) -> None:
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        self.tabs.setAccessibleName(tr("Views"))
        self.tabs.tabBar().hide()
        self.tab_bar = QTabBar()
        self.tab_bar.setDrawBase(False)
        self.tab_bar.setExpanding(False)
        self.tab_bar.setAccessibleName(tr("Views"))
        self._later = {
            "Start": Later(partial(_hinted, self._make_start)),
            "Parts": Later(partial(_hinted, self._make_parts)),
            "Machine": Later(partial(_hinted, self._make_machine)),
            "Workloads": Later(partial(_hinted, self._make_workloads)),
            "Map": Later(partial(_hinted, self._make_map)),
            "Compare": Later(partial(_hinted, self._make_compare)),
            "Quote": Later(partial(_hinted, self._make_quote)),
        }
        for title in TABS:
            self.tabs.addTab(self._later[title], tr(title))
            self.tab_bar.addTab(tr(title))
        self.setCentralWidget(self.tabs)
        self._hold_tab_bar()

    def _hold_tab_bar(self) -> None:
        """Put the tabs above the panels, where they stand still when panels come and go."""
        holder = QToolBar(tr("Views"))
        holder.setObjectName("views")
        holder.setMovable(False)
        holder.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        holder.toggleViewAction().setEnabled(False)
        holder.addWidget(self.tab_bar)
        self.addToolBar(Qt.ToolBarArea.TopToolBarArea, holder)
        self.tab_bar.currentChanged.connect(self.tabs.setCurrentIndex)
        self.tabs.currentChanged.connect(self.tab_bar.setCurrentIndex)

    def _make_start(self) -> QWidget:
        from rigplanner.desktop.start_page.view import StartView

        made = StartView(self.session, self.journals)
        made.file_asked.connect(lambda path, sample: documents.open_file(self, path, sample))
        made.command_asked.connect(lambda command: self.actions_by_id[command].trigger())
        made.locate_asked.connect(lambda name: documents.ask_locate(self, name))
        made.rig_made.connect(self.show_first_item)
        made.rig_restored.connect(self.show_first_item)
        return made

    def _make_parts(self) -> QWidget:
        from rigplanner.desktop.parts.view import PartsView

        made = PartsView(self.session)
        self.session.catalog_changed.connect(made.take_catalog)
        return made

    def _make_history(self) -> QWidget:
        from rigplanner.desktop.panels.history_view import HistoryView

        return HistoryView(self.session)

    def _make_machine(self) -> QWidget:
        from rigplanner.desktop.machine.view import MachineView

        return MachineView(self.session)

    def _make_workloads(self) -> QWidget:
        from rigplanner.desktop.workloads.view import WorkloadsView

        return WorkloadsView(self.session)

    def _make_map(self) -> QWidget:
        from rigplanner.desktop.map.view import MapView

        made = MapView(self.session)
        made.cards.compare_asked.connect(self._compare_rigs)
        return made

    def _compare_rigs(self, made: list[tuple[str, "Rig"]]) -> None:
        self.show_tab("Compare")
        self.view("Compare").add_rigs(made)

    def _make_compare(self) -> QWidget:
        from rigplanner.desktop.compare.view import CompareView

        return CompareView(self.session)

    def _make_quote(self) -> QWidget:
        from rigplanner.desktop.quote.view import QuoteView

        return QuoteView(self.session)

    def view(self, title: str) -> Any:
        """Return the view of a tab, made now if it was not looked at yet."""
        return self._later[title].view()

    @property
    def parts(self) -> "PartsView":
        """The view of the catalog."""
        return cast("PartsView", self.view("Parts"))

    def _make_panels(self) -> None:
        self.panels: dict[str, QDockWidget] = {}
        left, right = Qt.DockWidgetArea.LeftDockWidgetArea, Qt.DockWidgetArea.RightDockWidgetArea
        for name, title, widget, area in (
            ("build", tr("Build"), self.build, left),
            ("findings", tr("Findings"), self.findings, right),
            ("history", tr("History"), self.history, right),
            ("gauges", "", self.gauges, Qt.DockWidgetArea.BottomDockWidgetArea),
        ):
            dock = QDockWidget(title or tr("Gauges"), self)
            dock.setObjectName(name)
            dock.setWidget(widget)
            dock.setFeatures(
                QDockWidget.DockWidgetFeature.DockWidgetMovable
                | QDockWidget.DockWidgetFeature.DockWidgetClosable
            )
            dock.setTitleBarWidget(
                panel(row(label(title.upper(), "section"), 1, margins=(12, 6, 8, 2)))
                if title
                else QWidget()
            )
            self.addDockWidget(area, dock)
            self.panels[name] = dock
        self.panels["history"].hide()
        for corner in (Qt.Corner.BottomLeftCorner, Qt.Corner.BottomRightCorner):
            self.setCorner(corner, Qt.DockWidgetArea.BottomDockWidgetArea)

    def _make_menu_bar(self) -> None:
        bar = self.menuBar()
        bar.setNativeMenuBar(False)
        menus = fill_menus(bar, self.actions_by_id)
        self._recent = QMenu(tr("Open recent"), self)
        self._recent.aboutToShow.connect(lambda: documents.fill_recent(self, self._recent))
        menus["File"].insertMenu(self.actions_by_id["paste"], self._recent)
        self._variants = QMenu(tr("Variants"), self)
        self._variants.aboutToShow.connect(self._fill_variants)
        menus["Rig"].insertMenu(self.actions_by_id["rates"], self._variants)
        search = button(
            tr("Search everything    Ctrl+K"),
            self.open_palette,
            "search",
            "search",
            tr("Search everything"),
        )
        self._name = label("", "strong")
        self._name.setFixedWidth(row_px() * 10)
        self._name.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._corner = panel(row(search, self._name, margins=(0, 2, 12, 2), spacing=12))
        bar.setCornerWidget(self._corner, Qt.Corner.TopRightCorner)

    def _fill_variants(self) -> None:
        from rigplanner.desktop.variants import fill_variants

        fill_variants(self.session, self._variants)

    def _connect(self) -> None:
        session = self.session
        self.build.kind_chosen.connect(self._show_kind)
        self.build.view.chosen.connect(lambda _: self.focus_filter())
        self.build.total_asked.connect(self._show_price)
        self.build.link_dropped.connect(self._ask_page)
        self.build.view.menu_asked.connect(self._open_item_menu)
        self.gauges.asked.connect(self._show_limit)
        session.document_changed.connect(self._show_title)
        session.finding_asked.connect(self._show_finding)
        notices.listen(session)
        look.look_changed.connect(self._repaint)

    def _show_title(self) -> None:
        session = self.session
        star = "*" if session.is_open and session.unsaved else ""
        name = shortened(session.rig.name, 40) if session.is_open else tr("No rig open")
        shown = QFontMetrics(sized_font(1.0, semibold=True)).elidedText(
            name, Qt.TextElideMode.ElideRight, self._name.width() - 2 * row_px() // 3
        )
        self._name.setText(shown + star)
        self._name.setToolTip(plain(name))
        self.setWindowTitle(tr("{name}{star} - RigPlanner", name=name, star=star))
        self.setWindowFilePath(str(session.path or ""))

    def _repaint(self) -> None:
        retint(self)
        paint_actions(self.actions_by_id)

    def _show_kind(self, kind: str, uid: str) -> None:
        self.parts.show_kind(kind, uid)
        self.show_tab("Parts")
        if not uid:
            self.focus_filter()

    def _show_finding(self, finding: "Finding") -> None:
        from rigplanner.desktop.findings.shown import sight_of

        assessment = self.session.assessment
        sight = sight_of(finding, assessment) if assessment else None
        if sight is None:
            return
        if sight.kind:
            self.parts.show_kind(sight.kind, sight.uid)
        self.show_tab(sight.tab)
        self.session.point_at(sight.subject)

    def _open_item_menu(self, event: QContextMenuEvent) -> None:
        from rigplanner.desktop.part_actions import open_item_menu

        open_item_menu(self, event)

    def show_part(self, kind: str, part_id: str) -> None:
        """Show one part in the catalog."""
        self.parts.search("", kind, part_id)
        self.show_tab("Parts")

    def show_first_item(self) -> None:
        """Show the catalog at the rig's first GPU, or at what is missing."""
        self.show_tab("Parts")
        rows = self.build.model.rows
        if rows:
            self.parts.show_kind(rows[0].kind, rows[0].uid or "")

    def tab_title(self) -> str:
        """The English title of the tab that is shown."""
        return TABS[self.tabs.currentIndex()]

    def start_tour(self) -> "Tour":
        """Begin the tour, with a sample where nothing is open."""
        from rigplanner.data import sample_files
        from rigplanner.desktop.panels.tour import Tour

        if not self.session.is_open:
            sample = next(path for path in sample_files() if path.stem == TOUR_SAMPLE)
            documents.open_file(self, sample, sample=True)
        self._wanted |= {"build", "findings", "gauges"}
        self.show_tab("Parts")
        self._show_panels()
        panels = self.panels
        return Tour(
            self,
            {
                "build": lambda: panels["build"],
                "parts": lambda: self.tabs,
                "findings": lambda: panels["findings"],
                "gauges": lambda: panels["gauges"],
                "tabs": lambda: self.tab_bar,
            },
        )

    def show_tab(self, title: str) -> None:
        """Bring a tab to the front."""
        self.tabs.setCurrentIndex(TABS.index(title))

    def open_tab(self, title: str) -> None:
        """Bring a tab to the front, and the keyboard to its field of words or its first control."""
        if title in ("Parts", "Workloads"):
            self.focus_filter() if title == "Parts" else self.focus_zoo()
            return
        self.show_tab(title)
        if stops := tab_stops(self, [self.tabs.currentWidget()]):
            stops[0].setFocus(Qt.FocusReason.ShortcutFocusReason)

    @property
    def palette_box(self) -> "PaletteBox":
        """The field that searches everything, made when it is first asked for."""
        from rigplanner.desktop.panels.palette import PaletteBox

        if self._palette_box is None:
            self._palette_box = PaletteBox(self)
        return self._palette_box

    def open_palette(self) -> None:
        """Show the field that searches everything."""
        self.palette_box.open_at_top()

    def focusNextPrevChild(self, on: bool) -> bool:
        """Tab goes from the tab's own fields to the build list, the findings and the gauges."""
        regions = (
            self.messages,
            self.tab_bar,
            self.tabs.currentWidget(),
            *self.panels.values(),
            self._corner,
        )
        return step_focus(self, regions, on)

    def toggle_panel(self, name: str) -> None:
        """Show or hide a panel."""
        self._wanted ^= {name}
        self._show_panels()

    def go_to_next_pane(self) -> None:
        """Bring the keyboard from the view that is shown to the next panel, from the last panel
        back to the view."""
        panes: list[QWidget] = [self.tabs.currentWidget(), *self.panels.values()]
        here = next(
            (n for n, pane in enumerate(panes) if pane.isAncestorOf(self.focusWidget())), -1
        )
        for pane in (*panes[here + 1 :], *panes[: here + 1]):
            if pane.isVisible() and (stops := tab_stops(self, [pane])):
                stops[0].setFocus(Qt.FocusReason.ShortcutFocusReason)
                return

    def _show_panels(self) -> None:
        """Show the panels that are wanted; the start page has the window for itself."""
        at_start = self.tabs.currentIndex() == TABS.index("Start")
        for name, dock in self.panels.items():
            dock.setVisible(name in self._wanted and not at_start)

    def focus_filter(self) -> None:
        """Put the cursor into the catalog's filter."""
        self.show_tab("Parts")
        self.parts.words.setFocus()
        self.parts.words.selectAll()

    def focus_zoo(self, model: str = "") -> None:
        """Put the cursor into the field that adds a workload, with a model in it if one is
        named."""
        self.show_tab("Workloads")
        if model:
            self.view("Workloads").zoo.setText(model)
        self.view("Workloads").focus_zoo()

    def use_theme(self, scheme: Scheme) -> None:
        """Take other colours and remember them."""
        self.session.preferences.change(theme=scheme)
        look.use(scheme)

    def show_shortcuts(self) -> None:
        """Show the sheet of shortcuts."""
        from rigplanner.desktop.panels.palette import shortcut_sheet

        shortcut_sheet(self).open()

    def use_language(self, code: str) -> "Window":
        """Remember and take another language."""
        self.session.preferences.change(language=code)
        speak(code)
        return self._renewed()

    def use_text(self, percent: int) -> "Window":
        """Remember and take another size of text."""
        self.session.preferences.change(text_percent=percent)
        look.use_text(percent)
        look.use(look.scheme)
        return self._renewed()

    def _renewed(self) -> "Window":
        """Put a new window around the same rig, history and file in this one's place: all its words
        and measures are made anew."""
        self.keep_layout()
        fresh = Window(self.session.hand_over(), self.journals)
        fresh.setGeometry(self.geometry())
        fresh.tabs.setCurrentIndex(self.tabs.currentIndex())
        fresh.show()
        faults.show_in(fresh)
        fresh.session.refresh()
        held[:] = [fresh]
        self.close()
        self.deleteLater()
        self.session.deleteLater()  # else its signals hold this window's commands for ever
        return fresh

    def _ask_page(self, url: str) -> None:
        from rigplanner.desktop.dialogs.price_link import ask_page

        ask_page(self, url)

    def _show_price(self) -> None:
        if self.session.assessment is not None:
            self._show_limit(
                next(gauge.limit for gauge in self.gauges.gauges if gauge.limit.axis == "price")
            )

    def _show_limit(self, limit: "Limit") -> None:
        from rigplanner.desktop.panels.breakdown import show_breakdown
        from rigplanner.desktop.panels.reasons import limit_reason

        assessment = self.session.assessment
        if assessment is not None:
            show_breakdown(self, limit_reason(assessment, limit, self.session.catalog))

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        open_dropped(
            self, [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
        )

    def _restore_layout(self) -> None:
        kept = self.session.preferences.now
        self.resize(1366, 768)
        if kept.geometry:
            self.restoreGeometry(QByteArray.fromHex(kept.geometry.encode()))
        self._stay_on_screen()
        if kept.layout:
            self.restoreState(QByteArray.fromHex(kept.layout.encode()))
        self._wanted = {name for name, dock in self.panels.items() if not dock.isHidden()}
        self._show_panels()
        self.tabs.currentChanged.connect(lambda _: self._show_panels())

    def _stay_on_screen(self) -> None:
        """Never be larger than the room of the screen, the window manager's frame counted."""
        room = self.screen().availableGeometry().size() - QSize(FRAME_PX, TITLE_PX)
        if not self.isMaximized():
            self.resize(self.size().boundedTo(room))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self._shown:
            self._shown = True
            if not self.session.preferences.now.layout:
                sides = [self.panels["build"], self.panels["findings"]]
                widths = [
                    min(max(row_px() * rows, self.width() // 7), self.width() // 4)
                    for rows in (11, 12)
                ]
                self.resizeDocks(sides, widths, Qt.Orientation.Horizontal)
            self.tab_bar.setFocus()
            QTimer.singleShot(INDEX_DELAY_MS, self, self.session.shelf.warm)

    def keep_layout(self) -> None:
        """Remember where the window and its panels stand."""
        for name, dock in self.panels.items():
            dock.setVisible(name in self._wanted)
        self.session.preferences.change(
            geometry=bytes(self.saveGeometry().toHex().data()).decode(),
            layout=bytes(self.saveState().toHex().data()).decode(),
        )

    def closeEvent(self, event: QCloseEvent) -> None:
        """The frame's cross asks as Quit does; the program's own closing does not."""
        if event.spontaneous() and self._asks_to_leave():
            event.ignore()
            return
        self.session.record_now()
        self.keep_layout()
        self.session.close(keep_journal=True)
        super().closeEvent(event)

    def _asks_to_leave(self) -> bool:
        session = self.session
        if not (session.is_open and session.unsaved):
            return False
        from rigplanner.desktop.dialogs.leaving import leave

        if session.record_now() and session.preferences.now.told_kept:
            return False
        leave(self)
        return True


def _hinted(make: Callable[[], QWidget]) -> QWidget:
    """Return a view whose fields say what they are."""
    made = make()
    give_hints(made)
    return made
