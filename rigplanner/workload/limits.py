"""Numbers and words of a workload that no machine can mean."""

import re
from collections.abc import Collection
from difflib import get_close_matches
from operator import attrgetter

from rigplanner.errors import WorkloadFault
from rigplanner.rig.workload import Parallelism, Speculative, Workload
from rigplanner.workload.quant import GGUF, SCALES

LARGEST = {
    "batch_per_gpu": 10_000_000,
    "seq_len": 100_000_000,
    "input_tokens": 100_000_000,
    "output_tokens": 100_000_000,
    "frames": 100_000,
    "images": 10_000,
    "lora_rank": 65_536,
    "gradient_accumulation": 1_000_000,
    "gpu_layers": 100_000,
    "n_cpu_moe": 100_000,
    "users": 10_000_000,
    "prefix_tokens": 100_000_000,
}
ABOVE_ZERO = (
    "request_rate",
    "target_first_token_ms",
    "target_tokens_s",
    "params_m",
    "params_b",
    "gmacs",
    "activations_m",
    "dataset_gb",
    "dataset_samples",
    "epochs",
    "train_tokens",
)
"""Figures that are amounts: none may be negative."""
_counts, _amounts = attrgetter(*LARGEST), attrgetter(*ABOVE_ZERO)
SHARED_LAYERS = ("row", "tensor")
"""Ways to split a model in which each card works on a part of each layer (llama.cpp, -sm)."""
SPLITS = ("layer", *SHARED_LAYERS)
ATTENTIONS = (
    "eager",
    "sdpa",
    "flash",
    "flash1",
    "flash2",
    "flash3",
    "flash_attention_2",
    "flash_attention_3",
    "math",
    "mem_efficient",
    "xformers",
    "unknown",
)
"""Words for attention kernels, those of the Hugging Face libraries among them."""
SAMPLES = ("equal", "packed", "padded", "unequal")
"""Words for the lengths of a training's samples."""
KINDS = (
    "llm",
    "moe",
    "vlm",
    "encoder",
    "encoder_decoder",
    "asr",
    "tts",
    "cnn",
    "vit",
    "detector",
    "segmenter",
    "diffusion",
    "diffusion_unet",
    "diffusion_transformer",
    "video_diffusion",
    "gan",
    "rnn",
    "recommender",
    "gnn",
)
"""Words for kinds of networks."""
DATASET_FORMATS = (
    "files",
    "packed",
    "mapped",
    "tokens",
    "arrays",
    "recordio",
    "tfrecord",
    "webdataset",
    "lmdb",
    "parquet",
    "mds",
    "arrow",
    "bin",
    "hdf5",
)
"""Words for how a data set is stored."""
FLAGS = (
    "fused_loss",
    "fused_cross_entropy",
    "cut_cross_entropy",
    "liger",
    "chunked_cross_entropy",
    "compiled_loss",
    "shifted_logits",
    "whole_prompt_logits",
    "eager",
    "enforce_eager",
    "joined_cache",
    "unchunked_prompts",
    "looped_step",
    "unraised",
    "written_logits",
    "uncut_loss",
    "split_experts",
    "joined_experts",
    "compile",
    "packed",
    "expandable_segments",
    "dora",
    "nvlink",
    "optimizer_in_backward",
    "activation_offload",
    "model_cpu_offload",
    "sequential_cpu_offload",
    "vae_tiling",
    "vae_slicing",
    "whole_encoders",
    "cache_text_embeddings",
    "unload_text_encoder",
    "cpu_moe",
    "frozen_tower",
    "gds",
    "gpudirect-storage",
)
"""Flags that a model or a rule hears, which names them again (a test compares); beside them
releases and cpu_moe=N."""
HEARD = re.compile(
    r"cpu_moe=.*|-*enforce[-_]eager|(transformers|torch)\s*[=<]*=?\s*v?\d+\.\d+.*"
    r"|(torchtitan|unsloth)\s*20\d\d.*",
    re.IGNORECASE,
)
LARGEST_EDGE = 100_000
LARGEST_MESSAGE = 10**15
MOST_NAMED = 8
MAY_BE_NONE = (
    "output_tokens",
    "input_tokens",
    "lora_rank",
    "gpu_layers",
    "n_cpu_moe",
    "images",
    "prefix_tokens",
)


USUAL_PRECISIONS = ("fp32", "fp16", "bf16", "fp8", "q4_k_m")
"""What a message names where nothing is near."""
MOST_NEAR, LEAST_LIKE = 5, 0.4


