"""The line that adds a workload: search with suggestions while typing, a starting point, and files
dropped on it."""

from pathlib import Path

from PySide6.QtCore import QStringListModel, Qt, QTimer
from PySide6.QtWidgets import QComboBox, QCompleter, QHBoxLayout, QLineEdit, QSizePolicy, QWidget

from rigplanner.catalog.zoo import Model
from rigplanner.desktop.controls.widgets import button, icon_button
from rigplanner.desktop.document.ask_file import ask_file
from rigplanner.desktop.document.session import Session
from rigplanner.desktop.words import number, shortened
from rigplanner.errors import WorkloadFault
from rigplanner.planning.model_files import SUFFIXES, workload_of_file
from rigplanner.planning.presets import Preset, preset_fields, presets
from rigplanner.report.language import THIN, tr
from rigplanner.report.words.workloads import PRESET_WORDS
from rigplanner.rig.edits import Edit
from rigplanner.rig.workload import Workload

MOST_SUGGESTED = 60
PLAIN_NAMES = {"matrix": ("matrix", "matrix"), "dataframe": ("dataframe", "dataframe")} | {
    name: ("simulate", name) for name in ("atari", "mujoco", "dm-control", "pybullet", "unity")
}
"""Jobs without a network, by the word that adds them: task and model."""
FILE_FILTER = "config.json, GGUF, safetensors (*.json *.gguf *.safetensors)"


class AddWorkload(QWidget):
    """A field that finds models by any words of their names, and what is to be done with the
    model."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.field = QLineEdit()
        self.field.setPlaceholderText(
            tr("Add a model: llama-3-8b, resnet-50, sdxl … or drop config.json, GGUF, safetensors")
        )
        self.field.setAccessibleName(tr("Model to add as a workload"))
        self.field.setMaxLength(200)
        self.field.setClearButtonEnabled(True)
        self._names = QStringListModel(self)
        self._found: dict[str, Model] = {}
        completer = QCompleter(self._names, self)
        completer.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)
        completer.setMaxVisibleItems(12)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.activated.connect(lambda _: QTimer.singleShot(0, self, self._show_presets))
        self.field.setCompleter(completer)
        self.field.textEdited.connect(self._suggest)
        self.field.returnPressed.connect(self.add)
        self.preset = QComboBox()
        self.preset.setAccessibleName(tr("Task"))
        self.preset.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.preset.setMinimumContentsLength(18)
        self.preset.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.preset.hide()
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 6, 12, 6)
        layout.setSpacing(8)
        layout.addWidget(self.field, 1)
        layout.addWidget(self.preset)
        layout.addWidget(button(tr("Add"), self.add, "plus", name=tr("Add the model")))
        layout.addWidget(icon_button("open", tr("Add a model from a file"), self._ask_file))

    def model_named(self) -> Model | None:
        """Return the model that the field names, by a suggestion, a name, or the first that holds
        its words."""
        from rigplanner.catalog.zoo import shipped_zoo

        words = self.field.text().strip()
        if not words:
            return None
        zoo = shipped_zoo()
        return self._found.get(words) or zoo.get(words) or next(iter(zoo.find(words)), None)

    def _suggest(self, text: str) -> None:
        from rigplanner.catalog.zoo import shipped_zoo

        found = shipped_zoo().find(text)[:MOST_SUGGESTED] if text.strip() else []
        self._found = {_suggestion(model): model for model in found}
        self._names.setStringList([*plain_names(text), *self._found][:MOST_SUGGESTED])
        self._show_presets()

    def _show_presets(self) -> None:
        plain = self.field.text().strip().casefold() in PLAIN_NAMES
        model = None if plain else self.model_named()
        offered = presets(model.kind) if model else ()
        if [self.preset.itemData(n) for n in range(self.preset.count())] != list(offered):
            self.preset.clear()
            for preset in offered:
                self.preset.addItem(PRESET_WORDS[preset.code], preset)
        self.preset.setVisible(len(offered) > 1)

    def add(self) -> None:
        """Add the model that is named, doing what is chosen."""
        from rigplanner.catalog.zoo import shipped_zoo

        words, found = self.field.text().strip(), self.model_named()
        if not words:
            self.field.setFocus()
            return
        if words.casefold() in PLAIN_NAMES:
            kind, model = PLAIN_NAMES[words.casefold()]
            self._put(Workload(model=model, task=kind), words)
            self.field.clear()
            return
        if found is None:
            near = ", ".join(shipped_zoo().nearest(words))
            said = tr('No model named "{words}".', words=repr(shortened(words, 40)))
            self._session.tell(
                f"{said} {tr('Did you mean {near}?', near=near)}" if near else said, "warning"
            )
            return
        chosen = self.preset.currentData()
        offered = presets(found.kind)
        preset: Preset = chosen if isinstance(chosen, Preset) and chosen in offered else offered[0]
        assessment = self._session.assessment
        fields = preset_fields(preset, assessment.machine if assessment else None)
        self._put(Workload(model=found.slug, **fields), found.name)
        self.field.clear()
        self._suggest("")

    def _put(self, work: Workload, name: str) -> None:
        self._session.edit(
            tr("Add workload {name}", name=name), Edit("add_workload", {"workload": work})
        )

    def takes(self, path: str) -> bool:
        """Return whether a dropped file could be a model."""
        return Path(path).suffix.casefold() in SUFFIXES or Path(path).is_dir()

    def add_file(self, path: Path) -> bool:
        """Add the model of a file; say what is wrong with one that is none."""
        try:
            work = workload_of_file(path)
        except WorkloadFault as fault:
            self._session.tell(
                tr("{name}: not a model ({fault})", name=path.name, fault=fault), "error"
            )
            return False
        self._put(work, work.name or path.name)
        return True

    def _ask_file(self) -> None:
        ask_file(self, tr("Add a model from a file"), self.add_file, FILE_FILTER)


def plain_names(text: str) -> list[str]:
    """Return the jobs without a network of whose name or task a text is the beginning."""
    typed = text.strip().casefold()
    return [
        name
        for name, (kind, _) in PLAIN_NAMES.items()
        if typed and (name.startswith(typed) or kind.startswith(typed))
    ]


def _suggestion(model: Model) -> str:
    """A model's name with its size where that tells it from its neighbours."""
    if not model.params_m:
        return model.name
    size = (
        f"{number(model.params_m / 1000)}{THIN}B"
        if model.params_m >= 1000
        else f"{number(model.params_m)}{THIN}M"
    )
    return f"{model.name}  ({size})"
