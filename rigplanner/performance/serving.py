"""Language models that write: prefill, decode of one stream, and many streams served together."""

import math

import msgspec
from msgspec import Struct

from rigplanner.machine.topology.collective_time import allreduce_seconds
from rigplanner.performance.constants import speed_model
from rigplanner.performance.geometry.shapes import Shape
from rigplanner.performance.job import Job
from rigplanner.performance.measured import year_of
from rigplanner.performance.roofline import KERNEL_TAIL_S, SOFT_MAXIMUM, matrix_seconds
from rigplanner.performance.silicon import GENERATIONS, USUAL_CLOCK_GHZ, Silicon
from rigplanner.workload.quant import GGUF

DECODE_BANDWIDTH_SHARE, SERVE_BANDWIDTH_SHARE = 0.8, 0.75
ONE_SHOT_S, ONE_SHOT_BYTES = 1.2e-5, 2**18
"""One small all-reduce between tensor-parallel GPUs over NVLink in the engines' own kernel, and the
size until which eight use it (vLLM, TensorRT-LLM): what the halving of the weights leaves of 2.0 ms
of a 7B model on eight A100 (gpt-fast) and of 8.4 ms of a 70B model on eight MI300X (vLLM), beside
the ramps of their kernels. All else takes what NCCL takes for a message of that size."""
FILLS_HBM = ("serving", "tuned")
"""Families of stacks that reach the same share of HBM as of GDDR: llama-2-7b in fp16 on an A100 at
91 to 105 tokens/s with vLLM, LMDeploy, TensorRT-LLM and gpt-fast is 0.6 to 0.7 of it, at 46 with
transformers a third (premAI-io/benchmarks)."""
OTHER_MAKERS = 1.2
"""How much longer reading the weights takes on cards of other makers than NVIDIA's, for which
kernels were written first: written tokens of eight sources on Radeon, Instinct, Arc, Ryzen AI and
Apple's chips lie a tenth to a third below what NVIDIA's reach of their bandwidth."""
WITHOUT_KERNELS, PLAIN_KERNELS = ("gcn", "vega", "cdna", "rdna", "rdna2"), 2.5
"""AMD's generations that serving engines list no support for (vLLM: gfx90a, gfx942, gfx950, gfx11
and gfx12), and how much longer the plain kernels of many streams and of prompts take that stand in
for theirs (8B, 32B and 30B with 3B active on four Instinct MI100: 2.1 to 2.9 times)."""
LAUNCH_S, LAUNCHED_WITHIN = 4.2e-5, 1.35
"""Host time of a kernel where an engine replays no graphs (vLLM, --enforce-eager), and the factor
either way by which hosts differ: a step of gpt-oss-120b on a GB10 takes 38 ms instead of 17
(conselara.dev, DGX Spark), of Qwen2.5-7B on an A800 22 instead of 13 (vllm-omni issue 7960), of
Qwen3-14B in AWQ on an A100 21 (vllm issue 20469; all read 2026-11-23): 48, 50 and 32
microseconds."""
NETWORK_LATENCY_S = 1e-4
"""One all-reduce between computers."""
HOST_STREAM_S, SUPERCHIP_HOST = 2.5e-5, 1.6
"""Host time of an engine per stream and step (scheduling, sampling, detokenising), beside which the
GPU works: an 8B model on an H100 ends at 28,000 tokens/s, one of 3B active weights on a B200 at
40,000 and on a GB200, whose Grace cores take longer, at 24,000 (TensorRT-LLM 1.0). Where attention
is in data parallel, each GPU runs a scheduler."""
SERVED_TAIL = 0.5
"""Share of the kernels' ramps that a step of many streams keeps: engines replay captured graphs and
fuse what lies between products (llama-3.1-70b and 405b on eight MI300X at 8 to 128 streams with
vLLM, TensorRT-LLM's tables and a consumer's vLLM alike)."""
EXCHANGES_PER_LAYER, EXPERT_EXCHANGES = 2, 1
"""All-reduces of tensor-parallel layers; where attention is in data parallel, only the experts
exchange: out and back, which moves as much as one (TensorRT-LLM's tables for Qwen3-30B-A3B on two,
four and eight RTX PRO 6000 agree within a tenth)."""
UNPACKED = 4.6e12
"""Weights of up to 6.5 bits that llama.cpp's products unpack a second, per TFLOPS of FP32 and unit
of a multiprocessor (so per multiprocessor and clock): a 27B model in Q4_K_M ends at 46 tokens/s on
an A100, 74 on an H100, 76 on an H200 and 82 on a B300, whatever their memory bears, and a 9B model
at 28 on a GTX 1080 (pavlokhmel.com 2026: 4.0 of it); in IQ2_XXS at 45 on an RTX 3080 and in Q2_K at
52 on a clocked-up RTX 3090 (sudoingX/qwen38-mtp: 5.2 and 4.6; read 2026-11-24). 4.6 has the least
error of the rows that were looked at, and takes a fifth off that of those kept apart."""
UNITS, OF_FP32 = {"kepler": 192, "volta": 64, "turing": 64}, 128
"""FP32 units of a multiprocessor by generation and on others; 64 too on the chips with HBM before
Hopper."""
WITHOUT_DP4A = ("kepler", "maxwell")
"""Generations without an instruction that multiplies four bytes (nor has Pascal's chip with HBM):
unpacking takes twice as long."""
MOST_UNPACKED_BITS = 6.6
PACKED_PRODUCTS, PACKED_SINCE = 2.5e14, 2024.4
"""FLOPS of llama.cpp's products of packed weights with a prompt, per TFLOPS of FP32 and unit of a
multiprocessor: 8-bit units of matrices wait for the scales that shaders apply (an 8B model in 4
bits at 10,359 and 11,032 tokens/s on an RTX 4090 and 3,807 on an RTX 3080: 2.4 to 2.6, pull
requests 7676 and 8416, dmatora's issue 12). Since June 2024 they replace widening from Turing on
(pull request 8062)."""
SHADERS_ALONE = ("kepler", "maxwell", "pascal", "gcn", "vega", "rdna", "rdna2")
"""Generations without matrix units, where such products run at twice the rate of FP32 if an
instruction multiplies four bytes at once (llama-2-7b on a Tesla P40, 13B on an RX 6800 XT, 12B on
an RX 6700 XT: 0.8 to 1.04 of what other products reach) and at that rate if none does, however fast
FP16 is (27B on two Tesla P100, 7B on an RX 5700 XT: 0.7 to 0.9)."""
MATRIX_UNITS = 2.5
"""Rate in half precision over FP32 below which a GPU of Turing has no matrix units: 2 on GeForce
GTX 16, 4 and 8 on GeForce and Quadro RTX."""
FINE_SCALES, FINE_SCALED = ("q2_k", "q3_k", "q6_k"), 0.73
"""Formats with a scale for each 16 weights, where the others have one for 32 and more, and the
share of that rate that they reach: 1.89 on an RTX 3090 (Q6_K, pull request 7860) and 1.78 on an RTX
4090 (Q2_K, pull request 7921)."""
EXPERT_SHARE, HALF_FILLED = 0.6, 16.0
"""Share of that rate that products of experts reach when many tokens visit each, and how many fill
half of it: 0.15 and 0.24 with 16 tokens (gpt-oss-20b on an RTX PRO 6000, Qwen3.6-35B-A3B on an RTX
3090), 0.31 with 48 (DeepSeek-V2-Lite on an RTX 3090), 0.46 with 64 and more (gpt-oss-20b on a GB10
and an RTX 4090)."""
BALANCED = 1.15
"""Unpacking that takes no more than this times the time of reading is put down to bandwidth: the
two show together."""
MOST_READ = 0.95
"""Share of the bandwidth above which no stream was measured: 0.934 of an RTX 4090's (ExLlamaV2),
0.87 with llama.cpp."""
STAGE_LOSS = 0.07
"""What each further stage of a pipeline costs beyond the second: stages differ in length, and the
last holds the vocabulary (Llama-3.3-70B over 2, 4 and 8 RTX PRO 6000: 1.0, 0.86 and 0.64 of what
its stages could do)."""
ENGINE_RESERVES = 1.3 * 2**30
"""Memory of a card that is neither weights nor cache: activations of a step and the engine's
context, as vLLM logs them (1.2 and 0.1 GiB). A card of 16 GB beside gpt-oss-20b ran 16 of 64
streams so (hholtmann/llm-consumer-gpu-benchmark); 217 rows never anchored are told best with it
(mean 16.0 %, with 0 to 1 GiB 16.4 to 16.1, with 2 18.3)."""
MOST_STREAMS = 2048.0
"""Streams that serving engines run at once before the scheduler limits them."""
ALIKE = 0.8
"""Power of the tokens of a step that tells how many unlike ones would visit as many experts: steps
of gpt-oss-120b on a GB10 take 17 ms for one stream, 54 for eight (ggml-org/llama.cpp,
benches/dgx-spark.md; unlike ones would take 70) and 37, 52 and 73 for 4, 8 and 16 (kubis.ai: 3.5,
5.6 and 8.6 unlike ones)."""
FEW_STREAMS = 16.0
"""Streams below which reading the weights, not arithmetic, sets the time of a token on every card
of the catalog."""
CHUNKED = 2048.0
"""Tokens of prompts that a serving engine puts into one step (vLLM, --max-num-batched-tokens):
steps that take a prompt in read every expert once, for as many prompts as the step holds."""
WIDENED_BYTES, PROMPT_CHUNK = 4.0, 512
"""llama.cpp reads all weights for each chunk of a prompt (its default batch); quantised ones it
widens to 16 bits first (written and read once more), but on Apple's GPUs, whose kernels widen in
their own memory (ggml-metal, kernel_mul_mm)."""
PROMPT_CHUNKS = {"mlx": 2048}
"""The same of stacks with another default (mlx-lm, prefill_step_size)."""
STREAMS_CHUNKS, STREAMED = ("llama.cpp",), 0.5
"""Stacks that send the chunks of a prompt through the GPUs which their layers are split over one
after another, as a pipeline (pull request 6017 of llama.cpp); on others one GPU works at a time.
And the power of what that may gain which they reach: 1.22 of 3.4 from 512 tokens to 8,192 of
gpt-oss-120b on four RTX 4090 (pull request 19378), nothing of 3.8 on two to eight Radeons (19922),
1.4 of 1.9 on two Tesla P100, 0.7 to 0.95 of 1.3 to 1.6 with 1,024 tokens of Llama 3
(XiongjieDai/GPU-Benchmarks-on-LLM-Inference)."""


