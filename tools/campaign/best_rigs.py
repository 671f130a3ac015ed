"""The best rig of random small catalogs: what trying every rig says, and certificates that hold."""

from pathlib import Path

from rigplanner.planning.best.answer import Answer, Seeker
from rigplanner.planning.best.certificate import as_json
from rigplanner.planning.best.verify import read_certificate, verify
from tools.campaign.figures import Failure, Figures, keep
from tools.campaign.small_catalogs import TODAY, asked_of, best_of, every_rig

CENT = 0.011


def best_rigs(count: int, seed: int, kept: Path | None) -> Figures:
    """Ask `count` random questions."""
    found = Figures("best")
    for number in range(seed * 1000, seed * 1000 + count):
        catalog, question = asked_of(number)
        *_, answer = Seeker(question, catalog, TODAY).answers(question.budget, True)
        assert answer.certificate is not None
        proof = as_json(answer.certificate)
        faults = list(verify(read_certificate(proof), catalog).faults)
        if not _equal(answer, best_of(list(every_rig(catalog, question)), question.objective)):
            faults.append("another rig is better")
        found.deeds += 1
        if faults:
            place = keep(kept, f"best-{number}.json", proof)
            found.failures.append(Failure(f"case {number}", faults[0], place))
    return found


def _equal(answer: Answer, tried: tuple[float, float, float] | None) -> bool:
    best, objective = answer.best, answer.question.objective
    if best is None or tried is None:
        return (best is None) == (tried is None)
    price, watts, score = tried
    if objective == "per-money":
        return abs(best.score.value / best.price * price / score - 1) < 1e-6
    if objective == "least-watts":
        return abs(best.watts - watts) < CENT
    return abs(best.price - price) < CENT
