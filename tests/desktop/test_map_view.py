"""The Map tab: rows that grow, pictures that answer the pointer, cards put into the rig."""

import json
from pathlib import Path

import pytest
from desktop_waiting import settled_session
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QLabel, QTableWidget, QToolTip

from rigplanner.desktop import documents
from rigplanner.planning.map import asked
from rigplanner.planning.map.rank import RUNS


@pytest.fixture
def page(qtbot, window, sample_folder):
    """The page with two workloads of a rig of two RTX 3090, among cards of few names."""
    documents.open_file(window, sample_folder / "dual-rtx-3090.rig", sample=True)
    settled_session(qtbot, window.session)
    window.resize(1366, 768)
    made = window.view("Map").cards
    made.filters.words.setText("rtx 30")
    window.show_tab("Map")
    settled_session(qtbot, window.session)
    return made


def choose(page, *names: str) -> None:
    page.table.clearSelection()
    model = page.table.selectionModel()
    for name in names:
        at = next(n for n, row in enumerate(page.model.rows) if row.name == name)
        model.select(page.model.index(at, 0), model.SelectionFlag.Select | model.SelectionFlag.Rows)


def test_the_map_begins_with_the_rigs_work_and_number_of_gpus(page) -> None:
    rows = page.model.rows
    assert rows and {row.count for row in rows} == {2}
    assert any(row.name == "GeForce RTX 3090" and row.score for row in rows)
    assert page.model.columnCount() == len(page.model.cells_of(0))
    assert "run it" in page.note.text()
    idle = [at for at, row in enumerate(rows) if row.fit not in RUNS]
    assert all(page.model.index(at, 3).data() == "" for at in idle)


def test_another_model_is_named_and_told_when_unknown(qtbot, page) -> None:
    page.chooser.field.setText("resnet-50")
    page.chooser._take_field()
    settled_session(qtbot, page._session)
    assert page.model.rows[0].answers[0].speed.metric == "images/s"
    told = []
    page._session.message_given.connect(told.append)
    page.chooser.field.setText("no-such-model-at-all")
    page.chooser._take_field()
    assert "no-such-model-at-all" in told[0].text


def test_pictures_name_a_row_under_the_pointer_and_open_its_steps(qtbot, page) -> None:
    for at in range(1, page.views.count()):
        page.views.setCurrentIndex(at)
        scene = page.scene.scene
        assert scene is not None and scene.spots
        assert scene.width * page.scene._scale() == pytest.approx(page.scene.width())
        spot, scale = scene.spots[0], page.scene._scale()
        middle = QPoint(
            round((spot.x + spot.width / 2) * scale), round((spot.y + spot.height / 2) * scale)
        )
        met = scene.at(middle.x() / scale, middle.y() / scale)
        help_event = QHelpEvent(QEvent.Type.ToolTip, middle, page.scene.mapToGlobal(middle))
        QApplication.sendEvent(page.scene, help_event)
        assert page.model.rows[met.row].name in QToolTip.text().replace("&nbsp;", " ")
    QTest.mouseClick(page.scene, Qt.MouseButton.LeftButton, pos=middle)
    dialog = next(each for each in page.findChildren(QDialog) if each.isVisible())
    assert dialog.windowTitle() == "Speed"
    steps = dialog.findChild(QTableWidget).model()
    assert "measured" in {steps.index(n, 0).data() for n in range(steps.rowCount())}
    dialog.close()
    QToolTip.hideText()


def test_a_card_is_put_into_the_rig_and_comes_out_again(qtbot, page) -> None:
    session = page._session
    choose(page, "GeForce RTX 3080 12GB")
    page.put.click()
    settled_session(qtbot, session)
    joined = [item for item in session.rig.items if item.part.startswith("nvidia.")]
    assert [(item.part, item.quantity) for item in joined] == [("nvidia.geforce.rtx-3080-12gb", 2)]
    session.undo()
    assert sum("3090" in item.part for item in session.rig.items) == 2, "the cards and their bridge"


