"""Text for tool tips: Qt guesses whether it is markup, and a name out of a file must not be."""

from PySide6.QtGui import Qt
from PySide6.QtWidgets import QWidget

UNSEEN = "\u2060"
"""Word joiner: has no width, and behind it nothing is a tag or an entity."""


def plain(text: str) -> str:
    """Return a text that Qt shows as it is, also where it looks like markup."""
    if not Qt.mightBeRichText(text):
        return text
    return text.replace("<", f"<{UNSEEN}").replace("&", f"&{UNSEEN}")


def hint(widget: QWidget, what: str, changes: str) -> None:
    """Say in two lines what a control is and what it changes; screen readers read both."""
    widget.setToolTip(plain(f"{what}\n{changes}"))
    if not widget.accessibleDescription():
        widget.setAccessibleDescription(f"{what} {changes}")
