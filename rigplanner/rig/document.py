"""The rig document: one frozen tree. Edits live in `edits`, files in `files`."""

from typing import Any, Literal

from msgspec import Struct

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.prices.exchange import ExchangeRates
from rigplanner.catalog.schema.parts import AnyPart, Price
from rigplanner.evidence import Source
from rigplanner.rig.facts import with_facts
from rigplanner.rig.workload import Workload

FORMAT_VERSION = 1
MOST_CIRCUITS = 64
MOST_MONITORS = 64

Role = Literal["compute", "display", "both"]
"""What a GPU is for: jobs, the monitors, or both."""


class Goods(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a seller says of the pieces of an item: the maker's part number, their EAN or UPC, their
    condition ("": as the price says), the months of warranty, and what one costs the seller in the
    rig's currency, which no paper for customers shows."""

    part_number: str = ""
    ean: str = ""
    condition: Literal["", "new", "used", "refurbished"] = ""
    warranty_months: int | None = None
    cost: float | None = None


class Item(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`quantity` pieces of one part. `places` names the slot, port or bay of each piece ("" or
    missing: let the solver choose); `tax_percent` is its own rate of tax, None that of the quote;
    `role` what GPUs are for, None for jobs, and for the monitors where no other card has them;
    `goods` is what a seller says of them.

    The place of an NVLink bridge names the two GPU pieces it joins, "gpu.0+gpu.1". A piece is
    called `uid.index`."""

    uid: str
    part: str
    quantity: int = 1
    places: tuple[str, ...] = ()
    price: Price | None = None
    power_cap_w: float | None = None
    tax_percent: float | None = None
    note: str = ""
    role: Role | None = None
    goods: Goods = Goods()

    def pieces(self) -> list[str]:
        """Return the names of the pieces, "gpu.0", "gpu.1", ..."""
        return [f"{self.uid}.{index}" for index in range(self.quantity)]

    def place_of(self, index: int) -> str:
        """Return the wished place of a piece, or "" for none."""
        return self.places[index] if index < len(self.places) else ""


class Monitors(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The monitors that hang on the rig: how many, pixels of each, what runs on them (`desktop`:
    nothing but text, a bare desktop, one with a browser, one with many), and whether games do."""

    count: int
    width_px: int = 1920
    height_px: int = 1080
    desktop: Literal["none", "light", "usual", "heavy"] = "usual"
    games: bool = False


class Site(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where the rig will stand: mains voltage, breaker, how many such circuits feed its supplies
    (the load shared evenly), other load on them, energy price; and what hiring a machine instead
    would cost its owner, by the hour (of which the rig does `hire_speed_ratio` in one) or by the
    month over `hire_months`, or an API for a million tokens in and out, where `tokens_per_day` are
    the answers of a day; and its `monitors`."""

    country: str | None = None
    volts: float | None = None
    breaker_a: float | None = None
    circuits: int = 1
    other_load_w: float = 0.0
    energy_per_kwh: Price | None = None
    hours_per_day: float | None = None
    room_c: float | None = None
    hire_per_hour: Price | None = None
    hire_speed_ratio: float | None = None
    hire_per_month: Price | None = None
    hire_months: int = 24
    api_input_per_million: Price | None = None
    api_output_per_million: Price | None = None
    tokens_per_day: float | None = None
    monitors: Monitors | None = None


class Party(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A seller or a customer as printed on the quote."""

    name: str = ""
    address: str = ""
    contact: str = ""
    email: str = ""
    phone: str = ""
    tax_id: str = ""
    logo: str = ""


class Tax(Struct, frozen=True, kw_only=True):
    """A tax that is due beside the general one, in per cent of the same sum."""

    name: str
    percent: float


Form = Literal["dealer", "private", "internal"]
"""Whom a quote is for: a customer of a dealer, somebody who buys for himself (one page), or the
dealer himself, with cost and margin."""


class QuoteDetails(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a quote needs besides the parts. `date` is ISO; percentages are 0..100; `resale_percent`
    is what the rig is expected to bring after three years, of its price. `labour` and `shipping`
    are amounts in the rig's currency, taxed at the general rate; `tax_name` is what that tax is
    called, "" for tax; `more_taxes` are due beside it; `signature`: there is room to sign."""

    number: str = ""
    date: str | None = None
    valid_days: int = 14
    seller: Party = Party()
    customer: Party = Party()
    tax_percent: float | None = None
    prices_include_tax: bool = False
    tax_name: str = ""
    more_taxes: tuple[Tax, ...] = ()
    discount_percent: float = 0.0
    labour: float = 0.0
    shipping: float = 0.0
    deposit_percent: float = 0.0
    lead_time: str = ""
    signature: bool = False
    form: Form = "dealer"
    resale_percent: float | None = None
    terms: str = ""
    remarks: str = ""


class Waiver(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A finding that somebody accepts: `subject` is a piece, workload or place named by it, "" for
    any."""

    code: str
    subject: str = ""
    reason: str
    by: str
    until: str | None = None


class Settings(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Choices that are neither parts nor places: BIOS choices by place, NUMA nodes per socket,
    driver and framework versions; `raid0` names the drive items that are striped into one volume.
    """

    bios: dict[str, str] = {}
    numa_per_socket: int | None = None
    software: dict[str, str] = {}
    peer_to_peer_driver: bool = False
    raid0: tuple[str, ...] = ()


class Variant(Struct, frozen=True, kw_only=True):
    """A state of the rig that is kept under a name of its own beside the open one."""

    name: str
    rig: "Rig"


class Rig(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Everything that was chosen. `facts` are the owner's own, by part and name. `snapshot` keeps
    the parts as they were when the rig was saved, `exchange` the rates by which prices in other
    currencies are counted. `variants` are other states of it, see `variants`."""

    format_version: int = FORMAT_VERSION
    name: str = "Untitled rig"
    items: tuple[Item, ...] = ()
    workloads: tuple[Workload, ...] = ()
    site: Site = Site()
    quote: QuoteDetails = QuoteDetails()
    currency: str = "USD"
    exchange: ExchangeRates | None = None
    budget: float | None = None
    settings: Settings = Settings()
    waivers: tuple[Waiver, ...] = ()
    ignored: tuple[str, ...] = ()
    severities: dict[str, str] = {}
    notes: str = ""
    facts: dict[str, dict[str, Any]] = {}
    snapshot: dict[str, AnyPart] = {}
    snapshot_sources: dict[str, Source] = {}
    catalog_version: str = ""
    extra: dict[str, Any] = {}
    variants: tuple[Variant, ...] = ()

    def item(self, uid: str) -> Item | None:
        """Return the item with this uid, or None."""
        return next((item for item in self.items if item.uid == uid), None)


def part_of(rig: Rig, catalog: Catalog, part_id: str) -> AnyPart | None:
    """Return a part as the catalog has it today, else as the rig's snapshot kept it, else None;
    with the facts that its owner added."""
    part = catalog.get(part_id) or rig.snapshot.get(part_id)
    facts = rig.facts.get(part_id) if rig.facts else None
    return with_facts(part, facts) if facts and part is not None else part
