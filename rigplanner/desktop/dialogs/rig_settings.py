"""The dialog of what is neither part nor place: firmware, drives striped into one, software, the
room. Every field is an edit."""

from collections.abc import Callable
from functools import partial

from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDoubleSpinBox,
    QFormLayout,
    QLineEdit,
    QWidget,
)

from rigplanner.catalog.schema.parts import Layout, Motherboard, Storage, System
from rigplanner.desktop.controls.tips import hint
from rigplanner.desktop.controls.widgets import (
    button,
    clear,
    column,
    indented,
    label,
    panel,
    row,
    scrolled,
)
from rigplanner.desktop.desk import Desk
from rigplanner.desktop.dialogs.monitor_form import MonitorForm
from rigplanner.desktop.document.session import Session
from rigplanner.desktop.help.hints import give_hints
from rigplanner.desktop.look.theme import row_px
from rigplanner.machine.placement.locate import numa_settings
from rigplanner.report.language import THIN, Words, listed, tr, trn
from rigplanner.rig.document import Item, part_of
from rigplanner.rig.edits import Edit

SOFTWARE = Words(
    {
        "os": "Operating system",
        "driver": "Driver",
        "cuda": "CUDA",
        "rocm": "ROCm",
        "pytorch": "PyTorch",
        "tensorflow": "TensorFlow",
        "jax": "JAX",
        "nccl": "NCCL",
        "bios": "BIOS version",
    }
)


