"""Kernels and data types: what a job asks for and the GPU's silicon has not."""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.schema.parts import GPU
from rigplanner.rig.edits import Edit
from rigplanner.rules.core.context import Context, JobFacts
from rigplanner.rules.core.finding import Finding, Fix
from rigplanner.rules.core.fixes import fix
from rigplanner.rules.core.recheck import fits_after
from rigplanner.rules.core.registry import Rule, rule
from rigplanner.rules.software.software import models, name_software
from rigplanner.rules.software.tables import between, software, version


class Feature(Struct, frozen=True):
    """A job's need for a kernel or data type, and a GPU model."""

    name: str
    job: JobFacts
    card: GPU
    feature: str

    @property
    def subjects(self) -> tuple[str, ...]:
        return (self.job.name, self.name)


def _features(context: Context, feature: str, asks: set[str], field: str) -> Iterator[Feature]:
    for job in context.jobs:
        wish = str(getattr(job.workload, field) or "").casefold()
        if wish and any(word in wish for word in asks):
            for case in models(context):
                yield Feature(case.name, job, case.card, feature)


def flash_jobs(context: Context) -> Iterator[Feature]:
    """Jobs that ask for FlashAttention, of version 1 or 3 where they say so; vLLM serves version 3
    on fewer GPUs."""
    for case in _features(context, "flash-attention-2", {"flash"}, "attention"):
        named = next((digit for digit in "13" if digit in (case.job.workload.attention or "")), "2")
        engine = "-vllm" if named == "3" and "vllm" in (case.job.workload.stack or "") else ""
        yield replace(case, feature=f"flash-attention-{named}{engine}")


def bf16_jobs(context: Context) -> Iterator[Feature]:
    """Jobs in bf16."""
    return _features(context, "bf16", {"bf16", "bfloat16"}, "precision")


def fp8_jobs(context: Context) -> Iterator[Feature]:
    """Jobs in FP8."""
    return _features(context, "fp8", {"fp8"}, "precision")


def fp16_jobs(context: Context) -> Iterator[Feature]:
    """Jobs in fp16."""
    return _features(context, "fp16", {"fp16", "float16", "half"}, "precision")


def fp4_jobs(context: Context) -> Iterator[Feature]:
    """Jobs in FP4."""
    return _features(context, "fp4", {"fp4"}, "precision")


ENGINES = {
    "vllm": "vLLM",
    "ollama": "Ollama",
    "tensorrt-llm": "TensorRT-LLM",
    "exllamav3": "ExLlamaV3",
    "sglang": "SGLang",
}
"""Serving engines that refuse old generations, by what a stack's slug holds."""


def engine_jobs(context: Context) -> Iterator[Feature]:
    """Jobs that run on such an engine."""
    for engine in ENGINES:
        yield from _features(context, engine, {engine}, "stack")


QUANTISED = ("marlin", "awq", "gptq", "w4a16", "mxfp4")
"""Methods whose kernels want a generation, as a workload's `quant` names them; the first that it
holds counts."""
OF_VLLM = ("mxfp4",)
"""Methods of which only vLLM's kernels are meant: llama.cpp computes them on any card."""


def quantised_jobs(context: Context) -> Iterator[Feature]:
    """Serving jobs with weights quantised by a method whose kernels are built for some generations
    only."""
    for job in context.jobs:
        wish = str(job.workload.quant or "").casefold().replace("compressed-tensors", "w4a16")
        method = next((word for word in QUANTISED if word in wish), None)
        elsewhere = method in OF_VLLM and "vllm" not in (job.workload.stack or "").casefold()
        if method is not None and not elsewhere and "train" not in (job.workload.task or "train"):
            for case in models(context):
                yield Feature(case.name, job, case.card, method)


def compiled_jobs(context: Context) -> Iterator[Feature]:
    """Jobs whose code PyTorch compiles."""
    for job in context.jobs:
        if "compile" in job.workload.flags or "compile" in (job.workload.stack or ""):
            for case in models(context):
                yield Feature(case.name, job, case.card, "triton")


def _lacks(case: Feature) -> str | None:
    return lacks(case.card, case.feature)


def lacks(card: GPU, feature: str) -> str | None:
    """Return the lowest compute capability that has a kernel or data type when the card has it
    not."""
    row = next(row for row in software().kernels if row.feature == feature)
    capability = card.compute_capability or ""
    return (
        None
        if capability in row.also or between(capability, row.lowest, row.highest)
        else row.lowest
    )


def _change(context: Context, case: Feature, code: str, **fields: Any) -> tuple[Fix, ...]:
    edit = Edit("change_workload", {"index": case.job.index, **fields})
    return (fix(context, code, edit, **fields),) if fits_after(context, case.job, **fields) else ()


