"""The cheapest change that makes a job fit: recomputation, shards, fewer bits, another card, alone
or two together."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import msgspec
from msgspec import Struct

from rigplanner.catalog.schema.parts import GPU
from rigplanner.catalog.zoo import Zoo
from rigplanner.decoding import convert
from rigplanner.errors import WorkloadFault
from rigplanner.memory.answer import MemoryEstimate
from rigplanner.memory.capacity.levers import room_gib
from rigplanner.memory.capacity.mixed_gpus import deals_layers
from rigplanner.memory.estimate import estimate_memory
from rigplanner.rig.workload import Parallelism, Workload, changed
from rigplanner.workload.network import resolve
from rigplanner.workload.pictures import DRAWN


class Change(Struct, frozen=True, kw_only=True):
    """A change of a workload, or several at once (`code` joins theirs by "+"): `fields` to set, by
    their names in the workload, the GPUs it runs on then, the memory per GPU, whether that fits
    with its whole interval, and the speed left as a share of the former one (1: none lost) with
    where that share comes from."""

    code: str
    fields: dict[str, Any]
    count: int
    device_gib: float
    fits: bool
    speed_share: float
    source: str

    def typed_fields(self) -> dict[str, Any]:
        """Return the fields as an edit of the workload takes them."""
        fields = dict(self.fields)
        if "parallelism" in fields:
            fields["parallelism"] = convert(fields["parallelism"], Parallelism)
        return fields


class Candidate(Struct, frozen=True):
    """A change worth trying: fields to set (a degree of parallelism as "parallelism.zero"), the
    share of the speed that is left, GPUs beside those there are."""

    code: str
    fields: dict[str, Any]
    speed_share: float
    source: str
    more_gpus: int = 0


def cheapest_changes(workload: Workload, gpu: GPU, count: int, zoo: Zoo) -> tuple[Change, ...]:
    """Single changes that reduce the memory, those that fit first, then without another card, then
    by the speed they leave; where none that keeps the task fits, what does together."""
    now, room = estimate_memory(workload, gpu, count, zoo, explained=False), room_gib(gpu)
    if count > 1 and deals_layers(workload, now.stack):
        ways = msgspec.structs.replace(workload.parallelism or Parallelism(), pipeline=count)
        workload = msgspec.structs.replace(workload, parallelism=ways)
        now = estimate_memory(workload, gpu, count, zoo, explained=False)
    asked = _Asked(workload, gpu, count, zoo, now, room)
    single = candidates(workload, gpu, count, zoo, now.stack)
    found = [change for one in single if (change := _tried(asked, (one,))) is not None]
    if not any(change.fits and _same_task(change) for change in found):
        found += _together(asked, single, found)
    return tuple(
        sorted(
            found,
            key=lambda change: (
                not change.fits,
                change.count,
                -change.speed_share,
                change.device_gib,
            ),
        )
    )


class _Asked(Struct, frozen=True):
    """The job as it is on so many of a GPU, what it takes now, and GiB that there are."""

    workload: Workload
    gpu: GPU
    count: int
    zoo: Zoo
    now: MemoryEstimate
    room: float


def _together(asked: _Asked, single: list[Candidate], alone: Sequence[Change]) -> list[Change]:
    """Changes of several candidates that fit: pairs, and a row of more where no pair keeps the
    task. Where one that changes the task fits alone, those that keep it."""
    if any(change.fits for change in alone):
        single = [one for one in single if "task" not in one.fields]
    helpful = {change.code for change in alone}
    pairs = combinations([one for one in single if one.code in helpful], 2)
    both = (_tried(asked, pair) for pair in pairs if not set(pair[0].fields) & set(pair[1].fields))
    fitting = [change for change in both if change is not None and change.fits]
    if any(_same_task(change) for change in fitting):
        return fitting
    here = [one for one in single if not one.more_gpus]
    same = [one for one in here if "task" not in one.fields]
    rows = (_row(asked, ones) for ones in (same, *([] if fitting else [here, single])))
    return fitting + next((row for row in rows if row), [])


def _same_task(change: Change) -> bool:
    return "task" not in change.fields


def _row(asked: _Asked, single: list[Candidate]) -> list[Change]:
    """One combination that fits, grown by what saves most and rid of what it then can spare, the
    slowest first; or none."""
    chosen: tuple[Candidate, ...] = ()
    while len(chosen) < LONGEST_ROW:
        taken = {field for one in chosen for field in one.fields}
        tried = [
            (change, one)
            for one in single
            if not taken & set(one.fields) and (change := _tried(asked, (*chosen, one))) is not None
        ]
        if not tried:
            return []
        best, one = min(tried, key=lambda pair: pair[0].device_gib)
        chosen = (*chosen, one)
        if best.fits:
            return [_spared(asked, chosen, best)]
    return []


def _spared(asked: _Asked, chosen: tuple[Candidate, ...], fitting: Change) -> Change:
    """The combination without each of its parts that it fits without."""
    for one in sorted(chosen, key=lambda one: one.speed_share):
        rest = tuple(each for each in chosen if each is not one)
        change = _tried(asked, rest)
        if change is not None and change.fits:
            chosen, fitting = rest, change
    return fitting


LONGEST_ROW = 5


def _tried(asked: _Asked, together: tuple[Candidate, ...]) -> Change | None:
    fields = _joined(asked.workload, together)
    gpus = asked.count + sum(one.more_gpus for one in together)
    work = changed(asked.workload, fields)
    try:
        then = estimate_memory(work, asked.gpu, gpus, asked.zoo, explained=False)
    except WorkloadFault:
        return None
    if then.device_gib >= asked.now.device_gib - 0.01:
        return None
    share = 1.0
    for one in together:
        share *= one.speed_share
    return Change(
        code="+".join(one.code for one in together),
        fields=msgspec.to_builtins(fields),
        count=gpus,
        device_gib=then.device_gib,
        fits=then.high_gib <= asked.room,
        speed_share=round(share, 3),
        source="; ".join(dict.fromkeys(one.source for one in together)),
    )


def _joined(workload: Workload, together: tuple[Candidate, ...]) -> dict[str, Any]:
    """The fields of several changes, degrees of parallelism as one."""
    fields = {name: value for one in together for name, value in one.fields.items()}
    degrees = {name: fields.pop(name) for name in tuple(fields) if name.startswith(DEGREE)}
    if degrees:
        fields["parallelism"] = msgspec.structs.replace(
            workload.parallelism or Parallelism(),
            **{name.removeprefix(DEGREE): value for name, value in degrees.items()},
        )
    return fields


DEGREE = "parallelism."


def candidates(workload: Workload, gpu: GPU, count: int, zoo: Zoo, stack: str) -> list[Candidate]:
    """Changes worth trying for a job that runs on a software stack; a GPU that is built in has none
    beside it."""
    if (workload.task or "").startswith("train"):
        found = [*_lean_training(workload), *_shared_training(workload, count), *_shrunk(workload)]
    else:
        fewer = _fewer_bits(workload, stack, resolve(workload, zoo).kind)
        found = [*fewer, *_shared_inference(workload, gpu, count, zoo, stack), *_halved(workload)]
    return [one for one in found if not one.more_gpus] if gpu.form_factor == BUILT_IN else found


BUILT_IN = "embedded"
"""Form factor of GPUs that are soldered into their computer, one in each."""


RECOMPUTE = "one more forward pass in three (Chen et al. 2016, arXiv 1604.06174)"
SELECTIVE = (
    "2.7 % more time at 175B parameters, to 7 % at 22B (Korthikanti et al. 2022, arXiv 2205.05198)"
)
SMALLER_BATCH = "the same samples in more, smaller steps; the loss depends on how full the GPU was"
QUANTISED = (
    "weights are brought back to 16 bits for every product (Dettmers et al. 2023, arXiv 2305.14314)"
)
IN_TURN = "Stable Diffusion 3: 32.8 s against 4.8 s on an A100 (huggingface.co/blog/sd3)"
LAYER_BY_LAYER = (
    "FLUX.1-dev on an RTX 3090: 15 minutes for 50 steps (black-forest-labs/flux issue 138), where"
    " one that fits takes some 75 s"
)
LOSSLESS = "the same arithmetic"
ZERO = "ZeRO (Rajbhandari et al. 2019, arXiv 1910.02054): stage 3 sends 1.5 times as much"
OFFLOAD = (
    "ZeRO-Offload, arXiv 2101.06840: the step runs on the CPU, its traffic over PCIe; more batches"
    " per update cost less"
)
ANOTHER_CARD = "the work of one card more, less what their link takes"
EIGHT_BIT = "8-bit states (Dettmers et al. 2021, arXiv 2110.02861)"


def _lean_training(workload: Workload) -> list[Candidate]:
    found: list[Candidate] = []
    if workload.gradient_checkpointing in (None, False, "none"):
        found.append(
            Candidate(
                "selective_checkpointing", {"gradient_checkpointing": "selective"}, 0.95, SELECTIVE
            )
        )
    if workload.gradient_checkpointing in (None, False, "none", "selective"):
        found.append(
            Candidate("checkpointing", {"gradient_checkpointing": "full"}, 0.75, RECOMPUTE)
        )
    if workload.attention == "eager":
        found.append(Candidate("fused_attention", {"attention": "sdpa"}, 1.0, LOSSLESS))
    if workload.optimizer in (None, "adamw", "adam"):
        found.append(Candidate("fused_optimizer", {"optimizer": "adamw_fused"}, 1.0, LOSSLESS))
    if workload.optimizer in (None, "adamw", "adam", "adamw_fused"):
        found.append(Candidate("eight_bit_optimizer", {"optimizer": "adamw_8bit"}, 0.98, EIGHT_BIT))
    if not {
        "fused_loss",
        "fused_cross_entropy",
        "cut_cross_entropy",
        "liger",
        "chunked_cross_entropy",
        "compiled_loss",
    } & set(workload.flags):
        found.append(
            Candidate(
                "fused_loss",
                {"flags": [*workload.flags, "fused_loss"]},
                1.0,
                "Liger kernels, arXiv 2410.10989",
            )
        )
    return found


def _shared_training(workload: Workload, count: int) -> list[Candidate]:
    ways, found = workload.parallelism or Parallelism(), []
    if count > 1:
        found += [
            Candidate(f"zero_{stage}", {f"{DEGREE}zero": stage}, 0.85 if stage == 3 else 1.0, ZERO)
            for stage in range(ways.zero + 1, 4)
        ]
    if ways.offload in (None, "none"):
        found.append(
            Candidate("offload_optimizer", {f"{DEGREE}offload": "optimizer"}, 0.4, OFFLOAD)
        )
    wider: dict[str, Any] = {f"{DEGREE}zero": 3}
    if ways.data is not None:
        wider[f"{DEGREE}data"] = ways.data + 1
    found.append(Candidate("one_more_gpu", wider, 0.85 * (count + 1) / count, ANOTHER_CARD, 1))
    return found


def _shrunk(workload: Workload) -> list[Candidate]:
    batch, found = workload.batch_per_gpu or 1, []
    if batch > 1:
        steps = 2 * (workload.gradient_accumulation or 1)
        fields = {"batch_per_gpu": batch // 2, "gradient_accumulation": steps}
        found.append(Candidate("half_batch", fields, 0.9, SMALLER_BATCH))
    if workload.task in ("train", "train_full"):
        found.append(
            Candidate(
                "lora",
                {"task": "train_lora", "lora_rank": 16},
                1.0,
                "Hu et al. 2021, arXiv 2106.09685",
            )
        )
    if workload.task in ("train_lora", "train_dora"):
        found.append(
            Candidate("quantised_base", {"task": "train_qlora", "precision": "nf4"}, 0.7, QUANTISED)
        )
    return found


TAKES_FILES = "comfyui"
"""The program for networks that draw which reads files of llama.cpp's formats."""


