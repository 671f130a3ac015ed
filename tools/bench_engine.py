"""Figures of the engine for `make bench`: what fits of all parts, speed predictions, a
check of all parts at once."""

import random
import statistics
import time
from collections.abc import Callable

from msgspec.structs import replace

from rigplanner.catalog.load import shipped_catalog
from rigplanner.catalog.schema.parts import GPU
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.data import data_path
from rigplanner.errors import WorkloadFault
from rigplanner.performance.anchors.own import current_evidence
from rigplanner.performance.predict import predict_speed
from rigplanner.rig.edits import Edit, apply
from rigplanner.rig.files import read_rig
from rigplanner.rig.workload import Workload
from rigplanner.rules.assess import assess
from rigplanner.rules.badges import fits
from tools.bench_figure import Figure, seconds

JOBS, ROUNDS, ROWS_IN_SIGHT = 400, 3, 25
SAMPLES = data_path("resources") / "samples"
KINDS = (
    "gpu",
    "cpu",
    "motherboard",
    "memory",
    "storage",
    "psu",
    "chassis",
    "cooler",
    "nic",
    "accessory",
)
Job = tuple[Workload, GPU, int]


def _slowest(kinds: tuple[str, ...], most: int | None) -> tuple[float, str]:
    """Return the milliseconds for the badges of so many parts (None: of all), the rig's own check
    included, of the kind and sample for which it takes longest."""
    catalog, times = shipped_catalog(), {}
    for path in sorted(SAMPLES.glob("*.rig")):
        rig = read_rig(path)
        for kind in kinds:
            parts = catalog.of_kind(kind)[:most]
            fits(rig, catalog, kind, parts[:1])
            times[f"{kind}, {path.stem}"] = seconds(
                lambda rig=rig, kind=kind, parts=parts: fits(rig, catalog, kind, parts), 3
            )
    slowest = max(times, key=times.__getitem__)
    return 1000 * times[slowest], slowest


def badges_in_sight() -> tuple[float, str]:
    """The rows that a table shows first."""
    return _slowest(KINDS, ROWS_IN_SIGHT)


def badges_of_all() -> tuple[float, str]:
    """All parts of the two largest kinds."""
    catalog = shipped_catalog()
    largest = sorted(KINDS, key=lambda kind: -len(catalog.of_kind(kind)))[:2]
    return _slowest(tuple(largest), None)


def _jobs(seed: int) -> list[Job]:
    chance, zoo = random.Random(seed), shipped_zoo()
    cards = [
        part
        for part in shipped_catalog().of_kind("gpu")
        if isinstance(part, GPU) and part.memory_gib and part.bandwidth_gbs
    ]
    models = [model for model in zoo.models.values() if model.config is not None]
    tasks = ("train_full", "train_lora", "inference", "serve")
    return [
        (
            Workload(
                model=chance.choice(models).slug,
                task=chance.choice(tasks),
                precision=chance.choice(("fp16", "bf16", "fp32")),
                batch_per_gpu=chance.randint(1, 256),
                seq_len=chance.randint(16, 8192),
                output_tokens=chance.randint(1, 512),
            ),
            chance.choice(cards),
            chance.choice((1, 1, 2, 4, 8)),
        )
        for _ in range(JOBS)
    ]


def _rate(jobs: list[Job]) -> float:
    zoo, start = shipped_zoo(), time.process_time()
    for work, card, count in jobs:
        try:
            predict_speed(work, card, count, 1, "pcie" if count > 1 else "none", zoo)
        except WorkloadFault:
            continue
    return len(jobs) / (time.process_time() - start)


def _rates(prepare: Callable[[list[Job], int], list[Job]]) -> float:
    jobs = _jobs(1)
    _rate(_jobs(2))
    _rate(jobs)
    return max(_rate(prepare(jobs, round)) for round in range(ROUNDS))


def speeds() -> float:
    """Jobs that were asked before."""
    return _rates(lambda jobs, _: jobs)


def speeds_of_new_sizes() -> float:
    """The same jobs with batch sizes never asked."""
    return _rates(
        lambda jobs, n: [
            (replace(w, batch_per_gpu=w.batch_per_gpu + 1000 * (n + 1)), c, k) for w, c, k in jobs
        ]
    )  # type: ignore[operator]


def speeds_of_other_jobs() -> float:
    """Other jobs each time, of any network on any GPU, after some thousand."""
    for seed in range(3, 13):
        _rate(_jobs(seed))
    return statistics.median(_rate(_jobs(seed)) for seed in range(13, 20))


def speeds_of_new_jobs() -> float:
    """Any network on any GPU, and nothing kept of what was asked before."""

    def forget(jobs: list[Job], _: int) -> list[Job]:
        current_evidence().forget()
        return jobs

    return _rates(forget)


def everything() -> float:
    """One rig that holds every part of the catalog."""
    catalog, rig = shipped_catalog(), read_rig(SAMPLES / "rtx-5090.rig")
    for part in catalog.parts.values():
        rig = apply(
            rig, Edit("add_part", {"part": part.id, "stem": str(part.__struct_config__.tag)})
        )
    start = time.process_time()
    assess(rig, catalog)
    return time.process_time() - start


FIGURES: tuple[Figure, ...] = (
    Figure("badges of 25 rows in sight, slowest kind and sample", badges_in_sight, "ms", 50),
    Figure("badges of all GPUs and all CPUs, slowest sample", badges_of_all, "ms", 800),
    Figure("speed predictions a second, jobs asked before", speeds, "/s", 5000),
    Figure("speed predictions a second, new batch sizes", speeds_of_new_sizes, "/s", 5000),
    Figure(
        "speed predictions a second, other networks on other GPUs", speeds_of_other_jobs, "/s", 5000
    ),
    Figure("the same, with nothing kept of earlier jobs", speeds_of_new_jobs, "/s", 5000),
    Figure("check of a rig that holds every part", everything, "s"),
)