class Stream(Struct, frozen=True):
    """Tokens per second of the system; seconds of one step in arithmetic, in reading weights and
    cache, and else, of which `exchange_s` between GPUs; `host_s` of the engine beside them.
    `starved` says that memory holds fewer streams than would keep the arithmetic busy; `unpacks`
    that the arithmetic is the unpacking of quantised weights."""

    tokens_s: float
    matrix_s: float
    traffic_s: float
    other_s: float
    streams: float
    starved: bool = False
    exchange_s: float = 0.0
    host_s: float = 0.0
    unpacks: bool = False


def stored_bytes(job: Job, params_m: float) -> float:
    """Return the bytes of `params_m` millions of weights as stored, the output's in 16 bits unless
    the format packs it too, and all but experts in a checkpoint of MXFP4, which packs only them
    (gpt-oss-20b in 13.8 GB). A step reads no more of them than its tokens go through: the table
    that words are looked up in stays where it is."""
    bits = job.weight_bits
    packed = job.stack.packs_head or job.precision in GGUF
    wide_m = job.shape.head_m * (not packed)
    if _packs_experts_alone(job):
        table_m = job.shape.head_m if params_m < job.shape.params_m else 0.0
        wide_m = max(wide_m, job.shape.params_m - experts_m(job.shape) - table_m)
    return (params_m * bits + max(0.0, 16.0 - bits) * wide_m) * 1e6 / 8


