"""A parts list as people paste it: plain lines, PCPartPicker text, Markdown or HTML, and our own
exports."""

import csv
import re
import unicodedata
from collections.abc import Sequence
from html import unescape
from html.parser import HTMLParser
from itertools import zip_longest

from msgspec import Struct
from msgspec.structs import replace as struct_replace

from rigplanner.catalog.find.find import PartIndex, words_of
from rigplanner.catalog.find.kits import (
    SHARED_GIB,
    counted_modules,
    is_very_kit,
    nearest_kits,
    of_another_rate,
)
from rigplanner.catalog.find.naming import LONGEST_LINE, in_latin, shop_words
from rigplanner.catalog.prices.money import CURRENCY_OF_SIGN, read_amount
from rigplanner.catalog.schema.parts import (
    GPU,
    MemoryKit,
    Motherboard,
    Part,
    PowerSupply,
    Price,
    Storage,
    System,
    kind_of,
)
from rigplanner.rig.document import Rig
from rigplanner.rig.edits import LARGEST_QUANTITY, add_part
from rigplanner.rig.from_text.doubts import (
    capacities_gb,
    is_contradicted,
    is_guess,
    is_of_open_count,
    nearest_boards,
)
from rigplanner.rig.from_text.examples import example_in
from rigplanner.rig.from_text.fitting import (
    for_the_board,
    for_the_boards_socket,
    for_the_case,
    for_the_socket,
    memory_taken,
)
from rigplanner.rig.from_text.from_words import PARTNERS, Wish, counted, is_named, read_wish
from rigplanner.rig.from_text.leading_prices import with_prices_behind
from rigplanner.rig.from_text.line_parts import COUNTED, SURE_LETTERS, pieces_of, read_wishes
from rigplanner.rig.from_text.list_tables import (
    Columns,
    Row,
    columns_of,
    counted_label,
    is_label,
    is_other_label,
    kind_of_label,
    row_of,
    split_label,
)
from rigplanner.rig.from_text.mistyped import mended
from rigplanner.rig.from_text.sections import joined_sections
from rigplanner.rig.from_text.stand_ins import stand_ins
from rigplanner.rig.from_text.variants import squeezed_names
from rigplanner.rig.one_line import parts_of_line

LONGEST_TEXT = 200_000
MOST_DIGITS_OF_COUNT = 2
"""A longer bare number beside a part is its price."""
MOST_LINES = 500
MOST_IN_A_CELL = 16
"""A larger number in a cell without a heading is more likely a size than a count."""

