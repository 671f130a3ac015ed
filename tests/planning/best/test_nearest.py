"""Questions that nothing answers: what must change is named, is enough and no more than that."""

from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.planning.best.answer import Seeker
from rigplanner.planning.best.nearest import Change, _limits, _loosened, changes, shortage
from rigplanner.planning.best.question import Question, Want
from rigplanner.report.words.best import possible_texts
from rigplanner.rig.workload import Workload
from tools.campaign.small_catalogs import TODAY, random_case

CASES = range(14)
HUGE = Workload(model="llama-3.1-405b", task="train_full", batch_per_gpu=8, seq_len=8192)
LONG = Workload(
    model="llama-3.1-8b",
    task="train_full",
    batch_per_gpu=64,
    seq_len=8192,
    gradient_checkpointing="none",
)


def contradicted(question: Question) -> Question:
    """Quiet, in the smallest case, with eight cards."""
    return replace(
        question, budget=None, quiet=True, size="itx", least_cards=8, most_cards=8,
        objective="cheapest",
    )  # fmt: skip


def is_possible(question: Question, catalog: Catalog) -> bool:
    asked = replace(question, objective="cheapest", budget=None)
    *_, answer = Seeker(asked, catalog, TODAY, "open").answers(None)
    return answer.best is not None


def told(question: Question, catalog: Catalog) -> list[Change]:
    return list(changes(Seeker(question, catalog, TODAY, "open")))


def test_contradictory_limits_are_told_apart_from_those_that_may_stay() -> None:
    several = 0
    for seed in CASES:
        catalog, question = random_case(seed)
        asked = contradicted(question)
        if not is_possible(replace(question, used=True, tight=True), catalog):
            continue
        assert not is_possible(asked, catalog)
        found = told(asked, catalog)
        assert found
        limits = dict(_limits(asked))
        for change in found:
            given_up = [(code, limits[code]) for code in change.codes]
            assert is_possible(_loosened(asked, given_up), catalog)
            for code, _ in given_up if len(given_up) > 1 else ():
                fewer = [each for each in given_up if each[0] != code]
                assert not is_possible(_loosened(asked, fewer), catalog)
            several += len(given_up) > 1
    assert several >= 3


def test_too_little_money_is_told_with_the_least_sum() -> None:
    catalog, question = random_case(11)
    (change,) = told(replace(question, budget=100.0), catalog)
    assert change.codes == ("budget",)
    cheapest = replace(question, objective="cheapest")
    enough, short = (
        list(Seeker(cheapest, catalog, TODAY, "open").answers(budget))[-1].best
        for budget in (change.price, change.price - 0.02)
    )
    assert enough is not None and enough.price == change.price and short is None


def test_a_work_that_is_too_large_is_made_easier_step_by_step() -> None:
    catalog, question = random_case(3)
    asked = replace(question, wants=(Want(workload=LONG),), used=True, tight=True, budget=None)
    assert not is_possible(asked, catalog)
    (change,) = told(asked, catalog)
    assert change.codes[0] in ("context", "qlora")


def test_what_no_cards_hold_is_told_with_what_they_lack() -> None:
    catalog, question = random_case(3)
    seeker = Seeker(replace(question, wants=(Want(workload=HUGE),)), catalog, TODAY, "open")
    lack = shortage(seeker)
    assert lack is not None and lack.needed_gib > 2 * 405 > lack.room_gib > 0
    (text,) = possible_texts(changes(seeker), seeker)
    assert "GiB" in text and "No cards hold" in text
