"""One line over the foot of the views for what happened, with a way out by one button. It asks
nothing, and nothing moves when it comes or goes."""

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QFrame, QWidget

from rigplanner.desktop.controls.widgets import button, icon_button, label, row, stretchy
from rigplanner.desktop.document.change import Message
from rigplanner.desktop.document.session import Session
from rigplanner.desktop.look import icons
from rigplanner.desktop.words import SEVERITY_WORDS
from rigplanner.report.language import tr

SHOWN_MS = 8000
LONGEST = 2000
TOKENS = {"info": "accent", "warning": "warns", "error": "fails"}
ICONS = {"info": "info", "warning": "warn", "error": "cross"}


class MessageBar(QFrame):
    """Shows the last message over the foot of `below`; notes without a button leave by
    themselves."""

    def __init__(self, session: Session, below: QWidget) -> None:
        super().__init__(below)
        self._below = below
        below.installEventFilter(self)
        self.setProperty("role", "message")
        self.setAccessibleName(tr("Message"))
        self._message: Message | None = None
        self._sign = label()
        self._sign.setFixedWidth(20)
        self.text = label(wrap=True)
        stretchy(self.text)
        self.action = button("", self._act, name=tr("No action"))
        close = icon_button("cross", tr("Close the message"), self.hide)
        line = row(self._sign, self.text, self.action, close, margins=(12, 4, 8, 4))
        line.setStretchFactor(self.text, 1)
        self.setLayout(line)
        self._timer = QTimer(self, singleShot=True, interval=SHOWN_MS)
        self._timer.timeout.connect(self.hide)
        self.hide()
        session.message_given.connect(self.show_message)

    def show_message(self, message: Message) -> None:
        """Show a message in place of the former one."""
        from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent

        self._message = message
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
        if watched is self._below and event.type() == QEvent.Type.Resize:
            self._place()
        return super().eventFilter(watched, event)

    def _place(self) -> None:
        width = self._below.width()
        height = self.heightForWidth(width)  # a size hint would be that of the narrowest text
        self.setGeometry(0, self._below.height() - height, width, height)
        self.raise_()

    def _act(self) -> None:
        self.hide()
        if self._message and self._message.deed:
            self._message.deed()
