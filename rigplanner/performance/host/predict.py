"""The speed of a language model of which the computer's memory holds a part, or all, and of any
job on CPUs alone."""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.schema.parts import CPU, GPU
from rigplanner.catalog.zoo import Zoo, shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.evidence import Step
from rigplanner.machine.model import Machine
from rigplanner.memory.capacity.host_fit import FITS_BY_ITSELF, fitted
from rigplanner.memory.on_host import LANGUAGE, as_on_cpu, writes_text
from rigplanner.memory.usable_memory import unified
from rigplanner.performance.answer import Bound, SpeedEstimate, with_first_token
from rigplanner.performance.host.cards import card_rates
from rigplanner.performance.host.constants import HostConstants, host_constants
from rigplanner.performance.host.hosts import Host, host_of, host_of_cpus
from rigplanner.performance.host.law import (
    CardRates,
    PromptTime,
    TokenTime,
    prompt_time,
    token_time,
)
from rigplanner.performance.host.processors import processors_named, processors_of
from rigplanner.performance.host.reads import Reads, held_gib, reads_of
from rigplanner.performance.host.steps import multiply_on_cpu, predict_on_cpu, with_ratio
from rigplanner.performance.host.verify import prompt_of
from rigplanner.performance.without_network.simulated import predict_simulated
from rigplanner.rig.workload import Workload
from rigplanner.workload.host_placement import ON_CPU, HostPlacement, stated_placement
from rigplanner.workload.job import Job, read_job
from rigplanner.workload.network import Network, resolve
from rigplanner.workload.releases import by_llama_server
from rigplanner.workload.stored import formatted
from rigplanner.workload.without_network import Plain, plain_job

HOSTED = (*FITS_BY_ITSELF, "ik_llama.cpp", "ktransformers")
"""Engines whose CPUs work on what lies in their memory."""
STREAMS_WEIGHTS = ("vllm", "sglang")
"""Engines whose GPUs read offloaded weights over their link (vLLM, --cpu-offload-gb)."""
WRITES = ("inference", "decode", "serve", None)
USUAL_OUTPUT = 256
"""Tokens of an answer whose length is not said: half of it lies in the cache at its middle."""


class Hosted(Struct, frozen=True, kw_only=True):
    """A job of which the host does a part: what it is and where it lies."""

    asked: Workload
    workload: Workload
    network: Network
    job: Job
    place: HostPlacement
    host: Host
    gpus: tuple[GPU, ...]
    stack: str


def hosted_job(
    workload: Workload,
    gpus: Sequence[GPU],
    machine: Machine | None,
    zoo: Zoo | None,
    cpus: Sequence[CPU] = (),
) -> Hosted | None:
    """Return the job where a part of it stays in the computer's memory: as it says, as its engine
    does by itself, or for want of a GPU; None for every other job. Where there is no machine, the
    computer is one of these `cpus`. Raises WorkloadFault for what cannot be expressed."""
    known = zoo or shipped_zoo()
    if not gpus:
        return _on_cpu(workload, machine, known, cpus)
    if workload.task not in (*WRITES, "prefill"):
        return None
    stack = (workload.stack or "").casefold()
    if stack not in (*HOSTED, *STREAMS_WEIGHTS) or (workload.model is None and not workload.config):
        return None
    if stack in STREAMS_WEIGHTS and not workload.cpu_offload_gb:
        return None
    work = formatted(workload, known).workload
    network = resolve(work, known)
    if network.kind not in LANGUAGE or not network.layers:
        return None
    work = fitted(work, gpus, known)
    place = stated_placement(work, network, stack)
    if not place.anything or all(unified(gpu) for gpu in gpus):
        return None
    job = read_job(work, network, len(gpus), True)
    return Hosted(
        asked=workload,
        workload=work,
        network=network,
        job=job,
        place=place,
        host=host_of_cpus(cpus)
        if cpus and machine is None
        else host_of(machine, gpus[0], held_gib(network, job, place)),
        gpus=tuple(gpus),
        stack="llama.cpp" if by_llama_server(workload) else stack,
    )


def _on_cpu(workload: Workload, machine: Machine | None, zoo: Zoo, cpus: Sequence[CPU]) -> Hosted:
    work = as_on_cpu(workload, zoo)
    network = resolve(work, zoo)
    job = read_job(work, network, 1, False)
    held = held_gib(network, job, ON_CPU)
    return Hosted(
        asked=workload,
        workload=work,
        network=network,
        job=job,
        place=ON_CPU,
        host=host_of_cpus(cpus) if cpus and machine is None else host_of(machine, None, held),
        gpus=(),
        stack="llama.cpp" if by_llama_server(workload) else work.stack or "",
    )


