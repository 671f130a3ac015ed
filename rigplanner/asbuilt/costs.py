"""What a difference costs, by the plan's own models: the machine is changed as it was seen, and
what the plan predicted is predicted again."""

from collections.abc import Sequence

from msgspec.structs import replace

from rigplanner.asbuilt.checks.line import Cost, JobLoss, Line
from rigplanner.catalog.load import Catalog
from rigplanner.economics.totals import price_of
from rigplanner.machine.graph import graph_of, islands, only
from rigplanner.machine.model import GpuNode, Machine
from rigplanner.machine.nodes import Edge, Pair, gpu_node, pair_of
from rigplanner.machine.pcie import link_gbs
from rigplanner.machine.topology.collectives import allreduce
from rigplanner.rules.assess import Assessment, job_on

LEAST_SHARE = 0.005
"""Loss below which nothing is said: half of one per cent is less than any prediction can tell."""
LINK_CODES = ("link-width", "link-generation")
PRICED = ("gpu-count", "drive", "nic")


def with_costs(lines: Sequence[Line], assessment: Assessment, catalog: Catalog) -> tuple[Line, ...]:
    """Return the lines, each broken one with its cost where the plan's models know one."""
    return tuple([_costed(line, assessment, catalog) for line in lines])


def _costed(line: Line, assessment: Assessment, catalog: Catalog) -> Line:
    if line.verdict != "broken":
        return line
    cost = _cost(line, assessment, catalog)
    return line if cost is None else replace(line, cost=cost)


def _cost(line: Line, assessment: Assessment, catalog: Catalog) -> Cost | None:
    if line.code in PRICED:
        return _price(line, assessment, catalog)
    if line.code == "memory-speed" and isinstance(line.seen, int) and line.promised:
        return Cost(memory=1 - line.seen / float(line.promised))
    if line.code == "channels" and isinstance(line.seen, int) and line.promised:
        return Cost(memory=1 - line.seen / float(line.promised))
    changed = _changed(line, assessment.machine)
    return None if changed is None else _losses(assessment, changed)


def _price(line: Line, assessment: Assessment, catalog: Catalog) -> Cost | None:
    machine = assessment.machine
    uids = {piece.name: piece.uid for piece in machine.pieces}
    named = {piece.uid for piece in machine.pieces if piece.part.name == line.subject}
    uid = uids.get(line.subject) or next(iter(named), None)
    price = price_of(assessment.rig, uid, catalog)[0] if uid else None
    if price is None:
        return None
    count = int(line.values.get("missing", 1))
    return Cost(amount=price.amount * count, currency=price.currency)


def _changed(line: Line, machine: Machine) -> Machine | None:
    """Return the machine with this one difference, None where no model knows it."""
    node = next((gpu for gpu in machine.gpus if gpu.piece == line.subject), None)
    if node is not None and line.code in LINK_CODES and line.seen is not None:
        seen = int(line.seen)
        width = seen if line.code == "link-width" else node.width
        generation = seen if line.code == "link-generation" else node.gen
        return with_link(machine, node, generation, width)
    if node is not None and line.code == "power-limit" and isinstance(line.seen, float):
        gpus = [replace(gpu, power_cap_w=line.seen) if gpu is node else gpu for gpu in machine.gpus]
        return replace(machine, gpus=tuple(gpus))
    if node is not None and line.code == "nvlink":
        return without_nvlink(machine, {node.index}, int(line.seen or 0))
    if line.code == "matrix" and line.cause in ("bridge-missing", "bridge-partial"):
        ends = {gpu_node(gpu.index).name: gpu.index for gpu in machine.gpus}
        joined = {ends[end] for end in line.subject.split("-") if end in ends}
        return without_nvlink(machine, joined, pair_of(str(line.seen)).links)
    return None


def with_link(
    machine: Machine, node: GpuNode, generation: int | None, width: int | None
) -> Machine:
    """Return the machine with another PCIe link of one GPU."""
    rate = link_gbs(generation, width)
    name = gpu_node(node.index)

    def edge_of(edge: Edge) -> Edge:
        if edge.b != name or edge.kind != "pcie":
            return edge
        return replace(edge, width=width, gen=generation, gbs=rate)

    host = node.host_gbs if rate is None or node.host_gbs is None else min(rate, node.host_gbs)
    altered = replace(node, width=width, gen=generation, host_gbs=host)
    return replace(
        machine,
        edges=tuple([edge_of(edge) for edge in machine.edges]),
        gpus=tuple([altered if gpu is node else gpu for gpu in machine.gpus]),
    )


def without_nvlink(machine: Machine, gpus: set[int], links: int) -> Machine:
    """Return the machine with only so many NVLinks left at these GPUs: on each bridge
    between them, or on all of one GPU."""
    names = set(map(gpu_node, gpus))
    touching = [edge for edge in machine.edges if edge.kind in ("nvlink", "nvswitch")]
    hit = (
        [edge for edge in touching if names <= {edge.a, edge.b}]
        if len(names) > 1
        else [edge for edge in touching if names & {edge.a, edge.b}]
    )
    total = sum(edge.links for edge in hit)
    if not total:
        return machine
    edges: list[Edge] = []
    pairs = [list(row) for row in machine.pairs]
    for edge in machine.edges:
        if edge not in hit:
            edges.append(edge)
            continue
        left = edge.links * links // total
        if left and edge.gbs is not None:
            edges.append(replace(edge, links=left, gbs=edge.gbs * left / edge.links))
        if edge.b.kind == "gpu":
            a, b = int(edge.a.key), int(edge.b.key)
            pairs[a][b] = pairs[b][a] = Pair("nvlink", left) if left else Pair("phb")
    return replace(
        machine,
        edges=tuple(edges),
        pairs=tuple([tuple(row) for row in pairs]),
        islands=islands(only(graph_of(edges), ("nvlink",)), len(machine.gpus)),
    )


def _losses(assessment: Assessment, changed: Machine) -> Cost | None:
    """Return the shares that the changed machine loses; None where nothing changes."""
    before, after = allreduce(assessment.machine), allreduce(changed)
    exchange = None
    if before is not None and after is not None and before.value > 0:
        exchange = _share(before.value, after.value)
    jobs: list[JobLoss] = []
    for job in assessment.jobs:
        if job.speed is None:
            continue
        again = job_on(job.index, job.workload, changed).speed
        lost = _share(job.speed.value, again.value) if again is not None else None
        if lost is not None:
            jobs.append(JobLoss(job.index, lost))
    copies = _host_loss(assessment.machine, changed)
    if exchange is None and copies is None and not jobs:
        return None
    return Cost(exchange=exchange, copies=copies, jobs=tuple(jobs))


def _host_loss(planned: Machine, changed: Machine) -> float | None:
    rates = [
        _share(one.host_gbs, other.host_gbs)
        for one, other in zip(planned.gpus, changed.gpus, strict=True)
        if one.host_gbs and other.host_gbs
    ]
    return max([rate for rate in rates if rate is not None], default=None)


def _share(before: float, after: float) -> float | None:
    lost = 1 - after / before if before > 0 else 0.0
    return lost if lost >= LEAST_SHARE else None
