"""Tables in a terminal: no line is wider, what gives way is said."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigplanner.catalog.cloud import shipped_cloud
from rigplanner.catalog.load import Catalog
from rigplanner.report.columns import table_lines
from rigplanner.report.format import columns_of
from rigplanner.report.words.hire import HIRE_COLUMNS, hire_table

HEADS = ("Name", "Speed", "Price", "Notes")
CELLS = st.text(st.sampled_from("ab -,記憶體"), max_size=40)
ROWS = st.lists(st.tuples(CELLS, CELLS, CELLS, CELLS), min_size=1, max_size=5)


def letters(text: str) -> str:
    return re.sub(r"\s", "", text)


@given(ROWS, st.integers(40, 200))
def test_a_table_is_no_wider_than_its_terminal(rows: list[tuple[str, ...]], width: int) -> None:
    lines = table_lines(HEADS, rows, (1,), {0: 8, 3: 8}, (2, 1), width)
    assert all(columns_of(line) <= width for line in lines)
    kept = [at for at in range(4) if any(row[at] for row in rows)]
    for at in (at for at in kept if at in (0, 3)):
        assert HEADS[at] in lines[0]
    said = " ".join(lines)
    for at in (at for at in kept if at in (1, 2)):
        assert HEADS[at] in said, "shown, or named among what has no room"


@given(ROWS)
def test_a_file_gets_every_column(rows: list[tuple[str, ...]]) -> None:
    lines = table_lines(HEADS, rows, (1,), {0: 8, 3: 8}, (2, 1))
    kept = [at for at in range(4) if any(row[at] for row in rows)]
    assert len(lines) == (len(rows) + 1 if kept else 0)
    for row, line in zip(rows, lines[1:], strict=False):
        assert letters(line) == letters("".join(row[at] for at in kept))


def test_what_is_least_needed_gives_way_first_and_words_wrap() -> None:
    rows = [("Radeon RX 7900 XTX of a maker", "12,345 tokens/s", "$1,234", "measured nearby")]
    wide = table_lines(HEADS, rows, (1, 2), {0: 12, 3: 8}, (2, 1), 80)
    assert len(wide) == 2 and "$1,234" in wide[1]
    narrow = table_lines(HEADS, rows, (1, 2), {0: 12, 3: 8}, (2, 1), 42)
    assert "$1,234" not in " ".join(narrow) and "12,345 tokens/s" in " ".join(narrow)
    assert any("No room for: Price" in line for line in narrow)
    assert letters("".join(line[:12] for line in narrow[1:4])) == "RadeonRX7900XTXofamaker"


@pytest.mark.parametrize("width", [40, 80, 120])
def test_machines_for_hire_keep_to_the_terminal(catalog: Catalog, width: int) -> None:
    machines = shipped_cloud().found(["V100"])
    text = hire_table(machines, catalog, width)
    assert len(machines) > 5
    assert all(columns_of(line) <= width for line in text.splitlines())
    assert text.splitlines()[0].startswith(HIRE_COLUMNS[0])
    assert "An hour" in text.splitlines()[0]