def _packs_experts_alone(job: Job) -> bool:
    packed = job.stack.packs_head or job.stack.family == "local-llm"
    return bool(job.precision == "mxfp4" and job.shape.experts and not packed)


def packed_whole(job: Job) -> Job | None:
    """Return the job whose engine packs as it loads them the weights that a checkpoint of MXFP4
    holds in 16 bits (vLLM's --mxfp4-layers: gpt-oss-120b at 59 tokens/s on a GB10, of which 16 bits
    would allow 55); None where nothing is left to pack."""
    if not _packs_experts_alone(job):
        return None
    return msgspec.structs.replace(job, stack=msgspec.structs.replace(job.stack, packs_head=True))


def experts_m(shape: Shape) -> float:
    """Return the millions of parameters of all experts, from what a token leaves out of them beside
    the table that it is looked up in, which is as large as the output's."""
    if not 0 < shape.experts_used < shape.experts:
        return 0.0
    left_out = max(0.0, shape.params_m - shape.active_m - shape.head_m)
    return left_out * shape.experts / (shape.experts - shape.experts_used)


def touched_m(shape: Shape, tokens: float) -> float:
    """Return the millions of parameters that a pass of `tokens` tokens reads: what all tokens go
    through, and of a layer's E experts E (1 - (1 - k/E)^m) where a router deals m tokens evenly to
    k each. Tokens of one batch are alike and routers have favourites, so n tokens visit no more
    experts than n^ALIKE that have nothing in common."""
    if not 0 < shape.experts_used < shape.experts:
        return shape.active_m
    used, apart = shape.experts_used / shape.experts, max(1.0, tokens) ** ALIKE
    read: float = shape.active_m + experts_m(shape) * (1 - used - (1 - used) ** apart)
    return read


