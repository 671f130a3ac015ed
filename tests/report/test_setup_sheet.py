"""The set-up sheet and the alternatives offered."""

from datetime import date
from pathlib import Path

import pytest
from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.report.quote.content import quote_content
from rigplanner.report.quote.offered import alternatives_offered, price_text
from rigplanner.report.quote.setup_sheet import SetupRow, setup_rows
from rigplanner.rig.document import Item, Rig
from rigplanner.rig.edits import Edit, apply
from rigplanner.rig.files import read_rig
from rigplanner.rig.workload import Workload
from rigplanner.rules.assess import assess
from rigplanner.rules.software.tables import software

DAY = date(2026, 11, 21)


@pytest.fixture(scope="module")
def rigs(samples: list[Path]) -> dict[str, Rig]:
    return {path.stem: read_rig(path) for path in samples}


def _rows(rig: Rig, catalog: Catalog, area: str) -> dict[str, SetupRow]:
    return {row.what: row for row in setup_rows(assess(rig, catalog)) if row.area == area}


def test_every_loose_card_and_drive_has_its_place(rigs: dict[str, Rig], catalog: Catalog) -> None:
    made = assess(rigs["dual-rtx-3090"], catalog)
    places = ", ".join(row.value for row in setup_rows(made) if row.area == "placement")
    used = [use.slot.id for use in made.machine.slots if use.piece] + [
        use.port.id for use in made.machine.drives if use.pieces
    ]
    assert used and all(place in places for place in used)


def test_a_run_of_places_is_named_by_its_ends(rigs: dict[str, Rig], catalog: Catalog) -> None:
    rows = _rows(rigs["hgx-h100"], catalog, "placement")
    assert "NVME0 to NVME7" in {row.value for row in rows.values()}
    assert "M.2_1, M.2_2" in {row.value for row in rows.values()}


def test_built_in_parts_are_not_placed_by_the_owner(rigs: dict[str, Rig], catalog: Catalog) -> None:
    assert not any("V100" in what for what in _rows(rigs["dgx-1-v100"], catalog, "placement"))


def test_software_serves_the_oldest_gpu(rigs: dict[str, Rig], catalog: Catalog) -> None:
    pascal = _rows(rigs["gtx-1080-ti"], catalog, "software")
    assert pascal["PyTorch"].value.startswith("2.14, CUDA 12.6")
    assert pascal["PyTorch container"].value == "nvcr.io/nvidia/pytorch:24.12-py3"
    assert "19.03 to 24.12" in pascal["PyTorch container"].why
    assert pascal["CUDA toolkit"].value.endswith("12.9")
    blackwell = _rows(rigs["rtx-5090"], catalog, "software")
    assert blackwell["PyTorch"].value.startswith(software().newest_pytorch)
    assert blackwell["PyTorch container"].why.startswith(
        f"releases 25.01 to {software().newest_images['nvcr.io/nvidia/pytorch']}"
    )
    assert blackwell["TensorFlow container"].why.startswith("releases 25.01 to 25.02")


@pytest.mark.parametrize(
    ("work", "system", "lacking"),
    [
        (Workload(model="llama-3.1-8b", task="serve", stack="vllm"), "Linux, or WSL 2", ["vLLM"]),
        (Workload(model="resnet-50", task="train"), "Linux, or WSL 2", ["NCCL"]),
        (Workload(model="resnet-50", task="train", stack="tensorflow"), "Linux, or", ["Tensor"]),
        (Workload(model="llama-3.1-8b", task="inference", stack="llama.cpp"), "Linux or W", []),
    ],
)
def test_linux_or_windows_is_answered_by_the_work(
    work: Workload, system: str, lacking: list[str], rigs: dict[str, Rig], catalog: Catalog
) -> None:
    rig = replace(rigs["dual-rtx-3090"], workloads=(work,))
    row = _rows(rig, catalog, "software")["Operating system"]
    assert row.value.startswith(system)
    assert all(name in row.why for name in lacking)
    assert lacking or "no work here needs Linux" in row.why
    told = replace(rig, settings=replace(rig.settings, software={"os": "Windows 11"}))
    assert "Operating system" not in _rows(told, catalog, "software")


def test_versions_that_the_rig_names_are_kept(rigs: dict[str, Rig], catalog: Catalog) -> None:
    rig = rigs["gtx-1080-ti"]
    rig = replace(
        rig, settings=replace(rig.settings, software={"pytorch": "2.6.0+cu126", "driver": "560.35"})
    )
    rows = _rows(rig, catalog, "software")
    assert rows["PyTorch"].value == "2.6.0+cu126"
    assert rows["Driver"].value == "560.35"
    assert "NVIDIA driver" not in rows


