"""The answers of the performance model in words: speed, what limits it, latencies, length of a
training, what it rests on."""

from collections.abc import Iterator, Sequence

from rigplanner.catalog.load import Catalog
from rigplanner.evidence import Step
from rigplanner.performance.answer import Anchor, ServingAnswer, SpeedEstimate
from rigplanner.performance.limits.host import Epoch
from rigplanner.performance.without_network.table import TableTimes
from rigplanner.report.format import interval, number, percent, quantity
from rigplanner.report.language import Words, listed, tr, trn
from rigplanner.report.words.workloads import LIFT_WORDS, assumed_text

MOST_ANCHORS = 3
BOUND_WORDS = Words(
    {
        "compute": "arithmetic of the GPU",
        "bandwidth": "memory bandwidth of the GPU",
        "link": "links between GPUs",
        "cpu": "the CPU that feeds the GPUs",
        "memory capacity": "memory of the GPU",
        "launch": "kernel launches",
        "power": "the power limit",
        "heat": "heat from neighbouring GPUs",
        "storage": "storage",
        "offload": "what is offloaded to the host",
        "ram": "memory of the host",
        "cpu cores": "cores of the CPU",
        "pcie": "the link to the host (PCIe)",
        "unknown": "what is not known",
    }
)

STACK_NAMES = {
    "vllm": "vLLM",
    "sglang": "SGLang",
    "ollama": "Ollama",
    "exllamav2": "ExLlamaV2",
    "mlx": "MLX",
    "tensorrt-llm": "TensorRT-LLM",
    "tgi": "Text Generation Inference",
    "lm-studio": "LM Studio",
    "hf-transformers": "Transformers",
    "hf-trainer": "Transformers Trainer",
    "unsloth": "Unsloth",
    "axolotl": "Axolotl",
    "llama-factory": "LLaMA-Factory",
    "fsdp": "PyTorch FSDP",
    "deepspeed": "DeepSpeed",
    "trl": "TRL",
    "megatron-lm": "Megatron-LM",
    "pytorch-eager": "PyTorch",
    "pytorch-ngc": "PyTorch (NGC container)",
    "torch-compile": "PyTorch with torch.compile",
    "kohya": "kohya_ss",
    "diffusers": "Diffusers",
    "diffusers-xformers": "Diffusers with xFormers",
    "comfyui": "ComfyUI",
    "tensorrt": "TensorRT",
    "onnxruntime": "ONNX Runtime",
}
"""What makers call the software, where it is not its slug."""


def speed_lines(
    name: str, speed: SpeedEstimate, memory: str, catalog: Catalog, steps: bool = False
) -> list[str]:
    """Return the speed of one workload as lines of text. `memory` is a line on whether it fits, ""
    for none."""
    return [
        f"{name}: {quantity(speed.value, speed.metric)}",
        *(f"  {line}" for line in _below(speed, memory, catalog, steps)),
    ]


def _below(speed: SpeedEstimate, memory: str, catalog: Catalog, steps: bool) -> Iterator[str]:
    yield tr("80 % interval {interval}", interval=interval(speed.low, speed.high, speed.metric))
    if memory:
        yield memory
    limited = tr("Limited by {limit}.", limit=BOUND_WORDS.get(speed.bound, speed.bound))
    yield f"{limited} {LIFT_WORDS.get(speed.lift or '', '')}".strip()
    yield from (fact for fact, _meaning in speed_facts(speed))
    yield f"{tr('Software: {stack}.', stack=speed.stack)} {assumed_text(speed.assumed)}".strip()
    for text in anchor_texts(leading_anchors(speed), catalog):
        yield tr("Measured: {anchor}", anchor=text)
    if steps:
        yield from map(step_line, speed.steps)


def table_lines(times: TableTimes) -> list[str]:
    """Return what a pass over a table takes at least, and to bring it to the GPUs."""
    lines = [
        tr("One pass over it takes {time} at least, at the listed bandwidth.",
           time=_short(times.pass_s)),
    ]  # fmt: skip
    if times.bring_s is not None:
        lines.append(
            tr("To bring it from the host's memory takes {time} at least.",
               time=_short(times.bring_s))
        )  # fmt: skip
    return lines


