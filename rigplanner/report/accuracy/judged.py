"""How right predictions are: the tables of measured cases of a file, and of the measured speeds
that ship."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.schema.parts import GPU
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.data import data_path
from rigplanner.decoding import read_json
from rigplanner.error_figures import Errors
from rigplanner.errors import WorkloadFault
from rigplanner.memory.measured.accuracy import (
    Comparison,
    compare,
    compare_first,
    compare_held,
    compare_traced,
    error_table,
    wrong_verdicts,
)
from rigplanner.memory.measured.brackets import brackets
from rigplanner.memory.measured.holdout import held_out
from rigplanner.memory.usable_memory import unified
from rigplanner.performance.accuracy import (
    SCHEMES,
    Judged,
    Scheme,
    anchored_since,
    at_first_sight,
    errors_by,
    judge,
    ranking,
    scaling,
    summarise,
)
from rigplanner.performance.anchors.evidence import shipped_evidence
from rigplanner.performance.measured import Measured, shipped_measured
from rigplanner.performance.noise_floor import median_of_others, same_job, same_network
from rigplanner.report.accuracy.exchange import exchange_table, sizes_table
from rigplanner.report.accuracy.hosts import hosts_table
from rigplanner.report.accuracy.table import AccuracyTable, JudgedCase

LEAST_GROUP = 5
"""Groups of fewer cases are not printed on their own."""
MEMORY_FIELDS = ("task", "size", "kind", "stack", "source", "model")
FIRST_FIELDS = ("collection", "task", "kind", "stack", "source")


def memory_tables(lines: list[bytes], name: str) -> list[AccuracyTable]:
    """Return the tables of a file of published GiB per GPU: at first sight where it tells, as
    shipped, and each source held out."""
    zoo, first = shipped_zoo(), compare_first(lines)
    shipped, held = compare(lines, _gpu_or_none, zoo), held_out(lines, _gpu_or_none, zoo)
    told = [
        ("memory at first sight", " at first sight", FIRST_NOTE, first, FIRST_FIELDS),
        ("memory", "", MEMORY_NOTE, shipped, MEMORY_FIELDS),
        ("memory held out", ", each source held out", HELD_OUT_NOTE, held, MEMORY_FIELDS),
    ]
    return [
        AccuracyTable(
            judged=judged,
            title=f"Memory, published figures{said}: {name}",
            note=note,
            rows=_large(error_table(compared, fields)),
            cases=_memory_cases(compared),
            shares=wrong_verdicts(compared) if judged == "memory held out" else {},
        )
        for judged, said, note, compared, fields in told
        if compared or judged != "memory at first sight"
    ]


def held_table(lines: list[bytes], name: str) -> AccuracyTable:
    """Return the table of a file of what cards, the host and a serving engine's cache hold."""
    compared = compare_held(lines, find_gpu, shipped_zoo())
    return AccuracyTable(
        judged="memory held",
        title=f"Memory, cards and host apart: {name}",
        note=HELD_NOTE,
        rows=tuple(error_table(compared, ("part", "stack", "source"))),
        cases=_memory_cases(compared),
    )


HELD_NOTE = (
    "What logs and nvidia-smi told of models of which RAM holds a part, all cards together and RAM"
    " each, and of the cache that a serving engine reserves on a card. Nothing is fitted to them"
    " but what the bits of mixed files are."
)


def _memory_cases(compared: Iterable[Comparison]) -> tuple[JudgedCase, ...]:
    return tuple(
        JudgedCase(str(case.id), "GiB", case.measured_gib, case.predicted_gib)
        for case in compared
        if case.predicted_gib is not None
    )


def _speed_cases(judged: Iterable[Judged]) -> tuple[JudgedCase, ...]:
    return tuple(
        JudgedCase(item.row.id, item.row.metric, item.row.value, item.predicted) for item in judged
    )


FIRST_NOTE = (
    "The same cases as they were predicted before anyone had looked at their sources: no constant,"
    " no interval and no choice of a stack knew them. Each collection met an estimate that knew"
    " what the earlier ones taught, and the estimate that ships knows all of them, so the next"
    " tables flatter; expect errors of the last collections' size from a new source."
)
MEMORY_NOTE = (
    "GiB per GPU against the counter that each source names, with the constants as shipped. Live"
    " tensors are computed; what allocators and libraries hold beyond them (a few numbers each for"
    " training, inference and the making of images) and the intervals are fitted to all of these"
    " sources, so this table flatters. Where a length is only a maximum, less is right too."
)
HELD_OUT_NOTE = (
    "The same cases, each predicted without its source: the constants and the intervals are fitted"
    " to the other sources, and constants that a stack has from its own measurements are dropped."
    " Expect errors of this size on a source nobody has seen."
)


