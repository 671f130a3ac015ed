"""Badges against running all rules: any kind of part, in any sample, with facts changed or missing
at random; rules that know nothing of badges."""

import gc
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import GPU, KINDS, AnyPart, Doubt
from rigplanner.data import data_path
from rigplanner.machine.assemble import assemble
from rigplanner.rig.document import Item, Rig
from rigplanner.rig.edits import Edit, apply
from rigplanner.rig.files import read_rig
from rigplanner.rules.assess import assess
from rigplanner.rules.badges import BADGES, REMARKS, UNPLACED, Trial, brings, counts, fits
from rigplanner.rules.core.context import Context
from rigplanner.rules.core.finding import Finding
from rigplanner.rules.core.registry import RULES, rule
from rigplanner.rules.topics import RULES_BY_CODE

SAMPLES = sorted((data_path("resources") / "samples").glob("*.rig"))
EACH = 2
OWN = ("id", "name", "compute_capability")
"""Fields that no part takes over from another: names, and numbers that only one maker counts in."""
TODAY = "2026-11-23"


def _sample(name: str) -> Rig:
    return read_rig(data_path("resources") / "samples" / f"{name}.rig")


def _varied(part: AnyPart, others: list[AnyPart], chance: random.Random, number: int) -> AnyPart:
    """Return a part with some of its figures stretched, and some fields of another part or
    missing."""
    changes = {}
    for field in part.__struct_fields__:
        value = getattr(part, field)
        if isinstance(value, float) and chance.random() < 0.5:
            changes[field] = round(value * chance.uniform(0.7, 1.4), 1)
        elif field not in OWN and chance.random() < 0.05:
            changes[field] = getattr(chance.choice(others), field)
    return replace(part, id=f"{part.id}.x{number}", **changes)


def _rig(path: Path, chance: random.Random) -> Rig:
    rig = read_rig(path)
    gone = chance.choice(rig.items).uid if chance.random() < 0.5 and len(rig.items) > 3 else ""
    return apply(rig, Edit("remove_item", {"uid": gone})) if gone else rig


def _agrees(rig: Rig, catalog: Catalog, part: AnyPart, trial: Trial) -> bool:
    full = {
        (found.severity, found.code)
        for found in brings(rig, catalog, part, today=TODAY)
        if counts(found)
    }
    severities = {severity for severity, _ in full}
    worst = next((badge for word, badge in BADGES.items() if word in severities), "fits")
    fitting = trial.fitting(part)
    whole = set(fitting.brings) == full or (fitting.badge == "no" and set(fitting.brings) <= full)
    return fitting.badge == worst and whole


@pytest.mark.parametrize("kind", KINDS)
def test_badges_agree_with_a_full_check_of_any_part_in_any_rig(kind: str, catalog: Catalog) -> None:
    chance = random.Random(kind)
    own = catalog.of_kind(kind)
    for path in SAMPLES:
        rig = _rig(path, chance)
        trial = Trial(rig, catalog, kind, today=TODAY)
        for number, part in enumerate(chance.sample(own, min(len(own), EACH))):
            assert _agrees(rig, catalog, part, trial), (path.stem, part.id)
            varied = _varied(part, own, chance, number)
            assert _agrees(rig, catalog, varied, trial), (path.stem, varied)


