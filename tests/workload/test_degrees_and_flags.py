"""Degrees that the GPUs cannot hold, flags that nothing hears, and contexts beyond what a network
was made for."""

import ast
from pathlib import Path
from typing import Any

import pytest

import rigplanner
from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.zoo import Zoo, shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.memory.capacity.capacity_search import reach
from rigplanner.memory.capacity.changes import cheapest_changes
from rigplanner.memory.estimate import estimate_memory
from rigplanner.rig.workload import Parallelism, Workload
from rigplanner.workload.limits import FLAGS, unheard_flags


@pytest.fixture(scope="module")
def zoo() -> Zoo:
    return shipped_zoo()


@pytest.mark.parametrize(
    ("degrees", "told"),
    [
        ({"tensor": 8}, "at most 2 GPUs together, found tensor 8 = 8"),
        ({"data": 16, "zero": 3}, "data 16 = 16"),
        ({"tensor": 2, "pipeline": 2}, "tensor 2 x pipeline 2 = 4"),
        ({"context": 4}, "context 4 = 4"),
    ],
)
def test_degrees_need_as_many_gpus_as_there_are(
    zoo: Zoo, degrees: dict[str, Any], told: str
) -> None:
    work = Workload(model="llama-3.1-8b", task="train_full", parallelism=Parallelism(**degrees))
    with pytest.raises(WorkloadFault, match=told):
        estimate_memory(work, find_gpu("RTX 4090"), 2, zoo)


def test_tensor_ranks_share_the_heads(zoo: Zoo) -> None:
    work = Workload(model="llama-3.1-8b", task="inference", parallelism=Parallelism(tensor=3))
    with pytest.raises(WorkloadFault, match="divisor of the 32 attention heads, found 3"):
        estimate_memory(work, find_gpu("RTX 4090"), 4, zoo)


def _asked_of_flags() -> set[str]:
    """The words that the package looks for in a job's flags, read from its source: only what speaks
    of flags is parsed."""
    texts = (path.read_text() for path in Path(rigplanner.__file__).parent.rglob("*.py"))
    trees = [ast.parse(text) for text in texts if "flags" in text]
    named = {
        node.targets[0].id: node.value
        for tree in trees
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id.isupper()
    }
    asked = set[str]()
    for node in (node for tree in trees for node in ast.walk(tree)):
        sides = [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
        sides = (
            [node.left, node.right]
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd)
            else sides
        )
        if any(getattr(part, "attr", "") == "flags" for side in sides for part in ast.walk(side)):
            parts = [part for side in sides for part in ast.walk(side)]
            parts += [
                part
                for name in parts
                if isinstance(name, ast.Name) and name.id in named
                for part in ast.walk(named[name.id])
            ]
            asked |= {
                part.value
                for part in parts
                if isinstance(part, ast.Constant) and isinstance(part.value, str)
            }
    return asked


def test_every_flag_that_is_asked_for_is_known() -> None:
    asked = _asked_of_flags()
    assert len(asked) > 15
    assert asked <= set(FLAGS)


def test_flags_that_nothing_hears_are_told_with_the_nearest_known(zoo: Zoo) -> None:
    heard = ["vae_tiling", "cpu_moe=4", "transformers 4.35", "torch 1.13"]
    assert unheard_flags(heard) == ""
    assert (
        unheard_flags([*heard, "model_cpu_ofload", "shuffled"])
        == "model_cpu_ofload (model_cpu_offload?), shuffled"
    )
    told = estimate_memory(
        Workload(model="gpt2", task="inference", flags=["shuffled"]), find_gpu("RTX 4090"), 1, zoo
    )
    assert told.assumed["flags_ignored"] == "shuffled"


