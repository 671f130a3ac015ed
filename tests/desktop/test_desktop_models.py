"""The catalog table, the build list and the comparison as Qt models."""

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt

from rigplanner.catalog.find.find import PartIndex, index_of
from rigplanner.catalog.schema.parts import GPU, KINDS
from rigplanner.desktop.compare.view import CompareModel
from rigplanner.desktop.parts.build_list import in_sentence
from rigplanner.desktop.parts.build_model import BuildModel, BuildRow, build_rows
from rigplanner.desktop.parts.columns import COLUMNS, FACETS, sources_of
from rigplanner.desktop.parts.model import FIT, NAME, Fit, PartsModel, Wish
from rigplanner.report.language import tr, use_language
from rigplanner.rig.edits import Edit
from rigplanner.rig.files import read_rig


def part(name: str, memory_gib: float | None, vendor: str = "NVIDIA") -> GPU:
    return GPU(
        id=f"x.{name.lower().replace(' ', '-')}",
        name=name,
        vendor=vendor,
        form_factor="pcie",
        memory_gib=memory_gib,
    )


@pytest.fixture
def model(qapp) -> PartsModel:
    parts = [
        part("Alpha 10", 24),
        part("Beta 20", None),
        part("Gamma 10 Big", 8, "AMD"),
        part("Delta", 80),
    ]
    made = PartsModel(PartIndex(parts).find, "USD", "2026-11-21")
    made.show("gpu", Wish())
    return made


def names(model) -> list[str]:
    return [model.index(row, NAME).data() for row in range(model.rowCount())]


def test_parts_model_keeps_qts_rules(model, qtmodeltester):
    qtmodeltester.check(model)
    model.show("gpu", Wish(words="10"))
    model.sort(2, Qt.SortOrder.DescendingOrder)
    model.set_fits({"x.alpha-10": Fit("fits")})
    qtmodeltester.check(model)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_the_catalog_shows(qapp, catalog, kind):
    model = PartsModel(index_of(catalog).find, "USD", "2026-11-21")
    model.show(kind, Wish())
    assert model.rowCount() == len(catalog.of_kind(kind))
    for row in range(model.rowCount()):
        assert all(isinstance(model.index(row, n).data(), str) for n in range(model.columnCount()))
    for column in range(model.columnCount()):
        model.sort(column)
    assert FACETS[kind][0].title == "Vendor"


@pytest.mark.parametrize("kind", KINDS)
def test_columns_name_fields_that_exist(kind):
    for column in COLUMNS[kind]:
        assert column.field.split(".")[0] in KINDS[kind].__struct_fields__, column.field


def test_a_figure_names_the_source_that_settled_it():
    sourced = GPU(
        id="x.y.z",
        name="Y",
        vendor="X",
        form_factor="pcie",
        sources={"all": ("*",), "one": ("memory_gib", "tdp_w")},
    )
    assert sources_of(sourced, "memory_gib") == ["one"]
    assert sources_of(sourced, "length_mm") == ["all"]
    assert sources_of(part("Bare", 1), "memory_gib") == []


def test_words_filter_in_any_order(model):
    model.show("gpu", Wish(words="big gamma"))
    assert names(model) == ["Gamma 10 Big"]
    model.show("gpu", Wish(words="nothing like it"))
    assert names(model) == []


def test_facets_count_and_narrow(model):
    assert model.facet_counts("Vendor") == [("NVIDIA", 3), ("AMD", 1)]
    model.show("gpu", Wish(facets={"Vendor": "AMD"}))
    assert names(model) == ["Gamma 10 Big"]


def test_unknown_values_sort_last_both_ways(model):
    model.sort(2, Qt.SortOrder.AscendingOrder)
    assert names(model) == ["Gamma 10 Big", "Alpha 10", "Delta", "Beta 20"]
    model.sort(2, Qt.SortOrder.DescendingOrder)
    assert names(model) == ["Delta", "Alpha 10", "Gamma 10 Big", "Beta 20"]
    assert model.index(3, 2).data() == "?"


