"""`rigplanner topology`: what a rig's GPUs are linked by, as matrix, JSON, NCCL XML or drawing."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from rigplanner.cli.commands.captured import say_unmatched
from rigplanner.cli.commands.nccl_found import found_text
from rigplanner.cli.commands.topology_files import READERS, UNNAMED, machine_of_file
from rigplanner.cli.faults import FINE, InputFault
from rigplanner.cli.reading import open_catalog, open_rig
from rigplanner.evidence import Estimate
from rigplanner.machine.alternatives import Alternative, alternatives
from rigplanner.machine.assemble import assemble
from rigplanner.machine.model import Machine
from rigplanner.machine.this_machine import read_this_machine, recognise
from rigplanner.machine.topology.collectives import allreduce
from rigplanner.machine.topology.copies import copy_rates
from rigplanner.machine.topology.interconnect import nodes_of
from rigplanner.machine.topology.messages import message_times
from rigplanner.report.language import tr
from rigplanner.report.machine_files import WRITERS
from rigplanner.report.words.machine import move_text, time_lines
from rigplanner.rig.document import Rig

FORMATS = ("matrix", "json", "times", "nccl", "svg", "dot", "graphml", "node-link")
SPREAD = ("value", "low", "high")
INSTEAD = {
    "--nvidia-smi": "the output of nvidia-smi topo -m instead of a rig",
    "--rocm-smi": "the output of rocm-smi --showtopo or amd-smi topology",
    "--nccl": "an NCCL topology XML file instead of a rig",
    "--hwloc": "an hwloc XML file (lstopo) instead of a rig",
    "--lspci": "the output of lspci -tv instead of a rig",
}
BESIDE = {
    "--query": "the output of nvidia-smi -q beside it: models and links",
    "--nvlink": "nvidia-smi nvlink --status beside it: models, links that are down",
}
"""Files that a machine is read from, and that say more of it."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("rig", nargs="?", type=Path, metavar="RIG", help="the rig file")
    for option, words in INSTEAD.items():
        parser.add_argument(option, type=Path, metavar="FILE", help=words)
    parser.add_argument("--gpu", metavar="NAME", help="the GPU model of such a file")
    for option, words in BESIDE.items():
        parser.add_argument(option, type=Path, metavar="FILE", help=words)
    parser.add_argument(
        "--this-machine", action="store_true", help="the computer at hand instead of a rig (Linux)"
    )
    parser.add_argument(
        "--alternatives",
        action="store_true",
        help="other places for the rig's cards and drives, and their cost",
    )
    parser.add_argument(
        "--read",
        type=Path,
        metavar="FILE",
        help="an NCCL log (NCCL_DEBUG=INFO) or graph file, laid beside it",
    )
    parser.add_argument("--format", choices=FORMATS, default="matrix")


def run(args: argparse.Namespace) -> int:
    """Print the topology; bad input raises InputFault."""
    source = next((name for name in READERS if getattr(args, name)), None)
    if args.alternatives:
        if args.rig is None:
            raise InputFault(
                "--alternatives: name a rig file; other places are those of its board."
            )
        sys.stdout.write(_alternatives(args.rig, args.format))
        return FINE
    if args.read and not source and not args.this_machine and args.rig is None:
        sys.stdout.write(found_text(None, args.read, args.format))
        return FINE
    nccl = ""
    if source:
        machine = machine_of_file(source, getattr(args, source), args.gpu, args.query, args.nvlink)
        if args.format in ("nccl", "svg") and not machine.gpus:
            raise InputFault(
                f"--format {args.format}: it shows GPUs, and this capture has network ports alone."
            )
        if args.format == "nccl" and not _named(machine):
            raise InputFault(
                "--format nccl: a file for NCCL needs the GPU's name, with --gpu NAME."
            )
    else:
        rig = _at_hand() if args.this_machine else _planned(args.rig)
        machine, nccl = assemble(rig, open_catalog()), rig.settings.software.get("nccl", "")
    if args.read:
        sys.stdout.write(found_text(machine, args.read, args.format))
        return FINE
    if args.format == "times":
        return _tell_times(machine, nccl)
    sys.stdout.write(
        _json(machine, nccl) if args.format == "json" else WRITERS[args.format](machine)
    )
    return FINE


