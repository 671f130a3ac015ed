"""Edits: functions Rig -> Rig, each with a name, callable by that name so that fixes and journals
can carry them as data."""

from collections.abc import Callable
from typing import Any, get_args

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.prices.exchange import ExchangeRates
from rigplanner.catalog.schema.parts import Price
from rigplanner.rig.document import Goods, Item, QuoteDetails, Rig, Role, Settings, Site, Waiver
from rigplanner.rig.goods import wrong_goods
from rigplanner.rig.variants import VariantFault, exchanged, is_taken, with_variant, without_variant
from rigplanner.rig.workload import Workload, changed

LARGEST_QUANTITY = 4096


class Edit(Struct, frozen=True):
    """An edit as data: the name of one of the functions below and its arguments."""

    name: str
    args: dict[str, Any]


class EditFault(ValueError):
    """An edit that cannot be made; the text says why."""


EDITS: dict[str, Callable[..., Rig]] = {}


def _edit(function: Callable[..., Rig]) -> Callable[..., Rig]:
    EDITS[function.__name__] = function
    return function


def apply(rig: Rig, edit: Edit) -> Rig:
    """Return the rig after `edit`; raise EditFault for an unknown name, wrong arguments or an
    impossible edit."""
    function = EDITS.get(edit.name)
    if function is None:
        raise EditFault(f"There is no edit named {edit.name}.")
    try:
        return function(rig, **edit.args)
    except (TypeError, msgspec.ValidationError) as fault:
        raise EditFault(f"The edit {edit.name} does not take these arguments: {fault}") from fault


def _with_item(rig: Rig, uid: str, **changes: Any) -> Rig:
    if rig.item(uid) is None:
        raise EditFault(f"The rig has no item {uid}.")
    return replace(
        rig,
        items=tuple(replace(item, **changes) if item.uid == uid else item for item in rig.items),
    )


def _checked_quantity(quantity: int) -> int:
    if not 1 <= quantity <= LARGEST_QUANTITY:
        raise EditFault(f"A quantity lies between 1 and {LARGEST_QUANTITY}, not {quantity}.")
    return quantity


def new_uid(rig: Rig, stem: str) -> str:
    """Return `stem`, or `stem2`, `stem3` ... when it is taken."""
    taken = {item.uid for item in rig.items}
    return next(
        uid for uid in (stem, *(f"{stem}{n}" for n in range(2, len(taken) + 3))) if uid not in taken
    )


@_edit
def add_part(
    rig: Rig,
    part: str,
    stem: str,
    quantity: int = 1,
    places: tuple[str, ...] = (),
    price: Price | None = None,
) -> Rig:
    """Add `quantity` pieces of a part as a new item whose uid begins with `stem` (its kind
    word)."""
    item = Item(
        uid=new_uid(rig, stem),
        part=part,
        quantity=_checked_quantity(quantity),
        places=tuple(places),
        price=price,
    )
    return replace(rig, items=(*rig.items, item))


@_edit
def remove_item(rig: Rig, uid: str) -> Rig:
    """Remove an item with all its pieces."""
    if rig.item(uid) is None:
        raise EditFault(f"The rig has no item {uid}.")
    return replace(rig, items=tuple(item for item in rig.items if item.uid != uid))


@_edit
def replace_part(rig: Rig, uid: str, part: str) -> Rig:
    """Put another part in an item's stead; its price and what a seller said of it are forgotten,
    its places stay."""
    return _with_item(rig, uid, part=part, price=None, goods=Goods())


@_edit
def set_quantity(rig: Rig, uid: str, quantity: int) -> Rig:
    """Set how many pieces an item has; places beyond are forgotten."""
    item = rig.item(uid)
    return _with_item(
        rig,
        uid,
        quantity=_checked_quantity(quantity),
        places=item.places[:quantity] if item else (),
    )


@_edit
def set_place(rig: Rig, uid: str, index: int, place: str) -> Rig:
    """Wish a place for one piece; "" gives it back to the solver."""
    item = rig.item(uid)
    if item is None or not 0 <= index < item.quantity:
        raise EditFault(f"The rig has no piece {uid}.{index}.")
    places = [item.place_of(n) for n in range(item.quantity)]
    places[index] = place
    while places and not places[-1]:
        places.pop()
    return _with_item(rig, uid, places=tuple(places))