def test_only_what_fits_hides_what_does_not(model):
    model.show("gpu", Wish(fitting=True))
    model.set_fits(
        {
            "x.alpha-10": Fit("fits"),
            "x.beta-20": Fit("error"),
            "x.delta": Fit("unknown"),
            "x.gamma-10-big": Fit("warning"),
        }
    )
    assert names(model) == ["Alpha 10", "Gamma 10 Big"]
    model.forget_fits()
    assert (names(model), model.fit_of("x.alpha-10")) == (["Alpha 10", "Gamma 10 Big"], None)
    model.set_fits({"x.delta": Fit("fits")})
    assert names(model) == ["Alpha 10", "Delta", "Gamma 10 Big"]


def test_badges_have_icon_and_word(model):
    model.set_fits({"x.alpha-10": Fit("error")})
    cell = model.index(0, FIT)
    assert cell.data() == "does not fit"
    assert not cell.data(Qt.ItemDataRole.DecorationRole).isNull()


def test_favourites_filter(model):
    model.favourites = frozenset({"x.delta"})
    model.show("gpu", Wish(favourites=True))
    assert names(model) == ["Delta"]


def test_build_model_keeps_qts_rules(qapp, qtmodeltester):
    model = BuildModel()
    model.show([BuildRow(kind="gpu", uid="gpu", name="A"), BuildRow(kind="cpu")])
    qtmodeltester.check(model)
    model.show([BuildRow(kind="gpu", uid="gpu", name="B"), BuildRow(kind="cpu")])
    assert model.index(0).data() == "B"
    assert model.index(1).data() == "Choose CPU"


@pytest.mark.parametrize(
    ("code", "words"),
    [("en", "Choose a cooler"), ("cs", "Vybrat: chladič"), ("zh_TW", "選擇散熱器")],
)
def test_a_part_that_is_still_to_be_chosen_has_an_article_in_english_only(qapp, code, words):
    use_language(code)
    try:
        assert tr("Choose {kind}", kind=in_sentence("cooler")) == words
    finally:
        use_language("en")


def test_memory_that_a_system_has_on_board_is_not_to_be_chosen(session, sample_folder):
    for name, asked in (("jetson-agx-orin", False), ("dgx-1-v100", True)):
        rig = read_rig(sample_folder / f"{name}.rig")
        session.start_rig(
            replace(
                rig, items=tuple(item for item in rig.items if item.uid not in ("memory", "ram"))
            )
        )
        assert ("memory" in [row.kind for row in build_rows(session) if row.uid is None]) == asked


def test_build_rows_name_what_is_missing_and_spare_what_a_system_brings(session, sample_folder):
    session.start_rig(session.rig)
    assert [row.kind for row in build_rows(session) if row.uid is None][:3] == [
        "gpu",
        "cpu",
        "motherboard",
    ]
    session.open(sample_folder / "dgx-1-v100.rig", sample=True)
    session.assess_now(session.rig)
    assert [row.kind for row in build_rows(session) if row.uid is None] == []


def test_build_rows_say_quantity_place_and_verdict(session, sample_folder):
    session.open(sample_folder / "quad-rtx-4090.rig", sample=True)
    session.assess_now(session.rig)
    row = next(row for row in build_rows(session) if row.kind == "gpu")
    assert row.title.startswith("4 × ")
    assert row.places.count(",") == 3
    session.edit("Price", Edit("set_quantity", {"uid": "gpu", "quantity": 2}))
    assert next(row for row in build_rows(session) if row.kind == "gpu").title.startswith("2 × ")


def test_compare_model_keeps_qts_rules(qapp, session, sample_folder, qtmodeltester):
    from rigplanner.planning.compare import compare
    from rigplanner.rig.files import read_rig

    made = [
        session.assess_now(read_rig(sample_folder / name))
        for name in ("dual-rtx-3090.rig", "rtx-5090.rig")
    ]
    model = CompareModel()
    model.show(("A", "B"), compare(made), 0)
    qtmodeltester.check(model)
    assert model.columnCount() == 3
    texts = [model.index(row, 2).data() for row in range(model.rowCount())]
    assert any("%" in text for text in texts if text)
    assert model.index(0, 0).data() == "Verdict"
