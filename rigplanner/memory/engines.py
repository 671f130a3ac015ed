"""Serving engines that take a card's memory as a pool: what their start-up run with dummy requests
peaks at, and what is left."""

from __future__ import annotations

from rigplanner.catalog.schema.parts import GPU
from rigplanner.units import GIB
from rigplanner.workload.job import Job
from rigplanner.workload.network import Network
from rigplanner.workload.releases import UNCHUNKED

SAMPLED_BYTES = 38.8
"""Bytes per vocabulary entry and sequence that sampling with top-k and top-p takes at its peak:
logits and probabilities in fp32, sorted copies and indices of 8 bytes. vLLM's logs: 38.6 to 39.2 on
1024 sequences (Llama 3.1 8B, Qwen3 0.6B and 32B, gpt-oss on H100), 38.6 to 38.9 on 256 (Qwen2.5
1.5B and 7B, Qwen3 8B, Llama 3.1 8B on smaller cards)."""
LARGE_CARD_GIB, LARGE, SMALL = 70.0, (1024, 8192), (256, 2048)
"""Sequences and tokens in one step that vLLM's server takes on cards of 70 GiB and more other than
the A100, and on the rest (vllm/engine/arg_utils.py, get_batch_defaults, read 2026-11-21)."""
WHOLE_UP_TO = 32768
"""Tokens up to which early releases run prompts whole: the start-up run of an 8B network on an RTX
3090 peaks 2.07 GiB above its weights at 20,000 and 2.99 at 29,000 (vllm issue 10517, read
2026-11-23)."""
VISION_PEAK_GIB = 2.1
"""Peak of the dummy run of networks with a vision tower (Mistral Small 3.2 on an H100,
llm-d-planner)."""


def batch_limits(card: GPU | None) -> tuple[int, int]:
    """The most sequences and tokens of one step of vLLM's server on a card."""
    large = card is not None and (card.memory_gib or 0.0) >= LARGE_CARD_GIB and not card.is_a100
    return LARGE if large else SMALL


def dummy_peak_bytes(network: Network, job: Job, card: GPU | None) -> float:
    """Bytes beside weights and pool at the peak of vLLM's start-up run, on one GPU: the layer at
    work on a full step of tokens, or the sampling of every sequence with the step's hidden states
    beside it. Ranks share a layer; each samples all."""
    if network.kind == "vlm":
        return VISION_PEAK_GIB * GIB
    sequences, tokens = batch_limits(card)
    if UNCHUNKED in job.flags and job.length <= WHOLE_UP_TO:
        tokens = max(tokens, job.length)
    step = 2.0 * tokens * network.hidden
    layer = 3 * step + 6.0 * tokens * _width(network) / job.tensor
    return max(layer, step + SAMPLED_BYTES * sequences * network.vocab)


def _width(network: Network) -> float:
    """The inner width that one token passes through: of the feed-forward part, or of the experts
    that it visits."""
    if not network.expert_params or not network.layers or not network.hidden:
        return float(network.ffn)
    idle = network.params - network.active_params
    return (network.expert_params - idle) / (3.0 * network.hidden * network.layers)


def pool_gib(
    card_gib: float,
    utilization: float,
    kind: str,
    weights_gib: float,
    peak_gib: float,
    beside_gib: float,
) -> float:
    """GiB of cache on one GPU. `peak`: weights and all else within the share (vLLM); `static`:
    weights and cache alone are (SGLang, server_args.py mem_fraction_static); `free`: the share is
    of what weights and peak leave (TensorRT-LLM, free_gpu_memory_fraction; LMDeploy,
    cache_max_entry_count)."""
    if kind == "static":
        return max(0.0, utilization * card_gib - weights_gib)
    if kind == "free":
        return max(0.0, utilization * (card_gib - weights_gib - peak_gib - beside_gib))
    return max(0.0, utilization * card_gib - weights_gib - peak_gib - beside_gib)
