"""Encoder-decoders read once and write token by token."""

import pytest
from msgspec.structs import replace

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.load import shipped_catalog
from rigplanner.catalog.schema.parts import GPU
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.memory.estimate import estimate_memory
from rigplanner.performance.anchors.evidence import Evidence, placed_evidence
from rigplanner.performance.anchors.own import current_evidence, with_own
from rigplanner.performance.answer import SpeedEstimate
from rigplanner.performance.measured import Measured
from rigplanner.performance.predict import predict_speed
from rigplanner.performance.sequence_to_sequence import LOOKING, PREPARED_S, SPOKEN_TOKENS, halves
from rigplanner.performance.settled import settled
from rigplanner.rig.workload import Workload

WINDOWS = 13 * 60 / 30
"""Windows of 30 s in the 13 minutes of speech that the README of faster-whisper times on an RTX
3070 Ti, with five beams."""
SPEECH = Workload(model="whisper-large-v2", task="inference", precision="fp16", batch_per_gpu=1)


def _speed(workload: Workload, evidence: Evidence | None = None) -> SpeedEstimate:
    card = shipped_catalog().parts["nvidia.geforce.rtx-3070-ti"]
    assert isinstance(card, GPU)
    return predict_speed(workload, card, 1, 1, "none", shipped_zoo(), evidence=evidence)


@pytest.mark.parametrize(("stack", "seconds"), [("hf-transformers", 112), ("faster-whisper", 63)])
def test_speech_takes_about_as_long_as_published(stack: str, seconds: float) -> None:
    one, five, untold = (
        _speed(replace(SPEECH, stack=stack, variant=told))
        for told in ({"beams": 1}, {"beams": 5}, {})
    )
    assert one.metric == "sequences/s"
    assert five.low <= WINDOWS / seconds <= five.high and five.value == pytest.approx(
        WINDOWS / seconds, rel=0.35
    )
    assert five.value < one.value < 2 * five.value, (
        "one beam is faster than five, by less than twice"
    )
    assert one.assumed["output_tokens"] == str(SPOKEN_TOKENS)
    assert (
        untold.assumed["beams"] == ("5" if stack == "faster-whisper" else "1")
        and "beams" not in five.assumed
    )
    assert one.first_token_ms and one.next_token_ms and one.first_token_ms > one.next_token_ms


def test_a_batch_of_speech_waits_for_its_longest_window() -> None:
    same = replace(SPEECH, output_tokens=SPOKEN_TOKENS, batch_per_gpu=24)
    told, untold = _speed(same), _speed(replace(same, output_tokens=None))
    assert 1.1 < told.value / untold.value < 2
    assert untold.high / untold.low > told.high / told.low


def test_speech_of_which_nothing_is_said_is_heard_recording_after_recording() -> None:
    """As every program for it does; batches of 16 were said to need 20 GiB on any card."""
    bare = Workload(model="whisper-large-v3")
    named, untold = _speed(replace(bare, task="inference")), _speed(bare)
    assert (untold.value, untold.stack) == (named.value, "hf-transformers")
    assert untold.assumed["batch_per_gpu"] == "1"
    for stack in ("hf-transformers", "faster-whisper", "openai-whisper"):
        card = find_gpu("RTX 3060")
        asked = settled(replace(bare, stack=stack), card, 1, 1, "none", shipped_zoo())
        need = estimate_memory(asked, card, 1, shipped_zoo(), explained=False)
        assert asked.batch_per_gpu == 1 and need.high_gib < 11.5


@pytest.mark.parametrize("beams", [-1, 65, 2.5, "five", True])
def test_beams_are_a_small_whole_number(beams: object) -> None:
    with pytest.raises(WorkloadFault, match="beams"):
        _speed(replace(SPEECH, variant={"beams": beams}))


def test_times_of_reading_and_writing_add() -> None:
    alone = placed_evidence(current_evidence().placed)
    short, long = (_speed(replace(SPEECH, output_tokens=tokens), alone) for tokens in (10, 110))
    pair = halves(SPEECH, None, shipped_zoo())
    assert pair
    written = _speed(replace(pair.writing, output_tokens=10), alone)
    assert 1 / short.value == pytest.approx(
        PREPARED_S + 1 / _speed(pair.reading, alone).value + 10 * LOOKING / written.value
    )
    assert 1 / long.value - PREPARED_S > 4 * (1 / short.value - PREPARED_S)
    assert short.low < short.value < short.high
    assert short.steps[-1].value == short.value


