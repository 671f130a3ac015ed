"""Memory and speed are asked of one job: over models, stacks and cards they refuse alike, assume
alike, and never say that the same job fits and does not."""

from itertools import islice, product

import pytest
from msgspec.structs import replace

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.load import shipped_catalog
from rigplanner.catalog.schema.parts import GPU
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.machine.assemble import assemble
from rigplanner.memory.answer import MemoryEstimate
from rigplanner.memory.capacity.host_fit import fitted
from rigplanner.memory.estimate import estimate_memory
from rigplanner.memory.usable_memory import usable_gib
from rigplanner.performance.answer import SpeedEstimate
from rigplanner.performance.predict import predict_speed
from rigplanner.performance.settled import Settled, settle, settled
from rigplanner.rig.document import Item, Rig
from rigplanner.rig.workload import Workload
from rigplanner.rules.assess import job_on

MODELS = (
    "llama-3.1-8b", "gpt-oss-20b", "gpt-oss-120b", "Qwen/Qwen3-14B-AWQ", "Qwen/Qwen3-8B-FP8",
    "deepseek-r1", "qwen3:30b", "unsloth/DeepSeek-R1-GGUF:UD-IQ1_S", "no-such-model", "resnet-50",
    "mlx-community/Qwen3-30B-A3B-4bit", "flux.1-dev", "whisper-large-v3",
)  # fmt: skip
STACKS = (None, "vllm", "llama.cpp", "ollama", "hf-transformers", "mlx", "exllamav2", "nonesuch")
CARDS = (
    ("RTX 3090", 1), ("RTX 3090", 2), ("H100 SXM5 80GB", 8), ("Strix Halo", 1), ("Tesla T4", 1),
    ("M3 Ultra 512GB", 1), ("RX 7900 XTX", 1), ("Arc B580", 1),
)  # fmt: skip
TASKS = ("inference", "serve", "train_qlora")
STRIDE = 11
"""Every eleventh of the products: 11 shares no factor with the number of models, stacks, cards or
tasks, so each pair of them comes up."""
GRID = tuple(islice(product(MODELS, STACKS, CARDS, TASKS), 0, None, STRIDE))


def _speed(work: Workload, gpu: GPU, count: int) -> SpeedEstimate | str:
    try:
        return predict_speed(work, gpu, count, 1, "pcie" if count > 1 else "none", shipped_zoo())
    except WorkloadFault as fault:
        return str(fault)


def _memory(work: Workload, gpu: GPU, count: int) -> tuple[Settled, MemoryEstimate] | str:
    zoo = shipped_zoo()
    try:
        made = settle(work, gpu, count, 1, "pcie" if count > 1 else "none", zoo)
        placed = fitted(made.workload, [gpu] * count, zoo)
        return made, estimate_memory(placed, gpu, count, zoo, explained=False)
    except WorkloadFault as fault:
        return str(fault)


def test_memory_and_speed_do_not_contradict_each_other() -> None:
    for model, stack, (card, count), task in GRID:
        where = f"{model}, {stack} on {count} x {card}, {task}"
        gpu = find_gpu(card)
        work = Workload(model=model, task=task, stack=stack)
        speed, memory = _speed(work, gpu, count), _memory(work, gpu, count)
        if isinstance(speed, str) or isinstance(memory, str):
            assert speed == memory, where
            continue
        made, need = memory
        for field in ("stack", "precision", "quant"):
            assert speed.assumed.get(field) == made.assumed.get(field), where
        room = usable_gib(gpu)
        assert speed.fits != "no" or room is None or need.low_gib > room, where


def test_a_model_whose_published_format_the_gpu_lacks_runs_from_a_file() -> None:
    """DeepSeek-R1 is published in FP8, which Apple's and older chips do not multiply."""
    asked, zoo = Workload(model="deepseek-r1"), shipped_zoo()
    for name in ("Apple M3 Ultra 80-core GPU 512GB", "MI100", "Arc Pro B60"):
        made = settle(asked, find_gpu(name), 1, 1, "none", zoo)
        assert (made.workload.stack, made.workload.precision) == ("llama.cpp", "q4_k_m")
        assert made.assumed["stack"] == "llama.cpp" and made.assumed["precision"] == "q4_k_m"
        with pytest.raises(WorkloadFault, match="fp8"):
            settle(replace(asked, precision="fp8"), find_gpu(name), 1, 1, "none", zoo)
    assert settle(asked, find_gpu("H200 SXM"), 1, 1, "none", zoo).workload.precision == "fp8"


def test_what_a_card_does_not_hold_whole_is_drawn_part_after_part() -> None:
    """In the program that takes turns, in the largest format that it holds; who names a stack is
    told of that one."""
    asked, zoo = Workload(model="flux.1-dev"), shipped_zoo()
    for name, precision in (("RTX 4090", "fp8"), ("RTX 3060", "q4_k_s")):
        made = settle(asked, find_gpu(name), 1, 1, "none", zoo)
        assert (made.workload.stack, made.workload.precision) == ("comfyui", precision)
        assert made.assumed["stack"] == "comfyui"
        named = replace(asked, stack="diffusers")
        assert settle(named, find_gpu(name), 1, 1, "none", zoo).workload.stack == "diffusers"
    for name in ("GTX 1650", "L40S"):
        assert settle(asked, find_gpu(name), 1, 1, "none", zoo).workload.stack != "comfyui"


