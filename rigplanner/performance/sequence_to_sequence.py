"""Networks that read with an encoder and write with a decoder, token by token: speech to text,
translation, summaries."""

import math
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.zoo import Zoo, shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.evidence import Step
from rigplanner.performance.answer import SpeedEstimate
from rigplanner.performance.job import TASKS
from rigplanner.performance.software.stacks import find_stack
from rigplanner.rig.workload import Workload

FAMILIES = (
    "whisper",
    "speech_to_text",
    "t5",
    "mt5",
    "umt5",
    "longt5",
    "bart",
    "mbart",
    "led",
    "pegasus",
    "marian",
    "m2m_100",
    "nllb-moe",
)
"""Types of configuration with both halves."""
SPOKEN_TOKENS = 100
"""Tokens of 30 s of speech where none are given: about 150 words a minute, four tokens for three
words (estimate)."""
LOOKING = 1.3
"""Time of a token over a decoder's of as many weights: what looks at the encoder adds 7 launches to
the 16 of a layer."""
SPREAD_OF_LENGTHS = 0.3
"""Standard deviation over mean of the tokens in windows of speech (estimate); a batch is done when
its longest window is."""
PREPARED_S = 0.2
"""Seconds of the CPU for a window of 30 s of sound before the encoder sees it (spectrogram,
silence, tasks of the pipeline): what is left of the times of models of 2 to 32 decoder layers
beside their layers (Open ASR leaderboard with faster-whisper, 2025: large-v3 19, turbo 40, two
layers 44, tiny 49 times real time)."""
UNTOLD = 1.5
"""Factor either way by which speech has more or fewer tokens than usual (slow or fast talk,
silence)."""
MOST_BEAMS = 64
BEAM_SHARE = 0.15
"""Time that each further beam of a search takes, as a share of a token's: sorting candidates,
moving caches. Ten beams on an RTX 3090 take 2.5 times as long as one (whisper-medium) and 1.85
times (large) with faster-whisper (its issue 172); five with transformers 1.6 to 2 times what one
does (its issues 720 and 1030)."""
USUAL_BEAMS = {"faster-whisper": 5}
"""Beams of stacks that search with several unless told otherwise (`beam_size` of faster-whisper's
`transcribe`)."""
SPEECH = ("whisper", "speech_to_text")
USUAL_STACK = "hf-transformers"
PER_SECOND = ("sequences/s", "samples/s")
LARGEST_SIZE = 10_000_000
"""Of a layer, a vocabulary or a count in a configuration; what is larger is a slip."""


class Halves(Struct, frozen=True, kw_only=True):
    """The encoder's work and the decoder's for one sample as workloads of their own, the tokens
    that the decoder writes, how many of them a batch waits for over what one sample has, and the
    seconds that the CPU prepares it."""

    reading: Workload
    writing: Workload
    tokens: int
    told: bool
    beams: int = 1
    beams_told: bool = False
    batch_told: bool = True
    longest: float = 1.0
    prepared_s: float = 0.0


def halves(workload: Workload, metric: str | None, zoo: Zoo | None) -> Halves | None:
    """Return both halves of an inference that writes, of one sample at a time where no batch is
    given; None for other work, metrics and networks, where no length is given (speech has a usual
    one), and for stacks that do not write token by token."""
    if TASKS.get(workload.task or "inference") != "inference" or metric not in (None, *PER_SECOND):
        return None
    model = (shipped_zoo() if zoo is None else zoo).get(workload.model or "")
    config = workload.config or (model.config if model else None) or {}
    family = str(config.get("model_type", "")).casefold()
    tokens = workload.output_tokens or (SPOKEN_TOKENS if family in SPEECH else 0)
    stack = workload.stack or USUAL_STACK
    if family not in FAMILIES or not tokens or "decode" not in find_stack(stack, "inference").tasks:
        return None
    asked, batch = _beams(workload), workload.batch_per_gpu or 1
    beams = asked or USUAL_BEAMS.get(find_stack(stack, "inference").slug, 1)
    reading, writing = _parts(replace(workload, stack=stack), config, tokens)
    reading = replace(reading, batch_per_gpu=batch)
    if workload.batch_per_gpu or beams > 1 or asked:
        writing = replace(writing, batch_per_gpu=batch * beams)
    untold = workload.output_tokens is None
    return Halves(
        reading=reading,
        writing=writing,
        tokens=tokens,
        told=not untold,
        beams=beams,
        beams_told=asked > 0,
        batch_told=workload.batch_per_gpu is not None,
        prepared_s=PREPARED_S if family in SPEECH else 0.0,
        longest=1 + SPREAD_OF_LENGTHS * math.sqrt(2 * math.log(batch)) if untold else 1.0,
    )


def _parts(workload: Workload, config: dict[str, Any], tokens: int) -> tuple[Workload, Workload]:
    """The encoder's pass over the input, and the decoder's writing of `tokens` beside what the
    encoder made."""
    length = workload.seq_len or workload.input_tokens or config.get("max_source_positions")
    kept = length if isinstance(length, int) and 0 < length <= LARGEST_SIZE else 1
    bare = replace(
        workload,
        model=None,
        name=workload.name or workload.model or "",
        params_m=None,
        gmacs=None,
    )
    reading = replace(
        bare,
        config=_encoder(config),
        kind="encoder",
        seq_len=length,
        input_tokens=None,
        output_tokens=None,
    )
    writing = replace(
        bare,
        config=_decoder(config),
        kind="llm",
        seq_len=None,
        input_tokens=kept,
        output_tokens=tokens,
        batch_per_gpu=None,
    )
    return reading, writing


