"""What does each of several users get, and how many get enough?"""

import math
from collections.abc import Callable
from typing import Literal

from msgspec.structs import replace

from rigplanner.performance.answer import ServingAnswer
from rigplanner.performance.job import Job
from rigplanner.performance.serving import Stream, alone_share, prefill, serve
from rigplanner.rig.workload import Workload

NINETY_FIFTH = 1.645
"""Deviations of a normal distribution below which 95 % lie."""
FULL = 0.98
"""Load of the engine by prompts beyond which a queue is told to grow without end."""
KEEPS_UP = 0.9
"""Share of the requests that come which an engine that keeps up answers: users come in whole."""
MOST_USERS = 4096
SURE_OF_WAITING = 20.0
"""Of twenty requests one waits longer than the slow one told."""


def serving_answer(
    job: Job, tokens_s: float, stream: Stream, work: Workload, one_user: float = 0.0
) -> ServingAnswer:
    """Return what users of a served language model get where all of them together get `tokens_s`:
    tokens a second of each and the time to the first token, of the middle one and of the slowest of
    twenty; and how many users get what the workload asks for. `one_user`: by how much the log
    correction of one user lies above that of many."""
    users = max(1.0, stream.streams)
    factor = tokens_s / stream.tokens_s
    told = _at(job, users, factor, _asking(job, work))
    targets = (work.target_first_token_ms, work.target_tokens_s)

    def factor_of(others: int) -> float:
        return factor * math.exp(one_user * (alone_share(others) - alone_share(users)))

    most = _most(job, factor_of, *targets) if any(targets) else None
    if work.request_rate and told.requests_s < work.request_rate * KEEPS_UP:
        told = replace(told, saturated=True)
    return replace(told, most_users=most)


Asking = Literal["together", "in waves", "by chance"]
"""How users' requests come: first ones together and further ones as each is answered; again and
again together, since all are equally long; each for itself."""
UNEQUAL_TESTS = ("sglang",)
"""Stacks whose own test of serving draws the lengths of its random requests up to those named; that
of vLLM and of those that took it over makes all equal (`random_range_ratio` 0 of both,
benchmarks/serve.py and bench_serving.py, read 2026-11-23)."""
IN_WAVES = 0.4
"""Share of the prompts of a wave that are read before the middle one has its first token: 0.43 of
32 prompts on a GB10, 0.35 of 16 to MiniMax-M2 on four GPUs (vLLM, pull request 43276), 0.57 of 16
to gemma-3-27b that were asked once (vLLM, pull request 33743; read 2026-11-23)."""


def _asking(job: Job, work: Workload) -> Asking:
    """How the users of a workload ask; where it does not say whether their requests are `equal`, as
    the stack's own test asks."""
    if work.request_rate:
        return "by chance"
    if not job.batch_given:
        return "together"
    equal = job.named.slug not in UNEQUAL_TESTS if work.samples is None else work.samples == "equal"
    return "in waves" if equal else "together"


NINETEEN = 0.95
"""Of users who ask together, the share whose prompts are read when the slowest of twenty gets its
first token: 32 prompts of 1,024 tokens on a GB10 wait 2.3 s in the mean, 0.16 s each alone
(site-one-liart-13.vercel.app, qwen3-moe-nvfp4), 25 on four MI100 1.0 s in the mean and 7.1 s at
the 99th percentile (README of vLLM benchmarks on four MI100; both read 2026-11-23)."""


def _at(job: Job, users: float, factor: float, asking: Asking = "by chance") -> ServingAnswer:
    """What `users` get whom the engine serves `factor` times as fast as modelled. Prompts that come
    together are read in turn."""
    held = replace(job, batch=users / job.count, batch_given=True)
    stream = serve(held)
    total, out = stream.tokens_s * factor, job.output_tokens or 128
    writing = serve(replace(held, prefix_tokens=held.input_tokens)) if held.input_tokens else stream
    alone = _prompt_s(job) / factor
    rate = total / out
    load = min(FULL, rate * alone)
    step = stream.streams / total
    replicas = max(1, job.count // (job.tensor * job.pipeline))
    ahead = max(0.0, stream.streams / replicas - 1) * alone
    others = math.inf if asking == "by chance" else ahead
    waits = min(others, load * alone / (2 * (1 - load)))
    each = total / stream.streams
    met = rate * out / each
    slow = 1 / each + NINETY_FIFTH * math.sqrt(met) * alone / out
    long = (
        alone * math.log(SURE_OF_WAITING * load) / (1 - load) if SURE_OF_WAITING * load > 1 else 0
    )
    long = min(others, long)
    burst = alone + NINETEEN * ahead if asking != "by chance" else 0.0
    wave = IN_WAVES * ahead if asking == "in waves" else 0.0
    return ServingAnswer(
        users=stream.streams,
        tokens_s=total,
        requests_s=rate,
        user_tokens_s=each,
        slow_user_tokens_s=1 / slow,
        first_token_ms=1e3 * (alone + max(waits, wave) + step),
        slow_first_token_ms=1e3 * (max(alone + max(waits, wave, long), burst) + 2 * step),
        writing_tokens_s=max(total, writing.tokens_s * factor),
    )


def _prompt_s(job: Job) -> float:
    """Seconds in which one prompt is read by itself: each replica reads its own."""
    alone = prefill(replace(job, batch=1.0))
    return alone.matrix_s + alone.traffic_s + alone.other_s


def _most(
    job: Job,
    factor_of: Callable[[int], float],
    first_ms: float | None,
    tokens_s: float | None,
) -> int:
    """The most users of whom the middle one gets its first token within `first_ms` and `tokens_s`
    afterwards; 0 where not even one does."""

    def enough(users: int) -> bool:
        told = _at(job, users, factor_of(users))
        held = told.users >= users * FULL
        quick = first_ms is None or told.first_token_ms <= first_ms
        return held and quick and (tokens_s is None or told.user_tokens_s >= tokens_s)

    return _largest(enough)


def _largest(holds: Callable[[int], bool]) -> int:
    """The largest number up to MOST_USERS for which what falls with it holds; 0 for none."""
    low, high = 0, 1
    while high <= MOST_USERS and holds(high):
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def users_at_rate(job: Job, rate: float) -> float:
    """Return how many users are in work where `rate` requests a second arrive: the fewest that are
    answered as fast as they come (Little's law), or all that memory holds, by physics alone."""
    out = job.output_tokens or 128

    def behind(users: int) -> bool:
        stream = serve(replace(job, batch=users / job.count, batch_given=True))
        return stream.tokens_s / out < rate and stream.streams >= users * FULL

    return float(_largest(behind) + 1)
