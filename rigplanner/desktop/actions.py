"""The one list of what can be done: menus, shortcuts, palette and shortcut sheet are made from
it."""

import importlib
from collections.abc import Callable
from string import ascii_lowercase

from msgspec import Struct
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QMenuBar

from rigplanner.desktop import documents
from rigplanner.desktop.desk import Desk
from rigplanner.desktop.document import exports
from rigplanner.desktop.document.preferences import TEXT_SIZES
from rigplanner.desktop.document.session import Session
from rigplanner.desktop.look import icons
from rigplanner.report.language import tr

MENUS = ("File", "Edit", "Rig", "View", "Help")


def _always(_: Session) -> bool:
    return True


def _open(session: Session) -> bool:
    return session.is_open


def _later(module: str, name: str) -> Callable[[Desk], object]:
    """Return a deed of a module that is loaded when the deed is asked for."""

    def run(desk: Desk) -> object:
        return getattr(importlib.import_module(f"rigplanner.desktop.{module}"), name)(desk)

    return run


def _step_text(desk: Desk, step: int) -> None:
    """Take the next larger or smaller size of text."""
    desk.use_text(TEXT_SIZES[TEXT_SIZES.index(desk.session.preferences.now.text_percent) + step])


class Command(Struct, frozen=True, kw_only=True):
    """One deed: its words, its menu, its keys, what it does, and when it can be done."""

    id: str
    text: str
    menu: str
    run: Callable[[Desk], object]
    keys: str = ""
    icon: str = ""
    enabled: Callable[[Session], bool] = _always
    rule_before: bool = False


