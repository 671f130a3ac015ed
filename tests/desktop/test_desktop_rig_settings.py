"""The dialog of firmware, RAID 0, software and room: every field is an edit that undo takes back,
and follows the rig."""

import pytest
from desktop_waiting import settled_session
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QComboBox, QDoubleSpinBox, QLineEdit, QSpinBox
from test_desktop_window import open_sample

from rigplanner.desktop.dialogs.rig_settings import RigSettings
from rigplanner.rig.document import Monitors
from rigplanner.rig.edits import Edit


@pytest.fixture
def dialog(qtbot, window, sample_folder):
    open_sample(window, sample_folder, "dual-rtx-3090")
    made = RigSettings(window)
    made.open()
    yield made
    made.close()
    settled_session(qtbot, window.session)


def named(dialog, kind, name):
    return next(
        each
        for each in dialog.findChildren(kind)
        if each.accessibleName() == name and not each.isHidden()
    )


def choose(box: QComboBox, value: object) -> None:
    box.setCurrentIndex(box.findData(value))
    box.activated.emit(box.currentIndex())


def test_drives_become_one_volume_and_undo_parts_them(qtbot, window, dialog):
    drive = next(
        item for item in window.session.rig.items if "ssd" in item.part or "980" in item.part
    )
    box = next(each for each in dialog.findChildren(QCheckBox) if "RAID 0" in each.accessibleName())
    qtbot.keyClick(box, Qt.Key.Key_Space)
    assert window.session.rig.settings.raid0 == (drive.uid,)
    assert "DSK005" in {finding.code for finding in window.session.assessment.report.findings}
    window.session.undo()
    assert window.session.rig.settings.raid0 == ()
    assert not box.isChecked()


def test_versions_and_room_go_into_the_rig(qtbot, window, dialog):
    field = named(dialog, QLineEdit, "Driver")
    field.setText("470.256")
    field.editingFinished.emit()
    assert window.session.rig.settings.software == {"driver": "470.256"}
    field.clear()
    field.editingFinished.emit()
    assert window.session.rig.settings.software == {}
    peers = next(each for each in dialog.findChildren(QCheckBox) if "GeForce" in each.text())
    peers.click()
    assert window.session.rig.settings.peer_to_peer_driver
    heat = next(
        each
        for each in dialog.findChildren(QDoubleSpinBox)
        if each.accessibleName() == "Temperature"
    )
    heat.setValue(35)
    assert window.session.rig.site.room_c == 35


def test_a_board_with_a_choice_offers_it(qtbot, window, dialog):
    board = next(
        item
        for item in window.session.rig.items
        if "motherboard" in item.uid or "board" in item.uid
    )
    edit = Edit("replace_part", {"uid": board.uid, "part": "msi.meg.b550-unify-x"})
    assert window.session.edit("Another board", edit)
    box = named(dialog, QComboBox, "Lanes of M2_2, M2_3")
    assert [box.itemData(n) for n in range(box.count())] == ["", "m2-chipset", "m2-cpu"]
    choose(box, "m2-cpu")
    assert window.session.rig.settings.bios == {"M2_2": "m2-cpu"}
    choose(box, "")
    assert window.session.rig.settings.bios == {}


def test_a_processor_of_several_nodes_offers_them(qtbot, window, sample_folder):
    open_sample(window, sample_folder, "quad-rtx-4090")
    dialog = RigSettings(window)
    dialog.open()
    box = named(dialog, QComboBox, "NUMA nodes per socket")
    choose(box, 4)
    assert window.session.rig.settings.numa_per_socket == 4
    assert {node.numa for node in window.session.assessment.machine.gpus} != {0}
    dialog.close()


def test_monitors_and_the_role_of_a_card_go_into_the_rig(qtbot, window, dialog):
    named(dialog, QSpinBox, "Number of monitors").setValue(2)
    sizes = named(dialog, QComboBox, "Resolution of the monitors")
    sizes.setCurrentIndex(sizes.findText("3840 × 2160"))
    sizes.activated.emit(sizes.currentIndex())
    named(dialog, QCheckBox, "Games on the monitors").click()
    expected = Monitors(count=2, width_px=3840, height_px=2160, games=True)
    assert window.session.rig.site.monitors == expected
    settled_session(qtbot, window.session)
    codes = {finding.code for finding in window.session.assessment.report.findings}
    assert "DSP004" in codes
    build = window.build
    build.view.setCurrentIndex(build.model.index(build.model.row_of("gpu")))
    choose(named(window, QComboBox, "What the card is for"), "compute")
    assert window.session.rig.item("gpu").role == "compute"
    settled_session(qtbot, window.session)
    codes = {finding.code for finding in window.session.assessment.report.findings}
    assert "DSP004" not in codes
    named(dialog, QSpinBox, "Number of monitors").setValue(0)
    assert window.session.rig.site.monitors is None
