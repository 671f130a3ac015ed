"""Badges against running all rules: any kind of part, in any sample, with facts changed or missing
at random."""

import gc
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import CPU, GPU, KINDS, AnyPart, Cooler, Doubt, kind_of
from rigplanner.data import data_path
from rigplanner.memory.engines import batch_limits
from rigplanner.rig.document import Rig
from rigplanner.rig.edits import Edit, apply
from rigplanner.rig.files import read_rig
from rigplanner.rules.core.context import Context
from rigplanner.rules.fitting.answers import Brought
from rigplanner.rules.fitting.figures import Reading, observed
from rigplanner.rules.fitting.fitting import brings, fits
from rigplanner.rules.fitting.trial import BADGES, WHOLE, Trial, counts
from rigplanner.rules.fitting.watching import watched

SAMPLES = sorted((data_path("resources") / "samples").glob("*.rig"))
EACH = 2
AROUND = 12
"""Candidates judged beside those that are compared, so that answers are shared; fewer of kinds that
are asked all rules at once."""


def _varied(part: AnyPart, others: list[AnyPart], chance: random.Random, number: int) -> AnyPart:
    """Return a part with some of its figures stretched, and some fields of another part or
    missing."""
    changes = {}
    for field in part.__struct_fields__:
        value = getattr(part, field)
        if isinstance(value, float) and chance.random() < 0.5:
            changes[field] = round(value * chance.uniform(0.7, 1.4), 1)
        elif field not in ("id", "name") and chance.random() < 0.05:
            changes[field] = getattr(chance.choice(others), field)
    return replace(part, id=f"{part.id}.x{number}", **changes)


def _rig(path: Path, chance: random.Random) -> Rig:
    rig = read_rig(path)
    gone = chance.choice(rig.items).uid if chance.random() < 0.5 and len(rig.items) > 3 else ""
    return apply(rig, Edit("remove_item", {"uid": gone})) if gone else rig


@pytest.mark.parametrize("kind", KINDS)
def test_badges_agree_with_a_full_check_of_any_part_in_any_rig(kind: str, catalog: Catalog) -> None:
    chance = random.Random(kind)
    own = catalog.of_kind(kind)
    for path in SAMPLES:
        rig = _rig(path, chance)
        known = chance.sample(own, min(len(own), EACH if kind in WHOLE else AROUND))
        parts = known + [_varied(part, own, chance, number) for number, part in enumerate(known)]
        found = dict(
            zip(
                (part.id for part in parts),
                fits(rig, catalog, kind, parts, today="2026-11-21"),
                strict=True,
            )
        )
        for part in chance.sample(parts, EACH):
            full = {
                (f.severity, f.code)
                for f in brings(rig, catalog, part, today="2026-11-21")
                if counts(f)
            }
            fitting = found[part.id]
            worst = next(
                (
                    badge
                    for severity, badge in BADGES.items()
                    if any(severity == each for each, _ in full)
                ),
                "fits",
            )
            assert fitting.badge == worst, (path.stem, part)
            assert set(fitting.brings) <= full, (path.stem, part)
            assert fitting.badge == "no" or set(fitting.brings) == full, (path.stem, part)


