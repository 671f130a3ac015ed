"""A card of the map put into a rig."""

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import GPU, Bridge
from rigplanner.planning.map.rank import Row
from rigplanner.rig.document import Rig
from rigplanner.rig.edits import Edit, apply


def swap_edits(rig: Rig, row: Row, catalog: Catalog) -> tuple[Edit, ...]:
    """Return the edits that make the cards of a row the GPUs of a rig: in the place of those it
    has, or beside what it has where it has none. Bridges leave where the card has no NVLink."""
    own = [item for item in rig.items if isinstance(catalog.get(item.part), GPU)]
    if not own:
        return (Edit("add_part", {"part": row.id, "stem": "gpu", "quantity": row.count}),)
    first, *others = own
    card = catalog.get(row.id)
    if isinstance(card, GPU) and card.nvlink is None:
        others += [item for item in rig.items if isinstance(catalog.get(item.part), Bridge)]
    return (
        Edit("replace_part", {"uid": first.uid, "part": row.id}),
        Edit("set_quantity", {"uid": first.uid, "quantity": row.count}),
        *(Edit("remove_item", {"uid": item.uid}) for item in others),
    )


def swapped(rig: Rig, row: Row, catalog: Catalog) -> Rig:
    """Return a rig with the cards of a row as its GPUs."""
    for edit in swap_edits(rig, row, catalog):
        rig = apply(rig, edit)
    return rig
