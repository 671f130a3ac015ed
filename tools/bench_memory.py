"""Figures of the memory model for `make bench`: estimates a second, configurations read, first
answers of networks never seen."""

import gc
import random
import statistics
import time
from collections.abc import Callable, Iterator

import msgspec

from rigplanner.catalog.load import shipped_catalog
from rigplanner.catalog.schema.parts import GPU
from rigplanner.catalog.zoo import Model, shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.memory.estimate import estimate_memory
from rigplanner.networks.closed_form import closed
from rigplanner.rig.workload import Case, Workload
from rigplanner.workload import network
from rigplanner.workload.network import resolve
from tools.bench_figure import Figure

ROUNDS, EACH = 5, 2000
KINDS: dict[str, dict[str, object]] = {
    "training": {"model": "llama-3.1-8b", "task": "train_full", "precision": "bf16"},
    "adapters": {
        "model": "llama-3.1-8b",
        "task": "train_lora",
        "precision": "bf16",
        "gradient_checkpointing": "full",
    },
    "experts": {"model": "qwen3-30b-a3b", "task": "train_full", "precision": "bf16"},
    "inference": {
        "model": "llama-3.1-8b",
        "task": "inference",
        "precision": "bf16",
        "output_tokens": 128,
    },
    "serving": {
        "model": "llama-3.1-8b",
        "task": "serve",
        "precision": "bf16",
        "output_tokens": 128,
    },
    "llama.cpp": {
        "model": "llama-3.1-8b",
        "task": "inference",
        "precision": "q4_k_m",
        "output_tokens": 128,
    },
    "image network": {
        "model": "resnet50",
        "task": "train_full",
        "precision": "amp_fp16",
        "image_size": 224,
    },
    "vision transformer": {
        "model": "vit_base_patch16_224",
        "task": "train_full",
        "precision": "amp_fp16",
        "image_size": 224,
    },
    "encoder": {"model": "bert-base-uncased", "task": "train_full", "precision": "amp_fp16"},
    "diffusion": {"model": "sdxl", "task": "inference", "precision": "fp16", "image_size": 1024},
}


def _card() -> GPU:
    card = shipped_catalog().get("nvidia.datacenter.h100-sxm5-80gb")
    assert isinstance(card, GPU)
    return card


def _jobs(fields: dict[str, object], spread: bool, count: int, seed: int = 1) -> list[Workload]:
    chance = random.Random(seed)
    sizes = [
        (chance.randint(1, 512), chance.randint(64, 16_384))
        if spread
        else (1 + n % 16, 512 + 64 * (n % 64))
        for n in range(count)
    ]
    return [Workload(**fields, batch_per_gpu=batch, seq_len=length) for batch, length in sizes]


def _rate(fields: dict[str, object], spread: bool) -> float:
    zoo, card, best = shipped_zoo(), _card(), 0.0
    for work in _jobs(fields, spread, 20):
        estimate_memory(work, card, 8, zoo, explained=False)
    for seed in range(2, 2 + ROUNDS):
        jobs = _jobs(fields, spread, EACH, seed)
        gc.collect()
        start = time.process_time()
        for work in jobs:
            estimate_memory(work, card, 8, zoo, explained=False)
        best = max(best, EACH / (time.process_time() - start))
    return best


def slowest_kind() -> tuple[float, str]:
    """Estimates a second on one core, of the slowest kind of known models."""
    rates = {name: _rate(fields, False) for name, fields in KINDS.items()}
    name = min(rates, key=rates.__getitem__)
    return rates[name], name


def scattered_sizes() -> float:
    """The same where no size was asked before."""
    return min(
        _rate(KINDS[name], True) for name in ("training", "adapters", "inference", "encoder")
    )


def against_reading() -> float:
    """One estimate as a multiple of decoding its case from JSON: a figure that means the same on
    every machine."""
    work = _jobs(KINDS["training"], False, 1)[0]
    line = msgspec.json.encode(Case(id="a", workload=work))
    start = time.process_time()
    for _ in range(20 * EACH):
        msgspec.json.decode(line, type=Case)
    reading = (time.process_time() - start) / 20 / EACH
    return 1 / _rate(KINDS["training"], False) / reading


def _configured() -> Iterator[Model]:
    for model in shipped_zoo().models.values():
        if model.config is not None and model.config.get("model_type") not in ("dit", "unet"):
            yield model


def _timed(work: Callable[[], object]) -> float | None:
    start = time.process_time()
    try:
        work()
    except WorkloadFault:
        return None
    return time.process_time() - start


def config_read() -> float:
    """A configuration read and its parameters counted, the slowest of the zoo, as the median of
    three rounds without the collector (as timeit measures: a full collection falls into the same
    network each time)."""
    slowest = []
    for _ in range(3):
        network._from_config.cache_clear()
        gc.collect()
        gc.disable()
        times = [
            _timed(lambda model=model: resolve(Workload(config=model.config), shipped_zoo()))
            for model in _configured()
        ]  # type: ignore[misc]
        gc.enable()
        slowest.append(max(value for value in times if value is not None))
    return 1000 * statistics.median(slowest)


def _asked(times: int) -> list[float]:
    """The slowest of the first asks of each network of the zoo after the `times`-th, in seconds."""
    zoo, card, found = shipped_zoo(), _card(), []
    closed.traced.cache_clear()
    closed._known.clear()
    closed._built_alike.cache_clear()
    for model in _configured():
        jobs = [
            Workload(
                model=model.slug,
                task="train_full",
                precision="bf16",
                batch_per_gpu=2 + n,
                seq_len=256,
            )
            for n in range(3)
        ]
        each = [_timed(lambda work=work: estimate_memory(work, card, 1, zoo)) for work in jobs]
        known = [value for value in each[:times] if value is not None]
        if known:
            found.append(max(known))
    return found


def first_answer() -> float:
    """The first estimate of a training job of each network of the zoo, 90th percentile."""
    return 1000 * statistics.quantiles(_asked(1), n=10)[-1]


def first_edits() -> float:
    """The slowest of the first three sizes of a network, when its closed form is made, 90th
    percentile over the zoo."""
    return 1000 * statistics.quantiles(_asked(3), n=10)[-1]


FIGURES: tuple[Figure, ...] = (
    Figure("memory estimates a second, slowest kind of known models", slowest_kind, "/s", 20_000),
    Figure("memory estimates a second, sizes never asked before", scattered_sizes, "/s"),
    Figure("memory estimate / decoding its case from JSON", against_reading, "x"),
    Figure("configuration read, slowest of the zoo", config_read, "ms", 5),
    Figure("first memory estimate of a network, p90 of the zoo", first_answer, "ms", 100),
    Figure("first three sizes of a network, p90 of the zoo", first_edits, "ms", 1000),
)
