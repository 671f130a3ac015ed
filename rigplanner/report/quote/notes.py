"""Numbered notes at the end of a quote: the sources of the figures that decide, and of the speeds;
and which deciding figures nobody verified."""

from collections.abc import Iterator
from urllib.parse import urlsplit

from msgspec import Struct

from rigplanner.catalog.load import Catalog
from rigplanner.evidence import Source
from rigplanner.report import format as fmt
from rigplanner.report.language import listed, tr
from rigplanner.report.words.fields import FIELD_WORDS
from rigplanner.report.words.findings import STATE_WORDS
from rigplanner.report.words.speed import alike_anchors
from rigplanner.report.words.workloads import title_of
from rigplanner.rig.document import part_of
from rigplanner.rules.assess import Assessment
from rigplanner.rules.core.rests import settling

RECALLED = ""
"""Key of all figures for which no page was read."""


class QuoteSource(Struct, frozen=True):
    """Where figures come from: title, address ("" for none), the day read in words ("" for none)
    and what it decides."""

    title: str
    url: str
    read: str
    decides: str = ""

    @property
    def place(self) -> str:
        """Whose pages they are: the host of the address."""
        return urlsplit(self.url).hostname or ""


def deciding_sources(assessment: Assessment, catalog: Catalog) -> list[QuoteSource]:
    """Return the sources of the figures by which rules decided, in the order of the parts, one for
    all that are common knowledge, then those of measurements behind the speeds. Figures that nobody
    verified and that no page tells have lines of their own (`unverified_texts`)."""
    rig, report = assessment.rig, assessment.report
    known: dict[str, Source] = {**rig.snapshot_sources, **catalog.sources}
    decided: dict[str, dict[str, list[str]]] = {}
    order = {item.part: n for n, item in enumerate(rig.items)}
    for figure in sorted(report.deciding, key=lambda one: order.get(one.part, len(order))):
        if figure.state == "recalled":
            continue
        part = part_of(rig, catalog, figure.part)
        keys = [key for key in settling(part, figure.field) if key in known] if part else []
        if part and keys:
            key = next((key for key in keys if not known[key].recalled), RECALLED)
            word = tr(FIELD_WORDS.get(figure.fact.partition(":")[2], figure.field))
            words = decided.setdefault(key, {}).setdefault(part.name, [])
            words += [word] if word not in words else []
    recalled = decided.pop(RECALLED, {})
    notes = []
    for key, parts in decided.items():
        source = known[key]
        day = fmt.day(source.read)
        notes.append(QuoteSource(source.title, source.url or "", day, _told(parts)))
    if recalled:
        title = tr("Commonly known, no page was read; compare with the maker's page before you buy")
        notes.append(QuoteSource(title, "", "", _told(recalled)))
    return [*notes, *_measurements(assessment)]


def _told(parts: dict[str, list[str]]) -> str:
    return listed((f"{name}: {listed(words)}" for name, words in parts.items()), "; ")


def _measurements(assessment: Assessment) -> Iterator[QuoteSource]:
    """The one source that carries each speed most."""
    carried: dict[str, list[str]] = {}
    for job in assessment.jobs:
        for anchor in alike_anchors(job.speed)[:1]:
            carried.setdefault(anchor.source, []).append(title_of(job.workload))
    for source, titles in carried.items():
        yield QuoteSource(source, "", "", tr("speed of {workloads}", workloads=listed(titles)))


def unverified_texts(assessment: Assessment, catalog: Catalog) -> Iterator[str]:
    """Yield one line a part: its deciding figures that nobody verified, by state."""
    report, rig = assessment.report, assessment.rig
    for part_id in dict.fromkeys(figure.part for figure in report.unverified):
        part = part_of(rig, catalog, part_id)
        alike: dict[str, list[str]] = {}
        for figure in report.unverified:
            if figure.part == part_id:
                word = tr(FIELD_WORDS.get(figure.fact.partition(":")[2], figure.field))
                alike.setdefault(tr(STATE_WORDS[figure.state]), []).append(word)
        figures = listed((f"{listed(words)} ({state})" for state, words in alike.items()), "; ")
        yield tr(
            "Not verified of {part}: {figures}.",
            part=part.name if part else part_id,
            figures=figures,
        )
