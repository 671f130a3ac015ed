"""Number formats and generations of GPUs as tables of words."""

from collections.abc import Sequence

from rigplanner.planning.formats import FORMATS, Format, OnCard
from rigplanner.planning.generations import Generation
from rigplanner.report.format import number, quantity
from rigplanner.report.language import Words, listed, tr

HOW_WORDS = Words(
    {
        "matrix": "matrix units",
        "shaders": "ordinary units",
        "slow": "a token of its FP32 rate",
        "emulated": "emulated; vLLM and compiled code refuse it",
        "stored": "weights may be stored so, computed in another format",
        "none": "no such arithmetic",
        "unknown": "not known",
    }
)
USE_WORDS = Words(
    {
        "fp64": "science; deep learning loses nothing by fp32",
        "fp32": "safe everywhere; weights that train",
        "tf32": "fp32's range with fp16's steps, as matrix units multiply fp32",
        "fp16": "fine steps, small range: training scales its loss",
        "bf16": "fp32's range with coarse steps: training needs no scaling",
        "fp8": "training and serving with scales per tensor or block",
        "fp4": "weights and serving with scales per block (MXFP4, NVFP4)",
        "int8": "serving; weights and activations with scales",
        "int4": "weights alone (AWQ, GPTQ, llama.cpp)",
    }
)


def bits_text(each: Format) -> str:
    """Return the bits of a format: sign + exponent + mantissa."""
    return f"1+{each.exponent}+{each.mantissa}" if each.exponent else f"1+{each.mantissa}"


def range_text(each: Format) -> str:
    """Return the largest value and the smallest normal one."""
    if each.smallest is None:
        return f"±{each.largest:g}"
    return f"{each.smallest:.2g} … {each.largest:.3g}"


def format_heads(card: str | None) -> tuple[str, ...]:
    """Return the heads of the table of formats; `card` names the chosen GPU."""
    heads = (tr("Format"), tr("Bits"), tr("Range"), tr("Step at 1"), tr("From"), tr("For"))
    return (*heads, card) if card else heads


def format_rows(found: Sequence[OnCard] = ()) -> list[tuple[str, ...]]:
    """Return a row for each format, with what the chosen GPU does in the last column."""
    on = {each.format.name: each for each in found}
    rows: list[tuple[str, ...]] = []
    for each in FORMATS:
        told = (
            each.name,
            bits_text(each),
            range_text(each),
            f"{each.step:.2g}" if each.step else "1",
            each.capability or "",
            USE_WORDS[each.name],
        )
        rows.append((*told, card_text(on[each.name])) if on else told)
    return rows


def card_text(found: OnCard) -> str:
    """Return what a GPU does with a format: its rate and how."""
    if found.tflops is None:
        return HOW_WORDS[found.how]
    unit = "TOPS" if not found.format.exponent else "TFLOPS"
    told = f"{quantity(found.tflops, unit)}, {HOW_WORDS[found.how]}"
    if found.format.name == "fp16" and found.how == "slow":
        return tr("{told}: saves memory, not time", told=told)
    return told


def generation_heads() -> tuple[str, ...]:
    """Return the heads of the table of generations."""
    return (
        tr("Generation"), tr("Years"), tr("Compute capability"), tr("Most memory"),
        tr("Most bandwidth"), tr("Matrix units"), tr("PCIe"), tr("NVLink"), tr("Driver"),
        tr("CUDA"),
    )  # fmt: skip


def generation_rows(found: Sequence[Generation]) -> list[tuple[str, ...]]:
    """Return a row for each generation."""
    return [
        (
            each.name,
            _span(each.first_year, each.last_year),
            ", ".join(each.capabilities),
            quantity(each.memory_gib, "GiB"),
            f"{quantity(each.bandwidth_gbs, 'GB/s', 0)} ({each.widest})",
            listed(each.units) if each.units else tr("none"),
            ", ".join(f"{gen}.0" for gen in each.pcie),
            ", ".join(number(gen) for gen in each.nvlink) or tr("none"),
            _served(each.driver_first, each.driver_last),
            _dropped(each.cuda_first, each.cuda_last),
        )
        for each in found
    ]


def _span(first: str | None, last: str | None) -> str:
    return first or "" if first == last else f"{first}–{last}"


def _served(first: str | None, last: str | None) -> str:
    if first is None:
        return ""
    if last is None:
        return tr("from {first} on", first=first)
    return tr("{first} to {last}", first=first, last=last)


def _dropped(first: str | None, dropped: str | None) -> str:
    if first is None:
        return tr("up to, not with, {last}", last=dropped) if dropped else ""
    if dropped is None:
        return tr("from {first} on", first=first)
    return tr("{first} up to, not with, {last}", first=first, last=dropped)
