"""What can be set of a workload: words, ranges and explanations of its fields, and which of them
concern a job."""

from typing import Any

import msgspec

from rigplanner.report.language import Words
from rigplanner.rig.workload import Parallelism, Speculative, Workload
from rigplanner.workload.preference import PREFERENCE
from rigplanner.workload.without_network import Plain, plain_job

TRAINING = ("train", "train_full", "train_lora", "train_qlora", *PREFERENCE)
WRITTEN = ("grpo", "ppo")
"""Tasks that train on answers which an engine writes."""
PRECISIONS = (
    "fp32", "tf32", "fp16", "bf16", "amp_fp16", "amp_bf16", "fp8", "mxfp4", "nvfp4", "int8",
    "int4", "nf4", "q8_0", "q6_k", "q5_k_m", "q4_k_m", "q4_k_s", "q4_0", "q3_k_m", "q2_k",
    "iq4_xs", "iq3_m", "iq2_m", "iq1_m", "ud-q4_k_xl", "ud-q2_k_xl", "fp64",
)  # fmt: skip
SERVING_STACKS = (
    "vllm", "sglang", "llama.cpp", "ollama", "ik_llama.cpp", "ktransformers", "exllamav2", "mlx",
    "tensorrt-llm", "lmdeploy", "tgi", "lm-studio", "koboldcpp", "hf-transformers",
)  # fmt: skip
TRAINING_STACKS = (
    "hf-trainer", "unsloth", "axolotl", "llama-factory", "ms-swift", "torchtune", "fsdp",
    "deepspeed", "trl", "verl", "megatron-lm", "torchtitan", "pytorch-eager", "pytorch-ngc",
    "torch-compile",
)  # fmt: skip
IMAGE_TRAINING_STACKS = (
    "pytorch-ngc", "pytorch-eager", "torch-compile", "kohya", "simpletuner", "ai-toolkit",
    "onetrainer", "diffusion-pipe",
)  # fmt: skip
IMAGE_STACKS = (
    "diffusers", "diffusers-xformers", "comfyui", "stable-diffusion-webui", "pytorch-eager",
    "torch-compile", "tensorrt", "onnxruntime",
)  # fmt: skip
SPEECH_STACKS = ("faster-whisper", "openai-whisper", "hf-transformers")
QUANTS = ("awq", "gptq", "bnb", "autoround", "hqq", "mlx", "exl2", "exl3")
CACHES = ("fp16", "bf16", "fp8", "int8", "q8_0", "q5_0", "q4_0")
PROMPT_SETS = ("sharegpt", "open-orca", "longbench", "cnn-dailymail", "alpaca", "librispeech")
OFFLOADS = Words({"optimizer": "optimizer in RAM", "all": "all in RAM", "nvme": "on NVMe drives"})
EXPERTS = Words({"all": "all in RAM"})
ENGINES = Words({"shared": "on the same cards", "apart": "on its own cards"})
SAMPLES = Words(
    {
        "equal": "of one length",
        "packed": "packed",
        "padded": "padded to the longest",
        "unequal": "unequal",
    }
)
PLACES = Words({"ram": "in RAM"})
SPLITS = Words({"layer": "by layers", "row": "by rows", "tensor": "by tensors", "none": "one card"})
DRAFTS = Words(
    {
        "mtp": "MTP head",
        "eagle3": "EAGLE head",
        "medusa": "Medusa heads",
        "ngram": "repeated n-grams",
        "draft": "a smaller model",
    }
)
LAYOUTS = Words({"NCHW": "channels first (NCHW)", "NHWC": "channels last (NHWC)"})
SYNCS = Words({"synchronous": "every step", "stale": "within a bound", "asynchronous": "never"})
CONVOLVING = ("cnn", "detector", "segmenter", "gan", "diffusion_unet")
"""Kinds of networks whose speed hears the layout of their maps."""
SEARCHING = ("asr", "encoder_decoder")
"""Kinds of networks that write by a search."""
ADAPTED = ("train_lora", "train_qlora", *PREFERENCE)
OF_PARALLELISM = ("zero", "tensor", "pipeline")
PLAN_WORDS = ("offload", "sync", "staleness")
FOLDED = (
    "quant", "request_rate", "prefix_tokens", "prompt_set", "target_tokens_s",
    "target_first_token_ms", "draft", "draft_tokens", "gpu_layers", "experts", "n_cpu_moe",
    "cache_place", "split", "cpu_offload_gb", "memory_utilization", "offload", "lora_targets",
    "gradient_accumulation", "attention", "samples", "pipeline", "generations", "engine_place",
    "height", "weights_gib", "layout", "sync", "staleness", "framework_text", "accepted",
    "override_tensors", "ubatch", "beams", "guidance",
)  # fmt: skip
"""Fields that few jobs need: shown when asked for, or where they are set."""
TIPS = Words(
    {
        "task": "What the job does: it decides which of the fields below count.",
        "precision": "How the weights are stored. Empty: as the model's name says or its maker"
        " publishes it.",
        "quant": "The way of quantising, which decides scales and kernels. Empty: as the name"
        " says.",
        "stack": "The software that runs the job. Empty: what most people run it with on this GPU.",
        "users": "Streams in all, over all GPUs: users who wait for an answer at the same time.",
        "batch_per_gpu": "Samples that one GPU works on at once.",
        "seq_len": "Tokens of a sample in training; in inference the context that is reserved.",
        "input_tokens": "Tokens of the question with all that stands before it.",
        "output_tokens": "Tokens of the answer.",
        "request_rate": "Requests that arrive in a second, by chance; in place of users.",
        "prefix_tokens": "Tokens that all prompts begin with: read and kept once.",
        "prompt_set": "A set of prompts that benchmarks use, for its mean lengths.",
        "target_tokens_s": "Tokens a second that each user gets at least: the answer says how many"
        " users get them.",
        "target_first_token_ms": "Milliseconds until the first word that each user accepts.",
        "draft": "Tokens drafted ahead and checked in one step (speculative decoding).",
        "draft_tokens": "How many tokens are drafted before each check.",
        "accepted": "Share of the drafted tokens that are kept, from 0 to 1. Empty: the usual one"
        " of the method.",
        "override_tensors": "Tensors that stay in RAM, as PATTERN=CPU (llama.cpp, -ot), separated"
        " by commas.",
        "ubatch": "Tokens of a prompt that are read at once (llama.cpp, -ub).",
        "beams": "Answers that a search keeps beside each other.",
        "guidance": "Strength of the guidance. Up to 1 a step takes one pass, above it two.",
        "framework_text": "The release of the software, as in vllm 0.8. Old ones take more memory"
        " or time.",
        "gpu_layers": "Layers of the model that lie on the GPUs (llama.cpp, -ngl); the others"
        " stay in RAM. Empty: as many as fit.",
        "experts": "Experts of a mixture that stay in RAM (llama.cpp, --cpu-moe).",
        "n_cpu_moe": "First layers whose experts stay in RAM (llama.cpp, --n-cpu-moe).",
        "cache_place": "Keys and values in RAM instead of GPU memory (llama.cpp, -nkvo).",
        "split": "How several GPUs share the model (llama.cpp, -sm).",
        "cpu_offload_gb": "GB of weights that each GPU reads from RAM in every step (vLLM).",
        "memory_utilization": "Share of each GPU that a serving engine reserves.",
        "kv_precision": "Type of the cached keys and values.",
        "optimizer": "The optimizer decides the states that are kept beside each weight.",
        "gradient_checkpointing": "Recompute activations in the backward pass: less memory,"
        " about a third more time.",
        "attention": "The attention kernel: eager writes all scores, flash none.",
        "generations": "Answers to each prompt that are compared (GRPO).",
        "engine_place": "Where the engine that writes the answers runs.",
        "samples": "Lengths of the texts: unequal ones leave gaps in memory; requests of one length"
        " come in waves.",
        "lora_rank": "Width of the adapters.",
        "lora_targets": "Names of the layers that get adapters, separated by commas.",
        "gradient_accumulation": "Batches whose gradients are summed before an update.",
        "offload": "What of the training waits in RAM or on drives.",
        "zero": "What is spread over the GPUs: 1 states, 2 gradients too, 3 weights too.",
        "tensor": "GPUs that share each layer.",
        "pipeline": "GPUs that hold layers in turn.",
        "mig": "A partition of each card, as its driver makes them.",
        "images": "Pictures in every prompt.",
        "image_size": "Edge of the pictures, or their width where a height is set.",
        "height": "Height of pictures that are not square.",
        "frames": "Frames of a film or a clip.",
        "steps": "Denoising steps for each picture or film.",
        "weights_gib": "Size of the files, where it is known: it replaces what the format says.",
        "dataset_gb": "Bytes of the data set as it lies on the drives.",
        "dataset_samples": "Samples in the data set.",
        "dataset_format": "How the samples lie: it decides how fast drives and CPU read them.",
        "dataset_place": "Where the data set lies.",
        "dataset_decoding": "What turns files into samples.",
        "epochs": "Times that the whole data set is seen.",
        "train_tokens": "Tokens to train on in all.",
        "layout": "Whether convolutions read their maps channels first or last.",
        "sync": "Whether copies of the model wait for each other after every step.",
        "staleness": "Steps that the fastest copy may be ahead of the slowest.",
        "matrix_n": "Rows and columns of the square matrices that are multiplied.",
        "name": "What the job is called in lists and on the quote.",
    }
)