@pytest.fixture
def _a_stranger_s_rule(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A rule that compares types and figures as it likes and declares nothing."""

    @rule(
        "SPC099",
        "Too long",
        "error",
        over=lambda context: context.own_cards,
        reason="A trial.",
        source="A trial.",
    )
    def too_long(context: Context, case: object) -> Iterator[Finding]:
        card = case.card  # type: ignore[attr-defined]
        if isinstance(card.length_mm, float) and card.length_mm > 300 and type(card) is GPU:
            yield too_long.finding(case)

    monkeypatch.setitem(RULES_BY_CODE, "SPC099", too_long)
    yield
    del RULES["SPC099"]


@pytest.mark.usefixtures("_a_stranger_s_rule")
def test_a_rule_that_knows_nothing_of_badges_is_asked_like_any_other(catalog: Catalog) -> None:
    rig = _sample("rtx-5090")
    trial = Trial(rig, catalog, "gpu", today=TODAY)
    long = [
        part
        for part in catalog.of_kind("gpu")
        if isinstance(part, GPU) and part.length_mm and part.length_mm > 300
    ]
    assert len(long) > 10
    for part in long:
        assert trial.fitting(part).badge == "no", part.id
        assert _agrees(rig, catalog, part, trial), part.id


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_what_takes_no_place_changes_no_place(path: Path, catalog: Catalog) -> None:
    """The machine of a candidate that is put together in the places of another is its own."""
    for kind in UNPLACED:
        own, trial = catalog.of_kind(kind), Trial(read_rig(path), catalog, kind)
        for part in (own[0], own[-1]):
            chosen = trial.with_part(part)
            context = trial._candidate(part)
            assert context.machine.machine() == assemble(chosen, catalog), part.id  # type: ignore[attr-defined]


def test_remarks_decide_nothing_unless_the_rig_rates_them(
    catalog: Catalog, samples: list[Path]
) -> None:
    for path in samples:
        report = assess(read_rig(path), catalog).report
        assert {f.severity for f in report.findings if f.code in REMARKS} <= {"info", "unknown"}
    card = catalog.get("nvidia.geforce.rtx-5090")
    assert isinstance(card, GPU)
    disputed = replace(card, id="a.b.c", doubts={"tdp_w": Doubt(state="conflict")})
    for severity, told in (("info", False), ("warning", True)):
        rated = replace(_sample("rtx-5090"), severities={"RIG003": severity})
        (found,) = fits(rated, catalog, "gpu", (disputed,))
        assert (("warning", "RIG003") in found.brings) == told


def test_a_card_beside_a_bridge_gets_a_badge(catalog: Catalog) -> None:
    """One card, and the bridge that was bought for two."""
    bridge = next(part for part in catalog.of_kind("bridge") if "3090" in part.id)
    rig = Rig(
        items=(
            Item(uid="gpu", part="nvidia.geforce.rtx-3090"),
            Item(uid="bridge", part=bridge.id),
        )
    )
    for kind in KINDS:
        trial = Trial(rig, catalog, kind, today=TODAY)
        for part in catalog.of_kind(kind)[:3]:
            assert _agrees(rig, catalog, part, trial), part.id


def test_no_trace_of_the_collector_comes_between(catalog: Catalog) -> None:
    on: list[bool] = []

    class Noting(list[AnyPart]):
        def __iter__(self) -> Iterator[AnyPart]:
            on.append(gc.isenabled())
            return super().__iter__()

    fits(read_rig(SAMPLES[0]), catalog, "gpu", Noting(catalog.of_kind("gpu")[:3]), today=TODAY)
    assert on == [False]
    assert gc.isenabled()


def test_a_trial_leaves_nothing_to_the_collector(catalog: Catalog) -> None:
    """A sweep over the contexts of hundreds of candidates would hold up the window."""
    for kind in ("gpu", "cooler"):
        trial, parts = Trial(_sample("hgx-h100"), catalog, kind), catalog.of_kind(kind)[:12]
        trial.fitting(parts[0])
        gc.collect()
        gc.disable()
        try:
            before = sum(isinstance(each, Context) for each in gc.get_objects())
            for part in parts:
                trial.fitting(part)
            assert sum(isinstance(each, Context) for each in gc.get_objects()) == before
        finally:
            gc.enable()


def test_a_warning_between_two_limits_is_not_passed_over(catalog: Catalog) -> None:
    """Neither a card of 150 W nor one of 1500 W leaves a supply just without headroom; some between
    them do."""
    rig = _sample("rtx-5090")
    card = next(part for part in catalog.of_kind("gpu") if part.id == "nvidia.geforce.rtx-5090")
    found = fits(
        rig,
        catalog,
        "gpu",
        [
            replace(card, id=f"a.b.{watts}", tdp_w=float(watts))
            for watts in (150, 1500, *range(200, 1400, 50))
        ],
    )
    assert {"PWR002", "PWR003"} <= {code for fitting in found for _, code in fitting.brings}


def test_a_part_that_a_known_pair_names_lends_its_answer_to_no_other(catalog: Catalog) -> None:
    rig = _sample("quad-rtx-4090")
    named = next(
        part for part in catalog.of_kind("motherboard") if part.id == "supermicro.h11.h11ssl-i"
    )
    found = fits(rig, catalog, "motherboard", (named, replace(named, id="a.b.board")))
    assert [("warning", "KNO001") in fitting.brings for fitting in found] == [True, False]
