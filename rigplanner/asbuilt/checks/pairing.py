"""Which seen card a promised one became."""

import re

from rigplanner.asbuilt.checks.line import Pair, View
from rigplanner.asbuilt.merged import Card, cards_of
from rigplanner.asbuilt.promise import Promise, PromisedCard
from rigplanner.asbuilt.seen import Fact, SeenSlot, of_kind
from rigplanner.catalog.find.gpu_names import GpuNames, shipped_gpu_names

UNIT = re.compile(r"(\d)\s+(gb|tb|gib|tib)\b")
WORD = re.compile(r"[a-z0-9.]+")


def view_of(promise: Promise, facts: tuple[Fact, ...], loaded: bool = False) -> View:
    """Return promise and capture side by side."""
    cards = cards_of(facts)
    names = shipped_gpu_names()
    slots = {slot.address: slot.name for slot in of_kind(facts, SeenSlot) if slot.address}
    pairs = _gpus((*promise.gpus, *promise.displays), cards, names, slots)
    return View(
        promise=promise,
        facts=facts,
        cards=cards,
        gpus=pairs[: len(promise.gpus)],
        displays=pairs[len(promise.gpus) :],
        drives=_others(promise.drives, [card for card in cards if card.kind == "drive"], slots),
        nics=_others(promise.nics, [card for card in cards if card.kind == "network"], slots),
        loaded=loaded,
        slots=slots,
    )


def _gpus(
    promised: tuple[PromisedCard, ...],
    cards: tuple[Card, ...],
    names: GpuNames,
    slots: dict[str, str],
) -> tuple[Pair, ...]:
    """Pair GPUs of one model; among equals the planned slot decides, then the width of the link."""
    left = [card for card in cards if card.kind == "gpu"]
    pairs: dict[int, Card] = {}
    for number, wanted in enumerate(promised):
        here = [
            card for card in left if wanted.place and _slot_of(card, slots) == _plain(wanted.place)
        ]
        if here and same_gpu(wanted, here[0], names):
            pairs[number] = here[0]
            left.remove(here[0])
    for number in sorted(set(range(len(promised))) - set(pairs), key=lambda n: _rank(promised[n])):
        alike = [card for card in left if same_gpu(promised[number], card, names)]
        if alike:
            pairs[number] = min(alike, key=_card_rank)
            left.remove(pairs[number])
    return tuple([Pair(wanted, pairs.get(n)) for n, wanted in enumerate(promised)])


def _rank(card: PromisedCard) -> tuple[int, int, int]:
    return -(card.width or 0), -(card.generation or 0), card.index or 0


def _card_rank(card: Card) -> tuple[int, int, str]:
    best = card.reachable.generation or card.running.generation or 0
    return -(card.running.width or 0), -best, card.address


def same_gpu(wanted: PromisedCard, card: Card, names: GpuNames) -> bool:
    """Say whether a seen GPU is of the promised model. A card whose text has no name may be any."""
    if not card.name and not card.ids:
        return True
    ours = wanted.part or (found.id if (found := names.meaning(wanted.name).gpu) else "")
    theirs = names.meaning(f"{card.name} [{card.ids}]" if card.ids else card.name)
    if theirs.gpu is not None and ours:
        return theirs.gpu.id == ours
    return (
        ours in theirs.near
        if theirs.several and ours
        else words_of(wanted.name) <= words_of(card.name)
    )


def _others(
    promised: tuple[PromisedCard, ...], cards: list[Card], slots: dict[str, str]
) -> tuple[Pair, ...]:
    """Pair drives and network cards: by slot or name where they tell, else the widest links first
    (lspci names a drive by its controller)."""
    wanted = [card for card in promised if card.width is not None]
    left = list(cards)
    pairs: dict[int, Card] = {}
    for named in (True, False):
        for number in sorted(range(len(wanted)), key=lambda n: _rank(wanted[n])):
            fitting = [card for card in left if not named or _is_there(wanted[number], card, slots)]
            if number not in pairs and fitting:
                pairs[number] = min(fitting, key=_card_rank)
                left = [card for card in left if not _same_board(card, pairs[number])]
    return tuple([Pair(card, pairs.get(number)) for number, card in enumerate(wanted)])


def _same_board(one: Card, other: Card) -> bool:
    """Say whether two functions stand on one card: ports of a network card share its link."""
    return (bool(one.address) and one.address[:-1] == other.address[:-1]) or one == other


def _is_there(wanted: PromisedCard, card: Card, slots: dict[str, str]) -> bool:
    if wanted.place and _slot_of(card, slots) == _plain(wanted.place):
        return True
    return bool(words_of(wanted.name)) and words_of(wanted.name) <= words_of(card.name)


def _slot_of(card: Card, slots: dict[str, str]) -> str:
    above = card.port.address if card.port else ""
    return _plain(slots.get(card.address) or slots.get(above, ""))


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


def words_of(text: str) -> set[str]:
    """Return the words of a name that tell models apart, sizes in one word ("4tb")."""
    glued = UNIT.sub(r"\1\2", text.lower())
    return {word.strip(".") for word in WORD.findall(glued)} - {
        "nvidia",
        "geforce",
        "amd",
        "ssd",
        "",
    }


def same_name(promised: str, seen: str) -> bool:
    """Say whether a seen name holds all words of the promised one that tell models apart."""
    wanted = words_of(promised)
    return bool(wanted) and wanted <= words_of(seen)
