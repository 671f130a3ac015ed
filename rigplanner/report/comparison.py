"""A comparison in words: as text table, CSV, Markdown or JSON."""

import csv
import io
from collections.abc import Callable, Sequence

import msgspec
from msgspec import Struct

from rigplanner.planning.compare import CompareRow, Value
from rigplanner.report import format as fmt
from rigplanner.report.words import tr

ATTRIBUTE_WORDS = {
    "verdict": "Verdict",
    "errors": "Errors",
    "warnings": "Warnings",
    "unknown": "Unknown",
    "gpus": "GPUs",
    "cpus": "CPUs",
    "gpu_memory": "GPU memory, all cards",
    "gpu_bandwidth": "GPU bandwidth, all cards",
    "slowest_gpu_link": "Slowest GPU link",
    "nvlink_islands": "NVLink islands",
    "lanes_used": "CPU lanes used",
    "sustained": "Sustained load",
    "wall": "Drawn from the wall",
    "supply_load": "Supply load",
    "circuit_load": "Circuit load",
    "total": "Total",
    "memory": "Memory per GPU",
    "speed": "Speed",
    "speed_per_1000": "Speed per money",
    "speed_per_kw": "Speed per power",
}


class Comparison(Struct, frozen=True, kw_only=True):
    """Column heads and rows of text; `rows` begin with the attribute's words; `better` holds per row the rigs that are ahead."""

    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    better: tuple[tuple[int, ...], ...]
    groups: tuple[str, ...]


def comparison(names: Sequence[str], rows: Sequence[CompareRow], only_differences: bool = False) -> Comparison:
    """Return a comparison in words."""
    shown = [row for row in rows if row.differs or not only_differences]
    return Comparison(
        names=tuple(names),
        rows=tuple((row_title(row), *(_cell(row, n) for n in range(len(names)))) for row in shown),
        better=tuple(row.best for row in shown),
        groups=tuple(row.attribute.group for row in shown),
    )


def row_title(row: CompareRow) -> str:
    """Return what a row compares, with the workload it concerns."""
    word = tr(ATTRIBUTE_WORDS[row.attribute.code])
    return f"{row.subject}: {word}" if row.subject else word


def _cell(row: CompareRow, n: int) -> str:
    text = value_text(row.values[n], row.attribute.unit)
    if row.lows and row.lows[n] is not None:
        text += f" ({fmt.interval(row.lows[n], row.highs[n])})"
    delta = row.deltas[n]
    return f"{text}  {100 * delta:+.0f}{fmt.THIN}%" if delta else text


def value_text(value: Value, unit: str) -> str:
    """Return a value with its unit, or "unknown"."""
    if value is None:
        return tr("unknown")
    return value if isinstance(value, str) else fmt.quantity(value, unit)


def table(made: Comparison) -> str:
    """Return columns of plain text; a star marks what is ahead."""
    lines = [("", *made.names)]
    for row, best in zip(made.rows, made.better, strict=True):
        lines.append((row[0], *(f"* {cell}" if n in best else f"  {cell}" for n, cell in enumerate(row[1:]))))
    widths = [max(len(line[n]) for line in lines) for n in range(len(made.names) + 1)]
    return (
        "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines) + "\n"
    )


def csv_text(made: Comparison) -> str:
    """Return CSV; cells that a spreadsheet would take for a formula are made text."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    for row in (("", *made.names), *made.rows):
        writer.writerow(["'" + cell if cell[:1] in ("=", "+", "-", "@") else cell for cell in row])
    return buffer.getvalue()


def markdown(made: Comparison) -> str:
    """Return a Markdown table with what is ahead in bold."""
    lines = ["| | " + " | ".join(_safe(name) for name in made.names) + " |", "|" + " --- |" * (len(made.names) + 1)]
    for row, best in zip(made.rows, made.better, strict=True):
        cells = [f"**{_safe(cell)}**" if n in best else _safe(cell) for n, cell in enumerate(row[1:])]
        lines.append(f"| {_safe(row[0])} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _safe(text: str) -> str:
    return " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|").replace("<", "\\<").replace("*", "\\*")


def json_text(made: Comparison) -> str:
    """Return the comparison as JSON."""
    return msgspec.json.format(msgspec.json.encode(made), indent=1).decode() + "\n"


FORMATS: dict[str, Callable[[Comparison], str]] = {"table": table, "csv": csv_text, "markdown": markdown, "json": json_text}
