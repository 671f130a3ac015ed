"""Memory of diffusion models: the denoiser with its encoders, training of it or of adapters,
generation of images and video."""

from __future__ import annotations

import msgspec

from rigplanner.memory.denoiser_trace import sample_trace, train_trace
from rigplanner.memory.host import DIFFUSERS, HostNeed, training_host, waiting
from rigplanner.memory.trained_states import (
    buckets,
    flat_step,
    gathered,
    shards_of,
    staged,
    with_masters,
)
from rigplanner.memory.training import Demand, offloaded
from rigplanner.memory.training_trace import parameter_type
from rigplanner.networks.tracer.step import StepTrace
from rigplanner.networks.tracer.tape import F32
from rigplanner.workload.job import Job
from rigplanner.workload.latents import LONG_PROMPTS, latent_tokens
from rigplanner.workload.network import Network, pixels
from rigplanner.workload.optimizers import OPTIMIZERS
from rigplanner.workload.quant import BITS, weight_bytes
from rigplanner.workload.releases import LOOPED
from rigplanner.workload.stacks import MemoryStack

VALUES_PER_TOKEN = 18.0
"""Values per token, layer and hidden unit that a transformer block keeps for backward: the inputs
of its products, norms and activation (Korthikanti et al. 2022: 34 bytes in 16 bits without the
attention matrix)."""
ADAPTED_VALUES = 28.0
"""The same below adapters under autocast, where norms write floats and adapters keep their own
inputs: 17 to 54 of eleven networks at 512 and 1,024 pixels without checkpointing, this their median
(bghira/SimpleTuner, documentation/experimental/SEGMENTED_CHECKPOINTING.md, read 2026-11-23)."""
PRODUCTS_PER_TOKEN = 10.0
"""Of these the outputs of products (query, key, value, attention, projections, feed-forward), which
a block compiled into a CUDA graph keeps in the graph's own pool although its checkpoint would drop
them (PyTorch's partitioner recomputes the rest)."""
ADAPTED = 4
"""Matrices of a layer that adapters change: query, key, value and output of attention
(target_modules of the training scripts of diffusers)."""
DECODE_VALUES = 3 * 256
"""Values per pixel at the peak of an image decoder: a block's input of 256 channels at full size,
it normalised, and activated (AutoencoderKL's last block). Stable Diffusion 3 at 1024 pixels: 2.1
GiB over its weights with libraries."""
T5_LEFT, SMALLEST_T5 = 0.24, 4e9
"""Of 4.76e9 parameters of T5-XXL's encoder 24 x 10240 x 4096 are the products named wo, which
transformers does not quantise (_keep_in_fp32_modules), 32128 x 4096 the table; text encoders below
the second number are CLIP's alone."""
T5_FLOAT = 0.21
"""The share of these products, which transformers loads in fp32 where the rest is fp16 (bf16 takes
them as they are)."""
FLOAT_DECODERS = ("sdxl",)
"""Models whose decoder is raised to fp32 because it overflows in 16 bits (force_upcast in its
configuration)."""
VIDEO_DECODE_BYTES = 2.0 * 2178
"""Peak of a video decoder per pixel and frame in 16 bits, its convolutions' workspace and caches
included (comfy/sd.py of ComfyUI, memory_used_decode)."""
DECODED_FRAMES = 11
"""Frames that a video decoder has in work at once."""
BY_FRAME = {"wan": 2.0 * 7000}
"""Bytes per pixel in 16 bits of decoders that go frame by frame and keep what the next frame needs
(comfy/sd.py, WanVAE)."""
BY_CLIP = {"ltx": 2.0 * 900 / 16}
"""Bytes per pixel and frame in 16 bits of decoders that start from latents of a 32nd of the edges
and an eighth of the frames (comfy/sd.py, memory_used_decode of the LTX-Video autoencoder: 900
values for each latent's 512)."""
WHOLE_ENCODERS = "whole_encoders"
"""A word for pipelines whose denoiser alone is quantised."""
NARROW_BITS, PASSED_ON = 8.5, "fp8"
"""Bits of a denoiser's file until which text encoders in eight bits go with it in ComfyUI: those
are passed on with it (t5xxl_fp8, qwen_2.5_vl_7b_fp8_scaled, mistral_3_small_flux2_fp8; Comfy-Org's
repositories, recalled 2026-11-24)."""
CACHED_TEXTS = frozenset({"cache_text_embeddings", "unload_text_encoder"})
"""Words for a trainer whose text encoders leave the GPU before the first step."""
TILED = 0.25
"""Share of the decoder's memory that tiles of it take."""


