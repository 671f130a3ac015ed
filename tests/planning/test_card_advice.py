"""Advice on cards: classes, what they lack, what does the same for less, how prices moved."""

import pytest
from msgspec.structs import replace

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import GPU, Price
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.planning.map.advice import advice, class_of, lacks
from rigplanner.planning.map.cards import Money
from rigplanner.planning.map.rank import Answer, Row, answer
from rigplanner.report.map.advice import lines
from rigplanner.rig.workload import Workload


def row(gpu: GPU, score: float, cost: float | None, count: int = 1) -> Row:
    return Row(gpu=gpu.id, id=gpu.id, name=gpu.name, count=count, fit="fits",
               answers=(Answer(fit="fits"),), score=score, cost=cost)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("RTX 4090", "game"), ("GTX 1080", "game"), ("RX 7900 XTX", "game"), ("Titan V", "titan"),
        ("GTX TITAN Black", "titan"), ("Quadro M4000", "workstation"), ("RTX 6000 Ada", "workstation"),
        ("RTX PRO 6000 Blackwell", "workstation"), ("Tesla K80", "server"), ("A100 SXM4 80GB", "server"),
        ("L40", "server"), ("RTX 4090 Laptop", "laptop"), ("DGX Spark", "computer"),
    ],
)  # fmt: skip
def test_each_card_is_of_one_class(name: str, kind: str) -> None:
    assert class_of(find_gpu(name)) == kind


def test_what_a_card_lacks_is_read_from_its_figures() -> None:
    known = {name: {each.code: each.share for each in lacks(find_gpu(name))} for name in
             ("GTX 1080", "Tesla P100 PCIe 16GB", "RTX 4090", "A100 PCIe 80GB", "GTX TITAN Black")}  # fmt: skip
    assert known["GTX 1080"]["fp16-slow"] == pytest.approx(1 / 64, rel=0.01)
    assert known["GTX 1080"]["fp64-slow"] == pytest.approx(1 / 32, rel=0.01)
    assert {"ecc", "driver", "bf16"} <= set(known["GTX 1080"])
    assert set(known["Tesla P100 PCIe 16GB"]) == {"bf16", "fan", "driver"}
    assert set(known["RTX 4090"]) == {"fp64-slow", "p2p"}
    assert set(known["A100 PCIe 80GB"]) == {"fan"}
    assert "fp16" in known["GTX TITAN Black"] and "fp64-slow" not in known["GTX TITAN Black"]
    assert lacks(replace(find_gpu("RTX 4090"), p2p=None, ecc=None, dense_tflops=type(
        find_gpu("RTX 4090").dense_tflops)())) == ()  # fmt: skip


def test_a_card_for_games_that_does_it_for_less_is_named(catalog: Catalog) -> None:
    quadro, game, slow = find_gpu("Quadro M4000"), find_gpu("RTX 4090"), find_gpu("GTX 1080")
    rows = [row(game, 90, 2500), row(quadro, 50, 2800), row(slow, 40, 500)]
    found = advice(rows[1], rows, catalog, Money())
    assert found is not None and found.cheaper is rows[0] and found.saves == 300
    said = " ".join(lines(found, "USD"))
    assert "a workstation card" in said and "1 × GeForce RTX 4090 does this work" in said
    assert advice(rows[0], rows, catalog, Money()).cheaper is None  # type: ignore[union-attr]
    assert advice(row(quadro, 95, 2800), rows, catalog, Money()).cheaper is None
    assert advice(row(quadro, 50, 1000), rows, catalog, Money()).cheaper is None
    assert advice(replace(rows[0], kind="hire"), rows, catalog, Money()) is None


def test_prices_that_moved_say_since_when(catalog: Catalog) -> None:
    def priced(*days: tuple[str, float]) -> GPU:
        prices = tuple(Price(amount=a, currency="USD", day=d, source="x") for d, a in days)
        return replace(find_gpu("RTX 4090"), id="x.y.z", chip=None, prices=prices)

    def trend(gpu: GPU) -> float | None:
        own = replace(catalog, parts={gpu.id: gpu})
        found = advice(row(gpu, 1, 1), [], own, Money())
        assert found is not None
        return found.trend.change if found.trend else None

    assert trend(priced(("2026-01-01", 1000), ("2026-09-01", 1500))) == pytest.approx(0.5)
    assert trend(priced(("2026-01-01", 1000), ("2026-09-01", 800))) == pytest.approx(-0.2)
    assert trend(priced(("2026-08-01", 1000), ("2026-09-01", 1500))) is None
    assert trend(priced(("2026-01-01", 1000), ("2026-09-01", 1020))) is None
    assert trend(priced(("2026-01-01", 1000))) is None


def test_work_in_fp64_is_told_to_convert_or_named_a_card_with_units_for_it(
    catalog: Catalog,
) -> None:
    work = Workload(model="matrix", precision="fp64")
    full, few = find_gpu("Titan V"), find_gpu("Titan X (Pascal)")
    rows = [
        replace(row(gpu, score, 2000), answers=(answer(work, gpu, 1, shipped_zoo()),))
        for gpu, score in ((full, 6.5), (few, 0.3))
    ]
    told, other = (advice(each, rows, catalog, Money()) for each in rows)
    assert told is not None and other is not None
    assert told.fp32_gain == pytest.approx(2, rel=0.05) and told.full is None
    assert other.fp32_gain == pytest.approx(32, rel=0.05) and other.full is rows[0]
    assert "for which it has units" in " ".join(lines(told, "USD"))
    said = " ".join(lines(other, "USD"))
    assert "Convert to float32 first" in said and "1 × NVIDIA TITAN V does most of it" in said
