"""What people want a rig for, as workloads from easy to hard: the questions that the guide asks the
engine."""

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.rig.workload import Parallelism, Workload

Purpose = Literal["little-money", "kaggle", "vision", "language", "serve", "trying", "nlp", "data"]


class Aim(Struct, frozen=True, kw_only=True):
    """One thing to do. `spread`: on several GPUs the model is divided among them (tensor parallel
    when it writes, sharded when it trains); else each GPU holds a copy and takes a share of the
    data."""

    code: str
    workload: Workload
    spread: bool = False

    def on(self, count: int) -> Workload:
        """Return the workload as it runs on `count` GPUs."""
        if count < 2 or not self.spread:
            return self.workload
        trains = (self.workload.task or "").startswith("train")
        return replace(
            self.workload, parallelism=Parallelism(zero=3) if trains else Parallelism(tensor=count)
        )


def _vision(code: str, model: str, batch: int, pixels: int) -> Aim:
    return Aim(
        code=code,
        workload=Workload(
            name=None,
            model=model,
            task="train",
            precision="amp",
            batch_per_gpu=batch,
            image_size=pixels,
        ),
    )


LARGE_DATA_GB, LARGE_DATA_SAMPLES = 300.0, 2_500_000
"""A data set of images that no memory holds: 120 kB each, as in ImageNet."""


def _large_data(code: str, model: str, batch: int, pixels: int) -> Aim:
    aim = _vision(code, model, batch, pixels)
    work = replace(aim.workload, dataset_gb=LARGE_DATA_GB, dataset_samples=LARGE_DATA_SAMPLES)
    return replace(aim, workload=work)


def _text(code: str, model: str, batch: int) -> Aim:
    return Aim(
        code=code,
        workload=Workload(
            model=model, task="train", precision="amp", batch_per_gpu=batch, seq_len=512
        ),
    )


def _tune(
    code: str, model: str, task: str, tokens: int = 2048, precision: str | None = None
) -> Aim:
    """One sequence per GPU with all activations computed again: the least memory that the method
    needs."""
    workload = Workload(
        model=model,
        task=task,
        precision=precision,
        batch_per_gpu=1,
        seq_len=tokens,
        gradient_checkpointing="full",
    )
    return Aim(code=code, workload=workload)


def _write(code: str, model: str, precision: str, streams: int) -> Aim:
    """Answer `streams` requests at a time with 2,048 tokens in and 256 out."""
    workload = Workload(
        model=model,
        task="serve",
        precision=precision,
        batch_per_gpu=streams,
        input_tokens=2048,
        output_tokens=256,
    )
    return Aim(code=code, workload=workload, spread=True)


def _chat(code: str, model: str) -> Aim:
    """Answer one person at home, as llama.cpp and what stands on it do: weights of some five
    bits."""
    workload = Workload(
        model=model,
        task="inference",
        precision="q4_k_m",
        stack="llama.cpp",
        batch_per_gpu=1,
        input_tokens=2048,
        output_tokens=256,
    )
    return Aim(code=code, workload=workload)


AIMS: dict[Purpose, tuple[Aim, ...]] = {
    "trying": (
        _vision("train-resnet18", "resnet18", 64, 224),
        _chat("chat-8b", "llama-3.1-8b"),
        Aim(
            code="images-sdxl",
            workload=Workload(
                model="sdxl-base",
                task="inference",
                precision="fp16",
                batch_per_gpu=1,
                image_size=1024,
            ),
        ),
        _tune("qlora-3b", "llama-3.2-3b", "train_qlora", 1024),
    ),
    "little-money": (
        _vision("train-resnet50", "resnet50", 64, 224),
        _chat("chat-8b", "llama-3.1-8b"),
        _tune("qlora-3b", "llama-3.2-3b", "train_qlora", 1024),
        _tune("qlora-8b", "llama-3.1-8b", "train_qlora"),
    ),
    "kaggle": (
        _vision("train-resnet50", "resnet50", 64, 224),
        _text("tune-deberta-base", "deberta-v3-base", 4),
        _vision("train-convnext-384", "convnext_base", 16, 384),
        _text("tune-deberta-large", "deberta-v3-large", 4),
        _tune("qlora-8b", "llama-3.1-8b", "train_qlora"),
    ),
    "vision": (
        _vision("train-resnet50", "resnet50", 128, 224),
        _vision("train-yolov8x", "yolov8x", 16, 640),
        _vision("train-convnext-384", "convnext_base", 32, 384),
        _vision("train-swin-384", "swin_large_patch4_window12_384", 32, 384),
    ),
    "language": (
        _tune("qlora-8b", "llama-3.1-8b", "train_qlora"),
        _tune("train-1b", "llama-3.2-1b", "train", precision="bf16"),
        _tune("lora-8b", "llama-3.1-8b", "train_lora", precision="bf16"),
        _tune("qlora-32b", "qwen2.5-32b", "train_qlora"),
        _tune("qlora-70b", "llama-3.3-70b", "train_qlora"),
    ),
    "nlp": (
        _text("tune-deberta-base", "deberta-v3-base", 4),
        _text("tune-deberta-large", "deberta-v3-large", 4),
        _text("train-bert-large", "bert-large", 16),
        _tune("lora-8b", "llama-3.1-8b", "train_lora", precision="bf16"),
    ),
    "data": (
        _large_data("large-data-resnet50", "resnet50", 128, 224),
        _large_data("large-data-convnext", "convnext_base", 32, 384),
    ),
    "serve": (
        _write("serve-8b", "llama-3.1-8b", "bf16", 8),
        _write("serve-32b-int4", "qwen2.5-32b", "int4", 4),
        _write("serve-70b-int4", "llama-3.3-70b", "int4", 4),
        _write("serve-70b-fp8", "llama-3.3-70b", "fp8", 4),
        _write("serve-70b-bf16", "llama-3.3-70b", "bf16", 4),
    ),
}
"""For each purpose its aims, easy ones first; models are those of the zoo."""

USUAL_AIM: dict[Purpose, str] = {
    "trying": "chat-8b",
    "little-money": "train-resnet50",
    "kaggle": "tune-deberta-base",
    "vision": "train-convnext-384",
    "language": "qlora-8b",
    "serve": "serve-70b-int4",
    "nlp": "tune-deberta-large",
    "data": "large-data-resnet50",
}
"""The aim that is asked for when nothing else is said."""


def aim_of(purpose: Purpose, code: str) -> Aim:
    """Return an aim of a purpose, its usual one for an unknown code."""
    aims = {aim.code: aim for aim in AIMS[purpose]}
    return aims.get(code) or aims[USUAL_AIM[purpose]]
