"""Memory of recommenders: tables, dense layers and states where the tables are known; the rest is
refused by name."""

import pytest
from msgspec.structs import replace

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.zoo import near_names, recommender, shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.memory.answer import MemoryEstimate
from rigplanner.memory.estimate import estimate_memory
from rigplanner.performance.predict import predict_speed
from rigplanner.rig.workload import Parallelism, Workload
from rigplanner.units import GIB

CARD = "A100-SXM4-80GB"


def memory(model: str, count: int = 1, **fields: object) -> MemoryEstimate:
    work = replace(
        Workload(model=model, task="train", precision="amp_fp16", batch_per_gpu=4096), **fields
    )
    return estimate_memory(work, find_gpu(CARD), count, shipped_zoo())


def test_tables_and_dense_layers_are_weights_and_have_states() -> None:
    found = memory("ncf")
    rows = (138_493 + 26_744) * (64 + 128)
    assert found.parts.weights_gib == pytest.approx(4 * rows / GIB, rel=0.01)
    assert found.parts.gradients_gib == pytest.approx(found.parts.weights_gib)
    assert found.parts.optimizer_gib == pytest.approx(2 * found.parts.weights_gib)
    assert found.assumed["optimizer"] == "adam" and found.assumed["tables"] == "on the GPUs"
    assert "seq_len" not in found.assumed
    assert memory("ncf", optimizer="sgd").parts.optimizer_gib == 0.0


def test_tables_whose_rows_travel_are_spread_and_others_are_on_every_gpu() -> None:
    one, eight = memory("dlrm"), memory("dlrm", 8)
    assert one.parts.weights_gib == pytest.approx(89.5, rel=0.01)
    assert eight.parts.weights_gib == pytest.approx(one.parts.weights_gib / 8, rel=0.01)
    assert one.parts.gradients_gib < 0.01 * one.parts.weights_gib
    assert memory("ncf", 8).parts.weights_gib == memory("ncf").parts.weights_gib


def test_an_optimizer_with_moments_needs_room_for_those_of_the_tables() -> None:
    plain, moments = memory("dlrm", 8), memory("dlrm", 8, optimizer="adam")
    assert plain.parts.optimizer_gib == 0.0
    assert moments.parts.optimizer_gib == pytest.approx(2 * plain.parts.weights_gib, rel=0.01)


@pytest.mark.parametrize("precision", ["fp16", "int8"])
def test_serving_keeps_weights_alone(precision: str) -> None:
    found = memory("dlrm-99.9", task="inference", precision=precision)
    assert found.parts.weights_gib == pytest.approx(
        {"fp16": 44.8, "int8": 22.4}[precision], rel=0.01
    )
    assert found.parts.gradients_gib == found.parts.optimizer_gib == 0.0


def test_memory_grows_with_the_batch() -> None:
    sizes = [
        memory("dlrm-dcnv2", 8, batch_per_gpu=batch).tensors_gib for batch in (512, 8192, 131072)
    ]
    assert sizes == sorted(sizes) and sizes[0] < sizes[-1]


def test_tables_that_are_not_known_are_named() -> None:
    with pytest.raises(WorkloadFault, match="embedding tables of 'wide-and-deep'"):
        memory("wide-and-deep")
    with pytest.raises(WorkloadFault, match="waits in RAM"):
        memory("ncf", parallelism=Parallelism(offload="optimizer"))


@pytest.mark.parametrize(
    "name", ["dlrm", "DLRM", "dlrm-dcnv2", "dlrm_dcnv2", "ncf", "NCF ML-20m", "neumf"]
)
def test_usual_names_are_known_to_both(name: str) -> None:
    assert recommender(name)
    assert memory(name).device_gib > 0
    asked = Workload(model=name, task="train", precision="amp_fp16", batch_per_gpu=4096)
    assert predict_speed(asked, find_gpu(CARD), 1, 1, "none", shipped_zoo()).value > 0


@pytest.mark.parametrize("name", ["dcn", "dien", "din"])
def test_names_that_are_not_known_are_refused_by_both_with_the_same_nearest(name: str) -> None:
    near = ", ".join(near_names(name, shipped_zoo()))
    assert near
    with pytest.raises(WorkloadFault, match=f"'{name}' is not known.*{near}"):
        memory(name)
    with pytest.raises(WorkloadFault, match=f"'{name}' is not known.*{near}"):
        predict_speed(
            Workload(model=name, task="train"), find_gpu(CARD), 1, 1, "none", shipped_zoo()
        )


def test_a_part_of_a_name_finds_the_whole() -> None:
    assert near_names("dcn", shipped_zoo())[0] == "dlrm-dcnv2"
    assert len(near_names("resnet", shipped_zoo())) == 4
