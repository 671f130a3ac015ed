"""The pane under the catalog table: every figure of a part with its source, and what choosing it
would change."""

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QTextBrowser, QWidget

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import AnyPart
from rigplanner.desktop.controls.tips import plain
from rigplanner.desktop.controls.widgets import (
    button,
    column,
    icon_button,
    label,
    panel,
    row,
    strip,
    tint,
)
from rigplanner.desktop.document.session import Session
from rigplanner.desktop.look.theme import look, row_px
from rigplanner.desktop.look.tokens import STATE_OF
from rigplanner.desktop.parts.choice import choice_edits, choice_name
from rigplanner.desktop.parts.facts import facts_html, own_html
from rigplanner.desktop.parts.outline import outline_of, pixmap
from rigplanner.desktop.words import VERDICT_WORDS, quantity, shortened, signed
from rigplanner.report.language import Words, tr, trn
from rigplanner.rig.document import Item, Rig, part_of
from rigplanner.rig.facts import with_facts
from rigplanner.rules.core.finding import Finding

if TYPE_CHECKING:
    from rigplanner.planning.effects import Effect, Effects

FACTS_DELAY_MS = 40
"""The figures of a part are laid out when its row has rested for so long: the table is painted
before that."""
EFFECTS_DELAY_MS = 120
MOST_FINDINGS = 6
MOST_ERRORS = 2
"""Errors that are said before the figures: they decide."""
MEASURES = Words(
    {
        "vram": "VRAM",
        "load": "Load",
        "price": "Price",
        "speed": "Speed",
        "speed_per_money": "Speed per money",
    }
)


