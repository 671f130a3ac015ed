"""The one resolved job: what memory, speed, rules, comparisons and quotes are asked of."""

from functools import cache

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.schema.parts import GPU
from rigplanner.catalog.zoo import Zoo, shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.memory.capacity.host_fit import FITS_BY_ITSELF
from rigplanner.memory.estimate import estimate_memory
from rigplanner.memory.usable_memory import unified, usable_gib
from rigplanner.performance.job import TASKS, Job, read_alike, read_job
from rigplanner.performance.sequence_to_sequence import halves
from rigplanner.performance.software.stacks import shipped_stacks
from rigplanner.rig.workload import Workload
from rigplanner.units import GIB
from rigplanner.workload.resolved import resolved
from rigplanner.workload.stacks import memory_stacks
from rigplanner.workload.without_network import DOUBLE, plain_job

REFUSED = ("stack: ", "precision: ")
"""Faults of a job that no figure of it is asked for."""


@cache
def _of_memory() -> frozenset[str]:
    """The stacks whose memory alone is known."""
    return frozenset(memory_stacks()) - frozenset(shipped_stacks())


class Settled(Struct, frozen=True):
    """A workload of which everything is said that memory and speed would otherwise each assume, and
    what of it was assumed, by field."""

    workload: Workload
    assumed: dict[str, str] = {}


def settle(
    workload: Workload, gpu: GPU, count: int, nodes: int, link: str, zoo: Zoo | None
) -> Settled:
    """Return a workload with the format of its weights, the stack and the precision that its speed
    is told for, where it names none: what else is asked of the job, its memory above all, is then
    asked of the same one. A job that cannot be timed stays as it is, but for its format. Raises
    WorkloadFault for a stack that nothing knows, that does not run on the GPU or does not load the
    format, and for a precision that the GPU lacks: memory and speed refuse it alike."""
    if plain_job(workload) or workload.precision in DOUBLE:
        return Settled(workload)
    found = resolved(workload, zoo or shipped_zoo())
    work, assumed = found.workload, dict(found.assumed)
    try:
        pair = halves(work, None, zoo)
        job = read_job(work, gpu, count, nodes, link, zoo)
        job = read_job(pair.writing, gpu, count, nodes, link, zoo) if pair else job
        made = _said(work, job, assumed)
        if made.workload != work and pair:
            read_job(made.workload, gpu, count, nodes, link, zoo)
        elif made.workload != work:
            read_alike(work, made.workload, gpu, count, nodes, link, zoo)
    except WorkloadFault as fault:
        other = _in_another_format(workload, str(fault), gpu, count, nodes, link, zoo)
        if other is not None:
            return other
        if str(fault).startswith(REFUSED) and (work.stack or "").casefold() not in _of_memory():
            raise
        return Settled(work, assumed)
    if pair:
        return made
    other = _overflowing(workload, made, job, gpu, nodes, link, zoo)
    return (
        other
        or _in_turn(workload, made, job, gpu, nodes, link, zoo)
        or _in_eight_bits(workload, made, job, gpu, nodes, link, zoo)
        or _in_small_batches(made, job, gpu, zoo)
    )


def _in_small_batches(made: Settled, job: Job, gpu: GPU, zoo: Zoo | None) -> Settled:
    """The job with as many samples at once as the card holds, by halves of the usual number, where
    nobody says how many: such a number makes no job too large."""
    batch, room = job.batch / job.shape.batch_tokens, usable_gib(gpu)
    unsaid = "batch_per_gpu" in job.assumed and "scenario" not in made.workload.variant
    if job.task != "inference" or not unsaid or room is None or batch <= 1:
        return made
    held, known = round(batch), zoo or shipped_zoo()
    try:
        while held > 1 and room < _needed(made.workload, held, gpu, job.count, known):
            held //= 2
    except WorkloadFault:
        return made
    if held == round(batch):
        return made
    work = replace(made.workload, batch_per_gpu=held)
    return Settled(work, {**made.assumed, "batch_per_gpu": str(held)})


