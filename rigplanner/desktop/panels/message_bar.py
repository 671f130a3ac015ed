"""One line beside the tabs for what happened, with a way out by one button; what is longer stands
over the foot of the views. It asks nothing, and nothing moves when it comes or goes."""

from PySide6.QtCore import QEvent, QObject, QRect, QTimer
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QFrame, QWidget

from rigplanner.desktop.controls.widgets import button, icon_button, label, row, stretchy
from rigplanner.desktop.document.change import Message
from rigplanner.desktop.document.session import Session
from rigplanner.desktop.look import icons
from rigplanner.desktop.words import SEVERITY_WORDS
from rigplanner.report.language import tr

SHOWN_MS = 8000
LONGEST = 2000
GAP_PX, LEFT_PX, RIGHT_PX = 16, 12, 8
TOKENS = {"info": "accent", "warning": "warns", "error": "fails"}
ICONS = {"info": "info", "warning": "warn", "error": "cross"}


class MessageBar(QFrame):
    """Shows the last message in the room beside `tabs`, a longer one over the foot of `views`;
    notes leave by themselves."""

    def __init__(self, session: Session, views: QWidget, tabs: QWidget) -> None:
        super().__init__(views.window())
        self._window = views.window()
        self._session, self._views, self._tabs = session, views, tabs
        for neighbour in (views, tabs):
            neighbour.installEventFilter(self)
        self.setProperty("role", "message")
        self.setAccessibleName(tr("Message"))
        self._message: Message | None = None
        self._rig = session.rig
        self._sign = label()
        self._sign.setFixedWidth(20)
        self.text = label(wrap=True)
        stretchy(self.text)
        self.action = button("", self._act, name=tr("No action"))
        self._close = icon_button("cross", tr("Close the message"), self.hide)
        self._line = row(self._sign, self.text, self.action, self._close)
        self._line.setStretchFactor(self.text, 1)
        self.setLayout(self._line)
        self._timer = QTimer(self, singleShot=True, interval=SHOWN_MS)
        self._timer.timeout.connect(self.hide)
        self.hide()
        session.message_given.connect(self.show_message)
        session.rig_changed.connect(self._drop_undo)

    def show_message(self, message: Message) -> None:
        """Show a message in place of the former one."""
        from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent

        self._message, self._rig = message, self._session.rig
        self._sign.setPixmap(
            icons.pixmap(ICONS[message.level], TOKENS[message.level], self.devicePixelRatioF())
        )
        self._sign.setAccessibleName(SEVERITY_WORDS.get(message.level, message.level))
        self.text.setText(message.text[:LONGEST])
        self.action.setText(message.action)
        self.action.setAccessibleName(message.action or tr("No action"))
        self.action.setVisible(bool(message.action))
        self._place()
        self.show()
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, message.text[:LONGEST]))
        if message.level == "info":
            self._timer.start()
        else:
            self._timer.stop()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Move):
            self._place()
        return super().eventFilter(watched, event)

    def _place(self) -> None:
        """Stand beside the tabs where that holds the text, so that nothing is covered."""
        window = self._window
        left = self._tabs.mapTo(window, self._tabs.rect().topRight()).x() + GAP_PX
        top = self._tabs.mapTo(window, self._tabs.rect().topLeft()).y()
        beside = QRect(left, top, window.width() - left, self._tabs.height())
        others = (self._sign, self._close, *([] if self.action.isHidden() else [self.action]))
        needed = QFontMetrics(self.text.font()).horizontalAdvance(self.text.text())
        needed += sum(each.sizeHint().width() + self._line.spacing() for each in others)
        if needed + LEFT_PX + RIGHT_PX <= beside.width() and "\n" not in self.text.text():
            self._line.setContentsMargins(LEFT_PX, 0, RIGHT_PX, 0)
            self.setGeometry(beside)
        else:
            self._line.setContentsMargins(LEFT_PX, 4, RIGHT_PX, 4)
            foot = QRect(
                self._views.mapTo(window, self._views.rect().topLeft()), self._views.size()
            )
            foot.setTop(foot.bottom() + 1 - self.heightForWidth(foot.width()))
            self.setGeometry(foot)
        self.raise_()

    def _drop_undo(self, _: object) -> None:
        """Hide an Undo that would take another step back by now."""
        undoes = self._message is not None and self._message.deed == self._session.undo
        if undoes and self._session.rig is not self._rig:
            self.hide()

    def _act(self) -> None:
        self.hide()
        if self._message and self._message.deed:
            self._message.deed()