def traced_table(lines: list[bytes], name: str) -> AccuracyTable:
    """Return the table of a file of traced steps."""
    rows = _large(error_table(compare_traced(lines, shipped_zoo()), ("source", "task", "model")))
    note = (
        "Peak of live tensors of one step against PyTorch's own count (MemTracker under"
        " FakeTensorMode, no GPU). The traced networks have no fitted constants. `held out` traces"
        " were set aside while these were written; of those of the older file some have led to"
        " corrections since, those of random shapes came last and have led to none."
    )
    return AccuracyTable(
        judged="traced steps", title=f"Memory, traced steps: {name}", note=note, rows=rows
    )


def bracket_table(lines: list[bytes], name: str) -> AccuracyTable:
    """Return the table of a file of largest batches. Raises WorkloadFault for a network or card
    that is not known."""
    found = brackets(lines, find_gpu, shipped_zoo())
    failed = sum(item.failed is not None for item in found)
    held, wrong = sum(item.holds for item in found), sum(item.overflows for item in found)
    note = (
        f"Networks of which one batch ran on a card and a larger one did not: {held} of"
        f" {len(found)} estimates lie between the two. Of {failed} batches that failed {wrong} are"
        f" said to fit with their whole interval, and of {len(found)} that ran"
        f" {sum(item.refuses for item in found)} are said not to."
    )
    shares = {
        "between the two batches": held / max(1, len(found)),
        "said to fit, yet failed": wrong / max(1, failed),
    }
    return AccuracyTable(
        judged="brackets", title=f"Memory, largest batch: {name}", note=note, shares=shares
    )


def _large(rows: Iterable[Errors]) -> tuple[Errors, ...]:
    return tuple(row for row in rows if row.group == "all" or row.cases >= LEAST_GROUP)


def _gpu_or_none(name: str) -> GPU | None:
    try:
        return find_gpu(name)
    except WorkloadFault:
        return None


def speed_tables(rows: list[Measured], lines: list[bytes], path: Path) -> list[AccuracyTable]:
    """Return the tables of the measured speeds of a file (its JSON `lines`, none of a CSV): at
    first sight where they tell, and now."""
    made = []
    note = (
        "Each row is predicted without the shipped row of the same id; suspect rows are left out."
    )
    if first := at_first_sight(rows, lines):
        title = f"Speed at first sight: {path.name}"
        made.append(
            AccuracyTable(
                judged="speed at first sight",
                title=title,
                note=SPEED_FIRST_NOTE,
                rows=_speed_groups(first, rows),
                cases=_speed_cases(first),
            )
        )
        since = anchored_since(lines)
        rows = [row for row in rows if row.id not in since]
        note += (
            f" {len(since)} rows of whole sources became anchors since and are not judged here."
            if since
            else ""
        )
    judged = judge(rows, "row")
    return [
        *made,
        AccuracyTable(
            judged="speed",
            title=f"Speed: {path.name}",
            note=note,
            rows=_speed_groups(judged, rows),
            cases=_speed_cases(judged),
        ),
    ]


SPEED_FIRST_NOTE = (
    "What was predicted before anyone had looked at these sources. The physics that ships knows"
    " what they taught, so the next table flatters; expect errors of this size from a new kind of"
    " source."
)
SPEED_FIELDS: dict[str, Callable[[Measured], str]] = {
    "stack": lambda row: row.workload.stack or "-",
    "source": lambda row: "/".join(row.source.split("/")[:2]),
    "gpu": lambda row: row.gpu,
}


def _speed_groups(judged: Sequence[Judged], rows: Sequence[Measured]) -> tuple[Errors, ...]:
    """Errors of all rows, by stack, by source and by GPU."""
    made = [summarise(judged, "all", len(rows))]
    for field, of in SPEED_FIELDS.items():
        named = (
            msgspec.structs.replace(row, group=f"{field}: {row.group}")
            for row in errors_by(judged, rows, of)
        )
        made += [row for row in named if row.covered >= LEAST_GROUP]
    return tuple(made)


FITTED_IN_VIEW = (
    "The multipliers of the physics were fitted with all rows of their day in view, so only anchors"
    " are left out here; the covariances were fitted twice, to rows whose GPU, source, network or"
    " stack was left out, of either half of these, and averaged."
)
LEFT_OUT: dict[str, str] = {
    "row": "nothing but the row itself",
    "network on GPU": "all rows of the same network on the same GPU",
    "GPU": "all rows of the same GPU",
    "generation": "all rows of the same GPU generation",
    "source": "all rows of the same source",
    "network": "all rows of the same network, on all GPUs and stacks",
    "stack": "all rows of the same stack of software",
}


def shipped_tables() -> list[AccuracyTable]:
    """Return the tables of the measured rows that ship: rows, GPUs, generations, sources, networks
    and stacks left out."""
    left_out = (_left_out(scheme) for scheme in SCHEMES)
    return [
        _repeated(),
        *left_out,
        *(_refitted(scheme) for scheme in ("GPU", "source")),
        hosts_table(),
        exchange_table(),
        sizes_table(),
    ]


def _writes(row: Measured, shared: bool) -> bool:
    """Whether a row is one user's text, written where CPU and GPU share their memory or not."""
    alone = row.workload.task == "decode" and row.workload.batch_per_gpu in (1, None)
    return alone and unified(find_gpu(row.gpu)) == shared


