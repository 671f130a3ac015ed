"""Lines of several parts: what names none of them is told."""

import pytest
from list_reading import entries


@pytest.mark.parametrize(
    ("line", "lost"),
    [
        ("2x RX 7900 XTX, 7950X, X670E Taichi, Frobnicator 9, 1600W Zork PSU", ["Frobnicator 9"]),
        ("Ryzen 9 7950X / RTX 4090 / Frobnicator 5000 / 4TB NVMe", ["Frobnicator 5000"]),
        ("My rig: dual 3090, 5950X, Frobnicator 9", ["Frobnicator 9"]),
        ("RTX 3090, 24GB, Ryzen 9 5950X, 16 cores at 3.4 GHz, AX1600i, 1600W", []),
        ("RTX 3090, 24GB GDDR6X, blower, 350 W", []),
    ],
)
def test_what_a_line_of_parts_names_beside_them_is_lost_aloud(line: str, lost: list[str]) -> None:
    """A piece with a number that tells nothing of the part before it is a part that nobody knows;
    where the line names one part alone, its pieces describe it."""
    found = entries(line)
    assert found[0].wish.parts
    named = [entry.wish.text for entry in found if not entry.wish.parts]
    assert [text for text in named if "Frobnicator" in text] == lost
    assert lost or named == []
