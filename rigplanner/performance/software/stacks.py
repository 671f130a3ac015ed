"""Software stacks as data: what a prediction is conditioned on."""

import difflib
from functools import cache
from typing import Literal

import msgspec
from msgspec import Struct

from rigplanner.catalog.schema.parts import GPU
from rigplanner.data import data_path
from rigplanner.decoding import read_json
from rigplanner.errors import WorkloadFault
from rigplanner.memory.usable_memory import on_module
from rigplanner.performance.software.readiness import format_of, ready
from rigplanner.rig.own_words import own_stack
from rigplanner.workload.quant import GGUF


class Kin(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a stack without measured rows of its own compares with one that has them: `ratio` times
    as fast, within a factor of `spread` either way in four cases of five. `networks` holds the
    ratio of single ones, in training by their name alone, else followed by the task; `generations`
    what multiplies the ratio on some."""

    like: str
    ratio: float
    spread: float
    source: str
    networks: dict[str, float] = {}
    generations: dict[str, float] = {}

    def ratio_of(self, network: str, task: str, generation: str) -> float:
        """Return how many times as fast as its kin the stack is on a network and generation."""
        trained = self.networks.get(network, self.ratio)
        found = trained if task == "train" else self.networks.get(f"{network} {task}", trained)
        return found * self.generations.get(generation, 1.0)


class Stack(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One named stack. `tuned` is the share of the matrix peak that its large kernels reach,
    `fusion` the share of element-wise traffic that it saves, `launch_us` the host time per kernel
    in microseconds; all three are starting points that anchors correct. `family` names stacks that
    behave alike; `sharded` says that weights are gathered each step (FSDP, ZeRO), `splits_layers`
    that several GPUs hold layers in turn and one stream uses one GPU at a time; `packs_head` that
    narrow weights include the output's, which most leave in 16 bits; `attends_apart` that several
    GPUs which share experts attend each to streams of their own, which each schedules (attention in
    data parallel); `tf32` that products of fp32 run in TF32 where there are units for it, unless
    told not to (TensorFlow from 2.4 on, NVIDIA's containers, PaddlePaddle: tensorflow.org,
    enable_tensor_float_32_execution; NVIDIA's support matrix; PLSC's DeiT in fp32 on A100, 3.4
    times what shaders do); `spread` is the factor either way by which other users' runs lie, where
    its rows come from one hand."""

    slug: str = ""
    framework: str
    family: str
    layout: Literal["NCHW", "NHWC", "none"]
    launch_us: float
    fusion: float
    tuned: float
    tasks: tuple[str, ...]
    precision: str
    fused_attention: bool = False
    sharded: bool = False
    splits_layers: bool = False
    packs_head: bool = False
    attends_apart: bool = False
    tf32: bool = False
    spread: float = 1.0
    kin: Kin | None = None


class Released(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """When the versions of a framework came out, and the stacks that are built on it."""

    framework: str
    stacks: tuple[str, ...]
    years: dict[str, float]
    source: str


class Runs(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What some stacks run on, in any release: chips of `makers` and of `architectures` that begin
    so; of NVIDIA's the compute capabilities `lowest`..`highest`, or `only` some, but `never`
    others; networks of `kinds`, the classes of the speed model. With `precision` the row holds for
    jobs in it alone. What is left out is not limited."""

    stacks: tuple[str, ...]
    makers: tuple[str, ...] = ()
    architectures: tuple[str, ...] = ()
    lowest: str | None = None
    highest: str | None = None
    only: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    precision: str | None = None
    source: str


class _File(Struct, forbid_unknown_fields=True):
    """The shipped stacks; `usual_on` names those that makers of other chips keep for them, by the
    beginning of the architecture, first the one that goes before; `same_as` has other names of
    them: one slug, or that of training and that of inference."""

    stacks: dict[str, Stack]
    released: tuple[Released, ...] = ()
    runs: tuple[Runs, ...] = ()
    usual_on: dict[str, tuple[str, ...]] = {}
    same_as: dict[str, str | tuple[str, str]] = {}


@cache
def _file() -> _File:
    return read_json((data_path("catalog") / "benchmarks" / "stacks.json").read_bytes(), _File)


@cache
def shipped_stacks() -> dict[str, Stack]:
    """Return all stacks by slug, read once."""
    return {
        slug: msgspec.structs.replace(stack, slug=slug) for slug, stack in _file().stacks.items()
    }


@cache
def released() -> dict[str, Released]:
    """Return when the versions of a stack's framework came out, by stack."""
    return {slug: entry for entry in _file().released for slug in entry.stacks}


def find_stack(slug: str, task: str = "train") -> Stack:
    """Return the stack of this slug, or of another name of it in a task; raise WorkloadFault with
    the nearest names when there is none. A trainer that is also another name of what draws is the
    latter where nothing is trained."""
    stacks, others = shipped_stacks(), _file().same_as
    if slug in stacks and (slug not in others or task.startswith("train")):
        return stacks[slug]
    word = own_stack(slug, task).casefold()
    other = others.get(word, word)
    known = other if isinstance(other, str) else other[0 if task.startswith("train") else 1]
    if known in stacks:
        return stacks[known]
    near = difflib.get_close_matches(word, [*stacks, *others], 4, 0.4) or sorted(stacks)[:4]
    raise WorkloadFault(f"stack: '{slug}' is not known; the nearest are {', '.join(near)}.")


_LANGUAGE = ("llm", "moe")
BEFORE_ENGINES = (
    "kepler",
    "maxwell",
    "pascal",
    "gcn",
    "vega",
    "rdna",
    "rdna2",
    "apple",
    "alchemist",
    "battlemage",
    "xe",
)
"""Architectures that serving engines do not run on, or seldom (vLLM needs compute capability 7.0,
ROCm's builds CDNA 2 or RDNA 3)."""


def usual_stack(
    task: str,
    kind: str,
    precision: str | None,
    gpu: GPU,
    generation: str,
    shared: bool,
    quant: str | None = None,
) -> Stack:
    """Return the stack that most people run such a job with (a convention, named in the answer's
    `assumed`) among those that run on the GPU; `shared` says that the job asks for one copy of the
    model over several GPUs."""
    words = (
        _conventional(task, kind, precision, gpu, generation, shared),
        *ELSEWHERE[kind in _LANGUAGE],
    )
    stacks = [find_stack(slug) for slug in (*_at_home(gpu), *words)]
    suiting = (
        stack
        for stack in stacks
        if task in stack.tasks
        and why_not(stack, gpu, kind, precision, quant) is None
        and _quick(stack, gpu, precision, quant)
    )
    return next(suiting, find_stack(words[0]))


def _quick(stack: Stack, gpu: GPU, precision: str | None, quant: str | None) -> bool:
    found = ready(stack.slug, gpu, precision, quant)
    return found is None or found.how != "slow"


ELSEWHERE = {
    True: ("llama.cpp", "vllm", "hf-transformers", "hf-trainer"),
    False: ("diffusers", "pytorch-eager"),
}
"""Stacks that run wherever PyTorch does, for chips that the usual one does not serve: of language
models, and of others."""


def _at_home(gpu: GPU) -> tuple[str, ...]:
    """The stacks that the maker of a chip keeps for it."""
    chip = gpu.architecture or ""
    return next((slugs for start, slugs in _file().usual_on.items() if chip.startswith(start)), ())


def _conventional(
    task: str, kind: str, precision: str | None, gpu: GPU, generation: str, shared: bool
) -> str:
    language = kind in _LANGUAGE
    if task == "collective":
        return "nccl-tests"
    if task == "train_lora":
        return "kohya" if kind in ("diffusion", "dit") else "hf-trainer"
    if task == "train":
        return ("fsdp" if shared else "hf-trainer") if language else "pytorch-ngc"
    if kind in ("diffusion", "dit"):
        return "diffusers-xformers"
    if not language:
        embedded = gpu.form_factor == "chip" or on_module(gpu)
        return (
            "jetson"
            if embedded
            else "tensorrt"
            if precision in ("int8", "fp8")
            else "pytorch-eager"
        )
    return "llama.cpp" if generation in BEFORE_ENGINES or precision in GGUF else "vllm"


@cache
def _limits(slug: str) -> tuple[Runs, ...]:
    return tuple(row for row in _file().runs if slug in row.stacks)


def why_not(
    stack: Stack, gpu: GPU, kind: str, precision: str | None, quant: str | None = None
) -> str | None:
    """Return why no release of a stack runs a network of `kind` on a GPU, as a phrase; None where
    it may: what the catalog does not know of a GPU refuses nothing."""
    for row in _limits(stack.slug):
        if row.precision is None or row.precision == precision:
            fault = _of_maker(row, gpu) or _of_capability(row, gpu)
            if fault or (row.kinds and kind not in row.kinds):
                return fault or f"runs networks of {', '.join(row.kinds)}, not of {kind}"
    found = ready(stack.slug, gpu, precision, quant)
    if found is None or found.how != "none":
        return None
    files = format_of(precision, quant)
    return (
        f"has no kernels for weights in {files} on {gpu.name}"
        if found.makers
        else f"does not load weights in {files}"
    )


def _of_maker(row: Runs, gpu: GPU) -> str | None:
    if row.makers and gpu.chip_maker not in row.makers:
        return f"runs on GPUs of {', '.join(row.makers)}, not on {gpu.name} of {gpu.chip_maker}"
    if (
        row.architectures
        and gpu.architecture
        and not gpu.architecture.startswith(row.architectures)
    ):
        return f"runs on {', '.join(row.architectures)}, not on {gpu.name} ({gpu.architecture})"
    return None


def _of_capability(row: Runs, gpu: GPU) -> str | None:
    if gpu.chip_maker != "NVIDIA" or not gpu.compute_capability:
        return None
    found, held = _numbers(gpu.compute_capability), f"{gpu.name} has {gpu.compute_capability}"
    narrow = f"{row.precision} " if row.precision else ""
    if row.lowest and found < _numbers(row.lowest):
        return f"runs {narrow}from compute capability {row.lowest} on; {held}"
    if row.highest and found > _numbers(row.highest):
        return f"runs {narrow}up to compute capability {row.highest}; {held}"
    if row.only and gpu.compute_capability not in row.only:
        return f"runs {narrow}on compute capability {', '.join(row.only)}; {held}"
    return f"does not run {narrow}on {gpu.name}" if gpu.compute_capability in row.never else None


@cache
def _numbers(capability: str) -> tuple[int, ...]:
    return tuple(int(word) for word in capability.split("."))