@_edit
def set_price(rig: Rig, uid: str, price: Price | None) -> Rig:
    """Set or forget the price of one piece."""
    return _with_item(rig, uid, price=price)


@_edit
def set_tax(rig: Rig, uid: str, percent: float | None) -> Rig:
    """Set the rate of tax of an item's pieces; None returns to that of the quote."""
    if percent is not None and not 0 <= percent <= 100:
        raise EditFault("A tax lies between 0 and 100 %.")
    return _with_item(rig, uid, tax_percent=percent)


@_edit
def set_goods(rig: Rig, uid: str, goods: Goods) -> Rig:
    """Set what a seller says of an item's pieces."""
    if wrong := wrong_goods(goods):
        raise EditFault(f"{wrong[0].upper()}{wrong[1:]}")
    return _with_item(rig, uid, goods=goods)


@_edit
def set_power_cap(rig: Rig, uid: str, watts: float | None) -> Rig:
    """Cap the power of a GPU item as `nvidia-smi -pl` does, per piece in watts; None lifts the
    cap."""
    if watts is not None and watts <= 0:
        raise EditFault("A power cap is more than 0 W.")
    return _with_item(rig, uid, power_cap_w=watts)


@_edit
def set_role(rig: Rig, uid: str, role: Role | None) -> Rig:
    """Say what a GPU item is for; None leaves it open."""
    if role not in (None, *get_args(Role)):
        raise EditFault(f"A GPU's role is compute, display or both, not {role!r}.")
    return _with_item(rig, uid, role=role)


@_edit
def add_workload(rig: Rig, workload: Workload) -> Rig:
    """Add a workload at the end."""
    return replace(rig, workloads=(*rig.workloads, workload))


@_edit
def replace_workload(rig: Rig, index: int, workload: Workload) -> Rig:
    """Put another workload in place of the one at `index`."""
    if not 0 <= index < len(rig.workloads):
        raise EditFault(f"The rig has no workload {index + 1}.")
    return replace(rig, workloads=(*rig.workloads[:index], workload, *rig.workloads[index + 1 :]))


@_edit
def change_workload(rig: Rig, index: int, **fields: Any) -> Rig:
    """Change some fields of the workload at `index`."""
    if not 0 <= index < len(rig.workloads):
        raise EditFault(f"The rig has no workload {index + 1}.")
    return replace_workload(rig, index, changed(rig.workloads[index], fields))


@_edit
def remove_workload(rig: Rig, index: int) -> Rig:
    """Remove the workload at `index`."""
    if not 0 <= index < len(rig.workloads):
        raise EditFault(f"The rig has no workload {index + 1}.")
    return replace(rig, workloads=rig.workloads[:index] + rig.workloads[index + 1 :])


@_edit
def rename(rig: Rig, name: str) -> Rig:
    """Name the rig; its variants keep names of their own."""
    if name != rig.name and is_taken(replace(rig, name=""), name):
        raise EditFault(f"A variant is called {name}; give the rig another name.")
    return replace(rig, name=name)


@_edit
def keep_variant(rig: Rig, name: str) -> Rig:
    """Keep the present state as a variant of that name."""
    return _varied(with_variant, rig, name)


@_edit
def take_variant(rig: Rig, name: str) -> Rig:
    """Make a variant the open state; the former one is kept in its stead."""
    return _varied(exchanged, rig, name)


@_edit
def remove_variant(rig: Rig, name: str) -> Rig:
    """Keep a variant no more."""
    return _varied(without_variant, rig, name)


def _varied(change: Callable[[Rig, str], Rig], rig: Rig, name: str) -> Rig:
    try:
        return change(rig, name)
    except VariantFault as fault:
        raise EditFault(str(fault)) from fault


@_edit
def set_site(rig: Rig, site: Site) -> Rig:
    """Set where the rig will stand."""
    return replace(rig, site=site)


@_edit
def change_site(rig: Rig, **fields: Any) -> Rig:
    """Change some fields of the site."""
    return replace(rig, site=replace(rig.site, **fields))


@_edit
def set_quote(rig: Rig, quote: QuoteDetails) -> Rig:
    """Set the quote's details."""
    return replace(rig, quote=quote)