C = Command
COMMANDS: tuple[Command, ...] = (
    C(id="new", text="New rig", menu="File", keys="Ctrl+N", icon="new", run=documents.new_rig),
    C(
        id="open",
        text="Open…",
        menu="File",
        keys="Ctrl+O",
        icon="open",
        run=documents.ask_open,
    ),
    C(
        id="paste",
        text="New rig from a parts list…",
        menu="File",
        keys="Ctrl+Shift+N",
        icon="paste",
        run=documents.ask_parts_list,
    ),
    C(
        id="machine",
        text="Read this machine…",
        menu="File",
        icon="system",
        run=_later("dialogs.this_machine", "machine_dialog"),
    ),
    C(
        id="update",
        text="Update the catalog…",
        menu="File",
        run=_later("dialogs.update", "update_dialog"),
        rule_before=True,
    ),
    C(
        id="import",
        text="Import parts or prices…",
        menu="File",
        run=_later("dialogs.imports", "open_import"),
    ),
    C(
        id="price-link",
        text="Paste a link to a price…",
        menu="File",
        run=_later("dialogs.price_link", "price_link_dialog"),
    ),
    C(
        id="hires",
        text="Cloud instances…",
        menu="File",
        run=_later("dialogs.hires", "hires_dialog"),
    ),
    C(
        id="save",
        text="Save",
        menu="File",
        keys="Ctrl+S",
        icon="save",
        run=documents.save,
        enabled=_open,
        rule_before=True,
    ),
    C(
        id="save-as",
        text="Save as…",
        menu="File",
        keys="Ctrl+Shift+S",
        run=documents.ask_save,
        enabled=_open,
    ),
    C(
        id="save-quote",
        text="Save quote as PDF…",
        menu="File",
        keys="Ctrl+E",
        icon="quote",
        run=lambda d: exports.ask_save_quote(d.window(), d.session),
        enabled=_open,
        rule_before=True,
    ),
    C(
        id="print",
        text="Print the quote…",
        menu="File",
        keys="Ctrl+P",
        icon="print",
        run=_later("quote.printing", "print_quote"),
        enabled=_open,
    ),
    C(
        id="copy-markdown",
        text="Copy as Markdown",
        menu="File",
        icon="copy",
        run=lambda d: exports.copy_as(d.session, "markdown"),
        enabled=_open,
    ),
    C(
        id="copy-bbcode",
        text="Copy as BBCode",
        menu="File",
        run=lambda d: exports.copy_as(d.session, "bbcode"),
        enabled=_open,
    ),
    C(
        id="copy-plain",
        text="Copy as plain text",
        menu="File",
        run=lambda d: exports.copy_as(d.session, "plain"),
        enabled=_open,
    ),
    C(
        id="copy-csv",
        text="Copy as CSV",
        menu="File",
        run=lambda d: exports.copy_as(d.session, "csv"),
        enabled=_open,
    ),
    C(
        id="copy-json",
        text="Copy as JSON",
        menu="File",
        run=lambda d: exports.copy_as(d.session, "json"),
        enabled=_open,
    ),
    C(
        id="copy-findings",
        text="Copy the findings",
        menu="File",
        run=lambda d: exports.copy_findings(d.session),
        enabled=_open,
    ),
    C(
        id="quit",
        text="Quit",
        menu="File",
        keys="Ctrl+Q",
        run=_later("dialogs.leaving", "leave"),
        rule_before=True,
    ),
    C(
        id="undo",
        text="Undo",
        menu="Edit",
        keys="Ctrl+Z",
        icon="undo",
        run=lambda d: d.session.undo(),
        enabled=lambda s: bool(s.undo_name()),
    ),
    C(
        id="redo",
        text="Redo",
        menu="Edit",
        keys="Ctrl+Shift+Z",
        icon="redo",
        run=lambda d: d.session.redo(),
        enabled=lambda s: bool(s.redo_name()),
    ),
    C(
        id="cut",
        text="Cut part",
        menu="Edit",
        keys="Ctrl+X",
        run=_later("part_actions", "cut"),
        enabled=_open,
        rule_before=True,
    ),
    C(
        id="copy",
        text="Copy part or row",
        menu="Edit",
        keys="Ctrl+C",
        icon="copy",
        run=_later("part_actions", "copy"),
    ),
    C(
        id="paste-parts",
        text="Paste parts",
        menu="Edit",
        keys="Ctrl+V",
        icon="paste",
        run=_later("part_actions", "paste"),
    ),
    C(
        id="duplicate",
        text="Duplicate part",
        menu="Edit",
        keys="Ctrl+D",
        run=_later("part_actions", "duplicate"),
        enabled=_open,
    ),
    C(
        id="remove",
        text="Remove part",
        menu="Edit",
        icon="trash",
        run=lambda d: d.build.remove_current(),
        enabled=_open,
    ),
    C(
        id="find",
        text="Search everything…",
        menu="Edit",
        keys="Ctrl+K",
        icon="search",
        run=lambda d: d.open_palette(),
        rule_before=True,
    ),
    C(id="filter", text="Filter parts", menu="Edit", keys="Ctrl+F", run=lambda d: d.focus_filter()),
    C(
        id="settings",
        text="Settings…",
        menu="Edit",
        keys="Ctrl+,",
        run=_later("dialogs.settings", "settings_dialog"),
        rule_before=True,
    ),
    C(
        id="best",
        text="Find the best rig…",
        menu="Rig",
        keys="Ctrl+G",
        icon="question",
        run=_later("dialogs.best", "best_dialog"),
    ),
    C(
        id="add-part",
        text="Add part…",
        menu="Rig",
        keys="Ctrl+Shift+A",
        icon="plus",
        run=lambda d: d.build.open_menu(),
    ),
    C(
        id="add-workload",
        text="Add workload",
        menu="Rig",
        keys="Ctrl+Shift+W",
        icon="workload",
        run=lambda d: d.focus_zoo(),
    ),
    C(
        id="rig-settings",
        text="Machine settings…",
        menu="Rig",
        keys="Ctrl+M",
        icon="wrench",
        run=_later("dialogs.rig_settings", "rig_settings"),
        enabled=_open,
    ),
    C(
        id="accept",
        text="Compare with the real machine…",
        menu="Rig",
        icon="tick",
        run=_later("dialogs.acceptance", "acceptance_dialog"),
        enabled=_open,
    ),
    C(
        id="keep-variant",
        text="Keep as variant…",
        menu="Rig",
        keys="Ctrl+Shift+K",
        run=_later("variants", "ask_variant"),
        enabled=_open,
        rule_before=True,
    ),
    C(
        id="rates",
        text="Use the newest exchange rates",
        menu="Rig",
        run=_later("dialogs.imports", "use_rates"),
        enabled=_open,
    ),
    C(
        id="rename",
        text="Name and site…",
        menu="Rig",
        keys="F2",
        run=lambda d: d.show_tab("Quote"),
        enabled=_open,
        rule_before=True,
    ),
    C(id="start-tab", text="Start", menu="View", keys="Alt+1", run=lambda d: d.open_tab("Start")),
    C(id="parts-tab", text="Parts", menu="View", keys="Alt+2", run=lambda d: d.open_tab("Parts")),
    C(
        id="machine-tab",
        text="Machine",
        menu="View",
        keys="Alt+3",
        run=lambda d: d.open_tab("Machine"),
    ),
    C(
        id="workloads-tab",
        text="Workloads",
        menu="View",
        keys="Alt+4",
        run=lambda d: d.open_tab("Workloads"),
    ),
    C(id="map-tab", text="Map", menu="View", keys="Alt+5", run=lambda d: d.open_tab("Map")),
    C(
        id="compare-tab",
        text="Compare",
        menu="View",
        keys="Alt+6",
        run=lambda d: d.open_tab("Compare"),
    ),
    C(id="quote-tab", text="Quote", menu="View", keys="Alt+7", run=lambda d: d.open_tab("Quote")),
    C(
        id="next-pane",
        text="Go to the next pane",
        menu="View",
        keys="F6",
        run=lambda d: d.go_to_next_pane(),
        rule_before=True,
    ),
    C(
        id="build-panel",
        text="Show or hide the build list",
        menu="View",
        keys="Ctrl+1",
        run=lambda d: d.toggle_panel("build"),
    ),
    C(
        id="findings-panel",
        text="Show or hide the findings",
        menu="View",
        keys="Ctrl+2",
        run=lambda d: d.toggle_panel("findings"),
    ),
    C(
        id="gauges-panel",
        text="Show or hide the gauges",
        menu="View",
        keys="Ctrl+3",
        run=lambda d: d.toggle_panel("gauges"),
    ),
    C(
        id="history-panel",
        text="Show or hide the history",
        menu="View",
        keys="Ctrl+4",
        icon="history",
        run=lambda d: d.toggle_panel("history"),
    ),
    C(
        id="theme-system",
        text="Follow the system colours",
        menu="View",
        icon="theme",
        run=lambda d: d.use_theme("system"),
        rule_before=True,
    ),
    C(id="theme-light", text="Light colours", menu="View", run=lambda d: d.use_theme("light")),
    C(id="theme-dark", text="Dark colours", menu="View", run=lambda d: d.use_theme("dark")),
    C(
        id="larger-text",
        text="Larger text",
        menu="View",
        keys="Ctrl++",
        run=lambda d: _step_text(d, 1),
        enabled=lambda s: s.preferences.now.text_percent < TEXT_SIZES[-1],
        rule_before=True,
    ),
    C(
        id="smaller-text",
        text="Smaller text",
        menu="View",
        keys="Ctrl+-",
        run=lambda d: _step_text(d, -1),
        enabled=lambda s: s.preferences.now.text_percent > TEXT_SIZES[0],
    ),
    C(
        id="usual-text",
        text="Default text size",
        menu="View",
        keys="Ctrl+0",
        run=lambda d: d.use_text(100),
    ),
    C(
        id="window-guide",
        text="Guide to the window",
        menu="Help",
        keys="Shift+F1",
        icon="question",
        run=_later("panels.pages", "guide_to_the_window"),
    ),
    C(id="glossary", text="Glossary", menu="Help", run=_later("panels.pages", "glossary")),
    C(
        id="formats",
        text="Number formats and generations",
        menu="Help",
        run=_later("dialogs.formats", "formats_dialog"),
    ),
    C(
        id="tiny",
        text="Networks on microcontrollers",
        menu="Help",
        run=_later("dialogs.tiny", "tiny_dialog"),
    ),
    C(id="tour", text="Tour of the window", menu="Help", run=lambda d: d.start_tour()),
    C(
        id="keys",
        text="Shortcuts",
        menu="Help",
        keys="F1",
        icon="keyboard",
        run=lambda d: d.show_shortcuts(),
    ),
    C(
        id="about",
        text="About RigPlanner",
        menu="Help",
        icon="info",
        run=_later("dialogs.about", "about_dialog"),
    ),
)