def _fewer_bits(workload: Workload, stack: str, kind: str) -> list[Candidate]:
    found: list[Candidate] = []
    wide = workload.precision in (None, "fp16", "bf16", "fp32")
    if wide:
        found.append(Candidate("eight_bit_weights", {"precision": "int8"}, 0.95, QUANTISED))
    if wide or workload.precision in ("fp8", "int8"):
        four = (
            {"precision": "q4_k_s"}
            if stack == TAKES_FILES
            else {"precision": "nf4", "quant": "bnb"}
            if kind in DRAWN
            else {"precision": "int4", "quant": "awq"}
        )
        found.append(Candidate("four_bit_weights", four, 0.9, QUANTISED))
    if workload.precision in ("q8_0", "f16", "q6_k"):
        found.append(
            Candidate(
                "four_bit_weights",
                {"precision": "q4_k_m"},
                1.0,
                "fewer bytes are read for every token",
            )
        )
    if kind in DRAWN:
        if "sequential_cpu_offload" not in workload.flags:
            kept = [flag for flag in workload.flags if flag != "model_cpu_offload"]
            if kept == list(workload.flags):
                flags = [*kept, "model_cpu_offload"]
                found.append(Candidate("components_in_turn", {"flags": flags}, 0.15, IN_TURN))
            flags = [*kept, "sequential_cpu_offload"]
            found.append(Candidate("layers_in_turn", {"flags": flags}, 0.08, LAYER_BY_LAYER))
    elif workload.kv_precision in (None, "fp16", "bf16"):
        word = "q8_0" if stack == "llama.cpp" else "fp8"
        found.append(
            Candidate("eight_bit_cache", {"kv_precision": word}, 1.0, "half the cache is read")
        )
    return found


