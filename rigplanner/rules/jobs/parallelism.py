"""Shape of a job: degrees of parallelism against GPUs, heads, layers and experts; exchange between
GPUs."""

import math
from collections.abc import Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.machine.topology.interconnect import nodes_of
from rigplanner.rig.edits import Edit
from rigplanner.rig.workload import Parallelism
from rigplanner.rules.core.context import Context, JobFacts
from rigplanner.rules.core.finding import Finding, Fix, Named
from rigplanner.rules.core.fixes import fix
from rigplanner.rules.core.recheck import fits_after
from rigplanner.rules.core.registry import rule

HEADS = ("num_attention_heads", "n_head", "num_heads", "heads")
KV_HEADS = ("num_key_value_heads", "n_head_kv", "kv_heads")
LAYERS = ("num_hidden_layers", "n_layer", "num_layers", "layers")
EXPERTS = ("num_local_experts", "num_experts", "n_routed_experts", "experts")
"""Names of a model's counts in Hugging Face configurations and in the model zoo."""


class Split(Named, frozen=True):
    """A job on several GPUs with its degrees and the counts of its model, None where the model does
    not say."""

    job: JobFacts
    gpus: int
    plan: Parallelism
    heads: int | None
    kv_heads: int | None
    layers: int | None
    experts: int | None


def model_counts(job: JobFacts) -> dict[str, int | None]:
    """Return the model's numbers of heads, KV heads, layers and experts from its configuration or
    the model zoo's."""
    config = model_config(job)
    names = {"heads": HEADS, "kv_heads": KV_HEADS, "layers": LAYERS, "experts": EXPERTS}
    return {key: _first(config or {}, words) for key, words in names.items()}


def model_config(job: JobFacts) -> dict[str, Any] | None:
    """Return the configuration that a job brings, else that of its model in the zoo, None where
    neither has one."""
    if job.workload.config is not None or job.workload.model is None:
        return job.workload.config
    from rigplanner.catalog.zoo import shipped_zoo

    model = shipped_zoo().get(job.workload.model)
    return model.config if model else None


def _first(config: dict[str, Any], names: tuple[str, ...]) -> int | None:
    text = config.get("text_config")
    for table in (config, text if isinstance(text, dict) else {}):
        for name in names:
            value = table.get(name)
            if isinstance(value, int) and value > 0:
                return value
    return None


def splits(context: Context) -> Iterator[Split]:
    """Jobs that name degrees of parallelism."""
    count = len(context.machine.gpu_parts)
    for job in context.jobs:
        plan = job.workload.parallelism
        if plan is not None and count:
            yield Split(job.name, job, count, plan, **model_counts(job))


def whole_splits(context: Context) -> Iterator[Split]:
    """Jobs whose ranks are whole GPUs."""
    return (case for case in splits(context) if case.job.workload.mig is None)


def tensor_splits(context: Context) -> Iterator[Split]:
    """Jobs with tensor parallelism."""
    return (case for case in splits(context) if case.plan.tensor > 1)


def pipeline_splits(context: Context) -> Iterator[Split]:
    """Jobs with pipeline parallelism."""
    return (case for case in splits(context) if case.plan.pipeline > 1)


def expert_splits(context: Context) -> Iterator[Split]:
    """Jobs with expert parallelism."""
    return (case for case in splits(context) if case.plan.expert > 1)


def _plan(context: Context, case: Split, /, **degrees: int | None) -> tuple[Fix, ...]:
    plan = replace(case.plan, **degrees)
    edit = Edit("change_workload", {"index": case.job.index, "parallelism": plan})
    return (
        (fix(context, "other-degrees", edit, **degrees),)
        if fits_after(context, case.job, parallelism=plan)
        else ()
    )


