"""RigPlanner from Python: for notebooks, scripts and servers; no window is loaded.

    >>> from rigplanner import api
    >>> rig = api.load_rig("lab.rig")
    >>> api.check(rig).verdict
    'ok'
    >>> api.table(api.performance(rig))[["workload", "metric", "value", "low", "high"]]

Answers are frozen dataclasses; `table` makes a pandas table of several. All figures are those of
the window and the commands. Functions are pure but `load_rig` and `quote`, and may be called from
several threads."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from rigplanner.catalog.imports.user_catalog import full_catalog
from rigplanner.memory.usable_memory import usable_gib
from rigplanner.report.words.findings import finding_text, rule_title, subject_name
from rigplanner.report.words.workloads import title_of
from rigplanner.rig.document import Rig
from rigplanner.rig.files import RigFault, read_rig
from rigplanner.rules.assess import Assessment, Job, assess

if TYPE_CHECKING:
    import pandas

    from rigplanner.performance.answer import SpeedEstimate
    from rigplanner.planning.best.answer import Answer
    from rigplanner.planning.best.question import Objective
    from rigplanner.rig.workload import Workload

MOST_MONEY = 1e9

__all__ = [
    "Best",
    "Check",
    "Finding",
    "Memory",
    "Rig",
    "RigFault",
    "Speed",
    "best",
    "check",
    "load_rig",
    "memory",
    "performance",
    "quote",
    "table",
]


@dataclass(frozen=True)
class Finding:
    """What one rule says: its stable `code`, how grave it is (error, unknown, warning, info), the
    parts that it speaks of, and a sentence."""

    code: str
    severity: str
    title: str
    subjects: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class Check:
    """What all rules say of a rig. `verdict` is the gravest severity among the findings: error,
    unknown, warning, or ok; waived findings are not among them."""

    verdict: str
    findings: tuple[Finding, ...]
    unverified: int
    """Figures that decide and that nobody verified, of `deciding` ones."""
    deciding: int


@dataclass(frozen=True)
class Memory:
    """What one workload takes on one GPU, in GiB as nvidia-smi shows it, with the 80 % interval.
    Where it cannot be told the figures are None and `fault` says why."""

    workload: str
    gpu: str
    device_gib: float | None
    low_gib: float | None
    high_gib: float | None
    room_gib: float | None
    fault: str


@dataclass(frozen=True)
class Speed:
    """How fast one workload runs on the whole rig, in `metric`, with the 80 % interval, the
    software stack that it holds for and what limits it. Where it cannot be told the figures are
    None and `fault` says why."""

    workload: str
    metric: str
    value: float | None
    low: float | None
    high: float | None
    stack: str
    bound: str
    fits: str
    fault: str


@dataclass(frozen=True)
class Best:
    """The best of all `rigs` that parts with a price make: the rig (None where nothing within the
    budget does it), its price in `currency`, how fast it does each work, and whether it is `proven`
    that there is no better one. `sound`: no error, no warning that another part would mend, nothing
    unknown that decides. `text` says it in a sentence."""

    rig: Rig | None
    price: float | None
    currency: str
    speeds: tuple[Speed, ...]
    rigs: int
    proven: bool
    sound: bool
    text: str


def load_rig(path: str | Path) -> Rig:
    """Return the rig in a file. Raises RigFault, which says what is wrong with it and where."""
    return read_rig(Path(path))


def check(rig: Rig, today: date | None = None) -> Check:
    """Return what all rules say of the rig; `today` ends waivers (default: today)."""
    catalog = full_catalog().catalog
    report = _assessment(rig, today).report
    findings = tuple(
        Finding(
            code=finding.code,
            severity=finding.severity,
            title=rule_title(finding.code),
            subjects=tuple(subject_name(name, rig, catalog) for name in finding.subjects),
            text=finding_text(finding, rig, catalog),
        )
        for finding in report.findings
    )
    return Check(
        verdict=report.verdict(),
        findings=findings,
        unverified=len(report.unverified),
        deciding=len(report.deciding),
    )


def memory(rig: Rig) -> tuple[Memory, ...]:
    """Return what each workload of the rig takes on each GPU that it uses."""
    found = _assessment(rig)
    gpus = [node.gpu for node in found.machine.gpus]
    rows: list[Memory] = []
    for job in found.jobs:
        if not job.memory:
            rows.append(_no_memory(job))
        for gpu, need in zip(gpus, job.memory, strict=False):
            rows.append(
                Memory(
                    workload=title_of(job.workload),
                    gpu=gpu.name,
                    device_gib=need.device_gib,
                    low_gib=need.low_gib,
                    high_gib=need.high_gib,
                    room_gib=usable_gib(gpu),
                    fault="",
                )
            )
    return tuple(rows)


def performance(rig: Rig) -> tuple[Speed, ...]:
    """Return how fast each workload of the rig runs."""
    return tuple(_speed(job) for job in _assessment(rig).jobs)


def best(
    works: Sequence[str],
    budget: float | None = None,
    currency: str = "USD",
    country: str = "",
    objective: "Objective" = "fastest",
    used: bool = False,
    today: date | None = None,
) -> Best:
    """Return the best rig for works in words (`"llama-3.1-8b task=train_qlora"`, or a purpose as
    `"vision"`) and a budget, at the prices of `today`; `used` lets used parts count. Raises
    ValueError for what cannot be asked."""
    from typing import get_args

    from rigplanner.catalog.imports.user_catalog import newest_rates
    from rigplanner.catalog.prices.exchange import convert
    from rigplanner.cli.commands.best import site_of, wants_of
    from rigplanner.cli.faults import InputFault
    from rigplanner.planning.best.answer import best_rig
    from rigplanner.planning.best.question import Objective, Question

    rates = newest_rates()
    if not works:
        raise ValueError("works: expected at least one.")
    if budget is not None and not 0 < budget < MOST_MONEY:
        raise ValueError(f"budget: expected an amount above 0, found {budget:g}.")
    if objective not in get_args(Objective):
        raise ValueError(f"objective: expected {get_args(Objective)}, found {objective!r}.")
    if convert(1.0, "USD", currency, rates) is None:
        raise ValueError(f"currency: no rate leads from USD to {currency!r}.")
    try:
        wants, site = wants_of(works), site_of(country)
    except InputFault as fault:
        raise ValueError(str(fault)) from fault
    question = Question(
        wants=wants,
        objective=objective,
        budget=budget,
        currency=currency,
        site=site,
        rates=rates,
        used=used,
    )
    day = (today or date.today()).isoformat()
    return _told(best_rig(question, full_catalog().catalog, day))


def _told(answer: "Answer") -> Best:
    from rigplanner.report.words.best import headline

    found = answer.best
    pairs = zip(found.score.works, found.score.speeds, strict=True) if found else ()
    return Best(
        rig=found.rig if found else None,
        price=found.price if found else None,
        currency=answer.question.currency,
        speeds=tuple(_speed_of(work, speed) for work, speed in pairs),
        rigs=answer.total,
        proven=answer.gap is None,
        sound=answer.strictness == "sound" and found is not None,
        text=headline(answer),
    )


def quote(rig: Rig, path: str | Path, paper: str = "A4", day: date | None = None) -> Path:
    """Write the quote as PDF on "A4" or "Letter" paper, dated `day` where the rig names no date;
    return where it lies. Raises ValueError for another paper, OSError where it cannot be written.
    """
    from rigplanner.report.quote.pdf import quote_pdf
    from rigplanner.whole_file import write_whole

    if paper not in ("A4", "Letter"):
        raise ValueError(f'paper: expected "A4" or "Letter", found {paper!r}.')
    target = Path(path)
    write_whole(target, quote_pdf(_assessment(rig, day), full_catalog().catalog, day, paper))
    return target


def table(answers: "Sequence[Memory] | Sequence[Speed] | Sequence[Finding]") -> "pandas.DataFrame":
    """Return a table of one row for each answer, its columns named as the fields."""
    from pandas import DataFrame

    return DataFrame([asdict(answer) for answer in answers])


def _assessment(rig: Rig, today: date | None = None) -> Assessment:
    return assess(rig, full_catalog().catalog, (today or date.today()).isoformat())


def _no_memory(job: Job) -> Memory:
    return Memory(
        workload=title_of(job.workload),
        gpu="",
        device_gib=None,
        low_gib=None,
        high_gib=None,
        room_gib=None,
        fault=job.memory_fault or "",
    )


def _speed(job: Job) -> Speed:
    found = job.speed
    if found is None:
        return Speed(
            workload=title_of(job.workload),
            metric="",
            value=None,
            low=None,
            high=None,
            stack="",
            bound="",
            fits="unknown",
            fault=job.speed_fault or "",
        )
    return _speed_of(job.workload, found)


def _speed_of(workload: "Workload", found: "SpeedEstimate") -> Speed:
    return Speed(
        workload=title_of(workload),
        metric=found.metric,
        value=found.value,
        low=found.low,
        high=found.high,
        stack=found.stack,
        bound=found.bound,
        fits=found.fits,
        fault="",
    )
