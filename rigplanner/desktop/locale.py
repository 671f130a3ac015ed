"""The language that the window speaks: our texts, and Qt's own words, number fields and glyphs."""

import logging

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator
from PySide6.QtGui import QFontDatabase

from rigplanner.data import font_bytes
from rigplanner.report.language import language, language_of_system, use_language

log = logging.getLogger(__name__)

LOCALES = {"en": "en_US", "cs": "cs_CZ", "zh_TW": "zh_TW"}
_translators: list[QTranslator] = []
"""The one that is installed; Qt does not keep it alive."""


def speak(code: str) -> bool:
    """Take a language, that of the system for ""; False when its texts cannot be read, and then
    English stays."""
    try:
        use_language(code or language_of_system())
    except (OSError, ValueError) as fault:
        log.warning("The language %s cannot be read: %s", code, fault)
        use_language("en")
        return False
    finally:
        speak_as_qt(language())
    return True


def speak_as_qt(code: str) -> None:
    """Let Qt's buttons, dialogs and number fields made from now on speak a language; English is
    built in."""
    while _translators:
        QCoreApplication.removeTranslator(_translators.pop())
    QLocale.setDefault(QLocale(LOCALES[code]))
    if code == "en":
        return
    made = QTranslator()
    if made.load(f"qtbase_{code}", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)):
        QCoreApplication.installTranslator(made)
        _translators.append(made)
    else:
        log.warning("Qt has no texts of its own in %s here.", code)
    if code == "zh_TW" and not QFontDatabase.families(
        QFontDatabase.WritingSystem.TraditionalChinese
    ):
        for name in ("NotoSansTC-Regular.ttf", "NotoSansTC-SemiBold.ttf"):
            QFontDatabase.addApplicationFontFromData(font_bytes(name))
