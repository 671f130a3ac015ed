"""The Map tab: every card against the work, and the page turned round: every model against the
machine."""

from PySide6.QtWidgets import QStackedWidget, QTabBar, QWidget

from rigplanner.desktop.controls.widgets import column, row, stretchy, strip
from rigplanner.desktop.document.session import Session
from rigplanner.desktop.map.cards_page import CardsPage
from rigplanner.desktop.map.models_page import ModelsPage
from rigplanner.report.language import tr


class MapView(QWidget):
    """Two pages of which one is seen."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.cards = CardsPage(session)
        self.models = ModelsPage(session)
        self.pages = QTabBar()
        self.pages.setDrawBase(False)
        self.pages.setExpanding(False)
        self.pages.setAccessibleName(tr("Cards or models"))
        self.pages.addTab(tr("Cards for the work"))
        self.pages.addTab(tr("Models for the machine"))
        self.stack = QStackedWidget()
        self.stack.addWidget(self.cards)
        self.stack.addWidget(self.models)
        self.pages.currentChanged.connect(self.stack.setCurrentIndex)
        self.setLayout(
            column(strip(row(stretchy(self.pages), margins=(12, 4, 12, 0))), self.stack, spacing=0)
        )
