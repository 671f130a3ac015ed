"""The settings of one workload. Every change is an edit at once; an empty field means the stack's
usual value."""

from typing import Any

from PySide6.QtWidgets import (
    QComboBox,
    QDoubleSpinBox,
    QFormLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QSizePolicy,
    QSpinBox,
    QWidget,
)

from rigplanner.desktop.controls.tips import plain
from rigplanner.desktop.controls.widgets import indented, label
from rigplanner.desktop.document.session import Session
from rigplanner.desktop.look.theme import row_px
from rigplanner.desktop.words import shortened
from rigplanner.desktop.workloads.fields import (
    CACHES,
    DRAFTS,
    ENGINES,
    EXPERTS,
    FOLDED,
    LAYOUTS,
    OF_PARALLELISM,
    OFFLOADS,
    PLACES,
    PRECISIONS,
    PROMPT_SETS,
    QUANTS,
    SAMPLES,
    SPLITS,
    SYNCS,
    TIPS,
    TRAINING,
    concerned,
    edited,
    stacks_for,
    value_of,
)
from rigplanner.desktop.workloads.step_slider import BATCHES, LENGTHS, StepSlider
from rigplanner.memory.mig import geometry_of
from rigplanner.planning.presets import Preset, preset_fields, presets
from rigplanner.planning.what_if import TEXT_KINDS, gpu_item
from rigplanner.report.language import THIN, Words, tr
from rigplanner.report.quote.jobs import workload_title
from rigplanner.report.words.workloads import PRESET_WORDS
from rigplanner.rig.edits import Edit
from rigplanner.rig.workload import Workload
from rigplanner.rules.assess import Assessment, Job

TASKS = Words(
    {
        "train": "Training",
        "train_full": "Training, all weights",
        "train_lora": "Training, LoRA",
        "train_qlora": "Training, QLoRA",
        "grpo": "Training, GRPO",
        "ppo": "Training, PPO",
        "dpo": "Training, DPO",
        "inference": "Inference",
        "prefill": "Inference, prefill only",
        "decode": "Inference, output only",
        "serve": "Serving",
        "matrix": "Product of matrices",
        "dataframe": "Table in GPU memory",
        "simulate": "Simulated environments",
    }
)
OPTIMIZERS = (
    "adamw",
    "adam",
    "sgd",
    "sgd_momentum",
    "adafactor",
    "adamw_8bit",
    "paged_adamw_8bit",
    "lion",
)
CHECKPOINTING = ("none", "selective", "full")
ATTENTION = ("eager", "sdpa", "flash")
DATA_PLACES = Words({"drives": "drives of the rig", "network": "network"})
DECODERS = Words({"cpu": "CPU", "gpu": "GPU"})
DATA_FORMATS = Words(
    {
        "files": "one file per sample",
        "packed": "packed",
        "mapped": "mapped arrays",
        "tokens": "tokens",
    }
)
COUNTS = tuple(range(1, 17))
LONGEST = 4_194_304
ZERO_MEANS = ("gpu_layers",)
"""Numbers of which 0 is not the same as none."""


