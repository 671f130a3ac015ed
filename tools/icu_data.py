"""The data of ICU, which Qt's library for texts brings along, without what Qt never asks it for.

Qt takes names of languages, units and money and the breaks of words and lines from tables of its
own. Of ICU it uses the order of letters, which is kept for the languages of the window, long names
of zones, which nothing here shows, and the codes of old systems' files, which Python reads here.
32 MB become 3.5."""

import re
import struct
import subprocess
from pathlib import Path

MAGIC = b"\xda\x27"
HEAD = struct.Struct("<H2s")
ENTRY = struct.Struct("<II")
COUNT = struct.Struct("<I")
ALIGNED = 16
NAME_AT = 12
"""Bytes before the name of the format in a header."""
KEPT = re.compile(
    r"coll/(?:ucadata\.icu|(?:root|res_index|(?:cs|en|zh)(?:_\w+)?)\.res)"
    r"|[^/]+\.(?:icu|nrm)|res_index\.res|(?![a-z]{2,3}[_.])[^/]+\.res"
)
"""Orders of letters, properties and normal forms of letters, and tables of no one language (root,
likelySubtags, supplementalData)."""


def items_of(data: bytes) -> dict[str, bytes]:
    """Return the items of ICU's common data by name ("coll/cs.res"); raises ValueError for other
    data."""
    size, magic = HEAD.unpack_from(data)
    if magic != MAGIC or data[NAME_AT : NAME_AT + 4] != b"CmnD":
        raise ValueError("no common data of ICU")
    (count,) = COUNT.unpack_from(data, size)
    places = [ENTRY.unpack_from(data, size + 4 + at * ENTRY.size) for at in range(count)]
    ends = [place for _, place in places[1:]] + [len(data) - size]
    found = {}
    for (name_at, begin), end in zip(places, ends, strict=True):
        name = data[size + name_at : data.index(b"\0", size + name_at)].decode()
        found[name] = data[size + begin : size + end]
    return found


def packed(head: bytes, items: dict[str, bytes]) -> bytes:
    """Return common data with these items behind `head`, the header of the original."""
    names = sorted(items)
    at = COUNT.size + ENTRY.size * len(names)
    texts = b""
    name_places = []
    for name in names:
        name_places.append(at + len(texts))
        texts += name.encode() + b"\0"
    at += len(texts)
    body = b"\0" * (-at % ALIGNED)
    places = []
    for name in names:
        places.append(at + len(body))
        body += items[name] + b"\0" * (-len(items[name]) % ALIGNED)
    toc = b"".join(ENTRY.pack(*pair) for pair in zip(name_places, places, strict=True))
    return head + COUNT.pack(len(names)) + toc + texts + body


def kept(name: str) -> bool:
    """Say whether an item, named with its package ("icudt73l/coll/cs.res"), stays."""
    return KEPT.fullmatch(name.partition("/")[2]) is not None


def slimmed(data: bytes) -> bytes:
    """Return the data without what is not kept."""
    size, _ = HEAD.unpack_from(data)
    return packed(data[:size], {name: item for name, item in items_of(data).items() if kept(name)})


def slim(library: Path) -> None:
    """Write libicudata anew with the slim data. Raises ValueError where it holds none, and
    CalledProcessError or FileNotFoundError without `ld`."""
    whole = library.read_bytes()
    begin = whole.find(b"CmnD") - NAME_AT
    if begin < 0:
        raise ValueError(f"{library}: no common data of ICU")
    data = library.with_name("icu.dat")
    data.write_bytes(slimmed(whole[begin:]))
    symbol = f"icudt{library.name.rpartition('.')[2]}_dat"
    part = data.with_suffix(".o")
    for words in (
        ("-r", "-b", "binary", "-o", part.name, data.name),
        (
            "-shared", "-z", "noexecstack", "-soname", library.name, "-o", library.name,
            f"--defsym={symbol}=_binary_icu_dat_start", part.name,
        ),
    ):  # fmt: skip
        subprocess.run(["ld", *words], cwd=library.parent, check=True)
    part.unlink()
    data.unlink()
