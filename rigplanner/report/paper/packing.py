"""A PDF made smaller: its small objects in one compressed stream, its table of places in another
(ISO 32000-1, 7.5.7 and 7.5.8).

The tags of a document are hundreds of small objects, which PDF 1.4 writes out one by one, each with
a line of twenty bytes in the table of places; together they are half of a quote. The same input
gives the same bytes."""

import re
import zlib
from itertools import pairwise

HEADER = re.compile(rb"%PDF-1\.\d")
OBJECT = re.compile(rb"(\d+) 0 obj\s*(.*?)\s*endobj\s*\Z", re.DOTALL)
ENTRY = re.compile(rb"(\d{10}) \d{5} n")
ROW = (1, 4, 2)
"""Bytes of the columns of the table of places: kind, offset or stream, index in it."""


def packed(content: bytes) -> bytes:
    """Return a PDF as reportlab writes it (one table of places, no encryption) in the packed form
    of PDF 1.5 and later."""
    head, objects, trailer = _read(content)
    small = {number: body for number, body in objects.items() if not body.endswith(b"endstream")}
    holder = max(objects) + 1
    out = bytearray(HEADER.sub(b"%PDF-1.7", head, count=1))
    rows: dict[int, tuple[int, int, int]] = {0: (0, 0, 65535)}
    for number, body in objects.items():
        if number not in small:
            rows[number] = (1, len(out), 0)
            out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    for index, number in enumerate(small):
        rows[number] = (2, holder, index)
    rows[holder] = (1, len(out), 0)
    out += _stream(holder, *_held(small))
    rows[holder + 1] = (1, len(out), 0)
    start = len(out)
    out += _stream(
        holder + 1,
        _places(rows),
        b"/Type /XRef /Size %d /W [%d %d %d] %s" % (len(rows), *ROW, trailer),
        predicted=True,
    )
    return bytes(out + b"startxref\n%d\n%%%%EOF\n" % start)


def _read(content: bytes) -> tuple[bytes, dict[int, bytes], bytes]:
    """Return what stands before the first object, the objects by number in the order of the file,
    and Root, Info and ID."""
    table = content.rindex(b"xref\n", 0, content.rindex(b"startxref"))
    trailer = content[content.index(b"trailer", table) :]
    ends = [*sorted(int(found[1]) for found in ENTRY.finditer(content, table)), table]
    objects = {}
    for first, last in pairwise(ends):
        found = OBJECT.match(content[first:last])
        if found is None:
            raise ValueError(f"There is no object at byte {first}.")
        objects[int(found[1])] = found[2]
    kept = [
        re.search(pattern, trailer)
        for pattern in (rb"/Root \d+ 0 R", rb"/Info \d+ 0 R", rb"/ID\s*\[.*?\]")
    ]
    return (
        content[: ends[0]],
        objects,
        b" ".join(found[0].replace(b"\n", b"") for found in kept if found),
    )


def _held(small: dict[int, bytes]) -> tuple[bytes, bytes]:
    """Return the content of the stream of objects, and the entries that describe it."""
    places, bodies = [], bytearray()
    for number, body in small.items():
        places.append(b"%d %d" % (number, len(bodies)))
        bodies += body + b"\n"
    first = b" ".join(places) + b"\n"
    return first + bodies, b"/Type /ObjStm /N %d /First %d" % (len(small), len(first))


def _places(rows: dict[int, tuple[int, int, int]]) -> bytes:
    """Return the table of places, each row as its difference from the one above (PNG's predictor
    "up")."""
    made, above = bytearray(), bytes(sum(ROW))
    for number in range(len(rows)):
        row = b"".join(
            value.to_bytes(width, "big") for value, width in zip(rows[number], ROW, strict=True)
        )
        made += b"\x02" + bytes((new - old) % 256 for new, old in zip(row, above, strict=True))
        above = row
    return bytes(made)


def _stream(number: int, content: bytes, entries: bytes, predicted: bool = False) -> bytes:
    made = zlib.compress(content, 9)
    how = b" /DecodeParms << /Predictor 12 /Columns %d >>" % sum(ROW) if predicted else b""
    return (
        b"%d 0 obj\n<< %s /Filter /FlateDecode%s /Length %d >>\nstream\n%s\nendstream\nendobj\n"
        % (
            number,
            entries,
            how,
            len(made),
            made,
        )
    )
