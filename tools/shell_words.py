"""What a shell knows of the commands: the man page, and completion for bash, zsh and fish, written
from the parsers themselves.

    python -m tools.shell_words FOLDER

writes FOLDER/man/man1/rigplanner.1 and the three files of completion in the folders that
distributions read them from."""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import shtab
from argparse_manpage.manpage import Manpage

from rigplanner import __version__
from rigplanner.cli.main import COMMANDS, EXAMPLES, declare_arguments

FILES = ("FILE", "RIG", "FOLDER", "CASES", "PATH")
"""Words of metavars and names behind which a shell offers files."""


def whole_parser() -> argparse.ArgumentParser:
    """Return one parser with every command below it."""
    parser = argparse.ArgumentParser(
        prog="rigplanner", description="Plan a deep-learning rig: the window, or one command."
    )
    parser.add_argument("--version", action="store_true", help="print the version")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for name, text in COMMANDS.items():
        declare_arguments(
            name, commands.add_parser(name, help=text, description=f"{text}\n\n{EXAMPLES[name]}")
        )
    for action in _actions(parser):
        if _is_file(action):
            action.complete = shtab.FILE  # type: ignore[attr-defined]
    return parser


def _children(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    return {
        name: child
        for action in parser._actions
        if isinstance(action, argparse._SubParsersAction)
        for name, child in action.choices.items()
    }


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    yield from parser._actions
    for child in _children(parser).values():
        yield from _actions(child)


def _is_file(action: argparse.Action) -> bool:
    name = f"{action.metavar or ''} {action.dest}".upper()
    return action.nargs != 0 and not action.choices and any(word in name for word in FILES)


def fish(parser: argparse.ArgumentParser) -> str:
    """Return the completion for fish, which the library of the other two does not write."""
    first = "complete -c rigplanner -n __fish_use_subcommand"
    lines = [f"{first} -f -k -a '(__fish_complete_suffix .rig)'"]
    lines += [f"{first} -a {name} -d {_quoted(text)}" for name, text in COMMANDS.items()]
    for name, child in _children(parser).items():
        lines += _fish_of(child, f"__fish_seen_subcommand_from {name}")
    return "\n".join(lines) + "\n"


def _fish_of(parser: argparse.ArgumentParser, when: str) -> Iterator[str]:
    within = f"complete -c rigplanner -n {_quoted(when)}"
    for name, child in _children(parser).items():
        yield f"{within} -f -a {name}"
        yield from _fish_of(child, f"{when}; and __fish_seen_subcommand_from {name}")
    for action in parser._actions:
        if action.help is argparse.SUPPRESS or isinstance(action, argparse._SubParsersAction):
            continue
        values = f" -a {_quoted(' '.join(map(str, action.choices)))}" if action.choices else ""
        if not action.option_strings:
            if values:
                yield f"{within} -f{values}"
            continue
        words = "".join(
            f" -l {word[2:]}" if word.startswith("--") else f" -s {word[1:]}"
            for word in action.option_strings
        )
        taken = "" if action.nargs == 0 else " -r" if _is_file(action) else " -x"
        told = f" -d {_quoted(action.help)}" if action.help else ""
        yield f"{within}{words}{taken}{values}{told}"


def _quoted(text: str) -> str:
    plain = " ".join(text.replace("%%", "%").split())
    return "'" + plain.replace("\\", "\\\\").replace("'", "\\'") + "'"


def man_page(parser: argparse.ArgumentParser) -> str:
    """Return the manual page in roff."""
    parser.man_short_description = "plan a deep-learning rig"  # type: ignore[attr-defined]
    return str(
        Manpage(
            parser,
            format="single-commands-section",
            _data={
                "prog": "rigplanner",
                "project_name": "RigPlanner",
                "version": __version__,
                "manual_section": 1,
                "manual_title": "RigPlanner",
            },
        )
    )


def write(folder: Path) -> None:
    """Write the four files below `folder`, a `share` folder."""
    parser = whole_parser()
    for name, text in (
        ("man/man1/rigplanner.1", man_page(parser)),
        ("bash-completion/completions/rigplanner", shtab.complete(parser, "bash")),
        ("zsh/vendor-completions/_rigplanner", shtab.complete(parser, "zsh")),
        ("fish/vendor_completions.d/rigplanner.fish", fish(parser)),
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
