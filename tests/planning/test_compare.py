"""Rigs side by side."""

import csv
import io
import zipfile
from pathlib import Path

import pytest
from msgspec.structs import replace

from rigplanner.catalog.cloud import CloudInstance
from rigplanner.catalog.load import Catalog
from rigplanner.catalog.prices.exchange import ExchangeRates
from rigplanner.catalog.schema.parts import Price
from rigplanner.planning.compare import CompareRow, compare
from rigplanner.planning.renting import Hire
from rigplanner.report.comparison.content import comparison
from rigplanner.report.comparison.pdf import comparison_pdf
from rigplanner.report.comparison.workbook import comparison_workbook
from rigplanner.report.comparison.writers import FORMATS
from rigplanner.report.language import Words
from rigplanner.report.words.speed import BOUND_WORDS
from rigplanner.report.words.workloads import LIFT_WORDS
from rigplanner.rig.document import Site
from rigplanner.rig.files import read_rig
from rigplanner.rig.workload import Workload
from rigplanner.rules.assess import Assessment, assess


@pytest.fixture(scope="module")
def pair(samples: list[Path], catalog: Catalog) -> list[Assessment]:
    chosen = {path.stem: path for path in samples}
    return [assess(read_rig(chosen[stem]), catalog) for stem in ("gtx-1080-ti", "dual-rtx-3090")]


def _row(rows: tuple[CompareRow, ...], code: str) -> CompareRow:
    return next(row for row in rows if row.attribute.code == code)


def test_more_memory_and_less_power_are_better(pair: list[Assessment]) -> None:
    rows = compare(pair)
    assert _row(rows, "gpu_memory").best == (1,)
    assert _row(rows, "sustained").best == (0,)
    assert _row(rows, "gpus").best == ()


@pytest.mark.parametrize(
    ("code", "above", "words"), [("bound", "speed", BOUND_WORDS), ("lift", "bound", LIFT_WORDS)]
)
@pytest.mark.parametrize("form", ["table", "json", "markdown", "csv"])
def test_what_limits_a_speed_and_what_would_lift_it_stand_below_it_in_words(
    pair: list[Assessment], code: str, above: str, words: Words, form: str
) -> None:
    rows = compare(pair)
    text = FORMATS[form](comparison(("a", "b"), rows))
    found = [n for n, row in enumerate(rows) if row.attribute.code == code]
    assert len(found) == sum(row.attribute.code == "speed" for row in rows) > 0
    for n in found:
        assert rows[n - 1].attribute.code == above and rows[n - 1].subject == rows[n].subject
        assert any(rows[n].values) and all(
            words[str(value)] in text for value in rows[n].values if value is not None
        )


def test_what_is_not_known_to_limit_a_speed_says_nothing_of_what_would_lift_it(
    pair: list[Assessment],
) -> None:
    row = replace(_row(compare(pair), "lift"), values=(None, "more-memory"))
    cells = comparison(("a", "b"), (row,)).lines[0].cells
    assert [cell.value for cell in cells] == ["unknown", LIFT_WORDS["more-memory"]]


def test_deltas_refer_to_the_baseline(pair: list[Assessment]) -> None:
    memory = _row(compare(pair, baseline=1), "gpu_memory")
    assert memory.deltas[1] == 0
    assert memory.deltas[0] == pytest.approx(memory.values[0] / memory.values[1] - 1)


def _hired(work: Workload, own: int, metric: str) -> tuple[Hire, ...]:
    rents = {"slow": (1.0, 100.0), "fast": (3.0, 400.0)}
    return tuple(
        Hire(
            machine=CloudInstance(
                id=f"runpod.{name}",
                provider="runpod",
                name=name,
                gpu_name="H100",
                count=1,
                link="none",
            ),
            rent=Price(amount=rent, currency="USD", day="2026-05-01", source="price list"),
            speed=speed,
            spot=Price(amount=rent / 2, currency="USD", day="2026-06-01", source="price list"),
        )
        for name, (rent, speed) in rents.items()
    )


