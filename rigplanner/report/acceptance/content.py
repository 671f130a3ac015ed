"""The acceptance protocol and the burn-in plan in words, for paper, web page, terminal and
window."""

from msgspec import Struct

from rigplanner.asbuilt.acceptance import Acceptance
from rigplanner.asbuilt.burn_in import BurnInPlan
from rigplanner.asbuilt.causes import sources_of
from rigplanner.asbuilt.checks.line import GROUPS, VERDICTS, Line
from rigplanner.catalog.load import Catalog
from rigplanner.report import format as fmt
from rigplanner.report.language import tr
from rigplanner.report.words.acceptance import (
    GROUP_WORDS,
    PURPOSES,
    STATES,
    WHOLE,
    cause_text,
    cost_text,
    counts_words,
    expected_text,
    line_title,
    promised_words,
    seen_words,
    since_text,
    step_text,
    text_problem,
)
from rigplanner.report.words.acceptance import VERDICTS as VERDICT_WORDS
from rigplanner.rig.document import Rig

WORST = ("error", "warning", "unknown", "ok")


class ProtocolRow(Struct, frozen=True, kw_only=True):
    """One line in words; `state` is that of a finding (ok, warning, error, unknown)."""

    state: str
    verdict: str
    what: str
    where: str
    promised: str
    seen: str
    cost: str
    cause: str
    step: str
    source: str = ""


class ProtocolGroup(Struct, frozen=True):
    """The rows of one subject under its title."""

    title: str
    rows: tuple[ProtocolRow, ...]


class Protocol(Struct, frozen=True, kw_only=True):
    """The whole protocol: `captures` are names and SHA-256 of the files it rests on."""

    title: str
    rig: str
    day: str
    captured: str
    state: str
    verdict: str
    counts: str
    groups: tuple[ProtocolGroup, ...]
    captures: tuple[tuple[str, str, str], ...]
    notes: tuple[str, ...]
    since: tuple[str, ...]
    since_title: str
    seller: str
    buyer: str

    @property
    def rows(self) -> tuple[ProtocolRow, ...]:
        """All rows, worst first, else subject by subject."""
        every = [row for group in self.groups for row in group.rows]
        return tuple(sorted(every, key=lambda row: WORST.index(row.state)))


def protocol(made: Acceptance, rig: Rig, catalog: Catalog) -> Protocol:
    """Return an acceptance in words."""
    groups = [
        ProtocolGroup(
            GROUP_WORDS[group],
            tuple([_row(line, made, rig, catalog) for line in _ordered(made, group)]),
        )
        for group in GROUPS
    ]
    partial = [text.name for text in made.texts if not text.whole]
    notes = [text_problem(text) for text in made.texts if text.problem]
    if partial:
        names = ", ".join(partial)
        notes.append(tr("Root would show more than is in {names}.", names=names))
    earlier = tr("Changed since the acceptance of {day}", day=fmt.day(made.earlier or made.day))
    return Protocol(
        title=tr("Acceptance protocol"),
        rig=made.rig,
        day=fmt.day(made.day),
        captured=fmt.day(made.captured) if made.captured else tr("not told"),
        state=STATES[made.verdict],
        verdict=WHOLE[made.verdict],
        counts=counts_words(made),
        groups=tuple([group for group in groups if group.rows]),
        captures=tuple([(text.name, ", ".join(text.programs), text.sha256) for text in made.texts]),
        notes=tuple(notes),
        since=tuple([since_text(since, rig, catalog) for since in made.since]),
        since_title=earlier if made.earlier else "",
        seller=rig.quote.seller.name,
        buyer=rig.quote.customer.name,
    )


def _ordered(made: Acceptance, group: str) -> list[Line]:
    lines = [line for line in made.lines if line.group == group]
    return sorted(lines, key=lambda line: VERDICTS.index(line.verdict))


def _row(line: Line, made: Acceptance, rig: Rig, catalog: Catalog) -> ProtocolRow:
    judged = line.verdict in ("broken", "remark")
    return ProtocolRow(
        state=STATES[line.verdict],
        verdict=VERDICT_WORDS[line.verdict],
        what=line_title(line, rig, catalog),
        where=line.where,
        promised=promised_words(line),
        seen=seen_words(line),
        cost=cost_text(line, made.jobs),
        cause=cause_text(line, rig, catalog) if judged else "",
        step=step_text(line, rig, catalog) if judged else "",
        source="; ".join(sources_of(line.cause)) if judged else "",
    )


class PlanRow(Struct, frozen=True, kw_only=True):
    """A step of the burn-in plan in words."""

    number: str
    purpose: str
    command: str
    expected: str
    time: str


def plan_rows(plan: BurnInPlan) -> tuple[PlanRow, ...]:
    """Return the steps of a burn-in plan in words."""
    return tuple(
        [
            PlanRow(
                number=str(number),
                purpose=PURPOSES[step.purpose],
                command=step.command,
                expected=expected_text(step),
                time=time_text(step.seconds),
            )
            for number, step in enumerate(plan.steps, 1)
        ]
    )


def time_text(seconds: int) -> str:
    """Return a duration in the unit that suits it."""
    if seconds < 60:
        return fmt.quantity(float(seconds), "s")
    if seconds < 3600:
        return fmt.quantity(round(seconds / 60), "min")
    return fmt.quantity(round(seconds / 3600, 1), "h")