class WorkloadForm(QWidget):
    """Fields in two columns of labels; those that do not concern the task are hidden."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._index = -1
        self._gpu_item: str | None = None
        self._filling = False
        self._shown: Workload | None = None
        self._form = QFormLayout(self)
        self._form.setContentsMargins(0, 0, 0, 0)
        self._form.setVerticalSpacing(3)
        self._form.setHorizontalSpacing(8)
        self._form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self.setMinimumWidth(row_px() * 10)
        self._fields: dict[str, QWidget] = {}
        self._add_model()
        self._add_sizes()
        self._add_details()
        self._add_folded()
        self._add_data()

    def label_width(self) -> int:
        """Return what the widest of the labels takes, in pixels."""
        return max(label.sizeHint().width() for label in self.findChildren(QLabel))

    def _add_model(self) -> None:
        self.name = QLineEdit()
        self.name.setMaxLength(200)
        self.name.editingFinished.connect(
            lambda: self._change("name", self.name.text().strip() or None, tr("Name"))
        )
        self._add("name", tr("Name"), self.name)
        self.preset = QComboBox()
        self.preset.setAccessibleName(tr("Preset"))
        self.preset.activated.connect(lambda _: self._take_preset())
        self.preset.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._form.addRow(tr("Preset"), self.preset)
        self._choice("task", tr("Task"), [(TASKS[code], code) for code in TASKS], usual=False)
        self._choice("stack", tr("Software"), [])
        self._choice("precision", tr("Precision"), [(code, code) for code in PRECISIONS])

    def _add_sizes(self) -> None:
        self._slide("users", tr("Users"), BATCHES, 65536)
        self._slide("batch_per_gpu", tr("Batch per GPU"), BATCHES, 65536)
        self._slide("seq_len", tr("Tokens"), LENGTHS, LONGEST)
        self._slide("input_tokens", tr("Prompt"), LENGTHS, LONGEST)
        self._slide("output_tokens", tr("Output"), LENGTHS, LONGEST)
        self.gpus = StepSlider(tr("GPUs"), COUNTS, COUNTS[-1], self._set_gpus)
        self.gpus.field.setMinimum(1)
        self._form.addRow(tr("GPUs"), self.gpus)
        self._choice("mig", tr("Partition"), [])
        self._number("images", tr("Images"), 1000)
        self._number("image_size", tr("Image"), 16384, "px")
        self._number("frames", tr("Frames"), 100_000)
        self._number("steps", tr("Steps"), 10_000)
        self._number("matrix_n", tr("Matrix"), 1_000_000)

    def _add_details(self) -> None:
        self._choice("optimizer", tr("Optimizer"), [(code, code) for code in OPTIMIZERS])
        self._choice(
            "gradient_checkpointing", tr("Checkpointing"), [(code, code) for code in CHECKPOINTING]
        )
        self._number("lora_rank", tr("LoRA rank"), 4096)
        self._choice(
            "kv_precision",
            tr("KV cache"),
            [(code, code) for code in CACHES],
        )
        self._number("zero", tr("ZeRO stage"), 3)
        self._number("tensor", tr("Tensor parallel"), 64)

    def _add_folded(self) -> None:
        """Fields that few jobs need, below one switch."""
        self.more = QPushButton(tr("More settings"))
        self.more.setCheckable(True)
        self.more.setToolTip(
            plain(tr("Placement, serving, drafts and other settings that few jobs need"))
        )
        self.more.toggled.connect(lambda _: self._hide_idle(self._shown) if self._shown else None)
        self._form.addRow(self.more)
        self._choice("quant", tr("Quantised by"), [(code, code) for code in QUANTS])
        self._figure("request_rate", tr("Requests"), 1e5, tr("per second"))
        self._number("prefix_tokens", tr("Shared prefix"), LONGEST)
        self._choice("prompt_set", tr("Prompts like"), [(code, code) for code in PROMPT_SETS])
        self._figure("target_tokens_s", tr("Each user at least"), 1e5, tr("tokens/s"))
        self._figure("target_first_token_ms", tr("First token within"), 1e6, "ms")
        self._choice("draft", tr("Drafts"), [(DRAFTS[code], code) for code in DRAFTS])
        self._number("draft_tokens", tr("Drafted tokens"), 64)
        self._figure("accepted", tr("Drafts kept"), 1.0, "", decimals=2)
        self._number("gpu_layers", tr("Layers on GPU"), 1000)
        self._choice("experts", tr("Experts"), [(EXPERTS[code], code) for code in EXPERTS])
        self._number("n_cpu_moe", tr("MoE layers in RAM"), 1000)
        self._line("override_tensors", tr("Tensors in RAM"))
        self._number("ubatch", tr("Prompt piece"), 65536)
        self._choice("cache_place", tr("Cache"), [(PLACES[code], code) for code in PLACES])
        self._choice("split", tr("Split"), [(SPLITS[code], code) for code in SPLITS])
        self._figure("cpu_offload_gb", tr("Weights in RAM"), 1e4, "GB")
        self._figure("memory_utilization", tr("Share of the GPU"), 1.0, "", decimals=2)
        self._figure("weights_gib", tr("Size of the weights"), 1e5, "GiB")
        self._choice("offload", tr("Offload"), [(OFFLOADS[code], code) for code in OFFLOADS])
        self._line("lora_targets", tr("LoRA targets"))
        self._number("gradient_accumulation", tr("Accumulation"), 4096)
        self._choice("attention", tr("Attention"), [(code, code) for code in ATTENTION])
        self._choice("samples", tr("Texts"), [(SAMPLES[code], code) for code in SAMPLES])
        self._number("pipeline", tr("Pipeline"), 64)
        self._number("generations", tr("Answers a prompt"), 1024)
        self._choice("engine_place", tr("Engine"), [(ENGINES[code], code) for code in ENGINES])
        self._number("height", tr("Height"), 16384, "px")
        self._number("beams", tr("Beams"), 100)
        self._figure("guidance", tr("Guidance"), 100.0, "")
        self._line("framework_text", tr("Release"))
        self._choice("layout", tr("Layout"), [(LAYOUTS[code], code) for code in LAYOUTS])
        self._choice("sync", tr("Copies wait"), [(SYNCS[code], code) for code in SYNCS])
        self._number("staleness", tr("Steps ahead"), 1000)

    def _add_data(self) -> None:
        """How much is trained on what: from these come the time of a training and the input
        pipeline."""
        self._data_title = label(tr("Data set").upper(), "section")
        self._form.addRow(self._data_title)
        self._figure("dataset_gb", tr("Size"), 1e7, "GB")
        self._figure("dataset_samples", tr("Samples"), 1e12, "", whole=True)
        self._choice(
            "dataset_format", tr("Format"), [(DATA_FORMATS[code], code) for code in DATA_FORMATS]
        )
        self._choice(
            "dataset_place", tr("Storage"), [(DATA_PLACES[code], code) for code in DATA_PLACES]
        )
        self._choice(
            "dataset_decoding", tr("Decoded by"), [(DECODERS[code], code) for code in DECODERS]
        )
        self._figure("epochs", tr("Epochs"), 1e6, "")
        self._figure("train_tokens", tr("Training tokens"), 1e9, tr("million tokens"), factor=1e6)

    def _add(self, field: str, title: str, widget: QWidget) -> None:
        widget.setAccessibleName(title)
        widget.setToolTip(plain(TIPS[field]))
        widget.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._fields[field] = widget
        self._form.addRow(title, widget)

    def _choice(
        self, field: str, title: str, choices: list[tuple[str, str]], usual: bool = True
    ) -> None:
        box = QComboBox()
        if usual:
            box.addItem(tr("default"), None)
        for words, code in choices:
            box.addItem(words, code)
        box.activated.connect(lambda _: self._change(field, box.currentData(), title))
        self._add(field, title, box)

    def _slide(self, field: str, title: str, stops: tuple[int, ...], most: int) -> None:
        slider = StepSlider(title, stops, most, lambda n: self._change(field, n or None, title))
        slider.field.setSpecialValueText(tr("default"))
        self._add(field, title, slider)

    def _figure(
        self,
        field: str,
        title: str,
        most: float,
        unit: str,
        factor: float = 1.0,
        whole: bool = False,
        decimals: int = 1,
    ) -> None:
        box = QDoubleSpinBox(minimum=0, maximum=most, decimals=0 if whole else decimals)
        box.setSpecialValueText(tr("not set"))
        box.setGroupSeparatorShown(True)
        box.setProperty("factor", factor)
        box.setKeyboardTracking(False)
        indented(box)
        if unit:
            box.setSuffix(f"{THIN}{unit}")
        box.valueChanged.connect(
            lambda n: self._change(field, (round(n) if whole else n * factor) or None, title)
        )
        self._add(field, title, box)

    def _number(self, field: str, title: str, most: int, unit: str = "") -> None:
        """A whole number; where 0 means something of its own (no layer on the GPU) nothing is one
        below it."""
        of_all = field in OF_PARALLELISM
        least = -1 if field in ZERO_MEANS else 0
        box = QSpinBox(minimum=least, maximum=most)
        box.setSpecialValueText(tr("none") if of_all else tr("default"))
        indented(box)
        if unit:
            box.setSuffix(f"{THIN}{unit}")
        box.valueChanged.connect(
            lambda n: (
                self._change(field, n if of_all or (least < 0 <= n) else n or None, title)
                if n > least or least == 0
                else self._change(field, None, title)
            )
        )
        self._add(field, title, box)

    def _line(self, field: str, title: str) -> None:
        line = QLineEdit()
        line.setMaxLength(400)
        line.setPlaceholderText(tr("default"))
        line.editingFinished.connect(lambda: self._change(field, line.text().strip(), title))
        self._add(field, title, line)

    def _take_preset(self) -> None:
        preset = self.preset.currentData()
        if isinstance(preset, Preset) and self._index >= 0:
            assessment = self._session.assessment
            fields = preset_fields(preset, assessment.machine if assessment else None)
            edit = Edit("change_workload", {"index": self._index, **fields})
            self._session.edit(PRESET_WORDS[preset.code], edit)

    def _set_gpus(self, count: int) -> None:
        if not self._filling and self._gpu_item is not None:
            words = tr("Number of GPUs")
            edit = Edit("set_quantity", {"uid": self._gpu_item, "quantity": count})
            self._session.edit(words, edit, merge=f"quantity {self._gpu_item}")

    def show_job(self, job: Job | None, assessment: Assessment | None = None) -> None:
        """Show the settings of a workload and how many GPUs do it."""
        self._filling = True
        self._index = job.index if job else -1
        self.setEnabled(job is not None)
        if job is not None:
            work = job.workload
            if not self.name.hasFocus():
                self.name.setText(work.name or "")
                self.name.setCursorPosition(0)
            self.name.setPlaceholderText(shortened(workload_title(job), 40))
            for field, widget in self._fields.items():
                if field not in ("name", "stack"):
                    _fill(widget, value_of(work, field))
            self._shown = work
            self._hide_idle(work)
            self._show_defaults(job)
            self._show_partitions(work, assessment)
        self._show_gpus(assessment)
        self._filling = False

    def _show_partitions(self, work: Workload, assessment: Assessment | None) -> None:
        """Offer the partitions (MIG) of the cards, where they have any."""
        gpu = assessment.machine.gpus[0].gpu if assessment and assessment.machine.gpus else None
        made = geometry_of(gpu) if gpu else None
        box = self._fields["mig"]
        assert isinstance(box, QComboBox)
        names = [profile.name for profile in made.profiles] if made else []
        if [box.itemData(n) for n in range(1, box.count())] != names:
            box.clear()
            box.addItem(tr("whole cards"), None)
            for name in names:
                box.addItem(name, name)
        _fill(box, work.mig)
        self._form.setRowVisible(box, bool(names) or work.mig is not None)

    def _show_defaults(self, job: Job) -> None:
        """Say in each field what stands for an absent setting, where the answer tells."""
        assumed = {
            **(job.memory[0].assumed if job.memory else {}),
            **(job.speed.assumed if job.speed else {}),
        }
        for field, widget in self._fields.items():
            value = assumed.get(field) or assumed.get(f"parallelism.{field}")
            words = tr("default ({value})", value=value) if value else tr("default")
            if isinstance(widget, QComboBox):
                if widget.itemData(0) is None and field != "mig":
                    widget.setItemText(0, words)
            elif isinstance(widget, QSpinBox) and (value or field not in OF_PARALLELISM):
                widget.setSpecialValueText(words)

    def _show_gpus(self, assessment: Assessment | None) -> None:
        self._gpu_item = gpu_item(assessment.rig, assessment.machine) if assessment else None
        self._form.setRowVisible(self.gpus, self._gpu_item is not None)
        item = assessment.rig.item(self._gpu_item) if assessment and self._gpu_item else None
        if item is not None:
            self.gpus.show_value(item.quantity)

    def _hide_idle(self, work: Workload) -> None:
        from rigplanner.catalog.zoo import shipped_zoo

        model = shipped_zoo().get(work.model) if work.model else None
        kind = work.kind or (model.kind if model else None)
        text = kind is None or kind in TEXT_KINDS or work.config is not None
        training = work.task is None or work.task in TRAINING
        self._show_presets(None if work.config is not None else kind)
        self._show_stacks(work, stacks_for(work, text, kind))
        self._form.setRowVisible(self._data_title, training)
        shown = concerned(work, text, kind)
        for field, widget in self._fields.items():
            folded = field in FOLDED and not self.more.isChecked()
            on = shown.get(field, True) and not folded
            if field != "mig":
                self._form.setRowVisible(widget, on or value_of(work, field) not in (None, 0, 1))

    def _show_stacks(self, work: Workload, offered: tuple[str, ...]) -> None:
        """Offer the software that such jobs are run with."""
        box = self._fields["stack"]
        assert isinstance(box, QComboBox)
        if [box.itemData(n) for n in range(1, box.count())] != list(offered):
            box.clear()
            box.addItem(tr("default"), None)
            for slug in offered:
                box.addItem(slug, slug)
        _fill(box, work.stack)

    def _show_presets(self, kind: str | None) -> None:
        offered = presets(kind)
        if [self.preset.itemData(n) for n in range(1, self.preset.count())] != list(offered):
            self.preset.clear()
            self.preset.addItem(tr("Choose…"), None)
            for preset in offered:
                self.preset.addItem(PRESET_WORDS[preset.code], preset)
        self.preset.setCurrentIndex(0)

    def _change(self, field: str, value: Any, title: str) -> None:
        if self._filling or self._index < 0 or self._index >= len(self._session.rig.workloads):
            return
        work = self._session.rig.workloads[self._index]
        if value_of(work, field) == value:
            return
        edit = Edit("change_workload", {"index": self._index, **edited(work, field, value)})
        self._session.edit(
            tr("{title} of workload {number}", title=title, number=self._index + 1),
            edit,
            merge=f"workload {self._index} {field}",
        )


def _fill(widget: QWidget, value: Any) -> None:
    if isinstance(widget, StepSlider):
        widget.show_value(int(value or 0))
        return
    widget.blockSignals(True)
    if isinstance(widget, QSpinBox):
        widget.setValue(widget.minimum() if value is None else int(value))
    elif isinstance(widget, QLineEdit):
        if not widget.hasFocus():
            widget.setText(str(value or ""))
    elif isinstance(widget, QDoubleSpinBox):
        widget.setValue(float(value or 0) / widget.property("factor"))
    elif isinstance(widget, QComboBox):
        at = widget.findData(value)
        if at < 0 and value is not None:
            widget.addItem(str(value), value)
            at = widget.count() - 1
        widget.setCurrentIndex(max(0, at))
    widget.blockSignals(False)