class RigSettings(QDialog):
    """Firmware choices that the board offers, RAID 0, versions, the room's temperature."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk.window())
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Machine settings"))
        self._session: Session = desk.session
        self._filling = False
        self._forms = column(spacing=12)
        body = panel(column(self._forms, 1, margins=(0, 0, 8, 0)))
        note = tr("Firmware, software and site settings. The set-up sheet of the quote lists them.")
        close = button(tr("Close"), self.close, role="primary")
        inner = (
            label(note, "small", wrap=True),
            scrolled(body, tr("Machine settings")),
            row(1, close),
        )
        self.setLayout(column(*inner, margins=(16, 12, 16, 12), spacing=12))
        self.resize(row_px() * 24, row_px() * 27)
        self._offered: object = None
        self._setters: list[Callable[[], None]] = []
        self._session.rig_changed.connect(self._rig_changed)
        self._make()

    def _rig_changed(self, _: object) -> None:
        """Fill the fields; make them anew where other boards, drives or processors are in the
        rig."""
        if self._session.is_open and self._offered != self._offers():
            self._make()
            return
        self._filling = True
        for setter in self._setters:
            setter()
        self._filling = False

    def _offers(self) -> object:
        return (
            [(board.id, layout_choices(layout)) for board, layout in self._boards()],
            self._drives(),
            self._numa(),
        )

    def _make(self) -> None:
        self._offered, self._setters = self._offers(), []
        clear(self._forms)
        for title, form in (
            (tr("Firmware"), self._firmware()),
            (tr("Drives"), self._striped()),
            (tr("Software"), self._software()),
            (tr("Monitors"), self._monitors()),
            (tr("Room temperature"), self._room()),
        ):
            if form.rowCount():
                form.setContentsMargins(0, 0, 0, 0)
                form.setHorizontalSpacing(12)
                form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
                self._forms.addWidget(
                    panel(column(label(title.upper(), "section"), form, spacing=6))
                )
        names = [each for form in self.findChildren(QFormLayout) for each in _names(form)]
        widest = max((name.sizeHint().width() for name in names), default=0)
        for name in names:
            name.setMinimumWidth(widest)
        self._rig_changed(None)

    def _boards(self) -> list[tuple[Motherboard | System, Layout]]:
        rig, catalog = self._session.rig, self._session.catalog
        found = (part_of(rig, catalog, item.part) for item in rig.items)
        return [
            (part, part.layout)
            for part in found
            if isinstance(part, Motherboard | System) and part.layout is not None
        ]

    def _drives(self) -> list[tuple[str, str, int]]:
        """Return uid, name and quantity of the items that are drives."""
        rig, catalog = self._session.rig, self._session.catalog
        pairs: list[tuple[Item, object]] = [
            (item, part_of(rig, catalog, item.part)) for item in rig.items
        ]
        return [
            (item.uid, part.name, item.quantity)
            for item, part in pairs
            if isinstance(part, Storage)
        ]

    def _numa(self) -> tuple[int, ...]:
        assessment = self._session.assessment
        sockets = (
            {node.cpu.socket or "" for node in assessment.machine.cpus} if assessment else set()
        )
        return numa_settings(sockets.pop()) if len(sockets) == 1 else ()

    def _edit(self, name: str, edit: Edit) -> None:
        if not self._filling:
            self._session.edit(name, edit)

    def _firmware(self) -> QFormLayout:
        form = QFormLayout()
        for board, layout in self._boards():
            for places, choices in layout_choices(layout):
                self._lanes(form, board.name, layout, places, choices)
        numa = self._numa()
        if len(numa) > 1:
            box = self._choice(
                form,
                tr("NUMA nodes per socket"),
                [(tr("CPU default"), None), *((str(n), n) for n in numa)],
            )
            box.activated.connect(lambda _: self._set_numa(box.currentData()))
            self._setters.append(
                lambda: box.setCurrentIndex(
                    max(0, box.findData(self._session.rig.settings.numa_per_socket))
                )
            )
        if self._boards():
            self._version(form, "bios", tr("as delivered"))
        return form

    def _lanes(
        self,
        form: QFormLayout,
        board: str,
        layout: Layout,
        places: tuple[str, ...],
        choices: tuple[str, ...],
    ) -> None:
        title = (
            tr("Lanes of {places}", places=listed(places))
            if places
            else tr("Lanes of {board}", board=board)
        )
        shipped = [choice for choice in choices if choice in layout.bios_default]
        usual = tr("default: {choice}", choice=shipped[0]) if shipped else tr("as shipped")
        box = self._choice(form, title, [(usual, ""), *((choice, choice) for choice in choices)])
        place = places[0] if places else choices[0]
        box.activated.connect(
            lambda _: self._edit(
                title, Edit("set_bios", {"place": place, "choice": box.currentData()})
            )
        )

        def show() -> None:
            stated = next(
                (
                    choice
                    for choice in self._session.rig.settings.bios.values()
                    if choice in choices
                ),
                "",
            )
            box.setCurrentIndex(max(0, box.findData(stated)))

        self._setters.append(show)

    def _set_numa(self, nodes: int | None) -> None:
        settings = replace(self._session.rig.settings, numa_per_socket=nodes)
        self._edit(tr("NUMA nodes per socket"), Edit("set_settings", {"settings": settings}))

    def _choice(self, form: QFormLayout, name: str, entries: list[tuple[str, object]]) -> QComboBox:
        box = QComboBox()
        box.setAccessibleName(name)
        for words, value in entries:
            box.addItem(words, value)
        form.addRow(name, box)
        return box

    def _striped(self) -> QFormLayout:
        form = QFormLayout()
        for uid, name, quantity in self._drives():
            box = QCheckBox(f"{quantity} × {name}" if quantity > 1 else name)
            box.setAccessibleName(tr("{drive} in the RAID 0 volume", drive=name))
            hint(
                box,
                tr("Stripes this drive with the others that are ticked."),
                tr("They are read and written together; one that fails takes all data with it."),
            )
            box.toggled.connect(partial(self._stripe, uid))
            self._setters.append(partial(self._show_striped, box, uid))
            form.addRow(tr("One volume (RAID 0)") if not form.rowCount() else "", box)
        return form

    def _show_striped(self, box: QCheckBox, uid: str) -> None:
        box.setChecked(uid in self._session.rig.settings.raid0)

    def _stripe(self, uid: str, on: bool) -> None:
        held = [
            item.uid
            for item in self._session.rig.items
            if item.uid in self._session.rig.settings.raid0 and item.uid != uid
        ]
        wanted = [*held, uid] if on else held
        name = (
            trn("RAID 0 of {count} item", "RAID 0 of {count} items", len(wanted))
            if wanted
            else tr("Each drive by itself")
        )
        self._edit(name, Edit("set_raid0", {"uids": wanted}))

    def _software(self) -> QFormLayout:
        form = QFormLayout()
        for key in SOFTWARE:
            if key != "bios":
                self._version(form, key, tr("not set"))
        self.peers = QCheckBox(tr("Driver with peer-to-peer enabled for GeForce"))
        self.peers.toggled.connect(self._set_peers)
        self._setters.append(
            lambda: self.peers.setChecked(self._session.rig.settings.peer_to_peer_driver)
        )
        form.addRow("", self.peers)
        return form

    def _set_peers(self, on: bool) -> None:
        settings = replace(self._session.rig.settings, peer_to_peer_driver=on)
        self._edit(tr("Driver with direct exchange"), Edit("set_settings", {"settings": settings}))

    def _version(self, form: QFormLayout, key: str, empty: str) -> None:
        field, title = QLineEdit(), SOFTWARE[key]
        field.setAccessibleName(title)
        field.setPlaceholderText(empty)
        field.setMaxLength(60)
        field.editingFinished.connect(lambda: self._name_version(key, title, field.text().strip()))
        self._setters.append(
            lambda: (
                None
                if field.hasFocus()
                else field.setText(self._session.rig.settings.software.get(key, ""))
            )
        )
        form.addRow(title, field)

    def _name_version(self, key: str, title: str, text: str) -> None:
        if text != self._session.rig.settings.software.get(key, ""):
            self._edit(
                tr("{software} {version}", software=title, version=text).strip(),
                Edit("set_software", {"versions": {key: text}}),
            )

    def _monitors(self) -> QFormLayout:
        form = MonitorForm(self._session, self._edit)
        self._setters.append(form.fill)
        return form

    def _room(self) -> QFormLayout:
        form = QFormLayout()
        box = QDoubleSpinBox(minimum=0, maximum=60, decimals=0)
        box.setAccessibleName(tr("Temperature"))
        box.setSpecialValueText(tr("not set"))
        box.setSuffix(f"{THIN}°C")
        box.setKeyboardTracking(False)
        indented(box)
        box.valueChanged.connect(
            lambda c: self._edit(
                tr("Temperature of the room"), Edit("change_site", {"room_c": c or None})
            )
        )
        self._setters.append(lambda: box.setValue(self._session.rig.site.room_c or 0))
        form.addRow(tr("Temperature"), box)
        return form


def _names(form: QFormLayout) -> list[QWidget]:
    """Return the names of the fields of a form."""
    items = (form.itemAt(n, QFormLayout.ItemRole.LabelRole) for n in range(form.rowCount()))
    return [name for item in items if item is not None and (name := item.widget()) is not None]


def layout_choices(layout: Layout) -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
    """Return the firmware choices of a board: the places that each concerns, and what may be
    chosen."""
    modes = [mode for mode in layout.lane_modes if mode.when.bios]
    if not modes:
        return ()
    places = sorted({place for mode in modes for place in mode.when.used})
    return ((tuple(places), tuple(sorted({mode.when.bios for mode in modes if mode.when.bios}))),)


def rig_settings(desk: Desk) -> QWidget:
    """Show the settings of the open rig."""
    dialog = RigSettings(desk)
    give_hints(dialog)
    dialog.open()
    return dialog
