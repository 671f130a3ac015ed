"""The command line: one table of commands, each in its own module with `add_arguments(parser)` and `run(args) -> exit code`."""

import argparse
import importlib
import sys
from collections.abc import Sequence

from rigplanner import __version__
from rigplanner.cli.faults import BAD_INPUT, FINE, InputFault

COMMANDS = {
    "check": "check a rig against all rules",
    "memory": "predict the GPU memory of cases or of one model, and how far it goes",
    "mig": "partitions of a GPU, which jobs fit them, the best packing",
    "trace": "measure a PyTorch model's memory without a GPU",
    "performance": "predict the speed of cases",
    "topology": "print what a rig's GPUs are linked by",
    "quote": "write a rig's quote as PDF",
    "export": "print a rig as Markdown, BBCode, CSV or JSON",
    "compare": "compare rigs",
    "catalog": "list, show and check catalog parts",
    "new": "make a rig from words",
    "guide": "propose a rig for a purpose and a budget, with reasons",
    "validate": "compare predictions with measured cases",
    "self-test": "check that this installation works",
}

SPEAKING = ("check", "quote", "export", "compare", "guide")
"""Commands whose answer is words for people; they take --language. Codes and JSON fields are the same in every language."""

__all__ = ["COMMANDS", "InputFault", "main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 fine, 1 findings of severity error, 2 bad input."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words and words[0] in COMMANDS:
        return _command(words[0], words[1:])
    parser = argparse.ArgumentParser(prog="rigplanner", description="Plan a deep-learning rig.", epilog=_list_of_commands(),
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("--version", action="version", version=f"rigplanner {__version__}")
    parser.add_argument("rig", nargs="?", help="a .rig file to open in the window")
    args = parser.parse_args(words)
    from rigplanner.desktop.start import open_window

    return open_window(args.rig)


def _list_of_commands() -> str:
    return "commands:\n" + "\n".join(f"  {name:12} {text}" for name, text in COMMANDS.items())


def _command(name: str, words: list[str]) -> int:
    from rigplanner.report.language import LANGUAGES, use_language

    module = importlib.import_module(f"rigplanner.cli.{name.replace('-', '_')}")
    parser = argparse.ArgumentParser(prog=f"rigplanner {name}", description=COMMANDS[name])
    module.add_arguments(parser)
    if name in SPEAKING:
        parser.add_argument("--language", choices=tuple(LANGUAGES), default="en", help="the language of the answer (default: en)")
    args = parser.parse_args(words)
    use_language(getattr(args, "language", "en"))
    try:
        return int(module.run(args))
    except InputFault as fault:
        print(f"rigplanner {name}: {fault}", file=sys.stderr)
        return BAD_INPUT
    except BrokenPipeError:
        return FINE


if __name__ == "__main__":
    sys.exit(main())
