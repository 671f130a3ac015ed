"""Power limits, persistence and versions of software beside what was planned."""

from collections.abc import Iterator

from rigplanner.asbuilt.checks.line import Line, Pair, Verdict, View
from rigplanner.asbuilt.seen import SeenGpu, of_kind

SAME_POWER = 0.02
"""Share by which a power limit may differ from the planned one: drivers round to whole watts, and
makers' own cards differ by a few."""


def settings(view: View) -> Iterator[Line]:
    """Yield the lines of settings."""
    for pair in view.gpus:
        yield from _power(pair)
        yield from _persistence(pair)
    yield from _versions(view)


def _power(pair: Pair) -> Iterator[Line]:
    gpu = pair.card.gpu if pair.card else None
    wanted = pair.promised.cap_w
    if gpu is None or wanted is None or gpu.power_limit_w is None:
        return
    over = gpu.power_limit_w > wanted * (1 + SAME_POWER)
    under = gpu.power_limit_w < wanted * (1 - SAME_POWER)
    capped = pair.promised.capped
    verdict: Verdict = "kept"
    cause = ""
    if over:
        verdict, cause = ("broken", "cap-not-set") if capped else ("remark", "maker-limit")
    elif under:
        lowered = gpu.power_default_w is not None and gpu.power_limit_w < gpu.power_default_w
        verdict, cause = ("broken", "limit-lowered") if lowered else ("remark", "maker-limit")
    yield Line(
        code="power-limit",
        group="power",
        verdict=verdict,
        subject=pair.promised.piece or pair.promised.name,
        where=gpu.address,
        promised=wanted,
        seen=gpu.power_limit_w,
        unit="W",
        cause=cause,
        values={"index": gpu.index},
    )


def _persistence(pair: Pair) -> Iterator[Line]:
    gpu = pair.card.gpu if pair.card else None
    if gpu is not None and gpu.persistence is False and pair.promised.capped:
        yield Line(
            code="persistence",
            group="power",
            verdict="remark",
            subject=pair.promised.piece or pair.promised.name,
            where=gpu.address,
            promised="on",
            seen="off",
            cause="persistence",
        )


def _versions(view: View) -> Iterator[Line]:
    """Compare the driver with the planned one: an older branch lacks what the plan counts on."""
    wanted = view.promise.software.get("driver", "")
    seen = next((gpu.driver for gpu in of_kind(view.facts, SeenGpu) if gpu.driver), "")
    numbers = [_numbers(text) for text in (wanted, seen)]
    if not numbers[0] or not numbers[1]:
        return
    older = numbers[1][: len(numbers[0])] < numbers[0]
    yield Line(
        code="driver",
        group="software",
        verdict="broken" if older else "kept",
        promised=wanted,
        seen=seen,
        cause="driver-old" if older else "",
    )


def _numbers(text: str) -> tuple[int, ...]:
    head = text.split("-")[0].split()[0] if text.split() else ""
    words = head.split(".")
    return tuple(int(word) for word in words) if words and all(w.isdigit() for w in words) else ()
