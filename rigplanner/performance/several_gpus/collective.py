"""Collectives by themselves: bus bandwidth of an all-reduce, rate of a copy between two GPUs."""

import re

import msgspec

from rigplanner.catalog.schema.parts import GPU
from rigplanner.errors import WorkloadFault
from rigplanner.evidence import Estimate, Step
from rigplanner.machine.model import Machine
from rigplanner.machine.topology.collective_time import busbw_of_message
from rigplanner.machine.topology.collectives import allreduce, allreduce_of_link
from rigplanner.machine.topology.messages import has_trees, nccl_release
from rigplanner.performance.answer import SpeedEstimate
from rigplanner.performance.software.stacks import find_stack
from rigplanner.rig.workload import Workload
from rigplanner.workload.limits import check_workload

COPY_SHARE = 0.84
"""A copy over NVLink against the line rate of its links: 274.5 of 300 GB/s (A100), 376 of 450
(H100), 48.3 of 50 (V100)."""
PCIE_LINE_GBS = {3: 15.75, 4: 31.5, 5: 63.0, 6: 121.0}
"""Line rate of sixteen lanes after coding, one way."""
PEER_SHARE, STAGED_SHARE = 0.88, 0.42
"""Copies between cards over PCIe: 56.5 of 63 with peer access (RTX PRO 6000); through the host 37.2
of 63 (H100), 25.8 of 31.5 (RTX 4090), 8.5 and 6.1 of 31.5 (RTX 3090 in an eight-GPU server): the
geometric mean of those."""
COPY_SPREAD, STAGED_SPREAD = 1.25, 2.6
BRIDGES, MANY_LINKS = 3, 12
"""Cards that take three bridges give a third of the rate with one, and how many are fitted is
seldom said."""
NCCL_NAMED = re.compile(r"nccl[ -]?(v?\d.*)", re.IGNORECASE)
LINKED = ("nvswitch", "nvlink-mesh", "nvlink-bridge", "xgmi")


def predict_collective(
    workload: Workload,
    gpu: GPU,
    count: int,
    nodes: int,
    link: str,
    machine: Machine | None,
    metric: str | None,
) -> SpeedEstimate:
    """Return bus bandwidth (`busbw_gbps`) or copy rate (`p2p_gbps`) in GB/s; raise WorkloadFault
    for other metrics or one GPU."""
    check_workload(workload)
    asked = metric or ("p2p_gbps" if workload.model == "p2p" else "busbw_gbps")
    copies = asked == "p2p_gbps"
    if asked not in ("busbw_gbps", "p2p_gbps"):
        raise WorkloadFault(
            f"metric: expected busbw_gbps or p2p_gbps for a collective, found '{asked}'."
        )
    if count < 2:
        raise WorkloadFault(f"hardware.count: a collective needs at least 2 GPUs, found {count}.")
    stack = find_stack(workload.stack or ("p2p-bandwidth-test" if copies else "nccl-tests")).slug
    if link in ("unknown", "none") and gpu.form_factor.startswith("sxm"):
        link = "nvlink-mesh"
    found = (
        _copy(workload, gpu, link)
        if copies
        else _summed(workload, gpu, count, nodes, link, machine)
    )
    if found is None:
        raise WorkloadFault(
            f"hardware.link: no rate is known between {count} of {gpu.name} over '{link}'."
        )
    return SpeedEstimate(
        metric=asked,
        value=found.value,
        low=found.low,
        high=found.high,
        stack=stack,
        bound="link",
        lift="faster-link",
        steps=found.steps,
    )


def _summed(
    workload: Workload, gpu: GPU, count: int, nodes: int, link: str, machine: Machine | None
) -> Estimate | None:
    """Bus bandwidth of an all-reduce of the workload's message; of cards with many links nobody
    says how many bridges join them, so it may be that of one."""
    found = allreduce(machine) if machine else allreduce_of_link(gpu, count, link, nodes)
    unsaid = link == "nvlink-bridge" and not machine and gpu.nvlink is not None
    if found and unsaid and gpu.nvlink and gpu.nvlink.links >= MANY_LINKS:
        found = msgspec.structs.replace(found, low=found.low / BRIDGES)
    return found and _of_message(found, workload, count, nodes)


def _of_message(found: Estimate, workload: Workload, count: int, nodes: int) -> Estimate:
    """Bus bandwidth of a message of known size, else that of large ones."""
    if not workload.message_bytes:
        return found
    trees = has_trees(nccl_of(workload))
    reached = busbw_of_message(workload.message_bytes, found, count, nodes, trees)
    return msgspec.structs.replace(reached, steps=(*found.steps, *reached.steps))


def nccl_of(workload: Workload) -> tuple[int, int] | None:
    """Return the release of NCCL that a workload names in `variant` or in its software's text, None
    where it names none; raise WorkloadFault for a word of `variant` that is no release."""
    if told := workload.variant.get("nccl"):
        found = nccl_release(str(told))
        if found is None:
            raise WorkloadFault(
                f"variant.nccl: expected a release as 2.3 or 2.21.5, found {told!r}."
            )
        return found
    named = NCCL_NAMED.search(workload.framework_text or "")
    return nccl_release(named.group(1)) if named else None


def _copy(workload: Workload, gpu: GPU, link: str) -> Estimate:
    """Rate of one copy; both ways at once doubles it unless it is staged through the host."""
    variant = workload.variant
    both = variant.get("direction") == "bidirectional"
    port = gpu.nvlink
    peer = bool(variant.get("p2p", gpu.p2p not in ("no", "nvlink-only")))
    if link in LINKED and port and peer:
        rate, share, double = port.links * port.link_gbs, COPY_SHARE, both
    else:
        rate = PCIE_LINE_GBS.get(gpu.edge_gen or 4, 31.5) * (gpu.edge_width or 16) / 16
        share, double = (PEER_SHARE if peer else STAGED_SHARE), both and peer
    value = rate * share * (2 if double else 1)
    spread = COPY_SPREAD if peer else STAGED_SPREAD
    step = Step(
        "copy",
        "line rate x share",
        {"line_gbs": rate, "share": share, "peer": str(peer)},
        value,
        "GB/s",
        "p2pBandwidthLatencyTest and nvbandwidth results in public issues",
    )
    return Estimate(value, value / spread, value * spread, "GB/s", (step,))
