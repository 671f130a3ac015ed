"""Every model against a machine: the best format that fits, where it lies, how fast it is."""

import math
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.schema.parts import GPU
from rigplanner.catalog.zoo import Model, Zoo
from rigplanner.data import data_path
from rigplanner.decoding import read_json
from rigplanner.errors import WorkloadFault
from rigplanner.machine.model import Machine
from rigplanner.memory.capacity.capacity_search import reach
from rigplanner.memory.capacity.host_fit import held_gib, room_of
from rigplanner.performance.answer import SpeedEstimate
from rigplanner.performance.best_format import GOOD_BITS, proposals
from rigplanner.planning.map.rank import answer
from rigplanner.rig.workload import Workload
from rigplanner.workload.network import resolve
from rigplanner.workload.quant import BITS

Purpose = Literal["chat", "code", "vision", "image", "video", "speech", "embedding", "recognition"]
"""What people want a model for. vision: text about pictures; recognition: classes, boxes, masks."""

PURPOSES: dict[str, Purpose] = {
    "llm": "chat",
    "moe": "chat",
    "encoder_decoder": "chat",
    "vlm": "vision",
    "diffusion_transformer": "image",
    "diffusion_unet": "image",
    "asr": "speech",
    "encoder": "embedding",
    "cnn": "recognition",
    "vit": "recognition",
    "detector": "recognition",
    "segmenter": "recognition",
}
"""The purpose of each kind, where `model_facts.json` names no other for the model."""
NAMES: tuple[Purpose, ...] = (
    "chat", "code", "vision", "image", "video", "speech", "embedding", "recognition",
)  # fmt: skip
Task = Literal["inference", "serve", "lora", "qlora", "full"]
TASKS: dict[Task, str] = {
    "inference": "inference",
    "serve": "serve",
    "lora": "train_lora",
    "qlora": "train_qlora",
    "full": "train_full",
}
WRITES = ("llm", "moe", "vlm")
WELL_TOKENS_S = 10.0
"""Tokens a second from which people read along without waiting: about 7 words (silent reading of
English: about 238 words a minute, Brysbaert 2019, and 1.3 tokens a word, both recalled; twice for
skimming: judgement)."""
SMALL_FORMAT = "q4_k_m"
USUAL_PROMPT, USUAL_ANSWER = 1024, 256
"""Tokens that a user asks and is answered, where the most users are counted."""


class _Facts(Struct, frozen=True, forbid_unknown_fields=True):
    note: str
    purposes: dict[Purpose, tuple[str, ...]]
    released: dict[str, str]


@cache
def _facts() -> _Facts:
    path = data_path("catalog") / "architectures" / "model_facts.json"
    return read_json(path.read_bytes(), _Facts)


def purpose_of(model: Model) -> Purpose:
    """Return what a model of the zoo is made for."""
    return next(
        (purpose for purpose, slugs in _facts().purposes.items() if model.slug in slugs),
        PURPOSES[model.kind],
    )


def released(slug: str) -> str | None:
    """Return the month in which a model came out, as 2024-07; None where it is not known."""
    return _facts().released.get(slug)


class Run(Struct, frozen=True, kw_only=True):
    """A model on the machine. `whole` says that nothing stays in RAM, `tight` that the cards may
    not hold it; `well` that it surely fits, is fast enough to read along and kept in four bits or
    more; `best` marks the one of its purpose to begin
    with. `lacks_gib`: what the cards lack to hold it wholly in four bits, 0 where they do, None
    where it is not known. `active_b`: parameters that one token uses. Without `precision` nothing
    of it fits; `fault` says what else is wrong. `released` is a month; `context` the longest in
    tokens and `users` the most at once that the cards hold in this format, where they were asked
    for.
    """

    model: str
    name: str
    purpose: Purpose
    params_b: float | None = None
    active_b: float | None = None
    precision: str | None = None
    cards: int = 0
    gpu_layers: int | None = None
    n_cpu_moe: int | None = None
    device_gib: float | None = None
    host_gib: float | None = None
    speed: SpeedEstimate | None = None
    whole: bool = False
    tight: bool = False
    well: bool = False
    best: bool = False
    lacks_gib: float | None = None
    fault: str = ""
    released: str | None = None
    context: int | None = None
    users: int | None = None


