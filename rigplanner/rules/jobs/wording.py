"""Names in a rig's settings that nothing knows: they would change nothing, in silence."""

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Literal

from msgspec import Struct

from rigplanner.rig.choices import SOFTWARE_WORDS
from rigplanner.rig.countries import country_code, near_countries
from rigplanner.rig.edits import Edit
from rigplanner.rules.core.context import Context
from rigplanner.rules.core.finding import SEVERITIES, Finding
from rigplanner.rules.core.fixes import fix
from rigplanner.rules.core.registry import RULES, rule

CODE_LIKENESS = 0.8
"""Likeness from which a code is offered for another: five of six signs."""


class Word(Struct, frozen=True):
    """A name in the rig's settings: what it is said to be, the nearest name that is known, the
    edits that take it out and those that put the nearest in its stead."""

    said: Literal["software", "rule", "severity", "country"]
    word: str
    known: bool
    near: str | None
    out: tuple[Edit, ...]
    instead: tuple[Edit, ...] = ()

    @property
    def subjects(self) -> tuple[str, ...]:
        return ()


def words(context: Context) -> Iterator[Word]:
    """All names in the settings of the rig that stand for something else."""
    yield from _software(context)
    yield from _rules(context)
    for code, severity in context.rig.severities.items():
        if severity not in SEVERITIES:
            near = _nearest(severity, SEVERITIES)
            yield Word(
                "severity",
                severity,
                False,
                near,
                (Edit("set_severity", {"code": code, "severity": None}),),
            )
    country = context.site.country
    if country:
        near = next(iter(near_countries(country)), None)
        instead = (Edit("change_site", {"country": near}),) if near else ()
        yield Word(
            "country",
            country,
            country_code(country) is not None,
            near,
            (Edit("change_site", {"country": None}),),
            instead,
        )


def _software(context: Context) -> Iterator[Word]:
    named = context.rig.settings.software
    for name, release in named.items():
        near = _nearest(name, SOFTWARE_WORDS)
        out = Edit("set_software", {"versions": {name: ""}})
        swap = (
            Edit("set_software", {"versions": {name: "", near: release}})
            if near and near not in named
            else None
        )
        yield Word("software", name, name in SOFTWARE_WORDS, near, (out,), (swap,) if swap else ())


def _rules(context: Context) -> Iterator[Word]:
    rig = context.rig
    named = dict.fromkeys((*rig.ignored, *rig.severities, *(waiver.code for waiver in rig.waivers)))
    for code in named:
        out = [Edit("set_ignored", {"code": code, "ignored": False})] if code in rig.ignored else []
        out += (
            [Edit("set_severity", {"code": code, "severity": None})]
            if code in rig.severities
            else []
        )
        out += [
            Edit("unwaive", {"code": code, "subject": w.subject})
            for w in rig.waivers
            if w.code == code
        ]
        yield Word("rule", code, code in RULES, _nearest(code, RULES, CODE_LIKENESS), tuple(out))


def _nearest(word: str, known: Iterable[str], likeness: float = 0.6) -> str | None:
    return next(iter(get_close_matches(word, known, 1, likeness)), None)


@rule(
    "RIG005",
    "Setting names something unknown",
    "warning",
    over=words,
    reason=(
        "What no rule knows changes nothing: a mistyped package is not judged, a mistyped code "
        "ignores or accepts no finding."
    ),
    source="The names that rules, severities and settings have; ISO 3166-1 for countries",
)
def unheard(context: Context, case: Word) -> Iterator[Finding]:
    """Name the word and the nearest that is known."""
    if case.known:
        return
    if case.instead:
        way = fix(context, "other-word", *case.instead, word=case.near)
    else:
        way = fix(context, "forget", *case.out, word=case.word)
    variant = case.said + ("-near" if case.near else "")
    yield unheard.finding(
        case, fixes=(way,), variant=variant, word=case.word, near=case.near, known=list(SEVERITIES)
    )
