"""The gauges at the bottom: how far the rig is from its limits, also past 100 %."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QFontMetrics,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from rigplanner.desktop.controls.tips import plain
from rigplanner.desktop.document.session import Session
from rigplanner.desktop.look import icons
from rigplanner.desktop.look.fade import Glow
from rigplanner.desktop.look.theme import look, row_px, sized_font, small_font
from rigplanner.desktop.look.tokens import STATE_OF
from rigplanner.desktop.words import (
    THIN,
    VERDICT_ICONS,
    VERDICT_WORDS,
    money,
    number,
    percent,
    shortened,
)
from rigplanner.report.language import Words, listed, tr
from rigplanner.report.words.rates import split_text

if TYPE_CHECKING:
    from rigplanner.planning.limits import Limit

FULL_SCALE = 1.5
"""The bar ends at 150 %, so that the limit stands at two thirds of it."""
MOST_WORKLOADS = 3
TITLES = Words(
    {
        "price": "Price",
        "supply": "Power supply",
        "circuit": "Circuit",
        "lanes": "CPU lanes",
        "slots": "Slots",
    }
)
ASKS = Words({"price": "no budget set", "circuit": "no circuit set"})


def gauge_text(limit: "Limit") -> str:
    """Return used and limit in words: "2 170 / 1 440 W"."""
    if limit.used is None:
        return tr("unknown")
    if limit.axis == "price":
        return _price_text(limit, limit.used)
    digits = 1 if limit.unit == "GiB" else 0
    used = number(limit.used, digits)
    used = tr("at least {value}", value=used) if limit.partial else used
    if limit.limit is None:
        tail = tr("limit unknown") if limit.stated else ASKS.get(limit.axis, tr("limit unknown"))
        return listed([f"{used}{THIN}{limit.unit}" if limit.unit else used, tail])
    of = number(limit.limit, digits)
    return f"{used} / {of}{THIN}{limit.unit}" if limit.unit else f"{used} / {of}"


def _price_text(limit: "Limit", used: float) -> str:
    """Return the price, what of it stands beside the computer, and the budget."""
    if limit.partial and not used:
        return tr("no prices yet")
    if limit.beside:
        price = split_text(used, limit.beside, limit.unit, whole=True)
    else:
        price = money(used, limit.unit, whole=True)
    if limit.partial:
        price = tr("from {price}", price=price)
    if limit.limit is None:
        return listed([price, ASKS["price"]])
    return f"{price} / {money(limit.limit, limit.unit, whole=True)}"


class Gauge(QWidget):
    """One bar with its title, figures and verdict. Enter or a click asks for the breakdown."""

    clicked = Signal(object)

    def __init__(self, title: str, limit: "Limit", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title, self.limit = title, limit
        self._glow = Glow(self)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(row_px() * 4)
        self._tell()

    def sizeHint(self) -> QSize:
        return QSize(row_px() * 7, round(row_px() * 2.2))

    def show_limit(self, title: str, limit: "Limit") -> None:
        """Show other figures."""
        if (title, limit) != (self.title, self.limit):
            if gauge_text(limit) != gauge_text(self.limit) and title == self.title:
                self._glow.begin()
            self.title, self.limit = title, limit
            self._tell()
            self.update()

    def _tell(self) -> None:
        share = f" {percent(self.limit.share)}" if self.limit.share is not None else ""
        amount = f"{gauge_text(self.limit).strip()}{share}"
        said = f"{self.title}: {amount}, {VERDICT_WORDS[self.limit.verdict]}"
        self.setAccessibleName(said)
        self.setToolTip(plain(said))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.clicked.emit(self.limit)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.clicked.emit(self.limit)
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        self.update()
        super().focusInEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self.update()
        super().focusOutEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        self._glow.paint(painter, self.rect())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        tokens, limit = look.tokens, self.limit
        state = STATE_OF[limit.verdict]
        left, right = 8, self.width() - 8
        painter.setFont(small_font())
        small = QFontMetrics(painter.font())
        share = percent(limit.share) if limit.share is not None else ""
        painter.setFont(sized_font(1.0, semibold=True))
        strong = QFontMetrics(painter.font())
        baseline = 4 + strong.ascent()
        end = right
        if share:
            end -= strong.horizontalAdvance(share)
            painter.setPen(tokens.color(state if limit.verdict != "fits" else "text"))
            painter.drawText(end, baseline, share)
            if limit.verdict in ("error", "warning"):
                side = icons.size_px()
                end -= side + 2
                sign = icons.pixmap(VERDICT_ICONS[limit.verdict], state, self.devicePixelRatioF())
                painter.drawPixmap(end, baseline + 3 - side, sign)
        painter.setFont(small_font())
        painter.setPen(tokens.color("soft"))
        painter.drawText(
            left,
            baseline,
            small.elidedText(self.title, Qt.TextElideMode.ElideRight, end - left - 6),
        )
        self._paint_bar(painter, QRectF(left, baseline + 5, right - left, 6), state)
        painter.setPen(tokens.color("soft"))
        text = small.elidedText(gauge_text(limit), Qt.TextElideMode.ElideRight, right - left)
        painter.drawText(left, baseline + 14 + small.ascent(), text)
        if self.hasFocus():
            painter.setPen(QPen(tokens.color("accent"), 1))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1.5, 1.5, -1.5, -1.5), 4, 4)

    def _paint_bar(self, painter: QPainter, bar: QRectF, state: str) -> None:
        """The track, the limit's mark at two thirds, and the used part, cut where the track
        ends."""
        tokens, share = look.tokens, self.limit.share
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(tokens.color("raised"))
        painter.drawRect(bar)
        if share is None:
            return
        mark = bar.left() + bar.width() / FULL_SCALE
        painter.setBrush(tokens.color("accent" if state == "fits" else state))
        painter.drawRect(
            QRectF(
                bar.left(),
                bar.top(),
                bar.width() * min(share, FULL_SCALE) / FULL_SCALE,
                bar.height(),
            )
        )
        painter.fillRect(QRectF(mark - 1, bar.top() - 2, 2, bar.height() + 4), tokens.color("text"))


class GaugeRow(QWidget):
    """All gauges side by side; `asked` carries the limit whose breakdown is wanted."""

    asked = Signal(object)

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.gauges: list[Gauge] = []
        self._line = QHBoxLayout(self)
        self._line.setContentsMargins(4, 2, 4, 2)
        self._line.setSpacing(4)
        self.setAccessibleName(tr("Gauges"))
        session.rig_changed.connect(lambda _: self._refresh())
        look.look_changed.connect(self.update)

    def _refresh(self) -> None:
        assessment = self._session.assessment
        if assessment is None:
            return
        from rigplanner.planning.limits import limits
        from rigplanner.report.quote.jobs import workload_title

        shown = []
        for limit in limits(assessment):
            if limit.job is None:
                shown.append((TITLES[limit.axis], limit))
            elif limit.job < MOST_WORKLOADS:
                shown.append(
                    (f"VRAM {shortened(workload_title(assessment.jobs[limit.job]), 40)}", limit)
                )
        while len(self.gauges) > len(shown):
            gauge = self.gauges.pop()
            self._line.removeWidget(gauge)
            gauge.deleteLater()
        for n, (title, limit) in enumerate(shown):
            if n < len(self.gauges):
                self.gauges[n].show_limit(title, limit)
            else:
                gauge = Gauge(title, limit, self)
                gauge.clicked.connect(self.asked)
                self.gauges.append(gauge)
                self._line.addWidget(gauge)
