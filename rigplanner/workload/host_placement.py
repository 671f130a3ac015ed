"""Which part of a language model stays in the computer's memory when it writes, as people say it to
llama.cpp and its kin: layers on the GPUs, experts in RAM, tensors by pattern, the cache."""

from __future__ import annotations

import json
import re
from functools import lru_cache

from msgspec import Struct

from rigplanner.errors import WorkloadFault
from rigplanner.rig.workload import Workload
from rigplanner.workload.network import Network

EXPERT_ENGINES = ("ktransformers",)
"""Engines that keep all routed experts in RAM unless told otherwise (kvcache-ai/ktransformers,
README: experts on the CPU, attention on the GPU)."""
OUTPUT_LAYER = 1
"""llama.cpp counts the output layer as one of those on the GPUs, the last and the first that goes
there: Qwen3-14B of 40 layers writes 28.5 tokens/s with 40 on the GPU and 36.0 with 41
(msb-msb/insiderllm-bench-results, rushuna-july-rows-remeasure-2026-09-28)."""
LONGEST_PATTERN, MOST_PATTERNS = 400, 64
ON_HOST = "cpu"
"""The buffer of llama.cpp's --override-tensor that is the computer's memory."""


class HostPlacement(Struct, frozen=True, kw_only=True):
    """Shares, 0 to 1, of what stays in the computer's memory and is worked on by its CPUs: `rest`
    the weights of layers but their routed experts, `experts` those, `cache` the keys and values,
    `head` the output layer; `streamed_gb` GB of weights that the GPU reads over its link in every
    pass. `layers`, `expert_layers`: how many layers lie there in whole, or with their experts."""

    rest: float = 0.0
    experts: float = 0.0
    cache: float = 0.0
    head: float = 0.0
    streamed_gb: float = 0.0
    layers: float = 0.0
    expert_layers: float = 0.0
    told: bool = False

    @property
    def anything(self) -> bool:
        """Whether the CPU or its memory takes part in each token."""
        return (self.rest + self.experts + self.cache + self.head + self.streamed_gb) > 0

    @property
    def whole(self) -> bool:
        """Whether nothing is left on a GPU."""
        return min(self.rest, self.cache, self.head) >= 1 and self.experts >= 1


ON_CPU = HostPlacement(rest=1, experts=1, cache=1, head=1, told=True)
"""A computer without a GPU."""


def stated_placement(workload: Workload, network: Network, stack: str) -> HostPlacement:
    """Return what a workload says of its place, or what its engine does by itself. Raises
    WorkloadFault for words and patterns that mean nothing."""
    layers = max(1, network.layers)
    first = dense_layers(network)
    away, head = 0.0, 0.0
    if workload.gpu_layers is not None:
        away = min(1.0, max(0.0, (layers + OUTPUT_LAYER - workload.gpu_layers) / layers))
        head = 1.0 if workload.gpu_layers <= 0 else 0.0
    behind = _expert_layers(workload, layers)
    if behind is None and stack in EXPERT_ENGINES and network.experts:
        behind = layers
    share = max(0.0, (behind or 0) - first) / max(1, layers - first) if network.experts else 0.0
    found = HostPlacement(
        rest=away,
        experts=max(away, min(1.0, share)),
        cache=max(away, 1.0 if workload.kv_on_host else 0.0),
        head=head,
        streamed_gb=workload.cpu_offload_gb or 0.0,
        layers=away * layers,
        expert_layers=min(1.0, share) * (layers - first),
        told=workload.gpu_layers is not None
        or behind is not None
        or bool(workload.kv_on_host or workload.cpu_offload_gb),
    )
    patterns = _patterns(workload.override_tensors)
    return _overridden(found, patterns, network, layers, first) if patterns else found


class _Experts(Struct, frozen=True):
    """What a configuration says of its experts: dense layers at the beginning
    (first_k_dense_replace), and experts that each token wakes; 0 where it does not say."""

    dense_layers: int
    used: int


@lru_cache(1024)
def _experts(config: bytes) -> _Experts:
    told = json.loads(config)
    inner = told.get("text_config") or told
    names = (
        "num_experts_per_tok",
        "num_experts_per_token",
        "moe_topk",
        "moe_top_k",
        "top_k_experts",
    )
    used = next((inner[name] for name in names if isinstance(inner.get(name), int)), 0)
    first = inner.get("first_k_dense_replace") or 0
    return _Experts(first if isinstance(first, int) and first > 0 else 0, int(used))


