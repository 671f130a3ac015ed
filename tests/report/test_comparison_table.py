"""A comparison in a terminal: nothing is cut, nothing is wider than the terminal."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigplanner.report.comparison.content import Comparison, ComparisonCell, ComparisonLine
from rigplanner.report.comparison.text_table import table
from rigplanner.report.format import columns_of, wrapped

WORDS = st.text(st.sampled_from("ab -,記憶體"), max_size=60)


@given(WORDS, st.integers(2, 30))
def test_a_wrapped_text_keeps_its_letters_and_its_width(text: str, columns: int) -> None:
    lines = wrapped(text, columns)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert all(columns_of(line) <= columns for line in lines)


@pytest.mark.parametrize("width", [40, 80, 120, None])
@pytest.mark.parametrize("rigs", [2, 5])
def test_a_comparison_is_no_wider_than_its_terminal(width: int | None, rigs: int) -> None:
    cells = tuple(
        ComparisonCell(f"rig{n} " + "Corsair Vengeance DDR5-6000 " * n) for n in range(rigs)
    )
    lines = [
        ComparisonLine(
            title="Memory", subject="", group="chosen", cells=cells, best=(1,), known=(0, 1)
        )
    ]
    text = table(
        Comparison(names=("Name",) * rigs, lines=tuple(lines), changes=("so " * 90,)), width
    )
    assert all(columns_of(line) <= (width or 10_000) for line in text.splitlines())
    found = re.findall(r"rig\d|\*", text)
    assert sorted(found) == ["*", *(f"rig{n}" for n in range(rigs))]
    assert text.count("Vengeance") == sum(range(rigs))
