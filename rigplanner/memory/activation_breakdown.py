"""Activations at the peak by the kind of layer that made them: the same trace on a tape that looks
who asks for memory."""

from __future__ import annotations

import sys
from collections import defaultdict
from types import FrameType

import msgspec

from rigplanner.catalog.schema.parts import GPU
from rigplanner.catalog.zoo import Zoo
from rigplanner.memory.estimate import estimate_memory
from rigplanner.memory.inference import WHOLE_PROMPT, gives_vectors
from rigplanner.memory.training_trace import parameter_type, setting_of, sharded_amp, step_copies
from rigplanner.networks.families.build import builder
from rigplanner.networks.tracer.step import contradictions, trace_step
from rigplanner.networks.tracer.tape import BF16, CPU_TRACE, CUDA, F32, Semantics, Tape
from rigplanner.rig.workload import Workload
from rigplanner.workload.job import Job, read_job
from rigplanner.workload.network import Network, resolve
from rigplanner.workload.stacks import memory_stack

FUNCTIONS = {
    "next_token_loss": "logits",
    "fused_token_loss": "logits",
    "chunked_token_loss": "logits",
    "class_loss": "logits",
    "cross_entropy": "logits",
    "fused_attention": "attention",
    "plain_attention": "attention",
    "attend": "attention",
    "softmax_wide": "attention",
    "rotate": "attention",
    "eager": "attention",
    "layer_norm": "norms",
    "batch_norm": "norms",
    "convolution": "convolutions",
    "max_pool": "pooling",
    "dropout": "dropout",
    "embedding": "embeddings",
    "causal_mask": "attention",
    "rope_tables": "attention",
    "parameter": "weights",
    "buffer": "weights",
    "activate": "activation functions",
    "grouped": "experts",
}
"""Functions of the trace by the kind of layer they stand for."""
CLASSES = (
    ("Attention", "attention"),
    ("Mlp", "feed-forward"),
    ("Experts", "experts"),
    ("Norm", "norms"),
    ("Squeeze", "convolutions"),
    ("Conv", "convolutions"),
    ("Block", "blocks"),
    ("Decoder", "logits"),
    ("Encoder", "logits"),
    ("Classifier", "head"),
)
"""Classes of the trace, by a part of their name; what embedding and norms leave of a decoder is its
head."""
DEEPEST = 40


class WatchingTape(Tape):
    """A tape that keeps the live bytes of each kind as they were at the peak."""

    def __init__(self, semantics: Semantics, autocast: str | None) -> None:
        self._live, self._peak = 0, 0
        self._kinds: dict[int, str] = {}
        self._now: defaultdict[str, int] = defaultdict(int)
        self.at_peak: dict[str, int] = {}
        super().__init__(semantics, autocast)

    @property
    def live(self) -> int:
        """Live bytes."""
        return self._live

    @live.setter
    def live(self, value: int) -> None:
        change, self._live = value - self._live, value
        if not change:
            return
        frame = sys._getframe(1)
        who = id(frame.f_locals.get("self"))
        if change < 0:
            self._now[self._kinds.pop(who, "other")] += change
            return
        kind = self._kinds[who] = kind_of(frame.f_back)
        self._now[kind] += change
        if value > self._peak:
            self._peak, self.at_peak = value, dict(self._now)

    @property
    def highest(self) -> int:
        """Live bytes at the peak of the passes."""
        return self._peak


def kind_of(frame: FrameType | None) -> str:
    """The kind of layer for which the code in a frame works."""
    for _ in range(DEEPEST):
        if frame is None:
            break
        code = frame.f_code
        if code.co_name == "pull" and "checkpointed" not in code.co_qualname:
            return "backward"
        if code.co_name == "_trained":
            return "backward" if "loss" in frame.f_locals or "grad" in frame.f_locals else "states"
        if code.co_name == "trace_step":
            return "states"
        if code.co_name in FUNCTIONS:
            return FUNCTIONS[code.co_name]
        owner = frame.f_locals.get("self")
        name = type(owner).__name__ if owner is not None else ""
        found = next((kind for part, kind in CLASSES if part in name), None)
        if found is not None:
            return found
        frame = frame.f_back
    return "other"


def activation_kinds(workload: Workload, gpu: GPU | None, count: int, zoo: Zoo) -> dict[str, float]:
    """Activations of the fullest GPU in GiB by kind of layer, largest first; they sum to the
    estimate's activations. "backward" is what gradients of activations take at the peak, "optimizer
    step" the copies that a step makes. One entry where the network is known by figures only."""
    whole = estimate_memory(workload, gpu, count, zoo, explained=False).parts.activations_gib
    network = resolve(workload, zoo)
    job = read_job(workload, network, count, gpu is not None)
    if network.config is None or network.kind.startswith("diffusion") or not whole:
        return {"feature maps" if network.figures else "blocks": whole}
    kinds = _traced(network, job)
    total = sum(kinds.values())
    if total <= 0:
        return {"blocks": whole}
    shares = {kind: whole * size / total for kind, size in kinds.items() if size > 0}
    return dict(sorted(shares.items(), key=lambda item: -item[1]))


def _traced(network: Network, job: Job) -> dict[str, int]:
    stack = memory_stack(job.stack)
    training = job.task.startswith("train")
    if training:
        setting = setting_of(job, job.checkpointing == "full", stack)
        low = (
            "bf16"
            if parameter_type(job) == BF16 or sharded_amp(job)
            else "amp_bf16"
            if job.precision.startswith("amp")
            else "fp32"
        )
    else:
        dtype = F32 if job.precision in ("fp32", "tf32") else BF16
        writes = job.generates and network.family not in WHOLE_PROMPT and network.vocab > 0
        setting = msgspec.structs.replace(
            setting_of(job, False, stack),
            dtype=dtype,
            training=False,
            lora_rank=0,
            lora_targets=(),
            headless=writes or gives_vectors(network, stack),
        )
        low = "fp32" if dtype == F32 else "bf16"
    tape = WatchingTape(
        CPU_TRACE if stack.slug == "trace" else CUDA, BF16 if low.startswith("amp") else None
    )
    with contradictions():
        make = builder(msgspec.json.decode(network.config or b""))
        copies = training and job.offload == "none" and step_copies(job, stack) > 0
        optimizer = "adamw" if copies else "sgd"
        done = trace_step(
            make, setting, precision=low, optimizer=optimizer, semantics=tape.semantics, tape=tape
        )
    kinds = {kind: size for kind, size in tape.at_peak.items() if kind not in ("weights", "states")}
    if not training:
        return (
            kinds | {"logits": kinds.get("logits", 0) + 6 * job.batch * network.vocab}
            if writes
            else kinds
        )
    if done.peak > tape.highest:
        return {"optimizer step": done.activations}
    kinds["backward"] = max(0, kinds.get("backward", 0) - done.gradients)
    return kinds