def predict_hosted(
    workload: Workload,
    gpus: Sequence[GPU],
    machine: Machine | None,
    zoo: Zoo | None,
    metric: str | None = None,
    cpus: Sequence[CPU] = (),
) -> SpeedEstimate | None:
    """Return the speed of a job of which the host does a part, or all: then of any training and any
    forward pass; None for every other one, and for other metrics than tokens/s of text that is
    written. The GPUs and CPUs of a machine are its own."""
    cards = [node.gpu for node in machine.gpus] if machine else gpus
    if not cards and (plain := plain_job(workload)):
        return _plain_on_cpu(plain, workload, [n.cpu for n in machine.cpus] if machine else cpus)
    if not cards and not writes_text(workload, zoo or shipped_zoo()):
        alone = processors_of(machine) if machine else processors_named(cpus) if cpus else None
        return predict_on_cpu(workload, alone, zoo, metric) if alone else None
    if metric not in (None, "tokens/s"):
        return None
    found = hosted_job(workload, cards, machine, zoo, cpus)
    return hosted_speed(found, machine) if found else None


def _plain_on_cpu(kind: Plain, workload: Workload, cpus: Sequence[CPU]) -> SpeedEstimate:
    """The speed of a job without a network on CPUs alone. Raises WorkloadFault for tables, and for
    what the CPUs do not compute in."""
    if kind == "simulate":
        return predict_simulated(workload, None, cpus)
    if kind == "matrix":
        return multiply_on_cpu(workload, processors_named(cpus))
    raise WorkloadFault("task: a table without a GPU is pandas' own; name a GPU.")


def beside_cpus(workload: Workload, found: SpeedEstimate, machine: Machine) -> SpeedEstimate:
    """Return the speed of a machine's GPUs with how many times that of its CPUs alone it is, for
    trainings and forward passes; as it was where the CPUs cannot be told."""
    try:
        if plain_job(workload) or writes_text(workload, shipped_zoo()):
            return found
        cpus = processors_of(machine)
        return with_ratio(found, predict_on_cpu(_for_cpus(workload), cpus, None)) if cpus else found
    except WorkloadFault:
        return found


def _for_cpus(workload: Workload) -> Workload:
    """The same training in the library and the format that CPUs have: oneDNN, FP32."""
    return replace(workload, stack=None, precision=None)


def hosted_speed(found: Hosted, machine: Machine | None) -> SpeedEstimate:
    """Return the speed of a job that the host holds in part: tokens/s of all its streams, of the
    prompt for the task `prefill`."""
    known, job = host_constants(), found.job
    prompt = prompt_of(found.workload)
    reads = reads_of(
        found.network,
        job,
        found.place,
        prompt + (job.output_tokens or USUAL_OUTPUT) / 2,
        prompt / 2,
    )
    card = card_rates(found.gpus, machine) if found.gpus else None
    token = token_time(reads, found.host, card, found.stack, known)
    first = prompt_time(reads, prompt, job.piece, found.host, card, found.stack, known)
    reading = found.workload.task == "prefill"
    rate = prompt / first.total_s if reading else job.batch / token.total_s
    faster = _as_labelled(found, reads, card, known)
    middle = rate if reading else rate * (token.total_s / faster.total_s) ** 0.5
    width = _width(found, known, reading)
    if reads.routed and not reading:
        width = math.hypot(width, math.log(known.routed_spread.get(found.stack, 1.0)))
    bound, lift = _prompt_bound(first) if reading else _token_bound(token, found.host)
    told = SpeedEstimate(
        metric="tokens/s",
        value=middle,
        low=rate / math.exp(width),
        high=(rate if reading else job.batch / faster.total_s) * math.exp(width),
        stack=found.workload.stack or found.stack,
        bound=bound,
        lift=lift or None,
        next_token_ms=1e3 * job.batch / middle if not reading else 1e3 * token.total_s,
        assumed=_assumed(found, prompt),
        steps=_steps(found, reads, token, first, card, known),
    )
    spread = math.exp(_width(found, known, reading=True))
    return with_first_token(told, 1e3 * job.batch * first.total_s, prompt, spread)


def _as_labelled(
    found: Hosted, reads: Reads, card: CardRates | None, known: HostConstants
) -> TokenTime:
    """The token where memory runs at its label's rate: four modules on a desktop board do so or
    not, and the answer lies between."""
    host = replace(found.host, ram_gbs=found.host.ram_gbs * found.host.labelled)
    return token_time(reads, host, card, found.stack, known)


def _width(found: Hosted, known: HostConstants, reading: bool) -> float:
    width = math.log(known.prompt_spread if reading else known.spread)
    return width if found.host.told else math.hypot(width, math.log(known.strange_host))


