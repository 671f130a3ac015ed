"""The Map tab: every card against the work, and the page turned round: every model against the
machine."""

from PySide6.QtWidgets import QWidget

from rigplanner.desktop.controls.widgets import column
from rigplanner.desktop.document.session import Session
from rigplanner.desktop.map.cards_page import CardsPage


class MapView(QWidget):
    """Two pages of which one is seen."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.cards = CardsPage(session)
        self.setLayout(column(self.cards))