class Details(QWidget):
    """Facts left, consequences right. `added` says that the part went into the rig."""

    added = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self._part: AnyPart | None = None
        self._shown: dict[QTextBrowser, str] = {}
        self._delay = QTimer(self, singleShot=True, interval=EFFECTS_DELAY_MS)
        self._delay.timeout.connect(self._work_out)
        self._rest = QTimer(self, singleShot=True, interval=FACTS_DELAY_MS)
        self._rest.timeout.connect(self._lay_out)
        self._uid = ""
        self.title = label("", "strong")
        self._context = label("", "small")
        self._star = icon_button("star", tr("Favourite"), self.toggle_favourite)
        self.choose = button(tr("Add to rig"), self.put_into_rig, role="primary")
        self.facts = _browser(tr("Facts and sources"))
        self.facts.anchorClicked.connect(self._open_link)
        self.changes = _browser(tr("What choosing it would change"))
        left = panel(column(self.facts, margins=(12, 0, 4, 4)))
        right = panel(column(self.changes, margins=(4, 0, 12, 4)))
        body = row(left, right, spacing=0)
        body.setStretch(0, 3)
        body.setStretch(1, 2)
        self._outline = label()
        self._outline.setAccessibleName(tr("Outline from the measures"))
        self._outline.setFixedSize(row_px() * 5, row_px() * 3 // 2)
        head = row(
            self._outline,
            self.title,
            self._context,
            self._star,
            1,
            self.choose,
            margins=(12, 4, 12, 2),
        )
        self.setLayout(column(strip(head), body, spacing=0))
        self.setProperty("role", "surface")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        look.look_changed.connect(self._write)
        self.show_part(None, "")

    def say_context(self, text: str) -> None:
        """Say what the part would replace."""
        self._context.setText(text)

    def show_part(self, part: AnyPart | None, uid: str) -> None:
        """Show a part that would replace the item `uid`, or be added."""
        self._part, self._uid = part, uid
        self._write()

    def _write(self) -> None:
        part = self._part
        self.choose.setEnabled(part is not None)
        self._draw_outline()
        self._star.setVisible(part is not None)
        if part is None:
            self.choose.setText(tr("Replace") if self.replaced() else tr("Add to rig"))
            self.title.setText(tr("No part selected"))
            self._set(
                self.facts,
                "<p>"
                + tr("Select a part to see its data, its sources and what it would change.")
                + "</p>",
            )
            self._drop_effects("")
            return
        self.title.setText(shortened(part.name, 80))
        replaced = self.replaced()
        self.choose.setText(tr("Replace") if replaced else tr("Add to rig"))
        self.choose.setEnabled(replaced is None or replaced.part != part.id)
        full = part.id in self.session.preferences.now.favourites
        tint(self._star, "star-full" if full else "star", "accent" if full else "soft")
        self._rest.start()
        if replaced is not None and replaced.part == part.id:
            self._drop_effects(f"<p>{tr('This part is in the rig.')}</p>")
            return
        self._delay.start()

    def _draw_outline(self) -> None:
        """Show the shape of the part, nothing where its measures are not known."""
        shape = outline_of(self._part)
        self._outline.setVisible(shape is not None)
        if shape is not None:
            size, ratio = self._outline.size(), self.devicePixelRatioF()
            self._outline.setPixmap(
                pixmap(shape, size.width(), size.height(), look.tokens.color("text"), ratio)
            )
            told = f"{quantity(shape.width, 'mm')} × {quantity(shape.height, 'mm')}"
            self._outline.setToolTip(plain(told))

    def _lay_out(self) -> None:
        if self._part is not None:
            own = self.session.rig.facts.get(self._part.id, {})
            figures = facts_html(with_facts(self._part, own), self.session.catalog.sources)
            self._set(self.facts, own_html(self._own(own)) + figures)

    def _own(self, facts: dict[str, Any]) -> list[str]:
        """The figures that the owner measured of the part that is shown."""
        if self._part is None or not facts:
            return []
        from rigplanner.report.words.questions import own_fact_text

        rig, catalog, part = self.session.rig, self.session.catalog, self._part.id
        return [
            own_fact_text(f"{part}:{name}", value, rig, catalog) for name, value in facts.items()
        ]

    def _set(self, browser: QTextBrowser, body: str) -> None:
        """Show a text unless it is shown already: laying it out is dear."""
        text = _styled(body)
        if self._shown.get(browser) != text:
            self._shown[browser] = text
            browser.setHtml(text)

    def _work_out(self) -> None:
        """Show what choosing the part would change as soon as it is known; the former answer stays
        until then."""
        session, part = self.session, self._part
        if part is None:
            return
        rig, catalog, today = session.rig, session.catalog, session.today
        edits = choice_edits(session, part, self._uid)

        def work(_: object) -> "Effects | None":
            from rigplanner.planning.effects import effects_of

            return effects_of(rig, edits, catalog, today)

        session.tasks.run_task(
            "effects", work, lambda found: self._set(self.changes, effects_html(found, session))
        )

    def _drop_effects(self, text: str) -> None:
        self._delay.stop()
        self.session.tasks.cancel("effects")
        self._set(self.changes, text)

    def replaced(self) -> Item | None:
        """Return the item that the part would replace, None where it would be added."""
        return self.session.rig.item(self._uid) if self._uid else None

    def put_into_rig(self) -> None:
        """Make the edit that the pane describes."""
        self._put(self._uid)

    def put(self, parts: Sequence[AnyPart]) -> None:
        """Put the parts of the chosen rows into the rig: one as the pane describes, several
        together as one step."""
        if len(parts) < 2:
            self.put_into_rig()
            return
        name = trn("Add {count} part", "Add {count} parts", len(parts))
        edits = [edit for part in parts for edit in choice_edits(self.session, part, "")]
        if self.session.edit(name, *edits):
            self.session.tell(
                tr("Done: {words}", words=name), "info", tr("Undo"), self.session.undo
            )
            self.added.emit()

    def add_beside(self) -> None:
        """Add the part, also where the pane speaks of replacing another."""
        self._put("")

    def _put(self, uid: str) -> None:
        part, rig = self._part, self.session.rig
        if part is None:
            return
        item = rig.item(uid) if uid else None
        old = part_of(rig, self.session.catalog, item.part) if item else None
        name = choice_name(rig, part, uid, old.name if old else "")
        if self.session.edit(name, *choice_edits(self.session, part, uid)):
            self.session.tell(
                tr("Done: {words}", words=name), "info", tr("Undo"), self.session.undo
            )
            self.added.emit()

    def toggle_favourite(self) -> None:
        """Mark the part as a favourite, or take the mark away."""
        if self._part is not None:
            kept = self.session.preferences.now.favourites
            part_id = self._part.id
            changed = (
                tuple(i for i in kept if i != part_id) if part_id in kept else (*kept, part_id)
            )
            self.session.preferences.change(favourites=changed)
            self._write()

    def _open_link(self, url: QUrl) -> None:
        if url.scheme() in ("http", "https"):
            QDesktopServices.openUrl(url)


def _browser(name: str) -> QTextBrowser:
    made = QTextBrowser()
    made.setAccessibleName(name)
    made.setOpenLinks(False)
    made.document().setDocumentMargin(0)
    return made


def _styled(body: str) -> str:
    t = look.tokens
    return (
        f"<style>td {{ padding: 1px 10px 1px 0; }} .soft {{ color: {t.soft}; }} a {{ color:"
        f" {t.accent}; text-decoration: none; }} .fits {{ color: {t.fits}; }} .warns {{ color:"
        f" {t.warns}; }} .fails {{ color: {t.fails}; }} .unknown {{ color: {t.unknown};"
        f" }}</style>{body}"
    )


def effects_html(found: "Effects | None", session: Session) -> str:
    """Return the errors that would come, the changed figures, and the other findings that would
    come and go."""
    from rigplanner.report.words.findings import finding_text, rule_title

    if found is None:
        return f"<p class=soft>{tr('This cannot be added to the current rig.')}</p>"
    catalog = session.catalog
    rows = "".join(_effect_row(figure, session.rig, catalog) for figure in found.figures)
    errors = _first_errors(found.come)
    lines = [
        _finding_line(finding, finding_text(finding, found.rig, catalog)) for finding in errors
    ]
    lines.append(
        f"<table cellspacing=0>{rows}</table>"
        if rows
        else f"<p class=soft>{tr('No figure changes.')}</p>"
    )
    others = [finding for finding in found.come if finding not in errors]
    if others:
        come = trn("adds {count} finding", "adds {count} findings", len(others))
        lines.append(f"<p><b>{come}</b></p>")
    lines += [
        _finding_line(finding, finding_text(finding, found.rig, catalog))
        for finding in others[:MOST_FINDINGS]
    ]
    if found.gone:
        go = trn("removes {count} finding", "removes {count} findings", len(found.gone))
        lines.append(f"<p><b>{go}</b></p>")
    lines += [
        _line(rule_title(finding.code), finding.code) for finding in found.gone[:MOST_FINDINGS]
    ]
    return "".join(lines)


def _first_errors(come: tuple[Finding, ...]) -> list[Finding]:
    """The first error of each rule, the first few of them."""
    first: dict[str, Finding] = {}
    for finding in come:
        if finding.severity == "error":
            first.setdefault(finding.code, finding)
    return list(first.values())[:MOST_ERRORS]


def _finding_line(finding: Finding, text: str) -> str:
    token = STATE_OF[finding.severity]
    return _line(
        text, finding.code, f"<span class={token}>{VERDICT_WORDS[finding.severity]}</span> "
    )


def _line(text: str, code: str, word: str = "") -> str:
    return f"<div>{word}{escape(shortened(text, 200))} <span class=soft>{code}</span></div>"


def effect_title(figure: "Effect", rig: Rig, catalog: Catalog) -> str:
    """Return what a figure measures, with the workload's name where the rig has several."""
    from rigplanner.report.words.findings import subject_name

    measure = MEASURES[figure.measure]
    if figure.job is None or len(rig.workloads) < 2:
        return measure
    return tr(
        "{measure}, {workload}",
        measure=measure,
        workload=shortened(subject_name(f"workload.{figure.job}", rig, catalog), 30),
    )


def _effect_row(figure: "Effect", rig: Rig, catalog: Catalog) -> str:
    token = "soft" if figure.better is None else "fits" if figure.better else "warns"
    text = tr("unknown") if figure.change is None else signed(figure.change, figure.unit)
    token = "unknown" if figure.change is None else token
    return (
        f"<tr><td class=soft>{escape(effect_title(figure, rig, catalog))}</td><td"
        f" class={token}>{escape(text)}</td></tr>"
    )