_NOISE = re.compile(
    r"^(?:total|type$|system ram:\s*total|array-\d|generated (?:by|at)|pcpartpicker"
    r"|base total|sub-?total|mail-in rebate|rebates?\b|promo|discounts?\b"
    r"|(?:core )?speeds?(?: \(mhz\))?:"
    r"|shipping|handling|sales tax|tax|vat\b|prices include|\[!|\W*$)|^[|:\-\s]+$"
    r"|.*\bno module installed\b",
    re.IGNORECASE,
)
OWN_HEADS = (
    ("Qty", "Part", "Unit price"),
    ("Ks", "Díl", "Jednotková cena"),
    ("數量", "零組件", "單價"),
)
"""How the parts table of our exports begins, in each language."""
_OWN_HEAD = re.compile(
    "|".join(rf"^(?:\| )?{a}(?: \| |,){b}(?: \| |,){c}\b" for a, b, c in OWN_HEADS)
)
_OWN_COLUMNS = re.compile("|".join(rf"^ *{a} {{2,}}{b} {{2,}}" for a, b, _ in OWN_HEADS))
_OWN_ITEM = re.compile(r"\[\*\](\d{1,9}) x (.+?)  (.*)$")
"""A line of our BBCode: how many, what, the price of one and what all come to."""
_CODE = re.compile("[A-Z]{3}")
_OWN_ROW = re.compile(r"^ *(\d{1,9}) {2,}(\S.*?)(?: {2,}(\S.*))?$")
"""A row of our plain text, whose columns stand at least two spaces apart."""
_SPACE_IN_NUMBER = re.compile(r"(?<=\d)\s(?=\d)")
_REMARK = re.compile(
    r"^[^:]*\b(?:built-?in|on-?board|integrated)\)?\W*$"
    r"|^(?:the|this|these|it|they)\b.*"
    r"\b(?:is|are|has|have|supports?|includes?|provides?|requires?)\b",
    re.IGNORECASE,
)
"""What stands behind a label without a kind and is no part that is bought: what a board has itself,
a sentence about parts."""
_NONE = re.compile(
    r"\W*(?:n/?a|none|no|brak|keine?r?|žádn[áýé]|ninguna?|aucune?|нет|无|無|なし)\W*", re.IGNORECASE
)
"""What stands behind the label of a part that is not there."""
_LONG_LABEL = re.compile(r"(?=.*\d)\S+(?:\s+\S+){2,}")
"""Three words with a number before a colon name a part that a remark follows."""
_BEYOND_COUNT = re.compile(r"\s*\d{7,}\s*[x×*]\s")
_BARE_PRICE = re.compile(r"(?<=\S)\s{2,}\d{2,6}\s*$")
"""An amount without a currency in a column of its own."""
_BOUGHT = re.compile(r"\s*\(\s*purchased(?: for)?\s*$", re.IGNORECASE)
_STATE = re.compile(r"(?<=\S)\s+[✅☑✔✓❌⬜].*$")
"""What a list says of a part after a mark: "✅ purchased"."""
_OWN_OF_BOARD = re.compile(
    r"\W*(?:(?:on-?board|built-?in|integrated|integriert\w*|integrovan\w+)\b"
    r"|(?:主板|主機板)?(?:自带|自帶|内置|內建|集成)|板载|板載|核显|內顯)",
    re.IGNORECASE,
)
"""How a line begins that names what board or processor have themselves."""
_QUOTES = "\"'“”„«»`"
_BUY = re.compile(r"^(?:buy|bought|get|order(?:ed)?|purchased?|kaufen|koupit)\s+(?=\S+\s)", re.I)
_MARKS = re.compile(r"^\s*(?:>+\s*|[-•‣◦+]\s+|\[[ xX]\]\s+|\d{1,2}[.)]\s+)+")
"""What quotes, bullets and numbered lines begin with."""
_SIGN_OF_TIMES = re.compile("[✕✖╳⨯]\ufe0f?")
_TRADEMARKS = re.compile("[®™©]|&(?:trade|reg|copy);")
_RULE = re.compile(r"^[ |]*:?-{3,}:?\s*\|", re.MULTILINE)
"""The line under the heading of a Markdown table."""
_BLOCK = re.compile(r"<(?:table|tr|ul|li|html|div)\b", re.IGNORECASE)
_BREAK = re.compile(r"<(?:br|li|p)\b[^<>]*>", re.IGNORECASE)
_TAG = re.compile(r"</?[a-z]+\b[^<>]*>", re.IGNORECASE)
_TIMES = re.compile(
    r"(?<=[^\s*|])\s?\*\s?(?=\d{1,2}\b(?!\*))"
    r"|(?:(?<=^\d)|(?<=^\d\d)|(?<=[\s:]\d)|(?<=[\s:]\d\d))\*\s(?=\w)"
)
"""A star that multiplies, as no emphasis does: "16G*2"."""
_EMPHASIS = re.compile(r"(?<!\w)_+|_+(?!\w)|[*`]")
_LABEL_MARK = re.compile(r"\s*:\s*|\s+[-–—=]\s+")
"""What parts a label from what it names: "CPU: ...", "CPU - ..."."""
_RANGE = re.compile(r"\d\s*[-–]\s*(?:NT\$|US\$|[$€£¥₹])\s?\d|[$€£¥₹]\s?[\d,]+\s?[-–]\s?\d")
_JOINTS = {"": "", "more": " + ", "list": ", ", "other": " or "}
_ADDRESS = re.compile(r"(?<!\])\(https?://[^\s()|]*\)|(?<![(\w])https?://[^\s|]+")
"""The address of a page in a line; that of a Markdown link goes with its brackets."""
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)(?:\{:[^}]*\})?")
_ASIDE = re.compile(r"\s*\([^()]*\)\s*$")
"""What a label adds in brackets: "Data (VM)"."""
_BOLD_BEFORE = re.compile(r"^(\W*)\*\*([^*|:]{2,30})\*\*\s+(?=[\w(])")
"""A label that its letters set apart, without a mark behind it: "**HDD** 3 x 4TB"."""
_BOLD_LABEL = re.compile(r"\W*?\*\*[^*|]+\*\*\s*\|\s*[^*\s|]")
"""A row whose first cell alone is bold: that cell says what the second one is."""
_MONEY = re.compile(
    r"(NT\$|US\$|CA\$|A\$|[$€£¥₹])\s?(\d[\d,.]*)|(?<![\d.,])(\d[\d,.]*)\s?(€|Kč|USD|EUR|TWD|CZK|GBP)(?!\w)"
)


class Entry(Struct, frozen=True, kw_only=True):
    """One part of a list: the wish it is, the kind its label named, its price if it had one, and
    the price that it has together with the other parts of its line. What a computer of the list
    has itself `comes_with` it, and is no part of its own."""

    wish: Wish
    kind: str | None = None
    price: Price | None = None
    together: Price | None = None
    comes_with: System | None = None


STAND_INS = ("memory", "storage", "psu", "cooler", "nic", "accessory")
"""Kinds of which a part may stand for another of the same figures: a list says "1TB SSD" or "1000W
Gold"."""
FAMILY = 5
"""So many parts that share words without any number are a family: "Threadripper"."""
_FIGURE = re.compile(r"\d\s?(?:[gt]b|w|mm|gbe|k?va)\b", re.IGNORECASE)
_VOLT_AMPERES = re.compile(r"\d\s?k?va\b", re.IGNORECASE)
"""Of accessories only a UPS has figures that say what counts."""
_NUMBER = re.compile(r"\d")
_MODEL_IN_BRACKETS = re.compile(r"\([^()]*[^\W\d_]{2}[^()]*\d[^()]*\)")
_RADIO = re.compile(r"\(?\bwi-?fi ?[67]?e?\b\)?", re.IGNORECASE)
_VERSION = re.compile(r"\b(?:I{2,3}|v[23]|rev\.? ?[\d.]+)(?!\w)", re.IGNORECASE)
_MEMORY_TYPE = re.compile(r"\bddr\d", re.IGNORECASE)
"""Modules whose type nobody names have no stand-in."""
_AT_MOST = re.compile(r"\b(?:up to|max(?:imum|\.)?|supports?)\b|最高|支援|支持", re.IGNORECASE)
"""So much a board takes, and nobody buys."""


