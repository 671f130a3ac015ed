"""Shapes of networks whose layers differ: what the walk of their layers counts, where a block repeated would mislead."""

from typing import Any

from msgspec.structs import replace

from rigplanner.catalog.zoo import Model, shipped_zoo
from rigplanner.performance.shapes import Shape
from rigplanner.rig.task import Workload
from rigplanner.workload.config import full_config
from rigplanner.workload.network import Network, from_model, resolve

UNEVEN = (
    "sliding_window", "sliding_window_pattern", "layer_types", "full_attention_interval", "attention_chunk_size",
    "hybrid_override_pattern", "attn_layer_indices", "attn_layer_period", "state_size", "ssm_state_size", "mamba_d_state",
    "num_kv_shared_layers",
)  # fmt: skip
"""Fields of configurations that tell of layers with a window, with a state, or with the keys and values of others."""
USUAL_CONTEXT, USUAL_WRITTEN = 2048, 512
KERNELS_PER_BLOCK = 16


def is_uneven(config: dict[str, Any]) -> bool:
    """Return whether a configuration tells that its layers differ in what they attend to or keep."""
    told = full_config(config)
    return any(told.get(field) for field in UNEVEN)


def network_of(slug: str, config: dict[str, Any], model: Model | None) -> Network:
    """Return the network that a model of the zoo or a configuration describes; raises WorkloadFault for one that cannot be."""
    return from_model(model) if model else resolve(Workload(model=slug, config=config), shipped_zoo())


def cached_values(network: Network, workload: Workload) -> float:
    """Return the values that each token of the context keeps on average, halfway through the answer: windows end, states stay."""
    tokens = (workload.input_tokens or workload.seq_len or USUAL_CONTEXT) + (workload.output_tokens or USUAL_WRITTEN) // 2
    return network.kv_values(tokens) / tokens


def uneven_shape(even: Shape, network: Network, workload: Workload) -> Shape:
    """Return the shape of a network whose layers differ, from that of one whose layers are alike: the cache as it is kept;
    and where layers have a state instead of a cache, the weights as they are and attention in the others only."""
    kept = replace(even, kv_values=cached_values(network, workload))
    if not network.state_layers or not network.layers:
        return kept
    attends = 1 - network.state_layers / network.layers
    active_m = active_millions(network)
    return replace(
        kept,
        params_m=network.params / 1e6,
        active_m=active_m,
        gflop=2 * active_m * even.tokens / 1e3,
        attention_gflop=even.attention_gflop * attends,
    )


def active_millions(network: Network) -> float:
    """Return the millions of weights that a token is multiplied with: all it visits but the table of words, unless that
    writes too."""
    looked_up = 0.0 if network.tied else float(network.vocab * network.hidden)
    return (network.active_params - looked_up) / 1e6


def walked_shape(slug: str, kind: str, network: Network, workload: Workload, length: int, kernels: float, values_m: float) -> Shape:
    """Return the shape of one sequence of `length` tokens through a network of which only the walk of its layers is known, with
    `values_m` millions of values written."""
    writes = bool(network.kv_heads) and kind in ("llm", "moe")
    gflop = 2 * active_millions(network) * length / 1e3 if writes else network.forward_flops(1, length) / 1e9
    full = max(0, network.layers - network.state_layers)
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
        experts=network.experts,
        head_m=network.vocab * network.hidden / 1e6,
        source=network.source or "config",
    )
