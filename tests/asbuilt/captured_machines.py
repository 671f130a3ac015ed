"""Captures of real machines found in public: short excerpts with source and day, what is known of each, and the fields that a
person reads in them. `building` was looked at while the readers were written, `apart` only afterwards."""

import json
from pathlib import Path
from typing import Any

import msgspec

from rigplanner.asbuilt.captures import read_text
from rigplanner.asbuilt.seen import Fact

FOLDER = Path(__file__).parent / "captures"


class CapturedMachine(msgspec.Struct, frozen=True):
    """One file of `captures`: `finds` are the codes of the fault that its source names, none for a healthy machine."""

    about: str
    source: str
    read: str
    promise: dict[str, Any]
    finds: tuple[str, ...]
    texts: dict[str, tuple[str, ...]]
    fields: tuple[tuple[str, int, str, Any], ...]

    @property
    def facts(self) -> tuple[Fact, ...]:
        """All facts of its texts."""
        found: list[Fact] = []
        for name, lines in self.texts.items():
            found += read_text(name, "\n".join(lines))[1]
        return tuple(found)


def captured_machines(part: str = "*") -> dict[str, CapturedMachine]:
    """The machines by name: of `building`, of `apart`, or all."""
    files = sorted(FOLDER.glob(f"{part}/*.json"))
    return {
        path.stem: msgspec.convert(json.loads(path.read_text("utf-8")), CapturedMachine)
        for path in files
    }