@_edit
def set_exchange(rig: Rig, exchange: ExchangeRates | None) -> Rig:
    """Set the rates by which prices in other currencies are counted; None counts them no more."""
    return replace(rig, exchange=exchange)


@_edit
def set_money(rig: Rig, currency: str, budget: float | None = None) -> Rig:
    """Set the currency of the totals and the budget in it."""
    return replace(rig, currency=currency, budget=budget)


@_edit
def set_settings(rig: Rig, settings: Settings) -> Rig:
    """Set BIOS choices, NUMA setting and software versions."""
    return replace(rig, settings=settings)


@_edit
def set_bios(rig: Rig, place: str, choice: str) -> Rig:
    """Make one BIOS choice for a place; "" returns to the default."""
    bios = (
        {**rig.settings.bios, place: choice}
        if choice
        else {k: v for k, v in rig.settings.bios.items() if k != place}
    )
    return replace(rig, settings=replace(rig.settings, bios=bios))


@_edit
def set_software(rig: Rig, versions: dict[str, str]) -> Rig:
    """Name versions of packages that the rig shall run ("pytorch": "2.8"); "" forgets one."""
    named = {**rig.settings.software, **versions}
    return replace(
        rig,
        settings=replace(
            rig.settings, software={name: text for name, text in named.items() if text}
        ),
    )


@_edit
def set_fact(rig: Rig, part: str, name: str, value: Any) -> Rig:
    """Keep a fact of a part that its owner measured; None forgets it."""
    if value is not None and all(item.part != part for item in rig.items):
        raise EditFault(f"The rig has no part {part}.")
    own = {key: said for key, said in rig.facts.get(part, {}).items() if key != name}
    if value is not None:
        own[name] = value
    facts = {key: said for key, said in rig.facts.items() if key != part}
    return replace(rig, facts={**facts, part: own} if own else facts)


def with_known_facts(rig: Rig, before: Rig, known: dict[str, dict[str, Any]]) -> Rig:
    """Return a rig with what its owner measured of parts that were not in it before, and of which
    it has no figures of its own."""
    there = {item.part for item in before.items}
    fresh = {item.part for item in rig.items} - there - rig.facts.keys()
    found = {part: known[part] for part in sorted(fresh & known.keys())}
    return replace(rig, facts={**rig.facts, **found}) if found else rig


@_edit
def set_raid0(rig: Rig, uids: tuple[str, ...] | list[str]) -> Rig:
    """Stripe the drives of some items into one volume (RAID 0); none: each drive by itself."""
    missing = next((uid for uid in uids if rig.item(uid) is None), None)
    if missing is not None:
        raise EditFault(f"The rig has no item {missing}.")
    return replace(rig, settings=replace(rig.settings, raid0=tuple(uids)))


@_edit
def waive(
    rig: Rig, code: str, reason: str, by: str, subject: str = "", until: str | None = None
) -> Rig:
    """Accept a finding with a reason and a name."""
    if not reason.strip() or not by.strip():
        raise EditFault("A waiver needs a reason and a name.")
    kept = tuple(w for w in rig.waivers if (w.code, w.subject) != (code, subject))
    return replace(
        rig, waivers=(*kept, Waiver(code=code, subject=subject, reason=reason, by=by, until=until))
    )


@_edit
def unwaive(rig: Rig, code: str, subject: str = "") -> Rig:
    """Take a waiver back."""
    return replace(
        rig, waivers=tuple(w for w in rig.waivers if (w.code, w.subject) != (code, subject))
    )


@_edit
def set_severity(rig: Rig, code: str, severity: str | None) -> Rig:
    """Change the severity of a rule for this rig; None returns to the rule's own."""
    others = {key: value for key, value in rig.severities.items() if key != code}
    return replace(rig, severities={**others, code: severity} if severity else others)


@_edit
def set_ignored(rig: Rig, code: str, ignored: bool) -> Rig:
    """Switch a rule off or on for this rig."""
    others = tuple(c for c in rig.ignored if c != code)
    return replace(rig, ignored=(*others, code) if ignored else others)


@_edit
def set_notes(rig: Rig, notes: str) -> Rig:
    """Set the rig's notes."""
    return replace(rig, notes=notes)
