"""Words for the machine: moves of pieces to other places, with what each link gains and loses."""

from rigplanner.catalog.load import Catalog
from rigplanner.machine.alternatives import Alternative, Change
from rigplanner.report.language import tr
from rigplanner.report.words import subject_name
from rigplanner.rig.document import Rig

Link = tuple[int | None, int | None]


def move_text(move: Alternative, rig: Rig, catalog: Catalog) -> str:
    """Return one sentence for a move: "Samsung 990 PRO to M.2_4: GeForce RTX 5090 PCIe 5.0 x8 -> PCIe 5.0 x16"."""
    changes = "; ".join(change_text(change, rig, catalog) for change in move.changes)
    return tr("{piece} to {place}: {changes}", piece=subject_name(move.piece, rig, catalog), place=move.place, changes=changes)


def change_text(change: Change, rig: Rig, catalog: Catalog) -> str:
    """Return what happens to one link."""
    name, before, after = subject_name(change.piece, rig, catalog), link_text(change.before), link_text(change.after)
    return tr("{piece} {before} \u2192 {after}", piece=name, before=before, after=after)


def link_text(link: Link) -> str:
    """Return a link (width, generation) as the field writes it: "PCIe 5.0 x16"."""
    width, gen = link
    if width is None and gen is None:
        return tr("no place")
    return f"PCIe {gen}.0 x{width}" if gen is not None and width is not None else f"x{width or '?'}"