def _degree(job: Job) -> int:
    return 1 if job.split_by_layer else job.tensor


def _traffic_factor(job: Job) -> float:
    """How much longer the weights take than at the usual share of bandwidth; thin products fill
    wide HBM less well, but for engines whose kernels were written for it."""
    physics = speed_model().physics
    wide = job.silicon.fast_memory and job.stack.family not in FILLS_HBM and not _unpacks(job)
    other = OTHER_MAKERS if job.silicon.vendor != "nvidia" else 1.0
    return physics.stream_traffic * (physics.stream_fast_memory if wide else 1.0) * other


def _unpacks(job: Job) -> bool:
    local = job.stack.slug == "llama.cpp" and job.silicon.vendor == "nvidia"
    return local and job.weight_bits < MOST_UNPACKED_BITS


def _plain_kernels(job: Job) -> float:
    return (
        PLAIN_KERNELS
        if job.stack.family == "serving" and job.silicon.generation in WITHOUT_KERNELS
        else 1.0
    )


def _older(silicon: Silicon) -> bool:
    return silicon.fast_memory and silicon.generation in ("pascal", "volta", "ampere")


def _multiprocessors(silicon: Silicon) -> float:
    """TFLOPS of FP32 over the units of a multiprocessor: multiprocessors times clock."""
    return silicon.fp32 / (64 if _older(silicon) else UNITS.get(silicon.generation, OF_FP32))


def packed_tflops(silicon: Silicon) -> float | None:
    """Return the TFLOPS at which llama.cpp multiplies a prompt with weights as they are packed;
    None where it widens them to 16 bits first."""
    if silicon.generation in SHADERS_ALONE:
        return silicon.fp32 * (2.0 if silicon.int8 > silicon.half else 1.0)
    if silicon.generation == "turing" and silicon.half < MATRIX_UNITS * silicon.fp32:
        return silicon.fp32
    if silicon.vendor != "nvidia" or silicon.era < GENERATIONS["turing"]:
        return None
    return PACKED_PRODUCTS * _multiprocessors(silicon) / 1e12


def _unpacking(job: Job, weights: float) -> float:
    """Seconds of a GPU's arithmetic to unpack quantised weights for one token each, which reading
    them hides or not."""
    if not _unpacks(job):
        return 0.0
    slow = job.silicon.generation in WITHOUT_DP4A or (
        _older(job.silicon) and job.silicon.generation == "pascal"
    )
    return weights / (UNPACKED * _multiprocessors(job.silicon)) * (2.0 if slow else 1.0)


def _multiplies_packed(job: Job) -> bool:
    """Whether a prompt is multiplied with quantised weights as they are stored, instead of widened
    ones."""
    silicon, stack = job.silicon, job.stack
    local = stack.slug == "llama.cpp" and silicon.vendor == "nvidia" and job.weight_bits < 16
    return (
        local
        and silicon.era >= GENERATIONS["turing"]
        and year_of(stack.slug, job.release) >= PACKED_SINCE
    )