def value_of(work: Workload, field: str) -> Any:
    """Return what a field shows; None, 0 or "" where nothing is set."""
    if field in OF_PARALLELISM:
        number = getattr(work.parallelism, field) if work.parallelism else 0
        return 0 if field != "zero" and number == 1 else number
    if field in PLAN_WORDS:
        return getattr(work.parallelism, field) if work.parallelism else None
    if field in OF_DRAFTS:
        return getattr(work.speculative, OF_DRAFTS[field]) if work.speculative else None
    if field in ("image_size", "height"):
        return _edge(work, field)
    if field in _ELSEWHERE:
        return _ELSEWHERE[field](work)
    value = getattr(work, field)
    if field == "gradient_checkpointing" and isinstance(value, bool):
        return "full" if value else "none"
    return value[0] if isinstance(value, list) and value else value


def _edge(work: Workload, field: str) -> int | None:
    size = work.image_size
    if not isinstance(size, list):
        return size if field == "image_size" else None
    return size[0] if field == "height" and len(size) > 1 else size[-1]


def _listed(words: list[str] | str | None) -> str | None:
    return ", ".join(words) if isinstance(words, list) else words


_ELSEWHERE: dict[str, Any] = {
    "steps": lambda work: work.variant.get("steps"),
    "generations": lambda work: work.variant.get("generations"),
    "layout": lambda work: work.variant.get("layout"),
    "ubatch": lambda work: work.variant.get("ubatch"),
    "beams": lambda work: work.variant.get("beams"),
    "guidance": lambda work: work.variant.get("guidance"),
    "override_tensors": lambda work: _listed(work.override_tensors),
    "engine_place": lambda work: {True: "shared", False: "apart"}.get(
        work.variant.get("colocated")
    ),
    "experts": lambda work: "all" if work.cpu_moe else None,
    "cache_place": lambda work: "ram" if work.kv_on_host else None,
    "prompt_set": lambda work: work.dataset,
    "lora_targets": lambda work: _listed(work.lora_targets),
}
"""Fields that are kept under another name or in another form."""