def by_figures(wish: Wish) -> bool:
    """Say whether a part was matched by its figures alone: the list names none, or for memory
    another maker or series; a supply that has no number there stands for any of its sort."""
    if wish.stands_in and wish.parts:
        return True
    if (
        wish.parts
        and isinstance(wish.parts[0], PowerSupply)
        and not _NUMBER.search(counted(wish.text)[1])
    ):
        return True
    if wish.parts and isinstance(kit := wish.parts[0], MemoryKit):
        lit = "rgb" in words_of(wish.text) and "rgb" not in words_of(kit.name)
        return lit or not is_very_kit(wish.text, kit) or of_another_rate(wish.text, kit)
    if wish.parts and isinstance(card := wish.parts[0], GPU) and card.vendor == card.chip_maker:
        return bool(PARTNERS.intersection(shop_words(wish.text)))
    return bool(wish.parts) and not is_named(wish)


class _Text(HTMLParser):
    """Keeps the text of HTML; rows and items become lines, cells are parted by bars."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "style"):
            self._silent += 1
        elif tag in ("tr", "li", "br", "p", "div"):
            self.pieces.append("\n")
        elif tag in ("td", "th"):
            self.pieces.append(" | ")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style") and self._silent:
            self._silent -= 1

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.pieces.append(" ".join(data.split()))


def read_parts_list(text: str, index: PartIndex, day: str) -> list[Entry]:
    """Return the entries of a list in order; `day` (ISO) dates its prices. Raises ValueError for a
    text beyond sense."""
    if len(text) > LONGEST_TEXT:
        raise ValueError(
            f"A parts list has at most {LONGEST_TEXT:,} characters; this has {len(text):,}."
        )
    if shared := shared_wishes(text, index):
        return [Entry(wish=wish) for wish in shared]
    text = _SIGN_OF_TIMES.sub("×", _TRADEMARKS.sub(" ", text))
    text = _without_markup(unicodedata.normalize("NFKC", text))
    lines = [line for line in _own_table(text) if line.strip()]
    lines = joined_sections(with_prices_behind(_without_addresses(lines)))
    lines = [piece[:LONGEST_LINE] for line in lines for piece in _labelled_pieces(line)]
    if len(lines) > MOST_LINES:
        raise ValueError(f"A parts list has at most {MOST_LINES} lines; this has {len(lines)}.")
    entries: list[Entry] = []
    columns: Columns | None = None
    for line, following in zip_longest(lines, lines[1:], fillvalue=""):
        cells = _cells(line)
        heading = columns_of(cells) if len(cells) > 1 else None
        columns = heading or (columns if len(cells) > 1 else None)
        known = [entry.wish.parts[0] for entry in entries if entry.wish.parts]
        if heading is None and len(cells) > 1 and _RULE.match(following):
            columns = None
        elif heading is None and columns is not None:
            row = None if _is_rule(cells) else row_of(cells, columns)
            entries += _row_entries(row, index, day, known) if row else []
        elif heading is None:
            entries += _entries(line, index, day, known)
    return _one_machine(_fitting(_without_second_name(entries), index))


_OF_SYSTEM = re.compile(r"\b(?:System|Product Name):", re.IGNORECASE)


def _without_second_name(entries: list[Entry]) -> list[Entry]:
    """Return the entries without boards by which a report names the system that they make up."""
    boards = [
        entry.wish.parts[0].id
        for entry in entries
        if entry.wish.parts and isinstance(entry.wish.parts[0], Motherboard)
    ]
    return [
        entry
        for entry in entries
        if not entry.wish.parts
        or boards.count(entry.wish.parts[0].id) < 2
        or not _OF_SYSTEM.search(entry.wish.text)
    ]


_NEXT_LABEL = re.compile(r"[,;]\s+(?=[^\W\d][^,;:|]{1,40}:\s)")


def _labelled_pieces(line: str) -> list[str]:
    """Return the parts of a line that is a whole list: "CPU: 13700K, Board: Z790-E, RAM: ..."."""
    pieces = _NEXT_LABEL.split(line) if "|" not in line else [line]
    labels = [piece.partition(":")[0] for piece in pieces]
    return pieces if len(pieces) > 2 and all(map(is_label, labels)) else [line]


def _without_addresses(lines: list[str]) -> list[str]:
    """Return lines without the addresses of pages. One alone on a line belongs to the words above
    it; without any it is read for what it names."""
    bare = [_ADDRESS.sub(" ", line) for line in lines]
    return [
        line if not words.strip() else words
        for line, words, above in zip(lines, bare, ["", *bare], strict=False)
        if words.strip() or not above.strip()
    ]


def _fitting(entries: list[Entry], index: PartIndex) -> list[Entry]:
    """Return the entries with coolers and memory that go with the list's CPU and board."""
    parts = [entry.wish.parts[0] for entry in entries if entry.wish.parts]
    taken = memory_taken(parts)
    told = []
    for entry in _with_bare_memory(entries):
        wish = for_the_boards_socket(for_the_socket(entry.wish, parts, index), parts)
        wish = for_the_case(for_the_board(wish, entry.kind, taken, index), parts, index)
        told.append(entry if wish is entry.wish else struct_replace(entry, wish=wish))
    return told


_BARE_SIZE = re.compile(r"\W*\d{2,4}\s?GB?\W*", re.IGNORECASE)


def _with_bare_memory(entries: list[Entry]) -> list[Entry]:
    """Return the entries of a list without any memory with a size that stands alone read as its
    memory: "256 GB"."""
    for entry in entries:
        part = entry.wish.parts[0] if entry.wish.parts else None
        if entry.kind == "memory" or isinstance(part, MemoryKit | System):
            return entries
    bare = [
        entry
        for entry in entries
        if entry.kind is None and not entry.wish.parts and _BARE_SIZE.fullmatch(entry.wish.text)
    ]
    if len(bare) != 1:
        return entries
    return [struct_replace(one, kind="memory") if one is bare[0] else one for one in entries]


