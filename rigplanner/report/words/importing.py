"""Why foreign data were refused, in words."""

from collections import Counter
from collections.abc import Iterable

from rigplanner.catalog.find.naming import Confidence
from rigplanner.catalog.foreign import Import, Reason, Refusal
from rigplanner.catalog.imports.importing import count_to_keep
from rigplanner.catalog.prices.prices import Offers
from rigplanner.catalog.schema.parts import Price
from rigplanner.report.language import digits, listed, tr, trn
from rigplanner.rig.from_text.parts_list import Entry, by_figures

LONGEST_LINE = 40
"""Characters of a line of a parts list that are told."""
REASON_WORDS: dict[Reason, str] = {
    "unreadable": "cannot be read",
    "damaged": "is damaged",
    "encrypted": "is encrypted",
    "symlink": "is a link, and links are not followed",
    "path": "has a path that leads outside or too deep",
    "special-file": "is no ordinary file",
    "too-large": "is larger than a part can be",
    "zip-ratio": "unpacks to far more than it should (zip bomb)",
    "total-size": "exceeds the total size that is read",
    "too-many": "has more entries than are read",
    "pickle": "is a pickle, which is never loaded",
    "encoding": "is not in the expected encoding",
    "not-json": "is not JSON",
    "nested": "is nested too deep",
    "not-object": "is not an object",
    "kind": "is of a kind that no rig is made of",
    "missing": "lacks what makes it a part",
    "type": "has a value of another type",
    "number": "has a number that is none",
    "range": "has a number beyond sense",
    "word": "has a word that is not known",
    "too-long": "has a text that is too long",
    "markup": "has markup in a text",
    "characters": "has characters that do not belong into a text",
    "formula": "begins like a formula",
    "duplicate": "is there twice",
    "not-a-price": "has no price",
    "currency": "has no currency code",
    "day": "has no day as YYYY-MM-DD",
    "conditional": "has a price that holds only with other purchases",
    "no-match": "names no part of the catalog",
    "ambiguous": "names several parts",
}


def refusal_text(refusal: Refusal) -> str:
    """Return one refusal as a sentence."""
    where = f"{refusal.file}: {refusal.field}" if refusal.field else refusal.file
    found = f" ({refusal.found})" if refusal.found else ""
    kept = "" if refusal.lost else tr("; the rest was taken")
    return f"{where} {REASON_WORDS[refusal.reason]}{found}{kept}."


def list_notes(entries: Iterable[Entry]) -> list[str]:
    """Return what a rig's notes keep of a parts list: lines without a part, parts that stand for
    others of the same figures, and prices of several parts together."""
    notes = []
    shared: list[Price] = []
    for entry in entries:
        wish, together = entry.wish, entry.together
        if together is not None and not any(together is price for price in shared):
            shared.append(together)
            amount = f"{together.amount:,.2f} {together.currency}"
            notes.append(
                tr(
                    "{amount} is the price of {line} and what stands beside it together.",
                    amount=amount,
                    line=wish.text,
                )
            )
        if entry.comes_with is not None:
            continue
        if not wish.parts:
            notes.append(tr("Not in the catalog: {fact}", fact=f"{wish.quantity} × {wish.text}"))
        elif wish.guessed:
            notes.append(
                tr(
                    "{part} was taken for {line}, which may name another model: see that it is"
                    " the one.",
                    part=wish.parts[0].name,
                    line=wish.text,
                )
            )
        elif by_figures(wish):
            notes.append(
                tr(
                    "{part} stands for {line}: the same size or figures; the list names no such"
                    " part.",
                    part=wish.parts[0].name,
                    line=wish.text,
                )
            )
    return notes


def taken_text(entries: Iterable[Entry]) -> str:
    """Return how many lines of a parts list became parts, which did not, and which stand for others
    of the same figures."""
    entries = list(entries)
    matched = [entry for entry in entries if entry.wish.parts]
    missing = [
        _short(entry.wish.text)
        for entry in entries
        if not entry.wish.parts and entry.comes_with is None
    ]
    guessed = [entry for entry in matched if entry.wish.guessed]
    alike = [
        _short(entry.wish.text)
        for entry in matched
        if by_figures(entry.wish) and entry not in guessed
    ]
    said = [trn("{count} line became a part.", "{count} lines became parts.", len(matched))]
    said += [tr("Not in the catalog: {lines}.", lines=listed(missing))] if missing else []
    said += (
        [tr("Parts of the same figures were taken for {lines}.", lines=listed(alike))]
        if alike
        else []
    )
    unsure = listed([f"{_short(one.wish.text)} ({one.wish.parts[0].name})" for one in guessed])
    said += [tr("Another model may be meant: {lines}.", lines=unsure)] if guessed else []
    return " ".join(said)


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_LINE else text[: LONGEST_LINE - 1] + "…"


def refusal_counts(refused: Iterable[Refusal]) -> list[tuple[int, str]]:
    """Return how often each field was refused for each reason, most frequent first."""
    counts = Counter((refusal.field, refusal.reason, refusal.lost) for refusal in refused)
    rows = []
    for (field, reason, lost), count in counts.most_common():
        what = tr("field {field}", field=field) if field else tr("file or row")
        rows.append(
            (
                count,
                f"{what} {REASON_WORDS[reason]}" + ("" if lost else tr(" (the rest was taken)")),
            )
        )
    return rows


def summary(made: Import | Offers, least: Confidence = "exact") -> str:
    """Return in one line what a source gave and what of it would be kept."""
    if isinstance(made, Import):
        return tr(
            "{parts} of {seen} became parts",
            parts=digits(f"{len(made.parts):,}"),
            seen=digits(f"{made.seen:,}"),
        )
    return tr(
        "{offers} of {seen} lines name a part; prices for {made} parts",
        offers=digits(f"{len(made.offers):,}"),
        seen=digits(f"{made.seen:,}"),
        made=digits(f"{count_to_keep(made, least):,}"),
    )
