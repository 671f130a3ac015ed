"""Another language: the window is made anew around the same rig, history and file."""

import logging
from typing import TYPE_CHECKING

from rigplanner.desktop.spoken import speak_as_qt
from rigplanner.report.language import language, language_of_system, use_language

if TYPE_CHECKING:
    from rigplanner.desktop.window import Window

log = logging.getLogger(__name__)

_shown: list["Window"] = []
"""The window that took the former one's place; the program has no other hold on it."""


def speak(code: str) -> bool:
    """Take a language, that of the system for ""; False when its texts cannot be read, and then English stays."""
    try:
        use_language(code or language_of_system())
    except (OSError, ValueError) as fault:
        log.warning("The language %s cannot be read: %s", code, fault)
        use_language("en")
        return False
    finally:
        speak_as_qt(language())
    return True


def relaunch(window: "Window", code: str) -> "Window":
    """Remember and take a language, show a new window in place of the present one, and return it."""
    from rigplanner.desktop import faults
    from rigplanner.desktop.window import Window

    window.session.preferences.change(language=code)
    speak(code)
    window.keep_layout()
    session = window.session.hand_over()
    fresh = Window(session, window.journals)
    fresh.setGeometry(window.geometry())
    fresh.tabs.setCurrentIndex(window.tabs.currentIndex())
    fresh.show()
    faults.show_in(fresh)
    session.refresh()
    _shown[:] = [fresh]
    window.close()
    window.deleteLater()
    return fresh
