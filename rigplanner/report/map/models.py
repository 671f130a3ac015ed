"""What a machine runs, as rows of a table: text, CSV and JSON."""

import csv
import io
from collections.abc import Sequence
from itertools import groupby
from typing import Any

import msgspec

from rigplanner.planning.map.runs import Run, opened
from rigplanner.report import format as fmt
from rigplanner.report.columns import table_lines
from rigplanner.report.language import Words, tr, trn

PURPOSE_WORDS = Words(
    {
        "chat": "Chat",
        "code": "Code",
        "vision": "Text about pictures",
        "image": "Pictures",
        "video": "Films",
        "speech": "Speech and sound",
        "embedding": "Embeddings and text encoders",
        "recognition": "Recognition in pictures",
    }
)
HEADS = (
    "Best", "Model", "Size", "Released", "Format", "Speed", "80 % interval", "Where", "GPU memory",
    "RAM", "Context", "Users", "First token",
)  # fmt: skip
RIGHT = (2, 5, 6, 8, 9, 10, 11, 12)
"""Columns of numbers."""
SOFT = {1: 17, 7: 10}
"""Columns of words, and how narrow they may become before others are left out."""
SPARE = (3, 12, 11, 2, 6, 9, 8, 10)
"""Columns that a narrow terminal does without, the first first."""
STEPS_GIB = (8.0, 16.0, 24.0, 48.0)
"""More GPU memory that people can buy in one step."""
MOST_NAMED = 4


def record(run: Run) -> dict[str, Any]:
    """Return a run as plain data, numbers as numbers."""
    speed = run.speed
    return {
        "model": run.model,
        "name": run.name,
        "purpose": run.purpose,
        "released": run.released,
        "params_b": run.params_b,
        "runs": run.precision is not None,
        "best": run.best,
        "whole": run.whole,
        "tight": run.tight,
        "precision": run.precision,
        "cards": run.cards,
        "gpu_layers": run.gpu_layers,
        "n_cpu_moe": run.n_cpu_moe,
        "device_gib": run.device_gib,
        "host_gib": run.host_gib,
        "context": run.context,
        "users": run.users,
        "metric": speed.metric if speed else None,
        "value": speed.value if speed else None,
        "low": speed.low if speed else None,
        "high": speed.high if speed else None,
        "first_token_ms": speed.first_token_ms if speed else None,
        "lacks_gib": run.lacks_gib,
        "fault": run.fault or None,
    }


def json_text(runs: Sequence[Run]) -> str:
    """Return the runs as a JSON list."""
    made = [record(run) for run in runs]
    return msgspec.json.format(msgspec.json.encode(made), indent=1).decode() + "\n"


def csv_text(runs: Sequence[Run]) -> str:
    """Return a line a model, for a spreadsheet."""
    out = io.StringIO()
    made = [record(run) for run in runs]
    writer = csv.DictWriter(out, list(made[0]) if made else ["model"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(made)
    return out.getvalue()


def text(runs: Sequence[Run], most: int, width: int | None = None) -> list[str]:
    """Return the first models of each purpose as lines of text, the best of its class with a star,
    then what more memory would open. `width`: columns of the terminal that tables keep to."""
    lines: list[str] = []
    for purpose, of_kind in groupby(runs, key=lambda run: run.purpose):
        every = list(of_kind)
        running = [run for run in every if run.precision is not None]
        lines += [
            *([""] if lines else []),
            tr(
                "{purpose}: {count} of {total} run",
                purpose=PURPOSE_WORDS[purpose],
                count=len(running),
                total=len(every),
            ),
        ]
        lines += _table(running[:most], width)
        lines += more_lines(every)
    return lines


def more_lines(every: Sequence[Run]) -> list[str]:
    """Return what the smallest step of GPU memory that opens anything would open, in one line; none
    where no step does."""
    for step in STEPS_GIB:
        if found := opened(every, step):
            return [_more(step, found)]
    return []


def _more(step: float, found: Sequence[Run]) -> str:
    biggest = sorted(found, key=lambda run: -(run.params_b or 0))[:MOST_NAMED]
    return trn(
        "  {step} more GPU memory would hold {count} model more: {names}",
        "  {step} more GPU memory would hold {count} models more: {names}",
        len(found),
        step=fmt.quantity(step, "GiB", 0),
        names=", ".join(run.model for run in biggest),
    )


def _table(runs: Sequence[Run], width: int | None) -> list[str]:
    if not runs:
        return []
    return table_lines(tuple(map(tr, HEADS)), list(map(cells, runs)), RIGHT, SOFT, SPARE, width)


def cells(run: Run) -> tuple[str, ...]:
    """Return a run in words, in the order of `HEADS`."""
    speed = run.speed
    first = speed.first_token_ms if speed else None
    return (
        "*" if run.best else "",
        run.model,
        fmt.number(run.params_b, 1) + "B" if run.params_b is not None else "",
        run.released or "",
        run.precision or "",
        fmt.quantity(speed.value, speed.metric) if speed else "",
        f"{fmt.number(speed.low)} – {fmt.number(speed.high)}" if speed else "",
        _where(run) if run.precision is not None else tr("does not fit"),
        fmt.quantity(run.device_gib, "GiB", 1) if run.device_gib else "",
        fmt.quantity(run.host_gib, "GiB", 1) if run.host_gib and not run.whole else "",
        fmt.number(run.context, 0) if run.context else "",
        fmt.number(run.users, 0) if run.users else "",
        fmt.quantity(first, "ms") if first else "",
    )


def _where(run: Run) -> str:
    """Where it lies, in a few words."""
    if run.whole:
        cards = trn("{count} GPU", "{count} GPUs", run.cards)
        return tr("{cards}, tight", cards=cards) if run.tight else cards
    if run.cards == 0:
        return tr("CPU")
    if run.n_cpu_moe is not None:
        return tr("experts of {count} layers in RAM", count=run.n_cpu_moe)
    return tr("{count} layers on GPU", count=run.gpu_layers or 0)