MODULES = "nvidia.jetson."
"""How the ids of modules for machines of their own begin, that share their memory too."""
TEXTS: dict[str, Callable[[Measured], bool]] = {
    "text written on cards": lambda row: _writes(row, False),
    "text written in unified memory": lambda row: (
        _writes(row, True) and not row.gpu.startswith(MODULES)
    ),
    "text written on Jetson modules": lambda row: (
        _writes(row, True) and row.gpu.startswith(MODULES)
    ),
    "text served": lambda row: row.workload.task == "serve",
}


def _left_out(scheme: Scheme) -> AccuracyTable:
    rows = shipped_measured()
    judged = judge(rows, scheme)
    made = [summarise(judged, "all", len(rows))]
    made += [
        row for row in errors_by(judged, rows, SPEED_FIELDS["stack"]) if row.covered >= LEAST_GROUP
    ]
    if trained := [item for item in judged if item.row.metric == "time_to_train_min"]:
        made.append(summarise(trained, "time to train (MLPerf)", len(trained)))
    for name, belongs in TEXTS.items():
        texts = [item for item in judged if belongs(item.row)]
        made.append(summarise(texts, name, len(texts)))
    said, shares = _order_and_scaling(judged)
    note = f"Left out of each prediction: {LEFT_OUT[scheme]}. {said} {FITTED_IN_VIEW}"
    return AccuracyTable(
        judged=f"{scheme} left out",
        title=f"Speed, left out: {scheme}",
        note=note,
        rows=tuple(made),
        shares=shares,
        cases=_speed_cases(judged),
    )


def _order_and_scaling(judged: Sequence[Judged]) -> tuple[str, dict[str, float]]:
    order, points = ranking(judged), scaling(judged)
    shares = {"right order": order.right / max(1, order.pairs), "scaling": points.mean}
    return (
        (
            f"{order.pairs} pairs of GPUs differ by more than 10 % on the same job;"
            f" {100 * shares['right order']:.1f} % of them come out in the right order. The scaling"
            f" efficiency over 2 to 16 GPUs is {100 * points.mean:.1f} points off in the mean"
            f" ({points.rows} rows)."
        ),
        shares,
    )


def _repeated() -> AccuracyTable:
    """How far measurements of one job by several sources lie apart."""
    placed, made, notes = shipped_evidence().placed, [], []
    shares: dict[str, float] = {}
    for name, alike in (
        ("the same job", same_job),
        ("the same network, stack and GPU", same_network),
    ):
        judged = median_of_others(placed, alike)
        said, told = _order_and_scaling(judged)
        made.append(msgspec.structs.replace(summarise(judged, name, len(judged)), inside=None))
        notes.append(f"Of {name}: {said}")
        shares |= {f"{figure} of {name}": share for figure, share in told.items()}
    note = (
        "No prediction: what other published sources measured stands in its place, of the same job"
        " (stack, network, precision, GPUs, link, batch, lengths), or of the same network with any"
        f" batch and number of GPUs, carried over by the model. {' '.join(notes)} Errors of this"
        " size are the measurements' own."
    )
    title = "Speed: what another measurement says"
    return AccuracyTable(
        judged="another measurement", title=title, note=note, rows=tuple(made), shares=shares
    )


class RefittedRow(msgspec.Struct, frozen=True):
    """Errors of a group of rows whose constants were fitted without them
    (catalog/benchmarks/refitted.json)."""

    scheme: str
    group: str
    rows: int
    median: float
    mean: float
    p90: float
    inside: float


REFITTED_WIDTHS = {
    "GPU": "Half-widths are those that ship times what four of five rows of the other folds needed,"
    " for each level of novelty (split conformal).",
    "source": "Intervals are those of an earlier day, whose widths had seen the rows.",
}
"""What the intervals of the table are, by scheme."""


def _refitted(scheme: str) -> AccuracyTable:
    """The table of a scheme whose constants were fitted anew without the rows that they are judged
    on (tools/speed_refitted.py)."""
    path = data_path("catalog") / "benchmarks" / "refitted.json"
    told: Iterable[RefittedRow] = read_json(path.read_bytes(), list[RefittedRow])
    rows = tuple(
        Errors(
            group=row.group,
            cases=row.rows,
            covered=row.rows,
            median=row.median,
            mean=row.mean,
            p90=row.p90,
            inside=row.inside,
        )
        for row in told
        if row.scheme == scheme
    )
    note = (
        f"Left out of each prediction: {LEFT_OUT[scheme]}. The {scheme}s were dealt into three"
        " folds, and the multipliers of the physics were fitted anew without a fold's rows, from a"
        " start that knew no row, before these were predicted (tools/speed_refitted.py)."
        " Covariances are those that ship, for which every row was in view."
        f" {REFITTED_WIDTHS[scheme]}"
    )
    title = f"Speed, left out: {scheme}, constants refitted without it"
    return AccuracyTable(judged=f"{scheme} left out, refitted", title=title, note=note, rows=rows)
