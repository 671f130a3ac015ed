"""Words for the machine: moves of pieces to other places, with what each link gains and loses; what
NCCL found on it."""

from collections.abc import Iterator, Sequence

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import kind_of
from rigplanner.machine.alternatives import Alternative, Change
from rigplanner.machine.formats.nccl_beside import Beside
from rigplanner.machine.formats.nccl_log import NcclRun
from rigplanner.machine.model import Machine
from rigplanner.machine.topology.interconnect import nodes_of
from rigplanner.machine.topology.messages import MessageTime, has_trees, nccl_release
from rigplanner.report.format import columns_of, number, padded, quantity
from rigplanner.report.language import THIN, tr
from rigplanner.report.words.findings import subject_name
from rigplanner.rig.document import Rig

Link = tuple[int | None, int | None]


def move_text(move: Alternative, rig: Rig, catalog: Catalog) -> str:
    """Return one sentence for a move: "Samsung 990 PRO to M.2_4: GeForce RTX 5090 PCIe 5.0 x8 ->
    PCIe 5.0 x16"."""
    changes = "; ".join(change_text(change, rig, catalog) for change in move.changes)
    return tr(
        "{piece} to {place}: {changes}",
        piece=subject_name(move.piece, rig, catalog),
        place=move.place,
        changes=changes,
    )


def change_text(change: Change, rig: Rig, catalog: Catalog) -> str:
    """Return what happens to one link."""
    name, before, after = (
        subject_name(change.piece, rig, catalog),
        link_text(change.before),
        link_text(change.after),
    )
    return tr("{piece} {before} \u2192 {after}", piece=name, before=before, after=after)


def link_text(link: Link) -> str:
    """Return a link (width, generation) as the field writes it: "PCIe 5.0 x16"."""
    width, gen = link
    if width is None and gen is None:
        return tr("no place")
    return f"PCIe {gen}.0 x{width}" if gen is not None and width is not None else f"x{width or '?'}"


def absent_texts(machine: Machine) -> list[str]:
    """Return what was not judged because no such part is chosen: space without a case, cooling
    without a cooler."""
    kinds = {kind_of(piece.part) for piece in machine.pieces}
    if "motherboard" not in kinds or "system" in kinds:
        return []
    texts = {
        "chassis": tr("No case chosen: clearances were not checked."),
        "cooler": tr("No cooler is chosen: how the processor is cooled was not judged."),
    }
    return [text for kind, text in texts.items() if kind not in kinds]


MOST_SHOWN = 4
"""Rings shown of many alike."""


def run_lines(run: NcclRun) -> Iterator[str]:
    """Yield what NCCL said of itself: version, rings, trees, the graphs of its search."""
    named = (
        tr("NCCL {version}", version=run.version) if run.version else tr("NCCL, version not named")
    )
    yield tr(
        "{nccl}: ranks {ranks}, rings {rings}, trees {trees}.",
        nccl=named,
        ranks=run.ranks,
        rings=len(run.rings),
        trees=len(run.parents),
    )
    for at, ring in enumerate(run.rings[:MOST_SHOWN]):
        yield tr("Ring {number}: {ranks}", number=at, ranks=" ".join(map(str, ring)))
    if len(run.rings) > MOST_SHOWN:
        yield tr("Further rings: {count}", count=len(run.rings) - MOST_SHOWN)
    for graph in run.graphs:
        words = "Graph {pattern}: channels {channels}, each {gbs} GB/s, path {path}"
        yield tr(
            words,
            pattern=graph.pattern,
            channels=graph.channels,
            gbs=number(graph.intra_gbs),
            path=graph.intra,
        )


TIME_HEADS = ("Message", "Time", "80 % interval", "Rings alone", "Way")
SIZES = (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10))
SECONDS = ((1e-3, 1e6, "µs"), (1.0, 1e3, "ms"), (float("inf"), 1.0, "s"))
"""Below how many seconds, how many of the unit are a second, the unit."""


def _seconds_text(*values: float) -> str:
    """Times in the unit of the last one."""
    per, unit = next((per, unit) for below, per, unit in SECONDS if values[-1] < below)
    return f"{' – '.join(number(value * per) for value in values)}{THIN}{unit}"


def _size_text(size_bytes: int) -> str:
    unit, of = next(((unit, of) for unit, of in SIZES if size_bytes >= of), ("B", 1))
    return f"{number(size_bytes / of)}{THIN}{unit}"


def time_cells(each: MessageTime) -> tuple[str, ...]:
    """Return the time of a message in words, in the order of `TIME_HEADS`."""
    taken, alone = each.taken, each.rings_alone
    shape, comma, protocol = each.way.partition(", ")
    shapes = {"ring": tr("ring"), "tree": tr("tree")}
    return (
        _size_text(each.size_bytes),
        _seconds_text(taken.value),
        _seconds_text(taken.low, taken.high),
        _seconds_text(alone.value) if alone else "",
        f"{shapes.get(shape, shape)}{comma}{protocol}",
    )


def times_note(machine: Machine, nccl: str) -> str:
    """Return of which GPUs and which NCCL the times are."""
    count = len(machine.gpus)
    nodes = len(nodes_of(machine, tuple(range(count)))) or 1
    if nodes < 2:
        return tr("All-reduce over {gpus} of one node; trees join nodes only.",
                  gpus=quantity(count, "GPUs"))  # fmt: skip
    where = tr("All-reduce over {gpus} of {nodes}.", gpus=quantity(count, "GPUs"),
               nodes=quantity(nodes, "nodes"))  # fmt: skip
    release = nccl_release(nccl)
    if has_trees(release):
        told = tr("NCCL from 2.4 on has trees between nodes; before, rings alone.")
    else:
        told = tr("NCCL {version} has rings alone; from 2.4 on trees join nodes.", version=nccl)
    return f"{where} {told}"


def time_lines(times: Sequence[MessageTime], machine: Machine, nccl: str) -> list[str]:
    """Return the times by size as a table with its note."""
    table = [tuple(map(tr, TIME_HEADS)), *map(time_cells, times)]
    kept = [at for at in range(len(TIME_HEADS)) if any(line[at] for line in table[1:])]
    widths = {at: max(columns_of(line[at]) for line in table) for at in kept}
    lines = ["  ".join(padded(line[at], widths[at]) for at in kept).rstrip() for line in table]
    return [times_note(machine, nccl), *lines]


def beside_cells(row: Beside) -> tuple[str, str, str]:
    """Return what prediction and NCCL both speak of, NCCL's word and the prediction."""
    names = {
        "ranks": tr("GPUs"),
        "path": tr("Worst path of its rings"),
        "rate": tr("Rate of its rings in GB/s"),
        "nvls": tr("NVLink SHARP"),
    }
    what = tr("GPU{a} and GPU{b}", a=row.pair[0], b=row.pair[1]) if row.pair else names[row.what]
    return what, _said(row.theirs), _said(row.ours)


def beside_text(row: Beside) -> str:
    """Return one thing that prediction and NCCL both speak of, and whether they agree."""
    what, theirs, ours = beside_cells(row)
    if row.agrees:
        return tr("{what}: {theirs}, as predicted ({ours})", what=what, theirs=theirs, ours=ours)
    return tr("{what}: {theirs}, predicted was {ours}", what=what, theirs=theirs, ours=ours)


def _said(value: str | float | None) -> str:
    if isinstance(value, str):
        return {"yes": tr("yes"), "no": tr("no")}.get(value, value)
    return number(value)