def test_several_cards_stand_beside_the_rig_in_compare(qtbot, window, page) -> None:
    names = ["GeForce RTX 3090", "GeForce RTX 3080 12GB", "GeForce RTX 3060 12GB",
             "GeForce RTX 3090 Ti", "NVIDIA RTX A2000 12GB"][:4]  # fmt: skip
    at_first = window.minimumSizeHint().width()
    choose(page, *names)
    page.compare.click()
    settled_session(qtbot, window.session)
    compare = window.view("Compare")
    assert compare.isVisible()
    assert {f"2 × {name}" for name in names} <= set(compare.model.names)
    assert compare.table.horizontalHeader().sectionSize(1) >= 60
    assert window.minimumSizeHint().width() <= max(at_first, 1000), "the window keeps its screen"


def test_work_that_nothing_runs_says_what_is_missing(qtbot, page) -> None:
    page.chooser.field.setText("llama-3.1-405b")
    page.chooser._take_field()
    settled_session(qtbot, page._session)
    assert not any(row.score for row in page.model.rows)
    assert "no memory holds it; the nearest" in page.note.text()
    page.filters.words.setText("zorg")
    page.refresh()
    settled_session(qtbot, page._session)
    assert page.model.rows == []


def test_cancel_stops_the_work_and_keeps_what_is_shown(qtbot, page, monkeypatch) -> None:
    monkeypatch.setattr(asked, "EVERY_S", 0.0)
    page.filters.words.clear()
    page.refresh()
    qtbot.waitUntil(lambda: page.progress.value() > 0, timeout=30_000)
    page.cancel.click()
    shown = len(page.model.rows)
    settled_session(qtbot, page._session)
    assert len(page.model.rows) == shown > 0
    assert not page.cancel.isVisible()


def test_the_map_is_written_in_every_form(page, tmp_path: Path) -> None:
    page.views.setCurrentIndex(2)
    lacking = []
    for form in ("png", "svg", "html", "csv", "json", "text"):
        path = tmp_path / f"map.{form}"
        page.save(path, form)
        content = path.read_bytes()
        if not content.startswith(b"\x89PNG") if form == "png" else b"RTX 3090" not in content:
            lacking.append(form)
    assert lacking == []


def test_without_a_rig_the_page_says_what_to_do(qtbot, window) -> None:
    window.show_tab("Map")
    settled_session(qtbot, window.session)
    page = window.view("Map").cards
    assert "name a model above" in page.note.text()
    page.chooser.field.setText("sdxl")
    page.filters.words.setText("4090")
    page.chooser._take_field()
    settled_session(qtbot, window.session)
    assert page.model.rows
    assert not page.compare.isEnabled()


def models_page(qtbot, window, sample_folder):
    documents.open_file(window, sample_folder / "dual-rtx-3090.rig", sample=True)
    settled_session(qtbot, window.session)
    page = window.view("Map").models
    page.purpose.setCurrentIndex(page.purpose.findText("Speech and sound"))
    window.view("Map").cards.filters.words.setText("4090")
    window.show_tab("Map")
    window.view("Map").pages.setCurrentIndex(1)
    settled_session(qtbot, window.session)
    return page


def test_models_for_the_machine_have_one_best_and_open_their_steps(
    qtbot, window, sample_folder
) -> None:
    page = models_page(qtbot, window, sample_folder)
    runs = page.model.runs
    assert {run.purpose for run in runs} == {"speech"} and sum(run.best for run in runs) == 1
    assert page.model.lines[0] == f"Speech and sound: {len(runs)} of {len(runs)} run"
    page.table.selectRow(1)
    page.why.click()
    dialog = next(each for each in page.findChildren(QDialog) if each.isVisible())
    assert runs[0].name in [made.text() for made in dialog.findChildren(QLabel)][1]
    dialog.close()
    count = len(window.session.rig.workloads)
    page.add.click()
    settled_session(qtbot, window.session)
    assert len(window.session.rig.workloads) == count + 1
    assert window.session.rig.workloads[-1].model == runs[0].model


