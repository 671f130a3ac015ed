"""Jobs without a network: products of matrices in FP64, tables on GPUs, simulated environments."""

import pytest
from msgspec.structs import replace

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.load import shipped_catalog
from rigplanner.catalog.schema.parts import CPU
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.memory.estimate import estimate_memory
from rigplanner.performance.answer import SpeedEstimate
from rigplanner.performance.host.predict import predict_hosted
from rigplanner.performance.predict import predict_speed
from rigplanner.performance.without_network.matrix import formats_of
from rigplanner.performance.without_network.simulated import predict_simulated, simulators
from rigplanner.planning.map.rank import answer
from rigplanner.rig.workload import Workload
from rigplanner.workload.without_network import plain_job

ZOO = shipped_zoo()
DOUBLE = Workload(model="matrix", precision="fp64")


def speed(work: Workload, gpu: str, count: int = 1) -> SpeedEstimate:
    return predict_speed(work, find_gpu(gpu), count, 1, "none" if count == 1 else "pcie", ZOO)


def cpu(part_id: str) -> CPU:
    part = shipped_catalog().parts[part_id]
    assert isinstance(part, CPU)
    return part


@pytest.mark.parametrize(
    ("gpu", "gflops"),
    [("Titan Black", 1700), ("GeForce GTX TITAN X", 192), ("Titan X (Pascal)", 300)],
)
def test_fp64_is_what_the_notes_list(gpu: str, gflops: float) -> None:
    """Peaks of the notes; ours is what a product reaches, at the boost clock of the data sheet."""
    found = speed(DOUBLE, gpu)
    assert found.metric == "TFLOPS"
    assert found.value * 1e3 == pytest.approx(gflops, rel=0.15)


def test_converted_to_float32_a_card_for_games_is_as_much_faster_as_its_rates_say() -> None:
    assert speed(DOUBLE, "GeForce GTX TITAN X").fp32_gain == pytest.approx(32, rel=0.02)
    assert speed(DOUBLE, "V100 SXM2 16GB").fp32_gain == pytest.approx(2, rel=0.02)
    assert speed(replace(DOUBLE, precision="fp32"), "GTX 1080").fp32_gain is None


def test_small_matrices_wait_for_memory_or_the_start() -> None:
    large, small = (speed(replace(DOUBLE, matrix_n=n), "V100 SXM2 16GB") for n in (8192, 64))
    assert large.bound == "compute" and small.value < 0.2 * large.value
    assert large.step_ms == pytest.approx(2e-9 * 8192**3 / large.value)


def test_a_format_that_the_chip_lacks_is_refused_with_those_it_has() -> None:
    with pytest.raises(WorkloadFault, match="has no fp4 arithmetic; use one of fp64, fp32"):
        speed(replace(DOUBLE, precision="fp4"), "Titan X (Pascal)")
    with pytest.raises(WorkloadFault, match="expected one of fp64"):
        speed(replace(DOUBLE, precision="q4_k_m"), "Titan X (Pascal)")
    assert "bf16" not in formats_of(find_gpu("Titan X (Pascal)"))


def test_a_network_in_fp64_is_slower_and_takes_twice_the_memory() -> None:
    net = Workload(model="resnet50", task="train", batch_per_gpu=16, precision="fp32")
    gpu = find_gpu("GTX 1080")
    wide = replace(net, precision="fp64")
    single, double = speed(net, "GTX 1080"), speed(wide, "GTX 1080")
    assert double.fp32_gain == pytest.approx(single.value / double.value)
    assert 2 < double.fp32_gain < 32 and double.low < double.value < double.high
    needs = [estimate_memory(work, gpu, 1, ZOO) for work in (net, wide)]
    assert needs[1].tensors_gib == pytest.approx(2 * needs[0].tensors_gib)
    assert needs[1].parts.context_gib == needs[0].parts.context_gib


def test_cards_are_ranked_by_fp64_and_told_as_modelled() -> None:
    found = answer(DOUBLE, find_gpu("Titan V"), 1, ZOO)
    assert found.fit == "fits" and found.known == "modelled" and found.speed
    assert found.speed.value > 20 * speed(DOUBLE, "Titan X (Pascal)").value


