"""TinyML: whether a quantised network fits a microcontroller's flash and SRAM."""

from difflib import get_close_matches
from functools import cache
from typing import Literal, TypeVar

from msgspec import Struct

from rigplanner.data import data_path
from rigplanner.decoding import read_json
from rigplanner.errors import WorkloadFault
from rigplanner.evidence import Source

RUNTIME_FLASH_KB, RUNTIME_SRAM_KB = 60.0, 10.0
"""TensorFlow Lite for Microcontrollers with the operators of such networks, and a sketch's own
variables (estimate)."""
ARENA_WITHIN = 1.5
"""Factor above the listed arena within which four in five builds stay (estimate)."""

Verdict = Literal["fits", "tight", "no flash", "no SRAM", "flash unknown"]


class Board(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A microcontroller board; `flash_kb` None: the chip has none of its own."""

    name: str
    aliases: tuple[str, ...]
    core: str
    mhz: float
    sram_kb: float
    flash_kb: float | None
    source: str


class TinyNetwork(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A network in int8: flash for its weights, SRAM for its activations, in KB; `source` is that
    of the flash, `sram_source` that of the SRAM, "" is the reader's own figure."""

    name: str
    aliases: tuple[str, ...]
    flash_kb: float
    sram_kb: float
    source: str
    sram_source: str = ""


T = TypeVar("T", bound=Board | TinyNetwork)


class TinyFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The shipped boards and networks."""

    about: str
    sources: dict[str, Source]
    boards: dict[str, Board]
    networks: dict[str, TinyNetwork]


@cache
def tiny_file() -> TinyFile:
    """Return the shipped boards and networks, read once."""
    return read_json((data_path("catalog") / "benchmarks" / "tiny.json").read_bytes(), TinyFile)


def _named(word: str, known: dict[str, T]) -> T | None:
    """Return what a word names by slug, name or alias."""
    asked = word.casefold().strip()
    for slug, each in known.items():
        if asked in (slug, each.name.casefold(), *each.aliases):
            return each
    return None


def find_board(word: str) -> Board:
    """Return the board that a word means; raise WorkloadFault with the nearest."""
    boards = tiny_file().boards
    if found := _named(word, boards):
        return found
    known = {board.name.casefold(): board.name for board in boards.values()}
    near = get_close_matches(word.casefold().strip(), known, 2, 0.0)
    names = ", ".join(known[each] for each in near)
    raise WorkloadFault(f"board: '{word[:40]}' is not known; the nearest are {names}.")


def boards_that_hold(network: TinyNetwork) -> tuple[Board, ...]:
    """Return the boards that hold a network, the smallest first: by SRAM, then by flash."""
    held = [
        each for each in tiny_file().boards.values() if verdict(network, each) in ("fits", "tight")
    ]
    return tuple(sorted(held, key=lambda each: (each.sram_kb, each.flash_kb or 0.0)))


def find_network(word: str) -> TinyNetwork:
    """Return the network that a word means; raise WorkloadFault with those known."""
    networks = tiny_file().networks
    if found := _named(word, networks):
        return found
    raise WorkloadFault(
        f"model: '{word[:40]}' is no network for microcontrollers; known are {', '.join(networks)},"
        " or say --flash-kb and --sram-kb of your own."
    )


def verdict(network: TinyNetwork, board: Board) -> Verdict:
    """Return whether a network fits a board: weights and runtime in its flash, activations and
    variables in its SRAM."""
    if network.sram_kb + RUNTIME_SRAM_KB > board.sram_kb:
        return "no SRAM"
    if board.flash_kb is None:
        return "flash unknown"
    if network.flash_kb + RUNTIME_FLASH_KB > board.flash_kb:
        return "no flash"
    roomy = network.sram_kb * ARENA_WITHIN + RUNTIME_SRAM_KB <= board.sram_kb
    return "fits" if roomy else "tight"
