"""One finding as a card: what is wrong, its ways out, and what else can be done about it."""

import re
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QFrame, QLineEdit, QMenu, QPushButton, QSizePolicy, QToolTip, QWidget

from rigplanner.catalog.prices.prices import is_day
from rigplanner.desktop.controls.tips import plain
from rigplanner.desktop.controls.widgets import (
    button,
    column,
    icon_button,
    label,
    panel,
    restyle,
    row,
)
from rigplanner.desktop.document.session import Session
from rigplanner.desktop.help.hints import give_hints
from rigplanner.desktop.look import icons
from rigplanner.desktop.look.tokens import STATE_OF
from rigplanner.desktop.parts.details import effect_title
from rigplanner.desktop.site_menu import site_menu
from rigplanner.desktop.words import SEVERITY_WORDS, VERDICT_ICONS, day, quantity, signed
from rigplanner.report.language import tr
from rigplanner.report.words.fields import VALUE_WORDS
from rigplanner.report.words.findings import finding_text, fix_text, rule_title
from rigplanner.rig.document import Waiver
from rigplanner.rig.edits import Edit
from rigplanner.rules.core.finding import Finding, Fix

if TYPE_CHECKING:
    from rigplanner.desktop.findings.question_form import QuestionForm

SEVERITIES = ("error", "warning", "info")
LONGEST_TEXT, SHORTEST_SENTENCE = 130, 30
"""Characters of a text that stands whole, and that a first sentence has at least."""
SENTENCE_END = re.compile(r"([.:;](?=\s)|[。：；])")
STOPS = str.maketrans({":": ".", ";": ".", "：": "。", "；": "。"})
"""What a sentence that was cut ends with."""


def needed_actual(finding: Finding) -> str:
    """Return "Needed 2 170 W, actual 1 440 W", or "" when the finding does not compare."""
    if finding.needed is None or finding.actual is None:
        return ""
    needed, actual = (
        tr(VALUE_WORDS.get(value, value))
        if isinstance(value, str)
        else quantity(value, finding.unit)
        for value in (finding.needed, finding.actual)
    )
    return tr("Needed {needed}, actual {actual}", needed=needed, actual=actual)


def first_sentence(text: str) -> str:
    """Return a text of a finding up to the end of its first sentence where it is long; a colon or
    semicolon ends one too."""
    if len(text) <= LONGEST_TEXT:
        return text
    ends = (m.end(1) for m in SENTENCE_END.finditer(text) if m.end(1) >= SHORTEST_SENTENCE)
    end = next(ends, len(text))
    whole = end >= len(text)
    return text if whole else text[: end - 1].rstrip() + text[end - 1].translate(STOPS)


def step_name(words: str) -> str:
    """Return what a fix is called once it is done: its words without what stands in brackets, what
    it keeps and costs."""
    return re.split(r"\s*[(（]", words)[0] or words


