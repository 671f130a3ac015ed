"""What a row of the catalog says of its badge."""

import random
import re

import pytest

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import KINDS, PowerSupply
from rigplanner.data import sample_files
from rigplanner.report.words.causes import CAUSE_TEXTS, CURE_WORDS, cause_text
from rigplanner.rig.files import read_rig
from rigplanner.rules.badges import Trial, brings, counts
from rigplanner.rules.cures import CURED_BY, cure_of
from rigplanner.rules.topics import RULES_BY_CODE

TODAY = "2026-11-23"
LONGEST = 60


def test_texts_and_cures_name_rules_that_exist() -> None:
    assert set(CAUSE_TEXTS) <= set(RULES_BY_CODE)
    assert set(CURED_BY) <= set(RULES_BY_CODE)
    assert set(CURED_BY.values()) <= set(CURE_WORDS)


@pytest.mark.parametrize("kind", KINDS)
def test_every_badge_has_a_short_cause_without_gaps(kind: str, catalog: Catalog) -> None:
    """Any candidate of any sample: what does not fit says why, in one line, with all figures."""
    chance = random.Random(kind)
    own = catalog.of_kind(kind)
    for path in sample_files():
        rig = read_rig(path)
        for uid in (None, ""):
            trial = Trial(rig, catalog, kind, uid, TODAY)
            for part in chance.sample(own, min(len(own), 6)):
                fitting = trial.fitting(part)
                text = cause_text(fitting, trial.with_part(part), catalog)
                assert bool(text) == (fitting.badge != "fits"), (path.stem, part.id)
                assert len(text) <= LONGEST, text
                assert not re.search(r"[{}]|None", text), text


@pytest.mark.parametrize("kind", ["gpu", "cpu", "psu", "cooler", "storage"])
def test_amber_is_said_only_where_no_error_stays(kind: str, catalog: Catalog) -> None:
    """A candidate with a cure brings, by full checks, no error that nothing cures."""
    chance = random.Random(f"cures {kind}")
    own = catalog.of_kind(kind)
    cured = 0
    for path in sample_files():
        rig = read_rig(path)
        trial = Trial(rig, catalog, kind, today=TODAY)
        tried = chance.sample(own, min(len(own), 40))
        # Nearly every other CPU needs another board, which no cure brings: the few are looked for.
        rare = own if kind == "cpu" and path.stem == "deskmini-gtx-1070" else []
        for part in (*tried, *(part for part in rare if trial.fitting(part).cure)):
            fitting = trial.fitting(part)
            if fitting.cure:
                cured += 1
                found = brings(rig, catalog, part, trial.uid, TODAY)
                codes = [f.code for f in found if counts(f) and f.severity == "error"]
                assert codes
                assert all(cure_of(code, kind) for code in codes), (path.stem, part.id, codes)
    assert cured or kind in ("psu", "storage")


def test_a_supply_is_no_cure_for_a_supply(catalog: Catalog) -> None:
    assert cure_of("PWR002", "gpu") == "psu"
    assert cure_of("PWR002", "psu") is None
    assert cure_of("SPC006", "psu") == "chassis"
    rig = read_rig(next(path for path in sample_files() if path.stem == "quad-rtx-4090"))
    trial = Trial(rig, catalog, "psu", today=TODAY)
    small = min(
        (p for p in catalog.of_kind("psu") if isinstance(p, PowerSupply) and p.supply.ratings),
        key=lambda supply: max(rating.watts for rating in supply.supply.ratings),
    )
    assert (trial.fitting(small).badge, trial.fitting(small).cure) == ("no", "")
