"""The Workloads tab: models found and dropped, sliders, what fits, curves."""

import json
import time

import pytest
from PySide6.QtCore import QEventLoop, Qt
from PySide6.QtWidgets import QApplication, QDialog, QPushButton, QTableWidget, QToolButton

from rigplanner.desktop import documents
from rigplanner.desktop.controls.unit_cells import split_unit
from rigplanner.desktop.workloads.curve import Curve, Mark, nice_step
from rigplanner.desktop.workloads.step_slider import BATCHES, StepSlider
from rigplanner.planning.what_if import room
from rigplanner.rig.edits import Edit
from rigplanner.rig.workload import Workload

THIN = "\u202f"


def open_tab(window, sample_folder, name: str):
    documents.open_file(window, sample_folder / f"{name}.rig", sample=True)
    window.show_tab("Workloads")
    settle(window)
    return window.view("Workloads")


def settle(window) -> None:
    """Until the rig is judged and what its workload could become is known."""
    view, end = window.view("Workloads"), time.monotonic() + 60
    while time.monotonic() < end:
        QApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 20)
        if (
            not window.session.pending
            and not view._delay.isActive()
            and not window.session.tasks.is_busy()
        ):
            return
    pytest.fail("the workload's prospects did not come")


def links(view) -> dict[str, QPushButton]:
    return {
        made.text(): made
        for made in view.results.findChildren(QPushButton)
        if made.property("role") == "link"
    }


def test_words_in_any_order_suggest_models_and_what_to_do_with_them(qtbot, window, sample_folder):
    view = open_tab(window, sample_folder, "dual-rtx-3090")
    qtbot.keyClicks(view.add.field, "8b llama-3.1")
    assert any("Llama" in name for name in view.add._names.stringList())
    offered = [view.add.preset.itemData(n).code for n in range(view.add.preset.count())]
    assert offered[:2] == ["qlora", "lora"]
    view.add.preset.setCurrentIndex(offered.index("serve"))
    view.add.add()
    settle(window)
    assert window.session.rig.workloads[-1].task == "serve"
    assert view.list.currentRow() == len(window.session.rig.workloads) - 1


def test_the_largest_sizes_that_fit_are_used_with_one_click(window, sample_folder):
    view = open_tab(window, sample_folder, "dual-rtx-3090")
    batch = room(window.session.assessment.jobs[0], window.session.assessment.machine).batch.value
    links(view)[f"batch {batch}"].click()
    assert window.session.rig.workloads[0].batch_per_gpu == batch
    settle(window)
    assert window.session.assessment.jobs[0].memory[0].device_gib <= 24


def test_the_largest_size_opens_what_it_rests_on(window, sample_folder):
    view = open_tab(window, sample_folder, "dual-rtx-3090")
    buttons = view.results.prospects.sizes.findChildren(QToolButton)
    next(each for each in buttons if "Steps of batch" in each.accessibleName()).click()
    shown = [each for each in window.findChildren(QDialog) if each.isVisible()]
    assert [each.windowTitle().partition(" ")[0] for each in shown] == ["batch"]
    assert shown[0].findChild(QTableWidget).rowCount() > 3
    shown[0].close()


def test_a_size_of_gpus_that_have_gone_opens_nothing(window, sample_folder):
    """Until the prospects of the changed rig come, the buttons of the former stand there."""
    view = open_tab(window, sample_folder, "dual-rtx-3090")
    view._delay.setInterval(1_000_000)
    buttons = view.results.prospects.sizes.findChildren(QToolButton)
    steps = next(each for each in buttons if "Steps of batch" in each.accessibleName())
    session = window.session
    gpu_ids = {part.id for part in session.catalog.of_kind("gpu")}
    gpus = [each.uid for each in session.rig.items if each.part in gpu_ids]
    for uid in gpus:
        session.edit("Remove", Edit("remove_item", {"uid": uid}))
    end = time.monotonic() + 60
    while view.results.prospects._assessment.machine.gpus and time.monotonic() < end:
        QApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 20)
    steps.click()
    assert not [each for each in window.findChildren(QDialog) if each.isVisible()]


