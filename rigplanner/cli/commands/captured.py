"""Text captured on other machines: read from a file, with faults as one sentence, and what it
names."""

import argparse
import codecs
import sys
from collections.abc import Callable
from pathlib import Path

from rigplanner.cli.faults import InputFault
from rigplanner.machine.formats.facts import Fact, facts_of_hwloc, facts_of_lspci, facts_of_query
from rigplanner.machine.formats.lspci_tree import TreeFault
from rigplanner.machine.formats.smi_matrix import MatrixFault
from rigplanner.machine.formats.smi_query import QueryFault
from rigplanner.machine.formats.xml_tree import LARGEST_TEXT, XmlFault
from rigplanner.machine.this_machine import read_this_machine
from rigplanner.whole_file import read_within

FAULTS = (MatrixFault, TreeFault, XmlFault, QueryFault)

FACT_READERS: dict[str, Callable[[str], tuple[Fact, ...]]] = {
    "query": facts_of_query,
    "hwloc": facts_of_hwloc,
    "lspci": facts_of_lspci,
}
"""Readers of text that names parts, by the name of their option."""


def captured_text(path: Path) -> str:
    """Return the text of a captured file; raise InputFault for one that is no text, too large or
    cannot be read."""
    try:
        return decoded(read_within(path, LARGEST_TEXT))
    except UnicodeDecodeError as fault:
        raise InputFault(
            f"{path}: not UTF-8 text (byte {fault.start}); expected a captured topology."
        ) from fault
    except OSError as fault:
        raise InputFault(f"{path}: cannot be read ({fault.strerror}).") from fault


def decoded(content: bytes) -> str:
    """Return text in UTF-8, or in UTF-16 with a byte order mark, as PowerShell writes what it
    redirects."""
    wide = content[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    return content.decode("utf-16" if wide else "utf-8-sig")


def add_fact_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options that read a machine's own words."""
    parser.add_argument(
        "--this-machine", action="store_true", help="the parts of the computer at hand (Linux)"
    )
    parser.add_argument(
        "--query", type=Path, metavar="FILE", help="the GPUs in the output of nvidia-smi -q"
    )
    parser.add_argument(
        "--hwloc", type=Path, metavar="FILE", help="the parts in an hwloc XML file (lstopo out.xml)"
    )
    parser.add_argument(
        "--lspci", type=Path, metavar="FILE", help="the GPUs in the output of lspci -tv"
    )


def facts_named(args: argparse.Namespace) -> tuple[Fact, ...]:
    """Return what the machine at hand and the files named say; raise InputFault for text of another
    kind."""
    facts = read_this_machine() if args.this_machine else ()
    for option, reader in FACT_READERS.items():
        path = getattr(args, option)
        if path is not None:
            try:
                facts += reader(captured_text(path))
            except FAULTS as fault:
                raise InputFault(f"{path}: {fault}") from fault
    return facts


def say_unmatched(command: str, facts: tuple[Fact, ...]) -> None:
    """Say on stderr which facts the catalog does not know."""
    for fact in facts:
        said = f"{fact.kind} {fact.name} {fact.detail}".rstrip()
        why = f"not in the catalog: {said}"
        if fact.kind == "memory":
            why = f"not added: {said}; the machine says how much, not which modules"
        print(f"rigplanner {command}: {why}", file=sys.stderr)
