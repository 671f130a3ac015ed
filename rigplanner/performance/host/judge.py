"""Measured rows against the law: jobs of the rows, the fit of its constants, the errors with each
source held out. `tools/host_speed.py` prints them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence

import msgspec
import numpy as np
from msgspec import Struct

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.performance.host.cards import card_rates
from rigplanner.performance.host.constants import HostConstants, HostRow, host_rows
from rigplanner.performance.host.hosts import Host, host_of_facts
from rigplanner.performance.host.law import CardRates, prompt_time, token_time
from rigplanner.performance.host.reads import Reads, reads_of
from rigplanner.rig.workload import Workload
from rigplanner.workload.host_placement import ON_CPU, stated_placement
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
    place = stated_placement(work, network, row.stack) if row.gpus else ON_CPU
    piece = max(512, row.ubatch)
    facts = host_rows().hosts[row.host]
    card = card_rates([find_gpu(gpu) for gpu in row.gpus], None) if row.gpus else None
    if card and facts.link_gbs:
        card = msgspec.structs.replace(card, link_gbs=min(card.link_gbs, facts.link_gbs))
    return Judged(
        row=row,
        reads=reads_of(network, job, place, max(1, row.context), row.context + piece / 2),
        host=host_of_facts(facts),
        card=card,
    )


FITTED = (
    "ram_share",
    "few_channels",
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
FITTED_OF_PROMPTS = (
    *(
        f"core_tflops.{stack}/{isa}"
        for stack in ("llama.cpp", "ik_llama.cpp")
        for isa in ("avx2", "avx512", "amx")
    ),
    "core_tflops.ktransformers/amx",
    "card_tflops_share",
    "link_share",
    "staged_share",
)
"""Constants of prompts that the rows decide."""
HELD, NEAR = 0.3, 0.004
"""Logarithm of an error beyond which it counts by itself, not its square; how much the constants
are held to where they began."""


def _get(known: HostConstants, name: str) -> float:
    field, _, keys = name.partition(".")
    value = getattr(known, field)
    for key in keys.split("/") if keys else ():
        value = value[key]
    return float(value)


def _with(known: HostConstants, names: Sequence[str], logs: Point) -> HostConstants:
    changed: dict[str, object] = {}
    for name, log in zip(names, logs, strict=True):
        field, _, keys = name.partition(".")
        before = changed.get(field, getattr(known, field))
        changed[field] = _changed(before, keys.split("/") if keys else [], math.exp(log))
    return msgspec.structs.replace(known, **changed)


def _changed(before: object, keys: list[str], value: float) -> object:
    if not keys:
        return value
    assert isinstance(before, dict)
    return {**before, keys[0]: _changed(before[keys[0]], keys[1:], value)}


def off(item: Judged, known: HostConstants, prompts: bool = False) -> float:
    """Return the logarithm of predicted over measured: of writing, or of a row's prompts."""
    if prompts:
        assert item.row.prefill
        return math.log(item.prefill(known) / item.row.prefill)
    return math.log(item.decode(known) / item.row.decode)


def fitted(
    rows: Sequence[Judged], start: HostConstants, steps: int = 600, prompts: bool = False
) -> HostConstants:
    """Return the constants that rows decide, of writing or of prompts: a setup counts once at
    whatever contexts it was measured, and a source with the root of its setups."""
    rows = [item for item in rows if item.row.prefill or not prompts]
    names = FITTED_OF_PROMPTS if prompts else FITTED
    first = np.log([_get(start, name) for name in names])
    of_setup = Counter(item.setup for item in rows)
    of_source = Counter(setup[0] for setup in of_setup)
    weights = np.array([of_source[item.row.source] ** -0.5 / of_setup[item.setup] for item in rows])

    def loss(logs: Point) -> float:
        known = _with(start, names, logs)
        far = np.abs([off(item, known, prompts) for item in rows])
        each = np.where(far < HELD, far**2, 2 * HELD * far - HELD**2)
        return float((weights * each).sum() / weights.sum() + NEAR * ((logs - first) ** 2).sum())

    return _with(start, names, least(loss, first, steps))


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
    rows: Sequence[Judged], start: HostConstants, folds: int, prompts: bool = False
) -> dict[tuple[str, ...], float]:
    """Return the logarithm of predicted over measured of each setup, the median of its contexts,
    fitted without its source."""
    rows = [item for item in rows if item.row.prefill or not prompts]
    sources = sorted({item.row.source for item in rows})
    found: dict[tuple[str, ...], list[float]] = {}
    for fold in range(folds):
        aside = set(sources[fold::folds])
        kept = [item for item in rows if item.row.source not in aside]
        known = fitted(kept, start, 300, prompts)
        for item in rows:
            if item.row.source in aside:
                found.setdefault(item.setup, []).append(off(item, known, prompts))
    return {setup: float(np.median(offs)) for setup, offs in found.items()}
