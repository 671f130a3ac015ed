"""`rigplanner tiny [MODEL] [--board NAME]`: whether a network fits a microcontroller's SRAM and
flash."""

import argparse
import sys

from rigplanner.cli.faults import FINE, InputFault
from rigplanner.errors import WorkloadFault
from rigplanner.memory.tiny import (
    RUNTIME_FLASH_KB,
    RUNTIME_SRAM_KB,
    Board,
    TinyNetwork,
    find_board,
    find_tiny,
    tiny_file,
    verdict,
)
from rigplanner.report.format import number
from rigplanner.report.language import Words, tr

VERDICTS = Words(
    {
        "fits": "fits",
        "tight": "tight: the arena of a build may be larger",
        "no flash": "does not fit: too little flash",
        "no SRAM": "does not fit: too little SRAM",
        "flash unknown": "the chip has no flash of its own: take a module or a board with one",
    }
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `tiny`."""
    parser.add_argument("what", nargs="?", metavar="MODEL", help="a network of MLPerf Tiny")
    parser.add_argument("--board", metavar="NAME", help="one board (default: all that are known)")
    parser.add_argument("--flash-kb", type=float, help="of your own network: weights in int8")
    parser.add_argument("--sram-kb", type=float, help="of your own network: its arena")


def run(args: argparse.Namespace) -> int:
    """Print a line for each network and board; exit 2 for what is not known."""
    try:
        boards = [find_board(args.board)] if args.board else list(tiny_file().boards.values())
        networks = _networks(args)
    except WorkloadFault as fault:
        raise InputFault(str(fault)) from fault
    for network in networks:
        sys.stdout.write(
            tr(
                "{name} in int8: {flash} KB of flash, {sram} KB of SRAM",
                name=network.name,
                flash=number(network.flash_kb + RUNTIME_FLASH_KB),
                sram=number(network.sram_kb + RUNTIME_SRAM_KB),
            )
            + "\n"
        )
        for board in boards:
            sys.stdout.write(f"  {_line(network, board)}\n")
    return FINE


def _networks(args: argparse.Namespace) -> list[TinyNetwork]:
    if args.flash_kb is not None or args.sram_kb is not None:
        if args.flash_kb is None or args.sram_kb is None or min(args.flash_kb, args.sram_kb) < 0:
            raise InputFault("--flash-kb and --sram-kb: expected both, in KB.")
        own = TinyNetwork(
            name=args.what or "own network",
            aliases=(),
            flash_kb=args.flash_kb,
            sram_kb=args.sram_kb,
            source="",
        )
        return [own]
    return [find_tiny(args.what)] if args.what else list(tiny_file().networks.values())


def _line(network: TinyNetwork, board: Board) -> str:
    flash = tr("no flash") if board.flash_kb is None else f"{number(board.flash_kb)} KB"
    room = f"{number(board.sram_kb)} KB SRAM, {flash}"
    return f"{board.name} ({board.core}, {room}): {VERDICTS[verdict(network, board)]}"