TABLE = Workload(model="dataframe", dataset_gb=50.0)


def test_a_table_takes_two_to_three_times_itself_dealt_over_the_cards() -> None:
    one = estimate_memory(TABLE, find_gpu("H100 SXM5 80GB"), 1, ZOO)
    assert 2 * 50e9 / 2**30 < one.low_gib < one.device_gib < one.high_gib < 3.1 * 50e9 / 2**30
    two = estimate_memory(TABLE, find_gpu("H100 SXM5 80GB"), 2, ZOO)
    assert two.tensors_gib == pytest.approx(one.tensors_gib / 2)
    assert answer(TABLE, find_gpu("RTX 4090"), 1, ZOO).fit == "no"


def test_a_table_without_its_size_or_with_another_stack_is_refused() -> None:
    with pytest.raises(WorkloadFault, match="dataset_gb"):
        estimate_memory(Workload(model="dataframe"), None, 1, ZOO)
    with pytest.raises(WorkloadFault, match="expected one of cudf"):
        estimate_memory(replace(TABLE, stack="vllm"), None, 1, ZOO)
    with pytest.raises(WorkloadFault, match="only the memory is known"):
        speed(TABLE, "RTX 4090")


PONG = Workload(model="atari", task="simulate")
PUBLISHED = {
    ("amd.ryzen.9-5950x", 1, "atari", "subprocess"): 47_699 / 4,
    ("amd.ryzen.9-5950x", 1, "atari", "envpool"): 200_428 / 4,
    ("amd.ryzen.9-5950x", 1, "mujoco", "sample-factory"): 309_264 / 5,
    ("amd.epyc.7742", 2, "atari", "subprocess"): 71_943 / 4,
    ("amd.epyc.7742", 2, "mujoco", "envpool"): 3_134_287 / 5,
}
"""Steps a second of sail-sg/envpool's benchmark: frames over the frames of a step."""


@pytest.mark.parametrize("row", PUBLISHED)
def test_steps_a_second_are_as_published(row: tuple[str, int, str, str]) -> None:
    part, sockets, name, engine = row
    work = replace(PONG, model=name, variant={"engine": engine})
    found = predict_simulated(work, None, [cpu(part)] * sockets)
    assert found.low <= PUBLISHED[row] <= found.high


def test_cores_decide_and_the_gpu_is_mostly_idle() -> None:
    few, many = (
        predict_simulated(PONG, find_gpu("RTX 3090"), [cpu(part)])
        for part in ("amd.ryzen.9-5950x", "amd.epyc.7742")
    )
    assert few.bound == "cpu cores" and few.lift == "more-cores"
    assert few.gpu_busy is not None and few.gpu_busy < 0.5
    assert many.value > few.value
    faster = predict_simulated(PONG, find_gpu("RTX 5090"), [cpu("amd.ryzen.9-5950x")])
    assert faster.value == few.value
    assert predict_hosted(PONG, (), None, None, cpus=[cpu("amd.ryzen.9-5950x")]) is not None


def test_simulators_without_known_speed_ask_for_it() -> None:
    work = Workload(model="pybullet", task="simulate")
    with pytest.raises(WorkloadFault, match="no speed of pybullet is known"):
        predict_simulated(work, None, [])
    told = replace(work, variant={"core_steps_s": 800})
    assert predict_simulated(told, None, [cpu("amd.ryzen.9-5950x")]).value > 800
    with pytest.raises(WorkloadFault, match="expected one of atari"):
        predict_simulated(replace(work, model="doom"), None, [])
    with pytest.raises(WorkloadFault, match="expected one of for-loop"):
        predict_simulated(replace(PONG, variant={"engine": "ray"}), None, [])


def test_only_named_jobs_need_no_network() -> None:
    assert plain_job(Workload(model="resnet50", task="train")) is None
    assert plain_job(DOUBLE) == "matrix" and plain_job(PONG) == "simulate"
    assert set(simulators().engines) >= {"subprocess", "envpool"}