def tokens_of(network: Network, job: Job, stack: MemoryStack) -> float:
    """Tokens of one sample: the latent image (or clip) and the prompt."""
    latents = latent_tokens(network.slug, pixels(job.image), job.frames)
    told = network.text_tokens or LONG_PROMPTS.get(network.slug, 0)
    return latents + (told or stack.text_tokens)


def sizes(network: Network) -> tuple[float, float]:
    """Layers and hidden width; where they are not known, those of a transformer of that many
    parameters."""
    if network.layers and network.hidden:
        return float(network.layers), float(network.hidden)
    hidden = 128 * round((network.params / 12 / 40) ** 0.5 / 128) or 128
    return max(1.0, network.params / (14.0 * hidden**2)), float(hidden)


def diffuse(network: Network, job: Job, stack: MemoryStack) -> Demand:
    """The demand of one step of training, or of generating one batch."""
    layers, hidden = sizes(network)
    tokens = tokens_of(network, job, stack) * job.batch
    encoders = (
        sum(part.params_m for part in network.components if part.role == "text_encoder") * 1e6
    )
    vae = sum(part.params_m for part in network.components if part.role == "vae") * 1e6
    word = job.precision.removeprefix("amp_")
    base = weight_bytes(word, job.quant, network.params, 0.02 * network.params)
    base /= 1 if job.task.startswith("train") else job.tensor
    if job.task.startswith("train"):
        beside = 2 * vae + _beside_denoiser(job, stack, encoders)
        return _training(network, job, stack, beside, tokens * hidden * 2, layers)
    whole = word in ("fp32", "tf32")
    stored = (
        word
        if whole or ((job.quant or word == "nf4") and WHOLE_ENCODERS not in job.flags)
        else "bf16"
    )
    if stack.in_turn and stored == "bf16" and BITS[word] <= NARROW_BITS:
        stored = PASSED_ON
    beside = weight_bytes(stored, job.quant, encoders, _left_whole(job, encoders))
    beside += (
        2.0 * T5_FLOAT * encoders
        if word == "fp16" and not job.quant and encoders > SMALLEST_T5
        else 0.0
    )
    beside += (4 if whole else 2) * vae
    decode = _decode_bytes(network, job, whole)
    step = sample_trace(network, job)
    working = float(step.working) if step is not None else tokens * hidden * 2 * 12
    waits = waiting(
        "components", "denoiser + text encoders + image decoder", base + beside, DIFFUSERS
    )
    if "sequential_cpu_offload" in job.flags:
        return Demand(
            weights=base / layers,
            gradients=0,
            optimizer=0,
            activations=max(decode, working),
            host=waits,
        )
    if "model_cpu_offload" in job.flags or stack.in_turn:
        decode *= TILED if stack.in_turn and "vae_tiling" not in job.flags else 1.0
        return _in_turn(network, base, beside, (4 if whole else 2) * vae, working, decode, waits)
    return Demand(weights=base + beside, gradients=0, optimizer=0, activations=max(decode, working))


def _beside_denoiser(job: Job, stack: MemoryStack, encoders: float) -> float:
    """Bytes of text encoders that stay on the GPU while a trainer trains, quantised where the base
    is."""
    if not stack.holds_encoders or job.flags & CACHED_TEXTS:
        return 0.0
    narrow = job.task == "train_qlora"
    return weight_bytes(job.precision if narrow else "bf16", job.quant, encoders, 0.0)


def _in_turn(
    network: Network,
    base: float,
    beside: float,
    vae: float,
    working: float,
    decode: float,
    waits: HostNeed,
) -> Demand:
    """The demand where each network comes to the GPU for its own part (diffusers,
    Pipeline.enable_model_cpu_offload: a whole model at a time): the largest text encoder, whose
    prompt takes little, the denoiser at work, or the image decoder at work."""
    sizes = [part.params_m for part in network.components if part.role == "text_encoder"]
    encoder = (beside - vae) * max(sizes) / sum(sizes) if sizes else beside - vae
    alone = max(encoder, base + working, vae + decode)
    weights = min(max(base, encoder), alone)
    return Demand(
        weights=weights, gradients=0, optimizer=0, activations=alone - weights, host=waits
    )


def _left_whole(job: Job, encoders: float) -> float:
    """Parameters of the text encoders that bitsandbytes leaves in 16 bits: T5's second products and
    its table."""
    quantised = (job.quant or "").startswith("bnb") or (
        job.precision == "nf4" and job.quant is None
    )
    return T5_LEFT * encoders if quantised and encoders > SMALLEST_T5 else 0.0


