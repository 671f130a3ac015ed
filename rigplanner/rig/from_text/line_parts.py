"""Several parts in one line, as people write them: "2x 3090 + NVLink bridge", "Ryzen 9 5950X, 128GB
DDR4 and 2TB 990 Pro"."""

import re
from collections.abc import Sequence

from msgspec.structs import replace

from rigplanner.catalog.find.find import PartIndex, words_of
from rigplanner.catalog.find.spec_words import spec_words
from rigplanner.catalog.schema.parts import GPU, Bridge, Motherboard, Part, kind_of
from rigplanner.rig.from_text.doubts import is_contradicted
from rigplanner.rig.from_text.from_words import Wish, counted, is_named, read_wish

_BETWEEN = re.compile(
    r"(?P<more>\s+(?:\+|&|(?-i:plus)|and|und|et|·|•)\s+|;\s+)"
    r"|(?P<list>\s+[/|]\s+|,\s+(?!or\s|oder\s|ou\s)|\s+with\s+|\s+w/\s*|\s+on\s+|\s+auf\s+"
    r"|\s+mit\s+|\s+im\s+|\s+sur\s+|\s+avec\s+)"
    r"|(?P<other>,?\s+(?:or|oder|ou|instead of)\s+)",
    re.IGNORECASE,
)
"""What stands between two parts, between a part and its description, and between a part and another
choice."""
_FEATURES = re.compile(
    r"[\W\d]*(?:(?:on-?board|ready|usb|hdmi|dp|dvi|wi-?fi|bluetooth|lan|audio|sli|crossfire|eps12v"
    r"|atx12v|type-c|thunderbolt|aura|rgb|power supply|pci-?e(?:xpress)?|pci|gen|x\d{1,2}|ddr\d"
    r"|lga|am\d|socket|chipset|yuan|rmb|pwm|hub|tempered|glass|sound|dampening|panels?"
    r"|(?:dual|triple|quad) displays?|(?:e-?|m-?|mini-?)?(?:atx|itx)|heatsink(?: \d+ ?[TG]B)?"
    r")[\W\d]*)+",
    re.IGNORECASE,
)
"""A piece that names what a part has, and no part: "USB 3.1", "PCIe 3.0 x16"."""
_MEASURE = re.compile(
    r"\d[\d.,]*[\s-]?(?:[GM]Hz|cores?|threads?|[GM]T/s|[GM]B/s|Gbps|rpm|lanes?|slots?|bits?|[mn]m)\b",
    re.IGNORECASE,
)
"""A figure that is no part by itself: "16 cores", "3.4 GHz"."""
_SUM = re.compile(r"\s+=\s.*$")
"""What the parts of a line come to: "... = 128GB total GPU memory"."""
_HEAD = re.compile(
    r"\s*(?:(?:my|our|the|current|full|old|new)\s+)*"
    r"(?:rig|specs?|build|setup|system|pc|workstation|machine|hardware)\s*:\s*(?=.*,)",
    re.IGNORECASE,
)
"""What a line calls the machine whose parts it lists: "My rig: dual 3090, ..."."""
_ASIDE = re.compile(
    r"\b(?:than|vs|for|like|as|built-?in|included|integrated|compatible|supports?|up"
    r" to|upgrade|replac\w+|using|used (?:in|for|with|by|on)|until|need(?:s|ed)?|no|without|non)\b",
    re.IGNORECASE,
)
"""Words with which a piece of a line speaks of a part that is not bought."""
COUNTED = re.compile(r"\s*\d{1,3}\s*[x×*]\s", re.IGNORECASE)
_SORTS = (
    (
        "memory",
        re.compile(
            r"\b\d+\s?G[Bo]\b.*\b(?:ram|ddr\d)\b"
            r"|\b(?:8|16|32|48|64|96|128|192|256)\s?G[Bo]\b.*"
            r"\b(?:2133|2400|2666|2933|3000|3200|3600|4000|4800|5200|5600|6000|6400)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "storage",
        re.compile(r"\b[\d.]+\s?[TG][Bo]\b.*\b(?:ssds?|hdds?|nvme|m\.2|drives?)\b", re.IGNORECASE),
    ),
    (
        "psu",
        re.compile(
            r"\b\d+\s?W\b.*\b(?:psus?|power suppl\w+|gold|platinum|titanium|bronze)\b",
            re.IGNORECASE,
        ),
    ),
)
"""Pieces that name no part and yet are one: "128GB DDR5", "2TB NVMe", "1600W PSU"."""
_DRIVE = re.compile(r"(?:\d{1,2}\s?[x×]\s?)?[^\W\d]{3,}.*\d\s?[TG]B\s*$", re.IGNORECASE)
"""A piece of a line of drives that is one more, though nobody knows it: "Lexar ARES 4TB"."""
_BOARD = re.compile(
    r"\b(?:asus|gigabyte|aorus|msi|asrock(?: rack)?|supermicro|tyan|evga|biostar|huananzhi)\b.*"
    r"\b(?:[ABHQWXZ]\d{2,3}[A-Z]{0,2}|C\d{3}|[WT]RX\d{2}|[XH]\d{2}[A-Z]{2,3})\b",
    re.IGNORECASE,
)
"""A piece that is a board, though nobody knows it: "on ASUS WS C422 SAGE/10G"."""
_CAPACITY = re.compile(r"\d\s?[TG]B\b", re.IGNORECASE)
_BRIDGE = re.compile(
    r"\bnvlink\b[^,;]*\b(?:bridges?|[2-4][-\s]?slots?)\b|\bbridges?\b[^,;]*\bnvlink\b|\b[2-4][-\s]?slots?\s+nvlink\b",
    re.IGNORECASE,
)
_SPACING = re.compile(r"\b([2-4])[-\s]?slots?\b", re.IGNORECASE)
MOST_PIECES = 24
SURE_LETTERS = 3
"""So long a word of a part's name is more than its label, which names another kind."""


def pieces_of(text: str) -> list[tuple[str, str]]:
    """Cut a line where a part may end: pieces, each with what stands before it ("more", "list",
    "other", "" for the first)."""
    text = _HEAD.sub("", _SUM.sub("", text))
    pieces: list[tuple[str, str]] = []
    start, before = 0, ""
    for found in _BETWEEN.finditer(text):
        if _is_inside_brackets(text, found.start()) or len(pieces) == MOST_PIECES:
            continue
        pieces.append((text[start : found.start()], before))
        start, before = found.end(), found.lastgroup or ""
    return [
        (piece.strip(), mark) for piece, mark in (*pieces, (text[start:], before)) if piece.strip()
    ]


def _is_inside_brackets(text: str, place: int) -> bool:
    return any(text.count(a, 0, place) > text.count(b, 0, place) for a, b in ("()", "[]"))


def read_wishes(
    text: str, index: PartIndex, kind: str | None = None, known: Sequence[Part] = ()
) -> list[Wish]:
    """Return what a line asks for: one wish, or one for each part that it names, each with its own
    words and count.

    `kind` is that of the line's label, `known` are parts of the same list: they decide which NVLink
    bridge is meant. What was added with "+" or "and" and names no part is a wish without parts;
    other words stay with the part that they describe."""
    pieces = pieces_of(text)
    if len(pieces) > 1:
        first, whole = (
            read_wish(pieces[0][0], index, kind),
            index.find(counted(text)[1], kind, limit=1),
        )
        if whole and not (is_named(first) and kind_of(first.parts[0]) != kind_of(whole[0])):
            return [read_wish(text, index, kind)]
        wishes = _wishes(pieces, index, kind, known)
        if wishes or (is_named(first) and _tells(pieces[0][0])):
            return wishes or [Wish(text=text, quantity=first.quantity, parts=first.parts)]
    several = _bundled(text, index) or _parted_by_dash(text, index, kind)
    return several or [_bridge_wish(text, index, known) or read_wish(text, index, kind)]


_DASH = re.compile(r"\s+[-–—]\s+")
_BUNDLE = re.compile(r"套装|套裝|板\s?U|\b(?:bundle|combo|kit)\b", re.IGNORECASE)
_CORE = ("motherboard", "cpu")


def _parted_by_dash(text: str, index: PartIndex, kind: str | None) -> list[Wish]:
    """Return the parts of different kinds between which a dash stands: "Ryzen 5 5600X - Noctua
    NH-U12S"; none where it parts a part from a remark."""
    pieces = _DASH.split(text)
    if len(pieces) < 2 or any(_is_inside_brackets(text, m.start()) for m in _DASH.finditer(text)):
        return []
    found = [read_wish(pieces[0], index, kind), *(read_wish(piece, index) for piece in pieces[1:])]
    sure = all(
        is_named(wish, SURE_LETTERS) and _tells(piece)
        for wish, piece in zip(found, pieces, strict=True)
    )
    kinds = {kind_of(wish.parts[0]) for wish in found if wish.parts}
    return found if sure and len(kinds) == len(found) else []


def _bundled(text: str, index: PartIndex) -> list[Wish]:
    """Return board and CPU of a line that sells both together; the one that it does not name so
    that it is found has no part."""
    if not _BUNDLE.search(text):
        return []
    found = [read_wish(text, index, kind) for kind in _CORE]
    found = [wish if is_named(wish) else replace(wish, parts=()) for wish in found]
    return found if any(wish.parts for wish in found) and _is_core(text) else []


def _is_core(text: str) -> bool:
    """Say whether a bundle is of a board and a CPU, not of memory or fans."""
    return bool(
        re.search(r"主板|主機板|板\s?U|cpu|\b(?:board|mobo|motherboard|mainboard)\b", text, re.I)
        or re.search(r"\b(?:[ABHQXZ]\d{2,3}[A-Z]?\b|E[357]-\d{4}|i[3579]-?\d|R[3579]\b)", text)
    )


def _wishes(
    pieces: list[tuple[str, str]], index: PartIndex, kind: str | None, known: Sequence[Part]
) -> list[Wish]:
    """Return the wishes of a line's pieces; none where no piece names a part and where all are one
    part and its description."""
    wishes: list[Wish] = []
    told: list[tuple[int, str]] = []
    own = again = 0
    for piece, before in pieces:
        parts = [*known, *(wish.parts[0] for wish in wishes if wish.parts)]
        wish = (
            None
            if before == "other"
            else _piece_wish(piece, before, index, kind if not wishes else None, parts, kind)
        )
        if wish is None and before == "list" and _is_unknown_board(piece, wishes):
            wish = Wish(text=piece, quantity=1, parts=())
        if wish is not None and not _is_there(wish, parts[len(known) :]):
            wishes.append(wish)
            own += before != ""
        elif wishes:
            again += wish.quantity if wish is not None else 0
            if wish is None and before == "list":
                told.append((len(wishes) - 1, piece))
            else:
                wishes[-1] = _described(wishes[-1], piece, before)
    wishes = _with_rest(wishes, told)
    named = [wish for wish in wishes if is_named(wish)]
    is_choice = any(before == "other" for _, before in pieces)
    if (
        is_choice
        and len(wishes) == len(named) > 1
        and len({kind_of(wish.parts[0]) for wish in named}) == 1
    ):
        return named[:1]
    drives = kind == "storage" and not is_choice and len(pieces) == len(wishes) > 1
    if drives and all(_CAPACITY.search(piece) for piece, _ in pieces):
        return wishes
    fits = named or all(_sort_of(wish.text) for wish in wishes[1:] if not wish.parts)
    wishes = _without_sum(wishes, again)
    return wishes if fits and wishes and (own or (is_choice and len(named) == 1)) else []


OF_ONE = ("chassis", "motherboard")
"""Kinds of which a line names one: further words of that kind describe it."""


def _is_there(wish: Wish, parts: Sequence[Part]) -> bool:
    """Say whether a piece of a line names a part that the line has already, or a second one of a
    kind of which a machine has one."""
    if not wish.parts:
        return False
    part = wish.parts[0]
    return any(
        part is other or (kind_of(part) in OF_ONE and kind_of(part) == kind_of(other))
        for other in parts
    )


def _with_rest(wishes: list[Wish], told: Sequence[tuple[int, str]]) -> list[Wish]:
    """Return the wishes with the pieces of the line that name no part, each told after the wish of
    its place. In a line that names parts of several kinds such a piece is one more that nobody
    knows, unless it describes the part before it; else it describes it."""
    kinds = {kind_of(wish.parts[0]) for wish in wishes if is_named(wish)}
    found: list[Wish] = []
    for place, wish in enumerate(wishes):
        lost = []
        for piece in (piece for at, piece in told if at == place):
            if len(kinds) > 1 and not _describes(piece, wish):
                lost.append(Wish(text=piece, quantity=counted(piece)[0], parts=()))
            else:
                wish = _described(wish, piece, "list")
        found += [wish, *lost]
    return found


def _describes(piece: str, wish: Wish) -> bool:
    """Say whether a piece of a line tells of the part before it: one of its figures, what it has,
    or words without any number."""
    if _FEATURES.fullmatch(piece) or _ASIDE.search(piece) or not wish.parts:
        return True
    part, piece = wish.parts[0], _MEASURE.sub("", piece)
    words = words_of(piece)
    own = {*spec_words(part), *words_of(" ".join((part.name, *part.aliases)))}
    return not any(letter.isdigit() for letter in piece) or {*words} <= own


def _is_unknown_board(piece: str, wishes: Sequence[Wish]) -> bool:
    """Say whether a piece of a line that names no board yet is a board that nobody knows."""
    boards = [wish for wish in wishes if wish.parts and isinstance(wish.parts[0], Motherboard)]
    return not boards and _BOARD.search(piece) is not None


def _sort_of(piece: str) -> str | None:
    return next((sort for sort, pattern in _SORTS if pattern.search(piece)), None)


def _without_sum(wishes: list[Wish], again: int) -> list[Wish]:
    """Return the wishes where the first one counts those after it, and `again` of its own part,
    without what it counts twice: "Dual RTX 3090: Founders Edition, Gigabyte Turbo" is two cards."""
    cards = [wish.parts[0] if wish.parts else None for wish in wishes]
    chips = {(card.chip, card.memory_gib) for card in cards if isinstance(card, GPU)}
    if len(wishes) < 2 or len(chips) != 1 or not all(isinstance(card, GPU) for card in cards):
        return wishes
    rest = sum(wish.quantity for wish in wishes[1:])
    if wishes[0].quantity != rest + again or rest + again < 2:
        return wishes
    return [*([replace(wishes[0], quantity=again)] if again else []), *wishes[1:]]


def _tells(piece: str) -> bool:
    """Say whether a piece can name a part: one word without a number ("cables") is a sort of
    things."""
    return " " in piece or any(letter.isdigit() for letter in piece)


def _described(wish: Wish, piece: str, before: str) -> Wish:
    joint = " or " if before == "other" else ", "
    return Wish(text=f"{wish.text}{joint}{piece}", quantity=wish.quantity, parts=wish.parts)


def _piece_wish(
    piece: str,
    before: str,
    index: PartIndex,
    kind: str | None,
    parts: Sequence[Part],
    label: str | None,
) -> Wish | None:
    """Return what a piece asks for, None where it describes the part before it; `label` is the kind
    of the whole line."""
    if before and piece.strip(" $€£¥").isdecimal():
        return None
    sort = _sort_of(piece)
    aside = _ASIDE.search(piece) and not (before == "more" and sort)
    if (before and aside and not COUNTED.match(piece)) or _FEATURES.fullmatch(piece):
        return None
    wish = _bridge_wish(piece, index, parts) or read_wish(piece, index, kind)
    if (
        not wish.parts
        and kind is not None
        and is_named(other := read_wish(piece, index), SURE_LETTERS)
    ):
        wish = other
    if (
        is_named(wish)
        and _tells(piece)
        and (kind_of(wish.parts[0]) != "memory" or sort == "memory")
    ):
        return wish
    if sort is not None and not (parts and kind_of(parts[-1]) == sort):
        return (
            wish
            if wish.parts and kind_of(wish.parts[0]) == sort
            else Wish(text=piece, quantity=wish.quantity, parts=())
        )
    drive = label == "storage" and bool(
        _DRIVE.match(piece) or (COUNTED.match(piece) and _CAPACITY.search(piece))
    )
    further = label == "storage" == sort and bool(parts) and is_contradicted(parts[-1], piece)
    own = drive or further or before in ("", "more")
    return Wish(text=piece, quantity=wish.quantity, parts=()) if own else None


def _bridge_wish(text: str, index: PartIndex, known: Sequence[Part]) -> Wish | None:
    """Return the NVLink bridge that a text asks for without its full name: for a card of the list,
    of the spacing given."""
    if not _BRIDGE.search(text):
        return None
    quantity, words = counted(text)
    cards = [part for part in known if isinstance(part, GPU) and part.nvlink is not None]
    bridges = [part for part in index.find("", "bridge") if isinstance(part, Bridge)]
    spacing, shared = _SPACING.search(words), set(words_of(words))
    fits = [part for part in bridges if spacing is None or part.spacing_slots == int(spacing[1])]
    fits = [part for part in fits if any(_is_for(part, card) for card in cards)]
    ranked = sorted(
        fits,
        key=lambda part: (
            -len(shared & set(words_of(part.name))),
            list(part.proven_with)[:1] != [cards[0].id],
        ),
    )
    return Wish(text=text, quantity=quantity, parts=tuple(ranked)) if ranked else None


def _is_for(bridge: Bridge, card: GPU) -> bool:
    return bridge.proven_with.get(card.id, "no") != "no"
