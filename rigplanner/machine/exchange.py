"""Published rates between GPUs and to the host against what the machine model says of them:
`resources/machine/exchange.json` holds rates of large messages, `exchange_sizes.json` times of
all-reduces by size."""

import math
from functools import cache
from typing import Literal

import msgspec
from msgspec import Struct

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import GPU
from rigplanner.data import data_path
from rigplanner.decoding import read_json
from rigplanner.evidence import Estimate
from rigplanner.machine.formats.from_matrix import machine_of_matrix
from rigplanner.machine.formats.smi_matrix import SmiMatrix
from rigplanner.machine.model import Machine
from rigplanner.machine.pcie import link_gbs
from rigplanner.machine.topology.collective_time import allreduce_time
from rigplanner.machine.topology.collectives import allreduce, allreduce_of_link
from rigplanner.machine.topology.copies import copy_rates


class Exchanged(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One measurement in GB/s one way: bus bandwidth of an all-reduce over `count` GPUs of a link
    word or of a matrix letter between any two, over `nodes` nodes whose ports carry `network` GB/s
    (None: what such nodes have); a copy between two GPUs of a matrix letter (`peers` as in
    `nvidia-smi topo -p2p`); or a copy from the host."""

    what: Literal["allreduce", "copy", "host"]
    gpu: str
    count: int
    link: str
    gbs: float
    source: str
    peers: str = ""
    note: str = ""
    nodes: int = 1
    network: float | None = None


class Swept(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Times in microseconds of one sweep of nccl-tests or rccl-tests by message size in bytes, the
    shorter of out-of-place and in-place. `peer_driver` marks a driver patched for peer access;
    `kept_apart` sweeps had no part in the first fit and judged it; the constants that ship are
    fitted to all."""

    gpu: str
    count: int
    link: str
    source: str
    read: str
    us: dict[int, float]
    nodes: int = 1
    network: float | None = None
    peer_driver: bool = False
    kept_apart: bool = False
    note: str = ""


class JudgedTime(Struct, frozen=True):
    """One size of a sweep: the natural logarithm of predicted over measured time, and whether the
    range holds the measured one."""

    row: Swept
    size_bytes: int
    log_error: float
    inside: bool


class Judged(Struct, frozen=True):
    """A measurement and its prediction with the stated range; the range of a host copy is not
    stated (None)."""

    row: Exchanged
    value: float
    low: float | None
    high: float | None

    @property
    def error(self) -> float:
        """The relative error without sign."""
        return abs(self.value / self.row.gbs - 1)

    @property
    def inside(self) -> bool | None:
        """Whether the measurement lies in the range."""
        return (
            None if self.low is None or self.high is None else self.low <= self.row.gbs <= self.high
        )


@cache
def measured_exchange() -> tuple[Exchanged, ...]:
    """Return the published rates."""
    path = data_path("resources") / "machine" / "exchange.json"
    return tuple(read_json(path.read_bytes(), list[Exchanged]))


@cache
def measured_sweeps() -> tuple[Swept, ...]:
    """Return the published sweeps over sizes."""
    path = data_path("resources") / "machine" / "exchange_sizes.json"
    return tuple(read_json(path.read_bytes(), list[Swept]))


def judge_sweeps(catalog: Catalog) -> tuple[JudgedTime, ...]:
    """Return each published time of an all-reduce with its prediction."""
    return tuple(
        time for row in measured_sweeps() for time in _judged_times(row, catalog.get(row.gpu))
    )


def _judged_times(row: Swept, gpu: object) -> list[JudgedTime]:
    if not isinstance(gpu, GPU):
        return []
    known = msgspec.structs.replace(gpu, p2p="yes") if row.peer_driver else gpu
    estimate = allreduce_of_link(known, row.count, row.link, row.nodes, row.network)
    if estimate is None:
        return []
    found = [
        (size, us * 1e-6, allreduce_time(size, estimate, row.count, row.nodes))
        for size, us in row.us.items()
    ]
    return [
        JudgedTime(row, size, math.log(time.value / taken), time.low <= taken <= time.high)
        for size, taken, time in found
    ]


def judge_exchange(catalog: Catalog) -> tuple[Judged, ...]:
    """Return each published rate with its prediction; rows whose GPU the catalog lacks are left
    out."""
    found = [(row, catalog.get(row.gpu)) for row in measured_exchange()]
    judged = [_judged(row, gpu) for row, gpu in found if isinstance(gpu, GPU)]
    return tuple(item for item in judged if item is not None)


def _judged(row: Exchanged, gpu: GPU) -> Judged | None:
    if row.what == "host":
        rate = link_gbs(gpu.edge_gen, gpu.edge_width)
        return None if rate is None else Judged(row, rate, None, None)
    estimate = (
        _allreduce(row, gpu) if row.what == "allreduce" else copy_rates(_alike(row, gpu))[0][1]
    )
    return None if estimate is None else Judged(row, estimate.value, estimate.low, estimate.high)


def _allreduce(row: Exchanged, gpu: GPU) -> Estimate | None:
    if row.link.isupper():
        return allreduce(_alike(row, gpu))
    return allreduce_of_link(gpu, row.count, row.link, row.nodes, row.network)


def _alike(row: Exchanged, gpu: GPU) -> Machine:
    """Return a machine whose GPUs all stand alike to each other."""
    names = tuple(f"GPU{index}" for index in range(row.count))
    cells = tuple(tuple("X" if a == b else row.link for b in names) for a in names)
    peers = tuple(tuple("X" if a == b else row.peers for b in names) for a in names)
    matrix = SmiMatrix(
        devices=names,
        rows=names,
        cells=cells,
        numa_affinity=("",) * row.count,
        peers=(peers,) if row.peers else (),
    )
    return machine_of_matrix(matrix, gpu)
