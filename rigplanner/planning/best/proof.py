"""What was proven of a rig, kept in it, and forgotten as soon as the rig is another."""

import hashlib
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from rigplanner.decoding import convert
from rigplanner.planning.best.answer import Answer
from rigplanner.rig.document import Rig

KEY = "proven_best"


class Proof(Struct, frozen=True, kw_only=True):
    """Of how many rigs a rig is the best, in digits, for more than 64 bits hold (files of older
    editions have a number), and for which objective; `gap` is None where that is proven. `rig`
    tells the rig that it holds for."""

    rigs: str | int
    objective: str
    gap: float | None
    rig: str


def with_proof(rig: Rig, answer: Answer) -> Rig:
    """Return a rig that carries what was proven of it."""
    gap = None if answer.gap in (None, float("inf")) else answer.gap
    if answer.gap == float("inf"):
        return rig
    proof = Proof(
        rigs=str(answer.total), objective=answer.question.objective, gap=gap, rig=_told(rig)
    )
    return replace(rig, extra={**rig.extra, KEY: msgspec.to_builtins(proof)})


def proof_of(rig: Rig) -> Proof | None:
    """Return what was proven of a rig as it is; None for one that was changed since."""
    kept: Any = rig.extra.get(KEY)
    if kept is None:
        return None
    try:
        proof = convert(kept, Proof)
    except msgspec.ValidationError:
        return None
    return proof if proof.rig == _told(rig) else None


def _told(rig: Rig) -> str:
    """What tells a rig from others: its parts, their prices, its works and site."""
    items = [(i.part, i.quantity, i.power_cap_w, i.price) for i in rig.items]
    told = msgspec.json.encode((sorted(map(repr, items)), rig.workloads, rig.site, rig.currency))
    return hashlib.sha256(told).hexdigest()[:16]