class FixButton(QPushButton):
    """A fix with its words over as many lines as they need; the tool tip says what it would
    change."""

    def __init__(
        self, words: str, clicked: Callable[[], object], effect: Callable[[], str]
    ) -> None:
        super().__init__()
        self._effect = effect
        self.setAccessibleName(words)
        self.text_label = label(words.replace("−", "−\u2060"), wrap=True)
        self.text_label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setLayout(row(self.text_label, margins=(8, 4, 8, 4)))
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        self.clicked.connect(lambda: clicked())

    def sizeHint(self) -> QSize:
        layout = self.layout()
        return layout.sizeHint() if layout else super().sizeHint()

    def minimumSizeHint(self) -> QSize:
        longest = max(self.text_label.text().split(), key=len, default="")
        margins = self.contentsMargins().left() + self.contentsMargins().right() + 16
        metrics = self.text_label.fontMetrics()
        return QSize(metrics.horizontalAdvance(longest) + margins, metrics.height() + 8)

    def heightForWidth(self, width: int) -> int:
        layout = self.layout()
        return layout.heightForWidth(width) if layout else -1

    def hasHeightForWidth(self) -> bool:
        return True

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip:
            self._tell_effect()
        return super().event(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Reached by Tab, it says what a pointer over it would say."""
        super().focusInEvent(event)
        if event.reason() in (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason):
            self._tell_effect()
            QToolTip.showText(self.mapToGlobal(self.rect().bottomLeft()), self.toolTip(), self)

    def _tell_effect(self) -> None:
        if not self.toolTip():
            self.setToolTip(plain(self._effect()))
            self.setAccessibleDescription(self.toolTip())


class FindingCard(QFrame):
    """One finding. Click or Enter points at its subject in all views."""

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
        word = tr("accepted") if waived else SEVERITY_WORDS[finding.severity]
        head = label(
            f"{word} · {finding.code}",
            "small",
            state="soft" if waived else STATE_OF[finding.severity],
        )
        more = icon_button("down", tr("More for {code}", code=finding.code), self._open_menu)
        self._more = more
        lines = column(row(self._sign, head, 1, more, spacing=6), margins=(8, 4, 4, 8), spacing=2)
        self._text_label = label(first_sentence(text), wrap=True)
        for text_label in (label(title, "strong", wrap=True), self._text_label):
            lines.addWidget(text_label)
        if self._text_label.text() != text:
            self._whole = button(tr("More"), lambda: self._show_whole(text), role="link")
            self._whole.setAccessibleName(tr("More of {code}", code=finding.code))
            lines.addLayout(row(self._whole, 1))
        compared = needed_actual(finding)
        if compared and not _said(finding, self._text_label.text()):
            lines.addWidget(label(compared, "small", wrap=True))
        if waived:
            lines.addWidget(label(self._waiver_text(), "small", wrap=True))
        self._fixes = column(spacing=4)
        for fix in () if waived else finding.fixes[:3]:
            self._fixes.addWidget(self._fix_button(fix))
        if any(field.startswith("site:") for field in finding.missing) and not waived:
            self._site = button(tr("Set the wall outlet…"), self._open_site)
            self._fixes.addWidget(self._site)
        lines.addLayout(self._fixes)
        self.question = None if waived else self._make_question()
        if self.question is not None:
            lines.addWidget(self.question)
        self._reason = self._make_reason()
        lines.addWidget(self._reason)
        self.setLayout(lines)
        self.paint_sign()

    def _make_question(self) -> "QuestionForm | None":
        """The form for the first figure that would settle the finding; the next comes after it."""
        if self.finding.severity != "unknown" and "fact" not in self.finding.values:
            return None
        from rigplanner.desktop.findings.question_form import QuestionForm
        from rigplanner.rules.questions import questions_of

        session = self._session
        if session.assessment is None:
            return None
        machine = session.assessment.machine
        found = questions_of(self.finding, session.rig, session.catalog, machine)
        return QuestionForm(session, found[0]) if found else None

    def paint_sign(self) -> None:
        """Draw the severity's icon in the colours in force."""
        state = "soft" if self._waived else STATE_OF[self.finding.severity]
        self._sign.setPixmap(
            icons.pixmap(VERDICT_ICONS[self.finding.severity], state, self.devicePixelRatioF())
        )
        if self.question is not None and self.question.picture is not None:
            self.question.picture.update()

    def _show_whole(self, text: str) -> None:
        """Show all that the finding says."""
        self._text_label.setText(text)
        self._whole.hide()
        self.setFocus()

    def _fix_button(self, fix: Fix) -> QWidget:
        session = self._session
        words = fix_text(fix, session.rig, session.catalog)
        if not fix.edits:
            return label(words, "small", wrap=True)
        return FixButton(
            words, lambda: self._apply(fix, words), lambda: self._effect_text(fix, words)
        )

    def _effect_text(self, fix: Fix, words: str) -> str:
        from rigplanner.planning.effects import effects_of

        session = self._session
        found = effects_of(session.rig, fix.edits, session.catalog, session.today)
        if found is None:
            return words
        rig, catalog = session.rig, session.catalog
        lines = [
            f"{effect_title(f, rig, catalog)} {signed(f.change, f.unit)}"
            for f in found.figures
            if f.change is not None
        ]
        lines.append(
            tr("Findings: {gone} fewer, {come} more", gone=len(found.gone), come=len(found.come))
        )
        return "\n".join([words, *lines])

    def _apply(self, fix: Fix, words: str) -> None:
        session, words = self._session, step_name(words)
        if session.edit(words, *fix.edits):
            session.tell(tr("Done: {words}", words=words), "info", tr("Undo"), session.undo)

    def _make_reason(self) -> QWidget:
        self._text = QLineEdit()
        self._text.setPlaceholderText(tr("Reason for accepting it"))
        self._text.setAccessibleName(tr("Reason for accepting it"))
        self._text.returnPressed.connect(self._waive)
        self._by = QLineEdit(self._session.preferences.now.name)
        self._by.setPlaceholderText(tr("Your name"))
        self._by.setAccessibleName(tr("Accepted by"))
        self._by.returnPressed.connect(self._waive)
        self._until = QLineEdit()
        self._until.setPlaceholderText(tr("Until (YYYY-MM-DD), or empty for no end"))
        self._until.setAccessibleName(tr("Accepted until"))
        self._until.returnPressed.connect(self._waive)
        give_hints(self._text)
        give_hints(self._by)
        give_hints(self._until)
        keys = row(button(tr("Accept"), self._waive), button(tr("Cancel"), self._hide_reason), 1)
        made = panel(column(self._text, self._by, self._until, keys, spacing=4))
        made.hide()
        return made

    def _waiver(self) -> Waiver | None:
        """Return the waiver that covers the finding."""
        finding = self.finding
        mine = ("", *finding.subjects)
        return next(
            (w for w in self._session.rig.waivers if w.code == finding.code and w.subject in mine),
            None,
        )

    def _waiver_text(self) -> str:
        waiver = self._waiver()
        if waiver is None:
            return ""
        until = tr("until {day}", day=day(waiver.until)) if waiver.until else tr("for good")
        return tr(
            "Accepted by {name} {until}: {reason}",
            name=waiver.by,
            until=until,
            reason=waiver.reason,
        )

    def _hide_reason(self) -> None:
        self._reason.hide()

    def _waive(self) -> None:
        finding, until = self.finding, self._until.text().strip()
        fine = not until or (is_day(until) and until >= self._session.today)
        restyle(self._until, "faulty", not fine)
        if not fine:
            self._session.tell(tr("Enter a date in the future, such as 2027-06-30."), "warning")
            return
        subject = finding.subjects[0] if finding.subjects else ""
        args = {
            "code": finding.code,
            "reason": self._text.text(),
            "by": self._by.text(),
            "subject": subject,
            "until": until or None,
        }
        if self._session.edit(tr("Accept {code}", code=finding.code), Edit("waive", args)):
            self._session.preferences.change(name=self._by.text().strip())

    def _open_site(self) -> None:
        site_menu(self, self._session).popup(self._site.mapToGlobal(self._site.rect().bottomLeft()))

    def _open_menu(self) -> None:
        menu = self.make_menu()
        menu.popup(self._more.mapToGlobal(self._more.rect().bottomLeft()))

    def make_menu(self) -> QMenu:
        """Return the menu of what can be done with the finding besides its fixes."""
        from rigplanner.rules.core.registry import RULES

        code, session = self.finding.code, self._session
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if self._waived:
            waiver = self._waiver()
            subject = waiver.subject if waiver else ""
            menu.addAction(
                tr("Stop accepting"),
                lambda: session.edit(
                    tr("Stop accepting {code}", code=code),
                    Edit("unwaive", {"code": code, "subject": subject}),
                ),
            )
            return menu
        menu.addAction(tr("Accept with a reason…"), self.ask_reason)
        levels = menu.addMenu(tr("Severity in this rig"))
        for severity in SEVERITIES:
            levels.addAction(
                SEVERITY_WORDS[severity].capitalize(), partial(self._set_severity, severity)
            )
        levels.addAction(tr("Default severity"), partial(self._set_severity, None))
        menu.addAction(tr("Ignore {code} in this rig", code=code), self._ignore)
        if (entry := RULES.get(code)) is not None:
            menu.addSeparator()
            menu.addAction(
                tr("Why this rule"),
                lambda: session.tell(
                    tr(
                        "{code}: {reason} Source: {source}",
                        code=code,
                        reason=entry.reason,
                        source=entry.source,
                    )
                ),
            )
        return menu

    def _set_severity(self, severity: str | None) -> None:
        code = self.finding.code
        name = (
            tr("Treat {code} as {severity}", code=code, severity=SEVERITY_WORDS[severity])
            if severity
            else tr("Change the severity of {code}", code=code)
        )
        self._session.edit(name, Edit("set_severity", {"code": code, "severity": severity}))

    def ask_reason(self) -> None:
        """Open the fields of a waiver."""
        self._reason.show()
        self._text.setFocus()

    def _ignore(self) -> None:
        code, session = self.finding.code, self._session
        if session.edit(
            tr("Ignore {code}", code=code), Edit("set_ignored", {"code": code, "ignored": True})
        ):
            session.tell(
                tr("{code} is ignored in this rig and will be listed as not checked.", code=code),
                "info",
                tr("Undo"),
                session.undo,
            )

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._point()
        super().mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self._point()
        else:
            super().keyPressEvent(event)

    def _point(self) -> None:
        """Show the slot, port, job or part that the finding speaks of."""
        self._session.finding_asked.emit(self.finding)


def _said(finding: Finding, text: str) -> bool:
    """Whether the text names what was needed and what is there already."""
    values = [
        v if isinstance(v, str) else quantity(v, finding.unit)
        for v in (finding.needed, finding.actual)
        if v is not None
    ]
    return all(value in text for value in values)
