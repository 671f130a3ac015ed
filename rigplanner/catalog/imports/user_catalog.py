"""What the user adds to the shipped catalog: own parts, imported ones, fetched files, prices and
exchange rates.

In the user's data folder, under `catalog/`:
  *.json            families of own parts; they override by id
  updates/*.json    fetched families; they override the shipped parts by id
  imported/*.json   imported families of lower trust, kept apart; a binary copy of each is read
  prices/*.json     price files; those that say `overrides` replace the catalog's prices
  rates.xml         exchange rates of the European Central Bank
  rates-second.txt  a second source's, for currencies that the bank leaves out
"""

import contextlib
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct

from rigplanner.catalog.binary import keep_copy, place, read_copy, signature
from rigplanner.catalog.foreign import Import, text_fault
from rigplanner.catalog.layer import Layer, Layers
from rigplanner.catalog.load import (
    ID,
    Catalog,
    CatalogFault,
    Family,
    read_foreign_family,
    shipped_catalog,
)
from rigplanner.catalog.prices.exchange import (
    ExchangeRates,
    read_ecb,
    read_second,
    shipped_bank,
    shipped_others,
    with_second,
)
from rigplanner.catalog.prices.prices import PriceFile, decode_prices, with_prices
from rigplanner.catalog.schema.parts import AnyPart
from rigplanner.decoding import JsonFault
from rigplanner.evidence import Source
from rigplanner.whole_file import read_within, write_whole

OWN, UPDATES, IMPORTED, PRICES = "", "updates", "imported", "prices"
RATES_FILE = "rates.xml"
SECOND_RATES_FILE = "rates-second.txt"
LARGEST_PRICES_BYTES = 64 * 2**20

T = TypeVar("T")


class FullCatalog(Struct, frozen=True):
    """The catalog with all that the user added, and a sentence for each file that was left
    aside."""

    catalog: Catalog
    faults: tuple[str, ...] = ()


def user_folder() -> Path:
    """Return the folder of the user's catalog; it need not exist."""
    import platformdirs

    return platformdirs.user_data_path("rigplanner", appauthor=False) / "catalog"


def full_catalog(folder: Path | None = None) -> FullCatalog:
    """Return the shipped catalog with the user's additions from `folder` (else the user's own);
    broken files are left aside."""
    folder = folder or user_folder()
    shipped = shipped_catalog()
    faults: list[str] = []
    own = [
        family
        for place in (UPDATES, OWN)
        for family in _each(folder / place, read_foreign_family, faults)
    ]
    layers = _each(folder / IMPORTED, _layer, faults)
    prices = _each(folder / PRICES, _price_file, faults)
    prices.sort(key=lambda file: file.overrides)
    if fault := _fetched_rates(folder)[1]:
        faults.append(f"Left aside: {fault}")
    if not (own or layers or prices):
        return FullCatalog(shipped, tuple(faults))
    parts: dict[str, AnyPart] = dict(shipped.parts)
    sources: dict[str, Source] = dict(shipped.sources)
    for family in own:
        sources.update(family.sources)
        parts.update((part.id, part) for part in family.parts)
    community = Layers(layers)
    made = Catalog(
        parts, {**community.sources, **sources}, shipped.renamed, shipped.version, community
    )
    return FullCatalog(with_prices(made, prices), tuple(faults))


def _each(folder: Path, read: Callable[[Path], T], faults: list[str]) -> list[T]:
    """Return what the files of a folder hold; what is wrong with the others goes to `faults`."""
    found = []
    for path in _files(folder):
        try:
            found.append(read(path))
        except CatalogFault as fault:
            faults.append(f"Left aside: {fault}")
        except OSError as fault:
            faults.append(f"Left aside: {path}: cannot be read ({fault.strerror or fault}).")
    return found


def _layer(path: Path) -> Layer:
    """Return an import, from its binary copy where that is of the file as it stands."""
    copy, key = _copy_of(path), signature([path])
    stored = read_copy(copy, key)
    if stored is not None:
        with contextlib.suppress(JsonFault, LookupError, ValueError):
            return Layer(stored)
    family = read_foreign_family(path)
    return _kept_layer(copy, key, path.stem, family)