def dense_layers(network: Network) -> int:
    """Return how many layers at the beginning have no experts."""
    if not network.config or not network.experts:
        return 0
    found = _experts(network.config).dense_layers
    return found if found < max(1, network.layers) else 0


def experts_in_use(network: Network) -> int:
    """Return how many routed experts each token wakes in a layer; 0 for a network without."""
    if not network.config or not network.experts:
        return 0
    if found := _experts(network.config).used:
        return found
    used = network.active_params - (network.params - network.expert_params)
    return max(1, round(network.experts * used / max(1.0, network.expert_params)))


def _expert_layers(workload: Workload, layers: int) -> int | None:
    """How many of the first layers keep their experts in RAM; None where nothing is said."""
    if workload.n_cpu_moe is not None:
        return min(layers, workload.n_cpu_moe)
    if workload.cpu_moe or "cpu_moe" in workload.flags:
        return layers
    told = next((f.partition("=")[2] for f in workload.flags if f.startswith("cpu_moe=")), None)
    if told is None:
        return None
    if not told.isdigit():
        raise WorkloadFault(f"flags: expected cpu_moe=N with a number of layers, found {told!r}.")
    return min(layers, int(told))


def _patterns(told: list[str] | str | None) -> list[tuple[re.Pattern[str], bool]]:
    """Patterns of tensor names in order, each with whether its buffer is the computer's memory."""
    words = [told] if isinstance(told, str) else told or []
    pieces = [piece for word in words for piece in re.split(r",(?![^(\[{]*[)\]}])", word) if piece]
    if len(pieces) > MOST_PATTERNS or any(len(piece) > LONGEST_PATTERN for piece in pieces):
        raise WorkloadFault(
            f"override_tensors: expected at most {MOST_PATTERNS} patterns of at most "
            f"{LONGEST_PATTERN} characters."
        )
    found = []
    for piece in pieces:
        pattern, equals, buffer = piece.rpartition("=")
        if not equals or not pattern:
            raise WorkloadFault(
                f"override_tensors: expected PATTERN=BUFFER as in exps=CPU, found {piece!r:.60}."
            )
        try:
            found.append((re.compile(pattern), buffer.strip().casefold() == ON_HOST))
        except re.error as fault:
            raise WorkloadFault(
                f"override_tensors: {pattern!r:.60} is no regular expression ({fault})."
            ) from fault
    return found


ATTENTION = ("attn_q", "attn_k", "attn_v", "attn_output", "attn_kv_b", "attn_q_b")
FEED_FORWARD = ("ffn_up", "ffn_gate", "ffn_down")


def _overridden(
    found: HostPlacement,
    patterns: list[tuple[re.Pattern[str], bool]],
    network: Network,
    layers: int,
    first: int,
) -> HostPlacement:
    """The placement after --override-tensor: of each tensor the first pattern that matches decides
    (llama.cpp, server README), else the layer's own place."""
    rest = experts = 0.0
    on_gpus = layers - round(found.layers)
    for layer in range(layers):
        home = layer < layers - on_gpus
        kept = _share_on_host(layer, [*ATTENTION, *FEED_FORWARD], patterns, home)
        attention = _share_on_host(layer, ATTENTION, patterns, home)
        rest += attention if network.experts and layer >= first else kept
        if network.experts and layer >= first:
            tensors = [f"{name}_exps" for name in FEED_FORWARD]
            experts += _share_on_host(layer, tensors, patterns, home)
    expert_layers = max(1, layers - first)
    return HostPlacement(
        rest=rest / layers,
        experts=experts / expert_layers if network.experts else rest / layers,
        cache=found.cache,
        head=found.head,
        streamed_gb=found.streamed_gb,
        layers=found.layers,
        expert_layers=experts,
        told=True,
    )


def _share_on_host(
    layer: int,
    tensors: list[str] | tuple[str, ...],
    patterns: list[tuple[re.Pattern[str], bool]],
    home: bool,
) -> float:
    names = [f"blk.{layer}.{tensor}.weight" for tensor in tensors]
    places = [next((host for rule, host in patterns if rule.search(name)), home) for name in names]
    return sum(places) / len(places)
