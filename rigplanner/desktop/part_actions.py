"""What can be done with the item of the build list that is chosen: cut, copy, paste, duplicate."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication
from PySide6.QtWidgets import QMenu, QTableView

from rigplanner.desktop.desk import Desk
from rigplanner.desktop.parts.carried import items_data, parts_data
from rigplanner.desktop.parts.clipboard import edits_that_add, paste_data, rows_text
from rigplanner.desktop.parts.menus import popped
from rigplanner.report.language import tr

ITEM_COMMANDS = ("cut", "copy", "paste-parts", "duplicate", "remove")


def open_item_menu(desk: Desk, event: QContextMenuEvent) -> QMenu:
    """Offer what the Edit menu can do with an item of the build list."""
    menu = QMenu(desk.build.view)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    for command in ITEM_COMMANDS:
        menu.addAction(desk.actions_by_id[command])
    return popped(menu, desk.build.view, event)


def copy(desk: Desk) -> None:
    """Copy what is chosen in the table that has the focus, the part of a catalog's row, else the
    item of the build list."""
    from rigplanner.desktop.parts.view import PartsTable

    table = desk.window().focusWidget()
    if isinstance(table, PartsTable) and (part := table.part()) is not None:
        QGuiApplication.clipboard().setMimeData(parts_data([part]))
        desk.session.tell(tr("Copied {name}.", name=part.name))
    elif isinstance(table, QTableView) and (text := rows_text(table)):
        QGuiApplication.clipboard().setText(text)
        desk.session.tell(tr("Copied the row."))
    elif (item := desk.build.current()) is not None:
        name = desk.build.name_of(item)
        QGuiApplication.clipboard().setMimeData(items_data([item], [name]))
        desk.session.tell(tr("Copied {name}.", name=name))


def cut(desk: Desk) -> None:
    """Take the item of the build list out of the rig and onto the clipboard."""
    if (item := desk.build.current()) is not None:
        QGuiApplication.clipboard().setMimeData(items_data([item], [desk.build.name_of(item)]))
        desk.build.remove_current()


def paste(desk: Desk) -> None:
    """Add what the clipboard holds to the rig."""
    from rigplanner.desktop.dialogs.price_link import ask_page

    paste_data(
        desk.session, QGuiApplication.clipboard().mimeData(), lambda url: ask_page(desk, url)
    )


def duplicate(desk: Desk) -> None:
    """Add the item of the build list once more, as a line of its own."""
    session = desk.session
    if (item := desk.build.current()) is not None:
        session.edit(
            tr("Duplicate {name}", name=desk.build.name_of(item)), *edits_that_add(session, [item])
        )
