"""The history: every step by name; a click goes there."""

from PySide6.QtWidgets import QListWidget, QWidget

from rigplanner.desktop.controls.widgets import column
from rigplanner.desktop.document.session import Session
from rigplanner.desktop.look.theme import look, row_px
from rigplanner.report.language import tr


class HistoryView(QWidget):
    """All steps, oldest first; those that were undone are lighter."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.list = QListWidget()
        self.list.setAccessibleName(tr("History"))
        self.setLayout(column(self.list))
        self.setMinimumHeight(row_px() * 5)
        self.list.itemClicked.connect(lambda _: session.go_to(self.list.currentRow()))
        self.list.itemActivated.connect(lambda _: session.go_to(self.list.currentRow()))
        session.document_changed.connect(self._refresh)
        look.look_changed.connect(self._refresh)
        self._refresh()

    def _refresh(self) -> None:
        names = self._session.history
        if [self.list.item(n).text() for n in range(self.list.count())] != list(names):
            self.list.clear()
            self.list.addItems(list(names))
        for n in range(self.list.count()):
            token = "text" if n <= self._session.position else "strong_line"
            self.list.item(n).setForeground(look.tokens.color(token))
        self.list.setCurrentRow(self._session.position)
