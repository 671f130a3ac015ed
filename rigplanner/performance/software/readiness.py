"""Is an engine ready for weights of a format on a GPU: natively, weight-only, slowly, or not?"""

from functools import cache
from typing import Literal

from msgspec import Struct

from rigplanner.catalog.schema.parts import GPU
from rigplanner.data import data_path
from rigplanner.decoding import read_json
from rigplanner.evidence import Source
from rigplanner.workload.quant import GGUF

How = Literal["native", "weight-only", "slow", "none"]


class Ready(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How some stacks run weights of some formats on chips of `makers` (all where none is named):
    NVIDIA's `below` a compute capability, or `only` the capabilities named. `share`: of the speed
    that physics tells, where it was measured."""

    stacks: tuple[str, ...]
    formats: tuple[str, ...]
    how: How
    source: str
    makers: tuple[str, ...] = ()
    below: str | None = None
    only: tuple[str, ...] = ()
    share: float | None = None

    @property
    def asks_capability(self) -> bool:
        """Whether the chip's compute capability decides."""
        return bool(self.below or self.only)


class _File(Struct, forbid_unknown_fields=True):
    note: str
    sources: dict[str, Source]
    rows: tuple[Ready, ...]


@cache
def _file() -> _File:
    return read_json((data_path("catalog") / "benchmarks" / "readiness.json").read_bytes(), _File)


def readiness_rows() -> tuple[Ready, ...]:
    """Return all rows, the first that fits counts."""
    return _file().rows


def readiness_source(row: Ready) -> Source:
    """Return where a row was read."""
    return _file().sources[row.source]


def format_of(precision: str | None, quant: str | None) -> str | None:
    """Return the family of files that a stored type and a way of quantising mean: gguf, awq, gptq,
    bnb, exl, or the type itself where it is a float of 8 or 4 bits; None for others."""
    word, way = (precision or "").casefold(), (quant or "").casefold()
    if way.startswith(("exl2", "exl3")):
        return "exl"
    named = next((name for name in ("awq", "gptq", "bnb") if name in way), None)
    if named or "bitsandbytes" in way:
        return named or "bnb"
    if word in GGUF:
        return "gguf"
    if word == "nf4":
        return "bnb"
    return word if word in ("fp8", "mxfp8", "mxfp4", "nvfp4") else None


def ready(stack: str, gpu: GPU, precision: str | None, quant: str | None) -> Ready | None:
    """Return how a stack runs a format on a GPU; None where nothing is known to differ from native,
    or the GPU's capability, which would decide, is not known."""
    files = format_of(precision, quant)
    if files is None:
        return None
    capability = gpu.compute_capability
    for row in rows_for(stack, gpu, files):
        if not row.asks_capability or (capability and _holds(row, capability)):
            return row
    return None


def rows_for(stack: str, gpu: GPU, files: str) -> tuple[Ready, ...]:
    """Return the rows that may hold for a stack and a format on chips of the GPU's maker."""
    word = stack.casefold()
    return tuple(
        row
        for row in readiness_rows()
        if word in row.stacks
        and files in row.formats
        and (not row.makers or gpu.chip_maker in row.makers)
    )


def _holds(row: Ready, capability: str) -> bool:
    if row.only:
        return capability in row.only
    return row.below is not None and _number(capability) < _number(row.below)


def _number(capability: str) -> tuple[int, ...]:
    """A compute capability as numbers; AMD's targets are none and lie above all."""
    parts = capability.split(".")
    return tuple(map(int, parts)) if all(part.isdigit() for part in parts) else (99,)
