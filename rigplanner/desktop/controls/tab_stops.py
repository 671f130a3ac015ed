"""Where the Tab key leads: region by region, though many widgets are made late and Qt puts those
last."""

from collections.abc import Iterator, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QScrollArea, QWidget


def tab_stops(window: QWidget, regions: Sequence[QWidget]) -> list[QWidget]:
    """Return what takes the focus by Tab in these regions, one region after the other."""
    chain = [each for each in _chain(window) if _stops(each)]
    return [
        each for region in regions for each in chain if each is region or region.isAncestorOf(each)
    ]


def step_focus(window: QWidget, regions: Sequence[QWidget], on: bool) -> bool:
    """Move the focus to the next stop, or the one before, and scroll it into sight; False where
    there is none."""
    stops, focused = tab_stops(window, regions), window.focusWidget()
    if not stops:
        return False
    at = stops.index(focused) if focused in stops else -1 if on else 0
    found = stops[(at + (1 if on else -1)) % len(stops)]
    found.setFocus(Qt.FocusReason.TabFocusReason if on else Qt.FocusReason.BacktabFocusReason)
    around = found.parentWidget()
    while around is not None:
        if isinstance(around, QScrollArea):
            around.ensureWidgetVisible(found)
        around = around.parentWidget()
    return True


def _chain(window: QWidget) -> Iterator[QWidget]:
    each = window.nextInFocusChain()
    while each is not None and each is not window:
        yield each
        each = each.nextInFocusChain()


def _stops(each: QWidget) -> bool:
    by_tab = each.focusPolicy().value & Qt.FocusPolicy.TabFocus.value
    return bool(by_tab) and each.focusProxy() is None and each.isEnabled() and each.isVisible()
