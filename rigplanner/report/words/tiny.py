"""Networks on microcontrollers in words."""

from collections.abc import Sequence

from rigplanner.memory.tiny import (
    RUNTIME_FLASH_KB,
    RUNTIME_SRAM_KB,
    Board,
    TinyNetwork,
    boards_that_hold,
    tiny_file,
    verdict,
)
from rigplanner.report.format import day, number
from rigplanner.report.language import Words, listed, tr

VERDICTS = Words(
    {
        "fits": "fits",
        "tight": "tight: the arena of a build may be larger",
        "no flash": "does not fit: too little flash",
        "no SRAM": "does not fit: too little SRAM",
        "flash unknown": "the chip has no flash of its own: take a module or a board with one",
    }
)
TRUSTS = Words(
    {
        "vendor": "maker",
        "manual": "manual",
        "measured": "measured",
        "press": "press",
        "community": "community",
    }
)
MOST_NAMED = 3

Row = tuple[str, ...]


def need_text(network: TinyNetwork) -> str:
    """Return what a network takes with its runtime."""
    return tr(
        "{name} in int8: {flash} KB of flash, {sram} KB of SRAM",
        name=network.name,
        flash=number(network.flash_kb + RUNTIME_FLASH_KB),
        sram=number(network.sram_kb + RUNTIME_SRAM_KB),
    )


def board_text(network: TinyNetwork, board: Board) -> str:
    """Return what a board has and whether it holds the network."""
    room = f"{number(board.sram_kb)} KB SRAM, {_flash(board)}"
    return f"{board.name} ({board.core}, {room}): {VERDICTS[verdict(network, board)]}"


def nearest_text(network: TinyNetwork, board: Board) -> str:
    """Return the smallest boards that hold a network which a board does not, "" where it does."""
    if verdict(network, board) in ("fits", "tight"):
        return ""
    names = [each.name for each in boards_that_hold(network)[:MOST_NAMED]]
    if not names:
        return tr("No board that is known holds it.")
    return tr("The smallest boards that hold it are {names}.", names=listed(names))


def figure_heads() -> Row:
    """Return the heads of `figure_rows`."""
    return (tr("Figure"), tr("Flash"), "SRAM", tr("Trust"), tr("Source"))


def figure_rows(network: TinyNetwork, board: Board) -> list[Row]:
    """Return what is needed against what the board has, each figure with its trust and source."""
    flash = network.flash_kb + RUNTIME_FLASH_KB
    sram = network.sram_kb + RUNTIME_SRAM_KB
    left = "" if board.flash_kb is None else _kb(board.flash_kb - flash)
    runtime = (tr("estimate"), "TensorFlow Lite for Microcontrollers")
    return [
        (tr("Weights in int8"), _kb(network.flash_kb), "", *_from(network.source)),
        (tr("Arena of activations"), "", _kb(network.sram_kb), *_from(network.sram_source)),
        (tr("Runtime and variables"), _kb(RUNTIME_FLASH_KB), _kb(RUNTIME_SRAM_KB), *runtime),
        (tr("Needed"), _kb(flash), _kb(sram), "", ""),
        (tr("The board has"), _flash(board), _kb(board.sram_kb), *_from(board.source)),
        (tr("Left"), left, _kb(board.sram_kb - sram), "", ""),
    ]


def board_heads() -> Row:
    """Return the heads of `board_rows`."""
    return (tr("Microcontroller"), tr("Flash"), "SRAM", tr("Verdict"))


def board_rows(network: TinyNetwork) -> list[Row]:
    """Return the boards: those that hold the network first, the smallest on top."""
    held = boards_that_hold(network)
    others: Sequence[Board] = [each for each in tiny_file().boards.values() if each not in held]
    return [
        (each.name, _flash(each), _kb(each.sram_kb), VERDICTS[verdict(network, each)])
        for each in (*held, *others)
    ]


def _from(source: str) -> tuple[str, str]:
    """Return the trust and the title of a source; a figure without one is the reader's own."""
    known = tiny_file().sources.get(source)
    if known is None:
        return tr("own figure"), ""
    trust = tr("recalled") if known.recalled else TRUSTS[known.trust]
    if known.recalled:
        return trust, known.title
    return trust, tr("{title}, read {day}", title=known.title, day=day(known.read))


def _flash(board: Board) -> str:
    return tr("no flash") if board.flash_kb is None else _kb(board.flash_kb)


def _kb(value: float) -> str:
    return f"{number(value)} KB"
