"""Widgets from left to right that go on in a second line where the room is short."""

from PySide6.QtCore import QMargins, QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QSizePolicy, QWidget


class FlowRow(QLayout):
    """As wide as it must be for its widest widget, as high as its lines are at the width it gets.
    The first widget of a line that wants to be wide takes what the line leaves."""

    def __init__(self, *widgets: QWidget, spacing: int = 8) -> None:
        super().__init__()
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(spacing)
        for widget in widgets:
            self.addWidget(widget)

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        around = self.contentsMargins()
        inner = self._place(QRect(0, 0, width - around.left() - around.right(), 0), move=False)
        return inner + around.top() + around.bottom()

    def setGeometry(self, area: QRect) -> None:
        super().setGeometry(area)
        self._place(area.marginsRemoved(self.contentsMargins()), move=True)

    def sizeHint(self) -> QSize:
        sizes = [item.sizeHint() for item in self._shown()]
        width = sum(size.width() for size in sizes) + self.spacing() * max(0, len(sizes) - 1)
        return QSize(width, max((size.height() for size in sizes), default=0)).grownBy(
            self.contentsMargins()
        )

    def minimumSize(self) -> QSize:
        sizes = [item.minimumSize() for item in self._shown()]
        widest, tallest = (
            max((size.width() for size in sizes), default=0),
            max((size.height() for size in sizes), default=0),
        )
        return QSize(widest, tallest).grownBy(self.contentsMargins())

    def _shown(self) -> list[QLayoutItem]:
        return [item for item in self._items if not item.isEmpty()]

    def _place(self, area: QRect, move: bool) -> int:
        """Put the widgets into lines, and return how high these are; without `move` only count."""
        for line, top in (lines := self._lines(area)):
            tall = max(item.sizeHint().height() for item in line)
            left = area.left()
            spare = (
                area.width()
                - sum(item.sizeHint().width() for item in line)
                - self.spacing() * (len(line) - 1)
            )
            for item in line if move else ():
                size = item.sizeHint()
                if item.expandingDirections() & Qt.Orientation.Horizontal:
                    size, spare = size.grownBy(QMargins(0, 0, max(0, spare), 0)), 0
                room = min(size.width(), area.width())
                item.setGeometry(
                    QRect(
                        QPoint(left, top + (tall - size.height()) // 2), QSize(room, size.height())
                    )
                )
                left += room + self.spacing()
        if not lines:
            return 0
        line, top = lines[-1]
        return top + max(item.sizeHint().height() for item in line) - area.top()

    def _lines(self, area: QRect) -> list[tuple[list[QLayoutItem], int]]:
        lines: list[tuple[list[QLayoutItem], int]] = []
        used = 0
        for item in self._shown():
            width = item.sizeHint().width()
            if lines and used + self.spacing() + width <= area.width():
                lines[-1][0].append(item)
                used += self.spacing() + width
            else:
                above = lines[-1] if lines else None
                top = (
                    above[1] + max(i.sizeHint().height() for i in above[0]) + self.spacing() // 2
                    if above
                    else area.top()
                )
                lines.append(([item], top))
                used = width
        return lines


def flow_strip(*widgets: QWidget, margins: tuple[int, int, int, int] = (0, 0, 0, 0)) -> QWidget:
    """Return a widget around a flowing row that is no higher than its lines."""
    made = QWidget()
    flow = FlowRow(*widgets)
    flow.setContentsMargins(*margins)
    let_flow(made, flow)
    return made


def let_flow(widget: QWidget, flow: FlowRow) -> None:
    """Give a widget a flowing row, and no more height than its lines."""
    widget.setLayout(flow)
    policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
    policy.setHeightForWidth(True)
    widget.setSizePolicy(policy)
