"""The evaluation page of 原價屋 (coolpc.com.tw/evaluate.php) as prices in TWD.

The page, as described by several public readers of it (read 2026-11-21): Big5; one `<SELECT
name=n4>` per category number, in it `<OPTGROUP LABEL='NVIDIA RTX5070...'>` and `<OPTION
value=7>name, $22500 ◆ ★</OPTION>`, reduced prices as `$22500↘$21900`; options that are disabled or
have the value 0 are remarks, and so are those at $1; `<font id=Mdy>2026/10/6 11:13</font>` dates
the page. Prices contain tax."""

import re
from datetime import date
from html.parser import HTMLParser

from msgspec import Struct

from rigplanner.catalog.find.find import PartIndex
from rigplanner.catalog.foreign import Reason, Refusal, text_fault
from rigplanner.catalog.prices.prices import Offer, Offers, offer_of
from rigplanner.catalog.schema.parts import Price

SOURCE = "原價屋 coolpc.com.tw"
REGION = "TW"
LARGEST_PAGE_BYTES = 16 * 2**20
MOST_OPTIONS = 50_000
REMARK_TWD = 1

KIND_OF_SELECT = {
    "n4": "cpu",
    "n5": "motherboard",
    "n6": "memory",
    "n7": "storage",
    "n8": "storage",
    "n10": "cooler",
    "n11": "cooler",
    "n12": "gpu",
    "n14": "chassis",
    "n15": "psu",
}
"""Category numbers of what a rig is made of; the rest (phones, chairs, software) is counted as
another kind."""
CONDITIONS = ("搭板", "搭主機板", "組裝價", "裝機價", "限搭機", "限組裝", "任搭")
"""Words for a price that holds only together with other purchases."""

_PRICE = re.compile(r",\s*\$\s?(\d{1,7})(?:\s*↘\s*\$\s?(\d{1,7}))?")
_DAY = re.compile(r"(\d{4})/(\d{1,2})/(\d{1,2})")


class _Option(Struct, frozen=True):
    select: str
    group: str
    text: str


class _Page(HTMLParser):
    """Collects the options of the selects and the day; tags may be unclosed, in any case,
    unquoted."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.options: list[_Option] = []
        self.day = ""
        self._select = self._group = ""
        self._text: list[str] | None = None
        self._dating = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        if tag in ("option", "optgroup", "select"):
            self._end()
        if tag == "select":
            self._select, self._group = named.get("name") or "", ""
        elif tag == "optgroup":
            self._group = named.get("label") or ""
        elif (
            tag == "option"
            and "disabled" not in named
            and named.get("value") not in (None, "", "0")
        ):
            self._text = []
        elif tag == "font" and (named.get("id") or "").casefold() == "mdy":
            self._dating = True

    def handle_endtag(self, tag: str) -> None:
        if tag in ("option", "optgroup", "select"):
            self._end()
        if tag == "select":
            self._select = ""
        if tag == "font":
            self._dating = False

    def handle_data(self, data: str) -> None:
        if self._dating:
            self.day += data[:40]
        elif self._text is not None:
            self._text.append(data)

    def _end(self) -> None:
        if self._text is not None and self._select and len(self.options) < MOST_OPTIONS:
            self.options.append(
                _Option(self._select, self._group, " ".join("".join(self._text).split()))
            )
        self._text = None


def read_coolpc(content: bytes, index: PartIndex, day: str) -> Offers:
    """Return the prices of the page that name a part of `index`; `day` (ISO) is used when the page
    has none.

    Raises ValueError when the content is not the page."""
    if len(content) > LARGEST_PAGE_BYTES:
        raise ValueError(f"larger than {LARGEST_PAGE_BYTES // 2**20} MiB, not the evaluation page")
    text, whole = _decoded(content)
    page = _Page()
    page.feed(text)
    page.close()
    if not page.options:
        raise ValueError("no priced list of products in it, not the evaluation page")
    day = _iso(page.day) or day
    refused = (
        []
        if whole
        else [Refusal("page", "", "encoding", "some characters are not Big5", lost=False)]
    )
    offers: list[Offer] = []
    for option in page.options:
        outcome = _offer(option, index, day)
        if isinstance(outcome, Offer):
            offers.append(outcome)
        else:
            refused.append(
                Refusal(
                    f"{option.select} {option.group[:60]}".strip(), "", outcome[0], outcome[1][:120]
                )
            )
    return Offers(seen=len(page.options), offers=tuple(offers), refused=tuple(refused))


def _offer(option: _Option, index: PartIndex, day: str) -> Offer | tuple[Reason, str]:
    prices = list(_PRICE.finditer(option.text))
    if not prices:
        return "not-a-price", option.text
    match = prices[-1]
    name, twd = option.text[: match.start()], int(match.group(2) or match.group(1))
    fault = text_fault(name, 300)
    if fault or twd <= REMARK_TWD:
        return fault or "not-a-price", option.text
    kind = KIND_OF_SELECT.get(option.select)
    if kind is None:
        return "kind", option.text
    if any(word in name for word in CONDITIONS):
        return "conditional", option.text
    named = index.named_in(name, kind)
    if named.part is None:
        several = named.confidence == "ambiguous"
        return (
            ("ambiguous", f"{name}: {', '.join(named.among)}")
            if several
            else ("no-match", option.text)
        )
    price = Price(amount=float(twd), currency="TWD", day=day, source=SOURCE, region=REGION)
    return offer_of(name, named.part, named.confidence, price)


def _decoded(content: bytes) -> tuple[str, bool]:
    """Return the text and whether all of it could be read: the shop writes Big5 (code page 950),
    saved pages are UTF-8."""
    for encoding in ("utf-8-sig", "cp950", "big5hkscs"):
        try:
            return content.decode(encoding), True
        except UnicodeDecodeError:
            continue
    return content.decode("cp950", "replace"), False


def _iso(text: str) -> str | None:
    match = _DAY.search(text)
    try:
        return date(*map(int, match.groups())).isoformat() if match else None
    except ValueError:
        return None
