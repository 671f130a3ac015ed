"""What a part of the campaign found."""

import json
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from msgspec import Struct


class Failure(Struct, frozen=True):
    """One broken promise: what was done, what came, and the input that makes it happen again."""

    deed: str
    came: str
    kept: str = ""


class Figures(Struct):
    """Deeds done, and what broke; `notes` are measured values by name."""

    part: str
    deeds: int = 0
    failures: list[Failure] = []
    notes: dict[str, float] = {}
    seconds: float = 0.0

    def line(self) -> str:
        """Return one line for people."""
        notes = "".join(f", {name} {value:g}" for name, value in self.notes.items())
        broken = len(self.failures)
        return f"{self.part}: {self.deeds} deeds, {broken} failures{notes} ({self.seconds:.0f} s)"


def keep(folder: Path | None, name: str, content: bytes) -> str:
    """Keep an input that broke something; return where, "" when nothing is kept."""
    if folder is None:
        return ""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)
    return str(folder / name)


def timed(part: Callable[[], Figures]) -> Figures:
    """Run a part of the campaign and say how long it took."""
    begun = time.perf_counter()
    made = part()
    made.seconds = time.perf_counter() - begun
    return made


def written(figures: Iterable[Figures], path: Path) -> None:
    """Write all figures as JSON."""
    found = [
        {
            "part": each.part,
            "deeds": each.deeds,
            "failures": [
                {"deed": one.deed, "came": one.came, "kept": one.kept} for one in each.failures
            ],
            **each.notes,
            "seconds": round(each.seconds, 1),
        }
        for each in figures
    ]
    path.write_text(json.dumps(found, indent=1) + "\n")
