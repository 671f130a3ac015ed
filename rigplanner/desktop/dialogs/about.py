"""About: which program, which catalog, which libraries, under which licences."""

import platform

from PySide6 import __version__ as qt_version
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QHBoxLayout, QPlainTextEdit, QTabWidget

from rigplanner import __version__
from rigplanner.catalog.load import Catalog
from rigplanner.data import data_path
from rigplanner.desktop.controls.tables import fill, plain_table, stretch_first
from rigplanner.desktop.controls.widgets import button, column, label, row
from rigplanner.desktop.desk import Desk
from rigplanner.desktop.help.hints import give_hints
from rigplanner.desktop.look import icons
from rigplanner.desktop.look.theme import row_px
from rigplanner.desktop.words import KIND_WORDS
from rigplanner.report.language import digits, tr

LIBRARIES = (
    ("Qt and PySide6", "LGPL 3"),
    ("msgspec", "BSD 3-clause"),
    ("openpyxl", "MIT"),
    ("networkx", "BSD 3-clause"),
    ("numpy", "BSD 3-clause"),
    ("pandas", "BSD 3-clause"),
    ("reportlab", "BSD 3-clause"),
    ("requests", "Apache 2.0"),
    ("pillow", "MIT-CMU"),
    ("platformdirs", "MIT"),
    ("polib", "MIT"),
    ("pynacl and libsodium", "Apache 2.0, ISC"),
)


def versions(desk: Desk) -> str:
    """Return what a person would be asked for when something is wrong, one line each."""
    catalog = desk.session.catalog
    return "\n".join(
        (
            f"RigPlanner {__version__}",
            f"catalog {catalog.version or 'unknown'}, {len(catalog.parts)} parts",
            f"Python {platform.python_version()}, PySide6 {qt_version}",
            platform.platform(),
        )
    )


def about_dialog(desk: Desk) -> QDialog:
    """Show the dialog over the window."""
    dialog = QDialog(desk.window())
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setWindowTitle(tr("About RigPlanner"))
    dialog.resize(row_px() * 24, row_px() * 20)
    catalog = desk.session.catalog
    copy = button(
        tr("Copy versions"), lambda: QGuiApplication.clipboard().setText(versions(desk)), "copy"
    )
    close = button(tr("Close"), dialog.close, role="primary")
    note = label(
        tr("The program is under the MIT licence, the catalog data under CC BY 4.0."),
        "small",
        wrap=True,
    )
    dialog.setLayout(
        column(
            _head(dialog, catalog),
            note,
            _pages(catalog),
            row(copy, 1, close),
            margins=(20, 16, 20, 16),
            spacing=12,
        )
    )
    give_hints(dialog)
    dialog.open()
    return dialog


def _head(dialog: QDialog, catalog: Catalog) -> QHBoxLayout:
    sign = label()
    sign.setPixmap(icons.pixmap("rigplanner", "accent", dialog.devicePixelRatioF(), px=40))
    sign.setAccessibleName("RigPlanner")
    said = tr(
        "Catalog {version}: {parts} parts from {sources} sources",
        version=catalog.version or tr("unknown"),
        parts=digits(f"{len(catalog.parts):,}"),
        sources=digits(f"{len(catalog.sources):,}"),
    )
    head = row(sign, spacing=16)
    head.addLayout(
        column(
            label(f"RigPlanner {__version__}", "large"), label(said, "small", wrap=True), spacing=2
        ),
        1,
    )
    return head


def _pages(catalog: Catalog) -> QTabWidget:
    kinds = plain_table(tr("Catalog by kind"), (tr("Kind"), tr("Parts"), tr("With a price")))
    fill(
        kinds,
        [
            (
                words,
                digits(f"{len(parts):,}"),
                digits(f"{sum(bool(part.prices) for part in parts):,}"),
            )
            for kind, words in KIND_WORDS.items()
            if (parts := catalog.of_kind(kind))
        ],
        numbers=(1, 2),
    )
    stretch_first(kinds)
    libraries = plain_table(tr("Libraries"), (tr("Library"), tr("Licence")))
    fill(libraries, LIBRARIES)
    stretch_first(libraries)
    licences = QPlainTextEdit(readOnly=True)
    licences.setAccessibleName(tr("Licences"))
    licences.setPlainText(_licences())
    tabs = QTabWidget()
    tabs.setAccessibleName(tr("About RigPlanner"))
    tabs.tabBar().setAccessibleName(tr("About RigPlanner"))
    for title, page in (
        (tr("Catalog"), kinds),
        (tr("Libraries"), libraries),
        (tr("Licences"), licences),
    ):
        tabs.addTab(page, title)
    return tabs


def _licences() -> str:
    texts = []
    for name in ("LICENSES.md",):
        try:
            texts.append((data_path("resources") / name).read_text("utf-8"))
        except OSError:
            texts.append(tr("The file {name} did not come with this installation.", name=name))
    return "\n\n".join(texts)
