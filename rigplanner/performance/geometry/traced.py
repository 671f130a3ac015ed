"""Shapes of networks whose layers differ: what the trace of their layers counts, where a block
repeated would mislead."""

from functools import lru_cache
from typing import Any

from msgspec.structs import replace

from rigplanner.catalog.zoo import Model, shipped_zoo
from rigplanner.decoding import read_tree
from rigplanner.networks.config.config import full_config
from rigplanner.performance.geometry.shapes import Shape
from rigplanner.rig.workload import Workload
from rigplanner.workload.network import Network, from_model, resolve

USUAL_CONTEXT, USUAL_WRITTEN = 2048, 512
KERNELS_PER_BLOCK = 16


def network_of(slug: str, config: dict[str, Any], model: Model | None) -> Network:
    """Return the network that a model of the zoo or a configuration describes; raises WorkloadFault
    for one that cannot be."""
    return (
        from_model(model) if model else resolve(Workload(model=slug, config=config), shipped_zoo())
    )


def cached_values(network: Network, workload: Workload) -> float:
    """Return the values that each token of the context keeps on average, halfway through the
    answer: windows end, states stay."""
    tokens = (workload.input_tokens or workload.seq_len or USUAL_CONTEXT) + (
        workload.output_tokens or USUAL_WRITTEN
    ) // 2
    return network.kv_values(tokens) / tokens


def counted_shape(even: Shape, network: Network, workload: Workload) -> Shape:
    """Return the shape of equal layers with the weights that the trace of the true ones counts, the
    cache as they keep it, and no attention where a layer has a state instead. Layers that share
    their weights (ALBERT) are multiplied with them as often as they run, so what they hold says
    nothing of the work."""
    if 2 * network.layers * network.hidden**2 > network.params:
        return replace(even, params_m=network.params / 1e6)
    if not network.layers:
        return even
    active_m, elements_m = active_millions(network), even.elements_m
    if network.kind == "encoder" and (workload.task or "inference") == "inference":
        # a text becomes a vector: the table of a tied head is looked up, and nothing is scored
        active_m -= network.embedding_params / 1e6 if network.tied else 0.0
        elements_m -= network.vocab * even.tokens / 1e6
    return replace(
        even,
        elements_m=elements_m,
        params_m=(network.params - network.side_params) / 1e6,
        active_m=active_m,
        gflop=2 * active_m * even.tokens / 1e3,
        attention_gflop=even.attention_gflop * attended_share(network, even.tokens),
        kv_values=cached_values(network, workload),
        attends=picked(network),
    )


INDEXED = 0.06
"""What the scores of an indexer cost of those of all heads: 64 heads of 128 values beside 128 of
576 and 512 (DeepSeek-V3.2)."""


def picked(network: Network) -> int:
    """Return how many tokens the indexer of a network picks (DeepSeek-V3.2, GLM-5); 0 for a network
    without one."""
    return _picked(network.config) if network.config else 0


@lru_cache(256)
def _picked(config: bytes) -> int:
    return int(full_config(read_tree(config)).get("index_topk") or 0)


def attended_share(network: Network, length: int) -> float:
    """Return the share of all pairs of tokens that the layers of a sequence of `length` tokens
    compare: none where a layer has a state instead, those within the window where it has one."""
    windowed = network.window_layers * min(1.0, 2.0 * (network.window or length) / max(1, length))
    full = float(max(0, network.layers - network.state_layers - network.window_layers))
    best = picked(network)
    if 0 < best < length:
        full *= min(1.0, 2.0 * best / length + INDEXED)
    return (full + windowed) / max(1, network.layers)


def active_millions(network: Network) -> float:
    """Return the millions of weights that a token is multiplied with: all it visits but the table
    of words, unless that writes too, and tables of embeddings that go into every layer."""
    table = float(network.vocab * network.hidden)
    tables = table if network.tied else 2 * table
    looked_up = tables - table + max(0.0, network.embedding_params - tables)
    return (network.active_params - network.side_params - looked_up) / 1e6


def traced_shape(
    slug: str,
    kind: str,
    network: Network,
    workload: Workload,
    length: int,
    kernels: float,
    values_m: float,
) -> Shape:
    """Return the shape of one sequence of `length` tokens through a network of which only the trace
    of its layers is known, with `values_m` millions of values written."""
    writes = bool(network.kv_heads) and kind in ("llm", "moe")
    gflop = (
        2 * active_millions(network) * length / 1e3
        if writes
        else network.forward_flops(1, length) / 1e9
    )
    full = network.layers * attended_share(network, length)
    scores = 4.0 * length**2 * network.heads * network.head_dim * full * (0.5 if writes else 1.0)
    return Shape(
        slug=slug,
        kind=kind,
        unit="sequence",
        params_m=network.params / 1e6,
        active_m=active_millions(network) if writes else network.active_params / 1e6,
        gflop=gflop,
        attention_gflop=scores / 1e9,
        elements_m=values_m,
        kernels=kernels,
        tokens=length,
        causal=writes,
        kv_values=cached_values(network, workload) if writes else 0.0,
        layers=network.layers,
        hidden=network.hidden,
        heads=network.heads,
        experts=network.experts,
        head_m=network.vocab * network.hidden / 1e6,
        source=network.source or "config",
    )
