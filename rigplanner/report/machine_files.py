"""The machine as files for other programs: drawings, NCCL's topology, Graphviz, GraphML, node-link
JSON, the matrix of nvidia-smi."""

from collections.abc import Callable

from rigplanner.machine.formats.graph_files import graphml, node_link
from rigplanner.machine.formats.graphviz import dot
from rigplanner.machine.formats.nccl_xml import nccl_xml
from rigplanner.machine.formats.smi_matrix import format_matrix
from rigplanner.machine.model import Machine
from rigplanner.machine.topology.interconnect import nodes_of
from rigplanner.plain_text import cleaned, cleaned_json
from rigplanner.report.drawing.machine import machine_picture, svg
from rigplanner.report.drawing.slots import slot_picture
from rigplanner.report.language import tr


def matrix_text(machine: Machine) -> str:
    """Return what `nvidia-smi topo -m` will print, on each node of its own GPUs and ports."""
    nodes = nodes_of(machine, tuple(range(len(machine.gpus))))
    if len(nodes) < 2:
        return _matrix_of(
            machine,
            tuple(gpu.index for gpu in machine.gpus),
            tuple(nic.index for nic in machine.nics),
        )
    board_of = {use.piece: use.board for use in machine.slots_in_use}
    ports = {
        node: tuple(nic.index for nic in machine.nics if board_of.get(nic.piece) == node)
        for node in nodes
    }
    return "\n".join(
        f"# {tr('Node {number}: {name}', number=str(number), name=node)}\n"
        f"{_matrix_of(machine, gpus, ports[node])}"
        for number, (node, gpus) in enumerate(nodes.items())
    )


def _matrix_of(machine: Machine, gpus: tuple[int, ...], nics: tuple[int, ...]) -> str:
    names = [
        *(f"GPU{index}" for index in range(len(gpus))),
        *(f"NIC{index}" for index in range(len(nics))),
    ]
    rows = [*gpus, *(len(machine.gpus) + nic for nic in nics)]
    cells = tuple(tuple(machine.matrix[a][b] for b in rows) for a in rows)
    return format_matrix(
        names, cells, [(machine.gpus[index].affinity, machine.gpus[index].numa) for index in gpus]
    )


def _drawing(machine: Machine) -> str:
    return svg(machine_picture(machine))


def _slots(machine: Machine) -> str:
    return svg(slot_picture(machine))


WRITERS: dict[str, Callable[[Machine], str]] = {
    "svg": cleaned(_drawing),
    "slots": cleaned(_slots),
    "nccl": cleaned(nccl_xml),
    "dot": cleaned(dot),
    "graphml": cleaned(graphml),
    "node-link": cleaned_json(node_link),
    "matrix": cleaned(matrix_text),
}