def shared_wishes(text: str, index: PartIndex) -> list[Wish]:
    """Return the items of a rig that was shared as one line, [] for any other text."""
    return [
        Wish(
            text=part_id,
            quantity=min(max(1, count), LARGEST_QUANTITY),
            parts=(part,) if (part := index.by_id.get(part_id)) else (),
        )
        for count, part_id in (parts_of_line(text) or ())[:MOST_LINES]
    ]


OF_A_COMPUTER = ("motherboard", "psu", "chassis", "cooler", "system", None)


def _one_machine(entries: list[Entry]) -> list[Entry]:
    """Return the entries with those marked that name a part of a computer of the same list: its
    board, case or supply under its name, or the computer once more."""
    computers: list[System] = []
    told: list[Entry] = []
    for entry in entries:
        part = entry.wish.parts[0] if entry.wish.parts else None
        if isinstance(part, System) and part not in computers:
            computers.append(part)
    first: set[str] = set()
    for entry in entries:
        part = entry.wish.parts[0] if entry.wish.parts else None
        own_part = None if entry.wish.stands_in else part
        again = isinstance(part, System) and part.id in first and entry.kind != "system"
        if isinstance(part, System):
            first.add(part.id)
        owner = part if again else _owner(entry, computers) if own_part is None else None
        if isinstance(owner, System):
            entry = struct_replace(
                entry,
                wish=struct_replace(entry.wish, parts=(), stands_in=False),
                comes_with=owner,
            )
        told.append(entry)
    return told


def _owner(entry: Entry, computers: list[System]) -> System | None:
    """Return the computer whose model a line names that is no part of its own."""
    if entry.kind not in OF_A_COMPUTER:
        return None
    words = set(words_of(entry.wish.text))
    for computer in computers:
        models = {word for word in words_of(computer.name) if _is_model(word)}
        if models and models <= words:
            return computer
    return None


def _is_model(word: str) -> bool:
    return len(word) > 2 and any(c.isdigit() for c in word) and any(c.isalpha() for c in word)


def _without_markup(text: str) -> str:
    """Return a list's text without HTML: in a Markdown table breaks part what a cell names,
    elsewhere they end a line."""
    if _RULE.search(text) and "</td>" not in text.casefold():
        return "\n".join(
            _TAG.sub(" ", _BREAK.sub("; ", line)) if "|" in line else _TAG.sub(" ", line)
            for line in text.splitlines()
        )
    if _BLOCK.search(text):
        parser = _Text()
        parser.feed(text)
        return "".join(parser.pieces)
    return _BREAK.sub("\n", text)


_COMPANY = re.compile(
    r"(?:\s+(?:Technology|International|COMPUTER))?,?\s+(?:Co\.,?\s*Ltd\.?|Inc\.|Corp\.)(?=\s|$)"
    r"|(?<=ASUSTeK) COMPUTER INC\."
    r"|\s*\(MS-[\dA-F]{4}\)(?:\s+v: ?[\w.]+)?|(?<=[^\s:] )(?:model|product):(?= )",
    re.IGNORECASE,
)
"""What firmware adds to a maker's name ("Gigabyte Technology Co., Ltd.") and to a board's ("model:
B350 TOMAHAWK (MS-7A34) v: 1.0")."""
_MICRO_STAR = re.compile(r"\bMicro-Star\b(?: International\b)?(?: MSI\b)?", re.IGNORECASE)
_BINARY = re.compile(r"(?<![\d.])(\d+(\.\d+)?)\s?([GT])iB\b")
"""Reports of systems write "8 GiB" where people write 8 GB, "1.82 TiB" where a drive has 2 TB."""


def _decimal(size: re.Match[str]) -> str:
    """Return a size that a report gives: a broken one, of a drive, counted as its maker counts."""
    number, unit = float(size[1]), size[3]
    if size[2] and (unit == "T" or number > 100):
        number = round(number * (1.0995 if unit == "T" else 1.0737), 1 if unit == "T" else None)
    return f"{number:g}{unit}B"


def _cells(line: str) -> list[str]:
    line = _BINARY.sub(_decimal, _COMPANY.sub(" ", _MICRO_STAR.sub("MSI", line)))
    if "|" not in line:
        line = line.strip().replace("\t", "|")
    line = _EMPHASIS.sub(" ", _TIMES.sub("×", unescape(_LINK.sub(r"\1", line)))).strip()
    return [cell.strip() for cell in line.removeprefix("|").removesuffix("|").split("|")]


def _is_rule(cells: list[str]) -> bool:
    return all(not cell.strip(" :-") for cell in cells)


def _row_entries(row: Row, index: PartIndex, day: str, known: Sequence[Part]) -> list[Entry]:
    """Return the entries of a table's row; where several are bought and nothing says that the price
    is one's, they have none."""
    wishes = read_wishes(row.words, index, row.kind, known)
    if len(wishes) == 1 and wishes[0].quantity == row.quantity:
        wishes = [struct_replace(wishes[0], quantity=1)]
    wishes = [
        _sensible(struct_replace(wish, quantity=wish.quantity * row.quantity), index, row.kind)
        for wish in wishes
    ]
    priced = row.price if row.each or len(wishes) > 1 or wishes[0].quantity == 1 else None
    price = (
        Price(amount=priced[0], currency=priced[1], day=day, source="pasted list")
        if priced
        else None
    )
    if len(wishes) > 1:
        return [Entry(wish=wish, kind=row.kind, together=price) for wish in wishes]
    return [Entry(wish=wishes[0], kind=row.kind, price=price)]


