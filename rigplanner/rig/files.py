"""Rig files: read with care, written whole or not at all."""

import math
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.prices.prices import is_day
from rigplanner.catalog.schema.parts import AnyPart, System
from rigplanner.decoding import JsonFault, beyond_sense, convert, read_tree
from rigplanner.rig.document import (
    FORMAT_VERSION,
    MOST_CIRCUITS,
    MOST_MONITORS,
    Monitors,
    Rig,
    part_of,
)
from rigplanner.rig.edits import LARGEST_QUANTITY
from rigplanner.rig.goods import wrong_goods
from rigplanner.rig.variants import states, wrong_names
from rigplanner.whole_file import beside, read_within, write_whole

LARGEST_FILE_BYTES = 32 * 2**20
MOST_ITEMS = 2_000
MOST_WORKLOADS = 200
LONGEST_TEXT = 100_000
LONGEST_TERM = 3_650
PIXELS = (320, 32_768)
"""Of one side of a monitor."""

MIGRATIONS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}
"""Old format version to the function that lifts a decoded file to the next one."""


class RigFault(Exception):
    """A rig file that cannot be read or written; the text is one sentence: which file, which field,
    what to do."""


def read_rig(path: Path) -> Rig:
    """Return the rig in a file. Raises RigFault; the file is never changed."""
    try:
        content = read_within(path, LARGEST_FILE_BYTES)
    except OSError as fault:
        raise RigFault(f"{path}: cannot be read ({fault.strerror or fault}).") from fault
    return decode_rig(content, str(path))


def decode_rig(content: bytes, name: str) -> Rig:
    """Return the rig in `content`; `name` stands in the message of a RigFault."""
    try:
        tree = read_tree(content)
    except JsonFault as fault:
        raise RigFault(f"{name}: not a rig file, it is not JSON ({fault}).") from fault
    if not isinstance(tree, dict) or "format_version" not in tree:
        raise RigFault(f"{name}: not a rig file, the field 'format_version' is missing.")
    version = tree["format_version"]
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise RigFault(
            f"{name}: format_version must be a whole number from 1, found {str(version)[:40]!r}."
        )
    if version > FORMAT_VERSION:
        raise RigFault(
            f"{name}: made by a newer RigPlanner (format {version}, this one reads up to"
            f" {FORMAT_VERSION}). The file is left as it is; install the newer RigPlanner to"
            " open it."
        )
    for old in range(version, FORMAT_VERSION):
        tree = MIGRATIONS[old](tree)
    if strange := beyond_sense(tree.get("snapshot"), "snapshot"):
        raise RigFault(f"{name}: {strange}.")
    try:
        rig = convert(tree, Rig)
        msgspec.msgpack.encode(replace(rig, snapshot={}, snapshot_sources={}))
    except (msgspec.ValidationError, RecursionError, OverflowError) as fault:
        raise RigFault(f"{name}: {fault}.") from fault
    wrong = next(_wrong(rig), None) or next(_wrong_variants(rig), None)
    if wrong:
        raise RigFault(f"{name}: {wrong}")
    return rig


def _wrong_variants(rig: Rig) -> Iterator[str]:
    if strange := wrong_names(rig):
        yield strange
    for n, variant in enumerate(rig.variants):
        yield from (f"variants[{n}].rig.{strange}" for strange in _wrong(variant.rig))


def _wrong(rig: Rig) -> Iterator[str]:
    if len(rig.items) > MOST_ITEMS:
        yield f"{len(rig.items)} items are more than a rig may have ({MOST_ITEMS})."
    if len(rig.workloads) > MOST_WORKLOADS:
        yield f"{len(rig.workloads)} workloads are more than a rig may have ({MOST_WORKLOADS})."
    yield from _wrong_items(rig)
    yield from _wrong_amounts(rig)
    yield from _wrong_monitors(rig.site.monitors)
    for n, waiver in enumerate(rig.waivers):
        if waiver.until is not None and not is_day(waiver.until):
            yield (
                f"waivers[{n}].until: expected a day such as 2027-06-30, found"
                f" {waiver.until[:40]!r}."
            )
        if not waiver.by.strip() or not waiver.reason.strip():
            yield f"waivers[{n}]: a waiver needs a reason and a name."
    for field in ("name", "notes", "currency"):
        if len(getattr(rig, field)) > LONGEST_TEXT:
            yield f"{field}: longer than {LONGEST_TEXT} characters."