def test_what_does_not_fit_is_offered_ways_that_do(window, sample_folder):
    view = open_tab(window, sample_folder, "rtx-5090")
    view.form._fields["batch_per_gpu"].field.setValue(16)
    settle(window)
    assert view.results.prospects._ways.count() > 1
    way = view.results.prospects._ways.itemAt(1).layout().itemAt(0).widget()
    before = window.session.assessment.jobs[0].memory[0].device_gib
    way.click()
    settle(window)
    assert window.session.assessment.jobs[0].memory[0].device_gib < before


def test_a_slider_that_moves_is_one_step_of_the_history(window, sample_folder):
    view = open_tab(window, sample_folder, "gtx-1080-ti")
    steps = len(window.session.history)
    slider = view.form._fields["batch_per_gpu"].slider
    for position in range(2, 10):
        slider.setValue(position)
        QApplication.processEvents()
    settle(window)
    assert window.session.rig.workloads[0].batch_per_gpu == BATCHES[9]
    assert len(window.session.history) == steps + 1


def test_the_number_of_gpus_slides_with_the_rig(window, sample_folder):
    view = open_tab(window, sample_folder, "titan-x-server")
    view.form.gpus.slider.setValue(1)
    settle(window)
    assert len(window.session.assessment.machine.gpus) == 2
    assert window.session.undo_name() == "Number of GPUs"


def test_the_curves_hold_the_rigs_own_speed_and_a_cap_can_be_used(window, sample_folder):
    view = open_tab(window, sample_folder, "quad-rtx-4090")
    speed = window.session.assessment.jobs[0].speed
    own = next(mark for mark in view.results.prospects.scale._marks if mark.own)
    assert (own.text, own.value) == ("4", speed.value)
    assert "8 GPUs" in view.results.prospects.scale.accessibleDescription()
    view.results.prospects.use_cap.click()
    cap = window.session.rig.item(
        window.session.assessment.machine.gpus[0].piece.partition(".")[0]
    ).power_cap_w
    assert cap and cap < 450


def test_every_point_of_a_curve_opens_its_steps(qtbot, window, sample_folder):
    view = open_tab(window, sample_folder, "titan-x-server")
    curve = view.results.prospects.scale
    curve.setFocus()
    qtbot.keyClick(curve, Qt.Key.Key_Left)
    assert "2 GPUs" in curve.accessibleName()
    qtbot.keyClick(curve, Qt.Key.Key_Return)
    dialog = view.findChildren(QDialog)[-1]
    assert dialog.windowTitle() == "Speed by number of GPUs"
    assert dialog.findChild(QTableWidget).rowCount() > 3


def test_an_answer_for_another_workload_is_not_shown(window, sample_folder):
    view = open_tab(window, sample_folder, "dual-rtx-3090")
    view.list.setCurrentCell(1, 0)
    assert not view.results.prospects.sizes.isVisible()
    settle(window)
    assert any("users at once" in text for text in links(view))


def test_the_input_pipeline_is_shown_when_the_data_set_is_named(window, sample_folder):
    view = open_tab(window, sample_folder, "gtx-1080-ti")
    assert view.results.pipeline.rowCount() == 3
    assert (
        "fastest drive" in view.results.pipeline_note.text()
        or "RAM" in view.results.pipeline_note.text()
    )
    view.form._fields["dataset_gb"].setValue(0)
    settle(window)
    assert not view.results._pipeline.isVisible()