def _sensible(wish: Wish, index: PartIndex, kind: str | None) -> Wish:
    """Return a wish without parts where its count is beyond sense, or where figures alone matched
    what has no stand-in; memory that the catalog lacks with what comes nearest, and a drive, a
    supply, a liquid cooler or a network card with one of the same figures. What brackets give as an
    example comes before what figures alone match."""
    if not 1 <= wish.quantity <= LARGEST_QUANTITY or _BEYOND_COUNT.match(wish.text):
        return Wish(text=wish.text, quantity=1, parts=())
    family = len(wish.parts) >= FAMILY and not any(letter.isdigit() for letter in wish.text)
    family = family and "".join(words_of(wish.text)) not in squeezed_names(wish.parts[0])
    if (
        is_label(wish.text)
        or family
        or not (is_named(wish) or not wish.parts or _may_stand_in(wish))
    ):
        wish = struct_replace(wish, parts=())
    if wish.parts and kind_of(wish.parts[0]) == "memory" and _is_most(wish.text):
        return struct_replace(wish, parts=())
    wish = _undoubted(wish, index, kind)
    if wish.parts and not by_figures(wish):
        return wish
    card = bool(wish.parts) and isinstance(wish.parts[0], GPU)
    if not (wish.guessed and card) and (example := example_in(wish, index, kind)):
        return example
    if wish.parts or is_label(wish.text):
        return wish
    wish = wish if _is_most(wish.text) else _with_nearest_memory(wish, index)
    if not wish.parts and kind in (None, "motherboard"):
        wish = _without_radio(wish, index)
    for words in (_near_size(wish.text), _ZERO.sub("O", wish.text)):
        if not wish.parts and words and words != wish.text:
            wish = _as_guess(wish, read_wish(words, index, kind))
    if not wish.parts and kind is not None and (right := mended(wish.text, kind, index)):
        wish = _as_guess(wish, read_wish(right, index, kind))
    if wish.parts or not (alike := stand_ins(wish.text, kind, index)):
        return wish
    return struct_replace(wish, parts=tuple(alike), stands_in=True)


_ZERO = re.compile(r"(?<![\w.])0(?=\d{2}\b)")
"""A zero that is typed for the letter with which a model begins: "011 Dynamic"."""
_SIZES = {"500": "512", "512": "500", "480": "512", "256": "250", "250": "256", "240": "250"}
_SIZE_OF_DRIVE = re.compile(r"(?<![\d.])(500|512|480|256|250|240)(?=\s?GB?\b)", re.IGNORECASE)


def _near_size(text: str) -> str | None:
    """Return a drive's line with the size that makers sell beside the one it gives: a "970 Pro
    500GB" has 512."""
    found = _SIZE_OF_DRIVE.search(text)
    return f"{text[: found.start()]}{_SIZES[found[1]]}{text[found.end() :]}" if found else None


def _as_guess(wish: Wish, right: Wish) -> Wish:
    """Return a wish with the part that its words name once mistyped ones are put right, as a
    guess; as it is where they name none, or contradict it."""
    if not is_named(right) or is_contradicted(right.parts[0], wish.text):
        return wish
    return struct_replace(wish, parts=right.parts, stands_in=True, guessed=True)


def _undoubted(wish: Wish, index: PartIndex, kind: str | None) -> Wish:
    """Return a wish whose part has a size that the line gives: looked up again with that size, or
    without a part; what may as well be another part is a stand-in."""
    if not wish.parts:
        return wish
    wish = struct_replace(wish, parts=nearest_boards(wish.parts, wish.text))
    part = wish.parts[0]
    if isinstance(part, PowerSupply) and is_contradicted(part, wish.text):
        fits = tuple(other for other in wish.parts if not is_contradicted(other, wish.text))
        return struct_replace(wish, parts=fits)
    if is_contradicted(part, wish.text):
        size = next(iter(capacities_gb(wish.text)))
        head = pieces_of(wish.text)[0][0]
        again = read_wish(f"{counted(head)[1]} {size:g}GB", index, kind or kind_of(part))
        parts = again.parts if is_named(again) else ()
        if parts and not is_contradicted(parts[0], wish.text):
            return struct_replace(wish, parts=parts)
        if isinstance(part, Storage):
            return struct_replace(wish, parts=())
        return struct_replace(wish, stands_in=True, guessed=True)
    if is_guess(part, wish.text, wish.parts, index) or _has_two_counts(wish):
        wish = _of_two_modules(wish, index)
        return struct_replace(wish, stands_in=True, guessed=True)
    return wish


def _of_two_modules(wish: Wish, index: PartIndex) -> Wish:
    """Return a wish for a sum of memory whose modules a line does not count as one of two."""
    kit = wish.parts[0]
    if not isinstance(kit, MemoryKit) or kit.modules != 1 or not is_of_open_count(kit, wish.text):
        return wish
    if kit.module_gib <= SHARED_GIB:
        return wish
    again = read_wish(f"{wish.text} (2x{kit.module_gib / 2:g}GB)", index, "memory")
    return struct_replace(wish, parts=again.parts or wish.parts)


def _is_most(text: str) -> bool:
    """Say whether the first size of a text is the most that something takes."""
    found = _AT_MOST.search(text)
    return found is not None and not capacities_gb(text[: found.start()])