def _narrow_floats(entry: Rule, context: Context, case: Feature) -> Iterator[Finding]:
    """An error in training; a warning in inference, where the weights alone may be stored so."""
    needed = _lacks(case)
    if needed:
        serving = "train" not in (case.job.workload.task or "train")
        precision = "bf16" if between(case.card.compute_capability or "", "8.0", None) else "fp16"
        yield entry.finding(
            case,
            "warning" if serving else "error",
            needed=needed,
            actual=case.card.compute_capability,
            fixes=_change(context, case, "other-precision", precision=precision),
        )


@rule(
    "SW006",
    "FlashAttention does not run on the GPU",
    "error",
    over=flash_jobs,
    needs=("card.compute_capability",),
    reason=(
        "FlashAttention 2 wants Ampere or newer; other attention kernels work but take more memory."
    ),
    source="Dao-AILab/flash-attention, requirements",
)
def flash_attention(context: Context, case: Feature) -> Iterator[Finding]:
    """Compare compute capabilities."""
    needed = _lacks(case)
    if needed:
        yield flash_attention.finding(
            case,
            needed=needed,
            actual=case.card.compute_capability,
            fixes=_change(context, case, "other-attention", attention="sdpa"),
        )


@rule(
    "SW007",
    "bf16 is only emulated on the GPU",
    "warning",
    may_err=True,
    over=bf16_jobs,
    needs=("card.compute_capability",),
    reason=(
        "Below compute capability 8.0 bf16 has no matrix units: PyTorch emulates it slowly, vLLM"
        " and compiled code refuse it."
    ),
    source="PyTorch pull request 148322; vLLM issue 946",
)
def bf16(context: Context, case: Feature) -> Iterator[Finding]:
    """An error for stacks that refuse it."""
    needed = _lacks(case)
    if needed:
        precision = (
            str(case.job.workload.precision).replace("bfloat16", "bf16").replace("bf16", "fp16")
        )
        refuses = "vllm" in (case.job.workload.stack or "")
        yield bf16.finding(
            case,
            "error" if refuses else "warning",
            needed=needed,
            actual=case.card.compute_capability,
            fixes=_change(context, case, "other-precision", precision=precision),
        )


@rule(
    "SW008",
    "FP8 does not run on the GPU",
    "error",
    over=fp8_jobs,
    needs=("card.compute_capability",),
    reason=(
        "FP8 matrix units came with Ada and Hopper (compute capability 8.9); serving can still"
        " store FP8 weights on older cards."
    ),
    source="Transformer Engine issue 1159",
)
def fp8(context: Context, case: Feature) -> Iterator[Finding]:
    """A warning for inference, where weights alone may be FP8."""
    return _narrow_floats(fp8, context, case)


@rule(
    "SW011",
    "fp16 brings no speed on the GPU",
    "warning",
    over=fp16_jobs,
    needs=("card.compute_capability",),
    reason=(
        "Before Volta only P100-class chips and Jetsons compute in fp16 at speed: GeForce 10 and"
        " Tesla P40 do two results per clock and SM, older ones none; fp16 then saves memory, not"
        " time."
    ),
    source="CUDA C programming guide, throughput of arithmetic instructions",
)
def fp16(context: Context, case: Feature) -> Iterator[Finding]:
    """Compare compute capabilities."""
    needed = _lacks(case)
    if needed:
        saved = _saved(context, case)
        yield fp16.finding(
            case,
            needed=needed,
            actual=case.card.compute_capability,
            fixes=_change(context, case, "other-precision", precision="fp32"),
            variant="saves" if saved else "",
            saved_gib=saved,
        )


def _saved(context: Context, case: Feature) -> float:
    """GiB of a GPU's memory that fp16 saves against fp32; 0 where it is not known or none."""
    wide = replace(case.job.workload, precision="fp32")
    need = context.estimate(wide, case.card, 1) if context.estimate else None
    if need is None or isinstance(need, str) or not case.job.memory:
        return 0.0
    return max(0.0, round(need.device_gib - case.job.memory[0].device_gib, 1))


@rule(
    "SW012",
    "FP4 does not run on the GPU",
    "error",
    over=fp4_jobs,
    needs=("card.compute_capability",),
    reason=(
        "FP4 matrix units came with Blackwell; serving can still store FP4 weights on older cards."
        " Training recipes round and rotate with instructions that only Blackwell's data-centre"
        " chips (10.x) have."
    ),
    source=(
        "NVIDIA CUDA toolkit release notes, Blackwell support; NVIDIA/TransformerEngine issue 2255"
    ),
)
def fp4(context: Context, case: Feature) -> Iterator[Finding]:
    """A warning for inference, where weights alone may be FP4, and for training on Blackwell's
    workstation and GeForce chips."""
    yield from _narrow_floats(fp4, context, case)
    capability = case.card.compute_capability or ""
    if "train" in (case.job.workload.task or "") and between(capability, "12.0", None):
        yield fp4.finding(case, "warning", needed="10.0", actual=capability, variant="recipe")


