"""Networks on CPUs alone: peaks, the law of a step, and what measured rows say of it."""

import math
import statistics

import pytest
from msgspec.structs import replace

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.load import shipped_catalog
from rigplanner.catalog.schema.parts import CPU
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.performance.host.predict import predict_hosted
from rigplanner.performance.host.processors import (
    Processors,
    gain_over_fp32,
    peak_tflops,
    processors_named,
)
from rigplanner.performance.host.steps import as_processors, cpu_file, predict_on_cpu, stack_on_cpu
from rigplanner.performance.predict import predict_speed
from rigplanner.rig.workload import Workload

NET = Workload(model="resnet50", task="train", precision="fp32", batch_per_gpu=16)


def cpu(part_id: str) -> CPU:
    part = shipped_catalog().parts[part_id]
    assert isinstance(part, CPU)
    return part


@pytest.mark.parametrize(
    ("part", "tflops"),
    [
        ("intel.xeon.e5-2630-v3", 8 * 2.4 * 32 / 1e3),  # two units of AVX2 with FMA
        ("intel.xeon.platinum-8124m", 18 * 3.0 * 64 / 1e3),  # two units of AVX-512
        ("intel.xeon.silver-4210", 10 * 2.2 * 32 / 1e3),  # one unit of AVX-512
        ("amd.threadripper.1950x", 16 * 3.4 * 16 / 1e3),  # AVX2 in two turns before Zen 2
    ],
)
def test_peak_is_cores_x_clock_x_operations_a_cycle(part: str, tflops: float) -> None:
    assert peak_tflops(cpu(part)) == pytest.approx(tflops)


def test_a_cpu_without_cores_is_named_with_the_field_it_lacks() -> None:
    with pytest.raises(WorkloadFault, match="does not say how many cores it has"):
        peak_tflops(replace(cpu("intel.xeon.e5-2630-v3"), cores=None))


TWO = processors_named([cpu("intel.xeon.e5-2630-v3")] * 2)


def test_more_of_anything_is_faster_and_double_precision_slower() -> None:
    def speed(found: Processors = TWO, **fields: object) -> float:
        return predict_on_cpu(replace(NET, **fields), found, None).value

    assert speed() > speed(replace(TWO, tflops=TWO.tflops / 2))
    assert speed() > speed(replace(TWO, ram_gbs=TWO.ram_gbs / 4))
    assert speed() > speed(precision="fp64") > speed() / 2.2
    assert speed(task="inference") > 2 * speed()
    assert speed(stack="onednn") > speed(stack="torch7")


def test_formats_that_a_cpu_lacks_are_refused_with_those_it_has() -> None:
    with pytest.raises(WorkloadFault, match="no bf16 arithmetic; use one of fp64, fp32, int8"):
        gain_over_fp32(TWO, "bf16")
    tiles = replace(TWO, isa=("avx512f", "avx512_bf16", "amx_tile"))
    assert gain_over_fp32(tiles, "bf16") == 16 and gain_over_fp32(tiles, "int8") == 32


def test_stacks_that_need_a_gpu_are_refused() -> None:
    assert stack_on_cpu(None) == stack_on_cpu("pytorch-eager") == "onednn"
    with pytest.raises(WorkloadFault, match="not known to run on CPUs"):
        stack_on_cpu("tensorrt")


def test_the_law_holds_rows_of_networks_that_it_leaves_out() -> None:
    misses, inside = [], []
    for row in cpu_file().rows:
        work = Workload(model=row.model, task=row.task, batch_per_gpu=row.batch, stack=row.stack)
        host = as_processors(cpu_file().hosts[row.host])
        found = predict_on_cpu(work, host, None, left_out=row.model)
        misses.append(abs(math.log(found.value / row.samples_s)))
        inside.append(found.low <= row.samples_s <= found.high)
    assert statistics.median(misses) < 0.15 and max(misses) < 0.6
    assert 0.75 < statistics.mean(inside) < 0.95


PUBLISHED = {
    "vgg16": (8495.48, 128.62),
    "resnet18": (2195.78, 31.54),
    "resnet50": (6627.25, 103.58),
    "resnet101": (11306.24, 156.44),
    "resnet152": (16872.78, 217.91),
}
"""Milliseconds of 16 images forward and back on two Xeon E5-2630 v3 and on a Pascal Titan X with
cuDNN 5.1 (jcjohnson/cnn-benchmarks, README)."""


@pytest.mark.parametrize("model", PUBLISHED)
def test_how_many_times_a_titan_x_is_two_xeons_is_as_published(model: str) -> None:
    """The text of that benchmark says 49 to 74 times; its own table 64 to 77 with cuDNN 5.1."""
    work = replace(NET, model=model, stack="torch7")
    alone = predict_on_cpu(work, TWO, None)
    card = predict_speed(work, find_gpu("Titan X Pascal"), 1, 1, "none", shipped_zoo())
    on_cpu, on_card = PUBLISHED[model]
    assert card.value / alone.value == pytest.approx(on_cpu / on_card, rel=0.12)


def test_a_job_on_cpus_alone_is_answered_for_every_kind_of_net() -> None:
    for model in ("bert-base", "vit_base_patch16_224", "llama-3.2-1b", "yolov8n"):
        found = predict_hosted(
            Workload(model=model, task="train"), (), None, None, cpus=[cpu("intel.xeon.e5-2630-v3")]
        )
        assert found is not None and 0 < found.low < found.value < found.high