_COUNTS = re.compile(r"(?<![\w.])(\d{1,2})\s?[x×]\s?(?=[^\W\d]|\d+(?:\.\d)?\s?TB)")


def _has_two_counts(wish: Wish) -> bool:
    """Say whether a drive's line counts twice, and not alike: "2x Exos - 1x 24TB"."""
    return isinstance(wish.parts[0], Storage) and len(set(_COUNTS.findall(wish.text))) > 1


def _without_radio(wish: Wish, index: PartIndex) -> Wish:
    """Return a wish for a board with a radio, or of a version, with that one which differs by it
    alone."""
    plain = _RADIO.sub(" ", wish.text)
    for words in (plain, _VERSION.sub(" ", plain)):
        if words != wish.text and is_named(named := read_wish(words, index, "motherboard")):
            unsure = is_guess(named.parts[0], wish.text, named.parts, index)
            return struct_replace(wish, parts=named.parts, stands_in=True, guessed=unsure)
    return wish


def _with_nearest_memory(wish: Wish, index: PartIndex) -> Wish:
    text = in_latin(wish.text)
    if not _MEMORY_TYPE.search(text):
        return wish
    count, kits = nearest_kits(text, index.find("", "memory"))
    made = counted_modules(text)
    times = wish.quantity // max(1, made[0] if made else counted(text)[0])
    if not kits or not 1 <= count * max(1, times) <= LARGEST_QUANTITY:
        return wish
    near = Wish(text=wish.text, quantity=count * max(1, times), parts=tuple(kits))
    unsure = is_guess(kits[0], wish.text, near.parts, index)
    return struct_replace(near, stands_in=True, guessed=True) if unsure else near


def _may_stand_in(wish: Wish) -> bool:
    if kind_of(wish.parts[0]) == "memory" and not _MEMORY_TYPE.search(wish.text):
        return False
    if kind_of(wish.parts[0]) == "accessory":
        return _VOLT_AMPERES.search(wish.text) is not None
    return kind_of(wish.parts[0]) in STAND_INS and _FIGURE.search(wish.text) is not None


def _own_table(text: str) -> list[str]:
    """Return the lines of a text; of our own exports only the rows of their parts, as "quantity |
    part | price"."""
    lines = text.splitlines()
    items = [found.groups() for line in lines if (found := _OWN_ITEM.match(line))]
    if items:
        return _own_rows([list(item) for item in items])
    columns = next((n for n, line in enumerate(lines) if _OWN_COLUMNS.match(line)), None)
    if columns is not None:
        shown = lines[columns + 1 :]
        shown = shown[: next((n for n, line in enumerate(shown) if not line.strip()), len(shown))]
        return _own_rows(
            [
                [cell or "" for cell in found.groups()]
                for line in shown
                if (found := _OWN_ROW.match(line))
            ]
        )
    start = next((n for n, line in enumerate(lines) if _OWN_HEAD.match(line)), None)
    if start is None:
        return lines
    if lines[start].startswith("|"):
        rows = [
            [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]
            for line in _table_from(lines, start + 2)
        ]
        rows = [[re.sub(r"\\(.)", r"\1", cell) for cell in row] for row in rows]
    else:
        rows = [[cell.removeprefix("'") for cell in row] for row in csv.reader(lines[start + 1 :])]
    return _own_rows([row for row in rows if len(row) > 2 and row[0].isdigit()])


def _own_rows(rows: list[list[str]]) -> list[str]:
    return [
        f"{row[0]} | {row[1].replace('|', '/')} | {_SPACE_IN_NUMBER.sub('', _own_price(row))}"
        for row in rows
    ]


def _own_price(row: list[str]) -> str:
    """The price of one; its currency stands beside it where amounts are numbers alone."""
    beside = row[3] if len(row) > 3 and _CODE.fullmatch(row[3]) else ""
    return f"{row[2]} {beside}".strip()


def _table_from(lines: list[str], start: int) -> list[str]:
    rest = lines[start:]
    return rest[: next((n for n, line in enumerate(rest) if not line.startswith("|")), len(rest))]


