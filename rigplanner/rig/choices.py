"""Settings of a rig in words: "country=DE", "raid0=yes", "cap=280", "driver=580",
"bios:PCIE2=x8x8"."""

from collections.abc import Callable

import msgspec
from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import GPU, Accessory, Storage
from rigplanner.decoding import convert
from rigplanner.rig.countries import country_named, near_countries
from rigplanner.rig.document import MOST_CIRCUITS, Item, Rig, Site, part_of
from rigplanner.rig.edits import (
    EditFault,
    change_site,
    set_bios,
    set_fact,
    set_power_cap,
    set_raid0,
    set_software,
)
from rigplanner.rig.facts import FactFault, checked
from rigplanner.rig.monitor_choices import MONITOR_WORDS, with_monitor_choice, with_role
from rigplanner.rig.offer_choices import OFFER_WORDS, with_offer_choice

SITE_WORDS = {
    "country": "country",
    "volts": "volts",
    "breaker": "breaker_a",
    "hours": "hours_per_day",
    "room": "room_c",
    "tokens-a-day": "tokens_per_day",
}
SOFTWARE_WORDS = (
    "driver",
    "cuda",
    "pytorch",
    "tensorflow",
    "jax",
    "rocm",
    "os",
    "bios",
    "iommu",
    "ngc-pytorch",
    "ngc-tensorflow",
    "rapids",
    "bitsandbytes",
    "mamba-ssm",
    "causal-conv1d",
    "nunchaku",
    "sageattention",
    "deep-gemm",
    "unsloth",
    "tensorrt",
    "flashinfer",
    "sglang",
    "vllm",
    "ctranslate2",
    "onnxruntime-gpu",
    "nccl",
)
WORDED = ("os", "bios", "iommu")
"""Settings of software whose values are words; all others are versions."""
YES, NO = ("yes", "on", "true", "all"), ("no", "off", "false", "none")


def with_choice(rig: Rig, catalog: Catalog, text: str) -> Rig:
    """Return the rig with one setting, written NAME=VALUE. Raises EditFault for a name or value
    that it does not know."""
    name, equals, value = (word.strip() for word in text.partition("="))
    key = name.casefold()
    if not equals or not value:
        raise EditFault(f"{text!r}: expected NAME=VALUE, for example country=DE.")
    if key.startswith("fact:"):
        return _with_fact(rig, catalog, name[5:], value)
    if key.startswith("bios:"):
        return set_bios(rig, name[5:], value)
    if key.startswith("role:"):
        return with_role(rig, catalog, name[5:], value)
    if key in SITE_WORDS:
        return _on_site(rig, SITE_WORDS[key], value)
    if key in SOFTWARE_WORDS:
        if key not in WORDED and not any(letter.isdigit() for letter in value):
            raise EditFault(f"{key}: expected a version as 2.3 or 12.6.1, found {value[:40]!r}.")
        return set_software(rig, {key: value})
    if key in OWN_WORDS:
        return OWN_WORDS[key](rig, catalog, value)
    offered = with_offer_choice(rig, key, value)
    if offered is not None:
        return offered
    shown = with_monitor_choice(rig, key, value)
    if shown is not None:
        return shown
    known = ", ".join(
        sorted(
            (
                *(*SITE_WORDS, *SOFTWARE_WORDS, *OWN_WORDS, *OFFER_WORDS, *MONITOR_WORDS),
                *("bios:PLACE", "role:GPU"),
            )
        )
    )
    raise EditFault(f"{name!r} is no setting; known are {known}.")


def _with_fact(rig: Rig, catalog: Catalog, name: str, value: str) -> Rig:
    """A fact that the owner measured: "asus.x.y:PCIE2.position=5"; "none" forgets it."""
    part_id, colon, field = name.partition(":")
    part = catalog.get(part_id) or rig.snapshot.get(part_id)
    if not colon or not field or part is None:
        raise EditFault(f"fact:{name}: expected fact:PART:FIELD=VALUE with a part of the rig.")
    try:
        given = None if value.casefold() == "none" else checked(part, field, value)
    except FactFault as fault:
        raise EditFault(f"fact:{name}: {fault}") from fault
    return set_fact(rig, part.id, field, given)