def _shared_inference(
    workload: Workload, gpu: GPU, count: int, zoo: Zoo, stack: str
) -> list[Candidate]:
    ways, found = workload.parallelism or Parallelism(), []
    degree = ways.tensor * 2
    if count >= degree:
        found.append(Candidate("tensor_parallel", {f"{DEGREE}tensor": degree}, 1.0, LOSSLESS))
    if count == 1 or ways.pipeline == count:
        more = {f"{DEGREE}pipeline": ways.pipeline + 1}
        found.append(Candidate("one_more_gpu", more, 1.0, "layers run one card after the other", 1))
    if stack in LAYERED:
        found += _in_ram(workload, gpu, count, zoo)
    return found


LAYERED = ("llama.cpp", "ik_llama.cpp")
"""Engines that leave layers, or the experts of some, in RAM."""
MOVED_SLOWER = 3.0
"""By how many times a token's time grows where RAM holds all experts: an RX 7900 XT writes 94
tokens/s of gpt-oss-20b, 20 with its experts in DDR4-3200; more cards and RAM lie around it."""
LAYERS_SLOWER = 9.0
"""The same where RAM holds all layers: two channels read a tenth of what a card's memory does."""
LAYERS_IN_RAM = "layers in host memory run at its bandwidth"
EXPERTS_IN_RAM = "a quarter to a third with all experts in RAM (llama.cpp discussion 15396)"