def test_a_board_with_its_own_image_names_no_desktop_packages(
    rigs: dict[str, Rig], catalog: Catalog
) -> None:
    rows = _rows(rigs["jetson-agx-orin"], catalog, "software")
    assert "PyTorch" not in rows and "Operating system" not in rows
    assert "Driver, CUDA, frameworks" in rows


def test_a_laptop_runs_what_desktops_run(catalog: Catalog) -> None:
    laptop = Rig(items=(Item(uid="a", part="system76.bonobo.bonw15-rtx-4090"),))
    rows = _rows(laptop, catalog, "software")
    assert {"PyTorch", "NVIDIA driver", "PyTorch container"} <= rows.keys()


def test_many_cards_need_room_above_4_gb(rigs: dict[str, Rig], catalog: Catalog) -> None:
    assert _rows(rigs["titan-x-server"], catalog, "firmware")["Above 4G decoding"].value == "on"
    assert "Above 4G decoding" not in _rows(rigs["rtx-5090"], catalog, "firmware")
    assert "Resizable BAR" not in _rows(rigs["titan-x-server"], catalog, "firmware")


def test_a_bios_that_nobody_named_is_not_none(rigs: dict[str, Rig], catalog: Catalog) -> None:
    assert (
        _rows(rigs["quad-rtx-4090"], catalog, "firmware")["BIOS version"].value
        == "one that knows the CPU"
    )
    rows = [row for rig in rigs.values() for row in setup_rows(assess(rig, catalog))]
    assert not any("None" in f"{row.what} {row.value} {row.why}" for row in rows)


def test_a_power_cap_becomes_a_command(rigs: dict[str, Rig], catalog: Catalog) -> None:
    rig = rigs["quad-rtx-4090"]
    capped = replace(
        rig,
        items=tuple(
            replace(i, power_cap_w=280.0) if "rtx-4090" in i.part else i for i in rig.items
        ),
    )
    row = next(row for row in setup_rows(assess(capped, catalog)) if row.area == "power")
    assert row.what == "Limit of GPU 0, 1, 2, 3"
    assert "nvidia-smi -i 0,1,2,3 -pl 280" in row.why
    assert not _rows(rig, catalog, "power")


def test_an_empty_rig_has_nothing_to_set(catalog: Catalog) -> None:
    assert setup_rows(assess(Rig(), catalog)) == []


def test_an_alternative_does_what_it_says(rigs: dict[str, Rig], catalog: Catalog) -> None:
    made = assess(rigs["quad-rtx-4090"], catalog)
    fix = next(
        fix for finding in made.report.findings for fix in finding.fixes if fix.code == "cap-power"
    )
    offer = next(
        offer for offer in alternatives_offered(made, catalog) if "Limit each GPU" in offer.what
    )
    assert any("PWR012" in text for text in offer.solves)
    assert any(text.startswith("sustained load \u2212") for text in offer.changes)
    rig = made.rig
    for edit in fix.edits:
        rig = apply(rig, edit)
    assert "PWR012" not in {finding.code for finding in assess(rig, catalog).report.findings}


def test_an_alternative_that_brings_trouble_says_so(rigs: dict[str, Rig], catalog: Catalog) -> None:
    made = assess(rigs["deskmini-gtx-1070"], catalog)
    for offer in alternatives_offered(made, catalog):
        if "Limit each GPU" in offer.what:
            assert any("PWR014" in text for text in offer.brings)


def test_one_unpriced_part_for_another_is_no_gift(rigs: dict[str, Rig], catalog: Catalog) -> None:
    made = assess(rigs["dual-rtx-3090"], catalog)
    assert "bridge" in made.totals.unpriced
    offer = next(offer for offer in alternatives_offered(made, catalog) if "Bridge" in offer.what)
    assert offer.price == "price not known"


def test_an_edit_that_cannot_be_made_is_not_offered(rigs: dict[str, Rig], catalog: Catalog) -> None:
    made = assess(rigs["quad-rtx-4090"], catalog)
    broken = tuple(
        replace(
            f,
            fixes=tuple(
                replace(fix, edits=(Edit("remove_item", {"uid": "nobody"}),)) for fix in f.fixes
            ),
        )
        for f in made.report.findings
    )
    assert (
        alternatives_offered(replace(made, report=replace(made.report, findings=broken)), catalog)
        == []
    )


@pytest.mark.parametrize(
    ("amount", "words"),
    [(None, "price not known"), (0.0, "no charge"), (12.5, "+€12.50"), (-3.0, "\u2212€3.00")],
)
def test_prices_of_alternatives_are_honest(amount: float | None, words: str) -> None:
    assert price_text(amount, "EUR").startswith(words)


def test_setup_and_alternatives_stand_on_the_quote(rigs: dict[str, Rig], catalog: Catalog) -> None:
    quote = quote_content(assess(rigs["quad-rtx-4090"], catalog), catalog, DAY)
    assert {row.area for row in quote.setup} >= {"placement", "firmware", "software"}
    assert quote.offered
