"""Words for the machine: moves of pieces to other places, with what each link gains and loses; what
NCCL found on it."""

from collections.abc import Iterator

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import kind_of
from rigplanner.machine.alternatives import Alternative, Change
from rigplanner.machine.formats.nccl_beside import Beside
from rigplanner.machine.formats.nccl_log import NcclRun
from rigplanner.machine.model import Machine
from rigplanner.report.format import number
from rigplanner.report.language import tr
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
