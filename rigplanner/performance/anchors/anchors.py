"""Where a job lies among the measured rows, the GPU that a name means, and how a row is cited."""

import math
from functools import cache, lru_cache

from rigplanner.catalog.cloud import shipped_cloud
from rigplanner.catalog.find.gpu_names import shipped_gpu_names
from rigplanner.catalog.find.words import words_of
from rigplanner.catalog.load import shipped_catalog
from rigplanner.catalog.schema.parts import GPU, System
from rigplanner.errors import WorkloadFault
from rigplanner.performance.anchors.points import NO_BATCH, Placed, Point
from rigplanner.performance.answer import Anchor
from rigplanner.performance.job import Job
from rigplanner.performance.measured import year_of
from rigplanner.performance.silicon import Silicon

PRECISION_CLASS = {
    "amp_fp16": "half",
    "fp16": "half",
    "f16": "half",
    "bf16": "half",
    "mixed": "half",
    "amp": "half",
    "amp_bf16": "half",
}
REMEMBERED = 4_000
"""GPUs whose coordinates are kept."""


@lru_cache(REMEMBERED)
def silicon_coordinates(s: Silicon) -> tuple[float, ...]:
    """Return the coordinates of a GPU in which efficiencies vary smoothly: era, half-precision and
    FP32 arithmetic per byte, bandwidth, memory, power per arithmetic, kind of memory, cache; each
    divided by its usual spread."""
    band = math.log(s.bandwidth_gbs)
    return (
        s.era / 2.0,
        (math.log(s.half) - band) / 0.7,
        (math.log(s.fp32) - band) / 0.7,
        band / 0.8,
        math.log(s.memory_gib) / 0.9,
        (math.log(s.tdp_w) - 0.6 * math.log(s.half)) / 0.5,
        float(s.fast_memory),
        math.log(s.l2_mib) / 1.2,
    )


def place(job: Job) -> Point:
    """Return the point of a job."""
    precision = PRECISION_CLASS.get(job.precision, job.precision)
    if job.stack.family == "compiled-inference" and job.precision == "mixed":
        precision = "int8"
    return Point(
        stack=job.stack.slug,
        family=job.stack.family,
        model=job.shape.slug,
        kind=job.shape.kind,
        task=job.task,
        precision=precision,
        lane=job.lane if job.count > 1 else "none",
        release=job.release,
        maker=job.silicon.vendor,
        data=str(job.variant.get("data", "synthetic")),
        silicon=silicon_coordinates(job.silicon),
        count=math.log2(job.count),
        tokens=math.log(max(1, job.shape.tokens)),
        written=math.log(max(1, job.output_tokens)),
        year=year_of(job.stack.slug, job.release),
        batch=math.log(job.batch) if job.batch_given else NO_BATCH,
    )


@cache
def gpus_by_name() -> dict[str, GPU]:
    """Return the GPUs of the shipped catalog by id, name and alias in lower case."""
    found: dict[str, GPU] = {}
    for part in shipped_catalog().of_kind("gpu"):
        if isinstance(part, GPU):
            for name in (part.id, part.name, *part.aliases):
                found.setdefault(name.casefold(), part)
    return found


@cache
def gpus_built_in() -> dict[frozenset[str], GPU]:
    """Return the GPU of each computer that is sold with just one built in, by the words of the
    computer's names."""
    catalog, found = shipped_catalog(), dict[frozenset[str], GPU]()
    for system in catalog.of_kind("system"):
        assert isinstance(system, System)
        held = [(catalog.parts.get(one.part), one.quantity) for one in system.includes]
        gpus = [(part, count) for part, count in held if isinstance(part, GPU)]
        if len(gpus) == 1 and gpus[0][1] == 1:
            for name in (system.name, *system.aliases):
                found.setdefault(frozenset(words_of(name)), gpus[0][0])
    return found


def find_gpu(name: str | None) -> GPU:
    """Return the GPU that `name` means; raise WorkloadFault naming those it may mean or the nearest
    when it means none or several, or the GPU of a machine for hire."""
    if not name:
        raise WorkloadFault("hardware.gpu: expected the name of a GPU, found none.")
    key = name.replace("\u2011", "-").casefold()
    known = gpus_by_name()
    if key in known:
        return known[key]
    meaning = shipped_gpu_names().meaning(name)
    if meaning.gpu:
        return meaning.gpu
    if built_in := gpus_built_in().get(frozenset(words_of(name))):
        return built_in
    hired = shipped_cloud().named(key)
    if hired:
        raise WorkloadFault(
            f"hardware.gpu: '{name}' is a machine for hire ({hired.provider}), not a GPU; name its"
            f" GPU instead: {hired.count} x {hired.gpu_name}."
        )
    if cpu := _cpu_named(name):
        raise WorkloadFault(
            f"hardware.gpu: '{name}' is a CPU ({cpu}), not a GPU; hardware.cpu names it for work"
            " without a GPU."
        )
    near = ", ".join(shipped_catalog().parts[part_id].name for part_id in meaning.near)
    if meaning.several:
        raise WorkloadFault(
            f"hardware.gpu: '{name}' may be several GPUs; name one of them: {near}."
        )
    if not near and (hires := shipped_cloud().nearest(name)):
        near = f"machines for hire: {', '.join(hires)}"
    raise WorkloadFault(
        f"hardware.gpu: the catalog has no '{name}'{'; the nearest are ' + near if near else ''}."
    )


def _cpu_named(name: str) -> str:
    """Return the CPU whose name ends with all of these words, "" for none."""
    words = words_of(name)
    for cpu in shipped_catalog().of_kind("cpu"):
        if words and words_of(cpu.name)[-len(words) :] == words:
            return cpu.name
    return ""


def cite(item: Placed, weight: float) -> Anchor:
    """Return the anchor to show for a row used with this kriging weight."""
    row = item.row
    return Anchor(
        id=row.id,
        gpu=row.gpu,
        model=row.workload.model or "",
        stack=row.workload.stack or "",
        value=row.value,
        metric=row.metric,
        weight=weight,
        source=row.source,
    )
