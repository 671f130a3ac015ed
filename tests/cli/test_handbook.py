"""What the handbook names exists: commands with their options, fields and flags of workloads,
files."""

import argparse
import importlib
import re
import shlex
from pathlib import Path

import pytest

from rigplanner.cli.main import COMMANDS, SPEAKING, main
from rigplanner.rig.workload import Parallelism, Workload
from rigplanner.workload.limits import FLAGS

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / name
    for name in (
        "README.md",
        "CONTRIBUTING.md",
        "docs/using.md",
        "docs/command-line.md",
        "docs/workloads.md",
        "docs/catalog.md",
        "docs/importing.md",
        "docs/notes.md",
    )
]
LINES = [
    line
    for page in PAGES
    if page.name != "notes.md"  # its answers are lines too; a test of its own runs its commands
    for line in re.findall(r"^rigplanner .*", page.read_text("utf-8"), re.MULTILINE)
]


def options_of(parser: argparse.ArgumentParser) -> set[str]:
    """All options of a command and of the commands below it."""
    found = set()
    for action in parser._actions:
        found.update(action.option_strings)
        if isinstance(action, argparse._SubParsersAction):
            found.update(
                option for below in action.choices.values() for option in options_of(below)
            )
    return found


@pytest.mark.parametrize("line", LINES)
def test_commands_and_options_exist(line: str) -> None:
    said = shlex.split(re.split(r"\s{2,}", line)[0])
    if said[1].startswith("["):
        return
    assert said[1] in COMMANDS
    parser = argparse.ArgumentParser()
    importlib.import_module(f"rigplanner.cli.commands.{said[1].replace('-', '_')}").add_arguments(
        parser
    )
    known = options_of(parser) | ({"--language"} if said[1] in SPEAKING else set())
    assert {word for word in said if re.fullmatch(r"-(-[a-z-]+|[a-z])", word)} <= known


def test_there_are_commands_to_judge() -> None:
    assert {line.split()[1] for line in LINES} >= set(COMMANDS)


def first_cells(heading: str) -> set[str]:
    """The words in code marks in the first column of the table with this heading."""
    page = (ROOT / "docs" / "workloads.md").read_text("utf-8")
    rows = [
        line.split("|")[1]
        for table in re.findall(rf"\| {heading} \|.*?\n\n", page, re.DOTALL)
        for line in table.splitlines()[2:]
        if line
    ]
    return {word for row in rows for word in re.findall(r"`([^`]+)`", row)}


def test_fields_of_a_workload_exist() -> None:
    fields = first_cells("field")
    assert len(fields) > 20 and fields <= set(Workload.__struct_fields__)
    named = re.search(
        r"\| `parallelism` \| (.*?) \|", (ROOT / "docs" / "workloads.md").read_text("utf-8")
    )
    assert named is not None
    assert set(re.findall(r"`(\w+)`", named[1].split("(`optimizer`")[0])) <= set(
        Parallelism.__struct_fields__
    )


def test_flags_are_heard() -> None:
    flags = {flag.partition("=")[0] for flag in first_cells("flag")}
    assert len(flags) > 10 and flags <= set(FLAGS)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    links = [
        link for link in re.findall(r"\]\(([^)]+)\)", page.read_text("utf-8")) if "://" not in link
    ]
    assert not [link for link in links if not (page.parent / link.partition("#")[0]).exists()]


def test_the_output_on_the_front_page_is_what_the_commands_print(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each line under a `$ rigplanner` of the README, but for lines left out of long answers."""
    monkeypatch.chdir(ROOT)
    shown = re.findall(
        r"^\$ (rigplanner .*)\n((?:.*\n)*?)```", (ROOT / "README.md").read_text("utf-8"), re.M
    )
    assert len(shown) == 3
    for command, output in shown:
        main(shlex.split(command)[1:])
        printed = re.sub(r"[\u202f\u00a0]", " ", capsys.readouterr().out).splitlines()
        assert [line for line in output.splitlines() if line and line not in printed] == []