@rule(
    "WRK001",
    "Tensor degree does not divide the attention heads",
    "error",
    over=tensor_splits,
    needs=("heads",),
    reason="Each GPU holds whole heads; vLLM and Megatron refuse to start otherwise.",
    source="vLLM issue 4232; Megatron-LM argument checks",
)
def heads(context: Context, case: Split) -> Iterator[Finding]:
    """An error where heads do not divide; a remark where KV heads must be copied."""
    tensor, count = case.plan.tensor, case.heads or 0
    if count % tensor:
        lower = max(
            degree for degree in range(1, tensor) if count % degree == 0 and case.gpus % degree == 0
        )
        yield heads.finding(
            case,
            needed=tensor,
            actual=count,
            unit="heads",
            fixes=_plan(context, case, tensor=lower, data=None),
        )
    elif case.kv_heads and (case.kv_heads % tensor and tensor % case.kv_heads):
        yield heads.finding(case, "error", needed=tensor, actual=case.kv_heads, unit="KV heads")


@rule(
    "WRK002",
    "Tensor degree is not a power of two",
    "warning",
    over=tensor_splits,
    reason=(
        "Kernels of serving stacks are made and tested for degrees of 1, 2, 4 and 8; six GPUs run"
        " as 2 x 3 stages instead."
    ),
    source="vLLM and SGLang deployment notes",
)
def power_of_two(context: Context, case: Split) -> Iterator[Finding]:
    """Warn of degrees such as 3 or 6."""
    tensor = case.plan.tensor
    if tensor & (tensor - 1):
        low = 1 << (tensor.bit_length() - 1)
        while case.gpus % low or (case.heads or low) % low:
            low //= 2
        rest = case.gpus // low
        stages = rest if case.layers is None or rest <= case.layers else 1
        yield power_of_two.finding(
            case,
            needed=low,
            actual=tensor,
            fixes=_plan(context, case, tensor=low, pipeline=stages, data=None),
        )


