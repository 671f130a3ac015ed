"""`rigplanner best`: text, JSON, certificate, several budgets, bad input."""

import json
import re
from datetime import date
from pathlib import Path

import pytest
from msgspec.structs import replace

from rigplanner.catalog.load import Catalog, shipped_catalog
from rigplanner.cli.commands import best
from rigplanner.cli.main import main
from rigplanner.planning.best.answer import Seeker
from rigplanner.planning.best.proof import proof_of
from rigplanner.report.quote.content import quote_content
from rigplanner.rig.edits import set_quantity
from rigplanner.rig.files import read_rig
from rigplanner.rules.assess import assess
from tools.campaign.small_catalogs import TODAY, random_case

KEPT = (
    "nvidia.geforce.rtx-4090", "nvidia.geforce.rtx-5070-ti", "nvidia.geforce.rtx-3090",
    "msi.pro.b550m-pro-vdh-wifi", "amd.ryzen.5-5600g", "amd.ryzen.7-5700x",
    "corsair.vengeance-lpx.cmk32gx4m2b3200c16", "teamgroup.mp44l.1-tb",
    "cooler-master.masterbox.q300l", "cooler-master.mwe-gold.850-v2",
    "thermalright.peerless-assassin.peerless-assassin-120-se", "antec.c8.c8",
)  # fmt: skip
WORK = "llama-3.1-8b task=train_qlora batch_per_gpu=1 seq_len=2048 gradient_checkpointing=full"


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    shipped = shipped_catalog()
    parts = {key: shipped.parts[key] for key in KEPT}
    small: Catalog = replace(shipped, parts=parts)
    monkeypatch.setattr(best, "open_catalog", lambda: small)


def test_a_search_without_time_does_not_say_that_there_is_no_rig(
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = ["best", WORK, "--budget", "4500", "--country", "US", "--used"]
    assert main([*asked, "--seconds", "0"]) == 1
    said = capsys.readouterr().out
    assert "there may be one" in said and "No rig" not in said


def test_the_answer_names_proof_parts_rivals_and_what_is_outside(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    made, proof = tmp_path / "best.rig", tmp_path / "proof.json"
    asked = ["best", WORK, "--budget", "4500", "--country", "US", "--used"]
    assert main([*asked, "-o", str(made), "--save", str(proof)]) == 0
    said = capsys.readouterr().out
    assert "Proven best of" in said and "rigs at these prices" in said
    assert "RTX 4090" in said and "Why not the others" in said and "Not in the search" in said
    assert "Rent " in said
    assert "6 cores, cards at PCIe 3.0 x16" in said
    assert re.search(r"is left: on a circuit of 120\s?V and 15\s?A", said)
    assert re.search(r"\$\S+ today by the price index \(\$\S+ each on", said)
    counted = next(line for line in said.splitlines() if "whole families" in line)
    assert "too dear" in counted and "no board has the slots" in counted
    assert not re.search(r"not-predicted|no-case|relation|[A-Z]{3}\d{3}", counted)
    rig = read_rig(made)
    kept = proof_of(rig)
    assert kept is not None and int(kept.rigs) > 1000 and kept.gap is None
    assert proof_of(set_quantity(rig, uid="gpu", quantity=2)) is None
    assert main(["best", "--verify", str(proof)]) == 0
    assert "holds" in capsys.readouterr().out
    told = json.loads(proof.read_bytes())
    told["total"] += 1
    proof.write_text(json.dumps(told))
    assert main(["best", "--verify", str(proof)]) == 1
    assert "does not hold" in capsys.readouterr().out


def test_used_parts_are_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["best", WORK, "--used", "--json", "--objective", "cheapest"]) == 0
    used = json.loads(capsys.readouterr().out)
    assert main(["best", WORK, "--json", "--objective", "cheapest"]) == 0
    new = json.loads(capsys.readouterr().out)
    conditions = {item["condition"] for item in used["best"]["items"]}
    assert "used" in conditions
    assert "used" not in {item["condition"] for item in new["best"]["items"]}
    assert used["best"]["price"] < new["best"]["price"] and used["proven"]


def test_a_front_is_faster_for_more_money_and_budgets_make_a_table(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["best", WORK, "--used", "--front", "--json", "--budget", "6000"]) == 0
    points = [each["best"] for each in json.loads(capsys.readouterr().out)]
    prices = [point["price"] for point in points]
    speeds = [point["speeds"][0]["value"] for point in points]
    assert len(points) >= 2 and prices == sorted(prices) and speeds == sorted(speeds)
    assert main(["best", WORK, "--used", "--budget", "900,2500,6000"]) == 0
    said = capsys.readouterr().out
    assert said.count("$") >= 3 and "No rig up to $900" in said


def test_a_kept_part_costs_what_selling_it_would_bring(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    made = tmp_path / "old.rig"
    assert main(["best", WORK, "--budget", "2300", "--used", "-o", str(made)]) == 0
    capsys.readouterr()
    asked = ["best", WORK, "--rig", str(made), "--budget", "3500", "--used"]
    assert main(asked) == 0
    said = capsys.readouterr().out
    assert "RTX 4090" in said and "Sell 1 × GeForce RTX 3090" in said


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        (["--budget", "0"], "--budget"),
        (["--budget", "1,x"], "--budget"),
        (["--currency", "XXX"], "--rate"),
        (["--country", "ZZ"], "--country"),
        (["--growth", "9"], "--growth"),
        (["--pin", "no such part anywhere"], "--pin"),
        (["--rate", "USD"], "--rate"),
        (["--own", "no such part anywhere"], "--own"),
        (["--circuit", "strong"], "--circuit"),
        (["--price-age", "-1"], "--price-age"),
    ],
)
def test_bad_input_is_named(
    words: list[str], cause: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["best", WORK, *words]) == 2
    assert cause in capsys.readouterr().err


