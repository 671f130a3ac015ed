"""The burn-in plan: commands with expected figures and durations for one rig, made before
delivery."""

from collections.abc import Iterator

from msgspec import Struct

from rigplanner.asbuilt.promise import PromisedRate, promise_of
from rigplanner.catalog.schema.parts import GPU
from rigplanner.rules.assess import Assessment

HOUR_S = 3600
FIRST_TENSOR = 7
"""Compute capability of the first GPUs with tensor cores (Volta)."""
LARGEST_MESSAGE = "8G"
"""Largest all-reduce: bus bandwidth still grows at 512 MB on NVLink (NVIDIA/nccl-tests issue
149)."""


class BurnInStep(Struct, frozen=True, kw_only=True):
    """A command and what it should show: `purpose` is a code, `low` to `high` the figure in `unit`
    (None: no figure, the program's own verdict counts), `seconds` about how long it runs."""

    purpose: str
    command: str
    seconds: int
    value: float | None = None
    low: float | None = None
    high: float | None = None
    unit: str = ""
    root: bool = False
    text: str = ""


class BurnInPlan(Struct, frozen=True, kw_only=True):
    """The plan of one rig, in the order in which it is run."""

    rig: str
    steps: tuple[BurnInStep, ...]

    @property
    def seconds(self) -> int:
        """How long all steps take one after another."""
        return sum(step.seconds for step in self.steps)


def burn_in_plan(assessment: Assessment) -> BurnInPlan:
    """Return the burn-in plan of a rig."""
    return BurnInPlan(rig=assessment.rig.name, steps=tuple(_steps(assessment)))


def _steps(assessment: Assessment) -> Iterator[BurnInStep]:
    promise = promise_of(assessment)
    makers = {node.gpu.chip_maker for node in assessment.machine.gpus}
    rates = {rate.metric: rate for rate in promise.rates if rate.job is None}
    count = len(promise.gpus)
    if "NVIDIA" in makers:
        links = [card.nvlinks for card in promise.gpus]
        tensor = all(_has_tensor_cores(node.gpu) for node in assessment.machine.gpus)
        yield from _nvidia(promise.matrix, rates, count, links, tensor)
    if "AMD" in makers:
        yield from _amd(rates, count)
    if "Intel" in makers:
        yield BurnInStep(purpose="gpu-load", command="xpu-smi diag -d 0 -l 3", seconds=HOUR_S // 2)
    if "drive-read" in rates:
        command = (
            "fio --name=read --filename=FILE --size=32G --rw=read --bs=1M --iodepth=32"
            " --ioengine=libaio --direct=1 --runtime=60 --time_based"
        )
        yield _measured("drive-read", command, 60, rates["drive-read"])
    yield BurnInStep(
        purpose="memory-load",
        command="stress-ng --vm 0 --vm-bytes 90% --vm-method all --verify --timeout 1h",
        seconds=HOUR_S,
    )
    yield from _jobs(assessment, promise.rates)
    yield BurnInStep(
        purpose="collect", command="sudo sh collect.sh", seconds=60, root=True, text="under-load"
    )


def _nvidia(
    matrix: tuple[tuple[str, ...], ...],
    rates: dict[str, PromisedRate],
    count: int,
    nvlinks: list[int | None],
    tensor: bool,
) -> Iterator[BurnInStep]:
    if count > 1:
        letters = "; ".join(" ".join(row) for row in matrix)
        yield BurnInStep(purpose="matrix", command="nvidia-smi topo -m", seconds=5, text=letters)
    if any(nvlinks):
        up = ", ".join(str(links or 0) for links in nvlinks)
        yield BurnInStep(purpose="nvlink", command="nvidia-smi nvlink -s", seconds=5, text=up)
    if "host-to-gpu" in rates:
        command = "nvbandwidth -t host_to_device_memcpy_ce"
        yield _measured("host-to-gpu", command, 60, rates["host-to-gpu"])
    kind = "copy-peer" if "copy-peer" in rates else "copy-staged"
    if kind in rates:
        yield _measured(kind, "p2pBandwidthLatencyTest", 120, rates[kind])
    if "allreduce-busbw" in rates:
        command = f"all_reduce_perf -b 8M -e {LARGEST_MESSAGE} -f 2 -g {count}"
        yield _measured("allreduce-busbw", command, 300, rates["allreduce-busbw"])
    command = f"gpu_burn {'-tc ' if tensor else ''}{HOUR_S}"
    yield BurnInStep(purpose="gpu-load", command=command, seconds=HOUR_S)
    yield BurnInStep(
        purpose="gpu-health", command="nvidia-smi -q -d PERFORMANCE,ECC,ROW_REMAPPER", seconds=5
    )


def _has_tensor_cores(gpu: GPU) -> bool:
    """gpu-burn's -tc crashes on cards without them (system76/docs pull request 1221)."""
    major = (gpu.compute_capability or "0").partition(".")[0]
    return major.isdigit() and int(major) >= FIRST_TENSOR and gpu.dense_tflops.fp16 is not None


def _amd(rates: dict[str, PromisedRate], count: int) -> Iterator[BurnInStep]:
    if count > 1:
        yield BurnInStep(purpose="matrix", command="rocm-smi --showtopo", seconds=5)
    if "allreduce-busbw" in rates:
        command = f"all_reduce_perf -b 8M -e {LARGEST_MESSAGE} -f 2 -g {count}"
        yield _measured("allreduce-busbw", command, 300, rates["allreduce-busbw"])
    yield BurnInStep(purpose="gpu-load", command="rvs -c gst_single.conf", seconds=HOUR_S)


def _jobs(assessment: Assessment, rates: tuple[PromisedRate, ...]) -> Iterator[BurnInStep]:
    """Yield the rig's own workloads where a benchmark of their stack runs them."""
    for rate in rates:
        if rate.job is None:
            continue
        work = assessment.jobs[rate.job].workload
        model = work.model or "MODEL"
        if rate.program == "vllm" and rate.unit == "tokens/s":
            lengths = (
                f"--input-len {work.input_tokens or 512} --output-len {work.output_tokens or 128}"
            )
            split = f" --tensor-parallel-size {len(assessment.machine.gpus)}"
            command = f"vllm bench throughput --model {model} {lengths}{split}"
        elif rate.program == "llama.cpp" and rate.unit == "tokens/s":
            command = f"llama-bench -m {model}.gguf -p {work.input_tokens or 512} -n 128"
        else:
            continue
        yield _measured("workload", command, 600, rate)


def _measured(purpose: str, command: str, seconds: int, rate: PromisedRate) -> BurnInStep:
    return BurnInStep(
        purpose=purpose,
        command=command,
        seconds=seconds,
        value=rate.value,
        low=rate.low,
        high=rate.high,
        unit=rate.unit,
    )