def test_more_windows_at_once_are_faster_together_but_not_each() -> None:
    one, eight = (_speed(replace(SPEECH, batch_per_gpu=batch)) for batch in (1, 8))
    assert one.value < eight.value < 8 * one.value * 1.01


@pytest.mark.parametrize(
    "other",
    [
        replace(SPEECH, task="train"),
        replace(SPEECH, model="bert-large"),
        replace(SPEECH, model="t5-large"),
        replace(SPEECH, stack="mlperf-inference"),
    ],
)
def test_other_work_is_one_pass(other: Workload) -> None:
    assert halves(other, None, shipped_zoo()) is None


@pytest.mark.parametrize("model", ["t5-large", "bart-large"])
def test_translation_writes_the_tokens_it_is_asked_for(model: str) -> None:
    work = Workload(
        model=model,
        task="inference",
        precision="fp16",
        batch_per_gpu=8,
        input_tokens=256,
        output_tokens=64,
    )
    few, many = _speed(work), _speed(replace(work, output_tokens=256))
    assert 2 < few.value / many.value < 4.5


@pytest.mark.parametrize("value", [[32], "many", 1e12, -1, True])
def test_a_configuration_of_no_numbers_is_refused_by_its_field(value: object) -> None:
    config = {
        "model_type": "whisper",
        "d_model": 64,
        "encoder_layers": 2,
        "decoder_layers": 2,
        "encoder_attention_heads": 2,
        "decoder_attention_heads": 2,
        "encoder_ffn_dim": 256,
        "decoder_ffn_dim": value,
        "vocab_size": 100,
    }
    with pytest.raises(WorkloadFault, match="decoder_ffn_dim"):
        _speed(Workload(config=config, task="inference", precision="fp16", batch_per_gpu=1))


def _measured(workload: Workload, faster: float) -> Measured:
    """A measurement of one's own, so much faster than predicted."""
    value = faster * _speed(workload).value
    place = {"gpu": "RTX 3070 Ti", "count": 1, "nodes": 1, "link": "none"}
    found = {
        "id": "mine",
        "metric": "sequences/s",
        "value": value,
        "year": 2026,
        "source": "mine",
        "own": True,
    }
    return Measured(workload=workload, **place, **found)  # type: ignore[arg-type]


def test_users_who_speak_at_once_are_as_many_recordings_at_once() -> None:
    users = replace(SPEECH, batch_per_gpu=None, users=8, stack="hf-transformers")
    batch = replace(SPEECH, batch_per_gpu=8, stack="hf-transformers")
    assert _speed(users).value == _speed(batch).value
    card = find_gpu("RTX 3070 Ti")
    assert settled(users, card, 1, 1, "none", shipped_zoo()).batch_per_gpu is None


def test_ones_own_measurement_of_speech_corrects_speech() -> None:
    asked = replace(SPEECH, stack="faster-whisper")
    plain = _speed(asked)
    leaning = _speed(asked, with_own([_measured(asked, 1.5)]))
    assert leaning.value == pytest.approx(1.5 * plain.value, rel=0.15)
    assert leaning.high / leaning.low < plain.high / plain.low
    assert leaning.anchors[0].id == "mine" and leaning.steps[-1].value == leaning.value
    longer = replace(asked, output_tokens=200)
    assert _speed(longer, with_own([_measured(asked, 1.5)])).value > 1.2 * _speed(longer).value


def test_ones_own_measurement_of_speech_says_nothing_of_other_jobs_of_its_stack() -> None:
    asked = replace(SPEECH, stack="hf-transformers")
    writing = Workload(
        model="llama-3.1-8b",
        task="decode",
        precision="fp16",
        stack="hf-transformers",
        batch_per_gpu=1,
    )
    assert _speed(writing, with_own([_measured(asked, 1.5)])) == _speed(writing)
