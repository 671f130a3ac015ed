"""Where the rig will stand, said by one choice: a country with its usual outlet."""

from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu, QWidget

from rigplanner.desktop.document.session import Session
from rigplanner.desktop.words import COUNTRY_WORDS, outlets
from rigplanner.report.language import tr
from rigplanner.rig.countries import USUAL
from rigplanner.rig.edits import Edit


def site_menu(parent: QWidget, session: Session) -> QMenu:
    """Return a menu of countries; a choice sets mains voltage and breaker of the open rig."""
    menu = QMenu(parent)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)

    def take(code: str) -> None:
        volts, amperes = USUAL[code]
        name = tr("Usual outlet in {country}", country=COUNTRY_WORDS[code])
        fields = {"country": code, "volts": volts, "breaker_a": amperes}
        if session.edit(name, Edit("change_site", fields)):
            session.tell(f"{name}.", "info", tr("Undo"), session.undo)

    for code, words in outlets():
        menu.addAction(words, partial(take, code))
    return menu
