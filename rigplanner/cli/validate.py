"""`rigplanner validate`: predictions against measured cases."""

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from rigplanner.catalog.parts import GPU
from rigplanner.cli.faults import FINE, InputFault
from rigplanner.cli.written import written
from rigplanner.report.accuracy import AccuracyRow, AccuracyTable, as_markdown, as_text
from rigplanner.report.exchange_table import exchange_table, sizes_table
from rigplanner.whole_file import read_within
from rigplanner.workload.accuracy import ErrorRow

LARGEST_FILE_BYTES = 256 * 2**20
LEAST_GROUP = 5
"""Groups of fewer cases are not printed on their own."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.add_argument(
        "cases", nargs="*", type=Path, metavar="CASES.jsonl", help="measured cases; without any the shipped rows are judged"
    )
    parser.add_argument(
        "--keep", action="store_true", help="keep the files of speeds: their rows become anchors of your predictions"
    )
    parser.add_argument("--write", type=Path, metavar="FILE.md", help="write the tables as Markdown too")


def run(args: argparse.Namespace) -> int:
    """Print the error tables."""
    tables = [table for path in args.cases for table in _of_file(path)] if args.cases else []
    if not args.cases or args.write:
        tables += _shipped()
    if not tables:
        raise InputFault("no measured case found: a memory case has 'value_gib', a speed case 'metric' and 'value'.")
    print(as_text(tables), end="")
    if args.keep:
        _keep(args.cases)
    if args.write:
        written(args.write, as_markdown(tables).encode())
    return FINE


def _keep(paths: Sequence[Path]) -> None:
    from rigplanner.performance.own import keep
    from rigplanner.workload.answer import WorkloadFault

    for path in paths:
        try:
            print(f"Kept: {keep(path)}", file=sys.stderr)
        except (WorkloadFault, OSError) as fault:
            raise InputFault(str(fault)) from fault


def _of_file(path: Path) -> Iterator[AccuracyTable]:
    try:
        lines = read_within(path, LARGEST_FILE_BYTES).splitlines()
    except OSError as fault:
        raise InputFault(f"{path}: cannot be read ({fault.strerror or fault}).") from fault
    measured = [line for line in lines if line.strip()]
    kinds = {_kind_of(line, path, number) for number, line in enumerate(lines, 1) if line.strip()}
    if len(kinds) > 1:
        raise InputFault(f"{path}: holds {' and '.join(sorted(kinds))} cases; put them into two files.")
    if kinds == {"memory"}:
        yield from _memory(measured, path.name)
    elif kinds == {"traced"}:
        yield _traced(measured, path.name)
    elif kinds:
        yield from _speed_of_file(path, measured)


def _kind_of(line: bytes, path: Path, number: int) -> str:
    try:
        raw: Any = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError) as fault:
        raise InputFault(f"{path} line {number}: not JSON ({fault}).") from fault
    if isinstance(raw, dict) and "value_gib" in raw:
        return "memory"
    spec = raw.get("spec") if isinstance(raw, dict) else None
    if isinstance(spec, dict) and isinstance(spec.get("config"), dict) and "peak_bytes" in raw:
        return "traced"
    if isinstance(raw, dict) and "metric" in raw and "value" in raw:
        return "speed"
    raise InputFault(f"{path} line {number}: expected a measured case with 'value_gib', or with 'metric' and 'value'.")


def _memory(lines: list[bytes], name: str) -> Iterator[AccuracyTable]:
    from rigplanner.catalog.zoo import shipped_zoo
    from rigplanner.workload.accuracy import compare, compare_first, error_table
    from rigplanner.workload.left_out import held_out

    fields, zoo = ("task", "kind", "stack", "source", "model"), shipped_zoo()
    if first := compare_first(lines):
        note = (
            "The same cases as they were predicted before anyone had looked at their sources: no constant, no interval and no "
            "choice of a stack knew them. What one round of sources taught was mended before the next was looked at, and that of "
            "the last since, so the next tables flatter; expect errors of the last round's size from a new source."
        )
        rows = _memory_rows(error_table(first, ("round", "task", "kind", "stack", "source")))
        yield AccuracyTable(title=f"Memory, published figures at first sight: {name}", note=note, rows=rows)
    note = (
        "GiB per GPU against the counter that each source names, with the constants as shipped. Live tensors are computed; what "
        "allocators and libraries hold beyond them (a few numbers each for training, inference and the making of images) and the "
        "intervals are fitted to all of these sources, so this table flatters."
    )
    rows = _memory_rows(error_table(compare(lines, _gpu_or_none, zoo), fields))
    yield AccuracyTable(title=f"Memory, published figures: {name}", note=note, rows=rows)
    note = (
        "The same cases, each predicted without its source: the constants and the intervals are fitted to the other sources, and "
        "constants that a stack has from its own measurements are dropped. Expect errors of this size on a source nobody has seen."
    )
    rows = _memory_rows(error_table(held_out(lines, _gpu_or_none, zoo), fields))
    yield AccuracyTable(title=f"Memory, published figures, each source held out: {name}", note=note, rows=rows)


def _traced(lines: list[bytes], name: str) -> AccuracyTable:
    from rigplanner.catalog.zoo import shipped_zoo
    from rigplanner.workload.accuracy import compare_traced, error_table

    rows = _memory_rows(error_table(compare_traced(lines, shipped_zoo()), ("source", "task", "model")))
    note = (
        "Peak of live tensors of one step against PyTorch's own count (MemTracker under FakeTensorMode, no GPU). The walks have no "
        "fitted constants. `held out` traces were set aside while the walks were written; of those of the older file some have led "
        "to corrections since, those of random shapes came last and have led to none."
    )
    return AccuracyTable(title=f"Memory, traced steps: {name}", note=note, rows=rows)


def _memory_rows(rows: Sequence[ErrorRow]) -> tuple[AccuracyRow, ...]:
    return tuple(
        AccuracyRow(group="all" if row.field == "all" else f"{row.field}: {row.name}", cases=row.cases, covered=row.covered,
                    median=row.median, mean=row.mean, p90=row.p90, bias=row.bias, inside=row.inside)
        for row in rows
        if row.field == "all" or row.cases >= LEAST_GROUP
    )  # fmt: skip


def _gpu_or_none(name: str) -> GPU | None:
    from rigplanner.performance.anchors import find_gpu
    from rigplanner.workload.answer import WorkloadFault

    try:
        return find_gpu(name)
    except WorkloadFault:
        return None


def _speed_of_file(path: Path, lines: list[bytes]) -> Iterator[AccuracyTable]:
    from rigplanner.performance.accuracy import anchored_since, at_first_sight, judge
    from rigplanner.performance.own import read_own
    from rigplanner.workload.answer import WorkloadFault

    try:
        rows = read_own(path)
    except WorkloadFault as fault:
        raise InputFault(str(fault)) from fault
    note = "Each row is predicted without the shipped row of the same id; suspect rows are left out."
    if path.suffix == ".jsonl" and (first := at_first_sight(rows, lines)):
        told = (
            "What was predicted before anyone had looked at these sources. What they taught has since been mended in the physics, "
            "so the next table flatters; expect errors of this size from a new kind of source."
        )
        yield AccuracyTable(title=f"Speed at first sight: {path.name}", note=told, rows=_speed_groups(first, rows))
        since = anchored_since(lines)
        rows = [row for row in rows if row.id not in since]
        note += f" {len(since)} rows of whole sources became anchors since and are not judged here." if since else ""
    yield AccuracyTable(title=f"Speed: {path.name}", note=note, rows=_speed_groups(judge(rows, "row"), rows))


def _speed_groups(judged: Sequence[Any], rows: Sequence[Any]) -> tuple[AccuracyRow, ...]:
    """Errors of all rows, by stack, by source and by GPU."""
    from rigplanner.performance.accuracy import summarise

    made = []
    for field, of in SPEED_FIELDS.items():
        asked, groups = Counter(map(of, rows)), defaultdict[str, list[Any]](list)
        for item in judged:
            groups[of(item.row)].append(item)
        for name, count in sorted(asked.items(), key=lambda pair: (-pair[1], pair[0])):
            title, members = f"{field}: {name}" if field else name, groups.get(name, [])
            if not field or len(members) >= LEAST_GROUP:
                found = _speed_row(summarise(members, "", title, count)) if members else None
                made.append(found or AccuracyRow(group=title, cases=count, covered=0))
    return tuple(made)


SPEED_FIELDS: dict[str, Callable[[Any], str]] = {
    "": lambda row: "all",
    "stack": lambda row: row.workload.stack or "-",
    "source": lambda row: "/".join(row.source.split("/")[:2]),
    "gpu": lambda row: row.gpu,
}


def _speed_row(row: Any) -> AccuracyRow:
    return AccuracyRow(
        group=row.group, cases=row.rows, covered=row.covered, median=row.median, mean=row.mean, p90=row.p90, inside=row.inside
    )


FITTED_IN_VIEW = (
    "The multipliers of the physics were fitted with all rows of their day in view, so only anchors are left out here; "
    "the covariances were fitted twice, to rows whose GPU, source, network or stack was left out, of either half of these, and "
    "averaged."
)
LEFT_OUT = {
    "row": "nothing but the row itself",
    "network on GPU": "all rows of the same network on the same GPU",
    "GPU": "all rows of the same GPU",
    "generation": "all rows of the same GPU generation",
    "source": "all rows of the same source",
    "network": "all rows of the same network, on all GPUs and stacks",
    "stack": "all rows of the same stack of software",
}


def _shipped() -> list[AccuracyTable]:
    from rigplanner.performance.accuracy import SCHEMES, judge, summarise
    from rigplanner.performance.measured import shipped_measured

    rows, tables = shipped_measured(), [_repeated()]
    for scheme in SCHEMES:
        judged = judge(rows, scheme)
        groups = {"all": judged}
        for item in judged:
            groups.setdefault(item.row.workload.stack or "-", []).append(item)
        asked = {name: len(rows) if name == "all" else sum((row.workload.stack or "-") == name for row in rows) for name in groups}
        named = sorted(groups.items(), key=lambda pair: (pair[0] != "all", -len(pair[1]), pair[0]))
        made = tuple(
            _speed_row(summarise(members, scheme, name, asked[name])) for name, members in named if len(members) >= LEAST_GROUP
        )
        trained = [item for item in judged if item.row.metric == "time_to_train_min"]
        if trained:
            made += (_speed_row(summarise(trained, scheme, "time to train (MLPerf)", len(trained))),)
        note = f"Left out of each prediction: {LEFT_OUT[scheme]}. {_order_and_scaling(judged, scheme)} {FITTED_IN_VIEW}"
        tables.append(AccuracyTable(title=f"Speed, left out: {scheme}", note=note, rows=made))
    return [*tables, *(_refitted(scheme) for scheme in ("GPU", "source")), exchange_table(), sizes_table()]


def _order_and_scaling(judged: Sequence[Any], left_out: str) -> str:
    from rigplanner.performance.accuracy import ranking, scaling

    order, points = ranking(judged, left_out), scaling(judged, left_out)
    share = 100 * order.right / max(1, order.pairs)
    return (
        f"{order.pairs} pairs of GPUs differ by more than 10 % on the same job; {share:.1f} % of them come out in the right order. "
        f"The scaling efficiency over 2 to 16 GPUs is {100 * points.mean:.1f} points off in the mean ({points.rows} rows)."
    )


def _repeated() -> AccuracyTable:
    """How far measurements of one job by several sources lie apart."""
    from rigplanner.performance.accuracy import summarise
    from rigplanner.performance.anchors import shipped_evidence
    from rigplanner.performance.repeated import same_job, same_network, told_by_others

    placed, made, notes = shipped_evidence().placed, [], []
    for name, alike in (("the same job", same_job), ("the same network, stack and GPU", same_network)):
        judged = told_by_others(placed, alike)
        row = summarise(judged, "", name, len(judged))
        made.append(AccuracyRow(group=name, cases=row.rows, covered=row.covered, median=row.median, mean=row.mean, p90=row.p90))
        notes.append(f"Of {name}: {_order_and_scaling(judged, name)}")
    note = (
        "No prediction: what other published sources measured stands in its place, of the same job (stack, network, precision, "
        "GPUs, link, batch, lengths), or of the same network with any batch and number of GPUs, carried over by the model. "
        f"{' '.join(notes)} Errors of this size are the measurements' own."
    )
    return AccuracyTable(title="Speed: what another measurement says", note=note, rows=tuple(made))


def _refitted(scheme: str) -> AccuracyTable:
    """The table of a scheme whose constants were fitted anew without the rows that they are judged on (tools/speed_refitted.py)."""
    from rigplanner.data import data_path

    read = msgspec.json.decode((data_path("catalog") / "benchmarks" / "refitted.json").read_bytes())
    rows = tuple(
        AccuracyRow(group=row["group"], cases=row["rows"], covered=row["rows"], median=row["median"], mean=row["mean"],
                    p90=row["p90"], inside=row["inside"])
        for row in read
        if row["scheme"] == scheme
    )  # fmt: skip
    note = (
        f"Left out of each prediction: {LEFT_OUT[scheme]}. The {scheme}s were dealt into three folds, and the multipliers of the "
        f"physics were fitted anew without a fold's rows, from a start that knew no row, before these were predicted "
        f"(tools/speed_refitted.py). Covariances and widths of intervals are those that ship, for which every row was in view."
    )
    return AccuracyTable(title=f"Speed, left out: {scheme}, constants refitted without it", note=note, rows=rows)