def test_changes_that_fit_only_together_are_one_click_and_named(window, sample_folder):
    documents.open_file(window, sample_folder / "hgx-h100.rig", sample=True)
    window.show_tab("Workloads")
    session = window.session
    bare = Workload(model="llama-3.1-70b", task="train", precision="bf16", seq_len=4096)
    session.edit(
        "bare",
        Edit("remove_workload", {"index": 1}),
        Edit("remove_workload", {"index": 0}),
        Edit("add_workload", {"workload": bare}),
    )
    settle(window)
    ways = window.view("Workloads").results.prospects._ways
    first, what = ways.itemAt(1).layout().itemAt(0).widget(), ways.itemAt(2).widget()
    assert "changes together" in first.text()
    assert "Gradient checkpointing" in what.text()
    first.click()
    settle(window)
    assert session.rig.workloads[0].gradient_checkpointing == "full"
    assert session.assessment.report.count("error") == 0


def test_a_preset_takes_the_settings_of_another_task_away(window, sample_folder):
    view = open_tab(window, sample_folder, "dual-rtx-3090")
    box = view.form.preset
    at = next(n for n in range(1, box.count()) if box.itemData(n).code == "chat")
    box.setCurrentIndex(at)
    box.activated.emit(at)
    work = window.session.rig.workloads[0]
    assert (work.task, work.lora_rank, work.seq_len, work.input_tokens) == (
        "inference",
        None,
        None,
        1024,
    )


def test_a_workload_on_a_partition_is_measured_against_it(window, sample_folder):
    view = open_tab(window, sample_folder, "hgx-h100")
    window.session.edit(
        "7B", Edit("change_workload", {"index": 1, "model": "llama-3.1-8b", "parallelism": None})
    )
    view.list.setCurrentCell(1, 0)
    box = view.form._fields["mig"]
    at = next(n for n in range(1, box.count()) if box.itemData(n).startswith("2g."))
    box.setCurrentIndex(at)
    box.activated.emit(at)
    settle(window)
    assert window.session.rig.workloads[1].mig == box.itemData(at)
    assert view.bars._bars[0].capacity_gib < 30


def test_dropped_files_that_may_be_models_are_taken(window, sample_folder, tmp_path):
    view = open_tab(window, sample_folder, "dual-rtx-3090")
    assert [
        view.add.takes(name) for name in ("a/config.json", "b.GGUF", "c.safetensors", "d.bin")
    ] == [True, True, True, False]
    (tmp_path / "config.json").write_text(
        json.dumps(
            {
                "model_type": "llama",
                "hidden_size": 2048,
                "num_hidden_layers": 16,
                "num_attention_heads": 32,
                "num_key_value_heads": 8,
                "intermediate_size": 8192,
                "vocab_size": 128256,
            }
        )
    )
    assert view.add.add_file(tmp_path / "config.json")
    assert window.session.assessment.jobs[-1].memory


def test_a_step_slider_shows_sizes_between_its_stops(qtbot):
    told = []
    slider = StepSlider("Batch", BATCHES, 65536, told.append)
    qtbot.addWidget(slider)
    slider.show_value(100)
    assert (slider.value(), BATCHES[slider.slider.value()]) == (100, 96)
    assert told == []
    slider.field.setValue(130)
    qtbot.waitUntil(lambda: told == [130])


@pytest.mark.parametrize(
    ("most", "step"), [(1.0, 0.25), (0.0, 1.0), (130.0, 50.0), (7000.0, 2000.0), (2e-3, 5e-4)]
)
def test_axis_steps_are_round(most, step):
    assert nice_step(most) == pytest.approx(step)


def test_a_curve_finds_the_point_under_the_pointer(qtbot):
    curve = Curve("Speed")
    qtbot.addWidget(curve)
    curve.resize(300, 120)
    curve.show_marks(
        [Mark(x=n, value=n, low=n, high=n, text=str(n), tip=f"point {n}") for n in (1.0, 2.0, 8.0)],
        "images/s",
    )
    assert curve.mark_at(299).tip == "point 8.0"
    assert curve.mark_at(0).tip == "point 1.0"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (f"1,440{THIN}W", ("1,440", f"{THIN}W")),
        ("1,440", ("1,440", "")),
        ("unknown", ("unknown", "")),
    ],
)
def test_units_are_told_from_thousands(text, parts):
    assert split_unit(text) == parts