def _wrong_items(rig: Rig) -> Iterator[str]:
    """What of the items no rig can have."""
    seen: set[str] = set()
    for n, item in enumerate(rig.items):
        if not item.uid or item.uid in seen:
            yield f"items[{n}].uid: {item.uid!r} is empty or used twice."
        seen.add(item.uid)
        if not 1 <= item.quantity <= LARGEST_QUANTITY:
            yield f"items[{n}].quantity: expected 1 to {LARGEST_QUANTITY}, found {item.quantity}."
        if len(item.places) > item.quantity:
            yield f"items[{n}].places: {len(item.places)} places for {item.quantity} pieces."
        if item.price is not None and not 0 <= item.price.amount < 1e12:
            yield f"items[{n}].price.amount: expected 0 to 1e12, found {item.price.amount}."
        if wrong := wrong_goods(item.goods):
            yield f"items[{n}].goods.{wrong}"
        if item.power_cap_w is not None and not 1 <= item.power_cap_w <= 1e5:
            yield f"items[{n}].power_cap_w: expected 1 to 1e5 W, found {item.power_cap_w:g}."


def _wrong_monitors(monitors: Monitors | None) -> Iterator[str]:
    """Which numbers of the monitors lie beyond what can be."""
    if monitors is None:
        return
    for field, value, least, most in (
        ("count", monitors.count, 1, MOST_MONITORS),
        ("width_px", monitors.width_px, *PIXELS),
        ("height_px", monitors.height_px, *PIXELS),
    ):
        if not least <= value <= most:
            yield f"site.monitors.{field}: expected {least} to {most}, found {value}."


def _wrong_amounts(rig: Rig) -> Iterator[str]:
    """Which numbers of site, budget, rates and quote lie beyond what they can be."""
    for field, value, least, most in (
        ("site.volts", rig.site.volts, 1, 100_000),
        ("site.breaker_a", rig.site.breaker_a, 0.1, 100_000),
        ("budget", rig.budget, 0.01, 1e12),
        ("site.hire_speed_ratio", rig.site.hire_speed_ratio, 1e-6, 1e6),
    ):
        if value is not None and not least <= value <= most:
            yield f"{field}: expected {least:g} to {most:g}, found {value:g}."
    if not 1 <= rig.site.circuits <= MOST_CIRCUITS:
        yield f"site.circuits: expected 1 to {MOST_CIRCUITS}, found {rig.site.circuits}."
    for code, rate in rig.exchange.rates.items() if rig.exchange else ():
        if not 1e-9 <= rate <= 1e9:
            yield f"exchange.rates.{code[:8]}: expected 1e-9 to 1e9, found {rate:g}."
    for field, value in (
        ("tax_percent", rig.quote.tax_percent or 0.0),
        ("discount_percent", rig.quote.discount_percent),
        ("deposit_percent", rig.quote.deposit_percent),
        *((f"more_taxes[{n}].percent", t.percent) for n, t in enumerate(rig.quote.more_taxes)),
    ):
        if not (math.isfinite(value) and 0 <= value <= 100):
            yield f"quote.{field}: expected 0 to 100, found {value}."
    for field, amount in (("labour", rig.quote.labour), ("shipping", rig.quote.shipping)):
        if not 0 <= amount < 1e12:
            yield f"quote.{field}: expected 0 to 1e12, found {amount}."
    for field, days in (
        ("quote.valid_days", rig.quote.valid_days),
        ("site.hire_months", rig.site.hire_months),
    ):
        if not 0 <= days <= LONGEST_TERM:
            yield f"{field}: expected 0 to {LONGEST_TERM}, found {days}."


def with_snapshot(rig: Rig, catalog: Catalog) -> Rig:
    """Return the rig with the parts it uses (and the parts built into them) and their sources, as
    they are now."""
    parts: dict[str, AnyPart] = {}
    waiting = [item.part for state in states(rig) for item in state.items]
    while waiting:
        part_id = waiting.pop()
        part = part_of(rig, catalog, part_id)
        if part is None or part_id in parts:
            continue
        parts[part_id] = part
        if isinstance(part, System):
            waiting.extend(inclusion.part for inclusion in part.includes)
    known = {**rig.snapshot_sources, **catalog.sources}
    keys = {key for part in parts.values() for key in part.sources if key in known}
    return replace(
        rig,
        snapshot=dict(sorted(parts.items())),
        snapshot_sources={key: known[key] for key in sorted(keys)},
        catalog_version=catalog.version,
    )


def encode_rig(rig: Rig) -> bytes:
    """Return the bytes of a rig file, indented, with its format version first."""
    tree = {"format_version": FORMAT_VERSION, **msgspec.to_builtins(rig)}
    return msgspec.json.format(msgspec.json.encode(tree), indent=1) + b"\n"


def write_rig(rig: Rig, path: Path, catalog: Catalog) -> None:
    """Write a rig whole or not at all and keep the file that stood there as `.bak`. Raises
    RigFault."""
    content = encode_rig(with_snapshot(rig, catalog))
    try:
        if path.is_file():
            mode = stat.S_IMODE(path.stat().st_mode)
            write_whole(beside(path, ".bak"), path.read_bytes(), mode, follow_link=False)
        write_whole(path, content)
    except OSError as fault:
        raise RigFault(
            f"{path}: not saved ({fault.strerror or fault}). The file on disk is as it was."
        ) from fault