def _entries(line: str, index: PartIndex, day: str, known: Sequence[Part]) -> list[Entry]:
    """Return the entries of a line that stands in no table with a heading; none for a sum or a
    label alone."""
    line = _BUY.sub("", _unquoted(_MARKS.sub("", line)))
    if (bold := _BOLD_BEFORE.match(line)) and is_label(bold[2]):
        line = f"{bold[2]}: {line[bold.end() :]}"
    cells = [cell for cell in _cells(line) if cell]
    if _each_is_labelled(cells) or _each_is_a_part(cells, index):
        return [entry for cell in cells for entry in _entries(cell, index, day, known)]
    if further := _further_parts(cells, index):
        label = _LABEL_MARK.split(cells[0], maxsplit=1)[0]
        each = [cells[0], *(f"{label}: {cell}" for cell in further)]
        return [entry for cell in each for entry in _entries(cell, index, day, known)]
    if len(cells) > 2 and cells[0].isdigit() and is_label(cells[1]):
        cells = cells[1:]
    if not cells:
        return []
    label, mark, rest = _labelled(cells[0].lstrip("# "))
    label = _ASIDE.sub("", label)
    times, label = counted_label(label)
    labelled = bool(mark) and is_label(label)
    if _NOISE.match(cells[0].lstrip("# ")) or (cells[0].startswith("#") and not labelled):
        return []
    if mark and len(cells) == 1 and not rest.strip():
        return []
    kind, quantity, words = None, 1, cells[0]
    of_label, plain = counted_label(cells[0])
    if len(cells) > 1 and (is_label(plain) or _BOLD_LABEL.match(line)):
        kind, quantity, words = kind_of_label(plain), of_label, cells[1]
        if len(cells) > 2 and cells[2].isdecimal() and len(cells[2]) <= MOST_DIGITS_OF_COUNT:
            return _row_entries(_counted_row(words, kind, cells, day), index, day, known)
    elif len(cells) > 1 and cells[0].isdigit():
        quantity, words = int(cells[0]), cells[1]
    elif "\t" in line and len(cells) > 1 and _is_count(cells[1]):
        row = Row(words, None, int(cells[1]), None, each=False)
        return [_as_told(entry) for entry in _row_entries(row, index, day, known)]
    elif labelled:
        kind, words, quantity = kind_of_label(label), _of_labels_sort(label, rest), times
    elif mark and COUNTED.match(rest):
        words = rest
    if _names_nothing(words, mark, rest, labelled):
        return []
    words = _BARE_PRICE.sub("", _unquoted(words))
    found = _priced(words, _price(" | ".join(cells[1:]), day), quantity, kind, index, day, known)
    if kind is None and len(cells) > 1 and not any(entry.wish.parts for entry in found):
        return _of_second_cell(found, cells, index, day, known)
    if labelled and is_other_label(label):
        return _surely_named(found)
    return found if labelled or not mark else _or_of_label(found, label, index, day, known)


_BARE_DRIVE = re.compile(r"\W*(?:\d{1,2}\s?[x×]\s?)?[\d.,]+\s?[TG]B\W*", re.IGNORECASE)
_SPINNING = re.compile(
    r"hdd|hard|festplatte|硬碟|机械|dysk twardy|disco duro|жесткий", re.IGNORECASE
)


def _of_labels_sort(label: str, words: str) -> str:
    """Return the words behind a label, a drive's bare size with the sort that the label says: "Hard
    drive: 2TB"."""
    spins = _SPINNING.search(label) is not None and _BARE_DRIVE.fullmatch(words) is not None
    return f"{words} HDD" if spins else words


def _of_second_cell(
    found: list[Entry], cells: list[str], index: PartIndex, day: str, known: Sequence[Part]
) -> list[Entry]:
    """Return what a line gives, or else what its second cell names, where the first one is a label
    in words that nobody knows."""
    price = _price(" | ".join(cells[2:]), day)
    named = _priced(cells[1], price, 1, None, index, day, known)
    return named if any(is_named(entry.wish, SURE_LETTERS) for entry in named) else found


def _names_nothing(words: str, mark: str, rest: str, labelled: bool) -> bool:
    """Say whether a line names no part that is bought: a remark, "none", a label, what the board
    has itself."""
    if mark and not labelled and _REMARK.match(rest):
        return True
    if labelled and _NONE.fullmatch(words):
        return True
    if is_label(words) and not (labelled and _MODEL_IN_BRACKETS.search(words)):
        return True
    return _OWN_OF_BOARD.match(rest if mark == ":" else words) is not None


def _unquoted(text: str) -> str:
    """Return a text without the quotes around it, as files of settings have them: "GPU: "6x RX
    580","."""
    bare = text.strip(" ,;")
    return bare.strip(_QUOTES) if bare[:1] in _QUOTES and len(bare) > 1 else text


def _is_count(cell: str) -> bool:
    return cell.isdecimal() and 1 < int(cell) <= MOST_IN_A_CELL


def _as_told(entry: Entry) -> Entry:
    """Return an entry whose count a cell without a heading gives, as a guess."""
    found = bool(entry.wish.parts)
    return struct_replace(entry, wish=struct_replace(entry.wish, stands_in=found, guessed=found))


def _counted_row(words: str, kind: str | None, cells: list[str], day: str) -> Row:
    """Return the row of a line of label, words, count and perhaps a price."""
    paid = _price(" | ".join(cells[3:]), day)
    price = (paid.amount, paid.currency) if paid else None
    return Row(words, kind, int(cells[2]), price, each=False)


def _or_of_label(
    found: list[Entry], label: str, index: PartIndex, day: str, known: Sequence[Part]
) -> list[Entry]:
    """Return what a line gives, or else what the words before its colon do, where a remark follows
    a part's name."""
    if not _LONG_LABEL.fullmatch(label) or any(entry.wish.parts for entry in found):
        return found
    named = _priced(label, None, 1, None, index, day, known)
    return named if any(is_named(entry.wish, SURE_LETTERS) for entry in named) else found


def _surely_named(entries: list[Entry]) -> list[Entry]:
    """Return the entries of a label for which the catalog has no kind: with a part only where a
    word of three letters names it."""
    return [
        entry
        if is_named(entry.wish, SURE_LETTERS)
        else struct_replace(entry, wish=struct_replace(entry.wish, parts=(), stands_in=False))
        for entry in entries
    ]


def _each_is_labelled(cells: list[str]) -> bool:
    """Say whether a line is a whole list: "MB: Z370-E | CPU: i5-9400 | RAM: 16GB"."""
    labels = [_labelled(cell)[:2] for cell in cells]
    return sum(bool(mark) and is_label(label) for label, mark in labels) > 1


