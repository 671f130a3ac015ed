"""Every reason of refusal has words."""

from typing import get_args

from rigplanner.catalog.foreign import Reason, Refusal
from rigplanner.report.words.importing import REASON_WORDS, refusal_counts, refusal_text


def test_every_reason_has_words() -> None:
    assert set(REASON_WORDS) == set(get_args(Reason))


def test_sentences_and_counts() -> None:
    refused = [
        Refusal("a.json", "tdp", "number", "inf", lost=False),
        Refusal("b.json", "tdp", "number", "nan", lost=False),
        Refusal("c", "", "pickle"),
    ]
    assert (
        refusal_text(refused[0])
        == "a.json: tdp has a number that is none (inf); the rest was taken."
    )
    assert refusal_text(refused[2]) == "c is a pickle, which is never loaded."
    assert refusal_counts(refused) == [
        (2, "field tdp has a number that is none (the rest was taken)"),
        (1, "file or row is a pickle, which is never loaded"),
    ]