def _tell_times(machine: Machine, nccl: str) -> int:
    """Print the times of an all-reduce by size. Raises InputFault where there are none."""
    times = message_times(machine, nccl) if _named(machine) else ()
    if not times:
        raise InputFault(
            "--format times: it takes two GPUs or more of known models and links; name the model"
            " of a captured machine with --gpu NAME."
        )
    sys.stdout.write("".join(f"{line}\n" for line in time_lines(times, machine, nccl)))
    return FINE


def _named(machine: Machine) -> bool:
    return all(gpu.gpu.id != UNNAMED for gpu in machine.gpus)


def _planned(path: Path | None) -> Rig:
    if path is None:
        raise InputFault("name a rig file, or a captured matrix with --nvidia-smi FILE --gpu NAME.")
    return open_rig(path)


def _alternatives(path: Path, form: str) -> str:
    rig, catalog = open_rig(path), open_catalog()
    moves = alternatives(rig, catalog)
    if form == "json":
        return json.dumps([_as_json(move) for move in moves], ensure_ascii=False) + "\n"
    return (
        "".join(f"{move_text(move, rig, catalog)}\n" for move in moves)
        or tr("No other place changes any link.") + "\n"
    )


def _as_json(move: Alternative) -> dict[str, Any]:
    changes = [
        {"piece": c.piece, "width": [c.before[0], c.after[0]], "gen": [c.before[1], c.after[1]]}
        for c in move.changes
    ]
    return {
        "piece": move.piece,
        "place": move.place,
        "gain_gbs": round(move.gain_gbs, 2),
        "changes": changes,
    }


def _at_hand() -> Rig:
    catalog = open_catalog()
    known = recognise(read_this_machine(), catalog)
    say_unmatched("topology", known.unmatched)
    return known.rig


def _spread(estimate: Estimate | None) -> dict[str, float] | None:
    return {name: round(getattr(estimate, name), 2) for name in SPREAD} if estimate else None


def _times(machine: Machine, nccl: str) -> dict[str, dict[str, float]]:
    """Return the microseconds of an all-reduce by its bytes."""
    return {
        str(each.size_bytes): {name: round(1e6 * getattr(each.taken, name), 1) for name in SPREAD}
        for each in message_times(machine, nccl)
    }


def _json(machine: Machine, nccl: str) -> str:
    count = len(machine.gpus)
    named = _named(machine)
    estimate = allreduce(machine) if named else None
    answer: dict[str, Any] = {
        "gpus": [gpu.gpu.name for gpu in machine.gpus],
        "links": [list(row[:count]) for row in machine.matrix[:count]],
        "nodes": [list(node) for node in nodes_of(machine, tuple(range(count))).values()]
        or [list(range(count))],
        "islands": [list(island) for island in machine.islands],
        "allreduce_busbw_gbps": _spread(estimate) or dict.fromkeys(SPREAD),
        "allreduce_us": _times(machine, nccl) if named else {},
        "p2p": [list(row) for row in machine.p2p],
        "copy_gbps": [
            [_spread(rate) if named else None for rate in row] for row in copy_rates(machine)
        ],
        "host_copy_gbps": [
            round(gpu.host_gbs, 2) if gpu.host_gbs else None for gpu in machine.gpus
        ],
        "nics": [nic.piece for nic in machine.nics],
        "nic_links": [list(row) for row in machine.matrix[count:]],
        "numa": [gpu.numa for gpu in machine.gpus],
    }
    return json.dumps(answer, ensure_ascii=False) + "\n"
