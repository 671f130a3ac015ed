"""A comparison in words: as CSV, Markdown or JSON."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from rigplanner.planning.compare import CompareRow, Value, differences
from rigplanner.report import format as fmt
from rigplanner.report.language import THIN, Words, listed, tr
from rigplanner.report.spreadsheet import csv_of
from rigplanner.report.words.fields import FIELD_WORDS
from rigplanner.report.words.hire import machine_text
from rigplanner.report.words.speed import BOUND_WORDS
from rigplanner.report.words.workloads import LIFT_WORDS, title_of

if TYPE_CHECKING:
    import pandas as pd

ATTRIBUTE_WORDS = Words(
    {
        "verdict": "Verdict",
        "errors": "Errors",
        "warnings": "Warnings",
        "unknown": "Unknown",
        "unverified": "Figures not verified",
        "chosen_motherboard": "Motherboard",
        "chosen_system": "System",
        "chosen_memory": "Memory",
        "chosen_storage": "Drives, by name",
        "chosen_psu": "Power supply",
        "chosen_chassis": "Case",
        "chosen_cooler": "Cooler",
        "chosen_bridge": "NVLink bridge",
        "chosen_riser": "Riser",
        "chosen_nic": "Network card",
        "chosen_accessory": "Accessories",
        "caps": "Power limit of the GPUs",
        "roles": "What the GPUs are for",
        "monitors": "Monitors",
        "circuit": "Wall circuit",
        "other_load": "Other devices on the circuit",
        "country": "Country",
        "hours": "Hours of use per day",
        "room": "Room temperature",
        "placement": "Slots",
        "firmware": "Firmware settings",
        "software": "Software versions",
        "peer_driver": "Driver with peer-to-peer",
        "raid0": "Drives in RAID 0",
        "discount": "Discount",
        "tax": "Tax",
        "price_each": "Price each",
        "job_settings": "Workload settings",
        "gpus": "GPUs",
        "cpus": "CPUs",
        "gpu_memory": "GPU memory, all cards",
        "gpu_bandwidth": "GPU bandwidth, all cards",
        "ram": "RAM",
        "drives": "Drives",
        "gpu_pairs": "GPU to GPU",
        "slowest_gpu_link": "Slowest GPU link",
        "nvlink_islands": "NVLink islands",
        "lanes_used": "CPU lanes used",
        "sustained": "Sustained load",
        "wall": "Drawn from the wall",
        "supply_load": "Supply load",
        "circuit_load": "Circuit load",
        "total": "Total",
        "energy_year": "Energy per year",
        "three_years": "Three years: price and energy, less resale",
        "fits": "Fits",
        "memory": "Memory per GPU",
        "speed": "Speed",
        "bound": "Limited by",
        "lift": "What would help",
        "speed_per_1000": "Speed per money",
        "speed_per_kw": "Speed per power",
        "own_hire": "Cheaper than the entered rent after",
        "hire": "Cheapest cloud instance",
        "hire_cost": "Same work rented, per hour",
        "hire_spot": "Same work at its spot price, per hour",
        "hire_after": "Cheaper than this cloud instance after",
    }
)

GROUP_WORDS = Words(
    {
        "verdict": "Verdict",
        "chosen": "What was chosen",
        "parts": "Parts",
        "machine": "Machine",
        "power": "Power",
        "money": "Money",
        "workloads": "Workloads",
    }
)
VERDICT_WORDS = Words(
    {
        "error": "does not work",
        "warning": "works with warnings",
        "unknown": "not known in full",
        "ok": "works",
    }
)
LEAST_BARS = 2
"""Known values below which a chart says nothing."""


class ComparisonCell(Struct, frozen=True):
    """A value in words, its interval ("" for what is not predicted) and its difference from the
    baseline ("" for none)."""

    value: str
    interval: str = ""
    delta: str = ""

    @property
    def text(self) -> str:
        """All in one line."""
        text = f"{self.value} ({self.interval})" if self.interval else self.value
        return f"{text}  {self.delta}" if self.delta else text


class ComparisonLine(Struct, frozen=True, kw_only=True):
    """One attribute: `subject` names the workload it concerns, `best` the rigs that are ahead,
    `known` those with a value."""

    title: str
    subject: str
    group: str
    cells: tuple[ComparisonCell, ...]
    best: tuple[int, ...]
    known: tuple[int, ...]


class Chart(Struct, frozen=True, kw_only=True):
    """Bars of one attribute (its `code`), one a rig, with their intervals; None where unknown."""

    code: str
    title: str
    subject: str
    unit: str
    values: tuple[float | None, ...]
    lows: tuple[float | None, ...]
    highs: tuple[float | None, ...]


class Comparison(Struct, frozen=True, kw_only=True):
    """Rigs side by side, in words and bars, and the rows that these were made of; `changes` says of
    each rig but the baseline in one sentence what differs and what that brings."""

    names: tuple[str, ...]
    lines: tuple[ComparisonLine, ...]
    charts: tuple[Chart, ...] = ()
    compared: tuple[CompareRow, ...] = ()
    changes: tuple[str, ...] = ()

    @property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """Rows of text that begin with what is compared."""
        heads = (
            f"{line.subject}: {line.title}" if line.subject else line.title for line in self.lines
        )
        return tuple(
            (head, *(cell.text for cell in line.cells))
            for head, line in zip(heads, self.lines, strict=True)
        )

    @property
    def better(self) -> tuple[tuple[int, ...], ...]:
        """For each row the rigs that are ahead."""
        return tuple(line.best for line in self.lines)


CHARTED = ("speed", "speed_per_1000", "speed_per_kw")


def comparison(
    names: Sequence[str], rows: Sequence[CompareRow], only_differences: bool = False
) -> Comparison:
    """Return a comparison in words. Only differences: what was chosen comes first, it is the cause
    of the rest."""
    shown = list(differences(rows) if only_differences else rows)
    lines = [
        ComparisonLine(
            title=ATTRIBUTE_WORDS[row.attribute.code],
            subject=subject_text(row),
            group=row.attribute.group,
            cells=tuple(_cell(row, n) for n in range(len(names))),
            best=row.best,
            known=tuple(n for n, value in enumerate(row.values) if value is not None),
        )
        for row in shown
    ]
    charts = (_chart(row) for row in shown if row.attribute.code in CHARTED)
    return Comparison(
        names=tuple(names),
        lines=tuple(lines),
        charts=tuple(chart for chart in charts if chart),
        compared=tuple(shown),
    )


def _chart(row: CompareRow) -> Chart | None:
    """Return the bars of speed per money or power; price and power are taken as known, so the
    interval is that of the speed."""
    values = tuple(value if isinstance(value, int | float) else None for value in row.values)
    if sum(value is not None for value in values) < LEAST_BARS:
        return None
    code = row.attribute.code
    return Chart(
        code=code,
        title=ATTRIBUTE_WORDS[code],
        subject=subject_text(row),
        unit=row.attribute.unit,
        values=values,
        lows=row.lows,
        highs=row.highs,
    )


def row_title(row: CompareRow) -> str:
    """Return what a row compares, with the workload it concerns."""
    word = ATTRIBUTE_WORDS[row.attribute.code]
    subject = subject_text(row)
    return f"{subject}: {word}" if subject else word


def subject_text(row: CompareRow) -> str:
    """Return the workload that a row speaks of, "" for none."""
    return title_of(row.workload) if row.workload is not None else row.subject


def _cell(row: CompareRow, n: int) -> ComparisonCell:
    text = row_text(row, n)
    known = bool(row.lows) and row.lows[n] is not None
    return ComparisonCell(
        text,
        fmt.interval(row.lows[n], row.highs[n]) if known else "",
        delta_text(row, n),
    )


def delta_text(row: CompareRow, n: int) -> str:
    """Return the difference from the baseline with its sign: in per cent, of counted things in
    numbers; "" for none."""
    delta = row.deltas[n]
    if not delta:
        return ""
    text = f"{delta:+.0f}" if row.attribute.counted else f"{100 * delta:+,.0f}{THIN}%"
    return text.replace("-", "\u2212")


FIT_WORDS = Words({"fits": "fits", "tight": "tight", "does not fit": "does not fit"})


def row_text(row: CompareRow, n: int) -> str:
    """Return the value of one rig in words; a total without all prices is a lower bound."""
    value = row.values[n]
    if row.attribute.code in ("verdict", "fits") and isinstance(value, str):
        return (VERDICT_WORDS if row.attribute.code == "verdict" else FIT_WORDS).get(value, value)
    if row.attribute.code == "bound" and isinstance(value, str):
        return BOUND_WORDS.get(value, value)
    if row.attribute.code == "lift" and isinstance(value, str):
        return LIFT_WORDS[value]
    if row.attribute.code == "hire" and isinstance(value, str):
        return machine_text(value)
    if row.attribute.code in ("hire_cost", "hire_spot") and isinstance(value, int | float):
        return listed([fmt.money(value, row.attribute.unit), fmt.day(row.days[n])])
    text = value_text(value, row.attribute.unit)
    if row.attribute.group == "chosen" and isinstance(value, str):
        text = _chosen_text(row.attribute.code, value)
    return tr("at least {value}", value=text) if n in row.partial and value is not None else text


def _chosen_text(code: str, value: str) -> str:
    """Return what was chosen in words: parts with their count, fields of a job by their names."""
    if code == "job_settings":
        pairs = (pair.partition("=") for pair in value.split(", "))
        named = (
            f"{tr(FIELD_WORDS.get(name, name.replace('_', ' ')))} {tr(told)}"
            for name, _, told in pairs
        )
        return ", ".join(named)
    return " + ".join(tr(each) for each in value.replace(" x ", " × ").split(" + "))


def names_apart(names: Sequence[str], hints: Sequence[str]) -> list[str]:
    """Return names that differ: where several are equal, each with its hint (the name of its file),
    else with its number."""
    made: list[str] = []
    for name, hint in zip(names, hints, strict=True):
        alike = sum(other.casefold() == name.casefold() for other in names) > 1
        told = f"{name} ({hint})" if alike and hint else name
        taken = {each.casefold() for each in made}
        numbered = (f"{told} ({n})" for n in range(2, len(names) + 2))
        made.append(next(each for each in (told, *numbered) if each.casefold() not in taken))
    return made


def value_text(value: Value, unit: str) -> str:
    """Return a value with its unit, or "unknown"."""
    if value is None:
        return tr("unknown")
    if isinstance(value, str):
        return tr(value)
    return (
        fmt.money(value, unit, whole=True) if fmt.is_currency(unit) else fmt.quantity(value, unit)
    )


def comparison_frame(names: Sequence[str], rows: Iterable[CompareRow]) -> "pd.DataFrame":
    """Return a comparison as a table: what is compared with its unit, then for each rig the value,
    the ends of its interval, the ISO day of the price it rests on and what else is to be said of
    it. Values that are numbers stay numbers; cells are None where nothing is known; columns that
    hold nothing for any rig are left out."""
    import pandas as pd

    compared = list(rows)
    columns: list[tuple[str, list[Any]]] = [
        (tr("Workload"), [subject_text(row) or None for row in compared]),
        (tr("What"), [ATTRIBUTE_WORDS[row.attribute.code] for row in compared]),
        (tr("Unit"), [row.attribute.unit or None for row in compared]),
    ]
    for n, name in enumerate(names):
        columns.append((name, [_number_or_words(row, n) for row in compared]))
        beside = (
            (tr("{name}, low", name=name), [row.lows[n] if row.lows else None for row in compared]),
            (
                tr("{name}, high", name=name),
                [row.highs[n] if row.highs else None for row in compared],
            ),
            (
                tr("{name}, dated", name=name),
                [(row.days[n] or None) if row.days else None for row in compared],
            ),
            (
                tr("{name}, note", name=name),
                [tr("at least") if n in row.partial else None for row in compared],
            ),
        )
        columns += [(head, cells) for head, cells in beside if any(c is not None for c in cells)]
    made = pd.concat([pd.Series(cells, dtype=object) for _, cells in columns], axis=1)
    made.columns = pd.Index([head for head, _ in columns])
    return made


def _number_or_words(row: CompareRow, n: int) -> Value:
    value = row.values[n]
    return value if isinstance(value, int | float) else row_text(row, n)


def csv_text(made: Comparison) -> str:
    """Return CSV: numbers with their unit, interval and ISO day in columns of their own."""
    return csv_of(comparison_frame(made.names, made.compared))


def markdown(made: Comparison) -> str:
    """Return a Markdown table with what is ahead in bold."""
    told = [line for change in made.changes for line in (_safe(change), "")]
    lines = [
        *told,
        "| | " + " | ".join(_safe(name) for name in made.names) + " |",
        "|" + " --- |" * (len(made.names) + 1),
    ]
    for row, best in zip(made.rows, made.better, strict=True):
        cells = [
            f"**{_safe(cell)}**" if n in best else _safe(cell) for n, cell in enumerate(row[1:])
        ]
        lines.append(f"| {_safe(row[0])} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _safe(text: str) -> str:
    return (
        " ".join(text.split())
        .replace("\\", "\\\\")
        .replace("|", "\\|")
        .replace("<", "\\<")
        .replace("*", "\\*")
    )


def json_text(made: Comparison) -> str:
    """Return the comparison as JSON."""
    told = msgspec.to_builtins(made)
    del told["compared"]
    return msgspec.json.format(msgspec.json.encode(told), indent=1).decode() + "\n"