@rule(
    "SW013",
    "Serving engine does not support the GPU",
    "error",
    over=engine_jobs,
    needs=("card.compute_capability",),
    reason=(
        "Binaries of vLLM are built for Volta and newer, and for Linux (on Windows it runs in WSL"
        " 2); TensorRT-LLM and SGLang begin with Turing, ExLlamaV3 with Ampere, Ollama with"
        " Maxwell."
    ),
    source=(
        "vLLM documentation, requirements; NVIDIA/TensorRT-LLM issue 2400; theroyallab/tabbyAPI"
        " pull request 463; ollama issue 9124; opendatalab/MinerU issue 3416"
    ),
)
def engine(context: Context, case: Feature) -> Iterator[Finding]:
    """Compare compute capabilities; one more finding where the rig names Windows and the engine is
    vLLM."""
    needed, system = _lacks(case), context.rig.settings.software.get("os", "").casefold()
    if needed:
        yield engine.finding(
            case, needed=needed, actual=case.card.compute_capability, engine=ENGINES[case.feature]
        )
    elif case.feature == "vllm" and "windows" in system and "wsl" not in system:
        edit = Edit("set_software", {"versions": {"os": "Linux"}})
        yield engine.finding(
            case,
            fixes=(fix(context, "other-version", edit, versions={"os": "Linux"}),),
            variant="windows",
        )


@rule(
    "SW017",
    "Kernels of the quantised weights do not run on the GPU",
    "error",
    over=quantised_jobs,
    needs=("card.compute_capability",),
    reason=(
        "Kernels for AWQ, Marlin and 4-bit compressed tensors use instructions of Turing or Ampere;"
        " serving engines refuse older GPUs. GGUF files and plain GPTQ run further down."
    ),
    source="vLLM issues 1488, 4202 and 25022; vllm-project/llm-compressor issue 1258",
)
def quantised(context: Context, case: Feature) -> Iterator[Finding]:
    """Compare compute capabilities; a warning on Turing, where newer engines take some of these
    files."""
    needed = _lacks(case)
    if needed:
        turing = case.feature == "w4a16" and case.card.compute_capability == "7.5"
        yield quantised.finding(
            case,
            "warning" if turing else "error",
            needed=needed,
            actual=case.card.compute_capability,
            method=case.feature.upper() if case.feature != "marlin" else "Marlin",
        )


@rule(
    "SW018",
    "Compiled code does not run on the GPU",
    "error",
    over=compiled_jobs,
    needs=("card.compute_capability",),
    reason=(
        "torch.compile makes its kernels with Triton, which supports Volta and newer. It brings "
        "an assembler of its own, which supports the chips of DGX Spark and Jetson Thor since "
        "PyTorch 2.10."
    ),
    source=(
        "karpathy/nanoGPT issue 157; MIC-DKFZ/nnUNet issue 2188; vLLM issue 14547 and pull request"
        " 32704"
    ),
)
def compiled(context: Context, case: Feature) -> Iterator[Finding]:
    """Compare compute capabilities, and the PyTorch release that the rig names with the first whose
    assembler knows the chip."""
    needed, capability = _lacks(case), case.card.compute_capability
    named = context.rig.settings.software.get("pytorch", "")
    row = next((row for row in software().assemblers if row.capability == capability), None)
    if needed:
        yield compiled.finding(
            case, needed=needed, actual=capability, fixes=_plainly(context, case)
        )
    elif row is not None and version(named) and version(named)[:2] < version(row.pytorch):
        fixes = (*name_software(context, pytorch=row.pytorch), *_plainly(context, case))
        yield compiled.finding(
            case,
            needed=row.pytorch,
            actual=named,
            fixes=fixes,
            variant="assembler",
            capability=capability,
        )


def _plainly(context: Context, case: Feature) -> tuple[Fix, ...]:
    """Offer to run a job's code as it is written, where a flag of its own has it compiled."""
    flags = [flag for flag in case.job.workload.flags if flag != "compile"]
    change = Edit("change_workload", {"index": case.job.index, "flags": flags})
    plain = "compile" in case.job.workload.flags and "compile" not in (
        case.job.workload.stack or ""
    )
    return (fix(context, "without-compile", change),) if plain else ()