def test_a_candidate_is_asked_only_about_what_is_new_in_it(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cards that differ in nothing that a rule reads share one answer; one that differs in a field
    is asked the rules of that."""
    rig = read_rig(next(path for path in SAMPLES if path.stem == "rtx-5090"))
    card = next(part for part in catalog.of_kind("gpu") if part.id == "nvidia.geforce.rtx-4090")
    trial = Trial(rig, catalog, kind_of(card), rig.items[0].uid, "")
    asked: list[str] = []
    answer = trial._answer

    def noted(context: Context, code: str) -> tuple[Brought, Reading]:
        asked.append(code)
        return answer(context, code)

    monkeypatch.setattr(trial, "_answer", noted)
    trial.fittings([replace(card, id="a.b.first")])
    first = len(asked)
    trial.fittings([replace(card, id="a.b.second", notes="other", released="2030")])
    assert len(asked) == first
    trial.fittings(
        [replace(card, id="a.b.third", length_mm=card.length_mm - 1.0, tdp_w=card.tdp_w - 1.0)]
    )
    assert len(asked) == first, "a shorter, cooler card fits wherever a longer, hotter one does"
    trial.fittings([replace(card, id="a.b.fourth", height_mm=900.0)])
    assert asked[first:] == ["SPC002"]


def test_no_walk_of_the_collector_comes_between(catalog: Catalog) -> None:
    on: list[bool] = []

    class Noting(list[AnyPart]):
        def __iter__(self) -> Iterator[AnyPart]:
            on.append(gc.isenabled())
            return super().__iter__()

    fits(
        read_rig(SAMPLES[0]), catalog, "gpu", Noting(catalog.of_kind("gpu")[:3]), today="2026-11-23"
    )
    assert on == [False]
    assert gc.isenabled()


def test_a_warning_between_two_limits_is_not_passed_over(catalog: Catalog) -> None:
    """Neither a card of 150 W nor one of 1500 W leaves a supply just without headroom; some between
    them do."""
    rig = read_rig(next(path for path in SAMPLES if path.stem == "rtx-5090"))
    card = next(part for part in catalog.of_kind("gpu") if part.id == "nvidia.geforce.rtx-5090")
    cards = [
        replace(card, id=f"a.b.{watts}", tdp_w=float(watts))
        for watts in (150, 1500, *range(200, 1400, 25))
    ]
    found = fits(rig, catalog, "gpu", cards)
    codes = {code for fitting in found for _, code in fitting.brings}
    assert {"PWR002", "PWR003"} <= codes
    for part, fitting in zip(cards, found, strict=True):
        full = {(f.severity, f.code) for f in brings(rig, catalog, part) if counts(f)}
        assert set(fitting.brings) <= full, part.id
        assert fitting.badge == "no" or set(fitting.brings) == full, part.id


def test_a_part_that_a_known_pair_names_lends_its_answer_to_no_other(catalog: Catalog) -> None:
    rig = read_rig(next(path for path in SAMPLES if path.stem == "quad-rtx-4090"))
    named = next(
        part for part in catalog.of_kind("motherboard") if part.id == "supermicro.h11.h11ssl-i"
    )
    other = replace(named, id="a.b.board")
    found = fits(rig, catalog, "motherboard", (named, other))
    assert [("warning", "KNO001") in fitting.brings for fitting in found] == [True, False]


def test_a_name_that_tells_another_generation_is_answered_for_itself(catalog: Catalog) -> None:
    """Alike but for their names, and only one of them is listed by the maker of the board."""
    rig = read_rig(next(path for path in SAMPLES if path.stem == "quad-rtx-4090"))
    known = catalog.get("amd.epyc.7443p")
    assert isinstance(known, CPU)
    first, third = (
        replace(known, id=f"own.cpu.{number}", name=f"AMD EPYC {number}", released=None)
        for number in ("7551P", "7543P")
    )
    told = fits(rig, catalog, "cpu", (third, first), uid="cpu")
    assert [("error", "CPU009") in each.brings for each in told] == [False, True]


def test_an_a100_lends_the_steps_of_its_server_to_no_other_card_of_its_size(
    catalog: Catalog,
) -> None:
    """vLLM takes other steps on it, by its name alone."""
    card = next(
        part for part in catalog.of_kind("gpu") if part.id == "nvidia.datacenter.h100-sxm5-80gb"
    )
    seen = watched(card, "a.b.card")
    assert isinstance(seen, GPU)
    limits, read = observed(lambda: batch_limits(seen))
    assert limits != batch_limits(replace(seen, name="A100"))
    assert read.fields == {"memory_gib", "is_a100"}


def test_a_part_that_lacks_a_figure_lends_nothing_to_one_that_has_it(catalog: Catalog) -> None:
    """The liquid cooler is asked for all but the height, so that nothing else tells the two others
    apart."""
    rig = read_rig(next(path for path in SAMPLES if path.stem == "dual-rtx-3090"))
    liquid = next(
        part
        for part in catalog.of_kind("cooler")
        if isinstance(part, Cooler) and part.type == "liquid"
    )
    air = replace(liquid, id="a.b.low", type="air", height_mm=100.0)
    coolers = (
        replace(liquid, id="a.b.liquid"),
        replace(air, id="a.b.unknown", height_mm=None),
        air,
    )
    found = fits(rig, catalog, "cooler", coolers, today="2026-11-21")
    assert [("unknown", "SPC007") in each.brings for each in found] == [False, True, False]


@pytest.mark.parametrize("severity", ["info", "warning"])
def test_a_disputed_system_lends_no_answer_where_that_counts(
    severity: str, catalog: Catalog
) -> None:
    """Alike but for a field about which sources disagree; that is told one from the other where the
    rig counts the remark."""
    rig = read_rig(next(path for path in SAMPLES if path.stem == "titan-x-server"))
    own = next(
        part
        for part in catalog.of_kind("system")
        if any(item.part == part.id for item in rig.items)
    )
    sure, disputed = (
        replace(own, id=f"a.b.{len(doubts)}", doubts=doubts)
        for doubts in ({}, {"role": Doubt(state="conflict")})
    )
    found = fits(replace(rig, severities={"RIG003": severity}), catalog, "system", (sure, disputed))
    assert [("warning", "RIG003") in each.brings for each in found] == [
        False,
        severity == "warning",
    ]


def test_systems_leave_no_situation_to_the_collector(catalog: Catalog) -> None:
    rig = read_rig(next(path for path in SAMPLES if path.stem == "titan-x-server"))
    gc.collect()
    gc.disable()
    try:
        before = sum(isinstance(each, Context) for each in gc.get_objects())
        Trial(rig, catalog, "system", rig.items[0].uid, "").fittings(catalog.of_kind("system"))
        assert sum(isinstance(each, Context) for each in gc.get_objects()) <= before + 1
    finally:
        gc.enable()


def test_another_of_what_the_rig_has_is_no_model_for_the_rest(catalog: Catalog) -> None:
    """The first drive that is tried is one more of the rig's own; the next one stands beside it,
    not in its place."""
    rig = read_rig(next(path for path in SAMPLES if path.stem == "deskmini-gtx-1070"))
    own = next(
        part
        for part in catalog.of_kind("storage")
        if any(item.part == part.id for item in rig.items)
    )
    other = next(part for part in catalog.of_kind("storage") if part.form_factor == "3.5")
    found = fits(rig, catalog, "storage", (own, other))[1]
    assert (
        found
        == fits(replace(rig, name="Another"), catalog, "storage", (other,), today="2026-11-21")[0]
    )
    assert {code for _, code in found.brings} == {
        f.code for f in brings(rig, catalog, other) if counts(f)
    }


def test_a_field_that_one_card_alone_is_asked_for_tells_it_by_its_own_value(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a rule reads of the second card of a group, but not of the first, is kept under what the
    second one holds."""
    rig = read_rig(next(path for path in SAMPLES if path.stem == "rtx-5090"))
    card = next(part for part in catalog.of_kind("gpu") if part.id == "nvidia.geforce.rtx-4090")
    trial = Trial(rig, catalog, "gpu", rig.items[0].uid, "")
    answer = trial._answer

    def tall(context: Context, code: str) -> tuple[Brought, Reading]:
        if code != "SPC002":
            return answer(context, code)
        watched = next(iter(context.own_cards)).card
        return observed(
            lambda: (
                (("error", code),)
                if (watched.height_mm or 0) > 900 and watched.notes == "tall"
                else ()
            )
        )

    monkeypatch.setattr(trial, "_answer", tall)
    notes = [(100.0, ""), (100.0, ""), (950.0, "tall"), (950.0, ""), (951.0, "tall")]
    cards = [
        replace(card, id=f"a.b.{n}", height_mm=height, notes=note)
        for n, (height, note) in enumerate(notes)
    ]
    assert [("error", "SPC002") in found.brings for found in trial.fittings(cards)] == [
        False,
        False,
        True,
        False,
        True,
    ]