def _short(seconds: float) -> str:
    return quantity(seconds, "s") if seconds >= 1 else quantity(1e3 * seconds, "ms")


def leading_anchors(speed: SpeedEstimate | None) -> list[Anchor]:
    """Return the measured rows that carry a prediction most, at most MOST_ANCHORS."""
    found = [anchor for anchor in speed.anchors if anchor.weight > 0] if speed else []
    return sorted(found, key=lambda anchor: -anchor.weight)[:MOST_ANCHORS]


def alike_anchors(speed: SpeedEstimate | None) -> list[Anchor]:
    """Return those of the leading rows that were measured with the software of the prediction."""
    return [anchor for anchor in leading_anchors(speed) if speed and anchor.stack == speed.stack]


def evidence_text(speed: SpeedEstimate | None, model: str | None, catalog: Catalog) -> str:
    """Return in one sentence for buyers what the speed of a model rests on, "" where nothing is
    known of it."""
    if speed is None or speed.evidence not in RESTS_WORDS:
        return ""
    of_model = speed.evidence == "other GPU"
    held = (
        catalog.get(anchor.gpu)
        for anchor in alike_anchors(speed)
        if not of_model or anchor.model == model
    )
    cards = listed(dict.fromkeys(part.name for part in held if part is not None))
    named = cards and (of_model or speed.evidence == "other network")
    text = RESTS_WORDS[speed.evidence] + (f" ({cards})" if named else "")
    new = {"generation", "kind on generation"}.intersection(speed.unmeasured)
    more = tr("; none yet on this generation of GPU") if new else ""
    return tr("Rests on {evidence}.", evidence=text + more)


def anchor_texts(anchors: Sequence[Anchor], catalog: Catalog) -> list[str]:
    """Return measured rows in words, with their weights and where they were published; those of one
    network, card, stack and place stand together."""
    alike: dict[tuple[str, str, str, str], list[Anchor]] = {}
    for anchor in anchors:
        alike.setdefault((anchor.gpu, anchor.model, anchor.stack, anchor.source), []).append(anchor)
    texts = []
    for (card, model, stack, source), rows in alike.items():
        gpu = catalog.get(card)
        values = [
            tr(
                "{value} (weight {weight})",
                value=quantity(row.value, row.metric),
                weight=percent(row.weight),
            )
            for row in rows
        ]
        machine = listed([gpu.name if gpu else card, model, stack])
        texts.append(
            tr(
                "{machine}: {values}; {source}",
                machine=machine,
                values=listed(values),
                source=source,
            )
        )
    return texts


def step_line(step: Step) -> str:
    """Return one step of a calculation: name, formula, inputs, value and source."""
    inputs = ", ".join(
        f"{name} {value}" for name, value in step.inputs.items() if value is not None
    )
    source = f" [{step.source}]" if step.source else ""
    return (
        f"{tr(step.name)} = {step.formula} ({inputs}) = {number(step.value)} {step.unit}".rstrip()
        + source
    )


EVIDENCE_WORDS = Words(
    {
        "same job": "nearest measurements: this job, by several sources",
        "one source": "nearest measurements: this job, by one source",
        "other GPU": "nearest measurements: this network on other GPUs",
        "other network": "nearest measurements: other networks by this software",
        "other stack": "nearest measurements: such jobs by other software",
        "nothing alike": "nearest measurements: nothing alike",
    }
)
RESTS_WORDS = Words(
    {
        "same job": "measurements of this very work on this GPU, by several sources",
        "one source": "a measurement of this very work on this GPU, by one source",
        "other GPU": "measurements of this model on other GPUs",
        "other network": "measurements of other models with the same software",
        "other stack": "measurements of such work with other software",
        "nothing alike": "the figures of the hardware alone: nothing alike was measured",
    }
)
"""The same for buyers, as it goes on after "Rests on"."""
UNMEASURED_WORDS = Words(
    {
        "task": "never measured: such a task",
        "kind": "never measured: this software on such a network or task",
        "precision": "never measured: this software in this precision",
        "generation": "never measured: such a GPU architecture",
        "kind on generation": "never measured: such a network on this GPU architecture",
        "stack": "never measured: this software",
    }
)