def _token_bound(token: TokenTime, host: Host) -> tuple[Bound, str]:
    """What most of a token's time goes to, and what would lift it."""
    shares: dict[Bound, float] = {
        "ram": token.ram_s + token.hops_s / 2,
        "cpu cores": token.cpu_s + token.hops_s / 2,
        "bandwidth": token.card_s,
        "pcie": token.link_s,
        "storage": token.disk_s,
    }
    bound = max(shares, key=lambda name: shares[name])
    lifts: dict[Bound, str] = {
        "ram": "more-channels" if (host.channels or 2) < 8 else "more-on-gpu",
        "cpu cores": "plainer-format",
        "bandwidth": "faster-memory",
        "pcie": "less-offload",
        "storage": "more-ram",
    }
    return bound, lifts[bound]


def _prompt_bound(prompt: PromptTime) -> tuple[Bound, str]:
    if prompt.cpu_s > max(prompt.link_s, prompt.card_s):
        return "cpu cores", "more-on-gpu"
    return ("pcie", "larger-pieces") if prompt.link_s > prompt.card_s else ("compute", "")


def _assumed(found: Hosted, prompt: int) -> dict[str, str]:
    assumed = {key: value for key, value in found.job.assumed.items() if key != "stack"}
    host, work = found.host, found.workload
    if not host.told:
        assumed["host"] = f"{host.ram_gbs:.0f} GB/s, {host.cores} cores"
    asked = found.asked
    for name in ("n_cpu_moe", "gpu_layers", "precision", "stack"):
        now = getattr(work, name)
        if now is not None and now != getattr(asked, name) and (found.gpus or name != "gpu_layers"):
            assumed[name] = str(now)
    if work.tensor_split and not asked.tensor_split:
        assumed["tensor_split"] = ":".join(f"{share:g}" for share in work.tensor_split)
    if asked.input_tokens is None and prompt != asked.seq_len:
        assumed["input_tokens"] = str(prompt)
        assumed.pop("seq_len", None)
    if host.labelled > 1.01:
        assumed["ram"] = f"{host.ram_gbs:.0f} to {host.ram_gbs * host.labelled:.0f} GB/s"
    return assumed


def _steps(
    found: Hosted,
    reads: Reads,
    token: TokenTime,
    prompt: PromptTime,
    card: CardRates | None,
    known: HostConstants,
) -> tuple[Step, ...]:
    """The calculation: what is read where, at which rate, and the seconds that makes."""
    host = found.host
    steps = [
        _step(
            "host_memory",
            "bytes read in RAM / rate of decoding",
            token.ram_s,
            read_gb=reads.host / 1e9,
            gbs=token.ram_gbs,
            all_channels_gbs=host.ram_gbs,
            sockets=host.sockets,
        ),
        _step(
            "host_cores",
            "beyond it, where cores unpack slower",
            token.cpu_s,
            cores=host.cores,
            unpacked_gbs=token.unpack_gbs,
            isa=host.isa,
        ),
        _step(
            "host_layers",
            "layers on the host x (start + cores x each)",
            token.hops_s,
            layers=reads.host_layers,
            start_s=known.layer_s,
            core_s=known.layer_core_s,
        ),
    ]
    return (*steps, *_card_steps(reads, token, card, known), _prompt_step(found, prompt))


def _card_steps(
    reads: Reads, token: TokenTime, card: CardRates | None, known: HostConstants
) -> list[Step]:
    steps = []
    if card:
        formula = "bytes / (bandwidth x share) + layers x each"
        steps.append(
            _step(
                "card_memory",
                formula,
                token.card_s,
                read_gb=reads.card / 1e9,
                gbs=card.memory_gbs,
                share=known.card_share,
                layers=reads.card_layers,
            )
        )
    if token.link_s:
        over = reads.streamed / 1e9
        steps.append(_step("link", "bytes / (link x share)", token.link_s, read_gb=over))
    if token.disk_s:
        steps.append(_step("drive", "what RAM lacks / rate of the drive", token.disk_s))
    return steps


def _prompt_step(found: Hosted, prompt: PromptTime) -> Step:
    return _step(
        "prompt",
        "CPUs + link + GPUs",
        prompt.total_s,
        cpu_s=prompt.cpu_s,
        link_s=prompt.link_s,
        card_s=prompt.card_s,
        weights="over the link" if prompt.streamed else "on the host",
        piece=found.job.piece,
    )


def _step(name: str, formula: str, value: float, **inputs: float | str | None) -> Step:
    return Step(name, formula, dict(inputs), value, "s", "catalog/benchmarks/host_speed.json")
