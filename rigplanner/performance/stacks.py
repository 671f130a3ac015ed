"""Software stacks as data: what a prediction is conditioned on."""

import difflib
from functools import cache
from typing import Literal

import msgspec
from msgspec import Struct

from rigplanner.data import data_path
from rigplanner.workload.answer import WorkloadFault
from rigplanner.workload.quant import GGUF


class Kin(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a stack without measured rows of its own compares with one that has them: `ratio` times as fast, within a factor of
    `spread` either way in four cases of five."""

    like: str
    ratio: float
    spread: float
    source: str


class Stack(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One named stack. `tuned` is the share of the matrix peak that its large kernels reach, `fusion` the share of element-wise
    traffic that it saves, `launch_us` the host time per kernel in microseconds; all three are starting points that anchors correct.
    `family` names stacks that behave alike; `sharded` says that weights are gathered each step (FSDP, ZeRO),
    `splits_layers` that several GPUs hold layers in turn and one stream uses one GPU at a time; `packs_head` that narrow weights
    include the output's, which most leave in 16 bits; `attends_apart` that several GPUs which share experts attend each to streams
    of their own, which each schedules (attention in data parallel); `spread` is the factor either way by which other users' runs
    lie, where its rows come from one hand."""

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
    spread: float = 1.0
    kin: Kin | None = None


class Released(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """When the versions of a framework came out, and the stacks that are built on it."""

    framework: str
    stacks: tuple[str, ...]
    years: dict[str, float]
    source: str


class _File(Struct, forbid_unknown_fields=True):
    """The shipped stacks; `same_as` has other names of them: one slug, or that of training and that of inference."""

    stacks: dict[str, Stack]
    released: tuple[Released, ...] = ()
    same_as: dict[str, str | tuple[str, str]] = {}


@cache
def _file() -> _File:
    return msgspec.json.decode((data_path("catalog") / "benchmarks" / "stacks.json").read_bytes(), type=_File)


@cache
def shipped_stacks() -> dict[str, Stack]:
    """Return all stacks by slug, read once."""
    return {slug: msgspec.structs.replace(stack, slug=slug) for slug, stack in _file().stacks.items()}


@cache
def released() -> dict[str, Released]:
    """Return when the versions of a stack's framework came out, by stack."""
    return {slug: entry for entry in _file().released for slug in entry.stacks}


def find_stack(slug: str, task: str = "train") -> Stack:
    """Return the stack of this slug, or of another name of it in a task; raise WorkloadFault with the nearest names when there is
    none."""
    stacks, others = shipped_stacks(), _file().same_as
    if slug in stacks:
        return stacks[slug]
    word = slug.casefold().replace("_", "-").replace(" ", "-")
    other = others.get(word, word)
    known = other if isinstance(other, str) else other[0 if task.startswith("train") else 1]
    if known in stacks:
        return stacks[known]
    near = difflib.get_close_matches(word, [*stacks, *others], 4, 0.4) or sorted(stacks)[:4]
    raise WorkloadFault(f"stack: '{slug}' is not known; the nearest are {', '.join(near)}.")


_LANGUAGE = ("llm", "moe")
BEFORE_ENGINES = (
    "kepler", "maxwell", "pascal", "gcn", "vega", "rdna", "rdna2", "apple", "alchemist", "battlemage", "xe",
)  # fmt: skip
"""Architectures that serving engines do not run on, or seldom (vLLM needs compute capability 7.0, ROCm's builds CDNA 2 or
RDNA 3)."""


def usual_stack(task: str, kind: str, precision: str | None, generation: str, embedded: bool, shared: bool) -> Stack:
    """Return the stack that most people run such a job with (a convention, named in the answer's `assumed`); `shared` says that the
    job asks for one copy of the model over several GPUs."""
    language = kind in _LANGUAGE
    if task == "collective":
        slug = "nccl-tests"
    elif task == "train_lora":
        slug = "hf-trainer"
    elif task == "train":
        slug = ("fsdp" if shared else "hf-trainer") if language else "pytorch-ngc"
    elif kind in ("diffusion", "dit"):
        slug = "diffusers-xformers"
    elif not language:
        slug = "jetson" if embedded else "tensorrt" if precision in ("int8", "fp8") else "pytorch-eager"
    elif generation in BEFORE_ENGINES or precision in GGUF:
        slug = "llama.cpp"
    else:
        slug = "vllm"
    return find_stack(slug)
