"""Memory: modules, size, channels, speed, ECC."""

import re
from collections.abc import Iterator

from rigplanner.asbuilt.checks.line import Line, Verdict, View
from rigplanner.asbuilt.seen import SeenMemory, SeenModule, of_kind

CHANNEL = re.compile(r"channel[ _-]?([a-z0-9]+)", re.IGNORECASE)
NODE = re.compile(r"\b(?:P|CPU|PROC|NODE) ?(\d+)", re.IGNORECASE)
SAME_SPEED = 0.99
"""Share of a speed down to which it counts as the same: 2,133 and 2,134 MT/s name one setting."""
KERNEL_LEAST = 0.9
"""Share of the installed memory that the kernel counts at least (the rest is its own and the
firmware's; machines with graphics in the CPU keep more)."""


def memory(view: View) -> Iterator[Line]:
    """Yield the lines of memory modules."""
    fitted = [module for module in of_kind(view.facts, SeenModule) if module.gib]
    if fitted:
        yield from _modules(view, fitted)
        yield from _channels(view, fitted)
        yield from _speed(view, fitted)
        yield from _ecc(view, fitted)
        return
    total = next((memory.mib / 1024 for memory in of_kind(view.facts, SeenMemory)), None)
    wanted = view.promise.memory_gib
    if wanted and total is not None:
        kept = total >= KERNEL_LEAST * wanted
        yield Line(
            code="memory-size",
            group="memory",
            verdict="kept" if kept else "broken",
            promised=wanted,
            seen=round(total, 1),
            unit="GiB",
            cause="" if kept else "module-missing",
        )


def _modules(view: View, fitted: list[SeenModule]) -> Iterator[Line]:
    wanted, count = view.promise.modules, len(fitted)
    total = sum(module.gib or 0.0 for module in fitted)
    if view.promise.memory_gib:
        short = total < view.promise.memory_gib
        yield Line(
            code="memory-size",
            group="memory",
            verdict="broken" if short else "kept",
            promised=view.promise.memory_gib,
            seen=total,
            unit="GiB",
            cause="module-missing" if short else "",
        )
    if wanted:
        verdict: Verdict = "kept" if count == wanted else "remark"
        yield Line(
            code="modules",
            group="memory",
            verdict="broken"
            if count < wanted and total < (view.promise.memory_gib or 0)
            else verdict,
            promised=wanted,
            seen=count,
            unit="modules",
            cause=""
            if count == wanted
            else "module-missing"
            if count < wanted
            else "other-modules",
        )


def _channels(view: View, fitted: list[SeenModule]) -> Iterator[Line]:
    wanted = view.promise.channels
    found = [_channel_of(module) for module in fitted]
    if wanted is None or None in found:
        return
    used = len(set(found))
    yield Line(
        code="channels",
        group="memory",
        verdict="kept" if used >= wanted else "broken",
        promised=wanted,
        seen=used,
        unit="channels",
        cause="" if used >= wanted else "channel-empty",
    )


def _channel_of(module: SeenModule) -> tuple[str, str] | None:
    text = f"{module.bank} {module.place}"
    channel, node = CHANNEL.search(text), NODE.search(text)
    return (node[1] if node else "", channel[1].upper()) if channel else None


def _speed(view: View, fitted: list[SeenModule]) -> Iterator[Line]:
    """Compare the slowest module's speed. Where the running speed is not shown, what the module's
    own table says bounds it only while no profile is set: that is worth a remark."""
    wanted, least = view.promise.memory_mts, view.promise.memory_least_mts
    running = [module.running_mts for module in fitted if module.running_mts]
    rated = [module.rated_mts for module in fitted if module.rated_mts]
    if wanted is None or not (running or rated):
        return
    slowest = min(running) if running else min(rated)
    kept = slowest >= SAME_SPEED * wanted
    official = least is not None and least < wanted and slowest >= SAME_SPEED * least
    verdict: Verdict = "kept" if kept else "remark" if official or not running else "broken"
    plain = least is not None and wanted <= least
    slow_labels = plain and bool(rated) and max(rated) < SAME_SPEED * wanted
    yield Line(
        code="memory-speed",
        group="memory",
        verdict=verdict,
        promised=wanted,
        seen=slowest,
        unit="MT/s",
        cause="" if kept else "memory-label" if slow_labels else "memory-profile",
        values={"rated": max(rated) if rated else None},
    )


def _ecc(view: View, fitted: list[SeenModule]) -> Iterator[Line]:
    seen = [module.ecc for module in fitted]
    if view.promise.ecc is not True or None in seen:
        return
    yield Line(
        code="memory-ecc",
        group="memory",
        verdict="kept" if all(seen) else "broken",
        promised="on",
        seen="on" if all(seen) else "off",
        cause="" if all(seen) else "other-modules",
    )
