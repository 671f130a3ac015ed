"""Which works a map is asked for: those of the rig, or a model that is named here."""

from msgspec import Struct
from PySide6.QtCore import QStringListModel, Qt, Signal
from PySide6.QtWidgets import QComboBox, QCompleter, QLineEdit, QWidget

from rigplanner.catalog.schema.parts import GPU
from rigplanner.desktop.controls.flow_row import FlowRow, let_flow
from rigplanner.desktop.document.session import Session
from rigplanner.desktop.words import shortened
from rigplanner.planning.presets import Preset, presets
from rigplanner.report.language import tr
from rigplanner.report.words.workloads import PRESET_WORDS, title_of
from rigplanner.rig.workload import Workload

MOST_SUGGESTED = 40


class Works(Struct, frozen=True):
    """Works, and what each is called; `own` GPUs of the rig that they come from, 0 of none."""

    works: tuple[Workload, ...] = ()
    titles: tuple[str, ...] = ()
    own: int = 0

    @property
    def title(self) -> str:
        """What they are called together."""
        return "; ".join(self.titles)


PRODUCTS = {"matrix": None, "matrix fp64": "fp64", "matrix fp32": "fp32", "matrix fp16": "fp16"}
"""Products of matrices, by what is typed: their format."""


class WorkChooser(QWidget):
    """A list of the rig's workloads, a field for any model of the zoo, and what it shall do."""

    changed = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._preset: Preset | None = None
        self.list = QComboBox()
        self.list.setAccessibleName(tr("Work"))
        self.list.setMinimumContentsLength(24)
        self.list.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.list.activated.connect(lambda _: self._take_list())
        self.field = QLineEdit()
        self.field.setPlaceholderText(tr("Another model: llama-3.1-8b, sdxl …"))
        self.field.setAccessibleName(tr("Another model"))
        self.field.setMaxLength(200)
        self.field.setClearButtonEnabled(True)
        self._names = QStringListModel(self)
        completer = QCompleter(self._names, self)
        completer.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.activated.connect(lambda _: self._take_field())
        self.field.setCompleter(completer)
        self.field.textEdited.connect(self._suggest)
        self.field.returnPressed.connect(self._take_field)
        self.task = QComboBox()
        self.task.setAccessibleName(tr("Task"))
        self.task.activated.connect(lambda _: self._take_field())
        self.task.hide()
        let_flow(self, FlowRow(self.list, self.field, self.task))

    def refresh(self) -> None:
        """Offer the workloads of the rig as it stands; the choice stays where it can."""
        works = self._session.rig.workloads if self._session.is_open else ()
        before = self.list.currentIndex()
        texts = [shortened(title_of(work), 60) for work in works]
        if len(works) > 1:
            texts.insert(0, tr("All {count} workloads of the rig", count=len(works)))
        if [self.list.itemText(n) for n in range(self.list.count())] != texts:
            self.list.clear()
            self.list.addItems(texts)
            self.list.setCurrentIndex(min(max(0, before), len(texts) - 1))
        self.list.setVisible(bool(texts))

    def chosen(self) -> Works:
        """Return the works that are asked for; none where nothing is named."""
        named = self._named()
        if named is not None:
            return Works((named,), (title_of(named),))
        works = self._session.rig.workloads if self._session.is_open else ()
        at = self.list.currentIndex() - (1 if len(works) > 1 else 0)
        if not works or at >= len(works):
            return Works()
        asked = works if at < 0 else (works[at],)
        return Works(asked, tuple(map(title_of, asked)), self.gpus())

    def gpus(self) -> int:
        """Return how many GPUs for jobs the rig has."""
        rig, catalog = self._session.rig, self._session.catalog
        return sum(
            item.quantity
            for item in rig.items
            if isinstance(catalog.get(item.part), GPU) and item.role != "display"
        )

    def _named(self) -> Workload | None:
        from rigplanner.catalog.zoo import shipped_zoo

        words = self.field.text().strip()
        if words.casefold() in PRODUCTS:
            named = words.casefold()
            return Workload(name=named, model="matrix", precision=PRODUCTS[named])
        model = shipped_zoo().get(words) if words else None
        if model is None:
            return None
        offered = presets(model.kind)
        preset = self.task.currentData()
        fields = (preset if preset in offered else offered[0]).fields
        return Workload(model=model.slug, **{k: v for k, v in fields.items() if v is not None})

    def _suggest(self, text: str) -> None:
        from rigplanner.catalog.zoo import shipped_zoo

        found = shipped_zoo().find(text)[:MOST_SUGGESTED] if text.strip() else []
        typed = text.strip().casefold()
        plain = [name for name in PRODUCTS if typed and name.startswith(typed)]
        self._names.setStringList([*plain, *(model.slug for model in found)][:MOST_SUGGESTED])
        if not text.strip():
            self.task.hide()
            self.changed.emit()

    def _take_list(self) -> None:
        self.field.clear()
        self.task.hide()
        self.changed.emit()

    def _take_field(self) -> None:
        from rigplanner.catalog.zoo import shipped_zoo

        words = self.field.text().strip()
        if words.casefold() in PRODUCTS:
            self.task.hide()
            self.changed.emit()
            return
        model = shipped_zoo().get(words) or next(iter(shipped_zoo().find(words)), None)
        if not words or model is None:
            if words:
                near = ", ".join(shipped_zoo().nearest(words))
                told = tr('No model named "{words}".', words=shortened(words, 40))
                self._session.tell(
                    f"{told} {tr('Did you mean {near}?', near=near)}" if near else told, "warning"
                )
            return
        self.field.setText(model.slug)
        offered = presets(model.kind)
        if [self.task.itemData(n) for n in range(self.task.count())] != list(offered):
            self.task.clear()
            for preset in offered:
                self.task.addItem(PRESET_WORDS[preset.code], preset)
        self.task.setVisible(len(offered) > 1)
        self.changed.emit()