def runs(
    gpus: Sequence[GPU],
    machine: Machine | None,
    zoo: Zoo,
    purposes: Sequence[Purpose] = (),
    task: Task = "inference",
) -> Iterator[Run]:
    """Yield how each model of the zoo runs, or is trained or served, in the order of the zoo."""
    for model in zoo.models.values():
        if not purposes or purpose_of(model) in purposes:
            yield run_of(model, gpus, machine, zoo, task)


def run_of(
    model: Model,
    gpus: Sequence[GPU],
    machine: Machine | None,
    zoo: Zoo,
    task: Task = "inference",
) -> Run:
    """Return how one model runs: networks that write text in the format that suits the machine
    best, all others as their usual stack runs them on the first card; trained and served on all
    cards alike, in the usual format of the task."""
    purpose = purpose_of(model)
    size, active = _params_b(model, zoo)
    work = Workload(model=model.slug, task=TASKS[task])
    if model.kind not in WRITES or task != "inference":
        count = 1 if task == "inference" else len(gpus)
        made = run_of_work(work, model.name, purpose, gpus, zoo, count)
    else:
        made = _written(model, purpose, work, gpus, machine, zoo)
    return replace(made, params_b=size, active_b=active, released=released(model.slug))


def _written(
    model: Model,
    purpose: Purpose,
    work: Workload,
    gpus: Sequence[GPU],
    machine: Machine | None,
    zoo: Zoo,
) -> Run:
    try:
        ways = proposals(work, gpus, machine, zoo)
    except WorkloadFault as fault:
        return Run(model=model.slug, name=model.name, purpose=purpose, fault=str(fault))
    lacks = _lacks(work, gpus, zoo)
    best = next((way for way in ways if way.best), None)
    if best is None:
        return Run(model=model.slug, name=model.name, purpose=purpose, lacks_gib=lacks)
    fast = best.speed is not None and best.speed.value >= WELL_TOKENS_S
    sure = best.whole or machine is not None  # of cards alone the RAM beside them is not known
    return Run(
        model=model.slug,
        name=model.name,
        purpose=purpose,
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


def run_of_work(
    work: Workload,
    name: str,
    purpose: Purpose,
    gpus: Sequence[GPU],
    zoo: Zoo,
    count: int,
) -> Run:
    """Return how a workload as it stands runs on `count` of the cards, taken as equal to the
    first."""
    slug = work.model or name
    if not gpus:
        return Run(model=slug, name=name, purpose=purpose, params_b=None)
    found = answer(work, gpus[0], count, zoo)
    runs_it = found.fit in ("fits", "tight", "host")
    need, room, speed = found.need_gib, found.room_gib, found.speed
    precision = work.precision or (speed.assumed.get("precision", "") if speed else "")
    fast = speed is not None and (speed.metric != "tokens/s" or speed.value >= WELL_TOKENS_S)
    return Run(
        model=slug,
        name=name,
        purpose=purpose,
        params_b=None,
        precision=precision if runs_it else None,
        cards=count if runs_it else 0,
        device_gib=need,
        speed=speed if runs_it else None,
        whole=found.fit in ("fits", "tight"),
        tight=found.fit == "tight",
        well=found.fit == "fits" and fast,
        lacks_gib=None if need is None or room is None else max(0.0, (need - room) * count),
        fault=found.fault,
    )


def file_run(work: Workload, gpus: Sequence[GPU], zoo: Zoo) -> Run:
    """Return how the model of a file runs on all the cards."""
    kind = work.kind or ""
    try:
        kind = resolve(work, zoo).kind
    except WorkloadFault as fault:
        return Run(
            model=work.name or "", name=work.name or "", purpose="chat", params_b=None,
            fault=str(fault),
        )  # fmt: skip
    name = work.name or work.model or "model"
    made = run_of_work(work, name, PURPOSES.get(kind, "chat"), gpus, zoo, max(1, len(gpus)))
    return replace(made, model=name)


def deepened(run: Run, gpus: Sequence[GPU], zoo: Zoo) -> Run:
    """Return a run that lies wholly on the cards with the longest context and the most users of it
    that they hold; itself where neither is known."""
    if not run.whole or run.model not in zoo.models or zoo.models[run.model].kind not in WRITES:
        return run
    some = gpus[: max(1, run.cards)]
    work = Workload(
        model=run.model,
        task="inference",
        precision=run.precision or None,
        stack=run.speed.stack if run.speed else None,
        batch_per_gpu=1,
        input_tokens=USUAL_PROMPT,
        output_tokens=USUAL_ANSWER,
    )
    try:
        context = reach("context", work, some[0], len(some), zoo, some)
        users = reach("users", work, some[0], len(some), zoo, some)
    except WorkloadFault:
        return run
    longest = min(context.value, context.positions or context.value)
    return replace(run, context=longest, users=users.value)


def newest_first(found: Sequence[Run]) -> list[Run]:
    """Return runs by purpose, those that run well first, of them the newest, then those whose month
    is not known, by size."""
    return sorted(
        found,
        key=lambda run: (
            NAMES.index(run.purpose),
            not run.well,
            run.precision is None,
            -_month(run),
            -_size(run),
        ),
    )


def _params_b(model: Model, zoo: Zoo) -> tuple[float | None, float | None]:
    """Parameters of a model and those of them that one token uses, in billions."""
    try:
        network = resolve(Workload(model=model.slug, task="inference"), zoo)
    except WorkloadFault:
        told = model.params_m / 1000 if model.params_m is not None else None
        return told, told
    told = model.params_m / 1000 if model.params_m is not None else network.params / 1e9
    return told, min(told, network.active_params / 1e9)


def _lacks(work: Workload, gpus: Sequence[GPU], zoo: Zoo) -> float | None:
    room = room_of(gpus) if gpus else None
    if room is None:
        return None
    small = Workload(model=work.model, task="inference", precision=SMALL_FORMAT, stack="llama.cpp")
    try:
        return max(0.0, held_gib(small, gpus, zoo) - room)
    except WorkloadFault:
        return None


FRESH_MONTHS = 18
"""How far a model may lie behind the newest to be called the best: of quality the zoo knows size
and age, and a model of a year ago does more than a larger one of three years ago."""


def marked(found: Sequence[Run]) -> list[Run]:
    """Return the runs by purpose, the largest first, the best of each marked: of those that run
    well and came out within a year and a half of the purpose's newest, else of all, the one of most
    worth."""
    ranked = sorted(
        found,
        key=lambda run: (NAMES.index(run.purpose), not run.well, not run.precision, -_size(run)),
    )
    newest: dict[str, int] = {}
    for run in ranked:
        newest[run.purpose] = max(newest.get(run.purpose, 0), _month(run))
    by_worth = sorted(ranked, key=lambda run: (-_worth(run), -_month(run)))
    best: dict[str, str] = {}
    for run in (*(run for run in by_worth if _is_fresh(run, newest[run.purpose])), *by_worth):
        if run.well:
            best.setdefault(run.purpose, run.model)
    return [replace(run, best=best.get(run.purpose) == run.model) for run in ranked]


def _worth(run: Run) -> float:
    """The dense model that one of experts is worth: the geometric mean of all its parameters and of
    those that a token uses, a rule of thumb of the field."""
    return math.sqrt(_size(run) * (run.active_b or _size(run)))


def _is_fresh(run: Run, newest: int) -> bool:
    return _month(run) >= newest - FRESH_MONTHS


def _month(run: Run) -> int:
    """Months since the year 0 of the release; 0 where it is not known."""
    if run.released is None:
        return 0
    year, month = run.released.split("-")
    return 12 * int(year) + int(month)


def _size(run: Run) -> float:
    return run.params_b or 0.0


def opened(found: Sequence[Run], more_gib: float) -> list[Run]:
    """Return the models that so much more memory on the cards would hold wholly in four bits."""
    return [run for run in found if not run.whole and run.lacks_gib and run.lacks_gib <= more_gib]
