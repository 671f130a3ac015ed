"""Engines and formats of weights: what an engine runs slowly on a GPU, or does not run."""

from collections.abc import Iterator

from msgspec import Struct

from rigplanner.catalog.schema.parts import GPU
from rigplanner.performance.software.readiness import (
    How,
    format_of,
    readiness_source,
    ready,
    rows_for,
)
from rigplanner.rules.core.context import Context, JobFacts
from rigplanner.rules.core.finding import Finding, Severity
from rigplanner.rules.core.registry import rule


class Asked(Struct, frozen=True):
    """A job's engine and format of weights, and a GPU model; `files` is the family of the
    format."""

    name: str
    job: JobFacts
    card: GPU
    files: str

    @property
    def subjects(self) -> tuple[str, ...]:
        return (self.job.name, self.name)

    @property
    def capability(self) -> str | None:
        """The chip's compute capability, "any" where it decides nothing."""
        rows = rows_for(self.job.workload.stack or "", self.card, self.files)
        decides = any(row.asks_capability for row in rows)
        return self.card.compute_capability if decides else "any"


def asked_formats(context: Context) -> Iterator[Asked]:
    """Jobs whose engine and format are told, of whom some row knows that they differ somewhere."""
    from rigplanner.catalog.zoo import shipped_zoo
    from rigplanner.workload.stored import formatted

    for job in context.jobs:
        work = formatted(job.workload, shipped_zoo()).workload
        files = format_of(work.precision, work.quant)
        seen: set[str] = set()
        for card in context.that_work(context.cards) if files and job.workload.stack else ():
            known = rows_for(job.workload.stack or "", card.card, files or "")
            if known and card.card.id not in seen:
                seen.add(card.card.id)
                yield Asked(card.name, job, card.card, files or "")


TOLD: dict[How, tuple[Severity, str]] = {
    "none": ("error", ""),
    "slow": ("warning", "slow"),
    "weight-only": ("info", "stored"),
}
"""Severity and wording of each state."""


@rule(
    "SW024",
    "The engine is not ready for this format on the GPU",
    "error",
    over=asked_formats,
    needs=("capability",),
    reason=(
        "An engine loads the formats that it has code for, and a young GPU may lack the fast"
        " kernels for one of them: the job is refused, or runs several times slower than with"
        " another engine."
    ),
    source="vLLM, llama.cpp, bitsandbytes: documentation and issues (catalog/benchmarks/readiness)",
)
def readiness(context: Context, case: Asked) -> Iterator[Finding]:
    """An error where the engine refuses the job; a warning where it falls back, a note where the
    weights are only stored so."""
    from rigplanner.catalog.zoo import shipped_zoo
    from rigplanner.workload.stored import formatted

    work = formatted(case.job.workload, shipped_zoo()).workload
    found = ready(work.stack or "", case.card, work.precision, work.quant)
    if found is None or found.how == "native":
        return
    severity, variant = TOLD[found.how]
    yield readiness.finding(
        case,
        severity,
        variant=variant,
        stack=work.stack,
        files=case.files.upper() if case.files != "bnb" else "bitsandbytes",
        title=readiness_source(found).title,
    )
