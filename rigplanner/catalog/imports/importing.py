"""One door for all foreign sources: read one, look at what it gave, keep it."""

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.find.find import PartIndex
from rigplanner.catalog.find.naming import Confidence
from rigplanner.catalog.foreign import Import, Progress, go_on, slug
from rigplanner.catalog.imports import coolpc, foreign_opendb, foreign_pcpp, user_catalog
from rigplanner.catalog.imports.foreign_files import ForeignFault
from rigplanner.catalog.imports.lanes import patterns, with_lanes
from rigplanner.catalog.load import shipped_catalog
from rigplanner.catalog.prices import price_list
from rigplanner.catalog.prices.prices import Offers, price_file
from rigplanner.catalog.schema.parts import Motherboard
from rigplanner.whole_file import read_within

PART_SOURCES = {
    "opendb": foreign_opendb.read_opendb,
    "pc-part-dataset": foreign_pcpp.read_pc_part_dataset,
}


class Options(Struct, frozen=True, kw_only=True):
    """What a CSV of prices does not say itself, and what its columns are (None: common names are
    understood)."""

    currency: str = "USD"
    region: str | None = None
    mapping: Mapping[str, str] | None = None
    encoding: str | None = None


def read_source(
    source: str,
    place: Path,
    day: str,
    index: PartIndex,
    options: Options,
    progress: Progress = go_on,
) -> Import | Offers:
    """Return what a source gives: parts, or prices of the parts of `index`; `day` (ISO) is that of
    the data.

    Raises ForeignFault with one sentence when it cannot be read, Cancelled when `progress` says so.
    """
    if source in PART_SOURCES:
        return with_inferred_lanes(PART_SOURCES[source](place, day, progress))
    try:
        content = read_within(place, price_list.LARGEST_FILE_BYTES)
        if source == "coolpc":
            return coolpc.read_coolpc(content, index, day)
        defaults = price_list.Defaults(
            currency=options.currency, day=day, source=place.stem, region=options.region
        )
        return price_list.read_price_list(
            content, index, defaults, options.mapping, options.encoding
        )
    except OSError as fault:
        raise ForeignFault(f"{place}: cannot be read ({fault.strerror or fault}).") from fault
    except ValueError as fault:
        raise ForeignFault(f"{place}: {fault}.") from fault


def with_inferred_lanes(made: Import) -> Import:
    """Return an import with what the shipped boards prove of the boards in it."""
    boards = (part for part in shipped_catalog().of_kind("motherboard"))
    known = patterns(board for board in boards if isinstance(board, Motherboard))
    return replace(made, parts=tuple(with_lanes(part, known) for part in made.parts))


def count_to_keep(made: Import | Offers, least: Confidence = "exact") -> int:
    """Return how many parts, or prices of parts, `keep` would write."""
    return len(made.parts) if isinstance(made, Import) else len(price_file("", made, least).prices)


def keep(
    source: str,
    place: Path,
    made: Import | Offers,
    least: Confidence = "exact",
    name: str | None = None,
    folder: Path | None = None,
) -> Path:
    """Write what was read into the user's catalog, in place of the import of the same name; return
    the file. Raises OSError.

    The name is that of the source, for a CSV that of the file."""
    name = name or (slug(place.stem) if source == "csv" else source) or source
    if isinstance(made, Import):
        return user_catalog.keep_import(name, made, folder)
    title = coolpc.SOURCE if source == "coolpc" else place.name
    return user_catalog.keep_prices(name, price_file(title, made, least), folder)
