"""Ways out of a finding: edits as data, with what they cost and what they change."""

from collections.abc import Callable
from typing import Any

from rigplanner.catalog.schema.parts import Part, kind_of
from rigplanner.economics.totals import totals
from rigplanner.rig.document import Item
from rigplanner.rig.edits import Edit, EditFault, apply
from rigplanner.rules.core.context import Context
from rigplanner.rules.core.finding import Fix


def fix(context: Context, code: str, /, *edits: Edit, **values: Any) -> Fix:
    """Return a fix; `values["price"]` is what it adds to the rig's total in the rig's currency,
    None when a price is unknown."""
    price = price_difference(context, edits) if context.advise else None
    return Fix(code=code, edits=edits, values={**values, "price": price})


def price_difference(context: Context, edits: tuple[Edit, ...]) -> float | None:
    """Return how much edits add to the rig's total in its currency; None when a piece they bring,
    change or take has no price there."""
    if not any(
        edit.name in ("add_part", "replace_part", "set_quantity", "remove_item") for edit in edits
    ):
        return 0.0
    rig = context.rig
    try:
        for edit in edits:
            rig = apply(rig, edit)
    except EditFault:
        return None
    before = context.totals
    same = {id(item) for item in context.rig.items} & {id(item) for item in rig.items}
    touched = {item.uid for item in (*context.rig.items, *rig.items) if id(item) not in same}
    after = totals(
        rig, context.catalog, {line.uid: line for line in before.lines if line.uid not in touched}
    )
    if touched & {*before.unpriced, *before.foreign, *after.unpriced, *after.foreign}:
        return None
    return round(after.total - before.total, 2)


def item_of(context: Context, piece: str) -> tuple[Item, int] | None:
    """Return the rig's item and index of a piece; None for a piece built into a system."""
    uid, _, index = piece.rpartition(".")
    item = context.rig.item(uid)
    return (item, int(index)) if item is not None and index.isdigit() else None


def move(context: Context, piece: str, place: str) -> Edit | None:
    """Return the edit that wishes another place for a piece; none where fixes are not sought."""
    found = item_of(context, piece) if context.advise else None
    return (
        Edit("set_place", {"uid": found[0].uid, "index": found[1], "place": place})
        if found
        else None
    )


def cheapest(
    context: Context, part: Part, suits: Callable[[Any], bool], near: Callable[[Any], float]
) -> Part | None:
    """Return the catalog part of the same kind that suits: the cheapest in the rig's currency, else
    the nearest of the maker."""
    return cheapest_of(
        context,
        kind_of(part),
        lambda other: other.id != part.id and suits(other),
        near,
        lambda other: other.vendor != part.vendor,
    )


def cheapest_of(
    context: Context,
    kind: str,
    suits: Callable[[Any], bool],
    near: Callable[[Any], float] = lambda part: 0.0,
    strange: Callable[[Any], bool] = lambda part: False,
) -> Part | None:
    """Return the catalog part of a kind that suits: the cheapest in the rig's currency, else the
    least strange, then nearest."""
    currency = context.rig.currency
    best: tuple[float | bool | str, ...] | None = None
    choice: Part | None = None
    for other in context.catalog.of_kind(kind):
        if other.status not in ("current", "classic") or not suits(other):
            continue
        price = min((p.amount for p in other.prices if p.currency == currency), default=None)
        rank = (
            price is None,
            price or 0.0,
            strange(other),
            other.status != "current",
            near(other),
            other.id,
        )
        if best is None or rank < best:
            best, choice = rank, other
    return choice


def swap(
    context: Context,
    code: str,
    piece: str,
    suits: Callable[[Any], bool],
    near: Callable[[Any], float] = lambda part: 0.0,
    **values: Any,
) -> tuple[Fix, ...]:
    """Return the fix that puts a fitting part of the catalog in the stead of a piece's item, or
    none; among parts without a price the one with the lowest `near` is taken."""
    found = item_of(context, piece) if context.advise else None
    part = context.pieces[piece].part if piece in context.pieces else None
    if found is None or part is None:
        return ()
    other = cheapest(context, part, suits, near)
    if other is None:
        return ()
    edit = Edit("replace_part", {"uid": found[0].uid, "part": other.id})
    return (fix(context, code, edit, part=other.id, piece=piece, **values),)