def _novelty(speed: SpeedEstimate) -> list[tuple[str, str]]:
    """How near the nearest measurements are, and what none of them has."""
    if not speed.evidence:
        return []
    tip = tr("The less the nearest measurements share with the job, the wider the interval.")
    return [
        (EVIDENCE_WORDS[speed.evidence], tip),
        *((UNMEASURED_WORDS[what], tip) for what in speed.unmeasured),
    ]


def speed_facts(speed: SpeedEstimate) -> list[tuple[str, str]]:
    """Return the figures beside the speed, each with what it means."""
    made = _of_one(speed)
    if speed.first_token_ms is not None and not _under_load(speed):
        made.append(
            (
                _after_prompt(speed),
                tr("From the question to the first word."),
            )
        )
    if speed.next_token_ms is not None:
        made.append(
            (
                tr("each next {time}", time=_span_ms(speed.next_token_ms)),
                tr("Between two tokens of one answer."),
            )
        )
    if speed.tokens_read_s is not None:
        made.append(
            (
                tr("{count} tokens read a second", count=number(speed.tokens_read_s, 0)),
                tr("Of all the texts together; the speed counts texts."),
            )
        )
    made += _served(speed.serving) if speed.serving else []
    if speed.hours is not None:
        made.append((_training_time(speed), tr("For the epochs or tokens that are asked for.")))
    if speed.energy_kwh is not None:
        made.append(
            (
                tr("energy: {energy}", energy=quantity(speed.energy_kwh, "kWh")),
                tr("Of the GPUs over the whole training."),
            )
        )
    if speed.scaling_efficiency is not None:
        tip = tr("Speed over that of as many single GPUs.")
        made.append((tr("scaling {share}", share=percent(speed.scaling_efficiency)), tip))
    if speed.mfu is not None:
        made.append(
            (
                tr("{share} of peak", share=percent(speed.mfu)),
                tr("Arithmetic used over the dense peak of the precision."),
            )
        )
    made += _of_plain_jobs(speed)
    if speed.over_cpu is not None:
        tip = tr("Over the same job on the computer's CPUs, without a GPU.")
        made.append((tr("{times} times the CPUs alone", times=number(speed.over_cpu, 0)), tip))
    return made + _novelty(speed)


def _of_plain_jobs(speed: SpeedEstimate) -> list[tuple[str, str]]:
    """What is said of jobs in FP64, of products of matrices and of simulated environments."""
    made = []
    if speed.metric == "TFLOPS" and speed.step_ms is not None:
        tip = tr("Of two square matrices in the memory of one GPU.")
        made.append((tr("one product {time}", time=_span_ms(speed.step_ms)), tip))
    if speed.fp32_gain is not None:
        tip = tr("Deep learning and most statistics lose nothing by FP32; convert the data first.")
        gain = number(speed.fp32_gain)
        made.append((tr("converted to float32 first: {times} times as fast", times=gain), tip))
    if speed.gpu_busy is not None:
        tip = tr("The environments run on the CPU: money for cores is better spent than for cards.")
        made.append((tr("the GPU works {share} of the time", share=percent(speed.gpu_busy)), tip))
    return made


MORE_THAN_NOTHING = 1.05
"""How much faster generation alone must be to be told beside the total."""


def _served(told: ServingAnswer) -> list[tuple[str, str]]:
    """What users of a served model get, each figure with what it means."""
    of_twenty = tr("Of the middle user, and of the slowest of twenty.")
    made = [
        (
            trn(
                "{count} user at once, {requests}",
                "{count} users at once, {requests}",
                round(told.users),
                requests=quantity(told.requests_s, "requests/s"),
            ),
            tr("Streams that the engine works on, and how many of them it answers."),
        ),
        (
            tr(
                "each user {speed} (slowest {slow})",
                speed=quantity(told.user_tokens_s, "tokens/s"),
                slow=quantity(told.slow_user_tokens_s, "tokens/s"),
            ),
            of_twenty,
        ),
        (
            tr(
                "first token under this load {time} (slowest {slow})",
                time=_span_ms(told.first_token_ms),
                slow=_span_ms(told.slow_first_token_ms),
            ),
            of_twenty,
        ),
    ]
    if told.writing_tokens_s > MORE_THAN_NOTHING * told.tokens_s:
        tip = tr("Tests that time generation alone tell this; the total counts the prompts too.")
        rate = quantity(told.writing_tokens_s, "tokens/s")
        made.append((tr("{speed} while all write", speed=rate), tip))
    if told.saturated:
        tip = tr("The queue grows: fewer requests, more GPUs or shorter answers.")
        made.append((tr("requests come faster than they are answered"), tip))
    if told.most_users is not None:
        tip = tr("Users of whom the middle one gets the speed and the first token asked for.")
        made.append((tr("{users} users within the target", users=number(told.most_users)), tip))
    return made


