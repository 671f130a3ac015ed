"""The journal brings back what a crash left, and only that."""

import subprocess
import sys
from pathlib import Path

from rigplanner.rig.document import Rig
from rigplanner.rig.journal import forget, journal_folder, new_journal, record, unsaved

RECORD = """
import os, sys
from pathlib import Path
from rigplanner.rig.document import Rig
from rigplanner.rig.journal import new_journal, record
record(new_journal(Path(sys.argv[1])), Rig(name="left behind"), Path("/somewhere/a.rig"))
os._exit(9)
"""


def test_a_killed_program_leaves_its_rig(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", RECORD, str(tmp_path)], check=False)
    (found,) = unsaved(tmp_path)
    assert (found.rig.name, found.document) == ("left behind", "/somewhere/a.rig")
    forget(found.journal)
    assert unsaved(tmp_path) == []


def test_an_open_window_is_not_a_crash(tmp_path: Path) -> None:
    journal = new_journal(tmp_path)
    record(journal, Rig(name="open here"), None)
    assert unsaved(tmp_path) == []
    assert journal.exists()


def test_a_broken_journal_is_set_aside_not_deleted(tmp_path: Path) -> None:
    (tmp_path / "x.journal").write_bytes(b"{}\n{")
    assert unsaved(tmp_path) == []
    assert [path.name for path in tmp_path.iterdir()] == ["x.broken"]


def test_the_folder_is_made() -> None:
    assert journal_folder().is_dir()