def _needed(workload: Workload, batch: int, gpu: GPU, count: int, zoo: Zoo) -> float:
    """GiB of a card that so many samples at once need at most."""
    work = replace(workload, batch_per_gpu=batch)
    return estimate_memory(work, gpu, count, zoo, explained=False).high_gib


OF_COMPUTERS = ("pcie", "mxm", "embedded")
"""Form factors of cards and of what laptops have in their place; modules of servers serve."""
KEEPS_THE_REST = "llama.cpp"
"""The stack that people run what their cards do not hold with: it leaves the rest in RAM. Its files
are made of any model, in formats that every GPU multiplies."""


def _in_another_format(
    workload: Workload, fault: str, gpu: GPU, count: int, nodes: int, link: str, zoo: Zoo | None
) -> Settled | None:
    """Return the same job of a file for llama.cpp, where nobody asked for a stack or a format and
    the GPU does not multiply in the one that the model is published in: DeepSeek-R1 is stored in
    FP8, and an Apple chip runs it in four bits; None otherwise."""
    said = workload.stack or workload.precision or workload.quant
    runs = TASKS.get(workload.task or "inference") in ("inference", "serve")
    if said or not runs or not fault.startswith("precision: "):
        return None
    return _as_a_file(workload, gpu, count, nodes, link, zoo)


def _as_a_file(
    workload: Workload, gpu: GPU, count: int, nodes: int, link: str, zoo: Zoo | None
) -> Settled | None:
    """The job on the stack that keeps the rest; None where that does not run it."""
    local = replace(workload, stack=KEEPS_THE_REST)
    try:
        found = settle(local, gpu, count, nodes, link, zoo)
        read_job(found.workload, gpu, count, nodes, link, zoo)
    except WorkloadFault:
        return None
    return replace(found, assumed={**found.assumed, "stack": KEEPS_THE_REST})


def _overflowing(
    workload: Workload, made: Settled, job: Job, gpu: GPU, nodes: int, link: str, zoo: Zoo | None
) -> Settled | None:
    """Return the same job on a stack that leaves in RAM what the cards do not hold, where no stack
    nor format is asked for, its weights alone are more than the cards, and the usual stack would
    refuse them; None for every other job, and where such a stack does not run it. Who names fp16
    means a stack that keeps all on its cards, and is told that they do not hold it."""
    said = workload.stack or workload.precision or workload.parallelism or workload.cpu_offload_gb
    if said or job.task != "decode" or not (gpu.form_factor in OF_COMPUTERS or unified(gpu)):
        return None
    room, weights = usable_gib(gpu), job.shape.params_m * 1e6 * job.weight_bits / 8 / GIB
    if made.workload.stack in FITS_BY_ITSELF or room is None or weights <= room * job.count:
        return None
    return _as_a_file(workload, gpu, job.count, nodes, link, zoo)


TAKES_TURNS = "comfyui"
"""The program in which people draw what their card does not hold whole: it loads the text encoders,
the network that draws and the decoder one after another."""
DRAWN_IN = ("fp16", "fp8", "q4_k_s")
"""The formats in which the networks that draw are passed on for it, the largest first: as published
or half of it, eight bits, files of four."""


def _in_turn(
    workload: Workload, made: Settled, job: Job, gpu: GPU, nodes: int, link: str, zoo: Zoo | None
) -> Settled | None:
    """Return a job that draws in the program that takes turns, in the largest format that the card
    likely holds, or else may hold, where no stack nor format is asked for and the card does not
    hold all parts at once; None for every other job, and where no format does."""
    said = workload.stack or workload.precision or workload.quant or workload.parallelism
    room = usable_gib(gpu)
    draws = job.shape.kind in ("diffusion", "dit") and job.task == "inference"
    if said or not draws or room is None:
        return None
    known = zoo or shipped_zoo()
    try:
        need = estimate_memory(made.workload, gpu, job.count, known, explained=False)
    except WorkloadFault:
        return None
    if need.low_gib <= room:
        return None
    tight = None
    for precision in DRAWN_IN:
        local = replace(workload, stack=TAKES_TURNS, precision=precision)
        try:
            found = settle(local, gpu, job.count, nodes, link, zoo)
            need = estimate_memory(found.workload, gpu, job.count, known, explained=False)
        except WorkloadFault:
            continue
        told = {**found.assumed, "stack": TAKES_TURNS, "precision": precision}
        if need.device_gib <= room:
            return Settled(found.workload, told)
        tight = Settled(found.workload, told) if need.low_gib <= room else tight
    return tight


