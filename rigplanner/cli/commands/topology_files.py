"""Captured files for `rigplanner topology`: what they show, which cards they mean, the machine they
become."""

import sys
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from rigplanner.catalog.find.gpu_names import GpuNames, shipped_pci_ids
from rigplanner.catalog.schema.parts import GPU, NvlinkPort
from rigplanner.cli.commands.captured import FAULTS, captured_text
from rigplanner.cli.faults import InputFault
from rigplanner.cli.reading import open_catalog
from rigplanner.machine.formats.from_matrix import Link, machine_of_matrix
from rigplanner.machine.formats.hwloc_xml import read_hwloc
from rigplanner.machine.formats.lspci_tree import parse_lspci
from rigplanner.machine.formats.nccl_read import NcclSystem, machine_of_nccl, read_nccl_xml
from rigplanner.machine.formats.nvlink_status import LinkedGpu, links_down, parse_nvlink_status
from rigplanner.machine.formats.pci_paths import PciDevice, nvidia_gpus, path_cells, rdma_ports
from rigplanner.machine.formats.rocm_matrix import parse_rocm
from rigplanner.machine.formats.smi_matrix import MatrixFault, SmiMatrix, missing_rows, parse_matrix
from rigplanner.machine.formats.smi_query import QueriedGpu, QueryFault, parse_query
from rigplanner.machine.model import Machine

UNNAMED = "unnamed.gpu.of-a-matrix"
"""The id of a GPU that a captured matrix shows and nobody names."""


class Seen(Struct, frozen=True):
    """What a file shows: NCCL's tree or a matrix, the name of each GPU as it tells it ("" where it
    does not), known links."""

    shown: NcclSystem | SmiMatrix
    told: tuple[str, ...]
    links: tuple[Link, ...] = ()

    def machine(self, cards: tuple[GPU, ...], queried: tuple[Link, ...]) -> Machine:
        """Return the machine of these cards; MatrixFault where they contradict the file."""
        if isinstance(self.shown, NcclSystem):
            return machine_of_nccl(self.shown, cards)
        return machine_of_matrix(self.shown, cards, queried or self.links)


def machine_of_file(
    source: str, path: Path, name: str | None, query: Path | None, nvlink: Path | None
) -> Machine:
    """Return the machine of a captured file, its cards named by the user, by other output beside
    it, or by the file itself; say on stderr what it lacks. Raises InputFault."""
    queried = _queried(query) if query is not None else []
    status = _links(nvlink) if nvlink is not None else []
    try:
        seen = READERS[source](captured_text(path))
        if queried and len(queried) != len(seen.told):
            raise InputFault(f"{query}: names {len(queried)} GPUs, {path} has {len(seen.told)}.")
        cards = _cards(
            path, name, [one.name for one in queried], [one.name for one in status], seen
        )
        machine = seen.machine(cards, tuple(one.link for one in queried))
    except FAULTS as fault:
        raise InputFault(f"{path}: {fault}") from fault
    for index, up, most in links_down(status, cards[0]) if cards else ():
        print(
            f"rigplanner topology: {nvlink}: GPU{index} has {up} of {most} NVLinks up: check the"
            " bridge's seat.",
            file=sys.stderr,
        )
    if isinstance(seen.shown, SmiMatrix) and seen.shown.cells and missing_rows(seen.shown):
        absent = ", ".join(missing_rows(seen.shown))
        print(
            f"rigplanner topology: {path}: the rows of {absent} are missing; some cells stay"
            " unknown.",
            file=sys.stderr,
        )
    return machine


def _cards(
    path: Path, name: str | None, queried: list[str], status: list[str], seen: Seen
) -> tuple[GPU, ...]:
    """Return the card of each GPU: one for all by the user's word or that of `nvidia-smi nvlink`,
    else each by its own name."""
    told = seen.told
    named = [name] * len(told) if name else queried or status[:1] * len(told) or list(told)
    if told and not any(named) and isinstance(seen.shown, SmiMatrix):
        print(
            f"rigplanner topology: {path}: bandwidths are not told: which GPU is it? Name it with"
            " --gpu NAME, --query FILE or --nvlink FILE.",
            file=sys.stderr,
        )
        return tuple(unnamed(seen.shown) for _ in told)
    if not all(named):
        how = "--gpu NAME, --query FILE or --nvlink FILE"
        raise InputFault(
            f"{path}: name the GPU model with {how}; the file does not tell it reliably."
        )
    known = {word: _gpu_named(word) for word in dict.fromkeys(named)}
    return tuple(known[word] for word in named)