@pytest.mark.parametrize(
    ("count", "tensor", "pipeline"), [(3, None, "3"), (6, "2", "3"), (8, "8", None), (9, None, "9")]
)
def test_gpus_that_do_not_divide_the_heads_share_the_layers(
    zoo: Zoo, count: int, tensor: str | None, pipeline: str | None
) -> None:
    work = Workload(model="llama-3.1-70b", task="serve", precision="bf16")
    need = estimate_memory(work, find_gpu("H100 SXM5 80GB"), count, zoo)
    assert (need.assumed.get("parallelism.tensor"), need.assumed.get("parallelism.pipeline")) == (
        tensor,
        pipeline,
    )
    assert need.parts.weights_gib == pytest.approx(131.4 / count, rel=0.02)


@pytest.mark.parametrize("model", ["resnet50", "sdxl", "yolov8n"])
def test_pictures_have_no_context(zoo: Zoo, model: str) -> None:
    gpu = find_gpu("RTX 4090")
    assert gpu is not None
    with pytest.raises(WorkloadFault, match="network of pictures"):
        reach("context", Workload(model=model, task="inference"), gpu, 1, zoo)


@pytest.mark.parametrize(
    ("word", "told"),
    [("bnbb", "bnbb (bnb?)"), ("magic", "magic"), ("AWQ", None), ("awq_marlin", None)],
)
def test_a_way_of_quantising_that_nothing_hears_is_told(
    zoo: Zoo, word: str, told: str | None
) -> None:
    work = Workload(model="llama-3.1-8b", task="inference", precision="int4", quant=word)
    assert estimate_memory(work, find_gpu("RTX 4090"), 1, zoo).assumed.get("quant_ignored") == told


def test_libraries_are_the_ways_they_write(zoo: Zoo) -> None:
    sizes = {
        estimate_memory(
            Workload(model="llama-3.1-8b", task="train_qlora", precision="nf4", quant=word),
            None,
            1,
            zoo,
        ).device_gib
        for word in ("bnb", "bitsandbytes", "qlora", "BNB")
    }
    assert len(sizes) == 1


def test_a_context_beyond_the_positions_is_told(zoo: Zoo) -> None:
    gpu = find_gpu("RTX 4090")
    assert gpu is not None
    found = reach("context", Workload(model="gpt2", task="inference", output_tokens=1), gpu, 1, zoo)
    assert found.positions == 1024 < found.value
    assert reach("batch", Workload(model="gpt2", task="inference"), gpu, 1, zoo).positions is None


def test_no_change_needs_more_gpus_than_it_says(zoo: Zoo) -> None:
    gpu = find_gpu("RTX 3090")
    assert gpu is not None
    work = Workload(
        model="llama-3.1-70b",
        task="inference",
        precision="q4_k_m",
        stack="llama.cpp",
        input_tokens=8192,
    )
    for change in cheapest_changes(work, gpu, 2, zoo):
        ways = change.fields.get("parallelism", {})
        assert ways.get("tensor", 1) * ways.get("pipeline", 1) <= change.count


def test_a_pipeline_may_take_its_components_in_turn(zoo: Zoo) -> None:
    gpu = find_gpu("RTX 3060")
    assert gpu is not None
    found = {
        change.code: change
        for change in cheapest_changes(
            Workload(model="sdxl", task="inference", precision="fp16"), gpu, 1, zoo
        )
    }
    turn = found["components_in_turn"]
    assert (
        turn.fits and turn.fields == {"flags": ["model_cpu_offload"]} and turn.speed_share == 0.15
    )
    assert found["four_bit_weights"].fields["precision"] == "nf4"


@pytest.mark.parametrize(
    ("model", "tokens"),
    [("bert-base-uncased", 512), ("roberta-base", 512), ("gpt2", 1024), ("llama-3.1-8b", 2048)],
)
def test_the_usual_length_is_no_more_than_the_positions(zoo: Zoo, model: str, tokens: int) -> None:
    assert estimate_memory(Workload(model=model, task="train_full"), None, 1, zoo).assumed[
        "seq_len"
    ] == str(tokens)
