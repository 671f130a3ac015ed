"""NCCL's own findings beside the machine's: transports pair by pair, the worst path, the rate of
its rings, NVLink SHARP."""

from typing import Literal

from msgspec import Struct

from rigplanner.machine.formats.nccl_log import NcclRun
from rigplanner.machine.model import Machine
from rigplanner.machine.topology.collectives import allreduce

WORST = ("NV", "PIX", "PXB", "PHB", "NODE", "SYS")
SAID = {"NVL": "NV", "NVB": "NV", "XGMI": "NV", "C2C": "NV"}
NEAR_SHARE = 0.15
"""NCCL's number for its rings is a model too: within this of ours, both say the same."""


class Beside(Struct, frozen=True):
    """One thing that both speak of: `ours` is the prediction (None: not known), `theirs` what NCCL
    said. A pair for transports."""

    what: Literal["ranks", "transport", "path", "rate", "nvls"]
    ours: str | float | None
    theirs: str | float
    agrees: bool
    pair: tuple[int, int] | None = None


def beside(machine: Machine, run: NcclRun) -> tuple[Beside, ...]:
    """Return what a run of NCCL and the machine say of the same things, in the order of the
    machine's GPUs as ranks."""
    count = len(machine.gpus)
    rows = [Beside("ranks", float(count), float(run.ranks), count == run.ranks)]
    if count != run.ranks:
        return tuple(rows)
    rows += [_transport(machine, hop.a, hop.b, hop.transport) for hop in run.hops if hop.b < count]
    ring = run.graph("ring")
    if ring is not None and count > 1:
        ours, theirs = _worst(machine), SAID.get(ring.intra, ring.intra)
        rows.append(
            Beside("path", ours, theirs, ours == theirs or {ours, theirs} == {"PHB", "NODE"})
        )
        rows += _rate(machine, ring.gbs)
    if run.nvls is not None and count > 1:
        estimate = allreduce(machine)
        ours = "yes" if estimate is not None and estimate.steps[-1].name == "nvls" else "no"
        theirs = "yes" if run.nvls else "no"
        rows.append(Beside("nvls", ours, theirs, ours == theirs))
    return tuple(rows)


def _transport(machine: Machine, a: int, b: int, theirs: str) -> Beside:
    pair, peer = machine.pairs[a][b], machine.p2p[a][b] if machine.p2p else ""
    ours: str | None = None  # further ways depend on NCCL's version and NCCL_P2P_LEVEL
    if pair.linked or (peer == "OK" and pair.below_one_switch):
        ours = "P2P"
    elif peer in ("GNS", "CNS", "TNS", "NS"):
        ours = "SHM"
    return Beside("transport", ours, theirs, ours in (None, theirs.split("/")[0]), (a, b))


def _worst(machine: Machine) -> str | None:
    """Return the worst segment of a ring in the order of the GPUs, NVLink as "NV"; None where one
    is not known."""
    count = len(machine.gpus)
    if allreduce_kind(machine).startswith(("nv", "xgmi")):
        return "NV"
    ways = [machine.pairs[at][(at + 1) % count] for at in range(count)]
    words = ["NV" if pair.linked else pair.letters for pair in ways]
    return None if not all(word in WORST for word in words) else max(words, key=WORST.index)


def allreduce_kind(machine: Machine) -> str:
    """Return the kind of bottleneck of an all-reduce over the machine ("nvswitch", "pcie-peer"), ""
    where it is not known."""
    estimate = allreduce(machine)
    return estimate.steps[-1].name if estimate is not None else ""


def _rate(machine: Machine, theirs: float) -> list[Beside]:
    """NCCL's sum over its rings against the number that the prediction starts from, before measured
    ratios."""
    estimate = allreduce(machine)
    if estimate is None or estimate.steps[-1].name == "nvls":
        return []
    ours = estimate.steps[0].value
    return [
        Beside(
            "rate",
            round(ours, 1),
            round(theirs, 1),
            abs(ours / theirs - 1) <= NEAR_SHARE if theirs else False,
        )
    ]
