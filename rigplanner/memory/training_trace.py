"""The trace of a training step as its stack runs it: types, adapters, loss, and what is
recomputed."""

from __future__ import annotations

from typing import Literal

from rigplanner.networks.closed_form.closed import traced_step
from rigplanner.networks.tracer.net import Setting
from rigplanner.networks.tracer.step import StepTrace
from rigplanner.networks.tracer.tape import BF16, F32
from rigplanner.workload.job import Job
from rigplanner.workload.network import Network
from rigplanner.workload.optimizers import IN_BACKWARD, OPTIMIZERS
from rigplanner.workload.releases import LOOPED, UNCUT, UNRAISED, WRITTEN
from rigplanner.workload.stacks import MemoryStack


def parameter_type(job: Job) -> str:
    """The type parameters are kept in while training."""
    return F32 if job.precision in ("fp32", "tf32") or job.precision.startswith("amp") else BF16


def setting_of(
    job: Job,
    checkpointing: bool,
    stack: MemoryStack,
    eager: bool | None = None,
    sheds: bool = False,
) -> Setting:
    """The setting of the trace: this GPU's samples and its share of the sequence; attention is
    `eager` as the job or the stack says, unless told. FSDP computes in the low type itself."""
    return Setting(
        batch=job.batch,
        length=max(1, job.length // job.context),
        dtype=computed_type(job, stack),
        eager=job.eager if eager is None else eager,
        checkpointing=checkpointing,
        sheds=sheds,
        lora_rank=job.lora_rank,
        lora_targets=job.lora_targets or ALL_LINEAR if job.lora_rank else (),
        loss=_loss(job, stack),
        fused_act=stack.fused_act,
        dora=job.dora,
        adapters=_adapters(job, stack),
        sides=job.sides,
        frames=job.frames,
        images=job.images,
        frozen_tower="frozen_tower" in job.flags,
        frozen_norms=stack.frozen_norms,
        float_norms=stack.float_norms and job.precision.startswith("amp"),
        keeps_scores=stack.keeps_scores,
    )


def computed_type(job: Job, stack: MemoryStack) -> str:
    """The type of what runs between layers: 16 bits where parameters are gathered so, and float
    beside a raised base outside autocast, whose norms write it and whose 4-bit products give back
    the type of their input (bitsandbytes.nn.Linear4bit)."""
    if sharded_amp(job):
        return BF16
    return (
        F32
        if raises_rest(job, stack) and on_bitsandbytes(job) and not stack.autocasts
        else parameter_type(job)
    )


def _adapters(job: Job, stack: MemoryStack) -> Literal["", "float", "cast"]:
    """How adapters of float take what a 16-bit network gives them: every one makes a copy of its
    own. A base of bitsandbytes is left out: under autocast its adapters take the input as it is
    (peft.tuners.lora.bnb)."""
    if (
        stack.adapters == "base"
        or job.task != "train_lora"
        or job.dora
        or parameter_type(job) == F32
    ):
        return ""
    return "cast" if stack.autocasts else "float"


def _loss(job: Job, stack: MemoryStack) -> str:
    """The loss of the trace: one that is asked for, else the stack's. Cross-entropy of 16-bit
    logits outside autocast keeps them as they are (torch.nn.functional.cross_entropy), unless a
    model of transformers brings them to float first."""
    if job.flags & FUSED_LOSS and not stack.writes_logits:
        return "fused"
    if WRITTEN in job.flags and stack.loss == "fused":
        return "compiled"
    if UNCUT in job.flags:
        return "plain"
    if stack.own_networks and job.task == "train_full" and parameter_type(job) == BF16:
        return "compiled"
    if stack.loss != "plain" or not job.flags & NARROW_LOSS:
        return stack.loss
    return "compiled" if "compiled_loss" in job.flags else "chunked"


def traced_width(job: Job, stack: MemoryStack, width: float) -> float:
    """Bytes of a value's gradient in the trace."""
    return 4.0 if _adapters(job, stack) or computed_type(job, stack) == F32 else width


FUSED_LOSS = {"fused_cross_entropy", "cut_cross_entropy", "fused_loss", "liger"}
"""Words for a loss that never holds the logits."""
NARROW_LOSS = {"compiled_loss", "chunked_cross_entropy"}
"""Words for a loss that holds the logits once and their gradient; of chunks, one piece in float
beside them."""


def sharded_amp(job: Job) -> bool:
    """Mixed precision by FSDP or ZeRO-3: parameters are gathered in the low type, nothing is cast
    by autocast."""
    return job.precision.startswith("amp") and job.zero == 3


ALL_LINEAR = (
    "q_proj",
    "k_proj",
    "v_proj",
    "o_proj",
    "gate_proj",
    "up_proj",
    "down_proj",
    "gate_up_proj",
    "qkv_proj",
    "query_key_value",
    "dense",
    "dense_h_to_4h",
    "dense_4h_to_h",
    "fc1",
    "fc2",
    "out_proj",
    "fc_in",
    "fc_out",
    "c_attn",
    "c_proj",
    "c_fc",
    "query",
    "key",
    "value",
    "q_lin",
    "k_lin",
    "v_lin",
    "out_lin",
    "lin1",
    "lin2",
    "q",
    "k",
    "v",
    "o",
    "wi",
    "wi_0",
    "wi_1",
    "wo",
    "in_proj",
    "x_proj",
    "in_proj_qkvz",
    "in_proj_ba",
    "in_proj_qkv",
    "in_proj_z",
    "in_proj_b",
    "in_proj_a",
    "w1",
    "w2",
    "w3",
    "input_linear",
    "output_linear",
    "q_a_proj",
    "q_b_proj",
    "kv_a_proj_with_mqa",
    "kv_b_proj",
)


TRACED_OPTIMIZERS = ("adamw", "adamw_fused", "sgd", "sgd_momentum")
ACTIVATIONS_LEFT = 0.5
"""Share of activations that stays on the card when they are off-loaded: logits and the layers in
flight."""


def step_copies(job: Job, stack: MemoryStack) -> int:
    """Tensors that the optimizer makes at once of every parameter it steps on; none where it goes
    from one to the next."""
    return (
        0
        if stack.fused_optimizer or job.flags & {LOOPED, IN_BACKWARD}
        else OPTIMIZERS[job.optimizer].copies
    )


def step_trace(
    network: Network, job: Job, stack: MemoryStack, sheds: bool = False
) -> tuple[StepTrace, float]:
    """The trace of the step, and the share of its activations that remains (selective
    recomputation; a compiled graph keeps about as much as an eager one in the measurements there
    are)."""
    assert network.config is not None
    low = "amp_bf16" if job.precision.startswith("amp") and not sharded_amp(job) else "bf16"
    low = "fp32" if computed_type(job, stack) == F32 and low == "bf16" else low
    optimizer = job.optimizer
    if optimizer not in TRACED_OPTIMIZERS:
        optimizer = "adamw" if OPTIMIZERS[optimizer].copies else "adamw_fused"
    if optimizer == "adamw" and LOOPED in job.flags:
        optimizer = "adamw_fused"
    traced = stack.slug == "trace"
    checkpointing = (
        stack.unknown_checkpointing if job.checkpointing == "unknown" else job.checkpointing
    )
    share = ACTIVATIONS_LEFT if "activation_offload" in job.flags else 1.0

    def run(checkpointing: bool, eager: bool | None = None) -> StepTrace:
        setting = setting_of(job, checkpointing, stack, eager, sheds)
        return traced_step(network.config or b"", setting, low, optimizer, traced)

    if checkpointing == "full":
        return run(True), share
    if checkpointing == "none":
        kept = run(False)
        if not job.lora_rank:
            return kept, share
        return kept, share * (1.0 + adapter_inputs(network, job, stack) / max(1, kept.working))
    if stack.selective == "attention":
        return run(False, eager=False), share
    kept, again = run(False), run(True)
    wanted = again.working + kept_products(network, job)
    return kept, share * min(1.0, wanted / max(1, kept.working))


def adapter_inputs(network: Network, job: Job, stack: MemoryStack) -> float:
    """Bytes that layers keep besides the trace in a run of adapters: with dropout before the
    adapter of the joint projection, the copy and its mask of one byte; and the inputs of products
    whose frozen matrix is quantised, which the trace lets go: of query, key and value, of the
    projection, and of the feed-forward part's two sides, in float, the type bitsandbytes computes
    in unless told."""
    tokens = float(job.batch * job.length) / job.context * network.layers
    dropped = 3.0 * tokens * network.hidden if stack.lora_dropout and job.lora_rank else 0.0
    quantised = (
        4.0 * tokens * (3 * network.hidden + network.ffn)
        if stack.keeps_quantised_inputs and job.task == "train_qlora"
        else 0.0
    )
    return dropped + quantised


def kept_products(network: Network, job: Job) -> float:
    """Bytes that selective recomputation by operator keeps beside each layer's input: every second
    matrix product (query, value, gate, down) and the result of attention, in 16 bits
    (torchtitan/distributed/activation_checkpoint.py)."""
    wide, narrow = network.heads * network.head_dim, network.kv_heads * network.head_dim
    tokens = float(job.batch * job.length) / job.context
    return 2.0 * network.layers * tokens * (2 * wide + narrow + network.ffn + network.hidden)


def raises_rest(job: Job, stack: MemoryStack) -> bool:
    """Whether what is not quantised is kept in fp32 (peft.prepare_model_for_kbit_training)."""
    return job.task == "train_qlora" and stack.raises_rest and UNRAISED not in job.flags


def on_bitsandbytes(job: Job) -> bool:
    """Whether the base is one of bitsandbytes, which trains under autocast."""
    return (job.quant or "bnb").startswith("bnb")
