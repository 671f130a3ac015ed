"""Prices, order and ranges of the catalog table."""

import pytest
from desktop_waiting import settled_session

from rigplanner.catalog.find.find import PartIndex
from rigplanner.catalog.load import shipped_catalog
from rigplanner.catalog.prices.exchange import ExchangeRates
from rigplanner.catalog.schema.parts import GPU, KINDS, Price
from rigplanner.desktop import documents
from rigplanner.desktop.document.tasks import Ticket
from rigplanner.desktop.parts.badges import badges
from rigplanner.desktop.parts.model import Fit, PartsModel, Wish
from rigplanner.desktop.window import Window
from rigplanner.rig.document import Rig

TODAY = "2026-11-23"
RATES = ExchangeRates(day="2026-11-20", source="a bank", rates={"USD": 1.25})


def card(name: str, price: Price | None = None, length_mm: float | None = None) -> GPU:
    return GPU(
        id=f"x.y.{name}",
        name=name,
        vendor="X",
        form_factor="pcie",
        memory_gib=24,
        length_mm=length_mm,
        prices=(price,) if price else (),
    )


def usd(amount: float, day: str = "2026-11-01", condition: str = "new") -> Price:
    return Price(
        amount=amount,
        currency="USD",
        day=day,
        source="a shop",
        condition=condition,  # type: ignore[arg-type]
    )


@pytest.fixture
def model(qapp) -> PartsModel:
    parts = [
        card("dear", usd(900), 300),
        card("cheap", usd(300, "2024-01-01", "used"), 250),
        card("euro", Price(amount=400, currency="EUR", day="2026-11-01", source="a shop"), 200),
        card("unpriced", None),
        card("yen", Price(amount=9, currency="JPY", day="2026-11-01", source="a shop")),
    ]
    made = PartsModel(PartIndex(parts).find, "USD", TODAY)
    made.set_currency("USD", RATES, 30)
    made.show("gpu", Wish())
    return made


def names(model: PartsModel) -> list[str]:
    return [part.name for part in model.parts]


def test_what_fits_comes_first_then_the_price(model: PartsModel) -> None:
    assert names(model)[:3] == ["cheap", "euro", "dear"]
    model.set_fits(
        {
            "x.y.dear": Fit("fits"),
            "x.y.cheap": Fit("error"),
            "x.y.euro": Fit("error", cure="psu"),
            "x.y.unpriced": Fit("fits"),
            "x.y.yen": Fit("unknown"),
        }
    )
    assert names(model)[:3] == ["cheap", "euro", "dear"], "no row moves while badges come"
    model.settle()
    assert names(model) == ["dear", "unpriced", "euro", "yen", "cheap"]
    model.sort(model.price_column)
    model.settle()
    assert names(model)[0] == "cheap", "a head that was clicked decides"


def test_all_prices_are_of_one_currency(model: PartsModel) -> None:
    def shown(name: str) -> str:
        cell = model.cells(names(model).index(name))[model.price_column]
        return cell.text.replace("\u202f", "")

    assert shown("euro") == "≈$500"
    assert shown("dear") == "$900"
    assert shown("yen") == "¥9", "no rate is known"
    model.set_currency("EUR", RATES, 30)
    assert (shown("euro"), shown("dear")) == ("€400", "≈€720")
    model.set_currency("VND", None, 30)
    assert (shown("euro"), shown("dear")) == ("≈$447", "$900"), "no source has a rate of VND"


def test_used_and_the_day_stand_in_the_row(model: PartsModel) -> None:
    cheap = model.cells(names(model).index("cheap"))[-1]
    assert (cheap.text.replace("\u202f", " "), cheap.tone) == ("used, 1 Jan 2024", "warns")
    assert model.cells(names(model).index("dear"))[-1].tone == "soft"


def test_ranges_keep_what_lies_between_and_drop_what_is_unknown(model: PartsModel) -> None:
    model.show("gpu", Wish(ranges={"Length": (250, None)}))
    assert sorted(names(model)) == ["cheap", "dear"]
    model.show("gpu", Wish(ranges={"Price": (400, 900), "Length": (None, 299)}))
    assert names(model) == ["euro"]


def test_the_installed_part_is_marked(model: PartsModel) -> None:
    model.mark(frozenset({"x.y.dear", "x.y.euro"}), "x.y.euro")
    marks = {part.name: model.cells(n)[:2] for n, part in enumerate(model.parts)}
    assert marks["euro"][0].text == "in the rig"
    assert marks["dear"][1].unit == "installed"
    assert not any(marks[name][1].unit for name in ("cheap", "unpriced", "yen", "euro"))


def test_the_price_is_never_hidden_whatever_kind_came_before(
    qtbot, window: Window, sample_folder
) -> None:
    documents.open_file(window, sample_folder / "dual-rtx-3090.rig", sample=True)
    settled_session(qtbot, window.session)
    table, model = window.parts.table, window.parts.model
    for kind in (*KINDS, *reversed(list(KINDS))):
        window.parts.show_kind(kind, "")
        assert not table.isColumnHidden(model.price_column), kind
        assert not table.isColumnHidden(0)
        assert not table.isColumnHidden(1)


def test_a_reference_is_offered_as_no_part() -> None:
    """Chips of clouds and phones are compared with; they fit no rig, however small."""
    catalog = shipped_catalog()
    listed = [part for part in catalog.of_kind("gpu") if part.status == "reference"][:3]
    found = dict(
        pair
        for made in badges(
            Rig(name="r"), catalog, "", listed, (), "2026-11-23", Ticket("badges", 1)
        )
        for pair in made.items()
    )
    assert {fit.verdict for fit in found.values()} == {"error"} and len(found) == 3
