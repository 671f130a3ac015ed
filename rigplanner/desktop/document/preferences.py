"""What the window remembers between runs: one small file in the user's configuration folder."""

import contextlib
import logging
import tempfile
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.imports.user_catalog import newest_rates
from rigplanner.catalog.prices.exchange import ExchangeRates, with_rate
from rigplanner.decoding import JsonFault, convert, read_json
from rigplanner.path_text import text_of
from rigplanner.rig.document import Party, QuoteDetails, Rig, Site
from rigplanner.whole_file import read_within, write_whole

log = logging.getLogger(__name__)

MOST_RECENT = 12
LARGEST_BYTES = 16 * 2**20
TextPercent = Literal[90, 100, 110, 125, 150, 175, 200]
TEXT_SIZES: tuple[TextPercent, ...] = get_args(TextPercent)
BROKEN = "preferences.broken.json"


class OwnRate(Struct, frozen=True):
    """A rate of one's own: 1 `code` is worth `amount` of `currency`."""

    code: str
    amount: float
    currency: str


class Preferences(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Choices that belong to the person, not to a rig. `geometry` and `layout` are Qt's own state,
    in hexadecimal.

    `language` and `paper` "" follow the system; `text_percent` is the size of text against the
    system's. New rigs begin with `currency`, `site` and `seller`. Prices older than `price_days`
    are marked; `catalog_folder` "" is the user's data folder; `update_url` is where parts or
    (`update_prices`) prices come from. `facts` are the figures that the person measured of parts;
    a rig gets them when such a part comes into it."""

    theme: Literal["system", "light", "dark"] = "system"
    text_percent: TextPercent = 100
    language: str = ""
    lengths: Literal["mm", "in"] = "mm"
    paper: Literal["", "A4", "Letter"] = ""
    motion: bool = True
    recent: tuple[str, ...] = ()
    favourites: tuple[str, ...] = ()
    only_fitting: bool = False
    tour_seen: bool = False
    told_kept: bool = False
    name: str = ""
    currency: str = "USD"
    own_rate: OwnRate | None = None
    site: Site = Site()
    seller: Party = Party()
    price_days: int = 30
    catalog_folder: str = ""
    update_url: str = ""
    update_prices: bool = False
    geometry: str = ""
    layout: str = ""
    facts: dict[str, dict[str, Any]] = {}


class PreferenceStore:
    """The preferences in force and the file they are kept in; without a file they last as long as
    the window. `fault` says what of the file could not be read."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self.now, self.fault = _read(file) if file else (Preferences(), "")

    @property
    def folder(self) -> Path:
        """The folder of what is kept beside the preferences."""
        return self._file.parent if self._file else Path(tempfile.gettempdir()) / "rigplanner"

    def change(self, **fields: object) -> None:
        """Change some preferences and write them; a disk that refuses costs nothing but the memory
        of them."""
        changed = replace(self.now, **fields)
        if changed == self.now:
            return
        self.now = changed
        if self._file is None:
            return
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self._file, msgspec.json.format(msgspec.json.encode(changed), indent=1))
        except OSError as fault:
            log.warning("The preferences were not written: %s", fault)

    def remember_file(self, path: Path) -> None:
        """Put a rig file first among the recent ones."""
        name = text_of(path)
        self.change(
            recent=(name, *(other for other in self.now.recent if other != name))[:MOST_RECENT]
        )

    def remember_fact(self, part: str, name: str, value: Any) -> None:
        """Keep a figure that the person measured of a part; None forgets it."""
        own = {key: said for key, said in self.now.facts.get(part, {}).items() if key != name}
        if value is not None:
            own[name] = value
        others = {key: said for key, said in self.now.facts.items() if key != part}
        self.change(facts={**others, part: own} if own else others)

    def forget_file(self, name: str) -> None:
        """Take a file from the recent ones."""
        self.change(recent=tuple(other for other in self.now.recent if other != name))


def begin(preferences: Preferences, name: str = "") -> Rig:
    """Return an empty rig as the person wishes new ones: currency, site and seller, with the
    exchange rates in force."""
    quote = QuoteDetails(seller=preferences.seller)
    rig = Rig(
        currency=preferences.currency,
        site=preferences.site,
        quote=quote,
        exchange=rates_of(preferences),
    )
    return replace(rig, name=name) if name else rig


def with_wishes(rig: Rig, preferences: Preferences) -> Rig:
    """Return a rig that was made of parts alone with the currency, site and seller of new ones."""
    fresh = begin(preferences)
    return replace(
        rig, currency=fresh.currency, site=fresh.site, quote=fresh.quote, exchange=fresh.exchange
    )


def rates_of(preferences: Preferences) -> ExchangeRates:
    """Return the newest exchange rates that are here, with the person's own one."""
    rates, own = newest_rates(folder_of(preferences.catalog_folder)), preferences.own_rate
    return (own and with_rate(rates, own.code, own.amount, own.currency)) or rates


def folder_of(text: str) -> Path | None:
    """Return the folder that a preference names, None for the usual one."""
    return Path(text) if text and "\0" not in text else None


def preferences_file() -> Path:
    """Return where the preferences are kept."""
    import platformdirs

    return platformdirs.user_config_path("rigplanner", appauthor=False) / "preferences.json"


def _read(file: Path) -> tuple[Preferences, str]:
    """Return what can be read, and what is wrong with the rest; a file with something wrong is kept
    beside the one to come."""
    try:
        content = read_within(file, LARGEST_BYTES)
    except FileNotFoundError:
        return Preferences(), ""
    except OSError as fault:
        with contextlib.suppress(OSError):
            file.replace(file.with_name(BROKEN))
        return Preferences(), fault.strerror or str(fault)
    try:
        return read_json(content, Preferences), ""
    except JsonFault as fault:
        with contextlib.suppress(OSError):
            write_whole(file.with_name(BROKEN), content)
        return _sound_fields(content), str(fault)


def _sound_fields(content: bytes) -> Preferences:
    """Return the preferences that are as they should be; the others take their usual values."""
    try:
        tree = read_json(content, dict[str, object])
    except JsonFault:
        return Preferences()
    found: dict[str, object] = {}
    for name in tree.keys() & set(Preferences.__struct_fields__):
        with contextlib.suppress(JsonFault):
            found[name] = getattr(convert({name: tree[name]}, Preferences), name)
    return replace(Preferences(), **found)
