"""The proof in a form that another program can check: every family of rigs that was left out, why,
and by which bound; all of them together are all rigs there are."""

from typing import Any

from msgspec import Struct

from rigplanner.planning.best.judge import Chosen
from rigplanner.planning.best.question import Question
from rigplanner.planning.best.reads import Strictness
from rigplanner.planning.best.space import HOST_KINDS, CardSet, Option, Space

FORMAT = 3


class Family(Struct, frozen=True, omit_defaults=True):
    """Rigs with the set of cards number `cards` (-1: complete machines), the choices `chosen` of
    the first kinds by their numbers, any choice of `options` of the next kind, and anything after.
    Without `options` all rigs with these cards. `reason` is a rule's code or a word; `bound` what
    none of them undercuts (price) or exceeds (speed)."""

    cards: int
    chosen: tuple[int, ...] = ()
    options: tuple[int, ...] = ()
    reason: str = ""
    bound: float | None = None
    whole: bool = False


class Claim(Struct, frozen=True, kw_only=True):
    """The rig that is claimed to be the best: its cards and choices by number, price, draw and
    score. `top` is the score of the fastest rig, which it nears; `top_cards` and `top_chosen` name
    that rig, so that nobody can claim to be near what does not exist."""

    cards: int
    chosen: tuple[int, ...]
    price: float
    watts: float
    score: float
    top: float
    top_cards: int
    top_chosen: tuple[int, ...]


class Certificate(Struct, frozen=True, kw_only=True):
    """What is claimed, of which rigs, and why no other is better. `gap` is None where the proof is
    whole, else by what share another rig might still be faster. `not_in_space` names what was not
    looked at. Where rigs with warnings or open facts count, `stricter` proves that none without
    them does it."""

    format: int = FORMAT
    day: str
    catalog: str
    strictness: Strictness
    question: Question
    options: dict[str, tuple[Option, ...]]
    sets: tuple[CardSet, ...]
    machines: tuple[Option, ...]
    left_out: dict[str, int]
    not_in_space: tuple[str, ...]
    total: int
    claim: Claim | None
    families: tuple[Family, ...]
    gap: float | None = None
    stricter: "Certificate | None" = None


class Book:
    """Keeps the families of a pass and counts their rigs."""

    def __init__(self, space: Space, keep: bool = True) -> None:
        self.space, self.keep = space, keep
        self.families: list[Family] = []
        self.counts: dict[str, int] = {}
        self.examined_rigs = 0
        self._sets = {cards: n for n, cards in enumerate(space.sets)}
        self._at = {
            kind: {option: n for n, option in enumerate(options)}
            for kind, options in (*space.options.items(), ("system", space.machines))
        }

    @property
    def total(self) -> int:
        """How many rigs were accounted for."""
        return sum(self.counts.values())

    def leave(
        self,
        cards: CardSet | None,
        chosen: Chosen,
        kind: str,
        options: tuple[Option, ...],
        reason: str,
        bound: float | None = None,
    ) -> None:
        """Write a family down."""
        rigs = (len(options) if kind else 1) * self.space.below(kind)
        if not rigs:
            return
        self.counts[reason] = self.counts.get(reason, 0) + rigs
        if self.keep:
            self.families.append(
                Family(
                    -1 if cards is None else self._sets[cards],
                    self._numbers(chosen),
                    tuple(self._at[kind][option] for option in options) if kind else (),
                    reason,
                    bound if bound is None else round(bound, 6),
                )
            )

    def examined(self, cards: CardSet | None, chosen: Chosen, reason: str) -> None:
        """Write one whole rig down."""
        self.counts[reason] = self.counts.get(reason, 0) + 1
        self.examined_rigs += reason != "twin"
        if self.keep:
            number = -1 if cards is None else self._sets[cards]
            self.families.append(Family(number, self._numbers(chosen), (), reason, whole=True))

    def numbers(
        self, cards: CardSet | None, chosen: dict[str, Option]
    ) -> tuple[int, tuple[int, ...]]:
        """Return the numbers of a rig's cards and choices."""
        return (-1 if cards is None else self._sets[cards]), self._numbers(chosen)

    def _numbers(self, chosen: dict[str, Option]) -> tuple[int, ...]:
        order = [kind for kind in (*HOST_KINDS, "system") if kind in chosen]
        return tuple(self._at[kind][chosen[kind]] for kind in order)


def as_json(certificate: Certificate) -> bytes:
    """Return a certificate as JSON."""
    import msgspec

    made: Any = msgspec.json.format(msgspec.json.encode(certificate), indent=0)
    return bytes(made)
