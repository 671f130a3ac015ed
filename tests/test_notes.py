"""What docs/notes.md shows is what the commands print, and its tables hold what is shown."""

import re
import shlex
from pathlib import Path

import pytest

from rigplanner.cli.main import main

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "notes.md").read_text("utf-8")
SECTIONS = dict(re.findall(r"^## (.+)\n((?:(?!## ).*\n)*)", PAGE, re.MULTILINE))
LEFT_OUT = "..."
NEAR = 0.05
"""How far a predicted figure may move before the page is wrong: a fit made anew moves it less, a law
that breaks moves it more. Names, counts, days, prices and verdicts are held to the letter."""
NUMBER = re.compile(r"\(?(\d+(?:\.\d+)?)[,;.)]?")
BEHIND = [
    "images/s",
    "tokens/s",
    "sequences/s",
    "steps/s",
    "TFLOPS",
    "GB/s",
    "GiB",
    "ms",
    "µs",
    "s",
    "h",
    "times",
    "%",
    "W",
    "KB",
    "MB",
    "to",
    "–",
]
"""Words that follow a predicted figure."""
BEFORE = ("to", "–")


def console_of(section: str) -> list[tuple[str, list[str]]]:
    """The commands of a section, each with the lines that the page shows of its answer."""
    shown: list[tuple[str, list[str]]] = []
    for block in re.findall(r"^```console\n(.*?)^```", section, re.MULTILINE | re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ "):
                shown.append((line[2:], []))
            else:
                shown[-1][1].append(line)
    return shown


def tables_of(section: str) -> list[list[str]]:
    """The cells of each row of a section's tables, without their heads."""
    rows = re.findall(r"^\| (.*) \|$", section, re.MULTILINE)
    return [row.split(" | ") for row in rows if not row.startswith("figure | ")]


def plain(text: str) -> str:
    """The text with the narrow spaces of numbers as common ones."""
    return re.sub(r"[\u202f\u00a0\u2009]", " ", text)


def words_of(line: str) -> list[str]:
    """The words of a line, thousands joined to one number."""
    return re.sub(r"(?<=\d)[ ,](?=\d{3}(?!\d))", "", line).split()


def same_line(shown: str, printed: str) -> bool:
    """Whether a line is printed as shown but for predicted figures that lie near."""
    ours, theirs = words_of(shown), words_of(printed)
    return len(ours) == len(theirs) and all(
        one == other or (is_figure(ours, at) and is_figure(theirs, at) and near(one, other))
        for at, (one, other) in enumerate(zip(ours, theirs, strict=True))
    )


def is_figure(words: list[str], at: int) -> bool:
    """Whether a word is a number with a unit behind it, or an end of an interval."""
    behind = words[at + 1].strip(".,;:)") if at + 1 < len(words) else ""
    before = words[at - 1] if at else ""
    return bool(NUMBER.fullmatch(words[at])) and (behind in BEHIND or before in BEFORE)


def near(one: str, other: str) -> bool:
    found = [NUMBER.fullmatch(word) for word in (one, other)]
    ours, theirs = (float(each.group(1)) for each in found if each)
    return abs(ours - theirs) <= NEAR * max(ours, theirs)


def first_not_printed(shown: list[str], printed: list[str]) -> str | None:
    """The first line shown that does not follow the one before it in `printed`: anywhere behind
    it where `...` stands between the two, else at once."""
    place, anywhere = 0, False
    for line in shown:
        if line.strip() == LEFT_OUT:
            anywhere = True
            continue
        until = len(printed) if anywhere else place + 1
        found = next((at for at in range(place, min(until, len(printed)))
                      if same_line(line, printed[at])), None)  # fmt: skip
        if found is None:
            return line
        place, anywhere = found + 1, False
    return None if anywhere or place == len(printed) else f"({len(printed) - place} lines more)"


def test_a_line_that_is_not_printed_or_out_of_order_is_found() -> None:
    printed = ["one", "two", "three"]
    assert first_not_printed(["one", "two", "three"], printed) is None
    assert first_not_printed(["one", "...", "three"], printed) is None
    assert first_not_printed(["...", "two", "..."], printed) is None
    assert first_not_printed(["one", "three"], printed) == "three"
    assert first_not_printed(["...", "three", "...", "two"], printed) == "two"
    assert first_not_printed(["one"], printed) == "(2 lines more)"
    assert first_not_printed(["...", "four"], printed) == "four"


@pytest.mark.parametrize(
    ("printed", "same"),
    [
        ("1 × GTX 1080: 9,024 images/s, 51.0 to 60.0 ms", True),
        ("1 × GTX 1080: 9,300 images/s,  50.0 to 61.0 ms", True),
        ("1 × GTX 1080: 9,800 images/s, 51.0 to 60.0 ms", False),
        ("1 × GTX 1080: 9,024 images/s, 51.0 to 70.0 ms", False),
        ("1 × GTX 1070: 9,024 images/s, 51.0 to 60.0 ms", False),
        ("2 × GTX 1080: 9,024 images/s, 51.0 to 60.0 ms", False),
        ("1 × GTX 1080: 9 024 tokens/s, 51.0 to 60.0 ms", False),
    ],
)
def test_a_figure_may_move_a_little_and_a_name_not_at_all(printed: str, same: bool) -> None:
    assert same_line("1 × GTX 1080: 9,024 images/s, 51.0 to 60.0 ms", printed) is same


@pytest.mark.parametrize("heading", SECTIONS)
def test_what_the_page_shows_is_printed(
    heading: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    (tmp_path / "resources").symlink_to(ROOT / "resources")
    monkeypatch.chdir(tmp_path)
    shown = console_of(SECTIONS[heading])
    assert shown, "a section shows one command at least"
    for command, lines in shown:
        words = shlex.split(command)
        assert words[0] == "rigplanner"
        main(words[1:])
        captured = capsys.readouterr()
        printed = plain(captured.out + captured.err).splitlines()
        printed = [line.rstrip() for line in printed if line.strip()]
        wanted = [line for line in lines if line.strip()]
        assert first_not_printed(wanted, printed) is None, "\n".join([command, *printed])


@pytest.mark.parametrize("heading", SECTIONS)
def test_figures_of_the_tables_stand_in_the_lines_shown(heading: str) -> None:
    section = SECTIONS[heading]
    lines = "\n".join(line for _, shown in console_of(section) for line in shown)
    rows = tables_of(section)
    assert rows, "a section has the notes' figures beside ours"
    for row in rows:
        figure, notes, ours, why = row
        assert figure and notes and why
        quoted = re.findall(r"`([^`]+)`", ours)
        assert quoted, f"{figure}: what RigPlanner prints stands in code marks"
        assert [words for words in quoted if words not in lines] == []
