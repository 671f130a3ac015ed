"""`rigplanner topology`: what a rig's GPUs are linked by, as matrix, JSON, NCCL XML or drawing."""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rigplanner.catalog.find import PartIndex
from rigplanner.catalog.parts import GPU
from rigplanner.cli.faults import FINE, InputFault
from rigplanner.cli.reading import open_catalog, open_rig
from rigplanner.machine.assemble import assemble
from rigplanner.machine.collectives import allreduce
from rigplanner.machine.from_matrix import machine_of_matrix
from rigplanner.machine.graphviz import dot
from rigplanner.machine.hwloc_xml import read_hwloc
from rigplanner.machine.lspci_tree import TreeFault, parse_lspci
from rigplanner.machine.machine import Machine
from rigplanner.machine.nccl_xml import nccl_xml, read_nccl_xml
from rigplanner.machine.pci_paths import PciDevice, nvidia_gpus, path_cells
from rigplanner.machine.smi_matrix import MatrixFault, SmiMatrix, format_matrix, missing_rows, parse_matrix
from rigplanner.machine.this_machine import read_this_machine, recognise
from rigplanner.machine.xml_tree import LARGEST_TEXT, XmlFault
from rigplanner.report.picture import machine_picture, svg

FORMATS = ("matrix", "json", "nccl", "svg", "dot")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("rig", nargs="?", type=Path, metavar="RIG", help="the rig file")
    parser.add_argument("--nvidia-smi", type=Path, metavar="FILE", help="the output of nvidia-smi topo -m instead of a rig")
    parser.add_argument("--nccl", type=Path, metavar="FILE", help="an NCCL topology XML file instead of a rig")
    parser.add_argument("--hwloc", type=Path, metavar="FILE", help="an hwloc XML file (lstopo) instead of a rig")
    parser.add_argument("--lspci", type=Path, metavar="FILE", help="the output of lspci -tv instead of a rig")
    parser.add_argument("--gpu", metavar="NAME", help="the GPU model of such a file")
    parser.add_argument("--this-machine", action="store_true", help="the computer at hand instead of a rig (Linux)")
    parser.add_argument("--format", choices=FORMATS, default="matrix")


def run(args: argparse.Namespace) -> int:
    """Print the topology; bad input raises InputFault."""
    source = next((name for name in READERS if getattr(args, name)), None)
    if source:
        machine = _captured(source, getattr(args, source), args.gpu)
    else:
        machine = _at_hand() if args.this_machine else _planned(args.rig)
    writers: dict[str, Callable[[Machine], str]] = {"matrix": _matrix, "json": _json, "nccl": nccl_xml, "svg": _svg, "dot": dot}
    sys.stdout.write(writers[args.format](machine))
    return FINE


def _planned(path: Path | None) -> Machine:
    if path is None:
        raise InputFault("name a rig file, or a captured matrix with --nvidia-smi FILE --gpu NAME.")
    return assemble(open_rig(path), open_catalog())


def _at_hand() -> Machine:
    catalog = open_catalog()
    known = recognise(read_this_machine(), catalog)
    for fact in known.unmatched:
        print(f"rigplanner topology: not in the catalog: {fact.kind} {fact.name} {fact.detail}".rstrip(), file=sys.stderr)
    return assemble(known.rig, catalog)


def _captured(source: str, path: Path, name: str | None) -> Machine:
    if not name:
        raise InputFault(f"{path}: name the GPU model with --gpu NAME; the file does not tell it reliably.")
    found = PartIndex(open_catalog().of_kind("gpu")).find(name, "gpu", 1)
    if not found or not isinstance(found[0], GPU):
        raise InputFault(f"--gpu: the catalog has no GPU named {name!r}; try `rigplanner catalog list gpu`.")
    try:
        matrix = READERS[source](_text(path))
        machine = machine_of_matrix(matrix, found[0])
    except (MatrixFault, TreeFault, XmlFault) as fault:
        raise InputFault(f"{path}: {fault}") from fault
    if matrix.cells and missing_rows(matrix):
        absent = ", ".join(missing_rows(matrix))
        print(f"rigplanner topology: {path}: the rows of {absent} are missing; some cells stay unknown.", file=sys.stderr)
    return machine


def _from_nccl(text: str) -> SmiMatrix:
    return _square(*read_nccl_xml(text))


def _from_hwloc(text: str) -> SmiMatrix:
    return _of_devices(list(read_hwloc(text).devices))


def _from_lspci(text: str) -> SmiMatrix:
    return _of_devices(parse_lspci(text))


def _of_devices(devices: list[PciDevice]) -> SmiMatrix:
    gpus = nvidia_gpus(devices)
    if not gpus:
        raise MatrixFault("No NVIDIA GPU is among its PCI devices.")
    return _square([f"GPU{index}" for index in range(len(gpus))], path_cells(gpus))


def _square(names: list[str], cells: list[list[str]]) -> SmiMatrix:
    return SmiMatrix(devices=tuple(names), rows=tuple(names), cells=tuple(tuple(row) for row in cells))


READERS: dict[str, Callable[[str], SmiMatrix]] = {
    "nvidia_smi": parse_matrix,
    "nccl": _from_nccl,
    "hwloc": _from_hwloc,
    "lspci": _from_lspci,
}
"""Readers of captured text, by the name of their option."""


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > LARGEST_TEXT:
            raise InputFault(f"{path}: larger than {LARGEST_TEXT // 2**20} MiB: no captured topology.")
        return path.read_text("utf-8")
    except UnicodeDecodeError as fault:
        raise InputFault(f"{path}: not UTF-8 text (byte {fault.start}); expected a captured topology.") from fault
    except OSError as fault:
        raise InputFault(f"{path}: cannot be read ({fault.strerror}).") from fault


def _svg(machine: Machine) -> str:
    return svg(machine_picture(machine))


def _matrix(machine: Machine) -> str:
    devices = [f"GPU{gpu.index}" for gpu in machine.gpus] + [f"NIC{nic.index}" for nic in machine.nics]
    return format_matrix(devices, machine.matrix, [(gpu.affinity, gpu.numa) for gpu in machine.gpus])


def _json(machine: Machine) -> str:
    count = len(machine.gpus)
    estimate = allreduce(machine)
    names: tuple[str, ...] = ("value", "low", "high")
    answer: dict[str, Any] = {
        "gpus": [gpu.gpu.name for gpu in machine.gpus],
        "links": [list(row[:count]) for row in machine.matrix[:count]],
        "islands": [list(island) for island in machine.islands],
        "allreduce_busbw_gbps": {name: round(getattr(estimate, name), 2) if estimate else None for name in names},
        "p2p": [list(row) for row in machine.p2p],
        "nics": [nic.piece for nic in machine.nics],
        "nic_links": [list(row) for row in machine.matrix[count:]],
        "numa": [gpu.numa for gpu in machine.gpus],
    }
    return json.dumps(answer, ensure_ascii=False) + "\n"
