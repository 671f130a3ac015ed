"""The machine as files for other programs: drawings, NCCL's topology, Graphviz, the matrix of nvidia-smi."""

from collections.abc import Callable

from rigplanner.machine.formats.graphviz import dot
from rigplanner.machine.formats.nccl_xml import nccl_xml
from rigplanner.machine.formats.smi_matrix import format_matrix
from rigplanner.machine.machine import Machine
from rigplanner.report.drawing.machine import machine_picture, svg
from rigplanner.report.drawing.slots import slot_picture


def matrix_text(machine: Machine) -> str:
    """Return what `nvidia-smi topo -m` will print."""
    devices = [f"GPU{gpu.index}" for gpu in machine.gpus] + [f"NIC{nic.index}" for nic in machine.nics]
    return format_matrix(devices, machine.matrix, [(gpu.affinity, gpu.numa) for gpu in machine.gpus])


def _drawing(machine: Machine) -> str:
    return svg(machine_picture(machine))


def _slots(machine: Machine) -> str:
    return svg(slot_picture(machine))


WRITERS: dict[str, Callable[[Machine], str]] = {
    "svg": _drawing,
    "slots": _slots,
    "nccl": nccl_xml,
    "dot": dot,
    "matrix": matrix_text,
}