OF_VARIANT = {
    "steps": "steps",
    "generations": "generations",
    "engine_place": "colocated",
    "layout": "layout",
    "ubatch": "ubatch",
    "beams": "beams",
    "guidance": "guidance",
}
OF_DRAFTS = {"draft": "method", "draft_tokens": "tokens", "accepted": "accepted"}


def edited(work: Workload, field: str, value: Any) -> dict[str, Any]:
    """Return the fields of the workload that a value of one of the form's fields changes."""
    if field in (*OF_PARALLELISM, *PLAN_WORDS):
        now = msgspec.structs.asdict(work.parallelism or Parallelism())
        plain = field in ("zero", *PLAN_WORDS)
        made = Parallelism(**{**now, field: value if plain else max(1, value or 1)})
        return {"parallelism": None if made == Parallelism() else made}
    if field == "draft":
        told = work.speculative or Speculative()
        return {
            "speculative": msgspec.structs.replace(told, method=value, model=None)
            if value
            else None
        }
    if field == "draft_tokens":
        told = work.speculative or Speculative()
        return {"speculative": msgspec.structs.replace(told, tokens=value) if value else None}
    if field == "accepted":
        told = work.speculative or Speculative()
        return {"speculative": msgspec.structs.replace(told, accepted=value)}
    if field in OF_VARIANT:
        name = OF_VARIANT[field]
        rest = {own: told for own, told in work.variant.items() if own != name}
        set_to = value == "shared" if field == "engine_place" else value
        return {"variant": rest | ({name: set_to} if value else {})}
    if field in ("image_size", "height"):
        width = value if field == "image_size" else _edge(work, "image_size")
        height = value if field == "height" else _edge(work, "height")
        return {"image_size": [height, width] if height and width else width or height}
    if field in ("users", "request_rate") and value:
        others = {"users", "request_rate", "batch_per_gpu"} - {field}
        return {field: value, **dict.fromkeys(others)}
    if field == "batch_per_gpu" and value:
        return {field: value, "users": None, "request_rate": None}
    names = {"experts": "cpu_moe", "cache_place": "kv_on_host", "prompt_set": "dataset"}
    if field in ("experts", "cache_place"):
        return {names[field]: True if value else None}
    if field == "framework_text":
        return {field: value or None}
    if field in ("lora_targets", "override_tensors"):
        listed = [word.strip() for word in str(value or "").split(",") if word.strip()]
        return {field: listed or None}
    return {names.get(field, field): value}


