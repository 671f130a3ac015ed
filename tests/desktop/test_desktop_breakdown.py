"""Every number opens its breakdown: gauges, total, compared values, by mouse and by keys."""

import pytest
from desktop_waiting import settled_session
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QPushButton, QTableWidget
from test_desktop_window import open_sample

from rigplanner.catalog.schema.parts import Price
from rigplanner.desktop.compare.reasons import compare_reason
from rigplanner.desktop.compare.view import has_steps
from rigplanner.desktop.panels.breakdown import show_breakdown
from rigplanner.desktop.panels.reasons import Reason, limit_reason, spot_step
from rigplanner.planning.compare import CompareRow, compare
from rigplanner.planning.limits import limits
from rigplanner.planning.renting import Offer
from rigplanner.rig.files import read_rig


@pytest.fixture
def judged_window(window, sample_folder):
    open_sample(window, sample_folder, "quad-rtx-4090")
    return window


def dialogs(window) -> list[QDialog]:
    return [each for each in window.findChildren(QDialog) if each.isVisible()]


def test_each_gauge_has_steps_and_those_of_sums_add_up(judged_window):
    session = judged_window.session
    for limit in limits(session.assessment):
        made = limit_reason(session.assessment, limit, session.catalog)
        assert made.steps, limit.axis
        assert all(step.formula for step in made.steps)
        if limit.axis in ("price", "slots"):
            assert made.steps[-1].value == pytest.approx(
                sum(step.value for step in made.steps[:-1])
            )
        if limit.axis == "lanes":
            used = next(step.value for step in made.steps if step.name == "CPU lanes used")
            assert used == limit.used == sum(step.value for step in made.steps[:-2])


def test_the_price_says_what_is_not_in_it(judged_window):
    session = judged_window.session
    price = next(limit for limit in limits(session.assessment) if limit.axis == "price")
    note = limit_reason(session.assessment, price, session.catalog).note
    assert "riser" in note
    assert "USD" in note


def test_the_total_opens_by_enter(qtbot, judged_window):
    total = judged_window.build._total
    assert total.focusPolicy() & Qt.FocusPolicy.TabFocus
    qtbot.keyClick(total, Qt.Key.Key_Return)
    assert [each.windowTitle() for each in dialogs(judged_window)] == ["Price"]
    dialogs(judged_window)[0].close()


def test_a_comparison_gains_what_hires_cost_and_its_steps(qtbot, window, sample_folder):
    open_sample(window, sample_folder, "rtx-5090")
    view = window.view("Compare")
    window.show_tab("Compare")
    view.add_file(sample_folder / "gtx-1080-ti.rig")
    settled_session(qtbot, window.session)
    rows = [n for n in value_rows(view) if view.model.lines[n].attribute.code.startswith("hire")]
    assert {view.model.lines[n].attribute.code for n in rows} == {"hire", "hire_cost", "hire_after"}
    for n in rows[:3]:
        line = view.model.lines[n]
        made = compare_reason(line, 0, view._compared, window.session.catalog, view._hires)
        assert [step.unit for step in made.steps] == ["USD", "h"]
        assert made.steps[0].value == pytest.approx(
            made.steps[0].inputs["rent per hour"]
            * made.steps[0].inputs["speed of the rig"]
            / made.steps[0].inputs["speed of the cloud instance"]
        )


def test_a_spot_price_is_a_step_of_its_own_with_its_day():
    rent = Price(amount=2.0, currency="USD", day="2026-05-01", source="price list")
    offer = Offer(
        instance="y",
        provider="aws",
        gpus="1 x H100",
        rent=rent,
        counted=2.0,
        speed_ratio=0.5,
        same_work=1.0,
        hours=None,
    )
    assert spot_step(offer, "USD") is None
    spot = replace(rent, amount=0.6, day="2026-06-01", region="eastus")
    step = spot_step(replace(offer, spot=spot, spot_counted=0.6), "USD")
    assert step.name.startswith("AWS y at its spot price")
    assert (step.value, step.unit, step.source) == (0.3, "USD", "price list, eastus, 2026-06-01")
    assert spot_step(replace(offer, spot=spot), "USD") is None


def value_rows(view) -> list[int]:
    lines = enumerate(view.model.lines)
    return [n for n, line in lines if isinstance(line, CompareRow) and has_steps(line)]


def test_every_known_value_of_a_comparison_has_steps(judged_window, sample_folder):
    session = judged_window.session
    other = session.assessment, session.assess_now(read_rig(sample_folder / "dual-rtx-3090.rig"))
    for line in compare(other):
        for rig in range(2):
            value = line.values[rig]
            if value not in (None, 0.0, "ok") and has_steps(line):
                made = compare_reason(line, rig, other, session.catalog, lambda *_: ())
                assert made.steps, (line.attribute.code, line.subject)
                assert other[rig].rig.name in made.title


def test_a_compared_value_opens_by_click_and_by_enter(qtbot, judged_window, sample_folder):
    judged_window.show_tab("Compare")
    view = judged_window.view("Compare")
    view.add_file(sample_folder / "dual-rtx-3090.rig")
    settled_session(qtbot, judged_window.session)
    line = next(n for n in value_rows(view) if view.model.lines[n].attribute.code == "gpu_memory")
    at = view.table.visualRect(view.model.index(line, 2)).center()
    qtbot.mouseClick(view.table.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert "Two RTX 3090" in dialogs(judged_window)[0].windowTitle()
    dialogs(judged_window)[0].close()
    qtbot.keyClick(view.table, Qt.Key.Key_Return)
    assert [each.findChild(QTableWidget).item(0, 1).text() for each in dialogs(judged_window)] == [
        "48\u202fGiB"
    ]
    dialogs(judged_window)[0].close()
    view.table.setCurrentIndex(view.model.index(line, 0))
    qtbot.keyClick(view.table, Qt.Key.Key_Return)
    assert dialogs(judged_window) == []


def test_steps_are_copied_as_lines_of_tabs(qtbot, judged_window):
    session = judged_window.session
    dialog = show_breakdown(
        judged_window,
        limit_reason(session.assessment, limits(session.assessment)[1], session.catalog),
    )
    next(
        each
        for each in dialog.findChildren(QPushButton)
        if each.accessibleName() == "Copy the steps"
    ).click()
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines[0].startswith("Power supply\t")
    assert {line.count("\t") for line in lines[1:]} == {3}
    dialog.close()


def test_a_figure_without_steps_says_so(judged_window):
    dialog = show_breakdown(judged_window, Reason("Speed", "unknown", ()))
    assert dialog.findChild(QTableWidget) is None
    dialog.close()
