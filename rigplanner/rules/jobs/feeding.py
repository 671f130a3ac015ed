"""Feeding the GPUs: whether the host's cores decode, its drives read, its processes run and its
links carry fast enough for them.

What a candidate does to speeds is not predicted, so what fits does not ask the rules that compare
speeds."""

import math
from collections.abc import Iterator

from msgspec import Struct

from rigplanner.catalog.schema.parts import CPU
from rigplanner.machine.pcie import coded_gbs
from rigplanner.machine.topology.collectives import allreduce
from rigplanner.performance.answer import SpeedEstimate
from rigplanner.performance.limits.host import feed_of
from rigplanner.performance.limits.input_pipeline import DECODE_PER_CORE_S, DOUBTS, Feed
from rigplanner.rig.edits import Edit
from rigplanner.rules.core.context import Context, JobFacts, is_built_in
from rigplanner.rules.core.finding import Finding, Fix, Named
from rigplanner.rules.core.fixes import fix, swap
from rigplanner.rules.core.registry import rule
from rigplanner.rules.jobs.data import pack_fixes
from rigplanner.rules.software.software import is_nvidia

PER_SAMPLE = ("images/s", "samples/s", "sequences/s")
"""Metrics that count what a data set is made of."""
ENGINE_PROCESSES = {"vllm": 2}
"""Processes of a serving engine beside one for each GPU, by how the stack's name begins: API server
and engine core."""
SLOW_BOOST_GHZ = 3.0
"""Boost clock below which one core is slower than those of the hosts on which launch times were
measured (server CPUs of 2017 to 2025 boost to 3.2 and more: an estimate, as clocks of unlike
architectures do not compare)."""


class Fed(Struct, frozen=True):
    """A job that reads a data set: samples per second that the GPUs would take, and what the
    pipeline gives. `cores` are all of the rig's CPUs, None where one is unknown; `cpu_name` is the
    first."""

    name: str
    job: JobFacts
    wanted: SpeedEstimate
    feed: Feed
    cpu_name: str | None
    cpu: CPU | None
    cores: int | None

    @property
    def subjects(self) -> tuple[str, ...]:
        return (self.name, self.cpu_name) if self.cpu_name else (self.name,)


def fed_jobs(context: Context) -> Iterator[Fed]:
    """Jobs with a data set whose speed on the GPUs alone is known."""
    cpus = context.cpus
    counts = [cpu.cores for _, cpu in cpus]
    cores = sum(count or 0 for count in counts) if counts and None not in counts else None
    for job in context.jobs:
        wanted = job.unfed
        feed = (
            feed_of(job.workload, context.machine)
            if wanted is not None and wanted.metric in PER_SAMPLE
            else None
        )
        if wanted is not None and feed is not None:
            yield Fed(
                job.name,
                job,
                wanted,
                feed,
                cpus[0][0] if cpus else None,
                cpus[0][1] if cpus else None,
                cores,
            )


def decoded_by_cpu(context: Context) -> Iterator[Fed]:
    """Those whose samples the CPU decodes."""
    for case in context.cases(fed_jobs):
        raw = case.job.workload.dataset_format in ("tokens", "arrays")
        if case.cpu is not None and not raw and case.job.workload.dataset_decoding != "gpu":
            yield case


@rule(
    "HST001",
    "CPU decodes more slowly than the GPUs train",
    "warning",
    over=decoded_by_cpu,
    needs=("cores",),
    reason=(
        "Images are decoded and augmented by the loader's processes; where they give less than the"
        " GPUs take, the GPUs wait."
    ),
    source=(
        "The speed model's input pipeline: 250 images per second and core, off by a factor of 1.55"
        " either way (imread-benchmark, arXiv 2605.08731); NVIDIA DALI documentation"
    ),
)
def decoding(context: Context, case: Fed) -> Iterator[Finding]:
    """Compare the samples that the cores decode with those that the GPUs take per second; a remark
    where only the doubt of the decoding rate makes it too little."""
    given, wanted = case.feed.decode_s, case.wanted.value
    doubt = DOUBTS["cpu"]
    if given is None or given / doubt >= wanted:
        return
    enough = math.ceil(wanted * (1.0 if given < wanted else doubt) / DECODE_PER_CORE_S)
    yield decoding.finding(
        case,
        "warning" if given < wanted else "info",
        needed=round(wanted),
        actual=round(given),
        unit="samples/s",
        low=round(given / doubt),
        high=round(given * doubt),
        cores=case.cores,
        enough=enough,
        fixes=(*_on_the_gpu(context, case), *_more_cores(context, case, enough)),
    )