def _decode_bytes(network: Network, job: Job, whole: bool) -> float:
    """The image decoder at work on the batch, or on the frames that a video decoder takes at
    once."""
    part = TILED if "vae_tiling" in job.flags else 1.0
    if job.frames > 1:
        whole_clip = VIDEO_DECODE_BYTES * min(job.frames, DECODED_FRAMES)
        by_frame = next(
            (size for family, size in BY_FRAME.items() if network.slug.startswith(family)),
            whole_clip,
        )
        by_frame = next(
            (
                size * job.frames
                for family, size in BY_CLIP.items()
                if network.slug.startswith(family)
            ),
            by_frame,
        )
        return by_frame * pixels(job.image) * part
    samples = 1 if "vae_slicing" in job.flags else job.batch
    width = 4.0 if whole or network.slug.startswith(FLOAT_DECODERS) else 2.0
    return DECODE_VALUES * width * pixels(job.image) * samples * part


def _widened_kept(network: Network, job: Job) -> float:
    """Bytes of 8-bit floats that stay widened to 16 bits until the backward pass: products keep
    what they multiplied with, unless their blocks are computed again (FLUX-sized Chroma 45 GiB
    below adapters in fp8 and 26 in bf16, Krea 2 52 and 40; integers have kernels that widen twice:
    21 and 27; SimpleTuner as above)."""
    held = job.precision == "fp8" and job.task != "train_full" and job.checkpointing != "full"
    return 2.0 * network.params if held else 0.0


def _kept(job: Job, row: float, layers: float) -> float:
    """Bytes that blocks of unknown layers keep for the backward pass, or what is left of them where
    they are computed again."""
    values = VALUES_PER_TOKEN if job.task == "train_full" else ADAPTED_VALUES
    kept = row * values * (1.5 if job.flags & {"dora"} else 1.0)
    if job.checkpointing != "full":
        return kept * layers
    compiled = row * PRODUCTS_PER_TOKEN * layers if "compile" in job.flags else 0.0
    return row * layers + 2 * kept + compiled


def _training(
    network: Network, job: Job, stack: MemoryStack, beside: float, row: float, layers: float
) -> Demand:
    """Adapters on a frozen base, or all weights, sharded and off-loaded as a language model's;
    `row` is the bytes of one hidden state of the whole batch, `beside` those of other networks on
    the GPU."""
    job, stack = with_masters(job, stack)
    network = msgspec.structs.replace(network, layers=network.layers or round(layers))
    optimizer = OPTIMIZERS[job.optimizer]
    full = job.task == "train_full"
    moved = shards_of(job, 2) > 1 or job.offload in ("all", "nvme")
    sheds = job.accumulation > 1 or (full and moved)
    step = train_trace(network, job, sheds)
    trained = network.params if full else _adapters(network, job, step, layers)
    activations = (
        _kept(job, row, layers) if step is None else float(step.working)
    ) + _widened_kept(network, job)
    whole = not full or parameter_type(job) == F32
    width, master = 4.0 if whole else 2.0, 4.0 if stack.master_fp32 and not whole else 0.0
    moments = optimizer.state_fp32 if whole or master else optimizer.state_16
    state = trained * (moments + master) / shards_of(job, 1)
    looped = LOOPED in job.flags or stack.fused_optimizer or job.offload != "none"
    copies = 0.0 if looped else optimizer.copies * trained * width / shards_of(job, 1)
    gradients = 0.0 if job.offload in ("all", "nvme") else trained * width / shards_of(job, 2)
    moving = gradients + max(activations, copies)
    if step is not None:
        there = 1.0 if sheds else min(1.0, step.working_gradients / max(1.0, trained * width))
        moving = max(activations + there * gradients, gradients + copies)
    weights = _frozen_bytes(network, job) + trained * width
    fetched, _ = gathered(network, job, stack, weights)
    communication = fetched + buckets(job, stack, trained * width)
    demand = Demand(
        weights=weights / shards_of(job, 3),
        gradients=gradients,
        optimizer=state,
        activations=max(0.0, moving - gradients),
        buffers=communication,
        communication=communication,
        apart=flat_step(network, job, stack, trained / shards_of(job, 1))
        + staged(network, job, stack),
    )
    demand = offloaded(demand, job, training_host(network, job, trained, state))
    return msgspec.structs.replace(demand, weights=beside + demand.weights)


def _adapters(network: Network, job: Job, step: StepTrace | None, layers: float) -> float:
    """Values of the adapters."""
    if step is not None:
        return float(step.trained)
    return 2.0 * job.lora_rank * layers * ADAPTED * sizes(network)[1]


def _frozen_bytes(network: Network, job: Job) -> float:
    """Bytes of the denoiser below adapters, as it is stored."""
    if job.task == "train_full":
        return 0.0
    word = job.precision.removeprefix("amp_")
    return weight_bytes(word, job.quant, network.params, 0.02 * network.params)
