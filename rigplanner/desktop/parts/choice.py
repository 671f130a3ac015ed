"""Which edits put a part into the rig, and what the step is called."""

from collections.abc import Iterable

from rigplanner.catalog.schema.parts import Part, Price, kind_of
from rigplanner.desktop.document.preferences import rates_of
from rigplanner.desktop.document.session import Session
from rigplanner.report.language import tr
from rigplanner.rig.document import Item, Rig
from rigplanner.rig.edits import Edit


def choice_edits(session: Session, part: Part, uid: str) -> tuple[Edit, ...]:
    """Return the edits that replace the item `uid` by a part, or add the part when there is no such
    item: one more of an item of which nothing but its quantity and places was set."""
    rates = rate_edits(session, part.prices)
    if uid and session.rig.item(uid) is not None:
        return (Edit("replace_part", {"uid": uid, "part": part.id}), *rates)
    for item in session.rig.items:
        bare = Item(uid=item.uid, part=part.id, quantity=item.quantity, places=item.places)
        if item == bare:
            more = {"uid": item.uid, "quantity": item.quantity + 1}
            return (Edit("set_quantity", more), *rates)
    return (Edit("add_part", {"part": part.id, "stem": kind_of(part)}), *rates)


def rate_edits(session: Session, prices: Iterable[Price]) -> tuple[Edit, ...]:
    """Return the edit by which a rig that has no exchange rates takes those in force, as the tables
    count by them; none where all prices are in its money."""
    rig = session.rig
    if rig.exchange is not None or all(price.currency == rig.currency for price in prices):
        return ()
    return (Edit("set_exchange", {"exchange": rates_of(session.preferences.now)}),)


def choice_name(rig: Rig, part: Part, uid: str, old_name: str) -> str:
    """Return what the step is called in the history."""
    return (
        tr("Replace {old_name} by {name}", old_name=old_name, name=part.name)
        if uid and rig.item(uid) is not None
        else tr("Add {name}", name=part.name)
    )
