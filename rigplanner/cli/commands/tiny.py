"""`rigplanner tiny [MODEL] [--board NAME]`: whether a network fits a microcontroller's SRAM and
flash."""

import argparse
import sys

from rigplanner.cli.faults import FINE, InputFault
from rigplanner.errors import WorkloadFault
from rigplanner.memory.tiny import TinyNetwork, find_board, find_network, tiny_file
from rigplanner.report.words.tiny import board_text, nearest_text, need_text


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
        sys.stdout.write(f"{need_text(network)}\n")
        for board in boards:
            sys.stdout.write(f"  {board_text(network, board)}\n")
        if args.board and (near := nearest_text(network, boards[0])):
            sys.stdout.write(f"  {near}\n")
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
    return [find_network(args.what)] if args.what else list(tiny_file().networks.values())
