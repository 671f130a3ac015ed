"""Health: errors in the kernel's log, ECC, heat, throttling, drives, and burn-in programs'
verdicts."""

from collections.abc import Iterator
from functools import cache

from msgspec import Struct

from rigplanner.asbuilt.checks.line import Line, Verdict, View
from rigplanner.asbuilt.promise import PromisedCard
from rigplanner.asbuilt.seen import (
    EventKind,
    SeenDrive,
    SeenEvent,
    SeenGpu,
    SeenHeat,
    SeenPort,
    SeenTest,
    of_kind,
)
from rigplanner.data import data_path
from rigplanner.decoding import read_json

WORN_PERCENT = 5.0
"""Wear above which a drive was not new: a drive writes its own rating once before it shows one per
cent; burn-in writes far less."""
WORN_HOURS = 500
BUSY_PERCENT = 50.0
"""Use of a GPU above which its clock is that of its load."""
CLOCK_LEAST = 0.97
"""Share of the base clock that counts as the same: clocks step by 15 MHz."""
EVENTS: dict[EventKind, tuple[str, Verdict, str]] = {
    "off-bus": ("off-bus", "broken", "off-bus"),
    "aer-uncorrected": ("link-errors", "broken", "signal"),
    "aer-corrected": ("link-errors", "remark", "signal"),
    "cpu-throttled": ("cpu-heat", "broken", "heat"),
    "machine-check": ("machine-check", "broken", "machine-check"),
    "drive-timeout": ("drive-timeout", "broken", "drive-timeout"),
}
THROTTLES: dict[str, tuple[Verdict, str]] = {
    "heat": ("broken", "heat"),
    "heat-soft": ("broken", "heat"),
    "power-brake": ("broken", "power-brake"),
    "hardware": ("broken", "hardware-slowdown"),
}
"""What slows a GPU down that is not its own power limit."""


class Xid(Struct, frozen=True, forbid_unknown_fields=True):
    """What NVIDIA says of an error number: whose fault it may be, and what to do."""

    kind: str
    step: str


class Xids(Struct, frozen=True, forbid_unknown_fields=True):
    """The table of error numbers, and where it was read."""

    sources: dict[str, str]
    xids: dict[str, Xid]


@cache
def shipped_xids() -> dict[str, Xid]:
    """Return NVIDIA's error numbers as shipped."""
    path = data_path("resources") / "acceptance" / "xid.json"
    return read_json(path.read_bytes(), Xids).xids


def health(view: View) -> Iterator[Line]:
    """Yield the lines of health."""
    yield from _events(view)
    pairs = (*view.gpus, *view.displays)
    for pair in pairs:
        if pair.card is not None and pair.card.gpu is not None:
            yield from gpu_health(pair.card.gpu, pair.promised.piece)
            yield from _clock(pair.card.gpu, pair.promised)
    paired = {pair.card.address for pair in pairs if pair.card is not None}
    for gpu in of_kind(view.facts, SeenGpu):
        if gpu.address not in paired:
            yield from gpu_health(gpu, gpu.name)
    yield from _heat(view)
    yield from _drives(view)
    yield from _tests(view)
    yield from _ports(view)


def _events(view: View) -> Iterator[Line]:
    for event in of_kind(view.facts, SeenEvent):
        if event.kind == "xid":
            known = shipped_xids().get(str(event.code))
            software = known is not None and known.kind == "software"
            yield Line(
                code="xid",
                group="health",
                verdict="remark" if software else "broken",
                where=event.address,
                seen=event.code,
                cause=f"xid-{known.step}" if known else "xid-unknown",
                values={"count": event.count},
            )
        elif event.kind in EVENTS:
            code, verdict, cause = EVENTS[event.kind]
            yield Line(
                code=code,
                group="links" if code == "link-errors" else "health",
                verdict=verdict,
                where=event.address,
                seen=event.count,
                unit="lines",
                cause=cause,
            )


