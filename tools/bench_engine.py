"""Figures of the engine for `make bench`: what fits among thousands of parts, speed predictions, a
check of all parts at once."""

import gc
import random
import statistics
import time
from collections.abc import Callable

import msgspec
from msgspec.structs import replace

from rigplanner.catalog.load import shipped_catalog
from rigplanner.catalog.schema.parts import GPU, AnyPart
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.data import data_path
from rigplanner.errors import WorkloadFault
from rigplanner.performance.anchors.own import kept_evidence
from rigplanner.performance.predict import predict_speed
from rigplanner.rig.edits import Edit, apply
from rigplanner.rig.files import read_rig
from rigplanner.rig.workload import Workload
from rigplanner.rules.assess import assess
from rigplanner.rules.fitting import fitting
from tools.bench_figure import Figure

CANDIDATES, JOBS, ROUNDS = 5_000, 400, 3
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
FIGURES_OF_A_PART = (
    "length_mm",
    "height_mm",
    "tdp_w",
    "power_w",
    "rated_w",
    "capacity_gb",
    "read_gbs",
    "width_mm",
    "depth_mm",
)

Job = tuple[Workload, GPU, int]


def _candidates(kind: str, stretched: bool) -> list[AnyPart]:
    """Board partners' versions of the shipped parts: equal but for their names, or with figures of
    their own. Each is read anew, as from a file: none shares what it holds with another."""
    chance, own = random.Random(4), shipped_catalog().of_kind(kind)
    found = []
    for number in range(CANDIDATES):
        part = own[number % len(own)]
        fields = [
            name
            for name in FIGURES_OF_A_PART
            if stretched and getattr(part, name, None) is not None
        ]
        changes = {
            name: round(getattr(part, name) * chance.uniform(0.8, 1.25), 1) for name in fields
        }
        made = replace(part, id=f"{part.id}.x{number}", name=f"{part.name} {number}", **changes)
        found.append(msgspec.msgpack.decode(msgspec.msgpack.encode(made), type=type(made)))
    return found


def _first_badges(kind: str, parts: list[AnyPart], sample: str = "rtx-5090") -> float:
    rig, catalog, best = read_rig(SAMPLES / f"{sample}.rig"), shipped_catalog(), float("inf")
    for _ in range(ROUNDS):
        fitting._trials.clear()
        gc.collect()
        start = time.process_time()
        fitting.fits(rig, catalog, kind, parts)
        best = min(best, time.process_time() - start)
    return best


def _slowest(stretched: bool) -> tuple[float, str]:
    times = {kind: _first_badges(kind, _candidates(kind, stretched)) for kind in KINDS}
    kind = max(times, key=times.__getitem__)
    return 1000 * times[kind], kind


def badges() -> tuple[float, str]:
    """The slowest kind of part, first call."""
    return _slowest(False)


def badges_of_stretched_parts() -> tuple[float, str]:
    """The same where every part has sizes, watts and capacities of its own."""
    return _slowest(True)


def badges_in_any_sample() -> tuple[float, str]:
    """GPUs, motherboards and systems, whose choice moves other parts, in the sample that makes most
    of them."""
    times = {
        f"{kind} in {path.stem}": _first_badges(kind, parts, path.stem)
        for kind in ("gpu", "motherboard", "system")
        for parts in [_candidates(kind, False)]
        for path in sorted(SAMPLES.glob("*.rig"))
    }
    slowest = max(times, key=times.__getitem__)
    return 1000 * times[slowest], slowest


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
        kept_evidence().forget()
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
    Figure("what fits of one kind, 5 000 candidates, first call, slowest", badges, "ms", 100),
    Figure("the same, all with sizes and watts of their own", badges_of_stretched_parts, "ms", 100),
    Figure("what GPU, board or system fits, slowest sample", badges_in_any_sample, "ms", 100),
    Figure("speed predictions a second, jobs asked before", speeds, "/s", 5000),
    Figure("speed predictions a second, new batch sizes", speeds_of_new_sizes, "/s", 5000),
    Figure(
        "speed predictions a second, other networks on other GPUs", speeds_of_other_jobs, "/s", 5000
    ),
    Figure("the same, with nothing kept of earlier jobs", speeds_of_new_jobs, "/s", 5000),
    Figure("check of a rig that holds every part", everything, "s"),
)
