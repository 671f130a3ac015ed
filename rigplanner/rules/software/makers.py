"""GPUs of several makers: software that runs on one maker's only, targets of AMD, number formats
without units."""

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.schema.parts import GPU
from rigplanner.performance.without_network.edge import is_int8_only
from rigplanner.rig.edits import Edit
from rigplanner.rules.core.context import Context, JobFacts
from rigplanner.rules.core.finding import Finding, Fix, Severity
from rigplanner.rules.core.fixes import fix
from rigplanner.rules.core.recheck import fits_after
from rigplanner.rules.core.registry import rule
from rigplanner.rules.software.tables import MakerRow, software, version

TITLES = {
    "cuda": "CUDA", "rocm": "ROCm", "ngc": "NVIDIA NGC", "driver": "NVIDIA driver", "vllm": "vLLM",
    "tensorrt-llm": "TensorRT-LLM", "exllamav3": "ExLlamaV3", "flash-attention": "FlashAttention",
    "bitsandbytes": "bitsandbytes",
}  # fmt: skip
PLATFORMS = ("cuda", "rocm", "driver")
OLDEST_BRANCH = 100
"""NVIDIA has numbered its drivers by three digits since 2007; the versions of AMD's and Intel's
begin with one or two."""
NETWORKS = "networks"
"""In the place of a format: floating point at all."""
FORMATS = {"bf16": ("bf16", "bfloat16"), "fp8": ("fp8",), "fp4": ("fp4",)}
"""Number formats by how a job's precision names them."""


class Foreign(Struct, frozen=True):
    """A GPU model and the software that the rig names, in its setting `key`, or a job asks for."""

    name: str
    card: GPU
    row: MakerRow
    job: JobFacts | None = None
    key: str = ""

    @property
    def subjects(self) -> tuple[str, ...]:
        return (self.name,) if self.job is None else (self.name, self.job.name)


def _models(context: Context) -> dict[str, tuple[str, GPU]]:
    """Return the first piece of each GPU model by its id."""
    found: dict[str, tuple[str, GPU]] = {}
    for card in context.that_work(context.cards):
        found.setdefault(card.card.id, (card.name, card.card))
    return found


def foreign(context: Context) -> Iterator[Foreign]:
    """Platforms that the rig names, and what its jobs run on, with each GPU model they are said to
    serve or not."""
    rows = {row.what: row for row in software().makers}
    for key, what in _platforms(context.rig.settings.software):
        row = _of_release(rows[what], context.rig.settings.software[key])
        cards = _models(context).values()
        if not any(card.chip_maker in row.makers for _, card in cards):
            yield from (Foreign(name, card, row, key=key) for name, card in cards)
    for job in context.jobs:
        stack, attention = (
            (job.workload.stack or "").casefold(),
            (job.workload.attention or "").casefold(),
        )
        asked = [row for what, row in rows.items() if what in stack and what not in PLATFORMS]
        asked += [rows["flash-attention"]] if "flash" in attention else []
        yield from (
            Foreign(name, card, row, job)
            for row in asked
            for name, card in _models(context).values()
        )


def _of_release(row: MakerRow, release: str) -> MakerRow:
    """Return a row with those makers alone whose GPUs a release serves already."""
    numbers = version(release)
    late = {maker for maker, since in row.since.items() if numbers and numbers < version(since)}
    return replace(row, makers=tuple(maker for maker in row.makers if maker not in late))


def _platforms(named: dict[str, str]) -> Iterator[tuple[str, str]]:
    """The settings that stand for one maker's platform, each with what it stands for."""
    for key, release in named.items():
        numbers = version(release)
        if key in ("cuda", "rocm", "bitsandbytes"):
            yield key, key
        elif key.startswith("ngc-"):
            yield key, "ngc"
        elif key == "driver" and numbers and numbers[0] >= OLDEST_BRANCH:
            yield key, "driver"
        elif key == "pytorch" and "+" in release:
            yield from (
                (key, what)
                for mark, what in (("+cu", "cuda"), ("+rocm", "rocm"))
                if mark in release
            )


