"""The pages that come with the program, read without a network."""

import re
from pathlib import Path

from PySide6.QtCore import QSize, Qt, QTimer, QUrl
from PySide6.QtGui import QDesktopServices, QImage, QTextCursor, QTextDocument
from PySide6.QtWidgets import QDialog, QListWidget, QListWidgetItem, QSplitter, QTextBrowser

from rigplanner.data import data_path
from rigplanner.desktop.controls.widgets import button, column, label, row
from rigplanner.desktop.desk import Desk
from rigplanner.desktop.look.theme import look, row_px
from rigplanner.desktop.look.tokens import luminance
from rigplanner.report.language import tr

PAGES = (
    ("using", "The window"),
    ("glossary", "Glossary"),
    ("workloads", "Workloads"),
    ("importing", "Importing"),
    ("how-memory-is-counted", "How memory is counted"),
    ("how-speed-is-predicted", "How speed is predicted"),
    ("how-the-machine-is-assembled", "How the machine is assembled"),
    ("catalog", "The catalog"),
    ("rules", "All rules"),
    ("command-line", "Command line"),
)
"""Name of each page's file and its title."""
PICTURE = re.compile(r"(pictures/[\w-]+)-light\.png")
DEEPEST_HEAD = 2


class PageBrowser(QTextBrowser):
    """One page; pictures are as wide as the page."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self.setAccessibleName(tr("Page"))
        self.setOpenLinks(False)

    def show_page(self, name: str) -> bool:
        """Show a page; False when it does not come with this installation."""
        try:
            text = (self._folder / f"{name}.md").read_text("utf-8")
        except OSError:
            return False
        self.setMarkdown(PICTURE.sub(r"\1-dark.png", text) if _is_dark() else text)
        return True

    def loadResource(self, kind: int, name: QUrl | str) -> object:
        """Return a picture of the folder, no wider than the page."""
        path = self._folder / QUrl(name).toString()
        if kind != QTextDocument.ResourceType.ImageResource.value or not path.is_file():
            return None
        picture = QImage(str(path))
        width = min(picture.width(), max(200, self.viewport().width() - 2 * row_px()))
        return picture.scaledToWidth(width, Qt.TransformationMode.SmoothTransformation)

    def heads(self) -> list[tuple[str, int]]:
        """Return the heads of the page and where they stand."""
        found = []
        block = self.document().begin()
        while block.isValid():
            if 0 < block.blockFormat().headingLevel() <= DEEPEST_HEAD:
                found.append((block.text(), block.position()))
            block = block.next()
        return found

    def go_to(self, position: int) -> None:
        """Show the place with this position at the top."""
        cursor = QTextCursor(self.document())
        cursor.setPosition(position)
        self.setTextCursor(cursor)
        self.verticalScrollBar().setValue(
            self.verticalScrollBar().value() + self.cursorRect(cursor).top()
        )


class PagesDialog(QDialog):
    """Heads on the left, the page on the right; it lies beside the window, not over it."""

    def __init__(self, desk: Desk, page: str, head: str = "") -> None:
        super().__init__(desk.window())
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Guide to the window"))
        self.setModal(False)
        self.resize(QSize(row_px() * 44, row_px() * 28).boundedTo(desk.window().size()))
        self.list = QListWidget()
        self.list.setAccessibleName(tr("Pages and heads"))
        self.browser = PageBrowser(_folder())
        self.browser.anchorClicked.connect(self._follow)
        self.missing = label(tr("The pages did not come with this installation."), wrap=True)
        self.missing.hide()
        split = QSplitter()
        split.addWidget(self.list)
        split.addWidget(self.browser)
        split.setSizes([row_px() * 11, row_px() * 33])
        close = button(tr("Close"), self.close)
        self.setLayout(
            column(self.missing, split, row(1, close), margins=(16, 12, 16, 12), spacing=8)
        )
        self.list.currentItemChanged.connect(self._choose)
        self._page = ""
        self.open_page(page, head)

    def open_page(self, page: str, head: str = "") -> None:
        """Show a page, at one of its heads if it is named."""
        if page != self._page and self.browser.show_page(page):
            self._page = page
            self._fill()
        self.missing.setVisible(not self._page)
        wanted = next((at for text, at in self.browser.heads() if text == head), None)
        if wanted is not None:
            self.browser.go_to(wanted)
            QTimer.singleShot(0, self.browser, lambda: self.browser.go_to(wanted))

    def _fill(self) -> None:
        self.list.blockSignals(True)
        self.list.clear()
        for name, title in PAGES:
            entry = QListWidgetItem(tr(title))
            entry.setData(Qt.ItemDataRole.UserRole, (name, -1))
            self.list.addItem(entry)
            if name == self._page:
                self.list.setCurrentItem(entry)
                for text, at in self.browser.heads()[1:]:
                    under = QListWidgetItem(f"    {text}")
                    under.setData(Qt.ItemDataRole.UserRole, (name, at))
                    self.list.addItem(under)
        self.list.blockSignals(False)

    def _choose(self, entry: QListWidgetItem | None, _: QListWidgetItem | None) -> None:
        if entry is None:
            return
        name, at = entry.data(Qt.ItemDataRole.UserRole)
        if name != self._page:
            self.open_page(name)
        else:
            self.browser.go_to(max(0, at))

    def _follow(self, url: QUrl) -> None:
        name = url.path().removesuffix(".md")
        if name in dict(PAGES):
            self.open_page(name)
        elif url.scheme() in ("http", "https"):
            QDesktopServices.openUrl(url)


def _is_dark() -> bool:
    return luminance(look.tokens.surface) < 0.5


def _folder() -> Path:
    try:
        return data_path("docs")
    except FileNotFoundError:
        return Path()


def _show(desk: Desk, page: str, head: str = "") -> PagesDialog:
    dialog = PagesDialog(desk, page, head)
    dialog.show()
    return dialog


def guide_to_the_window(desk: Desk) -> PagesDialog:
    """Show the guide, at the head of the tab that is shown."""
    return _show(desk, "using", desk.tab_title())


def glossary(desk: Desk) -> PagesDialog:
    """Show the glossary."""
    return _show(desk, "glossary")
