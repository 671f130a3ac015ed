"""Which of several parts of one description goes with the others of its list? A cooler for the
CPU's socket, memory of the sort that board and CPU take. What was exchanged is told."""

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.find.find import PartIndex, words_of
from rigplanner.catalog.find.kits import BUFFERED, counted_modules, is_very_kit, nearest_kits
from rigplanner.catalog.find.naming import in_latin
from rigplanner.catalog.schema.parts import (
    CPU,
    Chassis,
    Cooler,
    MemoryKit,
    Motherboard,
    Part,
    PowerSupply,
    System,
)
from rigplanner.rig.edits import LARGEST_QUANTITY
from rigplanner.rig.from_text.from_words import Wish, counted
from rigplanner.rig.from_text.stand_ins import stand_ins

_TYPE = re.compile(r"\bddr\d", re.IGNORECASE)
_SORT = re.compile(r"\b(?:[lm]?r-?dimm|reg(?:istered)?|u-?dimm|so-?dimm|unbuffered)\b", re.I)
_MEMORY = re.compile(r"\b(?:ram|memory|[lmru]+dimms?|ecc)\b|内存|記憶體|內存", re.IGNORECASE)
_BARE_G = re.compile(r"(?<=\d)G\b")
_SIZE = re.compile(r"(?<!\d)\d{1,4}\s?G[Bo]?\b", re.IGNORECASE)


_STOCK = re.compile(
    r"\W*(?:(?:AMD|Intel|CPU|AM4|AM5|LGA\s?\d+|the)\s+)*"
    r"(?:stock|box(?:ed)?|original|原裝|原装|盒裝|盒装)\s*"
    r"(?:(?:CPU|AMD|Intel|air|fan)\s+)*(?:cooler|cooling|fan|heatsink|heat sink|kühler|chladič"
    r"|散熱器|散热器|散热|风扇|風扇)?\W*",
    re.IGNORECASE,
)
"""A line that says that the cooler is the one in the CPU's box."""


class Taken(Struct, frozen=True):
    """What memory board and CPU of a list take together: the type, the sorts of module, and how
    many where the list names one board."""

    type: str
    modules: tuple[str, ...]
    slots: int | None = None


def for_the_socket(wish: Wish, parts: Sequence[Part], index: PartIndex) -> Wish:
    """Return a cooler that does not fit the list's CPU exchanged for the one of its name that is
    made for the socket: who writes "NH-U14S" for a Threadripper has that one. What stands for a
    cooler that nobody knows is one that fits, or none."""
    sockets = {part.socket for part in parts if isinstance(part, CPU) and part.socket}
    cooler = wish.parts[0] if wish.parts else None
    if cooler is None and _STOCK.fullmatch(wish.text):
        boxed = _boxed(parts, index)
        return replace(wish, parts=boxed, stands_in=True, guessed=True) if boxed else wish
    if not isinstance(cooler, Cooler) or not sockets or sockets & {*cooler.sockets}:
        return wish
    if wish.stands_in and not wish.guessed:
        alike = [one for one in wish.parts if isinstance(one, Cooler) and sockets & {*one.sockets}]
        return replace(wish, parts=tuple(alike))
    words = {*words_of(cooler.name)}
    made = [
        other
        for other in index.find(cooler.name, "cooler")
        if isinstance(other, Cooler)
        and sockets <= {*other.sockets}
        and words < {*words_of(other.name)}
    ]
    return replace(wish, parts=tuple(made), stands_in=True, guessed=True) if made else wish


def _boxed(parts: Sequence[Part], index: PartIndex) -> tuple[Part, ...]:
    """Return the coolers that the maker of a list's CPU packs with such processors, the smallest
    that takes its heat first; none without a CPU, or where its maker packs none."""
    cpu = next((part for part in parts if isinstance(part, CPU)), None)
    made = [
        other
        for other in index.find("", "cooler")
        if isinstance(other, Cooler)
        and cpu is not None
        and cpu.socket in other.sockets
        and other.vendor == cpu.vendor
    ]
    heat = (cpu.tdp_w or 0.0) if cpu else 0.0
    return tuple(sorted(made, key=lambda one: ((one.rated_w or heat) < heat, one.rated_w or heat)))


def for_the_case(wish: Wish, parts: Sequence[Part], index: PartIndex) -> Wish:
    """Return what stands for a supply that nobody knows as one of the form that the list's case
    takes, or none."""
    forms = {
        form
        for part in parts
        if isinstance(part, Chassis)
        for form in part.enclosure.psu_form_factors
    }
    supply = wish.parts[0] if wish.parts else None
    if not isinstance(supply, PowerSupply) or not wish.stands_in or wish.guessed:
        return wish
    if not forms or supply.form_factor in forms:
        return wish
    made = [one for form in sorted(forms) for one in stand_ins(f"{wish.text} {form}", "psu", index)]
    return replace(wish, parts=tuple(made))


