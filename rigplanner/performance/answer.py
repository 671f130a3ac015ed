"""What the performance model answers."""

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.evidence import Step

Bound = Literal[
    "compute",
    "bandwidth",
    "link",
    "cpu",
    "storage",
    "memory capacity",
    "launch",
    "power",
    "heat",
    "offload",
    "ram",
    "cpu cores",
    "pcie",
    "unknown",
]

Fits = Literal["yes", "no", "unknown"]

Evidence = Literal[
    "same job",
    "one source",
    "other GPU",
    "other network",
    "other stack",
    "nothing alike",
    "",
]
"""What the nearest measurements share with a job: stack, network and GPU, by several sources or by
one; stack and network; the stack; kind of job alone; nothing. Empty where no measurement is leant
on."""
Unmeasured = Literal["task", "kind", "precision", "generation", "kind on generation", "stack"]
"""What no measurement has: such a task; the stack on such a kind of job, or in this precision; the
architecture of the GPU, or such a kind of net on it; the stack itself, known from its like."""

TIME_METRICS = ("ms_per_batch", "s_per_iteration", "time_to_train_min")
"""Metrics in which less is faster; in all others more is."""


class Anchor(Struct, frozen=True, kw_only=True):
    """A measured row that a prediction leans on, with its weight 0..1, its source and what it was
    measured with: rows of one card and network may differ in that alone."""

    id: str
    gpu: str
    model: str
    stack: str
    value: float
    metric: str
    weight: float
    source: str
    count: int = 1
    precision: str | None = None
    batch_per_gpu: int | None = None


class ServingAnswer(Struct, frozen=True, kw_only=True):
    """What users of a served language model get: `users` at once, tokens and requests a second of
    all, tokens a second of one and milliseconds to the first token, of the middle one and of the
    slowest of twenty; `writing_tokens_s`: of all while no prompt is read. `most_users`: that get
    what was asked for. `saturated`: requests come faster than they are answered."""

    users: float
    tokens_s: float
    requests_s: float
    user_tokens_s: float
    slow_user_tokens_s: float
    first_token_ms: float
    slow_first_token_ms: float
    writing_tokens_s: float
    most_users: int | None = None
    saturated: bool = False


class SpeedEstimate(Struct, frozen=True, kw_only=True):
    """Speed of the whole system in `metric`, with its 80 % interval, the stack it holds for, what
    limits it and why.

    `fits` says whether memory holds the job: of a workload alone "no" where its weights do not fit,
    else "unknown"; beside an estimate of its memory what that says. `lift` names what would raise
    it (a code); `hours` and `energy_kwh` (of the GPUs) stand for the epochs or tokens that the
    workload asks for; `exchange_share` is what of the modelled step waits for the exchange between
    GPUs; `first_token_ms` (`first_token_low_ms` to `first_token_high_ms`) and `next_token_ms` are
    the latencies of one stream of a language model that writes, beside as many others as the job
    names, the first one after a prompt of `prompt_tokens`; `serving` what each of several users
    gets. `evidence`: how near the nearest measurements are, which the width of the interval
    follows; `unmeasured`: what they never had. `over_cpu`: how many times the speed of the
    computer's CPUs alone it is; `fp32_gain`: of a job in FP64, how many times as fast it is in
    FP32; `gpu_busy`: share of the time in which GPUs work on a job that waits for the CPUs;
    `tokens_read_s`: of texts that become vectors or labels, the tokens that are read a second."""

    metric: str
    value: float
    low: float
    high: float
    stack: str
    bound: Bound
    anchors: tuple[Anchor, ...] = ()
    step_ms: float | None = None
    exchange_share: float | None = None
    mfu: float | None = None
    scaling_efficiency: float | None = None
    lift: str | None = None
    assumed: dict[str, str] = {}
    steps: tuple[Step, ...] = ()
    hours: float | None = None
    energy_kwh: float | None = None
    first_token_ms: float | None = None
    first_token_low_ms: float | None = None
    first_token_high_ms: float | None = None
    next_token_ms: float | None = None
    prompt_tokens: int | None = None
    fits: Fits = "unknown"
    evidence: Evidence = ""
    unmeasured: tuple[Unmeasured, ...] = ()
    serving: ServingAnswer | None = None
    over_cpu: float | None = None
    fp32_gain: float | None = None
    gpu_busy: float | None = None
    tokens_read_s: float | None = None

    @property
    def hours_range(self) -> tuple[float, float] | None:
        """The hours of a training at the ends of the speed's interval, the fewest first; None where
        none are told."""
        if self.hours is None or self.low <= 0:
            return None
        ends = self.hours * self.value / self.high, self.hours * self.value / self.low
        takes_time = self.metric == "time_to_train_min"
        return (self.hours**2 / ends[1], self.hours**2 / ends[0]) if takes_time else ends


FIRST_TOKEN_SPREAD = 1.8
"""Factor either way within which four in five first tokens lie of sources that nobody had looked at
(tests/performance/first_tokens.json: 1.5; seven more of 2026: 1.8)."""


def with_first_token(
    told: SpeedEstimate,
    first_ms: float,
    prompt: float,
    spread: float = FIRST_TOKEN_SPREAD,
    slow_ms: float = 0.0,
) -> SpeedEstimate:
    """Return the answer with the time to the first token after `prompt` tokens and its 80 %
    interval, which reaches as far as the slowest of twenty users waits."""
    return replace(
        told,
        first_token_ms=first_ms,
        first_token_low_ms=first_ms / spread,
        first_token_high_ms=max(first_ms * spread, slow_ms),
        prompt_tokens=round(prompt),
    )
