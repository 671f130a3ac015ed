"""A tab that is made when it is first looked at, so that the window is there at once."""

from collections.abc import Callable
from typing import Generic, TypeVar

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

V = TypeVar("V", bound=QWidget)


class Later(QWidget, Generic[V]):
    """Holds the place of a view; `view` makes it."""

    def __init__(self, make: Callable[[], V]) -> None:
        super().__init__()
        self._make = make
        self._made: V | None = None
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)

    def view(self) -> V:
        """Return the view."""
        if self._made is None:
            self._made = self._make()
            self._layout.addWidget(self._made)
            self._made.show()
        return self._made

    def showEvent(self, event: QShowEvent) -> None:
        self.view()
        super().showEvent(event)