@rule(
    "WRK003",
    "More pipeline stages than layers, or uneven ones",
    "warning",
    may_err=True,
    over=pipeline_splits,
    needs=("layers",),
    reason="A pipeline runs at the pace of its longest stage; a stage without a layer is an error.",
    source="GPipe and Megatron-LM pipeline schedules",
)
def stages(context: Context, case: Split) -> Iterator[Finding]:
    """Compare layers with stages."""
    count, pipeline = case.layers or 0, case.plan.pipeline
    if pipeline > count or count % pipeline:
        lower = max(
            degree
            for degree in range(1, pipeline)
            if count % degree == 0 and (case.gpus // case.plan.tensor) % degree == 0
        )
        yield stages.finding(
            case,
            "error" if pipeline > count else "warning",
            needed=pipeline,
            actual=count,
            unit="layers",
            fixes=_plan(context, case, pipeline=lower, data=None),
        )


def _shared(context: Context, case: Split) -> tuple[Fix, ...]:
    """Split the model as far as the GPUs allow, where the job then has room; else not at all,
    likewise."""
    plan = case.plan
    tensor = math.gcd(plan.tensor, case.gpus)
    pipeline = math.gcd(plan.pipeline, case.gpus // tensor)
    sequence = math.gcd(plan.context, case.gpus // tensor // pipeline)
    for degrees in ((tensor, pipeline, sequence), (1, 1, 1)):
        names = dict(zip(("tensor", "pipeline", "context"), degrees, strict=True))
        if fixes := _plan(context, case, data=None, **names):
            return fixes
    return ()


@rule(
    "WRK004",
    "Degrees of parallelism do not make up the GPUs",
    "error",
    over=whole_splits,
    reason="The product of all degrees is the number of GPUs.",
    source="Megatron-LM and DeepSpeed process groups",
)
def product(context: Context, case: Split) -> Iterator[Finding]:
    """Compare the product of the degrees with the GPUs of the rig; idle GPUs are a warning."""
    plan = case.plan
    inner = plan.tensor * plan.pipeline * plan.context
    total = inner * (plan.data or max(1, case.gpus // inner))
    if total == case.gpus:
        return
    fixes = _plan(context, case, data=None) if case.gpus % inner == 0 else _shared(context, case)
    yield product.finding(
        case,
        "error" if total > case.gpus else "warning",
        needed=total,
        actual=case.gpus,
        unit="GPUs",
        fixes=fixes,
    )


@rule(
    "WRK005",
    "Expert degree does not divide the experts",
    "error",
    over=expert_splits,
    needs=("experts",),
    reason="Each GPU holds whole experts.",
    source="Megatron-LM and DeepSpeed-MoE argument checks",
)
def experts(context: Context, case: Split) -> Iterator[Finding]:
    """Compare the experts with the degree."""
    count, degree = case.experts or 0, case.plan.expert
    if count % degree:
        lower = max(n for n in range(1, degree) if count % n == 0)
        yield experts.finding(
            case,
            needed=degree,
            actual=count,
            unit="experts",
            fixes=_plan(context, case, expert=lower),
        )


WIDTHS = ("intermediate_size", "ffn_hidden_size", "n_inner")
EXPERT_WIDTHS = ("moe_intermediate_size", "shared_expert_intermediate_size")
GROUP = 128
"""Weights that share a scale in AWQ, GPTQ and kin, and rows of a block in FP8 checkpoints, unless
the configuration says more."""


class Grouped(Struct, frozen=True):
    """A tensor-parallel job whose quantised weights share scales in groups; `widths` are those of
    its MLPs, None where the model does not say; `own` where the checkpoint's own configuration gave
    them."""

    split: Split
    method: str
    group: int
    widths: tuple[int, ...] | None
    own: bool

    @property
    def subjects(self) -> tuple[str, ...]:
        return self.split.subjects


def grouped_splits(context: Context) -> Iterator[Grouped]:
    """Tensor-parallel serving of AWQ, GPTQ and block-wise FP8 weights by engines that cut MLPs
    across their width. GGUF files and ExLlama's are cut elsewhere."""
    for split in tensor_splits(context):
        work = split.job.workload
        stack = (work.stack or "").casefold()
        config = model_config(split.job) or {}
        stored = config.get("quantization_config")
        stored = stored if isinstance(stored, dict) else {}
        words = (
            str(stored.get("quant_method") or work.quant or "")
            .casefold()
            .replace("compressed-tensors", "w4a16")
        )
        cut = next((word for word in ("awq", "gptq", "w4a16", "fp8") if word in words), None)
        blocks = stored.get("weight_block_size")
        elsewhere = "train" in (work.task or "train") or "llama.cpp" in stack or "exl" in stack
        if cut is None or elsewhere or (cut == "fp8" and not isinstance(blocks, list)):
            continue
        size = (
            blocks[0] if isinstance(blocks, list) and blocks else stored.get("group_size") or GROUP
        )
        if isinstance(size, int) and size > 0:
            yield Grouped(split, cut, size, _mlp_widths(config, split), bool(stored))


def _mlp_widths(config: dict[str, Any], split: Split) -> tuple[int, ...] | None:
    """Return the widths that a tensor split cuts: experts' too, unless these are dealt out whole;
    Mixtral's experts are as wide as its configuration's MLP, and DeepSeek's first layers have a
    dense one."""
    dense = _first(config, WIDTHS)
    inner = [width for width in (_first(config, (name,)) for name in EXPERT_WIDTHS) if width]
    if split.experts and (inner or split.plan.expert > 1):
        first = [dense] if dense and _first(config, ("first_k_dense_replace",)) else []
        return tuple(first if split.plan.expert > 1 else inner + first)
    return (dense,) if dense else None


@rule(
    "WRK006",
    "Tensor degree cuts through groups of quantised weights",
    "error",
    over=grouped_splits,
    needs=("widths",),
    reason=(
        "AWQ and GPTQ keep one scale for 128 weights of a row, FP8 checkpoints one for blocks of"
        " 128 x 128: engines refuse a tensor degree that leaves a GPU part of a group. Fewer GPUs,"
        " whole experts per GPU or a padded checkpoint go."
    ),
    source=(
        "vLLM issues 5675, 21695, 25292, 54178 and pull request 48173; sgl-project/sglang issue"
        " 3345; QwenLM/Qwen3-VL issue 831"
    ),
)
def groups(context: Context, case: Grouped) -> Iterator[Finding]:
    """Each GPU's share of a width must be whole groups; a warning where a padded checkpoint of the
    model may exist."""
    tensor, count = case.split.plan.tensor, case.split.heads or 0
    widths = case.widths or ()
    broken = [width for width in widths if width % (tensor * case.group)]
    if broken:
        whole = [
            n for n in range(1, tensor) if not any(width % (n * case.group) for width in widths)
        ]
        lower = max((n for n in whole if case.split.gpus % n == 0 and count % n == 0), default=1)
        yield groups.finding(
            case,
            "error" if case.own else "warning",
            needed=tensor,
            actual=broken[0],
            fixes=_plan(context, case.split, tensor=lower, data=None) if lower > 1 else (),
            group=case.group,
            method=case.method.upper(),
        )


def unwaited(context: Context) -> Iterator[Split]:
    """Trainings whose copies do not wait for each other."""
    for case in whole_splits(context):
        trains = "train" in (case.job.workload.task or "train")
        if case.gpus > 1 and trains and case.plan.sync in ("stale", "asynchronous"):
            yield case


@rule(
    "WRK007",
    "Gradients are older than the weights that they change",
    "warning",
    over=unwaited,
    reason=(
        "Copies that do not wait compute gradients on weights which others have changed since: the"
        " more copies, the older. Training may need more steps, a lower learning rate, or not"
        " converge; what is won in images a second can be lost in steps. Deep nets gain, small"
        " ones do not."
    ),
    source=(
        "Chen et al. 2016, Revisiting distributed synchronous SGD (arXiv 1604.00981); Ho et al."
        " 2013, More effective distributed ML via a stale synchronous parallel parameter server"
    ),
)
def staleness(_context: Context, case: Split) -> Iterator[Finding]:
    """Tell the age of gradients in steps: the bound, or one step for each other copy."""
    copies = case.gpus // max(1, case.plan.tensor * case.plan.pipeline)
    bound = case.plan.staleness or 3
    if copies > 1:
        yield staleness.finding(
            case, needed=0, actual=bound if case.plan.sync == "stale" else copies - 1
        )


class Exchange(Struct, frozen=True):
    """Jobs on several GPUs that exchange; `letters` are those of `p2p` for the pairs."""

    names: tuple[str, ...]
    letters: tuple[str, ...]

    @property
    def subjects(self) -> tuple[str, ...]:
        return self.names


def exchanges(context: Context) -> Iterator[Exchange]:
    """The jobs of a rig with several GPUs in a node, but those that run as a pipeline of single
    GPUs; NVLink to all GPUs of each node needs no PCIe."""
    machine = context.machine
    count = len(machine.gpu_parts)
    plans = [(job.name, job.workload.parallelism) for job in context.jobs]
    names = tuple(name for name, plan in plans if plan is None or plan.pipeline < count)
    if count < 2 or not names:
        return
    everything = tuple(range(count))
    nodes = tuple(nodes_of(machine, everything).values()) or (everything,)
    linked = all(any(set(node) <= set(island) for island in machine.islands) for node in nodes)
    letters = tuple(machine.p2p[a][b] for node in nodes for a in node for b in node if a != b)
    if letters and not linked:
        yield Exchange(names, letters)


@rule(
    "P2P001",
    "GPUs cannot exchange directly",
    "warning",
    over=exchanges,
    needs=("letters",),
    reason=(
        "Without peer-to-peer access traffic goes through host memory: GeForce 40 and 50 on stock"
        " drivers have none, GeForce 30 only over NVLink."
    ),
    source="NVIDIA/nccl-tests issue 117; NVIDIA/nccl issue 1127; nvidia-smi topo -p2p captures",
)
def peer_to_peer(context: Context, case: Exchange) -> Iterator[Finding]:
    """Warn where the driver allows none, remark where only the way between some is too long;
    unknown pairs stay unknown."""
    refused = [letter for letter in case.letters if letter not in ("OK", "X", "")]
    if refused:
        yield peer_to_peer.finding(
            case,
            "warning" if "GNS" in refused else "info",
            needed=len(case.letters) // 2,
            actual=len(refused) // 2,
            letters=sorted(set(refused)),
        )
    elif "" in case.letters:
        yield peer_to_peer.unknown(case, "machine:p2p")
