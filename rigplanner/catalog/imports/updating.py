"""What is fetched for the user's catalog: files of parts, files of prices, and the exchange
rates."""

from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from rigplanner.catalog.foreign import slug
from rigplanner.catalog.imports import fetch, user_catalog
from rigplanner.catalog.load import CatalogFault, Family
from rigplanner.catalog.prices.exchange import ECB_URL, SECOND_URL, read_ecb, read_second
from rigplanner.catalog.prices.prices import decode_prices
from rigplanner.decoding import JsonFault, read_json


def rates_target(folder: Path | None = None) -> Path:
    """Return where the exchange rates are kept under the user's catalog `folder`."""
    return (folder or user_catalog.user_folder()) / user_catalog.RATES_FILE


def target(url: str, prices: bool = False, folder: Path | None = None) -> Path:
    """Return where the file of parts or `prices` of a URL is kept under the user's catalog
    `folder`: one place per URL."""
    folder = folder or user_catalog.user_folder()
    parts = urlsplit(url)
    name = slug(f"{parts.hostname or ''}-{PurePosixPath(parts.path).stem}") or "file"
    return folder / (user_catalog.PRICES if prices else user_catalog.UPDATES) / f"{name}.json"


def check_family(content: bytes) -> None:
    """Raise CatalogFault when the content is not a catalog file."""
    try:
        read_json(content, Family)
    except JsonFault as fault:
        raise CatalogFault(f"not a catalog file: {fault}.") from fault


def check_prices(content: bytes) -> None:
    """Raise CatalogFault when the content is not a price file."""
    decode_prices(content, "not a price file")


def fetch_rates(go_on: fetch.GoOn, folder: Path | None = None) -> fetch.Fetched:
    """Bring the exchange rates up to date: those of the European Central Bank, and, where it can be
    asked, those of a second source for currencies that the bank leaves out. Raises FetchFault."""
    fetched = fetch.fetch(ECB_URL, rates_target(folder), read_ecb, go_on=go_on)
    second = rates_target(folder).with_name(user_catalog.SECOND_RATES_FILE)
    try:
        fetch.fetch(SECOND_URL, second, read_second, go_on=go_on)
    except fetch.Stopped:
        raise
    except fetch.FetchFault:
        return fetched  # without it the rates are as good as the bank's
    return fetched


def fetch_file(
    url: str, prices: bool, go_on: fetch.GoOn, folder: Path | None = None
) -> fetch.Fetched:
    """Bring a file of parts, or of prices, up to date. Raises FetchFault."""
    return fetch.fetch(
        url, target(url, prices, folder), check_prices if prices else check_family, go_on=go_on
    )
