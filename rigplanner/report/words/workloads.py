"""What window and quote say of workloads: what limits them, what would help, and where to begin."""

from rigplanner.report.language import Words, tr
from rigplanner.rig.workload import Workload
from rigplanner.workload.without_network import plain_job

TASK_WORDS = Words(
    {
        "train": "training",
        "train_full": "training of all weights",
        "train_lora": "LoRA training",
        "train_qlora": "QLoRA training",
        "grpo": "GRPO training",
        "ppo": "PPO training",
        "dpo": "DPO training",
        "inference": "inference",
        "prefill": "reading prompts",
        "decode": "writing",
        "serve": "serving",
    }
)
"""Task to its name within a title."""

LIFT_WORDS = Words(
    {
        "more-matrix-rate": "A GPU with more tensor throughput, or lower precision, would help.",
        "more-bandwidth": (
            "A GPU with more memory bandwidth, or fewer bytes per weight, would help."
        ),
        "faster-link-or-larger-batch": (
            "Faster links between the GPUs, or a larger batch, would help."
        ),
        "faster-link": "Faster links between the GPUs would help.",
        "larger-batch-or-compile": "A larger batch, or compiled kernels, would help.",
        "more-cores-or-gpu-decoding": "More CPU cores, or decoding on the GPU, would help.",
        "faster-storage-or-packed-data": (
            "A faster drive, a packed data set, or more RAM to hold it would help."
        ),
        "higher-power-limit": "A higher power limit would help.",
        "space-between-cards": "Space between the cards, blower or liquid coolers would help.",
        "more-memory": "More GPU memory would help.",
        "more-channels": "More channels of memory, or faster modules, would help.",
        "more-on-gpu": "More layers or experts on the GPU would help.",
        "more-cores": "More CPU cores would help; a faster GPU would not.",
        "plainer-format": "A format that CPUs unpack faster, or more cores, would help.",
        "faster-memory": "A GPU with more memory bandwidth would help.",
        "less-offload": "Fewer weights in the memory of the host would help.",
        "more-ram": "More RAM, or a faster drive, would help.",
        "larger-pieces": "Larger pieces of the prompt (-ub), or a faster link, would help.",
        "less-offload-or-more-accumulation": (
            "Offload less, accumulate more batches per update, or use faster RAM."
        ),
    }
)

CHANGE_WORDS = Words({
    "checkpointing": "Gradient checkpointing",
    "selective_checkpointing": "Selective checkpointing",
    "fused_optimizer": "Fused optimizer",
    "fused_loss": "Fused loss",
    "one_more_gpu": "One GPU more",
    "fewer_gpu_layers": "Some layers in RAM",
    "experts_in_ram": "Experts in RAM",
    "fused_attention": "Fused attention",
    "eight_bit_optimizer": "8-bit optimizer",
    "half_batch": "Half the batch",
    "lora": "LoRA instead of all weights",
    "quantised_base": "4-bit base under the LoRA",
    "zero_1": "ZeRO stage 1: optimizer spread over the GPUs",
    "zero_2": "ZeRO stage 2: gradients spread too",
    "zero_3": "ZeRO stage 3: weights spread too",
    "offload_optimizer": "Optimizer in RAM",
    "eight_bit_weights": "8-bit weights",
    "four_bit_weights": "4-bit weights",
    "eight_bit_cache": "8-bit KV cache",
    "components_in_turn": "One component on the GPU at a time",
    "layers_in_turn": "One layer on the GPU at a time",
    "tensor_parallel": "Model split over twice the GPUs",
})  # fmt: skip

PRESET_WORDS = Words({
    "qlora": "Fine-tune with QLoRA, 4-bit base",
    "lora": "Fine-tune with LoRA",
    "full": "Train all weights",
    "chat": "Chat, one user",
    "chat_4_bit": "Chat, one user, 4-bit weights",
    "serve": "Serve many users",
    "fine_tune": "Fine-tune",
    "read": "Read texts",
    "train_images": "Train, mixed precision",
    "train_images_fp32": "Train, single precision",
    "see": "Classify images",
    "draw": "Make pictures",
    "learn": "Train",
    "answer": "Run",
})  # fmt: skip

STAGE_WORDS = Words(
    {"storage": "Drives", "cpu": "Decoding on the CPU", "link": "Copies to the GPUs"}
)


def title_of(workload: Workload) -> str:
    """Return a workload's name, else model and task."""
    model = workload.model or (workload.config or {}).get("model_type") or tr("network")
    task = workload.task or ""
    if not (workload.name or task) and plain_job(workload):
        return model
    return (
        workload.name
        or f"{model}, {TASK_WORDS.get(task, task.replace('_', ' ')) or tr('task not set')}"
    )


def assumed_text(assumed: dict[str, str]) -> str:
    """Return which settings were absent and what stands for them, "" for none."""
    if not assumed:
        return ""
    listed = ", ".join(
        f"{field.replace('_', ' ')} {value}" for field, value in sorted(assumed.items())
    )
    return tr("Assumed: {settings}.", settings=listed)