def _copy_of(path: Path) -> Path:
    """Return where the binary copy of an import is kept: one place for each file."""
    return place(f"{path.stem}-{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]}")


def _kept_layer(copy: Path, key: bytes, name: str, family: Family) -> Layer:
    from rigplanner.catalog.imports.layer_writing import layer_bytes

    content = layer_bytes(name, family.parts, family.sources)
    keep_copy(copy, key, content)
    return Layer(content)


def _files(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.glob("*.json") if path.is_file())
    except (OSError, ValueError):  # a folder that is none, or a name with a NUL
        return []


def _price_file(path: Path) -> PriceFile:
    return decode_prices(read_within(path, LARGEST_PRICES_BYTES), str(path))


def newest_rates(folder: Path | None = None) -> ExchangeRates:
    """Return the exchange rates that were fetched last, else those that came with the catalog; of
    currencies that the bank leaves out likewise."""
    shipped, (fetched, _) = shipped_bank(), _fetched_rates(folder or user_folder())
    newest = max(shipped, fetched, key=lambda rates: rates.day) if fetched else shipped
    second = (folder or user_folder()) / SECOND_RATES_FILE
    try:
        others = read_second(read_within(second, LARGEST_PRICES_BYTES))
    except (OSError, CatalogFault):
        others = shipped_others()
    return with_second(newest, others)


def _fetched_rates(folder: Path) -> tuple[ExchangeRates | None, str]:
    """Return the rates that were fetched, and what is wrong with their file."""
    path = folder / RATES_FILE
    try:
        return read_ecb(read_within(path, LARGEST_PRICES_BYTES)), ""
    except FileNotFoundError:
        return None, ""
    except (OSError, ValueError) as fault:
        return None, f"{path}: cannot be read ({getattr(fault, 'strerror', None) or fault})."
    except CatalogFault as fault:
        return None, f"{path}: {fault}"


def keep_import(name: str, made: Import, folder: Path | None = None) -> Path:
    """Write imported parts as one family file that replaces the import of the same name, and its
    binary copy; return the file's path. Raises OSError."""
    family = Family(family=name, sources=made.sources, parts=made.parts)
    path = _written(
        (folder or user_folder()) / IMPORTED / f"{name}.json", msgspec.json.encode(family)
    )
    path.with_suffix(".stamp").unlink(missing_ok=True)  # what was fetched is no longer what is here
    _kept_layer(_copy_of(path), signature([path]), name, family)
    return path


def drop_import(name: str, folder: Path | None = None) -> None:
    """Take an import and its binary copy away. Raises OSError."""
    path = (folder or user_folder()) / IMPORTED / f"{name}.json"
    _copy_of(path).unlink(missing_ok=True)
    path.unlink(missing_ok=True)


def keep_prices(name: str, file: PriceFile, folder: Path | None = None) -> Path:
    """Write prices as a file that replaces the one of the same name; return its path. Raises
    OSError."""
    content = msgspec.json.format(msgspec.json.encode(file), indent=1)
    return _written((folder or user_folder()) / PRICES / f"{name}.json", content)


def read_own_family(path: Path) -> Family:
    """Return the family in a file of own parts. Raises CatalogFault for what is none, an id that is
    used twice or not of the form vendor.family.variant, and a name with markup or characters that
    show it as another."""
    family = read_foreign_family(path)
    seen: set[str] = set()
    for part in family.parts:
        if not ID.fullmatch(part.id):
            raise CatalogFault(
                f"{path}: id: expected vendor.family.variant in [a-z0-9-], found {part.id[:80]!r}."
            )
        if part.id in seen:
            raise CatalogFault(f"{path}: the id {part.id} is used twice.")
        seen.add(part.id)
        for text in (part.name, part.vendor, *part.aliases):
            if text_fault(text) is not None:
                raise CatalogFault(
                    f"{path}: {part.id}: name, vendor, aliases: expected plain text, found"
                    f" {text[:80]!r}."
                )
    return family


def keep_family(name: str, family: Family) -> Path:
    """Write own parts, which override by id, as a file that replaces the one of the same name.
    Raises OSError."""
    content = msgspec.json.format(msgspec.json.encode(family), indent=1)
    return _written(user_folder() / f"{name}.json", content)


def _written(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, content)
    return path
