"""Every model against a machine: the best format that fits, where it lies, how fast it is."""

from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.schema.parts import GPU
from rigplanner.catalog.zoo import Model, Zoo
from rigplanner.errors import WorkloadFault
from rigplanner.machine.model import Machine
from rigplanner.memory.capacity.host_fit import held_gib, room_of
from rigplanner.performance.answer import SpeedEstimate
from rigplanner.performance.best_format import GOOD_BITS, proposals
from rigplanner.planning.map.rank import answer
from rigplanner.rig.workload import Workload
from rigplanner.workload.quant import BITS

Purpose = Literal["language", "vision-language", "image", "speech", "text-encoder", "vision"]

PURPOSES: dict[str, Purpose] = {
    "llm": "language",
    "moe": "language",
    "encoder_decoder": "language",
    "vlm": "vision-language",
    "diffusion_transformer": "image",
    "diffusion_unet": "image",
    "asr": "speech",
    "encoder": "text-encoder",
    "cnn": "vision",
    "vit": "vision",
    "detector": "vision",
    "segmenter": "vision",
}
WRITES = ("llm", "moe", "vlm")
WELL_TOKENS_S = 10.0
"""Tokens a second from which people read along without waiting: about 7 words (silent reading of
English: about 238 words a minute, Brysbaert 2019, and 1.3 tokens a word, both recalled; twice for
skimming: judgement)."""
SMALL_FORMAT = "q4_k_m"


class Run(Struct, frozen=True, kw_only=True):
    """A model on the machine. `whole` says that nothing stays in RAM; `well` that it is fast enough
    to read along and kept in four bits or more; `best` marks the largest of its purpose that runs
    well. `lacks_gib`: what the cards lack to hold it wholly in four bits, 0 where they do, None
    where it is not known. Without `precision` nothing of it fits; `fault` says what else is wrong.
    """

    model: str
    name: str
    purpose: Purpose
    params_b: float | None
    precision: str | None = None
    cards: int = 0
    gpu_layers: int | None = None
    n_cpu_moe: int | None = None
    device_gib: float | None = None
    host_gib: float | None = None
    speed: SpeedEstimate | None = None
    whole: bool = False
    well: bool = False
    best: bool = False
    lacks_gib: float | None = None
    fault: str = ""


def runs(
    gpus: Sequence[GPU], machine: Machine | None, zoo: Zoo, purposes: Sequence[Purpose] = ()
) -> Iterator[Run]:
    """Yield how each model of the zoo runs, in the order of the zoo."""
    for model in zoo.models.values():
        purpose = PURPOSES[model.kind]
        if not purposes or purpose in purposes:
            yield run_of(model, gpus, machine, zoo)


def run_of(model: Model, gpus: Sequence[GPU], machine: Machine | None, zoo: Zoo) -> Run:
    """Return how one model runs: networks that write text in the format that suits the machine
    best, all others as their usual stack runs them on the first card."""
    purpose, size = PURPOSES[model.kind], _params_b(model, zoo)
    work = Workload(model=model.slug, task="inference")
    if model.kind not in WRITES:
        return _plain(model, purpose, size, work, gpus, zoo)
    try:
        ways = proposals(work, gpus, machine, zoo)
    except WorkloadFault as fault:
        return Run(
            model=model.slug, name=model.name, purpose=purpose, params_b=size, fault=str(fault)
        )
    lacks = _lacks(work, gpus, zoo)
    best = next((way for way in ways if way.best), None)
    if best is None:
        return Run(
            model=model.slug, name=model.name, purpose=purpose, params_b=size, lacks_gib=lacks
        )
    fast = best.speed is not None and best.speed.value >= WELL_TOKENS_S
    sure = best.whole or machine is not None  # of cards alone the RAM beside them is not known
    return Run(
        model=model.slug,
        name=model.name,
        purpose=purpose,
        params_b=size,
        precision=best.precision,
        cards=best.cards,
        gpu_layers=best.gpu_layers,
        n_cpu_moe=best.n_cpu_moe,
        device_gib=best.device_gib,
        host_gib=best.host_gib,
        speed=best.speed,
        whole=best.whole,
        well=fast and sure and BITS.get(best.precision, 16.0) >= GOOD_BITS,
        lacks_gib=lacks,
    )


def _plain(
    model: Model,
    purpose: Purpose,
    size: float | None,
    work: Workload,
    gpus: Sequence[GPU],
    zoo: Zoo,
) -> Run:
    if not gpus:
        return Run(model=model.slug, name=model.name, purpose=purpose, params_b=size)
    found = answer(work, gpus[0], 1, zoo)
    fits = found.fit in ("fits", "tight")
    need, room = found.need_gib, found.room_gib
    return Run(
        model=model.slug,
        name=model.name,
        purpose=purpose,
        params_b=size,
        precision=(found.speed.assumed.get("precision") or "") if fits and found.speed else None,
        cards=1 if fits else 0,
        device_gib=need,
        speed=found.speed if fits else None,
        whole=fits,
        well=fits,
        lacks_gib=None if need is None or room is None else max(0.0, need - room),
        fault=found.fault,
    )


def _params_b(model: Model, zoo: Zoo) -> float | None:
    from rigplanner.workload.network import resolve

    if model.params_m is not None:
        return model.params_m / 1000
    try:
        return resolve(Workload(model=model.slug, task="inference"), zoo).params / 1e9
    except WorkloadFault:
        return None


def _lacks(work: Workload, gpus: Sequence[GPU], zoo: Zoo) -> float | None:
    room = room_of(gpus) if gpus else None
    if room is None:
        return None
    small = Workload(model=work.model, task="inference", precision=SMALL_FORMAT, stack="llama.cpp")
    try:
        return max(0.0, held_gib(small, gpus, zoo) - room)
    except WorkloadFault:
        return None


def marked(found: Sequence[Run]) -> list[Run]:
    """Return the runs by purpose, the largest first, the largest of each that runs well marked."""
    order = list(dict.fromkeys(PURPOSES.values()))
    ranked = sorted(
        found,
        key=lambda run: (order.index(run.purpose), not run.well, not run.precision, -_size(run)),
    )
    out: list[Run] = []
    seen: set[str] = set()
    for run in ranked:
        best = run.well and run.purpose not in seen
        if best:
            seen.add(run.purpose)
        out.append(replace(run, best=best))
    return out


def _size(run: Run) -> float:
    return run.params_b or 0.0


def opened(found: Sequence[Run], more_gib: float) -> list[Run]:
    """Return the models that so much more memory on the cards would hold wholly in four bits."""
    return [run for run in found if not run.whole and run.lacks_gib and run.lacks_gib <= more_gib]