def _prompt_products(job: Job, flops: float) -> float:
    """Seconds of the products of a prompt on one GPU; what tells of an instruction for bytes is
    that the catalog lists its rate."""
    rate = packed_tflops(job.silicon)
    if (
        rate
        and job.stack.slug == "llama.cpp"
        and job.silicon.generation in SHADERS_ALONE
        and job.weight_bits < 16
    ):
        return matrix_seconds(job, flops) * job.matrix_tflops / rate
    if not rate or not _multiplies_packed(job):
        return matrix_seconds(job, flops)
    tokens = min(_chunk(job), (job.input_tokens or PROMPT_CHUNK) * job.batch)
    each = max(1, job.shape.experts_used) / job.shape.experts if job.shape.experts else 0.0
    return flops / (rate * 1e12 * packed_share(job.precision, each, tokens))


def packed_share(precision: str, each: float, tokens: float) -> float:
    """Return the share of the rate of packed products that a format allows and, where a token
    wakes the share `each` of the experts (0 for a network without), a chunk of so many tokens."""
    share = FINE_SCALED if precision.startswith(FINE_SCALES) else 1.0
    if not each:
        return share
    visits = tokens * each
    return share * EXPERT_SHARE * visits / (visits + HALF_FILLED)


def _overhead(job: Job) -> tuple[float, float]:
    """Seconds of one pass in which kernels ramp up on the GPU, and that the host needs to launch
    them."""
    physics, kernels = speed_model().physics, job.shape.kernels
    launch = (
        kernels
        * job.stack.launch_us
        * 1e-6
        * job.host_pace
        * physics.launch.get(job.stack.family, 1.0)
    )
    return kernels * KERNEL_TAIL_S * physics.stream_tail * (
        USUAL_CLOCK_GHZ / job.silicon.clock_ghz
    ), launch


def _exchange(job: Job, tokens: float, per_layer: int = EXCHANGES_PER_LAYER) -> float:
    """Seconds in which tensor-parallel GPUs add up the activations of `tokens` tokens."""
    n = _degree(job)
    return (
        0.0
        if n == 1
        else per_layer * job.shape.layers * _allreduce(job, n, 2.0 * tokens * job.shape.hidden)
    )


def _allreduce(job: Job, n: int, size: float) -> float:
    """Seconds of one all-reduce of `size` bytes between n GPUs. What is staged through the host
    slows, and crowds as exchanges over PCIe do in training; a machine's own rate already tells what
    it leaves."""
    if n > job.count // job.nodes:
        return NETWORK_LATENCY_S + size * 2 * (n - 1) / n / (job.bus_gbs * 1e9)
    if job.lane == "nvlink" and size <= ONE_SHOT_BYTES:
        return ONE_SHOT_S + size * 2 * (n - 1) / n / (job.bus_gbs * 1e9)
    if job.lane != "staged":
        kind = "pcie" if job.lane == "pcie" else "xgmi" if job.link == "xgmi" else "nvlink"
        return allreduce_seconds(size, job.bus_gbs, kind, n)
    physics = speed_model().physics
    slowed = physics.exchange["served"] * (n / 2) ** physics.crowd
    slowed = max(1.0, slowed * job.bus_gbs / job.word_gbs) if job.word_gbs else slowed
    return allreduce_seconds(size, job.bus_gbs / slowed, "pcie", n)


def _joined(busy_s: float, launch_s: float) -> float:
    return float((busy_s**SOFT_MAXIMUM + launch_s**SOFT_MAXIMUM) ** (1 / SOFT_MAXIMUM))


def launched(job: Job, stream: Stream, rate: float) -> Stream:
    """Return a stream of a job whose host launches each kernel of a step: `rate` times as fast as
    the stream where graphs are replayed, which is what rows measure."""
    step = stream.streams * _checked(job)[1] / stream.tokens_s
    longer = _joined(step / rate, LAUNCH_S * job.shape.kernels * job.host_pace) * rate
    return msgspec.structs.replace(
        stream, tokens_s=stream.tokens_s * step / longer, other_s=stream.other_s + longer - step
    )


