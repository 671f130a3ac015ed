"""What the packages promise, as far as it can be told without building them."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from rigplanner.cli.commands import trace
from rigplanner.cli.main import COMMANDS
from rigplanner.data import read_shipped
from rigplanner.memory.measured import torch_step
from tools import packages, shell_words

ROOT = Path(__file__).parents[1]
APP = "io.github.rigplanner.RigPlanner"


def _project(path):
    return tomllib.loads((ROOT / path).read_text("utf-8"))["project"]


def test_the_headless_package_needs_all_but_qt():
    whole = {one for one in _project("pyproject.toml")["dependencies"] if "PySide6" not in one}
    assert set(_project("packaging/headless/pyproject.toml")["dependencies"]) == whole


def test_both_packages_give_the_same_command():
    assert (
        _project("packaging/headless/pyproject.toml")["scripts"]
        == _project("pyproject.toml")["scripts"]
    )


def test_nothing_that_the_folder_leaves_out_is_imported():
    lines = (ROOT / "packaging" / "left_out.txt").read_text("utf-8").splitlines()
    left_out = {line.split()[1] for line in lines if line.startswith("module ")}
    imported = set()
    for module in (ROOT / "rigplanner").rglob("*.py"):
        for found in re.finditer(
            r"^\s*(?:from (\S+) import (\S+)|import (\S+))", module.read_text("utf-8"), re.MULTILINE
        ):
            imported |= {found[1] or found[3], f"{found[1]}.{found[2]}"}
    assert not {
        (name, one)
        for name in left_out
        for one in imported
        if one and (one == name or one.startswith(f"{name}."))
    }


def test_what_is_imported_by_name_is_collected():
    """A quote without its bar codes failed: reportlab names their modules in strings."""
    spec = (ROOT / "packaging" / "rigplanner.spec").read_text("utf-8")
    assert set(re.findall(r'collect_submodules\("(.+?)"\)', spec)) == {
        "rigplanner",
        "reportlab.graphics.barcode",
    }
    assert '"_cffi_backend"' in spec  # without it no signature of an edition could be checked


def test_what_the_folder_packs_is_read_through_one_function(tmp_path):
    for name in (
        "catalog/models",
        "catalog/benchmarks",
        "resources/fonts",
        "resources/translations",
    ):
        (tmp_path / name).mkdir(parents=True)
    plain = ["catalog/models/zoo.json", "catalog/benchmarks/measured-a.json",
             "resources/fonts/NotoSansTC-Regular.ttf", "resources/translations/cs.po"]  # fmt: skip
    kept = ["catalog/benchmarks/stacks.json", "resources/fonts/NotoSans-Regular.ttf"]
    for name in plain + kept:
        (tmp_path / name).write_bytes(name.encode())
    packages.pack(tmp_path)
    assert {file.name for file in tmp_path.rglob("*.gz")} == {
        Path(one).name + ".gz" for one in plain
    }
    for name in plain + kept:
        assert read_shipped(tmp_path / name) == name.encode()


def test_the_folder_runs_what_the_program_asks_of_python():
    """The window asks in a process of its own whether Qt can draw: refused under any
    QT_QPA_PLATFORM else. `trace` hands a file to the Python that has PyTorch."""
    asked = [sys.executable, ROOT / "packaging" / "start.py", "-c", "print('asked')"]
    assert subprocess.run(asked, capture_output=True, text=True, check=True).stdout == "asked\n"
    spec = (ROOT / "packaging" / "rigplanner.spec").read_text("utf-8")
    assert str(Path(torch_step.__file__).relative_to(ROOT).as_posix()) in spec


def test_the_folder_itself_is_no_python_that_could_trace(monkeypatch):
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert sys.executable not in trace._interpreters(None)


def test_a_double_click_on_a_rig_opens_it():
    entry = (ROOT / f"packaging/linux/{APP}.desktop").read_text("utf-8")
    mime = (ROOT / f"packaging/linux/{APP}.mime.xml").read_text("utf-8")
    kind = re.search(r'<mime-type type="([^"]+)">', mime)[1]
    assert f"MimeType={kind};" in entry
    assert 'glob pattern="*.rig"' in mime
    assert re.search(r"^Exec=rigplanner %f$", entry, re.MULTILINE)


@pytest.fixture(scope="module")
def parser():
    return shell_words.whole_parser()


def test_every_command_stands_in_the_manual_and_the_completions(parser, tmp_path):
    shell_words.write(tmp_path)
    texts = [file.read_text("utf-8") for file in tmp_path.rglob("*") if file.is_file()]
    assert len(texts) == 4
    for text in texts:
        plain = text.replace("\\-", "-")
        assert [name for name in COMMANDS if name not in plain] == []


def test_every_option_is_completed_by_fish(parser):
    told = shell_words.fish(parser)
    for name, child in shell_words._children(parser).items():
        for action in child._actions:
            for word in action.option_strings:
                if word.startswith("--"):
                    assert re.search(rf"seen_subcommand_from {name}'.* -l {word[2:]}\b", told), word


def test_the_shell_takes_what_is_written_for_it(tmp_path):
    shell_words.write(tmp_path)
    done = subprocess.run(
        ["bash", "-n", tmp_path / "bash-completion/completions/rigplanner"],
        capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_values_with_quotes_do_not_leave_their_word():
    assert shell_words._quoted("it's 5 %%\n of \\") == "'it\\'s 5 % of \\\\'"