def for_the_boards_socket(wish: Wish, parts: Sequence[Part]) -> Wish:
    """Return a CPU whose number two families share as that one which goes into the list's board: a
    "3970X" on a board for Threadrippers."""
    sockets = {
        socket for part in parts if isinstance(part, Motherboard) for socket in part.layout.sockets
    }
    cpu = wish.parts[0] if wish.parts else None
    if not wish.guessed or not isinstance(cpu, CPU) or not sockets or cpu.socket in sockets:
        return wish
    made = [other for other in wish.parts if isinstance(other, CPU) and other.socket in sockets]
    return replace(wish, parts=tuple(made)) if made else wish


def memory_taken(parts: Sequence[Part]) -> Taken | None:
    """Return what memory a list's boards and CPUs take, None where more than one type is left."""
    types = [set(found) for found in _types(parts) if found]
    if not types or len(together := set.intersection(*types)) != 1:
        return None
    slots = [part.layout.memory_slots for part in parts if isinstance(part, Motherboard)]
    return Taken(together.pop(), _modules(parts), slots[0] if len(slots) == 1 else None)


def _modules(parts: Sequence[Part]) -> tuple[str, ...]:
    """The sorts of module that the first CPU and all boards take together; none without a CPU: one
    board takes other sorts with another CPU."""
    cpus = [part.memory.modules for part in parts if isinstance(part, CPU) and part.memory]
    taken = next((modules for modules in cpus if modules), ())
    for part in parts:
        if isinstance(part, Motherboard | System) and part.layout.memory_modules:
            taken = tuple(sort for sort in taken if sort in part.layout.memory_modules)
    return taken


def _types(parts: Sequence[Part]) -> Iterator[tuple[str, ...]]:
    for part in parts:
        if isinstance(part, Motherboard | System) and part.layout.memory_type:
            yield (part.layout.memory_type,)
        elif isinstance(part, CPU) and part.memory:
            yield part.memory.types


def for_the_board(wish: Wish, kind: str | None, taken: Taken | None, index: PartIndex) -> Wish:
    """Return memory whose type or sort the line leaves open as that which the list's board and CPU
    take: "8 x 64G RDIMM" on a board for DDR4, "128GB DDR4" beside an EPYC."""
    latin = in_latin(wish.text)
    counted_only = kind == "memory" and counted_modules(latin) is not None
    if taken is None or not (_SIZE.search(latin) or counted_only):
        return wish
    wish = _in_slots(wish, taken, index)
    kit = wish.parts[0] if wish.parts else None
    refused = isinstance(kit, MemoryKit) and _is_refused(kit, wish.text, taken)
    if not taken.modules and not refused and not _SORT.search(wish.text):
        return wish
    if kit is None and not (kind == "memory" or (kind is None and _MEMORY.search(wish.text))):
        return wish
    if kit is not None and not refused:
        return wish
    text = _BARE_G.sub("GB", in_latin(wish.text))
    added = "" if _TYPE.search(text) else f" {taken.type}"
    if taken.modules and not _SORT.search(text) and set(taken.modules) <= {*BUFFERED}:
        added += " RDIMM"
    if isinstance(kit, MemoryKit):
        text = f"{wish.quantity * kit.modules}x{kit.module_gib:g}GB {taken.type}"
    elif not added:
        return wish
    count, kits = nearest_kits(f"{text}{added}", index.find("", "memory"))
    if taken.modules:
        kits = [found for found in kits if found.module in taken.modules]
    made = counted_modules(text)
    told = max(1, made[0] if made else counted(text)[0])
    times = 1 if kit else max(1, wish.quantity // told)
    if not kits or not 1 <= count * times <= LARGEST_QUANTITY:
        return wish
    return replace(wish, quantity=count * times, parts=tuple(kits), stands_in=True)


def _in_slots(wish: Wish, taken: Taken, index: PartIndex) -> Wish:
    """Return a sum of memory that more modules than the board has slots make up as one of fewer:
    "64GB DDR4" on a board of four slots."""
    kit = wish.parts[0] if wish.parts else None
    if not isinstance(kit, MemoryKit) or taken.slots is None or counted_modules(wish.text):
        return wish
    modules = wish.quantity * kit.modules
    if modules <= taken.slots or is_very_kit(wish.text, kit):
        return wish
    for count in (4, 2, 1):
        size = modules * kit.module_gib / count
        _, kits = nearest_kits(f"{count}x{size:g}GB {kit.type}", index.find("", "memory"))
        alike = tuple(one for one in kits if one.module == kit.module)
        if count <= taken.slots and alike:
            return replace(wish, quantity=count // alike[0].modules, parts=alike, stands_in=True)
    return wish


def _is_refused(kit: MemoryKit, text: str, taken: Taken) -> bool:
    """Say whether a kit is of a type or sort that board and CPU do not take, and the line names
    none."""
    if any(number in text for number in kit.aliases):
        return False
    if kit.type != taken.type:
        return _TYPE.search(in_latin(text)) is None
    return bool(taken.modules) and kit.module not in taken.modules and not _SORT.search(text)