def test_an_adapter_of_what_draws_stands_on_eight_bits_where_sixteen_are_too_large() -> None:
    """FLUX on 24 GB, as its trainers' recipes have it; not where a format is named or nothing
    fits."""
    asked, zoo = Workload(model="flux.1-dev", task="train_lora"), shipped_zoo()
    for name, precision in (("RTX 4090", "fp8"), ("A100 80GB", "bf16"), ("RTX 3060", "bf16")):
        made = settle(asked, find_gpu(name), 1, 1, "none", zoo)
        assert made.workload.precision == made.assumed["precision"] == precision, name
    named = replace(asked, precision="bf16")
    assert settle(named, find_gpu("RTX 4090"), 1, 1, "none", zoo).workload.precision == "bf16"


def test_adapters_of_networks_that_draw_are_trained_where_people_train_them() -> None:
    asked, zoo, card = (
        Workload(model="sdxl", task="train_lora"),
        shipped_zoo(),
        find_gpu("RTX 3060"),
    )
    made = settled(asked, card, 1, 1, "none", zoo)
    assert (made.stack, made.batch_per_gpu) == ("kohya", 1)
    assert estimate_memory(made, card, 1, zoo, explained=False).high_gib < 11.5


@pytest.mark.parametrize("model", MODELS)
def test_a_settled_job_is_settled(model: str) -> None:
    gpu = find_gpu("RTX 3090")
    try:
        once = settle(Workload(model=model, task="inference"), gpu, 1, 1, "none", shipped_zoo())
    except WorkloadFault:
        return
    again = settle(once.workload, gpu, 1, 1, "none", shipped_zoo())
    assert again.workload == once.workload
    assert again.assumed == {}


@pytest.mark.parametrize(
    ("model", "task"),
    [("resnet-50", "train"), ("bert-large", "train"), ("yolov8m", "train"), ("gpt2", "train_full"),
     ("llama-3.1-8b", "train_lora"), ("vit-base", "inference"), ("llama-3.1-8b", "inference")],
)  # fmt: skip
def test_where_no_batch_is_said_memory_rules_and_speed_take_one(model: str, task: str) -> None:
    work, gpu, zoo = Workload(model=model, task=task), find_gpu("RTX 3090"), shipped_zoo()
    speed = predict_speed(work, gpu, 1, 1, "none", zoo)
    batch = int(float(speed.assumed.get("batch_per_gpu", "1")))
    asked = settled(work, gpu, 1, 1, "none", zoo)
    said = settled(replace(work, batch_per_gpu=batch), gpu, 1, 1, "none", zoo)
    assert (asked.batch_per_gpu or 1) == said.batch_per_gpu == batch
    machine = assemble(Rig(items=(Item(uid="g", part=gpu.id, quantity=1),)), shipped_catalog())
    job, same = (job_on(0, each, machine) for each in (work, said))
    needs = [job.memory[0].parts, same.memory[0].parts, estimate_memory(said, gpu, 1, zoo).parts]
    assert needs == [needs[0]] * 3


@pytest.mark.parametrize("card", ["RTX 3060", "RTX 4090", "H100 SXM5 80GB"])
@pytest.mark.parametrize("model", ["dinov2-large", "sam-vit-h", "mbart-large-50", "bge-m3"])
def test_samples_that_nobody_asks_for_make_no_job_too_large(model: str, card: str) -> None:
    work = Workload(model=model, task="inference")
    gpu = find_gpu(card)
    need = estimate_memory(settled(work, gpu, 1, 1, "none", shipped_zoo()), gpu, 1, shipped_zoo())
    assert need.high_gib <= (usable_gib(gpu) or 0.0)
    speed = predict_speed(work, gpu, 1, 1, "none", shipped_zoo())
    assert "batch_per_gpu" in speed.assumed


def test_a_translation_is_written_and_not_scored_at_once() -> None:
    gpu, zoo = find_gpu("RTX 4090"), shipped_zoo()
    work = Workload(model="mbart-large-50", task="inference")
    told = predict_speed(work, gpu, 1, 1, "none", zoo)
    longer = predict_speed(replace(work, output_tokens=512), gpu, 1, 1, "none", zoo)
    assert told.assumed["output_tokens"] == "128" and told.assumed["batch_per_gpu"] == "1"
    assert longer.value < 0.35 * told.value
    assert estimate_memory(settled(work, gpu, 1, 1, "none", zoo), gpu, 1, zoo).device_gib < 4


def test_texts_are_read_at_a_speed_in_tokens() -> None:
    gpu = find_gpu("RTX 4090")
    for model, length in (("bge-m3", 512), ("Qwen/Qwen3-Embedding-0.6B", 1024)):
        work = Workload(model=model, seq_len=length)
        told = predict_speed(work, gpu, 1, 1, "none", shipped_zoo())
        assert told.metric == "sequences/s"
        assert told.tokens_read_s == pytest.approx(told.value * length)
