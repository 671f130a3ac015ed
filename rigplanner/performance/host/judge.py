"""Measured rows against the law: jobs of the rows, the fit of its constants, the errors with each
source held out. `tools/host_speed.py` prints them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence

import msgspec
import numpy as np
from msgspec import Struct

from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.performance.anchors.anchors import find_gpu
from rigplanner.performance.host.cards import card_rates
from rigplanner.performance.host.constants import HostConstants, HostRow, host_rows
from rigplanner.performance.host.hosts import Host, host_of_facts
from rigplanner.performance.host.law import CardRates, prompt_time, token_time
from rigplanner.performance.host.reads import Reads, reads_of
from rigplanner.rig.workload import Workload
from rigplanner.workload.host_placement import ON_CPU, told_placement
from rigplanner.workload.job import read_job
from rigplanner.workload.network import resolve

Point = np.ndarray


class Judged(Struct, frozen=True, kw_only=True):
    """A measured row with what the law needs of it."""

    row: HostRow
    reads: Reads
    host: Host
    card: CardRates | None

    @property
    def setup(self) -> tuple[str, ...]:
        """What a source measured at one context or several."""
        row = self.row
        return (row.source, row.host, row.stack, row.model, row.precision, row.placement)

    def decode(self, known: HostConstants) -> float:
        """Tokens per second that the law tells."""
        return 1 / token_time(self.reads, self.host, self.card, self.row.stack, known).total_s

    def prefill(self, known: HostConstants) -> float:
        """Tokens per second of the prompt that the law tells."""
        tokens = max(512, self.row.ubatch)
        time = prompt_time(
            self.reads, tokens, self.row.ubatch, self.host, self.card, self.row.stack, known
        )
        return tokens / time.total_s


def judged_rows() -> list[Judged]:
    """Return the shipped rows as jobs of the law."""
    return [_judged(row) for row in host_rows().rows]


def _judged(row: HostRow) -> Judged:
    name, _, number = row.placement.partition("=")
    work = Workload(
        model=row.model,
        task="inference",
        stack=row.stack,
        precision=row.precision,
        weights_gib=row.file_gib,
        input_tokens=max(1, row.context),
        output_tokens=1,
        gpu_layers=int(number) if name == "ngl" else None,
        cpu_moe=True if row.placement == "cpu_moe" else None,
        n_cpu_moe=int(number) if name == "cpu_moe" and number else None,
        cpu_offload_gb=float(number) if name == "cpu_offload" else None,
    )
    network = resolve(work, shipped_zoo())
    job = read_job(work, network, max(1, len(row.gpus)), bool(row.gpus))
    place = told_placement(work, network, row.stack) if row.gpus else ON_CPU
    gpus = [find_gpu(gpu) for gpu in row.gpus]
    return Judged(
        row=row,
        reads=reads_of(network, job, place, max(1, row.context)),
        host=host_of_facts(host_rows().hosts[row.host]),
        card=card_rates(gpus, None) if gpus else None,
    )


FITTED = (
    "ram_share",
    "moe_share",
    "die_gbs",
    "older_die",
    "two_sockets.llama.cpp",
    "two_sockets.ik_llama.cpp",
    "two_sockets.ktransformers",
    "core_gbs.scaled",
    "core_gbs.looked_up",
    "layer_s",
    "layer_core_s",
    "card_share",
    "card_layer_s",
)
"""Constants of decoding that the rows decide."""
HELD, NEAR = 0.3, 0.004
"""Logarithm of an error beyond which it counts by itself, not its square; how much the constants
are held to where they began."""


def _get(known: HostConstants, name: str) -> float:
    field, _, key = name.partition(".")
    value = getattr(known, field)
    return float(value[key] if key else value)


def _with(known: HostConstants, logs: Point) -> HostConstants:
    changed: dict[str, object] = {}
    for name, log in zip(FITTED, logs, strict=True):
        field, _, key = name.partition(".")
        if key:
            changed[field] = {**changed.get(field, getattr(known, field)), key: math.exp(log)}  # type: ignore[dict-item]
        else:
            changed[field] = math.exp(log)
    return msgspec.structs.replace(known, **changed)


def fitted(rows: Sequence[Judged], start: HostConstants, steps: int = 600) -> HostConstants:
    """Return the constants that rows decide: a setup counts once at whatever contexts it was
    measured, and a source with the root of its setups."""
    first = np.log([_get(start, name) for name in FITTED])
    of_setup = Counter(item.setup for item in rows)
    of_source = Counter(setup[0] for setup in of_setup)
    weights = np.array([of_source[item.row.source] ** -0.5 / of_setup[item.setup] for item in rows])
    measured = np.log([item.row.decode for item in rows])

    def loss(logs: Point) -> float:
        known = _with(start, logs)
        off = np.abs(np.log([item.decode(known) for item in rows]) - measured)
        each = np.where(off < HELD, off**2, 2 * HELD * off - HELD**2)
        return float((weights * each).sum() / weights.sum() + NEAR * ((logs - first) ** 2).sum())

    return _with(start, least(loss, first, steps))


def least(loss: Callable[[Point], float], start: Point, steps: int) -> Point:
    """Return where a function is least, by the simplex of Nelder and Mead (1965)."""
    points = [start, *(start + 0.25 * row for row in np.eye(len(start)))]
    values = [loss(point) for point in points]
    for _ in range(steps):
        order = np.argsort(values)
        points, values = [points[i] for i in order], [values[i] for i in order]
        centre = np.mean(points[:-1], axis=0)
        mirrored = 2 * centre - points[-1]
        value = loss(mirrored)
        if value < values[0]:
            farther = 3 * centre - 2 * points[-1]
            other = loss(farther)
            points[-1], values[-1] = (farther, other) if other < value else (mirrored, value)
        elif value < values[-2]:
            points[-1], values[-1] = mirrored, value
        else:
            nearer = 0.5 * (centre + points[-1])
            other = loss(nearer)
            if other < values[-1]:
                points[-1], values[-1] = nearer, other
            else:
                points = [points[0], *(points[0] + 0.5 * (p - points[0]) for p in points[1:])]
                values = [values[0], *(loss(point) for point in points[1:])]
    return points[int(np.argmin(values))]


def held_out(
    rows: Sequence[Judged], start: HostConstants, folds: int
) -> dict[tuple[str, ...], float]:
    """Return the logarithm of predicted over measured of each setup, the median of its contexts,
    fitted without its source."""
    sources = sorted({item.row.source for item in rows})
    found: dict[tuple[str, ...], list[float]] = {}
    for fold in range(folds):
        aside = set(sources[fold::folds])
        known = fitted([item for item in rows if item.row.source not in aside], start, 300)
        for item in rows:
            if item.row.source in aside:
                off = math.log(item.decode(known) / item.row.decode)
                found.setdefault(item.setup, []).append(off)
    return {setup: float(np.median(offs)) for setup, offs in found.items()}