OF_RUNNING = (
    "users", "prompt_set", "draft", "gpu_layers", "cache_place", "split", "cpu_offload_gb",
    "kv_precision", "override_tensors", "ubatch",
)  # fmt: skip
OF_SERVING = ("request_rate", "prefix_tokens", "target_tokens_s", "target_first_token_ms")
OF_TRAINING = (
    "offload", "gradient_accumulation", "optimizer", "gradient_checkpointing", "zero", "epochs",
    "dataset_gb", "dataset_samples", "dataset_format", "dataset_place",
)  # fmt: skip


def concerned(work: Workload, text: bool, kind: str | None) -> dict[str, bool]:
    """Return which of the fields concern a job; those that are left out concern all."""
    if plain := plain_job(work):
        return _of_plain(plain)
    training = work.task is None or work.task in TRAINING
    rewarded, preferred = work.task in WRITTEN, work.task in PREFERENCE
    running, mixture = text and not training, kind in (None, "moe")
    drawn = bool(kind and kind.startswith("diffusion"))
    serving = running and (work.task == "serve" or (work.users or 0) > 1)
    return {
        **dict.fromkeys(OF_RUNNING, running),
        **dict.fromkeys(OF_SERVING, serving),
        **dict.fromkeys(OF_TRAINING, training),
        "batch_per_gpu": not running or work.batch_per_gpu is not None,
        "seq_len": text and not preferred,
        "input_tokens": running or preferred,
        "output_tokens": running or preferred,
        "generations": work.task == "grpo",
        "engine_place": rewarded,
        "draft_tokens": running and work.speculative is not None,
        "accepted": running and work.speculative is not None,
        "beams": kind in SEARCHING and not training,
        "guidance": drawn and not training,
        "experts": running and mixture,
        "n_cpu_moe": running and mixture,
        "memory_utilization": running or rewarded,
        "quant": not training or work.task == "train_qlora",
        "lora_targets": work.task in ADAPTED,
        "lora_rank": work.task in ADAPTED,
        "images": kind == "vlm" or work.config is not None,
        "image_size": not text or kind == "vlm",
        "height": not text or kind == "vlm",
        "frames": drawn or work.frames is not None,
        "steps": drawn and not training,
        "attention": text,
        "samples": (training and text) or serving,
        "pipeline": text,
        "dataset_decoding": training and not text,
        "train_tokens": training and text,
        "layout": kind in CONVOLVING,
        "sync": training,
        "staleness": training and value_of(work, "sync") == "stale",
        "matrix_n": False,
    }


def _of_plain(kind: Plain) -> dict[str, bool]:
    """The fields that concern a job without a network."""
    kept = {"matrix": ("precision", "matrix_n"), "dataframe": ("dataset_gb",), "simulate": ()}
    fields = dict.fromkeys(TIPS, False)
    return fields | dict.fromkeys(("name", "task", *kept[kind]), True)


def stacks_for(work: Workload, text: bool, kind: str | None = None) -> tuple[str, ...]:
    """Return the stacks that people run such a job with, the usual ones first."""
    if work.task is None or work.task in TRAINING:
        return TRAINING_STACKS if text else IMAGE_TRAINING_STACKS
    return SERVING_STACKS if text else SPEECH_STACKS if kind == "asr" else IMAGE_STACKS
