"""Memory of one GPU by closed formulas of the literature, wide intervals; the operator walk takes its place."""

from rigplanner.catalog.parts import GPU
from rigplanner.catalog.zoo import Zoo
from rigplanner.evidence import Step
from rigplanner.rig.task import Workload
from rigplanner.workload.answer import MemoryEstimate, MemoryParts, WorkloadFault

GIB = 2.0**30
WEIGHT_BYTES = {"fp32": 4.0, "tf32": 4.0, "int8": 1.0, "fp8": 1.0, "int4": 0.56, "nf4": 0.56, "q4_k_m": 0.6}
CONTEXT_GIB = 0.6


def estimate_memory(workload: Workload, gpu: GPU | None, count: int, zoo: Zoo) -> MemoryEstimate:
    """Return the memory of one of `count` GPUs; raises WorkloadFault for a network whose size is not known."""
    model = zoo.get(workload.model) if workload.model else None
    config = workload.config or (model.config if model else None) or {}
    params = 1e6 * (workload.params_m or (model.params_m if model else None) or 1e3 * (workload.params_b or 0.0))
    hidden, layers = float(config.get("hidden_size") or 0), float(config.get("num_hidden_layers") or 0)
    if not params and hidden and layers:
        params = 12 * layers * hidden**2 + 2 * hidden * float(config.get("vocab_size") or 0)
    if not params:
        raise WorkloadFault(f"model: no size is known of {workload.model!r}.")
    ways = workload.parallelism
    split = (ways.tensor * ways.pipeline if ways else 1) or 1
    training = (workload.task or "").startswith("train")
    weight = params * WEIGHT_BYTES.get(workload.precision or "", 2.0 if "16" in (workload.precision or "") else 4.0) / split
    states = params / split if workload.task in ("train", "train_full") else 0.01 * params / split if training else 0.0
    shards = count if ways and ways.zero >= 3 else 1
    length = workload.seq_len or (workload.input_tokens or 0) + (workload.output_tokens or 0) or 2048
    batch = workload.batch_per_gpu or 1
    figures = model.figures[0] if model and model.figures else None
    values = 1e6 * (workload.activations_m or (figures.activations_m if figures else None) or 0.0) * batch
    activations = values * (4 if training else 0.2) * 2 if values else 34 * length * batch * hidden * (layers if training else 1)
    parts = MemoryParts(
        weights_gib=weight / shards / GIB,
        gradients_gib=states * 4 / shards / GIB,
        optimizer_gib=states * 8 / shards / GIB,
        activations_gib=activations / GIB,
        context_gib=CONTEXT_GIB,
    )
    tensors = parts.weights_gib + parts.gradients_gib + parts.optimizer_gib + parts.activations_gib
    reserved = tensors * 1.1
    step = Step("weights", "parameters x bytes", {"parameters": params}, parts.weights_gib, "GiB", "memory-notes")
    return MemoryEstimate(
        parts=parts, tensors_gib=tensors, allocated_gib=tensors, reserved_gib=reserved, device_gib=reserved + CONTEXT_GIB,
        low_gib=0.6 * reserved, high_gib=1.6 * reserved, stack=workload.stack or "pytorch", steps=(step,),
    )  # fmt: skip