EACH_BY_ITSELF = ("images/s", "samples/s")
SELDOM = 0.2
"""Pictures and films a second below which the time of one is told too."""


def _each(per_second: float) -> str:
    seconds = 1 / per_second
    return hours_text(seconds / 3600) if seconds >= 120 else quantity(seconds, "s")


def _of_one(speed: SpeedEstimate) -> list[tuple[str, str]]:
    """The time of a picture or film, where few are made in a second."""
    if speed.metric not in EACH_BY_ITSELF or not 0 < speed.low <= speed.value < SELDOM:
        return []
    told = tr(
        "one takes {time} ({low} to {high})",
        time=_each(speed.value),
        low=_each(speed.high),
        high=_each(speed.low),
    )
    return [(told, tr("Of one picture, film or sample of a training."))]


def _span_ms(milliseconds: float) -> str:
    return (
        quantity(milliseconds / 1000, "s") if milliseconds >= 1000 else quantity(milliseconds, "ms")
    )


def _under_load(speed: SpeedEstimate) -> bool:
    """Whether the time to the first token is the one that is told with the users."""
    return speed.serving is not None and speed.first_token_ms == speed.serving.first_token_ms


LONG_PROMPT = 8_192
"""Tokens of a prompt from which on its length is told beside the wait for it."""


def _after_prompt(speed: SpeedEstimate) -> str:
    """The time to the first token, and after what where that is long."""
    if (speed.prompt_tokens or 0) < LONG_PROMPT:
        return tr("first token {time}", time=_first_token(speed))
    return tr(
        "first token {time}, after a prompt of {count} tokens",
        time=_first_token(speed),
        count=number(speed.prompt_tokens or 0, 0),
    )


def _first_token(speed: SpeedEstimate) -> str:
    """The time to the first token with its interval."""
    middle, low, high = (
        _span_ms(time or 0.0)
        for time in (speed.first_token_ms, speed.first_token_low_ms, speed.first_token_high_ms)
    )
    told = speed.first_token_low_ms is not None
    return tr("{value} ({low} to {high})", value=middle, low=low, high=high) if told else middle


def _training_time(speed: SpeedEstimate) -> str:
    ends, time = speed.hours_range, hours_text(speed.hours or 0.0)
    if ends is None:
        return tr("full training: {time}", time=time)
    return tr(
        "full training: {time} ({low} to {high})",
        time=time,
        low=hours_text(ends[0]),
        high=hours_text(ends[1]),
    )


def epoch_text(epoch: Epoch | None) -> str:
    """Return how long the drives take to read the data set once, "" where nobody knows."""
    if epoch is None:
        return ""
    hours = [_hours_of_reading(each) for each in (epoch.hours, epoch.packed_hours)]
    if epoch.hours <= epoch.packed_hours:
        return tr("The drives read the data set once in {hours}.", hours=hours[0])
    return tr(
        "The drives read the data set once in {hours}; packed into records in {packed}.",
        hours=hours[0],
        packed=hours[1],
    )


def _hours_of_reading(hours: float) -> str:
    return quantity(hours, "h", 0 if hours >= 10 else 1) if hours >= 0.1 else hours_text(hours)


def hours_text(hours: float) -> str:
    """Return a time of training in the unit that people would use."""
    if hours >= 72:
        return quantity(hours / 24, tr("days"))
    return quantity(hours, "h") if hours >= 1 else quantity(hours * 60, "min")
