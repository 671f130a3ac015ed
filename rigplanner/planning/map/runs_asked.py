"""Models against a machine as they are worked out: the first at once, the rest by and by."""

import time
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from rigplanner.catalog.schema.parts import GPU
from rigplanner.catalog.zoo import Zoo
from rigplanner.machine.model import Machine
from rigplanner.planning.map.runs import (
    Purpose,
    Run,
    Task,
    deepened,
    file_run,
    marked,
    newest_first,
    purpose_of,
    run_of,
)
from rigplanner.rig.workload import Workload

FIRST_RUNS, EVERY_S = 25, 0.5
MOST_DEEPENED = 40
"""Runs of each purpose that are told with context and users."""


class MachineQuestion(Struct, frozen=True, kw_only=True):
    """Which models a machine is asked for: those of the zoo of some purposes, or `files`."""

    gpus: tuple[GPU, ...]
    machine: Machine | None = None
    purposes: tuple[Purpose, ...] = ("chat",)
    task: Task = "inference"
    newest: bool = False
    files: tuple[Workload, ...] | None = None


class RunsSoFar(Struct, frozen=True):
    """The runs so far in their order, and how many of all models were looked at."""

    runs: list[Run]
    looked_at: int
    models: int


def growing_runs(
    question: MachineQuestion, zoo: Zoo, stopped: Callable[[], bool] = lambda: False
) -> Iterator[RunsSoFar]:
    """Yield the runs after the first, then now and then, and whole, the last with context and
    users. Ends early when `stopped` says so."""
    made: list[Run] = []
    todo = _asked(question, zoo)
    told, told_at = 0, time.monotonic()
    for make in todo:
        if stopped():
            return
        made.append(make())
        late = told and time.monotonic() - told_at > EVERY_S
        if late or (not told and len(made) >= FIRST_RUNS):
            yield RunsSoFar(_ordered(made, question.newest), len(made), len(todo))
            told, told_at = len(made), time.monotonic()
    yield RunsSoFar(_ordered(made, question.newest), len(made), len(todo))
    if question.task == "inference" and question.gpus:
        deep = list(_deepened(_ordered(made, question.newest), question.gpus, zoo, stopped))
        yield RunsSoFar(deep, len(made), len(todo))


def _asked(question: MachineQuestion, zoo: Zoo) -> list[Callable[[], Run]]:
    gpus, machine, task = question.gpus, question.machine, question.task
    if question.files is not None:
        return [lambda work=work: file_run(work, gpus, zoo) for work in question.files]  # type: ignore[misc]
    return [
        lambda model=model: run_of(model, gpus, machine, zoo, task)  # type: ignore[misc]
        for model in zoo.models.values()
        if purpose_of(model) in question.purposes
    ]


def _ordered(made: Sequence[Run], newest: bool) -> list[Run]:
    best = marked(made)
    return newest_first(best) if newest else best


def _deepened(
    made: Sequence[Run], gpus: Sequence[GPU], zoo: Zoo, stopped: Callable[[], bool]
) -> Iterator[Run]:
    seen: dict[str, int] = {}
    for run in made:
        seen[run.purpose] = seen.get(run.purpose, 0) + 1
        asks = seen[run.purpose] <= MOST_DEEPENED and not stopped()
        yield deepened(run, gpus, zoo) if asks else run
