"""What of a model that writes or draws fits a machine best: its formats, each with its place and
its speed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from rigplanner.catalog.schema.parts import GPU
from rigplanner.catalog.zoo import Zoo, shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.machine.model import Machine
from rigplanner.memory.capacity.host_fit import held_gib, placed, room_of
from rigplanner.memory.estimate import estimate_memory
from rigplanner.memory.on_host import LANGUAGE, as_on_cpu, estimate_on_host
from rigplanner.memory.usable_memory import SYSTEM_GIB, unified
from rigplanner.performance.answer import SpeedEstimate
from rigplanner.performance.host.hosts import host_of
from rigplanner.performance.host.predict import predict_hosted
from rigplanner.performance.predict import predict_speed
from rigplanner.rig.workload import Workload
from rigplanner.workload.network import resolve
from rigplanner.workload.pictures import DRAWN as DRAWING
from rigplanner.workload.quant import BITS
from rigplanner.workload.stored import formatted

FORMATS = (
    "f16",
    "q8_0",
    "q6_k",
    "q5_k_m",
    "q4_k_m",
    "iq4_xs",
    "q3_k_m",
    "iq3_xxs",
    "q2_k",
    "iq2_xxs",
    "iq1_m",
)
"""The files that people choose among, largest first."""
DRAWN = (
    ("diffusers", "fp16"),
    ("comfyui", "fp16"),
    ("comfyui", "fp8"),
    ("comfyui", "q6_k"),
    ("comfyui", "q5_k_s"),
    ("comfyui", "q4_k_s"),
)
"""The same of networks that draw: all parts on the card at once, as published; then one after
another, in the formats that they are passed on in."""
PUBLISHED_ONLY = ("mxfp4",)
"""Formats in which a model is published alone: smaller and larger files gain nothing."""
GOOD_BITS = 4.2
"""Bits per weight below which answers grow clearly worse (llama.cpp, quantize README: perplexity
of Llama 3.1 8B)."""


class Proposal(Struct, frozen=True, kw_only=True):
    """One way to run a model: its format and the stack, on how many of the cards and with which
    share on each, what stays in RAM, the memory of the cards together and of the host, the speed.
    `best`: the one to take first."""

    precision: str
    stack: str
    cards: int
    gpu_layers: int | None
    n_cpu_moe: int | None
    device_gib: float
    host_gib: float
    speed: SpeedEstimate | None
    best: bool = False
    tensor_split: list[float] | None = None

    @property
    def whole(self) -> bool:
        """Whether nothing is left to the host."""
        return self.gpu_layers is None and self.n_cpu_moe is None and self.cards > 0


def proposes(workload: Workload, zoo: Zoo | None) -> bool:
    """Whether formats are proposed: for a known model that writes or draws."""
    if not (workload.model or workload.config):
        return False
    try:
        network = resolve(workload, zoo or shipped_zoo())
    except WorkloadFault:
        return False
    return network.kind in DRAWING or (network.kind in LANGUAGE and network.layers > 0)


def proposals(
    workload: Workload, gpus: Sequence[GPU], machine: Machine | None, zoo: Zoo | None
) -> list[Proposal]:
    """Return the ways that hold, the largest format first, one of them marked as the best: the
    largest that lies wholly on the cards in four bits or more, else the fastest of at least four
    bits, else the largest. Pictures are drawn by one card. Raises WorkloadFault for what neither
    writes nor draws."""
    known = zoo or shipped_zoo()
    work = formatted(workload, known).workload
    network = resolve(work, known)
    if network.kind in DRAWING:
        bare = replace(unplaced(work), task="inference")
        ways = _drawn(bare, gpus, known, sure=True) or _drawn(bare, gpus, known, sure=False)
        return [replace(way, best=way is ways[0]) for way in ways]
    if network.kind not in LANGUAGE or not network.layers:
        raise WorkloadFault("model: formats are proposed for models that write or draw.")
    only = work.precision if work.precision in PUBLISHED_ONLY else None
    names = (only,) if only else FORMATS
    bare = replace(unplaced(work), quant=None, weights_gib=None, stack=_stack(work))
    bare = replace(bare, task="inference")
    found = [_way(replace(bare, precision=name), gpus, machine, known) for name in names]
    ways = [way for way in found if way is not None]
    if not ways:
        return []
    first = _first(ways)
    return [replace(way, best=way is first) for way in ways]


def unplaced(work: Workload) -> Workload:
    """Return a workload without what it says of its place on cards and in RAM."""
    return replace(
        work,
        gpu_layers=None,
        n_cpu_moe=None,
        cpu_moe=None,
        cpu_offload_gb=None,
        override_tensors=None,
        tensor_split=None,
        parallelism=None,
        flags=type(work.flags)(flag for flag in work.flags if not flag.startswith("cpu_moe")),
    )


def taken(work: Workload, way: Proposal) -> dict[str, Any]:
    """Return the fields of a workload that differ once it runs in a way."""
    made = replace(
        unplaced(work),
        precision=way.precision,
        stack=way.stack,
        quant=None,
        weights_gib=None,
        gpu_layers=way.gpu_layers,
        n_cpu_moe=way.n_cpu_moe,
        tensor_split=way.tensor_split,
    )
    before, after = asdict(work), asdict(made)
    return {name: value for name, value in after.items() if value != before[name]}


def _drawn(work: Workload, gpus: Sequence[GPU], zoo: Zoo, sure: bool) -> list[Proposal]:
    """The ways in which one card draws that likely hold (`sure`), or that may."""
    room, found = room_of(gpus[:1]) if gpus else None, []
    for stack, precision in DRAWN if room is not None else ():
        made = replace(work, stack=stack, precision=precision, quant=None)
        try:
            need = estimate_memory(made, gpus[0], 1, zoo, explained=False)
            if (need.device_gib if sure else need.low_gib) > (room or 0.0):
                continue
            speed = predict_speed(made, gpus[0], 1, 1, "none", zoo)
        except WorkloadFault:
            continue
        found.append(
            Proposal(
                precision=precision,
                stack=stack,
                cards=1,
                gpu_layers=None,
                n_cpu_moe=None,
                device_gib=need.device_gib,
                host_gib=need.host_gib,
                speed=speed,
            )
        )
    return found


def _stack(work: Workload) -> str:
    return work.stack if work.stack in ("ollama", "ik_llama.cpp", "lm-studio") else "llama.cpp"


def _first(ways: Sequence[Proposal]) -> Proposal:
    good = [way for way in ways if BITS.get(way.precision, 16.0) >= GOOD_BITS]
    whole = next((way for way in good if way.whole), None)
    if whole:
        return whole
    return max(good, key=lambda way: way.speed.value if way.speed else 0.0) if good else ways[0]


def _way(work: Workload, gpus: Sequence[GPU], machine: Machine | None, zoo: Zoo) -> Proposal | None:
    """How one format lies; None where neither cards nor RAM hold it."""
    ram = host_of(machine, gpus[0] if gpus else None).ram_gib
    room = None if ram is None else max(0.0, ram - SYSTEM_GIB)
    if not gpus:
        return _on_cpu(work, machine, zoo, room)
    cards = _fewest(work, gpus, zoo)
    if cards:
        return _on_cards(work, list(gpus[:cards]), len(gpus), machine, zoo)
    if all(unified(gpu) for gpu in gpus):
        return None
    by_layers = work.stack in ("ollama", "lm-studio")
    other = placed(work, gpus, zoo, resolve(work, zoo), by_layers)
    need = estimate_memory(other, gpus[0], 1, zoo, explained=False)
    if room is not None and need.host_gib > room:
        return None
    return Proposal(
        precision=str(work.precision),
        stack=str(work.stack),
        cards=len(gpus),
        gpu_layers=other.gpu_layers,
        n_cpu_moe=other.n_cpu_moe,
        tensor_split=other.tensor_split,
        device_gib=held_gib(other, gpus, zoo),
        host_gib=need.host_gib,
        speed=predict_hosted(other, gpus, machine, zoo),
    )


def _fewest(work: Workload, gpus: Sequence[GPU], zoo: Zoo) -> int:
    """How many of the cards hold the job wholly, at least; 0 where all do not."""
    for count in range(1, len(gpus) + 1):
        some = gpus[:count]
        room = room_of(some)
        if room is not None and held_gib(work, some, zoo) <= room:
            return count
    return 0


def _on_cards(
    work: Workload, some: list[GPU], all_cards: int, machine: Machine | None, zoo: Zoo
) -> Proposal:
    count = len(some)
    own = machine if count == all_cards else None
    try:
        link = "pcie" if count > 1 else "none"
        speed = predict_speed(work, some[0], count, 1, link, zoo, own)
    except WorkloadFault:
        speed = None
    return Proposal(
        precision=str(work.precision),
        stack=str(work.stack),
        cards=count,
        gpu_layers=None,
        n_cpu_moe=None,
        device_gib=held_gib(work, some, zoo),
        host_gib=estimate_memory(work, some[0], 1, zoo, explained=False).host_gib,
        speed=speed,
    )


def _on_cpu(
    work: Workload, machine: Machine | None, zoo: Zoo, room: float | None
) -> Proposal | None:
    alone = as_on_cpu(work, zoo)
    need = estimate_on_host(alone, zoo, explained=False).host_gib
    if room is not None and need > room:
        return None
    return Proposal(
        precision=str(work.precision),
        stack=str(alone.stack),
        cards=0,
        gpu_layers=None,
        n_cpu_moe=None,
        device_gib=0.0,
        host_gib=need,
        speed=predict_hosted(alone, (), machine, zoo),
    )