def _country(value: str) -> str:
    """The two letters of a country; letters that no country has are refused with the nearest."""
    code = country_named(value)
    if code is None:
        near = ", ".join(near_countries(value))
        hint = f"; the nearest are {near}" if near else ""
        raise EditFault(
            "country: expected a country's two letters (ISO 3166), for example DE, found"
            f" {value!r}{hint}."
        )
    return code


def _on_site(rig: Rig, field: str, value: str) -> Rig:
    given = _country(value) if field == "country" else _number(field, value)
    try:
        convert(msgspec.to_builtins(replace(rig.site, **{field: given})), Site)
    except msgspec.ValidationError as fault:
        raise EditFault(f"{field}: {fault}") from fault
    return change_site(rig, **{field: given})


def _number(name: str, value: str) -> float:
    try:
        number = float(value)
    except ValueError as fault:
        raise EditFault(f"{name}: expected a number, found {value!r}.") from fault
    if not 0 < number < float("inf"):
        raise EditFault(f"{name}: expected a number above 0, found {value!r}.")
    return number


def _is_yes(name: str, value: str) -> bool:
    if value.casefold() not in (*YES, *NO):
        raise EditFault(f"{name}: expected yes or no, found {value!r}.")
    return value.casefold() in YES


def _raid0(rig: Rig, catalog: Catalog, value: str) -> Rig:
    """All drives in one volume, none, or the items named."""
    if value.casefold() not in (*YES, *NO):
        return set_raid0(rig, tuple(uid.strip() for uid in value.split(",")))
    drives = tuple(item.uid for item in _items(rig, catalog, Storage))
    count = sum(item.quantity for item in _items(rig, catalog, Storage))
    if _is_yes("raid0", value) and count < 2:
        raise EditFault(f"raid0: a striped volume needs two drives, the rig has {count}.")
    return set_raid0(rig, drives if _is_yes("raid0", value) else ())


def _cap(rig: Rig, catalog: Catalog, value: str) -> Rig:
    watts = None if value.casefold() in NO else _number("cap", value)
    for item in _items(rig, catalog, GPU):
        rig = set_power_cap(rig, item.uid, watts)
    return rig


def _numa(rig: Rig, catalog: Catalog, value: str) -> Rig:
    count = _number("numa", value)
    if count != int(count):
        raise EditFault(f"numa: expected a whole number of nodes per socket, found {value!r}.")
    return replace(rig, settings=replace(rig.settings, numa_per_socket=int(count)))


def _peers(rig: Rig, catalog: Catalog, value: str) -> Rig:
    return replace(rig, settings=replace(rig.settings, peer_to_peer_driver=_is_yes("p2p", value)))


def _ups(rig: Rig, catalog: Catalog, value: str) -> Rig:
    """One UPS, or so many as a number says, of the kind that the rig has."""
    found = [
        item
        for item in _items(rig, catalog, Accessory)
        if getattr(part_of(rig, catalog, item.part), "type", "") == "ups"
    ]
    if not found:
        raise EditFault("ups: the rig has none; name one among the parts.")
    count = int(_number("ups", value))
    return replace(
        rig,
        items=tuple(replace(i, quantity=count) if i.uid == found[0].uid else i for i in rig.items),
    )


def _items(rig: Rig, catalog: Catalog, kind: type) -> list[Item]:
    return [item for item in rig.items if isinstance(part_of(rig, catalog, item.part), kind)]


def _circuits(rig: Rig, catalog: Catalog, value: str) -> Rig:
    """How many circuits feed the supplies."""
    if not value.isdigit() or not 1 <= int(value) <= MOST_CIRCUITS:
        raise EditFault(
            f"circuits: expected a whole number from 1 to {MOST_CIRCUITS}, found {value!r}."
        )
    return change_site(rig, circuits=int(value))


OWN_WORDS: dict[str, Callable[[Rig, Catalog, str], Rig]] = {
    "raid0": _raid0, "cap": _cap, "numa": _numa, "p2p": _peers, "ups": _ups, "circuits": _circuits,
}  # fmt: skip