def _on_the_gpu(context: Context, case: Fed) -> tuple[Fix, ...]:
    if not all(is_nvidia(node.gpu) for node in context.machine.gpu_parts):
        return ()
    return (
        fix(
            context,
            "decode-on-gpu",
            Edit("change_workload", {"index": case.job.index, "dataset_decoding": "gpu"}),
        ),
    )


def _more_cores(context: Context, case: Fed, enough: int) -> tuple[Fix, ...]:
    count = max(1, len(context.cpus))
    if case.cpu is None or case.cpu_name is None or len({cpu.id for _, cpu in context.cpus}) > 1:
        return ()
    own = case.cpu

    def suits(other: CPU) -> bool:
        alike = (
            other.socket == own.socket
            and other.lane_class == own.lane_class
            and set(own.chipsets) <= set(other.chipsets)
        )
        return (
            alike and (other.cores or 0) * count >= enough and other.sockets_max >= own.sockets_max
        )

    return swap(context, "other-cpu", case.cpu_name, suits, lambda other: float(other.cores or 0))


def read_from_drives(context: Context) -> Iterator[Fed]:
    """Those that read the drives again and again, because memory does not hold the set."""
    return (case for case in context.cases(fed_jobs) if not case.feed.cached and context.drives)


@rule(
    "DSK009",
    "Storage gives less than the GPUs take",
    "warning",
    over=read_from_drives,
    reason=(
        "A data set larger than memory is read in each epoch; file by file it is bound by random"
        " reads, packed by the drive's rate."
    ),
    source="The speed model's input pipeline; drive makers' rates",
)
def reading(context: Context, case: Fed) -> Iterator[Finding]:
    """Compare the samples that storage gives with those that the GPUs take per second; a remark
    where only the doubt of the drive's rate makes it too little."""
    given, wanted, doubt = case.feed.storage_s or 0.0, case.wanted.value, DOUBTS["storage"]
    if given / doubt >= wanted:
        return
    yield reading.finding(
        case,
        "warning" if given < wanted else "info",
        subjects=(case.name,),
        needed=round(wanted),
        actual=round(given),
        unit="samples/s",
        low=round(given / doubt),
        high=round(given * doubt),
        fixes=pack_fixes(context, case.job),
    )


class Engine(Named, frozen=True):
    """A serving job and the processes that it keeps busy on the host."""

    processes: int
    cores: int | None


def engines(context: Context) -> Iterator[Engine]:
    """Jobs of engines whose processes are known, on rigs that name their CPUs."""
    counts = [cpu.cores for _, cpu in context.cpus]
    for job in context.jobs:
        stack = (job.workload.stack or "").casefold()
        extra = next(
            (count for begin, count in ENGINE_PROCESSES.items() if stack.startswith(begin)), None
        )
        if extra is not None and counts and context.machine.gpu_parts:
            cores = sum(count or 0 for count in counts) if None not in counts else None
            yield Engine(job.name, len(context.machine.gpu_parts) + extra, cores)


@rule(
    "HST002",
    "Fewer cores than the engine keeps busy",
    "warning",
    over=engines,
    needs=("cores",),
    reason=(
        "vLLM runs a process for each GPU, one for the engine and one for its API, each of which"
        " polls without rest; with fewer cores they take turns and the GPUs wait."
    ),
    source=(
        "vLLM documentation, optimization: CPU resources for GPU deployments (2 + N physical cores"
        " for N GPUs)"
    ),
)
def engine_cores(context: Context, case: Engine) -> Iterator[Finding]:
    """Compare physical cores with the engine's processes."""
    if (case.cores or 0) < case.processes:
        yield engine_cores.finding(case, needed=case.processes, actual=case.cores, unit="cores")


