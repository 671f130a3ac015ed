"""What a text captured on another machine names, whichever program wrote it; NCCL's logs speak of
paths instead."""

from pathlib import Path

from rigplanner.machine.formats.facts import Fact, facts_of_hwloc, facts_of_lspci, facts_of_query
from rigplanner.machine.formats.lspci_tree import TreeFault
from rigplanner.machine.formats.nccl_log import NcclRun, read_nccl
from rigplanner.machine.formats.smi_matrix import MatrixFault
from rigplanner.machine.formats.smi_query import QueryFault
from rigplanner.machine.formats.xml_tree import LARGEST_TEXT, XmlFault
from rigplanner.whole_file import read_within

READERS = (facts_of_query, facts_of_hwloc, facts_of_lspci)


class CapturedFault(ValueError):
    """A file that is no captured text; the text says why."""


def said_in_file(path: Path) -> tuple[Fact, ...] | NcclRun:
    """Return what the output of `nvidia-smi -q` or `lspci -tv`, or an hwloc XML file, names, or
    what NCCL found, from its log or graph file. Raises CapturedFault."""
    try:
        text = read_within(path, LARGEST_TEXT).decode("utf-8")
    except UnicodeDecodeError as fault:
        raise CapturedFault(f"{path.name}: not UTF-8 text (byte {fault.start}).") from fault
    except OSError as fault:
        raise CapturedFault(f"{path.name}: cannot be read ({fault.strerror or fault}).") from fault
    for read in READERS:
        try:
            facts = read(text)
        except (QueryFault, XmlFault, TreeFault):
            continue
        if facts:
            return facts
    try:
        return read_nccl(text)
    except (MatrixFault, XmlFault) as fault:
        raise CapturedFault(
            f"{path.name}: names no part; expected nvidia-smi -q, lspci -tv, an hwloc XML file, or"
            " a log of NCCL."
        ) from fault