def test_other_gpus_and_model_files_are_asked_too(qtbot, window, sample_folder, tmp_path) -> None:
    page = models_page(qtbot, window, sample_folder)
    page.gpus.setText("Zorg 9000")
    told = []
    window.session.message_given.connect(told.append)
    page.refresh()
    assert "Zorg 9000" in told[-1].text
    page.gpus.setText("4x RTX 4090")
    config = {
        "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 2048,
        "intermediate_size": 8192, "num_hidden_layers": 16, "num_attention_heads": 32,
        "num_key_value_heads": 8, "vocab_size": 128256, "_name_or_path": "mine/own-1b",
    }  # fmt: skip
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "config.json").write_text(json.dumps(config))
    page.show_files(tmp_path)
    settled_session(qtbot, window.session)
    assert [run.model for run in page.model.runs] == ["own-1b"]
    assert page.model.runs[0].cards == 4
    (tmp_path / "empty").mkdir()
    page.show_files(tmp_path / "empty")
    assert "no GGUF" in told[-1].text
    page.show_files(None)
    settled_session(qtbot, window.session)
    assert len(page.model.runs) > 5


def test_works_count_by_their_weights_and_must_reach_their_least_speed(qtbot, page) -> None:
    def shares(**wishes: float) -> dict[str, float | None]:
        with qtbot.waitSignal(page.weights.changed):
            for name, value in wishes.items():
                work, field = name.split("_")
                getattr({"first": first, "second": second}[work], field).setValue(value)
        settled_session(qtbot, page._session)
        return {row.name: row.score for row in page.model.rows}

    first, second = page.weights.works
    assert first.group.isVisible() and second.group.isVisible()
    both = shares(second_weight=3)
    assert len(page.model.rows[0].answers) == 2
    assert shares(second_weight=0).keys() == both.keys()
    assert len(page.model.rows[0].answers) == 1
    shares(first_least=1e8)
    assert page.model.rows and not {row.fit for row in page.model.rows} & set(RUNS)
    assert not shares(first_weight=0)


def test_advice_opens_its_figures_with_their_sources(page) -> None:
    choose(page, "GeForce RTX 3090")
    assert page.advice.isVisible() and page.figures.isVisible()
    page.figures.click()
    dialog = next(each for each in page.findChildren(QDialog) if each.isVisible())
    told = " ".join(each.text() for each in dialog.findChildren(QLabel))
    assert dialog.windowTitle() == "Advice on the card" and "GeForce RTX 3090" in told
    table = dialog.findChild(QTableWidget)
    cells = [table.item(n, m).text() for n in range(table.rowCount()) for m in range(4)]
    assert any("2026" in cell for cell in cells), "prices with their day"
    dialog.close()


def test_the_market_of_a_day_is_asked_for_in_a_field(qtbot, page) -> None:
    page.filters.words.setText("gtx 10")
    page.filters.counts.setCurrentIndex(0)
    QTest.keyClicks(page.filters.day, "2017-04-09")
    qtbot.waitUntil(lambda: "The market of 9 Apr 2017" in page.note.text())
    settled_session(qtbot, page._session)
    assert page.model.rows and all((row.released or "") <= "2017-04-09" for row in page.model.rows)
    page.filters.day.setText("2017-04-")
    page.refresh()
    settled_session(qtbot, page._session)
    assert "no day up to today" in page.note.text()


def test_two_chosen_rows_are_compared_by_who_measured_both(qtbot, page) -> None:
    page.filters.counts.setCurrentIndex(0)
    page.filters.words.setText("rtx")
    page.chooser.field.setText("resnet-50")
    page.chooser._take_field()
    settled_session(qtbot, page._session)
    choose(page, "GeForce RTX 4090", "GeForce RTX 3090")
    assert "measurements that differ in nothing else" in page.advice.text()


def test_products_of_matrices_are_suggested_and_ranked(qtbot, page) -> None:
    page.chooser._suggest("matr")
    assert page.chooser._names.stringList()[:2] == ["matrix", "matrix fp64"]
    page.chooser.field.setText("matrix fp64")
    page.chooser._take_field()
    settled_session(qtbot, page._session)
    assert page.model.rows[0].answers[0].speed.metric == "TFLOPS"
    assert page.chooser.chosen().titles == ("matrix fp64",)