def decode(job: Job) -> Stream:
    """Streams in step, token by token: every active weight is read once per step, the cache once
    per stream; many streams wait for arithmetic instead. Tokens that are drafted ahead are checked
    in one step like so many streams."""
    shape, degree = job.shape, _degree(job)
    checked, kept = _checked(job)
    context = _attended(job, job.input_tokens + (job.output_tokens or 512) / 2)
    read = (
        stored_bytes(job, touched_m(shape, job.batch * checked))
        + shape.kv_values * (job.kept_bytes or 2.0) * context * job.batch
    )
    traffic = (
        read
        / (job.silicon.bandwidth_gbs * 1e9 * degree * DECODE_BANDWIDTH_SHARE)
        * _traffic_factor(job)
    )
    traffic *= _rows_again(job, job.batch * checked, traffic)
    tail, launch = _overhead(job)
    exchange = _exchange(job, job.batch * checked)
    products, unpacking = (
        matrix_seconds(job, 2 * shape.active_m * 1e6 * job.batch * checked) / degree,
        _unpacking(job, shape.active_m * 1e6) / degree,
    )
    busy = max(traffic, products, unpacking)
    total = _joined(busy + tail, launch) + exchange
    total += _drafting(job, total)
    matrix = busy if busy > traffic * (BALANCED if unpacking > products else 1.0) else 0.0
    unpacks = matrix > products
    return Stream(
        job.batch * kept / total,
        matrix,
        busy - matrix,
        total - busy,
        job.batch,
        exchange_s=exchange,
        unpacks=unpacks,
    )


ROW_AGAIN, FEW_ROWS, TILE = 0.6, 8, 32
"""Share of the time of one row that each further one takes where quantised weights are unpacked for
every row anew, rows until which llama.cpp does so on Apple's GPUs, and rows of the products that it
takes beyond (ggml-metal-ops.cpp, ne11_mm_min): three rows of Qwen3.8-27B take 2.2 times as long as
one on an M4 and an M3 Ultra, four 2.7, eight 6.5 of the 3.3 that they take on an RTX 3090; in 16
bits all take about as long (sudoingX/qwen38-mtp, sweeps/apple-silicon.md; read 2026-11-24)."""


def _unpacks_rows(job: Job) -> bool:
    """Whether each row of a pass unpacks the weights anew (MLX has kernels of its own); experts are
    read for each token as it is."""
    metal = job.stack.slug == "llama.cpp" and job.silicon.vendor == "apple"
    own = job.named.slug in PROMPT_CHUNKS
    return metal and not own and job.weight_bits < 16 and not job.shape.experts


def _rows_again(job: Job, rows: float, traffic: float) -> float:
    """How much longer reading the weights takes for so many rows than for one."""
    if not _unpacks_rows(job) or rows <= 1:
        return 1.0
    few = 1 + ROW_AGAIN * (rows - 1)
    if rows <= FEW_ROWS:
        return few
    tile = matrix_seconds(job, 2 * job.shape.active_m * 1e6 * TILE)
    return min(few, 1 + tile / traffic)


INDEX_BYTES = 0.09
"""Bytes that an indexer reads of each token, of those that its cache holds in 16 bits: a key of 128
values in FP8 beside 576 (DeepSeek-V3.2)."""


def _attended(job: Job, context: float) -> float:
    """Tokens of the context whose cache a new one reads: all of them, or those that an indexer
    picks and its own keys. llama.cpp and its kin read all."""
    best = job.shape.attends
    if not best or job.stack.family == "local-llm" or context <= best:
        return context
    return best + INDEX_BYTES * context


def _checked(job: Job) -> tuple[int, float]:
    """Tokens that a step works on for each stream, and those of them that it keeps."""
    return (job.drafts.tokens + 1, job.drafts.kept) if job.drafts else (1, 1.0)


DRAFTED = {"local-llm": 0.2, "serving": 0.08}
"""Share of a step that drafting and checking one token more takes at least, by family of stacks:
kernels for one stream slow down with each, and a head keeps its weights wider than the network.
0.17 to 0.28 of Qwen3.6-27B on an M4 Max (youssofal/MTPLX, issue 64), 0.18 to 0.25 of Qwen3.8-27B on
an RX 7900 XTX and 0.24 on an RX 7900 XT with llama.cpp (sudoingX/qwen38-mtp, pull requests 53 and
83; read 2026-11-23); that of serving engines is recalled as 0.05 to 0.1."""


def _drafting(job: Job, step_s: float) -> float:
    """Seconds in which the tokens of a step are drafted, one after the other, and checked."""
    if job.drafts is None or not job.drafts.params_m:
        return 0.0
    bandwidth = job.silicon.bandwidth_gbs * 1e9 * _degree(job) * DECODE_BANDWIDTH_SHARE
    one = job.drafts.params_m * 1e6 * job.weight_bits / 8 / bandwidth * _traffic_factor(job)
    least = DRAFTED.get(job.stack.family, DRAFTED["serving"]) * step_s * (not _unpacks_rows(job))
    return job.drafts.tokens * max(one + _overhead(job)[0] / max(1, job.shape.layers), least)


