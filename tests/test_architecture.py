"""The house holds: layers, no Qt in the engine, heavy libraries late, functions short, folders that
answer one question."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "rigplanner"
LONGEST_FUNCTION = 50
MOST_MODULES = 25
HEAVY = ("networkx", "numpy", "openpyxl", "pandas", "reportlab", "requests")


def _loaded_by(statement: str) -> set[str]:
    code = f"import sys\n{statement}\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in done.stdout.split()}


def test_the_engine_loads_no_qt_and_nothing_heavy() -> None:
    engine = ("rules.assess", "rules.check", "report.words.findings", "report.quote.content")
    loaded = _loaded_by(f"import {', '.join(f'rigplanner.{each}' for each in engine)}")
    assert not loaded & {"PySide6", *HEAVY}


def test_the_window_starts_without_heavy_libraries() -> None:
    assert not _loaded_by("import rigplanner.desktop.start, rigplanner.desktop.window") & set(HEAVY)


@pytest.mark.usefixtures("warm_cache")
def test_judging_a_rig_needs_nothing_heavy(samples: list[Path]) -> None:
    """Speeds need numpy alone; one GPU asks nothing of the machine's graph, several bring
    networkx."""
    for name, brought in (("rtx-5090", set()), ("titan-x-server", {"networkx"})):
        path = next(path for path in samples if path.stem == name)
        judge = (
            "from pathlib import Path; from rigplanner.catalog.load import shipped_catalog; from"
            " rigplanner.rig.files import read_rig; from rigplanner.rules.assess import assess;"
            f" assess(read_rig(Path({str(path)!r})), shipped_catalog())"
        )
        assert _loaded_by(judge) & {"PySide6", *HEAVY} - {"numpy"} == brought


def _lengths(text: str) -> Iterator[tuple[str, int]]:
    """Each function of a formatted module with its lines: it ends before the next line of code that
    stands no deeper, but for the bracket that closes its arguments."""
    lines, begun = text.splitlines(), {}
    last = 0
    for number, line in enumerate([*lines, "end"]):
        stripped = line.lstrip()
        if not stripped:
            continue
        deep = len(line) - len(stripped)
        for depth in [each for each in begun if deep <= each and stripped[0] != ")"]:
            name, first = begun.pop(depth)
            yield name, last - first + 1
        if stripped.startswith(("def ", "async def ")):
            begun[deep] = stripped.split("(")[0], number
        last = number


def test_functions_are_short() -> None:
    long = {
        f"{path.relative_to(PACKAGE)}:{name}"
        for path in PACKAGE.rglob("*.py")
        for name, lines in _lengths(path.read_text("utf-8"))
        if lines > LONGEST_FUNCTION
    }
    assert not long


def test_no_folder_is_crowded() -> None:
    crowded = {
        str(folder.relative_to(PACKAGE))
        for folder in PACKAGE.rglob("*/")
        if sum(1 for path in folder.glob("*.py") if path.name != "__init__.py") > MOST_MODULES
    }
    assert not crowded, "a folder that grows past 25 modules gets rooms"


def test_every_room_says_its_question() -> None:
    for init in PACKAGE.rglob("__init__.py"):
        docstring = ast.get_docstring(ast.parse(init.read_text("utf-8")))
        assert docstring, init


def test_the_layers_hold() -> None:
    done = subprocess.run(
        [str(Path(sys.executable).parent / "lint-imports")],
        cwd=PACKAGE.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
