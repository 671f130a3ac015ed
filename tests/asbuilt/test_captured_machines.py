"""Captures of real machines: understood, and nothing in them breaks a reader."""

import json
import random
from pathlib import Path

import msgspec
import pytest
from captured_machines import captured_machines

from rigplanner.asbuilt.captures import Capture, CaptureFault, read_capture, read_text
from rigplanner.asbuilt.differences import differences
from rigplanner.asbuilt.promise import Promise

ALL = captured_machines()
PERSONAL = ("UUID", "Serial", "GUID", "@", "192.168.")


def test_there_are_forty_machines_half_of_them_with_a_known_fault() -> None:
    assert len(ALL) >= 40
    assert sum(bool(machine.finds) for machine in ALL.values()) >= 20
    assert sum(not machine.finds for machine in ALL.values()) >= 20


def test_captures_name_their_source_and_nobody() -> None:
    for name, machine in ALL.items():
        assert machine.source.startswith("http") and machine.read, name
        text = "\n".join(line for lines in machine.texts.values() for line in lines)
        assert not [word for word in PERSONAL if word in text], name


@pytest.mark.parametrize("name", ALL)
def test_each_text_is_understood(name: str) -> None:
    for file, lines in ALL[name].texts.items():
        captured, facts = read_text(file, "\n".join(lines))
        assert facts and not captured.problem and not captured.said


def test_every_field_is_read_as_a_person_reads_it() -> None:
    wrong: list[str] = []
    count = 0
    for name, machine in ALL.items():
        facts = machine.facts
        for kind, place, field, value in machine.fields:
            count += 1
            alike = [fact for fact in facts if type(fact).__name__ == kind]
            here = place < len(alike)
            found = json.loads(msgspec.json.encode(getattr(alike[place], field))) if here else None
            if found != value:
                wrong.append(f"{name}: {kind} {place} {field} is {found}, not {value}")
    assert count > 700 and not wrong


def _mutated(text: str, dice: random.Random) -> str:
    """Cut it, drop or double lines, swap characters, or put strange ones in."""
    lines = text.splitlines()
    way = dice.randrange(6)
    if way == 0:
        return text[: dice.randrange(len(text) + 1)]
    if way == 1:
        return "\n".join(line for line in lines if dice.random() < 0.6)
    if way == 2:
        return "\n".join(line[: dice.randrange(len(line) + 1)] for line in lines)
    if way == 3:
        return "".join(
            dice.choice("0x:. \t,9é\u0000(") if dice.random() < 0.05 else letter for letter in text
        )
    if way == 4:
        return "\n".join(dice.choice(lines) for _ in lines)
    return text.translate(
        {ord(digit): "9" * dice.randrange(1, 40) for digit in "0123456789" if dice.random() < 0.3}
    )


def _read_or_said(folder: Path) -> Capture | str:
    try:
        return read_capture(folder)
    except CaptureFault as fault:
        return str(fault)


def test_five_hundred_mutated_captures_are_read_or_named_in_one_sentence(tmp_path: Path) -> None:
    dice = random.Random(2027)
    names = sorted(ALL)
    folder = tmp_path / "capture"
    folder.mkdir()
    for number in range(500):
        lines = next(iter(ALL[names[number % len(names)]].texts.values()))
        file = folder / "capture.txt"
        file.write_text(_mutated("\n".join(lines), dice), "utf-8")
        made = _read_or_said(folder)
        if isinstance(made, str):
            assert made.startswith(str(folder)) and "\n" not in made
        else:
            assert made.facts and msgspec.json.decode(msgspec.json.encode(made.facts))
            promise = msgspec.convert(ALL[names[number % len(names)]].promise, Promise)
            assert msgspec.json.encode(differences(promise, made.facts))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "empty"),
        (b"\0\1\2", "binary"),
        (b"nothing of interest", "unknown"),
        (b"x" * (2**22 + 1), "unreadable"),
    ],
)
def test_a_file_that_is_no_capture_says_why(tmp_path: Path, content: bytes, problem: str) -> None:
    (tmp_path / "a.txt").write_bytes(content)
    (tmp_path / "lscpu.txt").write_text("CPU(s):  8\nSocket(s):  1\nModel name:  Any\n")
    made = read_capture(tmp_path)
    assert [text.problem for text in made.texts] == [problem, ""]


def test_an_empty_or_missing_folder_is_refused(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "none"):
        with pytest.raises(CaptureFault, match=str(folder)):
            read_capture(folder)
