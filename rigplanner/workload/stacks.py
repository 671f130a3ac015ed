"""What software adds to the tensors, per stack: allocator slack, workspaces, the driver's context.
One table, fitted by source."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Literal

import msgspec
from msgspec import Struct

from rigplanner.data import data_path
from rigplanner.decoding import read_json
from rigplanner.errors import WorkloadFault
from rigplanner.evidence import Source
from rigplanner.rig.own_words import own_stack


class Spare(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What lies beyond live tensors. `fixed_gib`: workspaces of libraries, which the allocator
    hands out. Held besides: `share` of the live tensors up to `most_gib` (blocks that no request
    fits), `moving` of what comes and goes in a step, `static` of weights and states (rounding to
    blocks, buffers that nothing lists)."""

    fixed_gib: float = 0.0
    share: float = 0.0
    most_gib: float = 0.0
    moving: float = 0.0
    static: float = 0.0

    def held_gib(self, moving_gib: float, static_gib: float) -> float:
        """GiB that the allocator holds beyond what it has handed out."""
        whole = moving_gib + static_gib
        return (
            min(self.most_gib, self.share * whole)
            + self.moving * moving_gib
            + self.static * static_gib
        )


class MemoryStack(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One stack. `context_gib`: the driver's context with the framework's kernels. `training` and
    `inference`: what lies beyond live tensors; a stack that names neither has those that all
    PyTorch stacks share. `selective`: what selective recomputation drops, the attention core or all
    but every second product (`ops`). `kept`: a factor of a stack's own of what image networks keep.
    `kv_growth`: the cache is joined anew each token (`copied`) or allocated once (`whole`).
    `eager`: attention writes its scores. `stored_fp32`: weights stay in fp32 whatever the
    precision; `loaded_beside`: the 16-bit file lay on the GPU beside them. `beams`: hypotheses that
    each sample has in work. `pool`: the engine keeps a share of the card, `utilization` unless
    told, and how that share is counted (see engines.pool_gib). `loss` as in the trace;
    `writes_logits`: its fused cross-entropy reads logits that are there whole. `unties_head`: a
    head tied to the embedding is stored once more. `fused_optimizer`: the step needs no copies of
    the gradients. `reduces_fp32`: sharded gradients are brought to fp32 before they are summed over
    the cards. `usual_checkpointing`: what its recipes recompute unless told otherwise.
    `raises_rest`: beside a quantised base, embedding and head are kept in fp32. `lora_dropout`: its
    recipes drop values before the adapter. `keeps_quantised_inputs`: products with a quantised
    matrix keep their input, as bitsandbytes did up to 0.42 (MatMul4Bit.forward). `master_fp32`:
    16-bit parameters have a copy of 4 bytes beside the optimizer's state, `gradients_fp32`: and
    gradients of 4 bytes. `waits_checkpoints`: inputs of recomputed layers wait in host memory.
    `gates_in_place`: the activated gate, its product and their gradients take no memory of their
    own. `in_turn`: a pipeline's networks come to the GPU one after the other.
    `gathers_tables_apart`: sharded embedding and head are each gathered by themselves,
    `gathers_experts`: quantised experts stay whole on each rank; `live_values`: gathered values
    that ZeRO's third stage leaves in place (stage3_max_live_parameters). `staged_gib`:
    what parameters that wait in the computer take on the card on their way, beside the layers at
    work. `deals_layers`: its pipeline is a network whose layers lie on several cards, through which
    one batch goes (device_map).
    `doubly_quantised`: its 4-bit scales are quantised too. `quantises_tables`: embedding and head
    are quantised like all else. `autocasts`: a trainer runs 16-bit networks under autocast, a loop
    of one's own does not and `holds_outputs`, the logits, until the backward pass has ended.
    `sharded_masters`: what FSDP trains in bf16 is brought to fp32 first (accelerate since 0.30,
    with mixed precision). `keeps_frozen_gradients`: FSDP's first form is the one it shards with.
    `preallocates`: the cache is there before the prompt, whether or not anything is generated.
    `flat_step`: the optimizer steps on one flat copy of a rank's gradients in fp32.
    `joins_experts`: the experts of its mixtures are those of transformers. `widens_full`: types
    of 16 bits in which a whole network trains under autocast alone, its weights being in fp32.
    `bucket_values`: values of ZeRO's bucket, 0 where DistributedDataParallel sums gradients, null
    where they are summed where they lie. `own_networks`: written without transformers.
    `table_on_host`: the embedding is looked up by the processor; `prompt_piece`: tokens of a prompt
    that are worked on at once. `frozen_norms`: batch norms of a detector's backbone are constants;
    `float_norms`: mixed precision feeds norms in float; `keeps_scores`: softmax and log-softmax of
    a segmenter keep their input too, and ReLUs that are not in place."""

    slug: str = ""
    context_gib: float = 0.6
    training: Spare | None = None
    inference: Spare | None = None
    selective: Literal["attention", "ops"] = "attention"
    kv_growth: Literal["copied", "whole"] = "whole"
    kept: float = 1.0
    text_tokens: int = 512
    loss: Literal["plain", "chunked", "fused"] = "plain"
    writes_logits: bool = False
    eager: bool = False
    stored_fp32: bool = False
    loaded_beside: bool = False
    beams: int = 1
    pool: Literal["", "peak", "static", "free"] = ""
    utilization: float = 0.9
    fused_act: bool = False
    gates_in_place: bool = False
    gathers_all: bool = False
    gathers_tables_apart: bool = False
    gathers_experts: bool = False
    live_values: float = 0.0
    staged_gib: float = 0.0
    deals_layers: bool = False
    unties_head: bool = False
    unknown_checkpointing: Literal["none", "selective", "full"] = "none"
    usual_checkpointing: Literal["none", "selective", "full"] = "none"
    lora_dropout: bool = False
    keeps_quantised_inputs: bool = False
    fused_optimizer: bool = False
    reduces_fp32: bool = False
    raises_rest: bool = False
    master_fp32: bool = False
    gradients_fp32: bool = False
    waits_checkpoints: bool = False
    sharded_masters: bool = False
    keeps_frozen_gradients: bool = False
    in_turn: bool = False
    holds_encoders: bool = False
    preallocates: bool = False
    bucket_values: float | None = 0.0
    flat_step: bool = False
    joins_experts: bool = False
    widens_full: tuple[str, ...] = ()
    doubly_quantised: bool = False
    quantises_tables: bool = False
    frozen_norms: bool = False
    float_norms: bool = False
    keeps_scores: bool = False
    adapters: Literal["fp32", "base"] = "base"
    autocasts: bool = True
    own_networks: bool = False
    table_on_host: bool = False
    prompt_piece: int | None = None
    holds_outputs: bool = False
    note: str = ""

    def spare(self, task: str, group: str = "language") -> Spare:
        """What lies beyond live tensors in a task, of a group of networks."""
        own = self.training if task.startswith("train") else self.inference
        return own if own is not None else shared_spare(spare_name(task, group))


class _File(Struct, forbid_unknown_fields=True):
    sources: dict[str, Source]
    shared: dict[str, Spare]
    intervals: dict[str, list[float]]
    stacks: dict[str, MemoryStack]
    measured: dict[str, int] = {}
    same_as: dict[str, str] = {}


@cache
def _file() -> _File:
    return read_json(
        (data_path("catalog") / "architectures" / "memory_stacks.json").read_bytes(), _File
    )


@cache
def memory_stacks() -> dict[str, MemoryStack]:
    """Return the profiles by slug, aliases included, read once."""
    read = _file()
    found = {slug: msgspec.structs.replace(stack, slug=slug) for slug, stack in read.stacks.items()}
    return found | {alias: found[slug] for alias, slug in read.same_as.items()}


def spare_name(task: str, group: str) -> str:
    """The name of what all PyTorch stacks share in a task; the image decoder of a pipeline runs in
    blocks of many sizes, and its convolutions take workspaces."""
    return (
        "training"
        if task.startswith("train")
        else "generation"
        if group == "diffusion"
        else "inference"
    )


def shared_spare(name: str) -> Spare:
    """What lies beyond live tensors in PyTorch's allocator: `training`, `inference` or `generation`
    (of images)."""
    return _file().shared[name]


KNOWN_STILL = 0.8
"""Share of the weights of inference that an interval by task does not stretch: they are counted,
what moves is modelled. Of 69 published figures, 80 % lie within -3 and +5 % where weights are four
fifths and more, within -10 and +26 % elsewhere."""


def known_gib(slug: str, task: str, still_gib: float) -> float:
    """Return what of the weights an interval leaves alone; stacks with an interval of their own,
    and training, leave none."""
    return 0.0 if task.startswith("train") or slug in _file().intervals else KNOWN_STILL * still_gib


GROUPS = {
    "cnn": "image",
    "vit": "image",
    "detector": "image",
    "segmenter": "image",
    "diffusion_unet": "diffusion",
    "diffusion_transformer": "diffusion",
    "asr": "speech",
}
"""Groups of networks that measurements err alike on; the rest are `language`."""


def group_of(kind: str) -> str:
    """The group of a kind of network."""
    return GROUPS.get(kind, "language")


@cache
def interval(names: tuple[str, ...]) -> tuple[float, float]:
    """The factors of allocated and device memory that span 80 % of measurements held out, of the
    first name that has them."""
    table = _file().intervals
    low, high = table[next((name for name in names if name in table), "any")]
    return low, high


@cache
def own_intervals() -> frozenset[str]:
    """The stacks that have an interval of their own."""
    return frozenset(_file().intervals) & frozenset(_file().stacks)


def measured_kinds() -> dict[str, int]:
    """How many sources have measured each kind of job (see nearness.kind_of)."""
    return _file().measured


@lru_cache(1024)
def memory_stack(slug: str) -> MemoryStack:
    """Return one profile; an unknown stack gets the plain PyTorch one under its own name."""
    stacks = memory_stacks()
    if not slug or len(slug) > 80:
        raise WorkloadFault(f"stack: expected a name of at most 80 letters, found {slug[:20]!r}.")
    found = stacks.get(slug.casefold()) or stacks.get(own_stack(slug).casefold())
    return found or msgspec.structs.replace(stacks["pytorch"], slug=slug)