def test_work_is_compared_with_the_least_expensive_hire(
    pair: list[Assessment], catalog: Catalog
) -> None:
    whole = replace(pair[0].totals, unpriced=(), foreign=(), currency="USD", total=3000.0)
    dear = replace(pair[0], totals=replace(whole, total=9000.0))
    rows = compare([replace(pair[0], totals=whole), dear], hires=_hired)
    assert not [
        row
        for row in compare([replace(pair[0], totals=whole), dear])
        if row.attribute.code.startswith("hire")
    ]
    speed = _row(rows, "speed")
    assert isinstance(speed.values[0], float)
    hire, cost, spot, after = (
        _row(rows, code) for code in ("hire", "hire_cost", "hire_spot", "hire_after")
    )
    assert hire.values == ("runpod fast", "runpod fast")
    assert cost.values[0] == pytest.approx(3.0 * speed.values[0] / 400)
    assert spot.values[0] == pytest.approx(1.5 * speed.values[0] / 400)
    assert (cost.days[0], spot.days[0]) == ("2026-05-01", "2026-06-01")
    assert after.values[0] == pytest.approx(3000 / (3.0 * speed.values[0] / 400))
    assert after.values[1] == pytest.approx(3 * after.values[0])  # type: ignore[operator]
    text = FORMATS["table"](comparison(["one", "two"], rows))
    assert "RunPod fast" in text
    assert "$" in next(line for line in text.splitlines() if "Same work rented" in line)
    assert "1 Jun 2026" in next(line for line in text.splitlines() if "at its spot price" in line)
    without = compare(
        [replace(pair[0], totals=whole), dear],
        hires=lambda *of: tuple(replace(h, spot=None) for h in _hired(*of)),
    )
    assert not [row for row in without if row.attribute.code == "hire_spot"]


def test_a_rig_without_a_whole_price_is_compared_with_no_hire(pair: list[Assessment]) -> None:
    partly = [replace(a, totals=replace(a.totals, unpriced=("gpu",))) for a in pair]
    assert not [
        row for row in compare(partly, hires=_hired) if row.attribute.code.startswith("hire")
    ]


def test_other_money_is_counted_by_the_rates_of_the_rig(pair: list[Assessment]) -> None:
    rates = ExchangeRates(day="2026-10-09", source="bank", rates={"USD": 1.25})
    tariff = Price(amount=0.40, currency="EUR", day="2026-01-01", source="contract")
    site = Site(energy_per_kwh=tariff, hours_per_day=24.0, volts=230.0, breaker_a=16.0)
    dollars = replace(
        pair[0],
        totals=replace(pair[0].totals, currency="USD", total=1000.0, unpriced=(), foreign=()),
    )
    euros = replace(
        pair[0],
        totals=replace(dollars.totals, currency="EUR"),
        rig=replace(pair[0].rig, currency="EUR", exchange=rates, site=site),
    )
    rows = compare([dollars, euros])
    total = _row(rows, "total")
    assert total.attribute.unit == "USD"
    assert total.values == (1000.0, pytest.approx(1250.0))
    speed = _row(rows, "speed_per_1000")
    assert speed.values[0] == pytest.approx(1.25 * speed.values[1])  # type: ignore[operator]
    year = _row(rows, "energy_year").values[1]
    assert isinstance(year, float)
    assert year == pytest.approx(_row(compare([euros, euros]), "energy_year").values[1] * 1.25)
    unknown = replace(euros, rig=replace(euros.rig, exchange=None))
    assert not [row for row in compare([dollars, unknown]) if row.attribute.group == "money"]


def test_a_hire_that_the_site_names_is_compared_too(pair: list[Assessment]) -> None:
    hour = Price(amount=3.60, currency="USD", day="2026-05-01", source="own offer")
    month = replace(hour, amount=70.0)
    whole = replace(pair[0].totals, unpriced=(), foreign=(), currency="USD", total=8500.0)
    site = Site(hire_per_hour=hour, hire_per_month=month)
    named = replace(pair[0], totals=whole, rig=replace(pair[0].rig, site=site))
    rows = [
        row
        for row in compare([named, replace(named, totals=replace(whole, total=17000.0))])
        if row.attribute.code == "own_hire"
    ]
    assert [round(row.values[0]) for row in rows] == [2361, 121]  # type: ignore[arg-type]
    assert [row.best for row in rows] == [(0,), (0,)]
    assert "121 months" in FORMATS["table"](comparison(["one", "two"], rows)).replace("\u202f", " ")


def test_a_rig_equals_itself(pair: list[Assessment]) -> None:
    rows = compare([pair[0], pair[0]])
    assert not any(row.differs for row in rows)
    assert not any(row.best for row in rows)
    assert comparison(["a", "b"], rows, only_differences=True).rows == ()


