"""The journal brings back what a crash left, and only that."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rigplanner.rig.document import Rig
from rigplanner.rig.files import encode_rig
from rigplanner.rig.journal import (
    MOST_STEPS,
    Step,
    bring_back,
    forget,
    journal_folder,
    left_behind,
    new_journal,
    record,
    set_aside,
    unsaved,
)

RECORD = """
import os, sys
from pathlib import Path
from rigplanner.rig.document import Rig
from rigplanner.rig.journal import new_journal, record
record(new_journal(Path(sys.argv[1])), Rig(name="left behind"), Path(sys.argv[2]))
os._exit(9)
"""

WAIT = """
import sys
from pathlib import Path
from rigplanner.rig.document import Rig
from rigplanner.rig.journal import new_journal, record
record(new_journal(Path(sys.argv[1])), Rig(name="open elsewhere"), None)
print("recorded", flush=True)
sys.stdin.read()
"""


def test_a_killed_program_leaves_its_rig(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", RECORD, str(tmp_path), "/somewhere/a.rig"], check=False)
    (found,) = unsaved(tmp_path)
    assert (found.rig.name, found.document) == ("left behind", "/somewhere/a.rig")
    forget(found.journal)
    assert unsaved(tmp_path) == []


def test_an_open_window_is_not_a_crash(tmp_path: Path) -> None:
    journal = new_journal(tmp_path)
    record(journal, Rig(name="open here"), None)
    assert unsaved(tmp_path) == []
    assert journal.exists()


@pytest.mark.parametrize("process", [1, 0, -1, 3_999_999, 2**31, 2**62, None])
def test_a_journal_is_offered_after_a_reboot_and_in_a_container(
    tmp_path: Path, process: int | None
) -> None:
    """There another program, or this one, has the process id that the journal names; its lock went
    with the former program."""
    journal, process = tmp_path / "x.journal", process or os.getpid()
    for lock in ("x.lock", "", "../../elsewhere"):
        header = json.dumps({"document": None, "process": process, "lock": lock}).encode()
        journal.write_bytes(header + b"\n" + encode_rig(Rig(name="left behind")))
        (tmp_path / "x.lock").write_text(str(process))
        assert [left.rig.name for left in unsaved(tmp_path)] == ["left behind"]


def test_another_running_program_keeps_its_journal(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WAIT, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdin and other.stdout and other.stdout.readline()
        assert unsaved(tmp_path) == []
        other.kill()
        other.wait()
        assert [left.rig.name for left in unsaved(tmp_path)] == ["open elsewhere"]


def test_a_journal_forgotten_leaves_nothing(tmp_path: Path) -> None:
    journal = new_journal(tmp_path)
    record(journal, Rig(), None)
    forget(journal)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="open files are counted in /proc")
def test_rigs_left_unsaved_keep_one_file_open_together(tmp_path: Path) -> None:
    def held() -> list[str]:
        ours = (os.path.realpath(each) for each in Path("/proc/self/fd").iterdir())
        return [name for name in ours if name.startswith(str(tmp_path))]

    journals = [new_journal(tmp_path) for _ in range(50)]
    for journal in journals:
        record(journal, Rig(), None)
    assert len(held()) == 1 and unsaved(tmp_path) == []
    for journal in journals:
        forget(journal)
    assert held() == [] and list(tmp_path.iterdir()) == []


def test_a_file_whose_name_is_no_text_has_a_journal(tmp_path: Path) -> None:
    document = Path(os.fsdecode(b"/caf\xe9/a.rig"))
    header = subprocess.run([sys.executable, "-c", RECORD, str(tmp_path), document], check=False)
    (left,) = unsaved(tmp_path)
    assert header.returncode == 9 and left.document == str(document)


BROKEN = (
    b"{}\n{",
    b'{"document":"\xff\xfe","process":1}\n',
    b"",
    b'{"document":null,"process":1}\n' + b"[" * 90_000,
    b'{"document":null,"process":1e99}\n{}',
)


@pytest.mark.parametrize("content", BROKEN)
def test_a_broken_journal_is_set_aside_and_told_not_deleted(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.journal").write_bytes(content)
    found, (broken,) = left_behind(tmp_path)
    assert found == [] and broken.reason
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [
        content
    ] and broken.kept.name == "x.broken"


def test_the_folder_is_made() -> None:
    assert journal_folder().is_dir()


def _left(folder: Path, steps: list[Step], rig: Rig) -> None:
    """A journal as a program leaves it that is gone: nobody holds its lock."""
    journal = new_journal(folder)
    record(journal, rig, None, steps)
    content = journal.read_bytes()
    forget(journal)
    journal.write_bytes(content)


def test_a_journal_brings_its_history_back(tmp_path: Path) -> None:
    steps = [Step(f"edit {n}", Rig(name=f"state {n}")) for n in range(MOST_STEPS + 5)]
    _left(tmp_path, steps, steps[-1].rig)
    (found,) = unsaved(tmp_path)
    assert found.steps == tuple(steps[-MOST_STEPS:])
    assert found.edits == len(steps) - 1


def test_a_step_that_is_no_rig_costs_the_history_and_not_the_rig(tmp_path: Path) -> None:
    _left(tmp_path, [Step("a", Rig(name="x")), Step("b", Rig(name="y"))], Rig(name="y"))
    (journal,) = tmp_path.glob("*.journal")
    head, _, body = journal.read_bytes().partition(b"\n")
    header = json.loads(head)
    header["steps"][0]["rig"]["items"] = [{"uid": "", "part": "p", "quantity": -3}]
    journal.write_bytes(json.dumps(header).encode() + b"\n" + body)
    (found,) = unsaved(tmp_path)
    assert (found.rig.name, found.steps) == ("y", ())


def test_what_is_discarded_can_be_had_back_for_a_while(tmp_path: Path) -> None:
    _left(tmp_path, [], Rig(name="precious"))
    (found,) = unsaved(tmp_path)
    kept = set_aside(found.journal)
    assert kept is not None
    assert unsaved(tmp_path) == []
    bring_back(kept)
    assert [each.rig.name for each in unsaved(tmp_path)] == ["precious"]
    kept = set_aside(found.journal)
    assert kept is not None
    os.utime(kept, (0, 0))
    assert unsaved(tmp_path) == []
    assert not kept.exists()
