"""Make a layer of imported parts: everything that a search needs is worked out once, here."""

import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from rigplanner.catalog.find.find import held_words
from rigplanner.catalog.find.naming import phrases
from rigplanner.catalog.find.words import words_of
from rigplanner.catalog.layer import KIND_MARK, Head, encoded, hash_of, packed
from rigplanner.catalog.schema.parts import AnyPart, kind_of
from rigplanner.evidence import Source


def layer_bytes(name: str, parts: Iterable[AnyPart], sources: Mapping[str, Source]) -> bytes:
    """Return parts and their sources as a layer of that name, the shortest names first."""
    ordered = sorted(parts, key=lambda part: (len(part.name), part.id))
    encode = msgspec.msgpack.Encoder().encode
    pieces = [encode(part) for part in ordered]
    ends, size = [], 0
    for piece in pieces:
        size += len(piece)
        ends.append(size)
    lines = [_line(part) for part in ordered]
    begins, at = [], 0
    for line in lines:
        begins.append(at)
        at += len(line)
    ids = sorted((hash_of(part.id), number) for number, part in enumerate(ordered))
    names = sorted(
        {(hash_of(name), number) for number, part in enumerate(ordered) for name in _names(part)}
    )
    sections = {
        "ends": packed("Q", ends),
        "ids": packed("Q", (each for each, _ in ids)),
        "names": packed("Q", (each for each, _ in names)),
        "id_numbers": packed("I", (number for _, number in ids)),
        "name_numbers": packed("I", (number for _, number in names)),
        "lines": packed("I", begins),
        "words": "".join(lines).encode(),
        "parts": b"".join(pieces),
    }
    head = Head(
        name=name,
        order=sys.byteorder,
        kinds=dict(Counter(kind_of(part) for part in ordered)),
        sources=dict(sources),
        sections=_places(sections),
    )
    return encoded(head, b"".join(sections.values()))


def _places(sections: Mapping[str, Sequence[int]]) -> dict[str, tuple[int, int]]:
    places, at = {}, 0
    for name, content in sections.items():
        places[name] = (at, at + len(content))
        at += len(content)
    return places


def _line(part: AnyPart) -> str:
    words = sorted(word for word in held_words(part) if word.isprintable())
    return f"{KIND_MARK}{kind_of(part)} {' '.join(words)} \n"


def _names(part: AnyPart) -> set[str]:
    squeezed = {"".join(words_of(text)) for text in (part.name, *part.aliases)}
    return squeezed | {phrase for phrase, _ in phrases(part)}