def decode_ceiling(job: Job) -> float:
    """Return the tokens per second at which reading the weights once per step, packed as far as
    engines pack them, takes all of the bandwidth that any reads."""
    kept = _checked(job)[1]
    read = stored_bytes(packed_whole(job) or job, touched_m(job.shape, job.batch))
    cards = job.count if job.by_rows else _degree(job)
    return MOST_READ * kept * job.batch * job.silicon.bandwidth_gbs * 1e9 * cards / read


def _chunk(job: Job) -> int:
    """The tokens of a prompt that go through the network at once, as the variant says (`ubatch`) or
    by default."""
    told = job.variant.get("ubatch")
    usual = PROMPT_CHUNKS.get(job.named.slug, PROMPT_CHUNK)
    return told if isinstance(told, int) and not isinstance(told, bool) and told > 0 else usual


def prefill(job: Job) -> Stream:
    """The prompt in one pass: 2 FLOPs per active weight and token, and the scores of all pairs of
    its tokens."""
    shape, degree = job.shape, _degree(job)
    whole = max(1, job.input_tokens or 512)
    tokens = max(1, whole - job.prefix_tokens)
    pairs = (whole**2 - (whole - tokens) ** 2) / shape.tokens**2
    products = _prompt_products(job, 2 * shape.active_m * 1e6 * tokens * job.batch)
    scores = matrix_seconds(job, shape.attention_gflop * 1e9 * pairs * job.batch)
    matrix = (products + scores) / degree * _plain_kernels(job)
    chunked = job.stack.family == "local-llm"
    widens = chunked and job.weight_bits < 16 and not _multiplies_packed(job)
    widened = WIDENED_BYTES if widens and job.silicon.vendor != "apple" else 0.0
    passes = math.ceil(tokens * job.batch / _chunk(job)) if chunked else 1
    read = (
        touched_m(shape, tokens * job.batch / passes)
        * 1e6
        * (job.weight_bits / 8 + widened)
        * passes
    )
    traffic = (
        read
        / (job.silicon.bandwidth_gbs * 1e9 * degree * DECODE_BANDWIDTH_SHARE)
        * _traffic_factor(job)
    )
    tail, launch = _overhead(job)
    exchange = _exchange(job, tokens * job.batch)
    total = _joined(matrix + traffic + tail, launch) + exchange
    other = total - matrix - traffic
    speed = tokens * job.batch / total * _overlapped(job, tokens)
    return Stream(speed, matrix, traffic, other, job.batch, exchange_s=exchange)


def _overlapped(job: Job, tokens: float) -> float:
    """By what a prompt gains where chunks follow each other through GPUs that hold some layers
    each: m chunks through n stages take (m + n - 1) / n times as long as one through all (Huang et
    al. 2019, arXiv 1811.06965), of which engines for one user reach STREAMED."""
    if not job.split_by_layer or job.stack.slug not in STREAMS_CHUNKS:
        return 1.0
    chunks = math.ceil(tokens * job.batch / _chunk(job))
    return float((chunks * job.count / (chunks + job.count - 1)) ** STREAMED)


class _Room(Struct, frozen=True):
    """Streams that a serving engine keeps at once, whether they are too few to keep the arithmetic
    busy, the bytes of all weights (each replica its own), and of one value of the cache."""

    streams: float
    starved: bool
    stored: float
    value_bytes: float


def _room(job: Job, copies: int, own: int, out: int) -> _Room:
    """How many streams the memory beside the weights holds: `own` tokens of each prompt that it
    shares with no other, and on average 0.6 of what it writes."""
    stored = stored_bytes(job, job.shape.params_m) * copies
    narrow = job.precision in ("fp8", "fp4") and job.path != "half"
    value_bytes = job.kept_bytes or (1.0 if narrow else 2.0)
    free = (job.silicon.memory_gib * 2**30 * 0.9 - ENGINE_RESERVES) * job.count - stored
    each = max(1.0, job.shape.kv_values * value_bytes * (own + 0.6 * out))
    streams = max(1.0, min(free / each, MOST_STREAMS))
    if job.batch_given:
        streams = min(streams, job.batch * job.count)
    return _Room(streams, streams < FEW_STREAMS and not job.batch_given, stored, value_bytes)


