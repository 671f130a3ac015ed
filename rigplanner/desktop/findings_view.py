"""The right panel: what is wrong, needed against actual, with the ways out."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QFrame, QLineEdit, QMenu, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from rigplanner.desktop import icons
from rigplanner.desktop.details import MEASURES
from rigplanner.desktop.session import Session
from rigplanner.desktop.theme import STATE_OF, look, row_px
from rigplanner.desktop.widgets import button, clear, column, icon_button, label, panel, row, scrolled, stretchy, strip
from rigplanner.desktop.words import SEVERITY_WORDS, VERDICT_ICONS, plural, quantity, signed
from rigplanner.planning.effects import effects_of
from rigplanner.report.words import finding_text, fix_text, rule_title
from rigplanner.rig.edits import Edit
from rigplanner.rules.finding import Finding, Fix
from rigplanner.rules.registry import RULES

SEVERITIES = ("error", "warning", "info")


def needed_actual(finding: Finding) -> str:
    """Return "needs 2 170 W, has 1 440 W", or "" when the finding compares nothing."""
    if finding.needed is None and finding.actual is None:
        return ""
    needed, actual = (
        value if isinstance(value, str) else quantity(value, finding.unit) for value in (finding.needed, finding.actual)
    )
    return f"Needed {needed}, actual {actual}"


class FixButton(QPushButton):
    """A fix with its words over as many lines as they need; the tool tip says what it would change."""

    def __init__(self, words: str, clicked: Callable[[], object], effect: Callable[[], str]) -> None:
        super().__init__()
        self._effect = effect
        self.setAccessibleName(words)
        self.text_label = label(words, wrap=True)
        self.text_label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setLayout(row(self.text_label, margins=(8, 4, 8, 4)))
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        self.clicked.connect(lambda: clicked())

    def sizeHint(self) -> QSize:
        layout = self.layout()
        return layout.sizeHint() if layout else super().sizeHint()

    def heightForWidth(self, width: int) -> int:
        layout = self.layout()
        return layout.heightForWidth(width) if layout else -1

    def hasHeightForWidth(self) -> bool:
        return True

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and not self.toolTip():
            self.setToolTip(self._effect())
        return super().event(event)


class FindingCard(QFrame):
    """One finding. Click or Enter points at its subject in all views."""

    pointed = Signal(str)

    def __init__(self, session: Session, finding: Finding, waived: bool) -> None:
        super().__init__()
        self._session, self.finding, self._waived = session, finding, waived
        self.setProperty("role", "card")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        title, text = rule_title(finding.code), finding_text(finding, session.rig, session.catalog)
        self.setAccessibleName(f"{SEVERITY_WORDS[finding.severity]} {finding.code}: {text}")
        self._sign = label()
        self._sign.setAccessibleName(SEVERITY_WORDS[finding.severity])
        word = "waived" if waived else SEVERITY_WORDS[finding.severity]
        head = label(f"{word} · {finding.code}", "small", state="soft" if waived else STATE_OF[finding.severity])
        more = icon_button("down", f"More for {finding.code}", self._open_menu)
        self._more = more
        lines = column(row(self._sign, head, 1, more, spacing=6), margins=(8, 4, 4, 8), spacing=2)
        for text_label in (label(title, "strong", wrap=True), label(text, wrap=True)):
            lines.addWidget(text_label)
        compared = needed_actual(finding)
        if compared and not _said(finding, text):
            lines.addWidget(label(compared, "small", wrap=True))
        self._fixes = column(spacing=4)
        for fix in () if waived else finding.fixes[:3]:
            self._fixes.addWidget(self._fix_button(fix))
        lines.addLayout(self._fixes)
        self._reason = self._make_reason()
        lines.addWidget(self._reason)
        self.setLayout(lines)
        self.paint_sign()

    def paint_sign(self) -> None:
        """Draw the severity's icon in the colours in force."""
        state = "soft" if self._waived else STATE_OF[self.finding.severity]
        self._sign.setPixmap(icons.pixmap(VERDICT_ICONS[self.finding.severity], state, 16, self.devicePixelRatioF()))

    def _fix_button(self, fix: Fix) -> QWidget:
        session = self._session
        words = fix_text(fix, session.rig, session.catalog)
        if not fix.edits:
            return label(words, "small", wrap=True)
        return FixButton(words, lambda: self._apply(fix, words), lambda: self._effect_text(fix, words))

    def _effect_text(self, fix: Fix, words: str) -> str:
        session = self._session
        found = effects_of(session.rig, fix.edits, session.catalog, session.today)
        if found is None:
            return words
        lines = [f"{MEASURES[f.measure]} {signed(f.change, f.unit)}" for f in found.figures if f.change is not None]
        lines.append(f"{plural(len(found.gone), 'finding')} less, {plural(len(found.come), 'finding')} more")
        return "\n".join([words, *lines])

    def _apply(self, fix: Fix, words: str) -> None:
        session = self._session
        if session.edit(words, *fix.edits):
            session.tell(f"{words}: done.", "info", "Undo", session.undo)

    def _make_reason(self) -> QWidget:
        self._text = QLineEdit()
        self._text.setPlaceholderText("Reason for accepting it")
        self._text.setAccessibleName("Reason of the waiver")
        self._text.returnPressed.connect(self._waive)
        self._by = QLineEdit(self._session.preferences.now.name)
        self._by.setPlaceholderText("Your name")
        self._by.setAccessibleName("Name under the waiver")
        self._by.returnPressed.connect(self._waive)
        made = panel(
            column(self._text, self._by, row(button("Waive", self._waive), button("Cancel", self._hide_reason), 1), spacing=4)
        )
        made.hide()
        return made

    def _hide_reason(self) -> None:
        self._reason.hide()

    def _waive(self) -> None:
        finding = self.finding
        subject = finding.subjects[0] if finding.subjects else ""
        args = {"code": finding.code, "reason": self._text.text(), "by": self._by.text(), "subject": subject}
        if self._session.edit(f"Waive {finding.code}", Edit("waive", args)):
            self._session.preferences.change(name=self._by.text().strip())

    def _open_menu(self) -> None:
        menu = self.make_menu()
        menu.popup(self._more.mapToGlobal(self._more.rect().bottomLeft()))

    def make_menu(self) -> QMenu:
        """Return the menu of what can be done with the finding besides its fixes."""
        code, session = self.finding.code, self._session
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if self._waived:
            subject = next((w.subject for w in session.rig.waivers if w.code == code), "")
            menu.addAction(
                "Take the waiver back",
                lambda: session.edit(f"Take back the waiver of {code}", Edit("unwaive", {"code": code, "subject": subject})),
            )
            return menu
        menu.addAction("Waive with a reason", self.ask_reason)
        levels = menu.addMenu("Severity in this rig")
        for severity in SEVERITIES:
            levels.addAction(SEVERITY_WORDS[severity].capitalize(), partial(self._set_severity, severity))
        levels.addAction("The rule's own", partial(self._set_severity, None))
        menu.addAction(f"Ignore {code} in this rig", self._ignore)
        if (entry := RULES.get(code)) is not None:
            menu.addSeparator()
            menu.addAction("Why this rule", lambda: session.tell(f"{code}: {entry.reason} Source: {entry.source}"))
        return menu

    def _set_severity(self, severity: str | None) -> None:
        code = self.finding.code
        name = f"Treat {code} as {SEVERITY_WORDS[severity]}" if severity else f"Own severity of {code}"
        self._session.edit(name, Edit("set_severity", {"code": code, "severity": severity}))

    def ask_reason(self) -> None:
        """Open the fields of a waiver."""
        self._reason.show()
        self._text.setFocus()

    def _ignore(self) -> None:
        code, session = self.finding.code, self._session
        if session.edit(f"Ignore {code}", Edit("set_ignored", {"code": code, "ignored": True})):
            session.tell(f"{code} is ignored in this rig and will be listed as not checked.", "info", "Undo", session.undo)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._point()
        super().mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self._point()
        else:
            super().keyPressEvent(event)

    def _point(self) -> None:
        if self.finding.subjects:
            self._session.point_at(self.finding.subjects[0])


