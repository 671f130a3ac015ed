"""The command line: one table of commands, each in its own module with `add_arguments(parser)` and
`run(args) -> exit code`."""

import argparse
import contextlib
import importlib
import io
import os
import re
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import NoReturn

from rigplanner import __version__
from rigplanner.cli.display import why_no_display
from rigplanner.cli.faults import BAD_INPUT, FINE, INTERRUPTED, InputFault, own_fault
from rigplanner.cli.terminal import Terminal, one_line
from rigplanner.errors import TooLarge

COMMANDS = {
    "check": "check a rig against all rules",
    "memory": "predict the GPU memory of cases or of one model, and how far it goes",
    "mig": "partitions of a GPU, which jobs fit them, the best packing",
    "trace": "measure a PyTorch model's memory without a GPU",
    "performance": "predict the speed of cases, of one model, or of a rig's workloads",
    "formats": "number formats and what a GPU does with each; generations of GPUs",
    "tiny": "whether a network fits a microcontroller's SRAM and flash",
    "topology": "print what a rig's GPUs are linked by",
    "quote": "write a rig's quote as PDF",
    "accept": "compare a delivered machine with the rig it was bought by",
    "export": "print a rig as Markdown, BBCode, CSV or JSON",
    "compare": "compare rigs",
    "catalog": "list, show and check catalog parts",
    "new": "make a rig from words",
    "rank": "every card against your work: what fits, how fast, for how much",
    "runs": "every model against a machine: what runs, in which format, how fast",
    "sweep": "cards, counts, works, lengths and batches into one table",
    "best": "the best rig for some work and some money, with its proof",
    "validate": "compare predictions with measured cases",
    "self-test": "check that this installation works",
}

EXAMPLES = {
    "check": "rigplanner check lab.rig",
    "memory": 'rigplanner memory llama-3.1-8b --gpu "RTX 4090" --task train_lora',
    "mig": 'rigplanner mig "A100 SXM4 40GB" --layout 3g.20gb,2g.10gb',
    "trace": "rigplanner trace net.py",
    "performance": 'rigplanner performance resnet-50 --gpu "2x RTX 3090" --task train',
    "formats": 'rigplanner formats --gpu "V100 SXM2 16GB"',
    "tiny": 'rigplanner tiny --board "Nano 33 BLE"',
    "topology": "rigplanner topology lab.rig --format svg",
    "quote": "rigplanner quote lab.rig -o quote.pdf",
    "accept": "rigplanner accept lab.rig --plan",
    "export": "rigplanner export lab.rig --format markdown",
    "compare": "rigplanner compare one.rig two.rig",
    "catalog": 'rigplanner catalog list "4090 24gb"',
    "new": 'rigplanner new "2x RTX 3090" "Ryzen 9 5950X" -o lab.rig',
    "rank": 'rigplanner rank "llama-3.1-8b task=inference" --count 1,2 --budget 3000',
    "runs": 'rigplanner runs "2x RTX 3090"',
    "sweep": 'rigplanner sweep "llama-3.1-8b task=serve" --only "rtx 40" --batches 1,8,32',
    "best": "rigplanner best 'llama-3.1-8b task=train_qlora' --budget 4000 --country US",
    "validate": "rigplanner validate cases.jsonl",
    "self-test": "rigplanner self-test",
}
"""One line of each command that works as it stands; `--help` shows them."""

SPEAKING = (
    "check",
    "formats",
    "tiny",
    "memory",
    "performance",
    "quote",
    "accept",
    "export",
    "compare",
    "best",
    "rank",
)
"""Commands whose answer is words for people; they take --language. Codes and JSON fields are the
same in every language."""

NESTED = ("catalog",)
"""Commands of commands; all others take their words before, between and behind the options."""

__all__ = ["COMMANDS", "InputFault", "main"]

MOST_NAMED = 3
"""Values that an error names where more could stand; `--help` has them all."""