def _beams(workload: Workload) -> int:
    """Return the beams of a search that the workload's variant names (`{"beams": 5}`), 0 where it
    names none."""
    found = workload.variant.get("beams", 0)
    if isinstance(found, bool) or not isinstance(found, int) or not 0 <= found <= MOST_BEAMS:
        raise WorkloadFault(
            f"variant.beams: expected a whole number up to {MOST_BEAMS}, found {found!r:.40}."
        )
    return found


def _first(config: dict[str, Any], *names: str) -> int:
    name = next((name for name in names if config.get(name)), None)
    value = config[name] if name else 0
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not 0 <= value <= LARGEST_SIZE
    ):
        raise WorkloadFault(
            f"config.{name}: expected a whole number up to {LARGEST_SIZE}, found {value!r:.40}."
        )
    return int(value)


def _encoder(config: dict[str, Any]) -> dict[str, Any]:
    return {
        "model_type": "bert",
        "hidden_size": _first(config, "d_model", "hidden_size"),
        "num_hidden_layers": _first(config, "encoder_layers", "num_layers"),
        "num_attention_heads": _first(config, "encoder_attention_heads", "num_heads"),
        "intermediate_size": _first(config, "encoder_ffn_dim", "d_ff"),
        "vocab_size": 1,
    }


def _decoder(config: dict[str, Any]) -> dict[str, Any]:
    """A decoder alone with as many weights a layer: what looks at the encoder (two of four
    projections a token, its keys and values being kept) counts as a wider feed-forward block."""
    hidden = _first(config, "d_model", "hidden_size")
    gates = (
        1.5
        if config.get("is_gated_act") or "gated" in str(config.get("feed_forward_proj", ""))
        else 1.0
    )
    return {
        "model_type": "opt",
        "hidden_size": hidden,
        "num_hidden_layers": _first(config, "decoder_layers", "num_decoder_layers", "num_layers"),
        "num_attention_heads": _first(config, "decoder_attention_heads", "num_heads"),
        "ffn_dim": round(gates * _first(config, "decoder_ffn_dim", "d_ff")) + hidden,
        "vocab_size": _first(config, "vocab_size"),
    }


HALVES_ADD = (
    "1 / (prepared + 1 / samples read a second + tokens x beams x (1 + beam share x (beams - 1)) x"
    " longest of a batch x looking at the encoder / tokens written a second)"
)


def joined(pair: Halves, reading: SpeedEstimate, writing: SpeedEstimate) -> SpeedEstimate:
    """Return the speed of samples that are read and then written: the times of both halves add.
    Every beam writes, one is kept."""
    waits = pair.tokens * pair.longest * LOOKING * pair.beams * (1 + BEAM_SHARE * (pair.beams - 1))

    def together(read_s: float, tokens_s: float, more: float = 1.0) -> float:
        return 1 / (pair.prepared_s + 1 / read_s + more * waits / tokens_s)

    value = together(reading.value, writing.value)
    next_ms = writing.next_token_ms * LOOKING if writing.next_token_ms else None
    share = value / reading.value
    slower = reading if share > 0.5 else writing
    inputs: dict[str, float | str | None] = {
        "read_s": reading.value,
        "tokens_s": writing.value,
        "tokens": float(pair.tokens),
        "beams": float(pair.beams),
        "beam_share": BEAM_SHARE,
        "longest": pair.longest,
        "looking": LOOKING,
        "prepared_s": pair.prepared_s,
    }
    step = Step("read and written", HALVES_ADD, inputs, value, reading.metric)
    anchors = [replace(anchor, weight=anchor.weight * share) for anchor in reading.anchors]
    anchors += [replace(anchor, weight=anchor.weight * (1 - share)) for anchor in writing.anchors]
    return replace(
        slower,
        metric=reading.metric,
        value=value,
        low=together(reading.low, writing.low, 1 if pair.told else UNTOLD),
        high=together(reading.high, writing.high, 1 if pair.told else 1 / UNTOLD),
        anchors=tuple(sorted(anchors, key=lambda anchor: -anchor.weight)),
        step_ms=None,
        mfu=None,
        assumed={**reading.assumed, **writing.assumed, **_unsaid(pair)},
        steps=(*reading.steps, *writing.steps, step),
        hours=None,
        energy_kwh=None,
        tokens_read_s=None,
        first_token_ms=(reading.step_ms or 0.0) + next_ms if next_ms else None,
        first_token_low_ms=None,
        first_token_high_ms=None,
        prompt_tokens=None,
        next_token_ms=next_ms,
    )


def _unsaid(pair: Halves) -> dict[str, str]:
    """What of the job nobody said, by field."""
    return {
        **({} if pair.beams_told else {"beams": str(pair.beams)}),
        **({} if pair.batch_told else {"batch_per_gpu": "1"}),
        **({} if pair.told else {"output_tokens": str(pair.tokens)}),
    }
