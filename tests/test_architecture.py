"""The house holds: layers, no Qt in the engine, heavy libraries late, modules short."""

import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "rigplanner"
LONGEST_MODULE = 400
HEAVY = ("openpyxl", "reportlab", "requests")


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


def test_judging_a_rig_needs_nothing_heavy(samples: list[Path]) -> None:
    judge = (
        "from pathlib import Path; from rigplanner.catalog.load import shipped_catalog; from"
        " rigplanner.rig.files import read_rig; from rigplanner.rules.assess import assess;"
        f" assess(read_rig(Path({str(samples[-1])!r})), shipped_catalog())"
    )
    assert not _loaded_by(judge) & {"PySide6", *HEAVY}


@pytest.mark.parametrize(
    "path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE))
)
def test_a_module_is_short_or_says_why(path: Path) -> None:
    text = path.read_text("utf-8")
    if text.count("\n") > LONGEST_MODULE:
        assert "400 lines" in text.split('"""')[1], (
            "longer than 400 lines without a reason in the docstring"
        )


def test_the_layers_hold() -> None:
    done = subprocess.run(
        [str(Path(sys.executable).parent / "lint-imports")],
        cwd=PACKAGE.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
