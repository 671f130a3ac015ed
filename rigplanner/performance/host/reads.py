"""The bytes that one step of writing reads on each device, and the work that a prompt is."""

from __future__ import annotations

from msgspec import Struct

from rigplanner.memory.inference import GgmlParts, ggml_parts, narrowed_bytes, weights_of
from rigplanner.performance.serving import ALIKE
from rigplanner.workload.host_placement import HostPlacement, experts_in_use
from rigplanner.workload.job import Job
from rigplanner.workload.network import Network
from rigplanner.workload.quant import GGUF, KV_BITS
from rigplanner.workload.stacks import memory_stack

I_QUANTS = ("iq1", "iq2_x", "iq2_s", "iq2_m", "iq3_x", "iq3_s", "iq3_m", "tq")
"""Formats whose values are looked up in tables: slow on CPUs (ik_llama.cpp discussion 164)."""


class Reads(Struct, frozen=True, kw_only=True):
    """Of one step of `streams` sequences: bytes read in RAM by the CPUs, on the cards, over the
    link; the layers whose work the host does, and those of the cards. `held_gib` of weights lie in
    RAM. `host_gflop`, `card_gflop` of each token of a prompt, `host_scores`, `card_scores` GFLOP of
    its attention. A token wakes the share `each` of the experts, 0 where there are none. `routed`:
    whether experts are among what the host reads, `experts`: whether they lie scattered there."""

    host: float
    card: float
    streamed: float
    host_layers: float
    card_layers: float
    experts: bool
    routed: bool
    looked_up: bool
    streams: int
    held_gib: float
    host_gflop: float
    card_gflop: float
    host_scores: float = 0.0
    card_scores: float = 0.0
    each: float = 0.0
    precision: str = ""

    @property
    def packed(self) -> bool:
        """Whether a prompt is multiplied with weights as they are packed."""
        return self.precision in GGUF


def reads_of(
    network: Network, job: Job, place: HostPlacement, context: float, before: float = 0.0
) -> Reads:
    """Return what a step reads with `context` tokens in the cache of each of the job's streams, and
    what a token of a prompt takes that has `before` others before it on average.

    Of n experts of which a token wakes k, B unlike streams wake n (1 - (1 - k/n)^B) of a layer."""
    parts = file_parts(network, job)
    awake = _awake(network, job.batch)
    cache = network.kv_values(max(1, round(context))) * KV_BITS[job.kv_precision] / 8 * job.batch
    experts = parts.experts * awake
    host = (
        place.experts * experts
        + place.rest * parts.rest
        + place.head * parts.head
        + place.cache * cache
    )
    streamed = min(place.streamed_gb * 1e9, parts.experts + parts.rest + parts.head)
    card = experts + parts.rest + parts.head + cache - host
    gflop = 2e-9 * (network.active_params - network.embedding_params)
    mine = _work_share(parts, place, _awake(network, 1))
    scores = attention_gflop(network, before)
    layers = max(1, network.layers)
    return Reads(
        host=host,
        card=max(0.0, card - streamed),
        streamed=streamed,
        host_layers=max(place.rest * layers, place.expert_layers, place.cache * layers / 4),
        card_layers=(1 - place.rest) * layers,
        experts=bool(network.experts) and place.experts > place.rest,
        routed=bool(network.experts) and place.experts > 0,
        looked_up=job.precision.startswith(I_QUANTS),
        streams=job.batch,
        held_gib=_held_gib(parts, place),
        host_gflop=gflop * mine,
        card_gflop=gflop * (1 - mine),
        host_scores=scores * place.cache,
        card_scores=scores * (1 - place.cache),
        each=experts_in_use(network) / network.experts if network.experts else 0.0,
        precision=job.precision,
    )


LATENT_ROPE = 64
"""Values of a latent vector that tell the position and are no part of the sum (DeepSeek-V3,
qk_rope_head_dim)."""


def attention_gflop(network: Network, before: float) -> float:
    """Return the GFLOP of one token's scores and sums with `before` tokens in front of it: twice
    heads x width for each, the latent vector where that is all the cache keeps; windowed layers
    stop at the window, layers with a state need none."""
    wide = 2 * network.latent_values - LATENT_ROPE if network.latent_values else 0
    width = network.heads * (wide or 2 * network.head_dim)
    full = network.layers - network.window_layers - network.state_layers
    seen = full * before + network.window_layers * min(before, network.window or before)
    return 2e-9 * width * seen


def file_parts(network: Network, job: Job) -> GgmlParts:
    """Return the bytes of the weights by part."""
    weights = weights_of(network, job, memory_stack(job.stack)) - narrowed_bytes(network, job)
    return ggml_parts(network, job, weights)


def held_gib(network: Network, job: Job, place: HostPlacement) -> float:
    """Return the GiB of weights that lie in the computer's memory."""
    return _held_gib(file_parts(network, job), place)


def _held_gib(parts: GgmlParts, place: HostPlacement) -> float:
    return (place.experts * parts.experts + place.rest * parts.rest) / 2**30


def _awake(network: Network, streams: int) -> float:
    """The share of the routed experts that so many tokens wake."""
    if not network.experts:
        return 1.0
    each = min(1.0, experts_in_use(network) / network.experts)
    return float(1 - (1 - each) ** max(1, streams) ** ALIKE)


def _work_share(parts: GgmlParts, place: HostPlacement, awake: float) -> float:
    whole = parts.experts * awake + parts.rest
    return (place.experts * parts.experts * awake + place.rest * parts.rest) / whole if whole else 0
