"""Number formats, what a GPU does with each, and the generations of GPUs."""

import pytest

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.load import Catalog
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.cli.main import main
from rigplanner.errors import WorkloadFault
from rigplanner.performance.predict import predict_speed
from rigplanner.planning.formats import FORMATS, formats_on
from rigplanner.planning.generations import generations
from rigplanner.rig.workload import Workload


def test_bits_make_range_and_steps() -> None:
    known = {each.name: each for each in FORMATS}
    assert known["fp16"].largest == 65504 and known["fp16"].smallest == 2.0**-14
    assert known["bf16"].largest == pytest.approx(3.39e38, rel=0.01)
    assert known["fp32"].smallest == known["bf16"].smallest == 2.0**-126
    assert known["fp16"].step == known["tf32"].step == 2.0**-10
    assert {name: known[name].bits for name in ("fp64", "fp32", "bf16", "fp8", "fp4", "int4")} == {
        "fp64": 64, "fp32": 32, "bf16": 16, "fp8": 8, "fp4": 4, "int4": 4
    }  # fmt: skip


@pytest.mark.parametrize(
    ("gpu", "told"),
    [
        ("GTX 1080", {"fp16": "slow", "bf16": "emulated", "fp64": "slow", "fp8": "stored"}),
        ("V100 SXM2 16GB", {"fp16": "matrix", "bf16": "emulated", "tf32": "none"}),
        ("RTX 3090", {"bf16": "matrix", "tf32": "matrix", "fp8": "stored", "int8": "matrix"}),
        ("RTX 5090", {"fp8": "matrix", "fp4": "matrix", "fp64": "slow"}),
        ("H100 SXM5 80GB", {"fp64": "matrix", "fp8": "matrix", "fp4": "stored"}),
    ],
)
def test_what_a_gpu_does_with_a_format(gpu: str, told: dict[str, str]) -> None:
    found = {each.format.name: each for each in formats_on(find_gpu(gpu))}
    assert {name: found[name].how for name in told} == told
    assert all((each.tflops is None) == (each.how in ("emulated", "stored", "none", "unknown"))
               for each in found.values())  # fmt: skip


def test_what_the_rules_refuse_has_no_speed() -> None:
    work = Workload(model="llama-3.1-8b", task="inference", precision="bf16", stack="vllm")
    gpu = find_gpu("V100 SXM2 32GB")
    with pytest.raises(WorkloadFault, match=r"vLLM runs bf16 from compute capability 8\.0 on"):
        predict_speed(work, gpu, 1, 1, "none", shipped_zoo())
    other = Workload(model="llama-3.1-8b", task="inference", precision="bf16")
    assert predict_speed(other, gpu, 1, 1, "none", shipped_zoo()).stack != "vllm"
    with pytest.raises(WorkloadFault, match="bf16 is emulated, slowly; weights alone"):
        predict_speed(Workload(model="resnet50", task="train", precision="fp8"), gpu, 1, 1, "none",
                      shipped_zoo())  # fmt: skip


def test_generations_follow_each_other_from_fermi_to_blackwell(catalog: Catalog) -> None:
    found = generations(catalog)
    assert [each.name for each in found][:4] == ["Fermi", "Kepler", "Maxwell", "Pascal"]
    assert found[-1].name == "Blackwell" and found[-1].driver_last is None
    years = [each.first_year or "" for each in found]
    assert years == sorted(years)
    assert not found[0].units and "fp16" in found[4].units and "fp4" in found[-1].units
    assert found[0].cuda_last == "9.0" and found[-1].cuda_last is None


def test_the_command_prints_both_tables(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["formats", "--gpu", "RTX 3090"]) == 0
    assert "GeForce RTX 3090" in capsys.readouterr().out
    assert main(["formats", "--generations"]) == 0
    assert "Blackwell" in capsys.readouterr().out
    assert main(["formats", "--gpu", "RTX 9999"]) == 2
