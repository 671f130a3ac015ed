"""A row of `make bench`: what is measured, in which unit, against which target, and beside what the
machine does meanwhile."""

import gc
import statistics
import time
from collections.abc import Callable
from typing import NamedTuple

SECONDS = {"ms": 0.001, "s": 1.0}


class Figure(NamedTuple):
    """What `measure` returns in `unit` ("ms", "s", "/s", "x", "MiB"), with a note where one is due;
    `target` is the most, of a rate the least, that it should be. The engine is timed by the
    processor's time, the window by the `clock`, as a person waits."""

    name: str
    measure: Callable[[], float | tuple[float, str]]
    unit: str
    target: float | None = None
    clock: Callable[[], float] = time.process_time


def pace_s(clock: Callable[[], float]) -> float:
    """Return the seconds that this machine takes just now for a million additions in Python: the
    unit in which times are told."""
    times = []
    for _ in range(2):
        start = clock()
        sum(number for number in range(1_000_000))
        times.append(clock() - start)
    return min(times)


def row_of(figure: Figure) -> str:
    """Measure a figure; return its row: the measured value, the same in paces, the target and
    whether it is met."""
    before = pace_s(figure.clock)
    measured = figure.measure()
    value, note = measured if isinstance(measured, tuple) else (measured, "")
    pace = (before + pace_s(figure.clock)) / 2
    told = f"{_digits(value)} {figure.unit}" + (f" {note}" if note else "")
    target = "" if figure.target is None else f"{_digits(figure.target)} {figure.unit}"
    met = "" if figure.target is None or _is_met(figure, value) else "missed"
    return (
        f"{figure.name:60} {told:>18} {_in_paces(value, figure.unit, pace):>16}  {target:>10} "
        f" {met}".rstrip()
    )


def _is_met(figure: Figure, value: float) -> bool:
    target = figure.target or 0.0
    return value >= target if figure.unit == "/s" else value <= target


def _in_paces(value: float, unit: str, pace: float) -> str:
    if unit == "/s":
        return f"{value * pace:.0f} a pace"
    return f"{value * SECONDS[unit] / pace:.3g} paces" if unit in SECONDS else ""


def _digits(value: float) -> str:
    return (
        f"{value:,.0f}".replace(",", " ") if value >= 100 or value == int(value) else f"{value:.3g}"
    )


def seconds(work: Callable[[], object], runs: int = 7) -> float:
    """Return the median of the processor's time for some work."""
    times = []
    for _ in range(runs):
        gc.collect()
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return statistics.median(times)