class FindingsView(QWidget):
    """Counts on top, then cards, then what was waived and what was not checked."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._cards: dict[str, FindingCard] = {}
        self.setMinimumWidth(row_px() * 10)
        self.verdict = label("", "strong", wrap=True)
        self.counts = label("", "small", wrap=True)
        self._list = QVBoxLayout()
        self._list.setContentsMargins(8, 0, 8, 8)
        self._list.setSpacing(6)
        self._unchecked = label("", "small", wrap=True)
        self._ignored = column(spacing=4)
        body = panel(column(self._list, self._ignored, self._unchecked, 1, margins=(0, 4, 4, 8)))
        self._unchecked.setContentsMargins(12, 0, 8, 0)
        self.setLayout(
            column(
                strip(column(self.verdict, self.counts, margins=(12, 6, 8, 4), spacing=0)), scrolled(body, "Findings"), spacing=0
            )
        )
        session.rig_changed.connect(lambda _: self.refresh())
        look.look_changed.connect(self._repaint)

    def cards(self) -> list[FindingCard]:
        """Return the cards from top to bottom."""
        found = [self._list.itemAt(n) for n in range(self._list.count())]
        return [card for item in found if item is not None and isinstance(card := item.widget(), FindingCard)]

    def refresh(self) -> None:
        """Show the findings of the rig as it stands; cards of findings that did not change are kept."""
        assessment = self._session.assessment
        if assessment is None:
            fault = self._session.fault or "no rig is open"
            self.verdict.setText("Not checked")
            self.counts.setText(f"The rig could not be assessed: {fault}" if self._session.fault else "Open or start a rig.")
            self._show_cards([])
            return
        report = assessment.report
        if not assessment.rig.items:
            self.verdict.setText("Nothing to check yet")
            self.counts.setText("Add parts; findings appear here with ways to fix them.")
        else:
            parts = [
                plural(report.count(s), SEVERITY_WORDS[s]) if s != "unknown" else f"{report.count(s)} unknown"
                for s in ("error", "warning", "unknown", "info")
                if report.count(s)
            ]
            self.verdict.setText(_verdict_words(report.verdict()))
            self.counts.setText(", ".join(parts) or f"{plural(len(report.ran), 'rule')} checked")
        self._show_cards([(f, False) for f in report.findings] + [(f, True) for f in report.waived])
        self._show_unchecked()

    def _show_cards(self, wanted: list[tuple[Finding, bool]]) -> None:
        keys = [f"{f.code} {f.severity} {f.subjects} {waived}" for f, waived in wanted]
        kept: dict[str, FindingCard] = {}
        for n, (key, (finding, waived)) in enumerate(zip(keys, wanted, strict=True)):
            card = self._cards.pop(key, None)
            if card is not None and card.finding != finding:
                _discard(self._list, card)
                card = None
            if card is None:
                card = FindingCard(self._session, finding, waived)
            if self._list.indexOf(card) != n:
                self._list.insertWidget(n, card)
            kept[key] = card
        for card in self._cards.values():
            _discard(self._list, card)
        self._cards = kept

    def _show_unchecked(self) -> None:
        assessment = self._session.assessment
        clear(self._ignored)
        if assessment is None or not assessment.rig.items:
            self._unchecked.setText("")
            return
        report = assessment.report
        for code in report.ignored:
            undo = button(
                "Check it",
                lambda code=code: self._session.edit(  # type: ignore[misc]
                    f"Check {code}", Edit("set_ignored", {"code": code, "ignored": False})
                ),
                role="link",
                name=f"Check {code}",
            )
            text = stretchy(label(f"Ignored: {rule_title(code)} ({code})", "small", wrap=True))
            self._ignored.addLayout(row(text, undo, margins=(12, 0, 8, 0)))
        idle = f", {plural(len(report.idle), 'rule')} had nothing to judge" if report.idle else ""
        self._unchecked.setText(
            f"{plural(len(report.ran), 'rule')} checked{idle}. Not checked at all: cable lengths, noise, clearance between memory "
            "and CPU cooler, local wiring rules."
        )

    def _repaint(self) -> None:
        for card in self._cards.values():
            card.paint_sign()


def _said(finding: Finding, text: str) -> bool:
    """Whether the text names what was needed and what is there already."""
    values = [v if isinstance(v, str) else quantity(v, finding.unit) for v in (finding.needed, finding.actual) if v is not None]
    return all(value in text for value in values)


def _verdict_words(verdict: str) -> str:
    return {
        "error": "Does not work as planned",
        "unknown": "Cannot be judged fully",
        "warning": "Works, with conditions",
        "ok": "Works",
    }[verdict]


def _discard(layout: QVBoxLayout, card: FindingCard) -> None:
    layout.removeWidget(card)
    card.hide()
    card.deleteLater()
