"""The speed of training by preferences and rewards: answers are written, asked about and trained
on, one after the other or at once."""

from __future__ import annotations

import math
from collections.abc import Callable

from msgspec.structs import replace

from rigplanner.errors import WorkloadFault
from rigplanner.evidence import Step
from rigplanner.performance.answer import SpeedEstimate
from rigplanner.rig.workload import Workload
from rigplanner.workload.preference import Preference

METRICS = ("samples/s", "sequences/s", "tokens/s")
FORWARD, FORWARD_RECOMPUTED = 1 / 3, 1 / 4
"""Share of a training step that a pass without gradients takes: the backward pass costs two of
them, recomputing a third (Korthikanti et al. 2022, arXiv 2205.05198)."""
STRAGGLERS = 1.25
"""How much longer than its mean answer a batch takes, since it ends with its longest (estimate)."""
WITHIN = 1.5
"""Factor either way within which such a job is told beside what its parts are unsure of: rewards,
moving weights into the engine and waiting are not modelled (estimate)."""

Predict = Callable[[Workload, int, str | None], SpeedEstimate]
"""Asks for the speed of a plain job on some of the GPUs, in a metric."""


def predict_preference(
    workload: Workload, split: Preference, predict: Predict, metric: str | None
) -> SpeedEstimate:
    """Return answers (pairs of DPO) a second of the whole system, or the tokens that are trained
    on. Raises WorkloadFault for other metrics."""
    if metric not in (None, *METRICS):
        raise WorkloadFault(
            f"metric: expected one of {', '.join(METRICS)} that fits the job, found '{metric}'."
        )
    trained = predict(split.training, split.trainers, "tokens/s")
    length = split.prompt + split.answer
    whole = split.training.gradient_checkpointing in (True, "full")
    forward = FORWARD_RECOMPUTED if whole else FORWARD
    passes = split.sequences * (1 + int(split.critic) + forward * split.asked)
    train_s = passes * length / trained.value
    written = _written(workload, split, predict)
    write_s = 0.0 if written is None else STRAGGLERS * split.answer / written.value
    total_s = max(train_s, write_s) if split.overlap else train_s + write_s
    unsure = math.hypot(math.log(WITHIN), _unsure(trained, train_s, written, write_s))
    per_answer = float(split.sequences * length) if metric == "tokens/s" else 1.0
    value = per_answer / total_s
    leading = written if written is not None and write_s > train_s else trained
    return replace(
        leading,
        metric=metric or "samples/s",
        value=value,
        low=value * math.exp(-unsure),
        high=value * math.exp(unsure),
        stack=trained.stack,
        anchors=trained.anchors,
        step_ms=None,
        mfu=None,
        assumed={**trained.assumed, **split.assumed},
        steps=(
            *trained.steps,
            *(written.steps if written else ()),
            _step(split, trained, written, (train_s, write_s), value, metric),
        ),
        hours=_hours(workload, split, 1 / total_s),
        energy_kwh=None,
        first_token_ms=None,
        first_token_low_ms=None,
        first_token_high_ms=None,
        prompt_tokens=None,
        next_token_ms=None,
        serving=None,
        evidence="nothing alike",
        unmeasured=("task", *trained.unmeasured),
    )


def _written(workload: Workload, split: Preference, predict: Predict) -> SpeedEstimate | None:
    """The engine's tokens a second with all answers of a step in work."""
    if split.rollout is None:
        return None
    each = (workload.batch_per_gpu or 1) * (workload.gradient_accumulation or 1)
    if split.own:
        asked = replace(split.rollout, task="inference", batch_per_gpu=workload.batch_per_gpu or 1)
    else:
        asked = replace(
            split.rollout, users=max(split.generations, split.round, each * split.trainers)
        )
    return predict(asked, split.writers, "tokens/s")


def _unsure(
    trained: SpeedEstimate, train_s: float, written: SpeedEstimate | None, write_s: float
) -> float:
    """Half the width in log units that both parts bring, by their shares of the time."""
    total_s = train_s + write_s
    parts = [(trained, train_s)] + ([(written, write_s)] if written else [])
    return math.hypot(
        *[
            seconds / total_s * math.log(max(part.high / part.value, part.value / part.low))
            for part, seconds in parts
        ]
    )


def _hours(workload: Workload, split: Preference, answers_s: float) -> float | None:
    if not (workload.epochs and workload.dataset_samples):
        return None
    answers = workload.epochs * workload.dataset_samples * split.generations
    return answers / answers_s / 3600


def _step(
    split: Preference,
    trained: SpeedEstimate,
    written: SpeedEstimate | None,
    seconds: tuple[float, float],
    value: float,
    metric: str | None,
) -> Step:
    inputs: dict[str, float | str | None] = {
        "trained_tokens_s": trained.value,
        "written_tokens_s": written.value if written else None,
        "train_s": seconds[0],
        "write_s": seconds[1],
        "asked": float(split.asked),
        "critics": float(split.critic),
        "trainers": float(split.trainers),
        "writers": float(split.writers),
        "stragglers": STRAGGLERS,
    }
    joined = "max" if split.overlap else "sum"
    formula = (
        f"1 / {joined} of: tokens x (1 + critics + passes without gradients) / tokens trained a"
        " second; stragglers x answer / tokens written a second"
    )
    return Step("written and trained", formula, inputs, value, metric or "samples/s")