def test_where_nothing_does_it_the_least_change_is_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["best", WORK, "--budget", "900"]) == 1
    assert "With a larger budget it is possible from" in capsys.readouterr().out
    assert main(["best", f"{WORK} min=999999"]) == 1
    assert "Without the least speeds it is possible from" in capsys.readouterr().out


def test_what_is_owned_costs_nothing_and_so_many_cards_may_be_asked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = ["best", WORK, "--used", "--json", "--objective", "cheapest"]
    assert main([*asked, "--pin", "RTX 3090"]) == 0
    bought = json.loads(capsys.readouterr().out)["best"]
    assert main([*asked, "--pin", "RTX 3090", "--own", "2x RTX 3090"]) == 0
    owned = json.loads(capsys.readouterr().out)["best"]
    assert owned["price"] < bought["price"] - 500
    asked.remove("--json")
    assert main([*asked, "--pin", "RTX 3090", "--own", "2x RTX 3090"]) == 0
    assert re.search(r"RTX 3090   \(owned\)", capsys.readouterr().out)
    assert main([*asked, "--json", "--pin", "8x RTX 3090"]) == 1
    assert json.loads(capsys.readouterr().out)["best"] is None


def test_cards_that_people_name_and_machines_with_one_memory_say_why_they_lost(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["best", WORK, "--budget", "4500", "--country", "US", "--used"]) == 0
    said = capsys.readouterr().out.split("Why not the others")[1]
    assert re.search(r"RTX 3090, used: \$", said) and "rtx-5090: " in said


def test_a_rate_by_hand_counts_other_money(capsys: pytest.CaptureFixture[str]) -> None:
    def cheapest(rate: str) -> float:
        asked = ["best", WORK, "--currency", "NOK", "--rate", rate, "--json", "--used"]
        assert main([*asked, "--objective", "cheapest"]) == 0
        price: float = json.loads(capsys.readouterr().out)["best"]["price"]
        return price

    # No part has a price in this money: all that counts goes by way of the rate.
    assert cheapest("USD=20") == pytest.approx(2 * cheapest("USD=10"), rel=1e-4)


def test_the_quote_tells_what_was_proven_until_the_rig_changes(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    made = tmp_path / "best.rig"
    assert main(["best", WORK, "--budget", "4500", "--used", "-o", str(made)]) == 0
    capsys.readouterr()
    rig = read_rig(made)
    before = quote_content(assess(rig, shipped_catalog()), shipped_catalog(), date(2026, 11, 23))
    assert "Proven best of" in before.verdict_text
    other = set_quantity(rig, uid="memory", quantity=2)
    after = quote_content(assess(other, shipped_catalog()), shipped_catalog(), date(2026, 11, 23))
    assert "Proven" not in after.verdict_text


def test_a_table_of_budgets_marks_rigs_that_are_not_sound() -> None:
    catalog, question = random_case(7)
    seekers = [Seeker(question, catalog, TODAY)]
    answer = best._laddered(6000.0, seekers)
    assert answer.best is not None and answer.strictness == "open" and len(seekers) == 4
    assert best._line(answer, seekers[-1], False).endswith(" *")
    few = best._laddered(10.0, seekers)
    assert few.best is None and len(seekers) == 4


def test_a_surely_faster_rig_of_tight_memory_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["best", WORK, "--budget", "2500", "--used"]
    assert main(asked) == 0
    said = capsys.readouterr().out
    assert "Where memory may be tight (--tight): " in said and "RTX 5070 Ti" in said
    main([*asked, "--tight"])
    assert "Where memory may be tight" not in capsys.readouterr().out