def test_predictions_whose_intervals_overlap_are_both_ahead(pair: list[Assessment]) -> None:
    job = pair[0].jobs[0]
    assert job.speed is not None
    slower = replace(job.speed, value=job.speed.value * 0.99)
    other = replace(pair[0], jobs=(replace(job, speed=slower), *pair[0].jobs[1:]))
    row = next(
        row for row in compare([pair[0], other]) if row.attribute.code == "speed" and row.lows
    )
    assert row.best == (0, 1)


@pytest.mark.parametrize("form", sorted(FORMATS))
def test_every_form_names_rigs_and_attributes(pair: list[Assessment], form: str) -> None:
    text = FORMATS[form](comparison(["one", "two"], compare(pair)))
    assert "one" in text
    assert "GPU memory" in text


def test_the_comparison_prints_the_same_again(pair: list[Assessment]) -> None:
    made = comparison(["one", "<b>two"], compare(pair))
    first = comparison_pdf(made)
    assert first.startswith(b"%PDF-")
    assert first == comparison_pdf(made)


def test_a_workload_of_one_rig_is_predicted_on_the_others(pair: list[Assessment]) -> None:
    rows = [row for row in compare(pair) if row.attribute.code == "speed"]
    assert len(rows) == len(pair[0].jobs) + len(pair[1].jobs)
    known = [row.values for row in rows if row.subject == "ResNet-50 training"]
    assert all(isinstance(value, float) for value in known[0])


def test_what_does_not_fit_has_no_speed(samples: list[Path], catalog: Catalog) -> None:
    chosen = {path.stem: path for path in samples}
    made = [assess(read_rig(chosen[stem]), catalog) for stem in ("quad-rtx-4090", "rtx-5090")]
    rows = {
        row.attribute.code: row for row in compare(made) if row.subject == "Llama 3.1 70B, 4 bit"
    }
    assert rows["fits"].values == ("fits", "does not fit")
    assert rows["speed"].values[0] and rows["speed"].values[1] is None


def test_a_total_without_all_prices_is_a_lower_bound(pair: list[Assessment]) -> None:
    partly = [replace(pair[0], totals=replace(pair[0].totals, unpriced=("x",))), pair[1]]
    row = _row(compare(partly), "total")
    assert 0 in row.partial and row.deltas[0] is None and 0 not in row.best
    text = FORMATS["table"](comparison(["one", "two"], compare(partly)))
    assert "at least" in text


def test_the_costs_of_years_need_hours_and_a_tariff(pair: list[Assessment]) -> None:
    assert not [row for row in compare(pair) if row.attribute.code == "energy_year"]
    site = replace(
        pair[0].rig.site,
        hours_per_day=8.0,
        energy_per_kwh=Price(amount=0.25, currency="USD", day="2026-11-21", source="bill"),
    )
    costed = [replace(pair[0], rig=replace(pair[0].rig, site=site)), pair[1]]
    year, three = (_row(compare(costed), code) for code in ("energy_year", "three_years"))
    wall = pair[0].machine.power.wall_w
    assert wall and year.values[0] == pytest.approx(wall / 1000 * 8 * 365 * 0.25)
    assert year.values[1] is None
    assert three.values[0] == pytest.approx(pair[0].totals.total + 3 * year.values[0])


def test_a_workbook_holds_numbers_and_intervals(pair: list[Assessment]) -> None:
    made = comparison_workbook(["=one", "two"], compare(pair))
    assert made == comparison_workbook(["=one", "two"], compare(pair))
    with zipfile.ZipFile(io.BytesIO(made)) as book:
        sheet = book.read("xl/worksheets/sheet1.xml").decode()
    assert "<f>" not in sheet and "=one" in sheet and "GPU memory" in sheet


def test_a_comparison_leaves_as_numbers_with_unit_and_day(pair: list[Assessment]) -> None:
    rows = compare(pair)
    read = list(csv.DictReader(FORMATS["csv"](comparison(["=one", "two"], rows)).splitlines()))
    assert len(read) == len(rows)
    for row, cells in zip(rows, read, strict=True):
        assert cells["Unit"] == row.attribute.unit
        for name, value in zip(("'=one", "two"), row.values, strict=True):
            if isinstance(value, int | float):
                assert float(cells[name]) == value
    speed = next(n for n, row in enumerate(rows) if row.attribute.code == "speed")
    assert float(read[speed]["two, low"]) == rows[speed].lows[1]