def make_actions(desk: Desk) -> dict[str, QAction]:
    """Return a live action for each command; words and state follow the session."""
    actions = {}
    for command in COMMANDS:
        action = QAction(tr(command.text), desk.window())
        action.setObjectName(command.id)
        if command.keys:
            action.setShortcut(QKeySequence(command.keys))
        action.triggered.connect(lambda _=False, command=command: command.run(desk))
        actions[command.id] = action

    def update() -> None:
        session = desk.session
        for command in COMMANDS:
            actions[command.id].setEnabled(command.enabled(session))
        actions["undo"].setText(
            tr("Undo {step}", step=session.undo_name()).strip().replace("&", "&&")
        )
        actions["redo"].setText(
            tr("Redo {step}", step=session.redo_name()).strip().replace("&", "&&")
        )

    update()
    paint_actions(actions)
    desk.session.document_changed.connect(update)
    return actions


def paint_actions(actions: dict[str, QAction]) -> None:
    """Give the actions their icons in the colours in force."""
    for command in COMMANDS:
        if command.icon:
            actions[command.id].setIcon(icons.icon(command.icon))


def menu_titles() -> list[str]:
    """Return the titles of MENUS, the letter marked that opens each with Alt: its first that no
    other has taken. Where there is none, as in Chinese, a letter of the English title follows."""
    made: list[str] = []
    taken: set[str] = set()
    for title in MENUS:
        words = tr(title)
        letters = (letter for letter in (words + title).lower() if letter in ascii_lowercase)
        taken.add(key := next(letter for letter in letters if letter not in taken))
        at = words.lower().find(key)
        made.append(f"{words[:at]}&{words[at:]}" if at >= 0 else f"{words}(&{key.upper()})")
    return made


def fill_menus(bar: QMenuBar, actions: dict[str, QAction]) -> dict[str, QMenu]:
    """Fill a menu bar from the list; return its menus by their English titles."""
    titles = zip(MENUS, menu_titles(), strict=True)
    menus = {title: bar.addMenu(words) for title, words in titles}
    for title, menu in menus.items():
        for command in COMMANDS:
            if command.menu == title:
                if command.rule_before:
                    menu.addSeparator()
                menu.addAction(actions[command.id])
    return menus
