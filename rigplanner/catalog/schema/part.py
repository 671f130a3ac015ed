"""What every part has: prices, doubts, sources."""

import re
from typing import Literal

from msgspec import Struct

Status = Literal["current", "classic", "legacy", "reference"]
"""current: sold new in the year of the catalog; classic: no longer, but met in at least two
published machines of different owners (a build for deep learning or a workstation, a pasted list of
parts, a captured machine, a sample); legacy: met less often; reference: comparable, not for a rig.
How much is known has no say, nor have shops' lists and probes that show no such use."""


Condition = Literal["new", "used", "refurbished", "launch"]
"""Of what a price is: a new, used or refurbished piece, or what the maker announced at the start,
list prices and prices at a thousand units with it."""


class Price(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a `shop` asked or a maker announced on `day` (ISO), tax as shown there; `source` tells
    which. Where only the month is known, `day` is its first."""

    amount: float
    currency: str
    day: str
    source: str
    region: str | None = None
    condition: Condition = "new"
    shop: str | None = None

    @property
    def used(self) -> bool:
        """Whether it is of a piece that somebody had before."""
        return self.condition in ("used", "refurbished")


class Doubt(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A field that is less certain than the rest: not verified, inferred from parts alike (of
    imported parts only), or sources disagree (`values` holds what each says)."""

    state: Literal["unverified", "inferred", "conflict"]
    values: tuple[str, ...] = ()
    note: str = ""


class Part(
    Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    tag_field="kind",
):
    """What every part has. `sources` maps a source key of the catalog to the fields it settled
    ("*": all others); `unpublished` maps the source key of a maker's page that was read to the
    fields which that page leaves out."""

    id: str
    name: str
    vendor: str
    aliases: tuple[str, ...] = ()
    status: Status = "current"
    released: str | None = None
    sources: dict[str, tuple[str, ...]] = {}
    doubts: dict[str, Doubt] = {}
    unpublished: dict[str, tuple[str, ...]] = {}
    prices: tuple[Price, ...] = ()
    notes: str = ""


YEAR = re.compile(r"(?:19|20)[0-9]{2}(?![0-9])")


def year_of(part: Part) -> int | None:
    """Return the year in which a part came out, None where its day of release is not known or is
    no day."""
    found = YEAR.match(part.released or "")
    return int(found[0]) if found else None


def kind_of(part: Part) -> str:
    """Return the kind word of a part, for example "gpu"."""
    return str(part.__struct_config__.tag)