def test_every_field_of_a_job_explains_itself(window, sample_folder):
    form = open_tab(window, sample_folder, "dual-rtx-3090").form
    assert len({field.toolTip() for field in form._fields.values()} - {""}) == len(form._fields)


def test_placement_users_and_drafts_have_fields(window, sample_folder):
    view = open_tab(window, sample_folder, "dual-rtx-3090")
    form, rig = view.form, lambda: window.session.rig.workloads[view.list.currentRow()]
    row = view.list.currentRow()
    job = {"index": row, "task": "serve", "stack": "llama.cpp", "batch_per_gpu": 4}
    window.session.edit("Serving", Edit("change_workload", job))
    settle(window)
    assert form._form.isRowVisible(form._fields["users"])
    assert not form._form.isRowVisible(form._fields["gpu_layers"])
    form.more.setChecked(True)
    assert form._form.isRowVisible(form._fields["gpu_layers"])

    form._fields["users"].field.setValue(16)
    settle(window)
    assert (rig().users, rig().batch_per_gpu) == (16, None)
    form._fields["request_rate"].setValue(2.5)
    settle(window)
    assert (rig().users, rig().request_rate) == (None, 2.5)
    form._fields["gpu_layers"].setValue(0)
    assert rig().gpu_layers == 0
    form._fields["gpu_layers"].setValue(-1)
    assert rig().gpu_layers is None
    for field, data in (("experts", "all"), ("draft", "eagle3"), ("stack", "vllm")):
        box = form._fields[field]
        box.setCurrentIndex(box.findData(data))
        box.activated.emit(box.currentIndex())
    assert rig().cpu_moe and rig().stack == "vllm"
    assert rig().speculative is not None and rig().speculative.method == "eagle3"


def test_what_fits_best_is_listed_and_taken_with_one_click(qtbot, window, sample_folder):
    view = open_tab(window, sample_folder, "dual-rtx-3090")
    asked = Workload(
        model="gpt-oss-120b", task="inference", stack="vllm", precision="mxfp4", flags=["cpu_moe=3"]
    )
    window.session.edit("Add", Edit("add_workload", {"workload": asked}))
    settle(window)
    qtbot.mouseClick(view.results.best.ask, Qt.MouseButton.LeftButton)
    settle(window)
    best = next(made for text, made in links(view).items() if "the best" in text)
    told = best.toolTip()
    assert "RAM" in told and "tokens/s" in told
    qtbot.mouseClick(best, Qt.MouseButton.LeftButton)
    settle(window)
    work = window.session.rig.workloads[-1]
    assert (work.stack, work.precision, list(work.flags)) == ("llama.cpp", "mxfp4", [])
    assert work.n_cpu_moe and sum(work.tensor_split) == 37
    job = window.session.assessment.jobs[-1]
    assert job.speed.fits != "no" and f"{job.speed.value:.1f}" in told.replace(THIN, "")
    window.session.undo()
    settle(window)
    assert window.session.rig.workloads[-1].stack == "vllm"


def test_what_does_not_write_has_no_list_of_formats(window, sample_folder):
    view = open_tab(window, sample_folder, "dual-rtx-3090")
    added = Workload(model="resnet-50", task="train", precision="amp_fp16")
    window.session.edit("Add", Edit("add_workload", {"workload": added}))
    settle(window)
    assert not view.results.best.isVisibleTo(view)


def test_jobs_without_a_network_are_suggested_while_typing(window, sample_folder):
    documents.open_file(window, sample_folder / "rtx-5090.rig", sample=True)
    settle(window)
    add = window.view("Workloads").add
    wanted = {"matr": "matrix", "data": "dataframe", "ata": "atari", "sim": "atari"}
    for typed, first in wanted.items():
        add._suggest(typed)
        assert add._names.stringList()[0] == first
        add.field.setText(first)
        add._show_presets()
        assert not add.preset.isVisible()
        add.add()
        assert window.session.rig.workloads[-1].model == first
    assert [each.model for each in window.session.rig.workloads[-4:]] == list(wanted.values())