def unnamed(matrix: SmiMatrix) -> GPU:
    """Return a GPU of which a matrix tells its letters alone: with as many links as one row of it
    shows, of no known rate."""
    rows = [cells for row, cells in zip(matrix.rows, matrix.cells, strict=False) if "GPU" in row]
    most = max((int(cell[2:]) for row in rows for cell in row if cell.startswith("NV")), default=0)
    xgmi = any(cell == "XGMI" for row in rows for cell in row)
    port = NvlinkPort(
        generation=0, links=most or 1, link_gbs=0.0, fabric="xgmi" if xgmi else "nvlink"
    )
    return GPU(
        id=UNNAMED,
        name="GPU",
        vendor="",
        form_factor="oam" if xgmi else "sxm4" if most else "pcie",
        nvlink=port if most or xgmi else None,
    )


def _gpu_named(wished: str) -> GPU:
    """Return the GPU of this name, also where it may be several that are linked alike."""
    gpus = {part.id: part for part in open_catalog().of_kind("gpu") if isinstance(part, GPU)}
    meaning = GpuNames(gpus.values(), shipped_pci_ids()).meaning(wished)
    if meaning.gpu:
        return meaning.gpu
    near = [gpus[part_id] for part_id in meaning.near]
    if (
        meaning.several
        and len({(gpu.nvlink, gpu.form_factor, gpu.edge_gen, gpu.edge_width) for gpu in near}) == 1
    ):
        return near[0]
    nearest = f"; the nearest are {', '.join(gpu.name for gpu in near)}" if near else ""
    quantity = "more than one" if meaning.several else "no"
    raise InputFault(
        f"--gpu: the catalog has {quantity} GPU named {wished!r}{nearest}; try `rigplanner catalog"
        " list gpu`."
    )


def _queried(path: Path) -> list[QueriedGpu]:
    try:
        return parse_query(captured_text(path))
    except QueryFault as fault:
        raise InputFault(f"{path}: {fault}") from fault


def _links(path: Path) -> list[LinkedGpu]:
    try:
        return parse_nvlink_status(captured_text(path))
    except MatrixFault as fault:
        raise InputFault(f"{path}: {fault}") from fault


def _from_smi(text: str) -> Seen:
    matrix = parse_matrix(text)
    return Seen(matrix, ("",) * len(matrix.gpus))


def _from_rocm(text: str) -> Seen:
    matrix = parse_rocm(text)
    return Seen(matrix, ("",) * len(matrix.gpus))


def _from_nccl(text: str) -> Seen:
    system = read_nccl_xml(text)
    return Seen(
        system, tuple(gpu.pci_id if gpu.pci_id in shipped_pci_ids() else "" for gpu in system.gpus)
    )


def _from_hwloc(text: str) -> Seen:
    return _of_devices(list(read_hwloc(text).devices))


def _from_lspci(text: str) -> Seen:
    return _of_devices(parse_lspci(text))


def _of_devices(devices: list[PciDevice]) -> Seen:
    gpus, ports = nvidia_gpus(devices), rdma_ports(devices)
    if not gpus:
        raise MatrixFault("No NVIDIA GPU is among its PCI devices.")
    names = (
        *(f"GPU{index}" for index in range(len(gpus))),
        *(f"NIC{index}" for index in range(len(ports))),
    )
    cells = tuple(tuple(row) for row in path_cells([*gpus, *ports]))
    matrix = SmiMatrix(
        devices=names, rows=names, cells=cells, numa_affinity=tuple(gpu.numa or "" for gpu in gpus)
    )
    return Seen(matrix, tuple(gpu.name for gpu in gpus), tuple((None, gpu.width) for gpu in gpus))


READERS: dict[str, Callable[[str], Seen]] = {
    "nvidia_smi": _from_smi,
    "rocm_smi": _from_rocm,
    "nccl": _from_nccl,
    "hwloc": _from_hwloc,
    "lspci": _from_lspci,
}
"""Readers of captured text, by the name of their option."""
