"""How right the law of hosts is: rows of models that the computer's memory holds in part or whole,
each predicted with constants fitted without its source."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict

from rigplanner.error_figures import Errors, errors_of
from rigplanner.performance.host.constants import host_constants
from rigplanner.performance.host.judge import held_out, judged_rows
from rigplanner.report.accuracy.table import AccuracyTable

FOLDS = 12
"""Parts of the sources that are left out in turn."""


def hosts_table() -> AccuracyTable:
    """Return the table of writing and of prompts on hosts, by setup (what a source measured at one
    context or several) and by source."""
    rows, known = judged_rows(), host_constants()
    made: list[Errors] = []
    for name, prompts, spread in (
        ("writing", False, known.spread),
        ("prompts", True, known.prompt_spread),
    ):
        setups = held_out(rows, known, FOLDS, prompts)
        made.append(_errors(name, list(setups.values()), spread))
        sources: defaultdict[str, list[float]] = defaultdict(list)
        for setup, off in setups.items():
            sources[setup[0]].append(off)
        middle = [statistics.median(offs) for offs in sources.values()]
        made.append(_errors(f"{name}, by source", middle, spread))
    note = (
        f"{len(rows)} rows of models of which RAM holds experts, layers or all (llama.cpp,"
        " ik_llama.cpp, ktransformers, ollama, vLLM), each with its CPUs and memory"
        " (catalog/benchmarks/host-offload.json). The constants were fitted without the source of"
        " each row; a setup counts once at whatever contexts it was measured."
    )
    return AccuracyTable(judged="hosts", title="Speed, models in RAM", note=note, rows=tuple(made))


def _errors(name: str, offs: list[float], spread: float) -> Errors:
    inside = [abs(off) <= math.log(spread) for off in offs]
    return errors_of(name, len(offs), [math.exp(off) - 1 for off in offs], inside)