def unknown_precision(word: str, known: Collection[str]) -> WorkloadFault:
    """Return the fault of a precision that is none, with the nearest of those that are `known`."""
    every = sorted(known)
    near = get_close_matches(word[:40].casefold(), every, MOST_NEAR, LEAST_LIKE)
    return WorkloadFault(
        f"precision: {word[:40]!r} is not known; the nearest of {len(every)} are"
        f" {', '.join(near or USUAL_PRECISIONS)}."
    )


def check_workload(workload: Workload) -> None:
    """Raise WorkloadFault naming the first field of a workload whose word is unknown or whose
    number is beyond reason."""
    for field, words in (
        ("attention", ATTENTIONS),
        ("samples", SAMPLES),
        ("split", SPLITS),
        ("kind", KINDS),
        ("dataset_format", DATASET_FORMATS),
    ):
        word = getattr(workload, field)
        if word is not None and word not in words:
            raise WorkloadFault(
                f"{field}: expected one of {', '.join(words)}, found {word[:60]!r}."
            )
    for amount in _amounts(workload):
        if amount is not None and amount < 0:
            raise WorkloadFault(
                f"{ABOVE_ZERO[_amounts(workload).index(amount)]}: expected a number above 0, found"
                f" {amount}."
            )
    if workload.message_bytes is not None and not 0 < workload.message_bytes <= LARGEST_MESSAGE:
        raise WorkloadFault(
            f"message_bytes: expected a whole number from 1 to {LARGEST_MESSAGE}, found"
            f" {workload.message_bytes}."
        )
    _check_sizes(workload)
    if workload.speculative is not None:
        _check_draft(workload.speculative)


DRAFTS = ("mtp", "eagle", "eagle2", "eagle3", "medusa", "ngram", "draft")
"""Words for how tokens are drafted ahead."""
MOST_DRAFTED = 64


def _check_draft(told: Speculative) -> None:
    if told.method not in DRAFTS:
        near = get_close_matches(told.method.casefold(), DRAFTS, 2, 0.5) or DRAFTS
        raise WorkloadFault(
            f"speculative.method: {told.method[:40]!r} is not known; the nearest are"
            f" {', '.join(near)}."
        )
    if not 1 <= told.tokens <= MOST_DRAFTED:
        raise WorkloadFault(
            f"speculative.tokens: expected 1 to {MOST_DRAFTED}, found {told.tokens}."
        )
    if told.accepted is not None and not 0 <= told.accepted <= 1:
        raise WorkloadFault(
            f"speculative.accepted: expected a share from 0 to 1, found {told.accepted}."
        )


def _check_sizes(workload: Workload) -> None:
    for (field, most), value in zip(LARGEST.items(), _counts(workload), strict=True):
        if value is None or 0 < value <= most:
            continue
        least = 0 if field in MAY_BE_NONE else 1
        if not least <= value <= most:
            raise WorkloadFault(
                f"{field}: expected a whole number from {least} to {most}, found {value}."
            )
    if workload.cpu_offload_gb is not None and not 0 <= workload.cpu_offload_gb < 1e5:
        raise WorkloadFault(
            f"cpu_offload_gb: expected GB from 0 to 1e5, found {workload.cpu_offload_gb}."
        )
    if workload.weights_gib is not None and not 0 < workload.weights_gib < 1e6:
        raise WorkloadFault(
            f"weights_gib: expected GiB from 0 to 1e6, found {workload.weights_gib}."
        )
    share = workload.memory_utilization
    if share is not None and not 0.05 <= share <= 1:
        raise WorkloadFault(f"memory_utilization: expected a share from 0.05 to 1, found {share}.")
    split = workload.tensor_split
    if split is not None and (
        not 0 < len(split) <= 256 or not all(0 <= one < 1e9 for one in split) or not sum(split)
    ):
        raise WorkloadFault(
            f"tensor_split: expected shares of 1 to 256 GPUs, found {str(split)[:60]}."
        )
    check_image(workload.image_size)
    if workload.parallelism is not None:
        _check_degrees(workload.parallelism)


def check_image(size: int | list[int] | None) -> None:
    """Raise WorkloadFault for a size of an image that is none."""
    edges = [size] if isinstance(size, int) else size
    if edges is not None and not (
        1 <= len(edges) <= 3 and all(1 <= edge <= LARGEST_EDGE for edge in edges)
    ):
        raise WorkloadFault(
            f"image_size: expected pixels from 1 to {LARGEST_EDGE}, one number or height and width,"
            f" found {str(size)[:60]}."
        )


