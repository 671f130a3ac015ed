"""A machine that shows exactly what its plan promises keeps it, whatever the plan; and whatever one card lacks is named."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from rigplanner.asbuilt.differences import differences
from rigplanner.asbuilt.promise import Promise, promise_of
from rigplanner.asbuilt.seen import (
    Fact,
    PcieLink,
    SeenBoard,
    SeenCpu,
    SeenDevice,
    SeenDrive,
    SeenGpu,
    SeenMatrix,
    SeenModule,
    SeenNvlink,
    SeenRate,
)
from rigplanner.catalog.load import Catalog
from rigplanner.cli.main import main
from rigplanner.data import sample_files
from rigplanner.rig.files import read_rig
from rigplanner.rules.assess import assess

SAMPLES = {path.stem: path for path in sample_files()}


def as_planned(promise: Promise) -> list[Fact]:
    """What a machine would show that is as promised."""
    facts: list[Fact] = [SeenBoard(name=promise.board, system=promise.system)]
    facts += [SeenCpu(model=promise.cpu, sockets=promise.sockets)] if promise.cpu else []
    for number, card in enumerate(promise.gpus):
        address = f"0000:{number + 1:02x}:00.0"
        facts.append(
            SeenDevice(
                address=address, name=card.name, kind="gpu", running=card.link, numa=card.numa
            )
        )
        facts.append(
            SeenGpu(
                address=address, name=card.name, reachable=card.link, running=replace(card.link, generation=1),
                power_limit_w=card.cap_w, power_default_w=card.cap_w, memory_mib=(card.memory_gib or 0) * 1020 or None,
            )
        )  # fmt: skip
        if card.nvlinks:
            facts.append(SeenNvlink(number, card.name, card.nvlinks, card.nvlinks))
    for number, drive in enumerate(promise.drives):
        address = f"0000:{number + 0x60:02x}:00.0"
        facts.append(
            SeenDrive(device=f"nvme{number}n1", model=drive.name, bytes=int(drive.bytes or 0))
        )
        if drive.width is not None:
            facts.append(
                SeenDevice(
                    address=address, name="Maker Controller", kind="drive", running=drive.link
                )
            )
    for number, nic in enumerate(promise.nics):
        address = f"0000:{number + 0x80:02x}:00.0"
        facts.append(SeenDevice(address=address, name=nic.name, kind="network", running=nic.link))
    for _ in range(promise.modules or 0):
        share = (promise.memory_gib or 0) / (promise.modules or 1)
        facts.append(
            SeenModule(
                place="A",
                gib=share,
                running_mts=promise.memory_mts,
                rated_mts=promise.memory_mts,
                ecc=promise.ecc,
            )
        )
    if len(promise.matrix) > 1:
        facts.append(SeenMatrix(promise.matrix))
    for rate in promise.rates:
        if rate.job is None:
            facts.append(
                SeenRate(
                    program=rate.program,
                    metric=rate.metric,
                    value=rate.value,
                    unit=rate.unit,
                    gpus=rate.gpus,
                )
            )
    return facts


@pytest.fixture(scope="module")
def promises(catalog: Catalog) -> dict[str, Promise]:
    return {name: promise_of(assess(read_rig(path), catalog)) for name, path in SAMPLES.items()}


def test_every_sample_as_planned_keeps_its_promise(promises: dict[str, Promise]) -> None:
    for name, promise in promises.items():
        lines = differences(promise, tuple(as_planned(promise)))
        wrong = [line for line in lines if line.verdict in ("broken", "remark")]
        assert not wrong, (name, wrong)
        assert len([line for line in lines if line.verdict == "kept"]) >= 3 + len(promise.gpus)


def test_whatever_one_card_lacks_is_named(promises: dict[str, Promise]) -> None:
    """The last GPU of each sample: half its lanes, or gone; the slowest drive: half its lanes."""
    for name, promise in promises.items():
        facts = as_planned(promise)
        last = f"0000:{len(promise.gpus):02x}:00.0"
        width = promise.gpus[-1].width
        if width:
            narrow = [
                replace(fact, running=PcieLink(1, width // 2))
                if isinstance(fact, SeenGpu | SeenDevice) and fact.address == last
                else fact
                for fact in facts
            ]
            assert _broken(promise, narrow) == {"link-width"}, name
        gone = [fact for fact in facts if getattr(fact, "address", "") != last]
        if len(promise.gpus) > 1:
            assert _broken(promise, gone) == {"gpu-count"}, name


def _broken(promise: Promise, facts: list[Fact]) -> set[str]:
    return {line.code for line in differences(promise, tuple(facts)) if line.verdict == "broken"}


def test_samples_are_there() -> None:
    assert len(SAMPLES) >= 9 and all(isinstance(path, Path) for path in SAMPLES.values())


def test_of_several_nodes_each_is_accepted_by_itself(catalog: Catalog) -> None:
    rig = read_rig(SAMPLES["hgx-h100"])
    whole = promise_of(assess(rig, catalog))
    items = tuple(replace(item, quantity=2 * item.quantity) for item in rig.items)
    twice = promise_of(assess(replace(rig, items=items), catalog))
    assert len(twice.gpus) == len(whole.gpus) and [card.index for card in twice.gpus] == list(
        range(len(whole.gpus))
    )
    for field in ("matrix", "modules", "memory_gib", "sockets", "channels", "drives"):
        mine, one = getattr(twice, field), getattr(whole, field)
        assert (len(mine) == len(one)) if isinstance(one, tuple) else mine == one, field
    assert not _broken(twice, as_planned(whole))


DISPLAYED = (
    *("2x GTX 1080 Ti", "GTX 1050 Ti", "Core i7-8700K", "MSI Z370 GODLIKE GAMING"),
    *("--set", "role:GTX 1050 Ti=display"),
)


def test_a_card_for_the_monitors_is_promised_and_counted_by_the_driver(
    catalog: Catalog, tmp_path: Path
) -> None:
    """The driver lists it among the GPUs; jobs, matrix and rates are those of the others."""
    file = tmp_path / "three.rig"
    assert main(["new", *DISPLAYED, "-o", str(file)]) == 0
    promise = promise_of(assess(read_rig(file), catalog))
    (shown,) = promise.displays
    assert shown.name == "GeForce GTX 1050 Ti" and len(promise.gpus) == 2
    jobs = [fact for fact in as_planned(promise) if not isinstance(fact, SeenMatrix)]
    ahead = "0000:00:1b.0"  # below the other two: the driver counts it first
    card = [
        SeenDevice(address=ahead, name=shown.name, kind="gpu", running=shown.link),
        SeenGpu(address=ahead, name=shown.name, reachable=shown.link, running=shown.link,
                memory_mib=4040),
    ]  # fmt: skip
    cells = (("X", "SYS", "SYS"), ("SYS", "X", "PHB"), ("SYS", "PHB", "X"))
    whole = differences(promise, (*jobs, *card, SeenMatrix(cells)))
    assert [line for line in whole if line.verdict not in ("kept", "unseen")] == []
    assert any(line.code == "matrix" and line.verdict == "kept" for line in whole)
    without = differences(promise, tuple(jobs))
    broken = [line for line in without if line.verdict == "broken"]
    assert [(line.code, line.subject) for line in broken] == [("gpu-count", shown.name)]
