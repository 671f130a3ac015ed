"""A layer of imported parts: thousands of them in one binary content, of which a part is decoded
only when somebody asks for it.

What is asked by name or id goes through a sorted table of hashes, what is asked by words through
one text with a line a part; neither needs anything to be made when the program starts."""

import hashlib
import sys
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.schema.parts import AnyPart, Price
from rigplanner.decoding import JsonFault, read_msgpack
from rigplanner.evidence import Source

HASH_BYTES = 8
KIND_MARK = "="
"""Before the kind of a part in its line of words; no word holds it."""


class Head(Struct, frozen=True, kw_only=True):
    """What a layer begins with: how many parts of each kind, their sources, and where each section
    of the rest begins and ends. `order` is the byte order of its numbers."""

    name: str
    order: str
    kinds: dict[str, int]
    sources: dict[str, Source]
    sections: dict[str, tuple[int, int]]


class Layer:
    """The parts of one import, numbered by the length of their names.

    Sections: `parts` (MessagePack, one after another), `ends` (where each ends), `ids` and `names`
    (sorted hashes), `id_numbers` and `name_numbers` (the part of each hash), `words` (a line a
    part) and `lines` (where each begins, in characters)."""

    def __init__(self, content: bytes | memoryview) -> None:
        """Take the content that `write.layer_bytes` made. Raises JsonFault for any other."""
        size = int.from_bytes(content[:4], "little")
        self.head = read_msgpack(content[4 : 4 + size], Head)
        if self.head.order != sys.byteorder:
            raise JsonFault("it was made on a machine of another byte order")
        self._body = memoryview(content)[4 + size :]
        self._made: dict[int, AnyPart] = {}
        self._ends = self._numbers("ends", "Q")

    @property
    def count(self) -> int:
        """How many parts it holds."""
        return len(self._ends)

    def _numbers(self, section: str, form: Literal["I", "Q"]) -> "memoryview[int]":
        begin, end = self.head.sections[section]
        if self._body.nbytes < end:
            raise JsonFault("it ends in the middle")
        return self._body[begin:end].cast(form)

    def part(self, number: int) -> AnyPart:
        """Return the part of that number."""
        made = self._made.get(number)
        if made is None:
            begin = self.head.sections["parts"][0]
            first = self._ends[number - 1] if number else 0
            content = self._body[begin + first : begin + self._ends[number]]
            made = self._made[number] = read_msgpack(content, AnyPart)  # type: ignore[arg-type]
        return made

    def with_id(self, part_id: str) -> AnyPart | None:
        """Return the part with this id, or None."""
        found = (self.part(number) for number in self._hashed("ids", "id_numbers", part_id))
        return next((part for part in found if part.id == part_id), None)

    def bearing(self, name: str) -> list[int]:
        """Return the numbers of the parts that may bear a squeezed name (two names may share a
        hash)."""
        return self._hashed("names", "name_numbers", name)

    def _hashed(self, section: str, numbers: str, text: str) -> list[int]:
        wanted = hash_of(text)
        hashes = self._numbers(section, "Q")
        begin = bisect_left(hashes, wanted)
        end = bisect_right(hashes, wanted, begin)
        return list(self._numbers(numbers, "I")[begin:end])

    @cached_property
    def _text(self) -> str:
        begin, end = self.head.sections["words"]
        return str(self._body[begin:end], "utf-8")

    @cached_property
    def _lines(self) -> "memoryview[int]":
        return self._numbers("lines", "I")

    def holding(self, patterns: Iterable[str], kind: str | None = None) -> Iterator[int]:
        """Yield the numbers of the parts (of a kind) whose line of words holds all patterns, in
        order. In a line each word stands between blanks."""
        wanted = sorted(patterns, key=len, reverse=True)
        if kind:
            wanted.append(f"{KIND_MARK}{kind} ")
        text, lines = self._text, self._lines
        first, others = wanted[0], wanted[1:]
        found = text.find(first)
        while found >= 0:
            number = bisect_right(lines, found) - 1
            begin = lines[number]
            end = lines[number + 1] if number + 1 < len(lines) else len(text)
            line = text[begin:end]
            if all(other in line for other in others):
                yield number
            found = text.find(first, end)


def hash_of(text: str) -> int:
    """Return the hash of a name or id by which a layer's tables are sorted."""
    digest = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=HASH_BYTES)
    return int.from_bytes(digest.digest(), "little")


def packed(form: str, numbers: Iterable[int]) -> bytes:
    """Return whole numbers as a section of a layer holds them."""
    return array(form, numbers).tobytes()


class Layers:
    """All imports together, the first one first; `priced` are prices that files of prices give for
    parts of them, by id."""

    def __init__(
        self,
        layers: Iterable[Layer] = (),
        priced: Mapping[str, tuple[Price, ...]] | None = None,
    ) -> None:
        self.layers = tuple(layers)
        self.priced = dict(priced or {})

    def __bool__(self) -> bool:
        return bool(self.layers)

    def __len__(self) -> int:
        return sum(layer.count for layer in self.layers)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Layers)
            and [layer.head for layer in self.layers] == [layer.head for layer in other.layers]
            and self.priced == other.priced
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def sources(self) -> dict[str, Source]:
        """The sources of all parts, by key."""
        return {key: s for layer in self.layers for key, s in layer.head.sources.items()}

    def get(self, part_id: str) -> AnyPart | None:
        """Return the part with this id, with what price files say of it, or None."""
        for layer in self.layers:
            if (part := layer.with_id(part_id)) is not None:
                return self._with_prices(part)
        return None

    def parts(self, layer: Layer, numbers: Iterable[int]) -> Iterator[AnyPart]:
        """Yield parts of one layer by their numbers."""
        return (self._with_prices(layer.part(number)) for number in numbers)

    def all_parts(self) -> Iterator[AnyPart]:
        """Yield every part; each is decoded."""
        for layer in self.layers:
            yield from self.parts(layer, range(layer.count))

    def with_priced(self, prices: Mapping[str, tuple[Price, ...]]) -> "Layers":
        """Return the same imports with further prices."""
        priced = dict(self.priced)
        for part_id, added in prices.items():
            priced[part_id] = (*priced.get(part_id, ()), *added)
        return Layers(self.layers, priced)

    def _with_prices(self, part: AnyPart) -> AnyPart:
        added = self.priced.get(part.id)
        return replace(part, prices=(*part.prices, *added)) if added else part


NO_LAYERS = Layers()


def encoded(head: Head, body: bytes) -> bytes:
    """Return head and sections as one content."""
    told = msgspec.msgpack.encode(head)
    return len(told).to_bytes(4, "little") + told + body
