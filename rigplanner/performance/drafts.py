"""What drafting tokens ahead gains: speculative decoding by acceptance."""

from msgspec import Struct

from rigplanner.catalog.zoo import Zoo
from rigplanner.performance.geometry.resolve import resolve_shape
from rigplanner.performance.geometry.shapes import Shape
from rigplanner.rig.workload import Workload

USUAL_ACCEPTED = {"mtp": 0.75, "ngram": 0.4, "draft": 0.7, "medusa": 0.6}
"""Share of drafted tokens that are accepted where nobody says (estimate; DeepSeek-V3's report tells
0.85 to 0.9 of the second token of its MTP head, arXiv 2412.19437, section 5.4.3)."""
USUAL_OF_EAGLE = 0.7
HEAD_LAYERS = 1.0
"""Decoder layers of an MTP or EAGLE head; it reads the output layer besides."""


class Drafts(Struct, frozen=True, kw_only=True):
    """`tokens` drafted ahead of each step, the share of them that is `accepted`, the weights in
    millions that drafting one reads (`params_m`), and of these what is stored beside the network
    (`stored_m`). `told`: whether the share accepted is said, not the usual of the method."""

    tokens: int
    accepted: float
    params_m: float
    stored_m: float
    method: str
    told: bool = True

    @property
    def kept(self) -> float:
        """Tokens that a step yields: (1 - a^(k+1)) / (1 - a) (Leviathan et al. 2023, arXiv
        2211.17192)."""
        a, k = self.accepted, self.tokens
        return float(k + 1) if a >= 1 else (1 - a ** (k + 1)) / (1 - a)


def drafts_of(workload: Workload, shape: Shape, zoo: Zoo | None) -> Drafts | None:
    """Return what a workload drafts ahead; None where it does not. Raises WorkloadFault for a draft
    model that is not known."""
    told = workload.speculative
    if told is None:
        return None
    usual = USUAL_ACCEPTED.get(told.method, USUAL_OF_EAGLE)
    accepted = usual if told.accepted is None else told.accepted
    stored, read = 0.0, 0.0
    if told.model:
        draft = resolve_shape(Workload(model=told.model, task="inference"), zoo)
        stored, read = draft.params_m, draft.active_m
    elif told.method != "ngram":
        stored = HEAD_LAYERS * shape.active_m / max(1, shape.layers)
        read = stored + shape.head_m
    return Drafts(
        tokens=told.tokens,
        accepted=accepted,
        params_m=read,
        stored_m=stored,
        method=told.method,
        told=told.accepted is not None,
    )
