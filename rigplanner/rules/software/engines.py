"""Engines that are built for one GPU and one version: TensorRT's."""

from collections.abc import Iterator

from msgspec import Struct

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.schema.parts import GPU
from rigplanner.errors import WorkloadFault
from rigplanner.rules.core.context import Context, JobFacts
from rigplanner.rules.core.finding import Finding
from rigplanner.rules.core.registry import rule
from rigplanner.rules.software.software import models
from rigplanner.rules.software.tables import version

BUILT = ("tensorrt", "jetson")
"""What the slugs of stacks hold whose engines are built beforehand."""
AMPERE = "8.0"
SAME, NEWER = "same_compute_capability", "ampere_plus"
"""Words of `variant.hardware_compatibility`, TensorRT's HardwareCompatibilityLevel."""


class Engine(Struct, frozen=True):
    """A job whose engine is built beforehand and a GPU model that is to run it; how many models the
    rig has, and the TensorRT version that the rig names."""

    name: str
    job: JobFacts
    card: GPU
    models: int
    runtime: str | None

    @property
    def subjects(self) -> tuple[str, ...]:
        return (self.job.name, self.name)


def engines(context: Context) -> Iterator[Engine]:
    """Jobs with engines on each GPU model of the rig."""
    served = list(models(context))
    runtime = context.rig.settings.software.get("tensorrt")
    for job in context.jobs:
        if any(word in (job.workload.stack or "") for word in BUILT):
            for case in served:
                yield Engine(case.name, job, case.card, len(served), runtime)


def _told(case: Engine, name: str) -> str | None:
    value = case.job.workload.variant.get(name)
    return str(value) if value is not None else None


def _moves(case: Engine, built: GPU) -> bool:
    """Whether an engine that was built on one GPU runs on the case's: the same chip, or as its
    level of hardware compatibility says."""
    here, there = case.card.compute_capability or "0", built.compute_capability or "0"
    level = (_told(case, "hardware_compatibility") or "").casefold()
    if level == NEWER:
        return version(here) >= version(AMPERE) <= version(there)
    return here == there


@rule(
    "SW025",
    "A TensorRT engine is built per GPU and version",
    "error",
    over=engines,
    needs=("card.compute_capability",),
    reason=(
        "A serialized engine holds kernels that were chosen and timed on one GPU by one version: by"
        " default it runs on no other architecture, no other TensorRT version and no other system."
        " Exceptions are built in: hardware compatibility (Ampere and newer, or the same compute"
        " capability) and version compatibility (newer runtimes), both slower."
    ),
    source=(
        "NVIDIA, TensorRT documentation, Engine Compatibility and Support Matrix, 11.1, read"
        " 2026-11-23"
    ),
)
def engine(_context: Context, case: Engine) -> Iterator[Finding]:
    """An error where the job says what its engine was built on or with and the rig has another; a
    note on several GPU models."""
    built = _told(case, "built_on")
    if built is not None:
        yield from _elsewhere(case, built)
    with_version = _told(case, "built_with")
    if with_version and case.runtime and not _runs_in(case, with_version, case.runtime):
        yield engine.finding(case, needed=with_version, actual=case.runtime, variant="version")
    if built is None and case.models > 1:
        yield engine.finding(case, "info", needed=case.models, actual=1, variant="several")


def _elsewhere(case: Engine, built: str) -> Iterator[Finding]:
    try:
        gpu = find_gpu(built)
    except WorkloadFault:
        yield engine.unknown(case, f"{case.job.name}:built_on")
        return
    if not _moves(case, gpu):
        yield engine.finding(
            case, needed=gpu.compute_capability, actual=case.card.compute_capability, built=gpu.name
        )
    elif gpu.id != case.card.id and not _told(case, "hardware_compatibility"):
        yield engine.finding(
            case,
            "warning",
            needed=gpu.compute_capability,
            actual=case.card.compute_capability,
            built=gpu.name,
            variant="kin",
        )


def _runs_in(case: Engine, built: str, runtime: str) -> bool:
    """Whether a runtime runs an engine of another version: the same, or a newer one where it was
    built so."""
    if version(built) == version(runtime):
        return True
    compatible = case.job.workload.variant.get("version_compatible") is True
    return compatible and version(runtime) > version(built) >= version("8.6")
