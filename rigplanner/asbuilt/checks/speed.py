"""Speeds measured beside the predicted intervals."""

from collections.abc import Iterator

from rigplanner.asbuilt.checks.line import Line, Verdict, View
from rigplanner.asbuilt.promise import PromisedRate
from rigplanner.asbuilt.seen import SeenRate, of_kind

PROGRAMS = {"vllm": ("vllm",), "llama-bench": ("llama.cpp",)}
"""Which stacks of a plan a test program measures."""
METRICS = {"output-rate": "tokens/s", "generation-rate": "tokens/s"}


def speed(view: View) -> Iterator[Line]:
    """Yield one line for each figure that was both predicted and measured. Copies between pairs are
    told by the worst pair of each kind; a workload's rate only where one workload of the rig runs
    on that stack, for nothing else says which of them was measured."""
    rates = of_kind(view.facts, SeenRate)
    yield from _rings(view, rates)
    for metric in ("copy-peer", "copy-staged", "host-to-gpu", "drive-read"):
        yield from _worst(view, rates, metric)
    for rate in rates:
        yield from _job(view, rate)


def _rings(view: View, rates: tuple[SeenRate, ...]) -> Iterator[Line]:
    wanted = next((r for r in view.promise.rates if r.metric == "allreduce-busbw"), None)
    measured = [rate for rate in rates if rate.metric == "allreduce-busbw"]
    whole = [
        rate
        for rate in measured
        if rate.details.get("ranks", str(len(view.promise.gpus))) == str(len(view.promise.gpus))
    ]
    if wanted is not None and whole:
        yield _line(wanted, max(whole, key=lambda rate: rate.value))


def _worst(view: View, rates: tuple[SeenRate, ...], metric: str) -> Iterator[Line]:
    planned = {rate.gpus: rate for rate in view.promise.rates if rate.metric == metric}
    lines = [
        _line(planned[rate.gpus], rate)
        for rate in rates
        if rate.metric == metric and rate.gpus in planned
    ]
    if lines:
        yield min(lines, key=_share)


def _share(line: Line) -> float:
    low = line.low or 0.0
    return float(line.seen) / low if isinstance(line.seen, int | float) and low else 1.0


def _job(view: View, rate: SeenRate) -> Iterator[Line]:
    stacks = PROGRAMS.get(rate.program, ())
    unit = METRICS.get(rate.metric)
    jobs = [
        planned
        for planned in view.promise.rates
        if planned.job is not None and planned.program in stacks and planned.unit == unit
    ]
    if len(jobs) == 1:
        yield _line(jobs[0], rate)


def _line(wanted: PromisedRate, rate: SeenRate) -> Line:
    low = rate.value < wanted.low
    high = rate.value > wanted.high
    verdict: Verdict = "broken" if low else "kept"
    return Line(
        code=wanted.metric if wanted.job is None else "workload",
        group="speed",
        verdict=verdict,
        subject="-".join(f"gpu{index}" for index in rate.gpus)
        or ("" if wanted.job is None else f"workload.{wanted.job}"),
        where=rate.program,
        promised=wanted.value,
        seen=rate.value,
        unit=wanted.unit,
        low=wanted.low,
        high=wanted.high,
        cause=f"slow-{wanted.metric}" if low and wanted.job is None else "slow-job" if low else "",
        values={"above": high},
    )
