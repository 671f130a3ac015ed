"""How many bits does a mix of llama.cpp give each kind of tensor, and a whole file?"""

from __future__ import annotations

from rigplanner.workload.network import Network
from rigplanner.workload.quant import BITS
from rigplanner.workload.weight_formats import Mix, Types, dynamic, mixes

LARGE = 100e9
"""Parameters from which a network counts as large for a publisher's own mixes."""
SHARED_FROM = 4
"""Query heads that share a value projection, from which mixes give it more bits; networks of that
many experts count alike."""


def file_bits(word: str, network: Network) -> float:
    """Return the bits per weight of a whole file of a network in a mix; of words that are none, and
    of networks whose tensors are not told, the bits of the word itself. Norms and routers, which
    stay in 32 bits, are below 0.1 % and left out."""
    if found := dynamic().get(word):
        return found.large if network.params >= LARGE else found.small
    mix = mixes().get(word)
    if mix is None or not (network.layers and network.hidden and network.vocab):
        return BITS[word]
    sizes = _sizes(network)
    total = sum(sizes.values())
    return sum(size * _bits(mix, name, network) for name, size in sizes.items()) / total


def tensor_bytes(word: str, network: Network) -> tuple[float, float, float, float] | None:
    """Return the bytes of the token embedding, the output layer, the routed experts and all else of
    a network's file in a mix of known tensors."""
    mix = mixes().get(word)
    if mix is None or not (network.layers and network.hidden and network.vocab):
        return None
    sizes = _sizes(network)
    file = {name: size * _bits(mix, name, network) / 8 for name, size in sizes.items()}
    feed = sizes["gate_up"] + sizes["down"]
    share = min(1.0, network.expert_params / feed) if feed else 0.0
    experts = (file["gate_up"] + file["down"]) * share
    table, head = file["embedding"], file["output"]
    return table, head, experts, sum(file.values()) - table - head - experts


def _sizes(network: Network) -> dict[str, float]:
    """Values of each kind of tensor of a decoder; latent attention counts with the rest."""
    table = float(network.vocab * network.hidden)
    wide = network.layers * network.hidden * network.heads * network.head_dim
    narrow = network.layers * network.hidden * network.kv_heads * network.head_dim
    if network.latent_values or network.state_layers:
        wide = narrow = 0
    known = {
        "embedding": table,
        "output": 0.0 if network.tied else table,
        "query": float(wide),
        "key": float(narrow),
        "value": float(narrow),
        "attention_output": float(wide),
    }
    rest = max(0.0, network.params - network.side_params - sum(known.values()))
    return known | {"gate_up": rest * 2 / 3, "down": rest / 3}


def _bits(mix: Mix, name: str, network: Network) -> float:
    if name == "output" or (name == "embedding" and network.tied):
        return BITS[mix.output]
    types: Types = getattr(mix, name)
    shared = network.heads >= SHARED_FROM * max(1, network.kv_heads)
    if name == "value" and mix.value_shared and (shared or network.experts >= SHARED_FROM):
        types = mix.value_shared
    if isinstance(types, str):
        return BITS[types or mix.rest]
    told = sum(share for _, share in types)
    return sum(BITS[word] * share for word, share in types) + BITS[mix.rest] * (1 - told)
