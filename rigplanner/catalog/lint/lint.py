"""Is the catalog plausible? Ids, sources and ranges of every part; the physics of each kind stand
in modules of their own."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from rigplanner.catalog.lint.board import check_lanes, check_layout
from rigplanner.catalog.lint.complaint import Complaint
from rigplanner.catalog.lint.gpu import check_chip, check_gpu
from rigplanner.catalog.lint.names import check_name
from rigplanner.catalog.lint.parts import (
    check_chassis,
    check_cpu,
    check_memory,
    check_network_card,
    check_storage,
    check_supply,
)
from rigplanner.catalog.lint.platform import check_platform, check_year
from rigplanner.catalog.lint.prices import check_prices
from rigplanner.catalog.lint.units import check_units
from rigplanner.catalog.load import ID, Catalog
from rigplanner.catalog.schema.parts import Part

DAY = re.compile(r"20\d\d-[01]\d-[0-3]\d")


def lint(catalog: Catalog) -> list[Complaint]:
    """Return all complaints in catalog order."""
    return [
        complaint
        for part in catalog.parts.values()
        for check in CHECKS
        for complaint in check(part, catalog)
    ]


def check_id(part: Part, catalog: Catalog) -> Iterator[Complaint]:
    """Ids are vendor.family.variant and are not in the list of renamed ones."""
    if not ID.fullmatch(part.id):
        yield Complaint(part.id, "id", "id-form", part.id, "vendor.family.variant in [a-z0-9-]")
    if part.id in catalog.renamed:
        yield Complaint(part.id, "id", "id-reused", part.id, catalog.renamed[part.id])


def check_sources(part: Part, catalog: Catalog) -> Iterator[Complaint]:
    """Every part has a source that exists, read on a day; doubts and sources name fields that
    exist."""
    if not part.sources:
        yield Complaint(part.id, "sources", "no-source", "none", "at least one")
    for key, fields in part.sources.items():
        source = catalog.sources.get(key)
        if source is None:
            yield Complaint(part.id, "sources", "source-missing", key)
        elif not DAY.fullmatch(source.read):
            yield Complaint(part.id, "sources", "source-day", source.read, "YYYY-MM-DD")
        elif source.trust != "community" and not source.recalled and not _is_found(source.url):
            yield Complaint(part.id, "sources", "rank-without-address", key, "where it is found")
        for field in fields:
            if field != "*" and not _has(part, field):
                yield Complaint(part.id, "sources", "field-unknown", field)
    for field, doubt in part.doubts.items():
        if not _has(part, field):
            yield Complaint(part.id, "doubts", "field-unknown", field)
        if doubt.state == "conflict" and len(doubt.values) < 2:
            yield Complaint(part.id, "doubts", "conflict-values", field, "what each source says")
    for price in part.prices:
        if not DAY.fullmatch(price.day) or not 0 < price.amount < 1e8 or len(price.currency) != 3:
            yield Complaint(
                part.id, "prices", "price", f"{price.amount} {price.currency} {price.day}"
            )


def _is_found(address: str | None) -> bool:
    """Say whether an address leads to what was read, as the results of a search do not."""
    return address is not None and "/search?" not in address


def check_unpublished(part: Part, catalog: Catalog) -> Iterator[Complaint]:
    """What a maker leaves out is told by a page of the maker that was read, and no figure stands
    there."""
    for key, fields in part.unpublished.items():
        source = catalog.sources.get(key)
        if source is None or source.recalled or source.trust not in ("vendor", "manual"):
            yield Complaint(
                part.id,
                "unpublished",
                "unpublished-source",
                key,
                "a page of the maker that was read",
            )
        for field in fields:
            if not _has(part, field):
                yield Complaint(part.id, "unpublished", "field-unknown", field)
            elif _is_filled(part, field):
                yield Complaint(
                    part.id,
                    "unpublished",
                    "unpublished-figure",
                    field,
                    "no figure, or no such mark",
                )


def _is_filled(part: Part, field: str) -> bool:
    target: Any = part
    for name in field.split("."):
        if isinstance(target, tuple):
            return all(getattr(item, name) is not None for item in target)
        target = getattr(target, name, None)
    return target not in (None, ())


def _has(part: Part, field: str) -> bool:
    target: Any = part
    for name in re.split(r"\.|\[", field)[:2]:
        if isinstance(target, dict | tuple) or target is None:
            return True
        if not hasattr(target, name):
            return False
        target = getattr(target, name)
    return True


def check_ranges(part: Part, catalog: Catalog) -> Iterator[Complaint]:
    """No quantity is zero, negative or beyond sense: unknown is null."""
    for field in part.__struct_fields__:
        value = getattr(part, field)
        if (
            field.endswith(("_w", "_mm", "_gib", "_gb", "_gbs", "_ghz", "_mhz", "_mts"))
            and value is not None
            and not 0 < value < 1e7
        ):
            yield Complaint(part.id, field, "range", str(value), "more than 0, or null for unknown")


CHECKS: tuple[Callable[[Part, Catalog], Iterator[Complaint]], ...] = (
    check_id,
    check_sources,
    check_unpublished,
    check_ranges,
    check_gpu,
    check_units,
    check_chip,
    check_layout,
    check_lanes,
    check_supply,
    check_storage,
    check_cpu,
    check_memory,
    check_network_card,
    check_chassis,
    check_platform,
    check_year,
    check_prices,
    check_name,
)
