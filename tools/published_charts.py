"""Published charts of cards made anew: docs/published-charts.md.

python -m tools.published_charts [--wrong]

Of each chart the order of its cards is compared with ours, its own source left out of the evidence.
`--wrong` prints the pairs of the measured charts whose order differs instead."""

import itertools
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.performance.anchors.own import current_evidence
from rigplanner.performance.answer import TIME_METRICS, SpeedEstimate
from rigplanner.performance.measured import Measured
from rigplanner.performance.predict import predict_speed
from rigplanner.rig.workload import Workload

ROOT = Path(__file__).resolve().parents[1]
CHARTS: dict[str, Any] = json.loads(
    (ROOT / "tests" / "planning" / "published_charts.json").read_text("utf-8")
)
PAGE = ROOT / "docs" / "published-charts.md"
MOST_JOBS = 12
"""Of one chart, so that the largest does not outweigh the others."""
TENTH = 1.1


class Bar(Struct, frozen=True):
    """A card of a chart: what was published, and what is predicted, as rates."""

    gpu: str
    published: float
    value: float
    low: float
    high: float


def bar(gpu: str, published: float, told: SpeedEstimate, time: bool = False) -> Bar:
    """`time`: what was published is a time too."""
    rate = 1 / published if time else published
    if told.metric in TIME_METRICS:
        return Bar(gpu, rate, 1 / told.value, 1 / told.high, 1 / told.low)
    return Bar(gpu, rate, told.value, told.low, told.high)


@cache
def jobs() -> dict[str, list[list[Measured]]]:
    """The measured rows of each source, job by job, where at least four cards did the job."""
    found: dict[Any, list[Measured]] = defaultdict(list)
    for placed in current_evidence().placed:
        row = placed.row
        work = msgspec.msgpack.encode(row.workload)
        found[row.source, work, row.count, row.nodes, row.metric].append(row)
    made = defaultdict(list)
    for (source, *_), rows in found.items():
        if len({row.gpu for row in rows}) >= 4:
            made[source].append(rows)
    return made


def charts_of(source: str) -> Iterator[tuple[Measured, list[Bar]]]:
    """A row of each job of a source, and the job's cards, predicted without the source."""
    for rows in jobs()[source][:MOST_JOBS]:
        bars = [
            bar(
                row.gpu,
                row.value,
                predict_speed(
                    row.workload, find_gpu(row.gpu), row.count, row.nodes, row.link, None, None,
                    row.metric, None, lambda other: other.source != source,
                ),
                row.metric in TIME_METRICS,
            )
            for row in rows
        ]  # fmt: skip
        yield rows[0], bars


def foreign_chart(chart: dict[str, Any]) -> list[Bar]:
    """A chart that is in no catalog, without the figures that no memory can reach; rows of its
    people that are in the catalog are left out of the evidence."""
    work = msgspec.convert(chart["workload"], Workload)
    zoo = shipped_zoo()
    left_out = chart.get("leave_out")
    return [
        bar(
            gpu,
            value,
            predict_speed(
                work, find_gpu(gpu), 1, 1, "none", zoo, None, chart.get("metric"), None,
                (lambda other: left_out not in other.source) if left_out else None,
            ),
        )
        for gpu, value in chart["cards"].items()
        if value * chart.get("read_gb_a_token", 0) <= (find_gpu(gpu).bandwidth_gbs or 0.0)
    ]  # fmt: skip


def pairs(bars: Sequence[Bar]) -> Iterator[tuple[Bar, Bar]]:
    """Two different cards of a chart."""
    return ((a, b) for a, b in itertools.combinations(bars, 2) if a.gpu != b.gpu)


def right(a: Bar, b: Bar) -> bool:
    """Whether the published order is ours."""
    return (a.published > b.published) == (a.value > b.value)


def outside(bars: Sequence[Bar]) -> list[bool]:
    """Of each pair whose intervals lie apart, whether the published order is ours."""
    return [
        right(a, b)
        for a, b in pairs(bars)
        if (a.low > b.high or b.low > a.high) and a.published != b.published
    ]


def by_a_tenth(bars: Sequence[Bar]) -> list[bool]:
    """Of each pair whose published figures differ by more than a tenth, whether the order is
    ours."""
    return [
        right(a, b)
        for a, b in pairs(bars)
        if max(a.published, b.published) / min(a.published, b.published) > TENTH
    ]


def share(found: Sequence[bool]) -> str:
    """Return how many of so many are right, as a cell of the table."""
    return f"{sum(found)} of {len(found)}" if found else "none lie apart"


def page() -> str:
    """Return docs/published-charts.md."""
    lines = [
        "| purpose | chart | cards | outside the intervals | differing by more than a tenth |"
        " why it differs |",
        "| --- | --- | ---: | ---: | ---: | --- |",
    ]
    every: tuple[list[bool], list[bool]] = ([], [])
    for chart in [*CHARTS["foreign"], *CHARTS["measured"]]:
        source = chart["source"]
        made = (
            [foreign_chart(chart)] if "cards" in chart else [bars for _, bars in charts_of(source)]
        )
        apart = [found for bars in made for found in outside(bars)]
        tenth = [found for bars in made for found in by_a_tenth(bars)]
        every[0].extend(apart)
        every[1].extend(tenth)
        cards = len({each.gpu for bars in made for each in bars})
        lines.append(
            f"| {chart['purpose']} | {source} | {cards} | {share(apart)} | {share(tenth)} |"
            f" {chart.get('why', '')} |"
        )
    told = [f"{share(each)} ({sum(each) / len(each):.1%})" for each in every]
    lines.append(f"| | **all** | | **{told[0]}** | **{told[1]}** | |")
    return CHARTS["page"] + "\n" + "\n".join(lines) + "\n"


def wrong() -> Iterator[str]:
    """Each pair of the measured charts that differs by a tenth and stands in another order."""
    for chart in CHARTS["measured"]:
        for row, bars in charts_of(chart["source"]):
            work = row.workload
            for a, b in pairs(bars):
                ratio = a.published / b.published
                if max(ratio, 1 / ratio) > TENTH and not right(a, b):
                    yield (
                        f"{chart['source'][:40]} | {work.model} {work.task} {work.precision}"
                        f" b{work.batch_per_gpu} s{work.seq_len} {work.stack} | {a.gpu} {b.gpu} |"
                        f" published {ratio:.2f} told {a.value / b.value:.2f}"
                    )


if __name__ == "__main__":
    if "--wrong" in sys.argv:
        print("\n".join(wrong()))
    else:
        PAGE.write_text(page(), "utf-8")