@rule(
    "SW021",
    "Software does not run on GPUs of this maker",
    "error",
    over=foreign,
    reason=(
        "CUDA, NVIDIA's driver, its NGC images and TensorRT-LLM are for NVIDIA, ROCm is for AMD. "
        "bitsandbytes supports Intel's from 0.48, Apple's from 0.50 on. vLLM and FlashAttention "
        "support AMD's newer targets: both leave Vega (gfx906: MI50, MI60, Radeon VII) and cards "
        "before RDNA 3 out; forks of others exist. ExLlamaV3 serves RDNA, no Instinct."
    ),
    source=(
        "bitsandbytes, release notes of 0.48.0, installation guide of 0.50; vLLM, requirements of"
        " ROCm; vllm-project/vllm pull request 33811; ROCm/triton issue 461; ROCm/flash-attention"
        " issue 27; theroyallab/tabbyAPI wiki, ROCm"
    ),
)
def one_maker(context: Context, case: Foreign) -> Iterator[Finding]:
    """Compare the maker, and AMD's target where the software has a list of them."""
    row, capability, what = case.row, case.card.compute_capability, TITLES[case.row.what]
    if case.card.chip_maker not in row.makers:
        yield one_maker.finding(
            case, needed=", ".join(row.makers), fixes=_instead(context, case), what=what
        )
    elif row.targets and case.card.chip_maker == "AMD" and capability is None:
        yield one_maker.unknown(case, f"{case.card.id}:compute_capability")
    elif row.targets and case.card.chip_maker == "AMD" and capability not in row.targets:
        yield one_maker.finding(
            case,
            needed=" ".join(row.targets),
            actual=capability,
            fixes=_instead(context, case),
            variant="target",
            what=what,
        )


def _instead(context: Context, case: Foreign) -> tuple[Fix, ...]:
    """Without the setting, or another attention."""
    if case.key:
        edit = Edit("set_software", {"versions": {case.key: ""}})
        return (fix(context, "forget", edit, word=case.key),)
    if case.row.what != "flash-attention" or case.job is None:
        return ()
    edit = Edit("change_workload", {"index": case.job.index, "attention": "sdpa"})
    return (fix(context, "other-attention", edit, attention="sdpa"),)


class Format(Struct, frozen=True):
    """A job in a number format, and a GPU model of another maker than NVIDIA."""

    name: str
    job: JobFacts
    card: GPU
    format: str

    @property
    def subjects(self) -> tuple[str, ...]:
        return (self.job.name, self.name)


def formats(context: Context) -> Iterator[Format]:
    """Jobs in a format that not every GPU has, with each such GPU model; jobs that need floating
    point with each device that has none."""
    for job in context.jobs:
        trains = (job.workload.task or "inference") != "inference"
        if trains or any(estimate.parts.kv_cache_gib for estimate in job.memory):
            for name, card in _models(context).values():
                if is_int8_only(card):
                    yield Format(name, job, card, NETWORKS)
        wish = str(job.workload.precision or "").casefold()
        asked = [name for name, words in FORMATS.items() if any(word in wish for word in words)]
        for name, card in _models(context).values() if asked else ():
            if card.chip_maker != "NVIDIA":
                yield from (Format(name, job, card, one) for one in asked)


@rule(
    "SW022",
    "GPU has no units for the number format",
    "warning",
    may_err=True,
    over=formats,
    reason=(
        "Vega and RDNA 2 emulate bf16; FP8 came with MI300 and RDNA 4, FP4 with MI350; Arc has"
        " neither. Training in a format without units fails or crawls; serving may still store"
        " weights in it. Devices that compute in int8 alone run networks that were converted for"
        " them; they train none and hold no language model."
    ),
    source="AMD, Intel, Google, Hailo: specifications and instruction sets of the chips",
)
def no_units(context: Context, case: Format) -> Iterator[Finding]:
    """An error for training in FP8 and FP4; unknown for a GPU whose rate in the format is not
    known, an error for what converted networks of int8 are not."""
    if case.format == NETWORKS:
        yield no_units.finding(case, "error", variant=NETWORKS, format="fp32")
    elif case.format in case.card.unsupported:
        training = "train" in (case.job.workload.task or "train")
        severity: Severity = "error" if training and case.format != "bf16" else "warning"
        precision = "fp16" if "bf16" in case.card.unsupported else "bf16"
        edit = Edit("change_workload", {"index": case.job.index, "precision": precision})
        fits = fits_after(context, case.job, precision=precision)
        fixes = (fix(context, "other-precision", edit, precision=precision),) if fits else ()
        yield no_units.finding(case, severity, fixes=fixes, format=case.format)
    elif getattr(case.card.dense_tflops, case.format, None) is None:
        yield no_units.unknown(case, f"{case.card.id}:dense_tflops.{case.format}")