def _check_degrees(degrees: Parallelism) -> None:
    for field in ("tensor", "pipeline", "context", "expert"):
        if not 1 <= getattr(degrees, field) <= 65_536:
            raise WorkloadFault(
                f"parallelism.{field}: expected 1 to 65536, found {getattr(degrees, field)}."
            )
    if degrees.zero not in (0, 1, 2, 3):
        raise WorkloadFault(f"parallelism.zero: expected 0, 1, 2 or 3, found {degrees.zero}.")
    if degrees.data is not None and not 1 <= degrees.data <= 1_000_000:
        raise WorkloadFault(f"parallelism.data: expected 1 to 1000000, found {degrees.data}.")


def check_shares(
    degrees: Parallelism, count: int, heads: int, layers: int = 0, experts: int | None = None
) -> None:
    """Raise WorkloadFault for degrees that need more GPUs than there are, for heads or experts that
    ranks cannot share, for more stages than layers; stages need not be equal (Megatron-LM and vLLM
    take odd ones). Heads and layers of 0 are not known, nor experts of None."""
    needed = degrees.tensor * degrees.pipeline * degrees.context * (degrees.data or 1)
    if needed > count:
        named = {name: getattr(degrees, name) for name in ("data", "tensor", "pipeline", "context")}
        told = " x ".join(
            f"{name} {degree}" for name, degree in named.items() if degree and degree > 1
        )
        raise WorkloadFault(
            f"parallelism: expected degrees of at most {count} GPUs together, found {told} ="
            f" {needed}."
        )
    if heads and degrees.tensor > 1 and heads % degrees.tensor:
        raise WorkloadFault(
            f"parallelism.tensor: expected a divisor of the {heads} attention heads, found"
            f" {degrees.tensor}."
        )
    if layers and degrees.pipeline > layers:
        raise WorkloadFault(
            f"parallelism.pipeline: expected at most the {layers} layers, found {degrees.pipeline}."
        )
    if experts is not None and degrees.expert > 1 and (not experts or experts % degrees.expert):
        held = (
            f"a divisor of the {experts} experts of a layer"
            if experts
            else "1, as the network has no experts"
        )
        raise WorkloadFault(f"parallelism.expert: expected {held}, found {degrees.expert}.")


QUANTS = (
    *SCALES,
    "autoawq",
    "auto-awq",
    "auto-round",
    "autogptq",
    "auto-gptq",
    "gptqmodel",
    "bitsandbytes",
    "compressed-tensors",
    "llm-compressor",
    "quanto",
    "optimum-quanto",
    "modelopt",
    "qlora",
    "eetq",
    "exl2",
    "exl3",
    "gguf",
    "marlin",
    "machete",
    "nunchaku",
    "svdquant",
    "w4a16",
    "w4a8",
    "w8a8",
    "w8a16",
    "smoothquant",
    "fp8",
    "fp8_dynamic",
    "mxfp4",
    "mxfp8",
    "nvfp4",
    "int4",
    "int8",
    "nf4",
    "fp4",
)
"""Words for a way of quantising, by which the memory of scales or the kernels are known."""


def unheard_quant(word: str | None) -> str:
    """The way of quantising that no model hears, with the known one that is nearest; "" where it is
    heard."""
    if (
        word is None
        or word in GGUF
        or word in QUANTS
        or set(re.split(r"[-_+/ ]", word)) & set(QUANTS)
    ):
        return ""
    near = next(iter(get_close_matches(word, QUANTS, 1, 0.6)), None)
    return f"{word[:60]} ({near}?)" if near else word[:60]


def unheard_flags(flags: Collection[str]) -> str:
    """The flags that no model hears, each with the known one that is nearest; "" where all are
    heard."""
    if not flags:
        return ""
    unheard = sorted(
        flag for flag in flags if flag not in FLAGS and not HEARD.fullmatch(flag.strip())
    )
    meant = [next(iter(get_close_matches(flag, FLAGS, 1, 0.8)), None) for flag in unheard]
    return ", ".join(
        f"{flag[:60]} ({known}?)" if known else flag[:60]
        for flag, known in list(zip(unheard, meant, strict=True))[:MOST_NAMED]
    )


def split_of(workload: Workload) -> str | None:
    """Return how several cards share a model, where the workload says it."""
    told = workload.split or workload.variant.get("split")
    return told if isinstance(told, str) else None
