"""Badges against running all rules: any kind of part, in any sample, with facts changed or missing
at random; rules that know nothing of badges."""

import gc
import random
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import (
    GPU,
    KINDS,
    AnyPart,
    Doubt,
    MemoryKit,
    NetworkCard,
    Storage,
)
from rigplanner.data import data_path
from rigplanner.machine import pieces
from rigplanner.machine.assemble import assemble
from rigplanner.machine.model import Piece
from rigplanner.rig.document import Item, Rig
from rigplanner.rig.edits import Edit, apply
from rigplanner.rig.files import read_rig
from rigplanner.rules.assess import assess
from rigplanner.rules.badges import BADGES, REMARKS, Trial, brings, counts, fits
from rigplanner.rules.core.context import Context
from rigplanner.rules.core.finding import Finding
from rigplanner.rules.core.registry import RULES, judged, rule
from rigplanner.rules.shared_answers import READS, stand_of
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
    for part in random.Random("long").sample(long, 8):
        assert _agrees(rig, catalog, part, trial), part.id


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_a_machine_with_the_places_of_another_is_its_own(path: Path, catalog: Catalog) -> None:
    """Candidates alike in what decides their places take them over; all else is theirs."""
    for kind in READS:
        trial = Trial(read_rig(path), catalog, kind)
        alike: dict[object, list[AnyPart]] = {}
        for part in catalog.of_kind(kind):
            alike.setdefault(stand_of(part, trial._placeable), []).append(part)
        for stand, (first, *others) in sorted(alike.items(), key=lambda one: len(one[1]))[-2:]:
            trial._candidate(first, stand)
            for part in others[-1:]:
                machine = trial._candidate(part, stand).machine.machine()
                assert machine == assemble(trial.with_part(part), catalog), part.id


def _noting(part: AnyPart, read: set[str]) -> AnyPart:
    """Return a part that notes which of its fields are looked at."""
    kind = type(part)
    fields = kind.__struct_fields__

    def look(self: AnyPart, name: str) -> object:
        if name in fields:
            read.add(name)
        return object.__getattribute__(self, name)

    noting = type(Struct)(
        kind.__name__,
        (kind,),
        {"__getattribute__": look},
        frozen=True,
        kw_only=True,
        tag=kind.__struct_config__.tag,
    )
    return cast(AnyPart, noting(**{name: getattr(part, name) for name in fields}))


@pytest.mark.parametrize("name", ["hgx-h100", "quad-rtx-4090", "titan-x-server"])
def test_candidates_share_the_answers_of_rules_that_read_no_more_of_them(
    name: str, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The turn of a part goes by its id, and what it lacks is named by it: neither counts."""
    rig, read, turn = _sample(name), set[str](), pieces._turn
    hungry = replace(rig.workloads[0], dataset_gb=4000.0, flags=("gds",))
    rig = replace(rig, workloads=(*rig.workloads, hungry))

    def unread(piece: Piece) -> tuple[object, ...]:
        before = set(read)
        found = turn(piece)
        read.intersection_update(before)
        return found

    monkeypatch.setattr(pieces, "_turn", unread)
    for kind, reads in READS.items():
        trial = Trial(rig, catalog, kind, today=TODAY)
        for part in random.Random(name).sample(catalog.of_kind(kind), 2):
            noting, stand = _noting(part, read), stand_of(part, trial._placeable)
            trial._candidate(noting, stand)
            own = {"id", *_stands_by(part)}
            for rule_, fields in zip(trial.rules, trial.fields, strict=True):
                context = trial._candidate(noting, stand)
                read.clear()
                judged(rule_, context)
                if fields is not None:
                    assert read <= {*own, *fields}, (kind, rule_.code, reads.get(rule_.topic))


def _stands_by(part: AnyPart) -> tuple[str, ...]:
    if isinstance(part, Storage):
        return "form_factor", "interface", "gen", "width"
    if isinstance(part, NetworkCard):
        return "form_factor", "edge_gen", "edge_width", "ports", "port_gbps", "protocol", "rdma"
    if isinstance(part, MemoryKit):
        return ("modules",)
    return ()


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