def _further_parts(cells: list[str], index: PartIndex) -> list[str]:
    """Return the cells after the first that name parts of its label's kind: "SSD: 2x S3500 480GB |
    980 PRO 1TB"; none where one of them is a price or a remark."""
    label, mark, rest = _labelled(cells[0]) if cells else ("", "", "")
    kind = kind_of_label(label) if mark and rest.strip() else None
    if kind is None or len(cells) < 2 or any(_MONEY.search(cell) for cell in cells):
        return []
    drives = kind in ("storage", "memory")
    named = [
        any(is_named(wish) for wish in read_wishes(cell, index, kind))
        or (drives and bool(capacities_gb(cell)))
        for cell in cells[1:]
    ]
    return cells[1:] if all(named) else []


def _each_is_a_part(cells: list[str], index: PartIndex) -> bool:
    """Say whether the cells of a line without a heading are parts of different kinds: "Pro WS
    X570-ACE | 5950X | 2x A4000"."""
    if len(cells) < 2 or is_label(counted_label(cells[0])[1]) or cells[0].isdigit():
        return False
    if any(cell.isdigit() for cell in cells):
        return False
    wishes = [read_wish(cell, index) for cell in cells]
    kinds = [kind_of(wish.parts[0]) for wish in wishes if is_named(wish, SURE_LETTERS)]
    return len(kinds) > 1 and len(set(kinds)) == len(kinds)


def _labelled(cell: str) -> tuple[str, str, str]:
    """Cut a line at the first mark that may end a label: label, mark and rest; without one the
    whole is the label."""
    found = _LABEL_MARK.search(cell)
    return (
        (cell[: found.start()], found[0].strip(), cell[found.end() :]) if found else (cell, "", "")
    )


def _priced(
    words: str,
    price: Price | None,
    quantity: int,
    kind: str | None,
    index: PartIndex,
    day: str,
    known: Sequence[Part],
) -> list[Entry]:
    """Return the parts that words name, each with the price that stands beside it, or `price`; a
    price after the last of several may be that of all."""
    pieces = [
        (_without_money(piece), before, None if price else _price(piece, day))
        for piece, before in pieces_of(words)
    ]
    text = (
        "".join(_JOINTS[before] + piece for piece, before, _ in pieces if piece)
        if _MONEY.search(words)
        else _without_money(words)
    )
    if not words_of(text):
        unread = kind is not None and any(letter.isalpha() for letter in text)
        return [Entry(wish=Wish(text=text, quantity=1, parts=()), kind=kind)] if unread else []
    wishes = read_wishes(text, index, kind, known)
    if behind := _behind_labels(text):
        wishes = read_wishes(behind[1], index, kind_of_label(behind[0]), known)
    label, rest = split_label(text)
    if label and not any(wish.parts for wish in wishes):
        of_rest = read_wishes(rest, index, kind_of_label(label), known)
        wishes = of_rest if any(wish.parts for wish in of_rest) else wishes
    if quantity > 1:
        wishes = [struct_replace(wish, quantity=quantity) for wish in wishes]
    wishes = [_sensible(wish, index, kind) for wish in wishes]
    paid = [paid for _, _, paid in pieces if paid]
    if len(wishes) == 1:
        return [Entry(wish=wishes[0], kind=kind, price=price or (paid[0] if paid else None))]
    together = price or (paid[0] if len(paid) == 1 and pieces[-1][2] is paid[0] else None)
    own = {piece: paid for piece, _, paid in pieces if paid is not together}
    return [
        Entry(
            wish=wish,
            kind=kind,
            together=together,
            price=next(
                (paid for piece, paid in own.items() if piece and wish.text.startswith(piece)), None
            ),
        )
        for wish in wishes
    ]


def _behind_labels(text: str) -> tuple[str, str] | None:
    """Return the label and the rest of a text whose count stands behind labels: "Storage NVME 4x
    990 Pro"."""
    words = text.split()
    for count in (1, 2, 3):
        rest = " ".join(words[count:])
        if COUNTED.match(rest):
            return (words[0], rest) if all(map(is_label, words[:count])) else None
    return None


def _without_money(words: str) -> str:
    words = _STATE.sub("", _cut_money(words))
    return re.sub(
        r"\([^()]*(?:[$€£¥]|USD|EUR|TWD|CZK|purchased)[^()]*\)\s*$", "", words, flags=re.IGNORECASE
    ).strip(" -\t@")


def _cut_money(words: str) -> str:
    match = _MONEY.search(words)
    return _BOUGHT.sub("", words[: match.start()]).rstrip(" (") if match else words


def _price(text: str, day: str) -> Price | None:
    match = _MONEY.search(text)
    if match is None or _RANGE.search(text):
        return None
    sign, digits = (
        (match.group(1), match.group(2)) if match.group(1) else (match.group(4), match.group(3))
    )
    amount = read_amount(digits)
    if amount is None or not 0 < amount < 1e8:
        return None
    return Price(
        amount=amount, currency=CURRENCY_OF_SIGN.get(sign, sign), day=day, source="pasted list"
    )


def rig_from_entries(name: str, entries: list[Entry], start: Rig | None = None) -> Rig:
    """Return a rig, or `start`, with the best match of each entry that has one; the rest are the
    caller's to show."""
    rig = Rig(name=name) if start is None else start
    currencies = [entry.price.currency for entry in entries if entry.price]
    for entry in entries:
        if entry.wish.parts:
            part = entry.wish.parts[0]
            rig = add_part(
                rig,
                part=part.id,
                stem=kind_of(part),
                quantity=entry.wish.quantity,
                price=entry.price,
            )
    if currencies:
        rig = struct_replace(rig, currency=max(set(currencies), key=currencies.count))
    return rig
