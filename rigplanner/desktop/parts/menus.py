"""What a right click, or the menu key, offers on a row of the catalog."""

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication
from PySide6.QtWidgets import QAbstractItemView, QMenu

from rigplanner.catalog.schema.parts import AnyPart
from rigplanner.desktop.document.exports import ask_export, write
from rigplanner.desktop.document.session import Session
from rigplanner.desktop.look import icons
from rigplanner.desktop.parts.carried import parts_data
from rigplanner.desktop.parts.clipboard import catalog_rows
from rigplanner.desktop.parts.details import Details
from rigplanner.desktop.parts.model import PartsModel
from rigplanner.desktop.words import KIND_WORDS
from rigplanner.report.language import tr, trn
from rigplanner.report.spreadsheet import cell_text

if TYPE_CHECKING:
    from rigplanner.desktop.parts.correction import CorrectionDialog

Deed = tuple[str, str, Callable[[], object]] | None
"""Icon ("" for none), words and what is done; None is a line between."""


def open_menu(view: QAbstractItemView, event: QContextMenuEvent, deeds: list[Deed]) -> QMenu:
    """Show a menu of deeds."""
    menu = QMenu(view)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    for deed in deeds:
        if deed is None:
            menu.addSeparator()
        else:
            icon, words, run = deed
            menu.addAction(icons.icon(icon), words, run) if icon else menu.addAction(words, run)
    return popped(menu, view, event)


def popped(menu: QMenu, view: QAbstractItemView, event: QContextMenuEvent) -> QMenu:
    """Show a menu where the pointer is, or by the key under the row that is chosen."""
    by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
    at = view.visualRect(view.currentIndex()).bottomLeft() if by_key else event.pos()
    menu.popup(view.viewport().mapToGlobal(QPoint(max(0, at.x()), at.y())))
    return menu


def catalog_deeds(details: Details, model: PartsModel, part: AnyPart) -> list[Deed]:
    """Return what can be done with the part of a row and with the table."""
    session = details.session
    replaced = details.replaced()
    deeds: list[Deed] = [("plus", tr("Add to rig"), details.add_beside)]
    if replaced is not None and replaced.part != part.id:
        deeds.insert(0, ("", tr("Replace"), details.put_into_rig))
    return [
        *deeds,
        ("star", tr("Favourite"), details.toggle_favourite),
        ("", tr("This figure is wrong…"), lambda: correct(details, part)),
        None,
        (
            "copy",
            tr("Copy {name}", name=part.name),
            lambda: QGuiApplication.clipboard().setMimeData(parts_data([part])),
        ),
        ("", tr("Copy the table"), lambda: copy_table(session, model)),
        ("export", tr("Export the table as CSV…"), lambda: ask_table(details, session, model)),
    ]


def correct(details: Details, part: AnyPart) -> "CorrectionDialog":
    """Ask which figure of a part is wrong, and write a file to send."""
    from rigplanner.desktop.parts.correction import CorrectionDialog

    dialog = CorrectionDialog(details.session, part, details)
    dialog.open()
    return dialog


def copy_table(session: Session, model: PartsModel) -> None:
    """Put all rows that the catalog lists on the clipboard, cells parted by tabs."""
    rows = [[cell_text(" ".join(cell.split())) for cell in row] for row in catalog_rows(model)]
    QGuiApplication.clipboard().setText("\n".join("\t".join(row) for row in rows))
    session.tell(trn("Copied {count} row.", "Copied {count} rows.", len(rows) - 1))


def table_csv(model: PartsModel) -> bytes:
    """Return all rows that the catalog lists as CSV."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(
        [cell_text(cell) for cell in row] for row in catalog_rows(model)
    )
    return buffer.getvalue().encode()


def ask_table(details: Details, session: Session, model: PartsModel) -> None:
    """Ask where to write the rows that the catalog lists."""

    def chosen(path: Path) -> None:
        write(session, path, lambda: table_csv(model))

    ask_export(details, session, tr("Export the table"), KIND_WORDS[model.kind], "csv", chosen)