def gpu_health(gpu: SeenGpu, subject: str) -> Iterator[Line]:
    """Yield what a GPU's own counters say."""
    found: list[tuple[str, Verdict, str, float | str | None]] = []
    if gpu.uncorrected:
        found.append(("gpu-ecc", "broken", "gpu-memory", gpu.uncorrected))
    if gpu.remap_pending:
        found.append(("gpu-rows", "broken", "rows-pending", "pending"))
    if gpu.remap_failed:
        found.append(("gpu-rows", "broken", "rows-failed", "failed"))
    for reason in gpu.throttled:
        if reason in THROTTLES:
            verdict, cause = THROTTLES[reason]
            found.append(("gpu-throttled", verdict, cause, reason))
    if gpu.mig:
        found.append(("mig", "remark", "mig", "on"))
    for code, verdict, cause, seen in found:
        yield Line(
            code=code,
            group="health",
            verdict=verdict,
            subject=subject,
            where=gpu.address,
            seen=seen,
            cause=cause,
        )
    too_hot = gpu.temperature_c and gpu.slowdown_c and gpu.temperature_c >= gpu.slowdown_c > 50
    if too_hot:
        yield Line(
            code="gpu-heat",
            group="health",
            verdict="broken",
            subject=subject,
            where=gpu.address,
            promised=gpu.slowdown_c,
            seen=gpu.temperature_c,
            unit="°C",
            cause="heat",
        )


def _clock(gpu: SeenGpu, wanted: PromisedCard) -> Iterator[Line]:
    """Compare the clock of a busy GPU with the one that its maker guarantees. A planned power cap
    may take it lower, and so may the card's own limit."""
    busy = (gpu.busy_percent or 0.0) >= BUSY_PERCENT
    if not busy or gpu.clock_mhz is None or wanted.base_mhz is None:
        return
    slow = gpu.clock_mhz < CLOCK_LEAST * wanted.base_mhz
    limited = wanted.capped or "power-cap" in gpu.throttled
    yield Line(
        code="gpu-clock",
        group="health",
        verdict="kept" if not slow else "remark" if limited else "broken",
        subject=wanted.piece or wanted.name,
        where=gpu.address,
        promised=wanted.base_mhz,
        seen=gpu.clock_mhz,
        unit="MHz",
        cause="" if not slow else "power-bound" if limited else "heat",
    )


def _heat(view: View) -> Iterator[Line]:
    for heat in of_kind(view.facts, SeenHeat):
        if heat.limit_c is not None and heat.limit_c > 40 and heat.celsius >= heat.limit_c:
            yield Line(
                code="sensor-heat",
                group="health",
                verdict="remark",
                subject=f"{heat.chip} {heat.label}",
                promised=heat.limit_c,
                seen=heat.celsius,
                unit="°C",
                cause="heat",
            )


def _drives(view: View) -> Iterator[Line]:
    for drive in of_kind(view.facts, SeenDrive):
        name = drive.model or drive.device
        if drive.passed is False or drive.media_errors:
            yield Line(
                code="drive-health",
                group="drives",
                verdict="broken" if drive.passed is False else "remark",
                subject=name,
                seen=drive.media_errors if drive.passed is not False else "failed",
                cause="drive-health",
            )
        worn = (drive.worn_percent or 0) > WORN_PERCENT or (drive.hours or 0) > WORN_HOURS
        if worn:
            yield Line(
                code="drive-used",
                group="drives",
                verdict="remark",
                subject=name,
                seen=drive.worn_percent,
                unit="%",
                cause="drive-used",
                values={"hours": drive.hours},
            )


def _tests(view: View) -> Iterator[Line]:
    for test in of_kind(view.facts, SeenTest):
        yield Line(
            code="burn-in",
            group="health",
            verdict="kept" if test.passed else "broken",
            subject=test.subject,
            seen=test.program,
            cause="" if test.passed else "burn-in",
        )


def _ports(view: View) -> Iterator[Line]:
    """Compare network ports by rate, fastest first: a slow one may wait for the other end."""
    wanted = sorted([port.gbps or 0.0 for port in view.promise.ports], reverse=True)
    rates = {port.device: port for port in of_kind(view.facts, SeenPort) if port.gbps}
    seen = sorted([port.gbps or 0.0 for port in rates.values()], reverse=True)
    if not wanted or not seen:
        return
    for number, rate in enumerate(wanted):
        got = seen[number] if number < len(seen) else None
        kept = got is not None and got >= rate
        yield Line(
            code="port-rate",
            group="network",
            verdict="kept" if kept else "unseen" if got is None else "remark",
            subject=view.promise.ports[number].name,
            promised=rate,
            seen=got,
            unit="Gbit/s",
            cause="" if kept or got is None else "other-end",
        )