def serve(job: Job) -> Stream:
    """Many streams at once: the cache that fits beside the weights sets how many; times of
    arithmetic, traffic and exchange add. A pipeline's stages share the streams out among them, so
    each reads its weights for fewer, and so do replicas side by side (experts are spread over them
    instead)."""
    shape, n, experts = job.shape, job.count, job.shape.kind == "moe"
    inp, out = job.input_tokens or 128, job.output_tokens or 128
    own, (checked, kept) = max(1, inp - job.prefix_tokens), _checked(job)
    copies = 1 if experts else max(1, n // (job.tensor * job.pipeline))
    apart = experts and job.stack.attends_apart
    room = _room(job, copies, own, out)
    streams, plain = room.streams, _plain_kernels(job)

    # Bytes of one token of one stream: its share of the weights, and the cache so far.
    physics = speed_model().physics
    bandwidth = job.silicon.bandwidth_gbs * 1e9 * n * SERVE_BANDWIDTH_SHARE / physics.serve_traffic
    read = _read_per_step(job, room.stored, streams * checked, own, out)
    cache = shape.kv_values * room.value_bytes * _attended(job, inp + out / 2)
    weights = read * job.pipeline / bandwidth
    traffic = weights * _rows_again(job, streams * checked, weights) / streams + cache / bandwidth
    traffic *= plain

    # Products of the token, and of the part of a prompt that each written token pays for.
    per_token = 2 * shape.active_m * 1e6
    prompt = own / out * (per_token + shape.attention_gflop * 1e9 / shape.tokens * 0.5)
    matrix = matrix_seconds(job, per_token * checked + prompt * kept) / n * plain

    # The host schedules streams beside the GPUs; exchanges wait for both.
    per_layer = EXPERT_EXCHANGES if apart else EXCHANGES_PER_LAYER
    exchange = _exchange(job, streams * (checked + kept * own / out), per_layer)
    busy = (matrix + traffic) * streams * (1 + STAGE_LOSS * max(0, job.pipeline - 2))
    pace = SUPERCHIP_HOST if job.superchip else job.host_pace
    host = HOST_STREAM_S * pace * streams / (n if apart else copies)
    few = alone_share(streams / copies)
    ramps = _overhead(job)[0] * (SERVED_TAIL + (1 - SERVED_TAIL) * few)
    step = _joined(busy + ramps, host) + exchange
    step += _drafting(job, step)
    return Stream(
        streams * kept / step,
        matrix * streams,
        traffic * streams,
        step - busy,
        streams,
        room.starved,
        exchange,
        host,
    )


ALONE = 0.5
"""Power of the users of a served model with which falls what they have in common with one stream:
kernels that ramp up as for one, rows of written tokens that tell of them. Of 0.35
to 1 the least error of 17 rows of up to 16 users, each without its source."""


def alone_share(users: float) -> float:
    """Return how far so many served users are told by one stream: 1 for one, falling with more."""
    return float(max(1.0, users) ** -ALONE)


def _read_per_step(job: Job, stored: float, streams: float, own: int, out: int) -> float:
    """Bytes of weights that a step of many streams reads: of experts those visited, all in the
    steps that take a prompt in."""
    decoded = (
        stored_bytes(job, touched_m(job.shape, streams)) if job.shape.kind == "moe" else stored
    )
    prompts = streams * own / out / CHUNKED
    return decoded + min(1.0, prompts) * (stored - decoded)


def latency(job: Job, tokens_s: float, streams: float) -> tuple[float, float]:
    """Return the milliseconds to the first token of one request alone, and to each further token of
    one of the `streams` served. A serving engine takes about a step more until the token is out:
    its scheduler, tokenizer and sampler stand in the way of the first one alone.

    The next-token time is streams / speed (Little's law), so it holds for the batch that gives
    `tokens_s`."""
    alone = prefill(msgspec.structs.replace(job, batch=1.0))
    first = 1e3 * (alone.matrix_s + alone.traffic_s + alone.other_s)
    if job.task == "prefill":
        return first, 1e3 / decode(msgspec.structs.replace(job, batch=1.0)).tokens_s
    next_ms = 1e3 * streams / tokens_s
    return first + (next_ms if job.stack.family == "serving" else 0.0), next_ms