def _in_ram(workload: Workload, gpu: GPU, count: int, zoo: Zoo) -> list[Candidate]:
    """Layers, or the experts of the first ones, in RAM: as few as make room."""
    found, network = [], resolve(workload, zoo)
    placed = workload.cpu_moe or workload.n_cpu_moe or workload.override_tensors
    if network.expert_params and workload.gpu_layers is None and not placed:
        most = max(1, network.layers)
        moved = _fewest_experts(workload, gpu, count, zoo, most)
        if moved:
            share = 1 / (1 + MOVED_SLOWER * moved / most)
            fields = {"n_cpu_moe": moved}
            found.append(Candidate("experts_in_ram", fields, round(share, 2), EXPERTS_IN_RAM))
    layers = _layers_that_fit(workload, gpu, count, zoo)
    if layers:
        away = max(0.0, 1 - layers / max(1, network.layers))
        share = round(1 / (1 + LAYERS_SLOWER * away), 2)
        found.append(Candidate("fewer_gpu_layers", {"gpu_layers": layers}, share, LAYERS_IN_RAM))
    return found


def _fewest_experts(workload: Workload, gpu: GPU, count: int, zoo: Zoo, most: int) -> int:
    """The fewest layers whose experts RAM must hold; 0 where all of them are too few."""
    room, low, high = room_gib(gpu), 0, most + 1
    while high - low > 1:
        middle = (low + high) // 2
        moved = msgspec.structs.replace(workload, n_cpu_moe=middle)
        need = estimate_memory(moved, gpu, count, zoo, explained=False)
        low, high = (low, middle) if need.high_gib <= room else (middle, high)
    return high if high <= most else 0


def _layers_that_fit(workload: Workload, gpu: GPU, count: int, zoo: Zoo) -> int:
    """The most layers on the GPU that fit; 0 where none does."""
    room, low, high = room_gib(gpu), 0, workload.gpu_layers or 1024
    while high - low > 1:
        middle = (low + high) // 2
        need = estimate_memory(
            msgspec.structs.replace(workload, gpu_layers=middle), gpu, count, zoo, explained=False
        )
        low, high = (middle, high) if need.high_gib <= room else (low, middle)
    return low


def _halved(workload: Workload) -> list[Candidate]:
    if not workload.batch_per_gpu or workload.batch_per_gpu < 2:
        return []
    return [
        Candidate("half_batch", {"batch_per_gpu": workload.batch_per_gpu // 2}, 0.6, SMALLER_BATCH)
    ]
