"""A folder of captures from a machine: one text per program, each read by every reader whose words
it holds. Nothing is guessed from file names."""

import hashlib
import re
from pathlib import Path

from msgspec import Struct

from rigplanner.asbuilt.readers.programs import READERS
from rigplanner.asbuilt.seen import Fact
from rigplanner.machine.formats.smi_matrix import MatrixFault
from rigplanner.machine.formats.smi_query import QueryFault
from rigplanner.machine.formats.xml_tree import XmlFault
from rigplanner.whole_file import read_within

LARGEST_TEXT = 4 * 2**20
MOST_FILES = 400
DAY = re.compile(r"^# collected (\d{4}-\d{2}-\d{2})\b", re.MULTILINE)
UNDER_LOAD = re.compile(r"^# under load\b", re.MULTILINE)
REFUSED = re.compile(
    r"^# needs root\b|Permission denied|must be root|<access denied>", re.MULTILINE
)


class CaptureFault(ValueError):
    """A folder that holds no capture; the text says why."""


class CapturedText(Struct, frozen=True, kw_only=True):
    """One file: its checksum, the programs that were recognised in it and how many facts it gave.
    `problem` is "" or a code: empty, binary, too-large, unreadable, unknown, broken; `said` is what
    a reader said of a broken text. Not `whole`: root would show more."""

    name: str
    sha256: str = ""
    programs: tuple[str, ...] = ()
    facts: int = 0
    problem: str = ""
    said: str = ""
    whole: bool = True


class Capture(Struct, frozen=True, kw_only=True):
    """What was captured of one machine: the files, the facts of all, and the day where it is told.
    `loaded` where the collect script put load on the links before it read them."""

    texts: tuple[CapturedText, ...]
    facts: tuple[Fact, ...]
    day: str | None = None
    loaded: bool = False


def read_capture(folder: Path) -> Capture:
    """Return what the files of a folder (or one file) show. Raises CaptureFault where there is no
    such folder, it holds no file, or nothing in it is understood."""
    try:
        files = [folder] if folder.is_file() else sorted(p for p in folder.iterdir() if p.is_file())
    except OSError as fault:
        raise CaptureFault(f"{folder}: cannot be read ({fault.strerror or fault}).") from fault
    if len(files) > MOST_FILES:
        raise CaptureFault(f"{folder}: {len(files)} files; at most {MOST_FILES} are read.")
    texts: list[CapturedText] = []
    facts: list[Fact] = []
    day, loaded = None, False
    for path in files:
        captured, found, content = _read_file(path)
        texts.append(captured)
        facts.extend(found)
        dated = DAY.search(content)
        day = dated[1] if dated else day
        loaded = loaded or UNDER_LOAD.search(content) is not None
    if not facts:
        raise CaptureFault(
            f"{folder}: nothing in it is understood; expected the outputs of lspci -vvv, "
            "nvidia-smi -q, dmidecode and others, as `rigplanner accept --collect` gathers them."
        )
    return Capture(texts=tuple(texts), facts=tuple(facts), day=day, loaded=loaded)


def _read_file(path: Path) -> tuple[CapturedText, list[Fact], str]:
    try:
        content = read_within(path, LARGEST_TEXT)
    except OSError as fault:
        return (
            CapturedText(name=path.name, problem="unreadable", said=str(fault.strerror or "")),
            [],
            "",
        )
    sha256 = hashlib.sha256(content).hexdigest()
    if b"\0" in content:
        return CapturedText(name=path.name, sha256=sha256, problem="binary"), [], ""
    text = content.decode("utf-8", "replace")
    captured, facts = read_text(path.name, text, sha256)
    return captured, facts, text


def read_text(name: str, text: str, sha256: str = "") -> tuple[CapturedText, list[Fact]]:
    """Return the facts of one text, and which programs were recognised in it. Never raises."""
    programs: list[str] = []
    facts: list[Fact] = []
    said = ""
    for reader in READERS:
        if not reader.sign.search(text):
            continue
        try:
            found = reader.read(text)
        except (QueryFault, MatrixFault, XmlFault) as fault:
            said = said or str(fault)
            continue
        if found:
            programs.append(reader.program)
            facts.extend(found)
    problem = "" if facts else "empty" if not text.strip() else "broken" if said else "unknown"
    return (
        CapturedText(
            name=name,
            sha256=sha256,
            programs=tuple(programs),
            facts=len(facts),
            problem=problem,
            said=said if problem else "",
            whole=REFUSED.search(text) is None,
        ),
        facts,
    )
