"""The machine as Graphviz text: orthogonal lines, width by rate, labels by link."""

from rigplanner.machine.model import Machine
from rigplanner.machine.nodes import Edge


def dot(machine: Machine) -> str:
    """Return the machine in Graphviz's DOT language: the PCIe tree from left to right, links
    between GPUs beside it."""
    lines = ["graph machine {", "  rankdir=LR; splines=ortho; nodesep=0.25; ranksep=0.9;"]
    lines.append(
        '  node [shape=box, fontname="Helvetica", fontsize=10]; edge [fontname="Helvetica",'
        " fontsize=8];"
    )
    for name, label in _labels(machine).items():
        lines.append(f"  {_quoted(name)} [label={_quoted(label)}];")
    lines += [
        f"  {_quoted(edge.a.name)} -- {_quoted(edge.b.name)} [{_style(edge)}];"
        for edge in machine.edges
    ]
    return "\n".join([*lines, "}"]) + "\n"


def _labels(machine: Machine) -> dict[str, str]:
    names = {piece.name: piece.part.name for piece in machine.pieces}
    labels = {f"cpu{cpu.index}": cpu.cpu.name for cpu in machine.cpus}
    labels |= {
        f"gpu{gpu.index}": f"GPU{gpu.index}\n{gpu.gpu.name}\n{gpu.place or ''}"
        for gpu in machine.gpus
    }
    labels |= {
        f"nic{nic.index}": f"NIC{nic.index}\n{names.get(nic.piece, nic.piece)}"
        for nic in machine.nics
    }
    in_use = {edge.b.name for edge in machine.edges}
    return labels | {
        drive.piece: drive.storage.name for drive in machine.storage if drive.piece in in_use
    }


def _quoted(text: str) -> str:
    """A string of DOT. A backslash in a name would take the quote behind it along."""
    shown = text.replace("\\", "/").replace('"', "'").replace("\r", " ").replace("\n", "\\n")
    return f'"{shown}"'


def _style(edge: Edge) -> str:
    width = 0.8 if edge.gbs is None else min(5.0, 0.8 + edge.gbs**0.5 / 4)
    tree = edge.kind in ("pcie", "chipset")
    if tree:
        label = " ".join(
            word
            for word in (
                f"Gen{edge.gen}" if edge.gen else "",
                f"x{edge.width}" if edge.width else "",
            )
            if word
        )
    else:
        label = f"{edge.kind} x{edge.links}"
    constraint = "" if tree else ", constraint=false, color=gray35"
    return f"xlabel={_quoted(label)}, penwidth={width:.2g}{constraint}"