class Parser(argparse.ArgumentParser):
    """argparse whose errors are one sentence, the cause first, with the nearest values."""

    def error(self, message: str) -> NoReturn:
        """Print the cause and where the rest is told; exit with 2."""
        found = re.fullmatch(r"(.*)invalid choice: (.*?) \(choose from (.*)\)", message, re.DOTALL)
        if found:
            allowed = [word.strip("' ") for word in found[3].split(",")]
            near = get_close_matches(found[2].strip("'"), allowed, MOST_NAMED, 0.0)
            of_all = " among others" if len(allowed) > MOST_NAMED else ""
            message = f"{found[1]}{found[2]} is none of {', '.join(near or allowed)}{of_all}"
        if unknown := re.fullmatch(r"unrecognized arguments: (--[\w-]+).*", message, re.DOTALL):
            message += self._meant(unknown[1])
        self.exit(BAD_INPUT, f"{self.prog}: {one_line(message)}. See '{self.prog} --help'.\n")

    def _meant(self, option: str) -> str:
        """What somebody may have meant by an option that is none."""
        own = [word for word in self._option_string_actions if word.startswith("--")]
        if option == "--count" and "--gpu" in own:
            return '; the number stands before the name, as --gpu "3x RTX 3090"'
        near = get_close_matches(option, own, MOST_NAMED)
        return f"; the nearest are {', '.join(near)}" if near else ""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 fine, 1 findings of severity error, 2 bad
    input."""
    words = list(sys.argv[1:] if argv is None else argv)
    _speak_utf8()
    try:
        code = _run(words)
        sys.stdout.flush()
    except (InputFault, TooLarge) as fault:
        return _say(words, str(fault))
    except BrokenPipeError:
        _close_stdout()
        return FINE
    except KeyboardInterrupt:
        _close_stdout()
        return INTERRUPTED
    except OSError as fault:
        _close_stdout()
        return _say(
            words,
            f"{fault.filename or 'the answer'}: cannot be read or written"
            f" ({fault.strerror or fault}).",
        )
    except Exception as fault:  # no traceback reaches a user
        return _say(words, own_fault(fault))
    return code


def _say(words: list[str], text: str) -> int:
    command = f" {words[0]}" if words and words[0] in COMMANDS else ""
    print(f"rigplanner{command}: {one_line(text)}", file=sys.stderr)
    return BAD_INPUT


def _speak_utf8() -> None:
    """Print UTF-8 into files and pipes whatever the locale, and to a terminal what it can show;
    without stdout, to nowhere."""
    if sys.stdout is None:
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(
                encoding=stream.encoding if stream.isatty() else "utf-8", errors="backslashreplace"
            )
    if not isinstance(sys.stdout, Terminal):
        sys.stdout = Terminal(sys.stdout)
    if sys.stderr is not None and not isinstance(sys.stderr, Terminal):
        sys.stderr = Terminal(sys.stderr, messages=True)


def _close_stdout() -> None:
    """Let nothing that is still held back be written at exit, where Python would complain."""
    with contextlib.suppress(OSError, ValueError):
        shown = sys.stdout.fileno()
        os.dup2(os.open(os.devnull, os.O_WRONLY), shown)


def _run(words: list[str]) -> int:
    if words and words[0] in COMMANDS:
        return _command(words[0], words[1:])
    _refuse_unknown(words)
    args = window_parser().parse_args(words)
    reason = why_no_display(sys.platform, os.environ)
    if reason:
        print(f"rigplanner: {reason}", file=sys.stderr)
        return BAD_INPUT
    from rigplanner.desktop.start import open_window

    return open_window(args.rig)


def window_parser() -> Parser:
    """Return the parser of the words without a command: a rig to open, the version, the help."""
    parser = Parser(
        prog="rigplanner",
        usage="rigplanner [FILE.rig] | rigplanner COMMAND ... | rigplanner COMMAND --help",
        description="Plan a deep-learning rig: the window, or one command.",
        epilog=_list_of_commands(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"rigplanner {__version__}")
    parser.add_argument("rig", nargs="?", help="a .rig file to open in the window")
    return parser


def _refuse_unknown(words: list[str]) -> None:
    """Raise InputFault for a first word that is neither a command nor a file."""
    first = words[0] if words else "-"
    if first.startswith("-") or first.endswith(".rig"):
        return
    with contextlib.suppress(OSError):  # longer than the name of any file
        if Path(first).exists():
            return
    near = get_close_matches(first, COMMANDS, 1)
    hint = f"did you mean '{near[0]}'?" if near else "'rigplanner --help' lists the commands."
    raise InputFault(f"there is no command and no file '{first[:40]}'; {hint}")


def _list_of_commands() -> str:
    lines = [f"  {name:12} {text}\n  {'':12} {EXAMPLES[name]}" for name, text in COMMANDS.items()]
    return "\n".join(["commands, each with an example:", *lines])


def declare_arguments(name: str, parser: argparse.ArgumentParser) -> None:
    """Give `parser` the arguments of the command `name`."""
    from rigplanner.report.language import LANGUAGES

    _module(name).add_arguments(parser)
    if name in SPEAKING:
        parser.add_argument(
            "--language",
            choices=tuple(LANGUAGES),
            default="en",
            help="the language of the answer (default: en)",
        )


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"rigplanner.cli.commands.{name.replace('-', '_')}")


def _command(name: str, words: list[str]) -> int:
    from rigplanner.report.language import use_language

    parser = Parser(
        prog=f"rigplanner {name}",
        description=COMMANDS[name],
        epilog=f"example: {EXAMPLES[name]}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    declare_arguments(name, parser)
    if parser.get_default("fields") is not None:
        from rigplanner.cli.asked import fields_as_options

        words = fields_as_options(words, parser._option_string_actions)
    args = (parser.parse_args if name in NESTED else parser.parse_intermixed_args)(words)
    use_language(getattr(args, "language", "en"))
    return int(_module(name).run(args))


if __name__ == "__main__":
    sys.exit(main())
