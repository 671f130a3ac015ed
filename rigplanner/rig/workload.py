"""What a rig shall do: a workload as people and case files write it."""

from typing import Any

import msgspec
from msgspec import Struct


class Parallelism(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Degrees of parallelism; `data` None means all GPUs that the others leave. `sequence`: whether
    tensor ranks also share the sequence between their layers (absent: they do). `offload`: none,
    optimizer, all, nvme. `sync`: whether copies of the model wait for each other (synchronous,
    stale with a bound of `staleness` steps, asynchronous)."""

    data: int | None = None
    zero: int = 0
    tensor: int = 1
    pipeline: int = 1
    context: int = 1
    expert: int = 1
    sequence: bool | None = None
    offload: str | None = None
    sync: str | None = None
    staleness: int | None = None


class Speculative(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Tokens drafted ahead and checked in one step: the `method` (mtp, eagle, ngram or draft, a
    model of its own, which `model` names), how many `tokens` are drafted, and the share of drafted
    tokens that are `accepted`."""

    method: str = "mtp"
    tokens: int = 2
    accepted: float | None = None
    model: str | None = None


class Workload(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One job. Absent fields are None and get the stack's usual value, which the answer names.

    `model` is a slug of the model zoo, `model_text` its name as a source writes it; or `config`
    holds a Hugging Face configuration; or `params_m`, `gmacs` and `activations_m` (millions, 1e9
    multiply-adds, millions of values) at `image_size` describe a net known by its figures only.
    `components`: millions of parameters of what a diffusion model brings along, by name;
    `weights_gib`: the weights as stored. `gradient_accumulation`: micro-batches per step.
    `users`: streams in all, over all GPUs, where `batch_per_gpu` counts those of one; or
    `request_rate`, requests a second that arrive by chance. `samples`: whether those of a training
    are `equal` in length, `packed`, `padded` to the longest, or `unequal`. `prefix_tokens`: of each
    prompt that all share. `target_first_token_ms`, `target_tokens_s`: what each user shall get at
    least. `dataset`: a set of prompts by name, for its lengths. `speculative`: drafted tokens.
    `seq_len` beside `input_tokens` is the context that an engine reserves (llama.cpp, -c).
    `gpu_layers`: layers that a llama.cpp server keeps on the GPUs; `cpu_moe`, `n_cpu_moe`: all
    experts, or those of the first layers, stay in RAM; `override_tensors`: PATTERN=BUFFER as of
    --override-tensor; `kv_on_host`: the cache stays in RAM; `cpu_offload_gb`: weights that each GPU
    reads over its link (vLLM); `split`: how several cards share a model (layer, row, tensor);
    `tensor_split`: the share of each GPU. `images`: pictures of `image_size` in every sample of a
    language model that sees; the positions that they take come on top of `seq_len` and
    `input_tokens`, which count text. `memory_utilization`: the share of a card that a serving
    engine reserves. `mig`: the partition used. `matrix_n`: rows of
    square matrices, where the job is their product."""

    name: str | None = None
    model: str | None = None
    model_text: str | None = None
    config: dict[str, Any] | None = None
    params_m: float | None = None
    params_b: float | None = None
    gmacs: float | None = None
    activations_m: float | None = None
    kind: str | None = None
    components: dict[str, float] | None = None
    weights_gib: float | None = None
    head: str | None = None
    task: str | None = None
    precision: str | None = None
    optimizer: str | None = None
    batch_per_gpu: int | None = None
    gradient_accumulation: int | None = None
    seq_len: int | None = None
    image_size: int | list[int] | None = None
    frames: int | None = None
    images: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    users: int | None = None
    request_rate: float | None = None
    prefix_tokens: int | None = None
    target_first_token_ms: float | None = None
    target_tokens_s: float | None = None
    dataset: str | None = None
    speculative: Speculative | None = None
    message_bytes: int | None = None
    gradient_checkpointing: bool | str | None = None
    attention: str | None = None
    samples: str | None = None
    lora_rank: int | None = None
    lora_targets: list[str] | str | None = None
    kv_precision: str | None = None
    quant: str | None = None
    parallelism: Parallelism | None = None
    gpu_layers: int | None = None
    cpu_moe: bool | None = None
    n_cpu_moe: int | None = None
    override_tensors: list[str] | str | None = None
    kv_on_host: bool | None = None
    cpu_offload_gb: float | None = None
    split: str | None = None
    tensor_split: list[float] | None = None
    memory_utilization: float | None = None
    mig: str | None = None
    stack: str | None = None
    framework_text: str | None = None
    size_is_cap: bool | None = None
    flags: list[str] = []
    variant: dict[str, Any] = {}
    dataset_gb: float | None = None
    dataset_samples: int | None = None
    dataset_format: str | None = None
    dataset_place: str | None = None
    dataset_decoding: str | None = None
    epochs: float | None = None
    train_tokens: float | None = None
    matrix_n: int | None = None


def changed(workload: Workload, fields: dict[str, Any]) -> Workload:
    """The workload with other fields; bytes as stored, and how they are quantised, hold for one
    precision only."""
    if fields.get("precision", workload.precision) != workload.precision:
        fields = {"weights_gib": None, "quant": None} | fields
    return msgspec.structs.replace(workload, **fields)


class Hardware(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The machine of a case: `count` GPUs in all over `nodes` computers, or `gpus` that differ, or
    a rig file; without a GPU `cpus` processors named `cpu`, beside one they are compared with it.
    `free_gib`: memory free on each; `power_limit_w`: what each may draw (nvidia-smi -pl)."""

    gpu: str | None = None
    gpus: list[str] | None = None
    free_gib: list[float] | None = None
    count: int | None = 1
    nodes: int | None = 1
    link: str | None = None
    rig: str | None = None
    cpu: str | None = None
    cpus: int | None = 1
    power_limit_w: float | None = None


class Case(Struct, frozen=True, kw_only=True):
    """One line of a case file; `ignored` names fields of it that nothing hears."""

    id: str | int
    workload: Workload
    hardware: Hardware = Hardware()
    metric: str | None = None
    ignored: str = ""
