"""Words of a workload's variant: layout of maps, sparse weights, and those that no model hears."""

import math
from difflib import get_close_matches

from rigplanner.performance.job import Job
from rigplanner.performance.roofline import CONVOLUTIONAL, Times
from rigplanner.performance.silicon import GENERATIONS

LAYOUTS = {"nchw": "NCHW", "channels_first": "NCHW", "nhwc": "NHWC", "channels_last": "NHWC"}
LAYOUT_GAIN, LAYOUT_WITHIN = 1.2, 1.125
"""Speed of convolutional nets in half precision on matrix units with channels last over channels
first, and the factor either way: 8 to 35 % on Volta (PyTorch, tutorial on channels last;
unverified)."""
SPARSE_WORDS = ("2:4", "true", "structured", "sparse")
SPARSE_PEAK, SPARSE_GAIN, SPARSE_WITHIN = 2.0, 1.5, 1.25
"""Rate of products with weights of which two of four are zero over dense ones: twice the peak, less
in practice: single layers of large nets gain 1.3 to 1.8 (NVIDIA, sparsity on Ampere with TensorRT;
unverified)."""
COMPILED = "compiled-inference"
HEARD = (
    "data",
    "steps",
    "parallel",
    "grad_accum",
    "virtual_pipeline",
    "tp",
    "act_ckpt",
    "split",
    "global_batch",
    "setup",
    "beams",
    "ubatch",
    "direction",
    "p2p",
    "exchange",
    "gradients",
    "labels",
    "guidance",
)
"""Words that a model or a row's place hears whatever the job; beside them layout and sparsity."""
MOST_NAMED = 8


def gain(job: Job, times: Times) -> float:
    """Return by how much layout and sparse weights, as asked for, change the speed of a job that
    steps."""
    faster = LAYOUT_GAIN ** _layout_step(job)
    return faster / (1 - _sparse_share(job, times) * (1 - 1 / SPARSE_GAIN))


def doubt(job: Job, times: Times) -> float:
    """Return by how much the gains widen half the interval, in log units."""
    return math.hypot(
        _layout_step(job) * math.log(LAYOUT_WITHIN),
        _sparse_share(job, times) * math.log(SPARSE_WITHIN),
    )


def peak(job: Job) -> float:
    """Return by how much the matrix peak is above that of dense weights."""
    return SPARSE_PEAK if _sparse(job) else 1.0


def ignored(job: Job) -> str:
    """Return the words of the variant that change nothing, each with the one that is nearest; ""
    where all are heard."""
    heard = (*HEARD, "layout", "channels_last", "sparsity")
    deaf = [word for word in job.variant if word not in heard]
    if asked := set(job.variant) & {"layout", "channels_last"}:
        deaf += sorted(asked) if _layout(job) is None or not _convolves(job) else []
    if "sparsity" in job.variant and not _sparse(job):
        deaf.append("sparsity")
    meant = [
        None if word in heard else next(iter(get_close_matches(word, heard, 1, 0.7)), None)
        for word in deaf
    ]
    return ", ".join(
        f"{word[:60]} ({near}?)" if near else word[:60]
        for word, near in list(zip(deaf, meant, strict=True))[:MOST_NAMED]
    )


def _layout(job: Job) -> str | None:
    """The layout that a variant asks for, None where it names none that is known."""
    told = job.variant.get("layout", job.variant.get("channels_last"))
    return (
        ("NHWC" if told else "NCHW")
        if isinstance(told, bool)
        else LAYOUTS.get(str(told).casefold())
    )


def _convolves(job: Job) -> bool:
    return job.path == "half" and job.shape.kind in CONVOLUTIONAL and job.stack.layout != "none"


def _layout_step(job: Job) -> int:
    """1 where channels last are asked of a stack that puts them first, -1 the other way round."""
    asked = _layout(job)
    if asked is None or asked == job.stack.layout or not _convolves(job):
        return 0
    return 1 if asked == "NHWC" else -1


def _sparse(job: Job) -> bool:
    """Whether a compiled network runs its sparse weights on units for them: NVIDIA's from Ampere
    on."""
    asked = str(job.variant.get("sparsity", "")).casefold() in SPARSE_WORDS
    has_units = (
        job.silicon.vendor == "nvidia"
        and job.silicon.era >= GENERATIONS["ampere"]
        and job.path != "vector"
    )
    return asked and has_units and job.task == "inference" and job.stack.family == COMPILED


def _sparse_share(job: Job, times: Times) -> float:
    """The share of a step that is products of sparse weights."""
    return min(1.0, times.matrix_s / times.total_s) if _sparse(job) else 0.0