FROZEN_IN = "fp8"
"""What the frozen base of an adapter of a network that draws is kept in where sixteen bits are too
large: recipes for FLUX on 24 GB say so (sd-scripts, --fp8_base; ai-toolkit, quantize)."""


def _in_eight_bits(
    workload: Workload, made: Settled, job: Job, gpu: GPU, nodes: int, link: str, zoo: Zoo | None
) -> Settled | None:
    """Return the training of an adapter of a network that draws over a base of eight bits, where
    nobody names a format, the card does not hold sixteen and may hold that; None for every other
    job."""
    said = workload.precision or workload.quant or workload.weights_gib
    draws = job.shape.kind in ("diffusion", "dit") and job.task == "train_lora"
    room, known = usable_gib(gpu), zoo or shipped_zoo()
    if said or not draws or room is None:
        return None
    try:
        need = estimate_memory(made.workload, gpu, job.count, known, explained=False)
        if need.device_gib <= room:
            return None
        narrow = replace(made.workload, precision=FROZEN_IN)
        read_job(narrow, gpu, job.count, nodes, link, zoo)
        need = estimate_memory(narrow, gpu, job.count, known, explained=False)
    except WorkloadFault:
        return None
    if need.low_gib > room:
        return None
    return Settled(narrow, {**made.assumed, "precision": FROZEN_IN})


def _said(work: Workload, job: Job, assumed: dict[str, str]) -> Settled:
    """The workload with the stack and the precision of its job."""
    if work.stack and work.precision and not job.task.startswith("train"):
        return Settled(work, assumed)
    stack = job.named.slug if "stack" in job.assumed or not work.stack else work.stack
    precision = work.precision or (None if work.quant else job.precision)
    if stack != work.stack:
        assumed["stack"] = stack
    if precision != work.precision:
        assumed["precision"] = str(precision)
    return Settled(replace(work, stack=stack, precision=precision), assumed)


def settled(
    workload: Workload, gpu: GPU, count: int, nodes: int, link: str, zoo: Zoo | None
) -> Workload:
    """Return the one job that memory is asked of: `settle` with the batch that the speed is told
    for where none is named."""
    return settle_whole(workload, gpu, count, nodes, link, zoo).workload


def settle_whole(
    workload: Workload, gpu: GPU, count: int, nodes: int, link: str, zoo: Zoo | None
) -> Settled:
    """Return `settle` with the batch that the speed is told for where none is named, so that the
    memory which stands beside a speed is that of the same job."""
    made = settle(workload, gpu, count, nodes, link, zoo)
    batch = _timed_batch(made.workload, gpu, count, nodes, link, zoo)
    if batch is None:
        return made
    assumed = {**made.assumed, "batch_per_gpu": str(batch)}
    return Settled(replace(made.workload, batch_per_gpu=batch), assumed)


def _timed_batch(
    workload: Workload, gpu: GPU, count: int, nodes: int, link: str, zoo: Zoo | None
) -> int | None:
    """The samples on each GPU that the speed of a job without a batch is told for; None where one
    is named, or who asks says it (users, their rate), and for what cannot be timed."""
    if workload.batch_per_gpu or workload.users or workload.request_rate:
        return None
    if plain_job(workload) or workload.precision in DOUBLE:
        return None
    try:
        job = read_job(workload, gpu, count, nodes, link, zoo)
    except WorkloadFault:
        return None
    if "batch_per_gpu" not in job.assumed:
        return None
    return max(1, round(job.batch / job.shape.batch_tokens))