class Launched(Struct, frozen=True):
    """A job that the launching of kernels bounds, and the CPU that launches them."""

    name: str
    cpu_name: str
    cpu: CPU

    @property
    def subjects(self) -> tuple[str, ...]:
        return (self.name, self.cpu_name)


def launched(context: Context) -> Iterator[Launched]:
    """Jobs of small kernels, with the first CPU that the owner chose: chips with a GPU in them were
    measured as they are."""
    for job in context.jobs:
        speed = job.speed
        own = next((entry for entry in context.cpus if not is_built_in(entry[0])), None)
        if speed is not None and speed.bound == "launch" and own is not None:
            yield Launched(job.name, *own)


@rule(
    "HST003",
    "Slow cores launch many small kernels",
    "info",
    over=launched,
    needs=("cpu.boost_ghz",),
    reason=(
        "One thread launches the kernels of a GPU; where they are short, its pace is the job's. The"
        " predicted speed is that of usual server and desktop cores."
    ),
    source="The speed model's launch times; a bound of 3 GHz is an estimate",
)
def launch_pace(context: Context, case: Launched) -> Iterator[Finding]:
    """Compare the boost clock in GHz."""
    if (case.cpu.boost_ghz or 0.0) < SLOW_BOOST_GHZ:
        yield launch_pace.finding(
            case, needed=SLOW_BOOST_GHZ, actual=case.cpu.boost_ghz, unit="GHz"
        )


REMARKED, WAITED = 0.10, 0.25
"""Share of a step that a wider slot saves: worth a remark, worth a warning."""


class Exchanging(Struct, frozen=True):
    """A training job over PCIe, the GPU of the slowest link, what that link gives and what the GPU
    takes in GB/s (None: unknown), and the share of a step that waits for the exchange."""

    name: str
    gpu: str
    given: float | None
    taken: float | None
    share: float

    @property
    def subjects(self) -> tuple[str, ...]:
        return (self.name, self.gpu)


def exchanging(context: Context) -> Iterator[Exchanging]:
    """Jobs whose step waits for an exchange that the slots set the pace of, not NVLink, the way
    between sockets or a network."""
    rates = [(coded_gbs(node.gen, node.width), node) for node in context.machine.gpus]
    pace = allreduce(context.machine) if len(rates) > 1 and context.jobs else None
    if pace is None or not pace.steps[-1].name.startswith("pcie"):
        return
    rate, slow = min(rates, key=lambda pair: pair[0] if pair[0] is not None else -1.0)
    taken = coded_gbs(slow.gpu.edge_gen, slow.gpu.edge_width)
    if rate is not None and taken is not None and rate >= taken:
        return
    for job in context.jobs:
        share = job.speed.exchange_share if job.speed is not None else None
        if share:
            yield Exchanging(job.name, slow.piece, rate, taken, share)


@rule(
    "HST004",
    "Exchange waits for a narrow link",
    "warning",
    over=exchanging,
    needs=("given", "taken"),
    reason=(
        "Gradients go round all GPUs at the pace of the slowest link: where that is narrower than"
        " the card, all of them wait. The same slot costs jobs with long steps little."
    ),
    source="The speed model's exchange over PCIe; NCCL's rings",
)
def narrow_exchange(context: Context, case: Exchanging) -> Iterator[Finding]:
    """Warn where the card's full link would save a quarter of the step, remark from a tenth on."""
    given, taken = case.given or 0.0, case.taken or 0.0
    saved = case.share * (1 - given / taken) if taken > given else 0.0
    if saved > REMARKED:
        yield narrow_exchange.finding(
            case,
            "warning" if saved > WAITED else "info",
            needed=round(taken, 1),
            actual=round(given, 1),
            unit="GB/s",
            share=round(100 * case.share),
            left=round(100 * (case.share - saved) / (1 - saved)),
        )
