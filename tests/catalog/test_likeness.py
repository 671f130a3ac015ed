"""Names that are written most like a text that names nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigplanner.catalog.find.gpu_names import shipped_gpu_names
from rigplanner.catalog.find.likeness import likest
from rigplanner.catalog.load import shipped_catalog

NAMES = [part.name for part in shipped_catalog().of_kind("gpu")]


@pytest.mark.parametrize(
    ("typed", "nearest"),
    [
        ("V1OO", "NVIDIA Tesla V100 SXM2 16GB"),
        ("2xV1OO", "NVIDIA Tesla V100 SXM2 16GB"),
        ("RTX4O90", "GeForce RTX 4090"),
        ("GTX1O80Ti", "GeForce GTX 1080 Ti"),
        ("MI30OX", "AMD Instinct MI300X"),
        ("Telsa K8O", "NVIDIA Tesla K80"),
        ("quatro p5000", "NVIDIA Quadro P5000"),
        ("RTX 3900", "GeForce RTX 3090"),
    ],
)
def test_a_slip_of_the_hand_is_answered_with_the_card(typed: str, nearest: str) -> None:
    meaning = shipped_gpu_names().meaning(typed)
    assert meaning.gpu is None and not meaning.several
    assert shipped_catalog().parts[meaning.near[0]].name == nearest


@pytest.mark.parametrize("typed", ["", "Quadro9999", "Frobnicator", "foo bar", "☃", "9" * 500])
def test_what_resembles_nothing_has_no_nearest(typed: str) -> None:
    assert likest(typed, ((name, name) for name in NAMES), 4) == []


@given(st.sampled_from(NAMES))
def test_a_name_is_nearest_to_itself(name: str) -> None:
    assert likest(name, ((each, each) for each in NAMES), 1)[0].casefold() == name.casefold()


@given(st.text(), st.lists(st.text(), max_size=5), st.integers(0, 4))
def test_any_text_gives_at_most_so_many_of_the_keys(text: str, names: list[str], most: int) -> None:
    found = likest(text, ((name, name) for name in names), most)
    assert len(found) <= most and len(set(found)) == len(found) and set(found) <= set(names)
