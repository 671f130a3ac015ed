"""The settings of one workload. Every change is an edit at once; an empty field means the stack's usual value."""

from collections.abc import Callable
from typing import Any

from PySide6.QtWidgets import QComboBox, QFormLayout, QLineEdit, QSpinBox, QWidget

from rigplanner.desktop.session import Session
from rigplanner.desktop.widgets import indented
from rigplanner.desktop.words import shortened
from rigplanner.report.language import tr
from rigplanner.report.quote_jobs import workload_title
from rigplanner.rig.edits import Edit
from rigplanner.rig.task import Parallelism, Workload
from rigplanner.rules.assess import Job

TASKS = (
    ("train", "Training"),
    ("train_full", "Training, all weights"),
    ("train_lora", "Training, LoRA"),
    ("train_qlora", "Training, QLoRA"),
    ("inference", "Inference"),
    ("prefill", "Inference, prompt only"),
    ("decode", "Inference, output only"),
    ("serve", "Serving"),
)
PRECISIONS = ("fp32", "tf32", "fp16", "bf16", "amp_fp16", "amp_bf16", "fp8", "int8", "int4", "nf4", "q4_k_m")
OPTIMIZERS = ("adamw", "adam", "sgd", "sgd_momentum", "adafactor", "adamw_8bit", "paged_adamw_8bit", "lion")
CHECKPOINTING = ("none", "selective", "full")
ATTENTION = ("eager", "sdpa", "flash")
TEXT_KINDS = ("llm", "moe", "vlm", "encoder", "encoder_decoder")
TRAINING = ("train", "train_full", "train_lora", "train_qlora")


class WorkloadForm(QWidget):
    """Fields in two columns of labels; those that do not concern the task are hidden."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._index = -1
        self._filling = False
        self._form = QFormLayout(self)
        self._form.setContentsMargins(0, 0, 0, 0)
        self._form.setSpacing(4)
        self._fields: dict[str, QWidget] = {}
        self.name = QLineEdit()
        self.name.setMaxLength(200)
        self.name.editingFinished.connect(lambda: self._change("name", self.name.text().strip() or None, tr("Name")))
        self._add("name", tr("Name"), self.name)
        self._choice("task", tr("Task"), [(words, code) for code, words in TASKS], usual=False)
        self._choice("precision", tr("Precision"), [(code, code) for code in PRECISIONS])
        self._number("batch_per_gpu", tr("Batch per GPU"), 65536)
        self._number("seq_len", tr("Sequence"), 4_194_304, "tokens")
        self._number("input_tokens", tr("Prompt"), 4_194_304, "tokens")
        self._number("output_tokens", tr("Output"), 4_194_304, "tokens")
        self._number("image_size", tr("Image"), 16384, "px")
        self._choice("optimizer", tr("Optimizer"), [(code, code) for code in OPTIMIZERS])
        self._choice("gradient_checkpointing", tr("Checkpointing"), [(code, code) for code in CHECKPOINTING])
        self._choice("attention", tr("Attention"), [(code, code) for code in ATTENTION])
        self._number("lora_rank", "LoRA rank", 4096)
        self._choice("kv_precision", "KV cache", [(code, code) for code in ("fp16", "bf16", "fp8", "int8")])
        self._number("zero", "ZeRO stage", 3, parallel=True)
        self._number("tensor", tr("Tensor parallel"), 64, parallel=True)
        self._number("pipeline", tr("Pipeline"), 64, parallel=True)

    def _add(self, field: str, title: str, widget: QWidget) -> None:
        widget.setAccessibleName(title)
        self._fields[field] = widget
        self._form.addRow(title, widget)

    def _choice(self, field: str, title: str, choices: list[tuple[str, str]], usual: bool = True) -> None:
        box = QComboBox()
        if usual:
            box.addItem("usual", None)
        for words, code in choices:
            box.addItem(words, code)
        box.activated.connect(lambda _: self._change(field, box.currentData(), title))
        self._add(field, title, box)

    def _number(self, field: str, title: str, most: int, unit: str = "", parallel: bool = False) -> None:
        box = QSpinBox(minimum=0, maximum=most)
        box.setSpecialValueText("usual" if not parallel else "none")
        indented(box)
        if unit:
            box.setSuffix(f"\u202f{unit}")
        box.setStepType(QSpinBox.StepType.AdaptiveDecimalStepType if most > 4096 else QSpinBox.StepType.DefaultStepType)
        set_value: Callable[[int], None] = (
            self._parallel(field, title) if parallel else lambda n: self._change(field, n or None, title)
        )
        box.valueChanged.connect(set_value)
        self._add(field, title, box)

    def _parallel(self, field: str, title: str) -> Callable[[int], None]:
        def change(number: int) -> None:
            if self._filling or self._index < 0:
                return
            now = self._session.rig.workloads[self._index].parallelism or Parallelism()
            fields: dict[str, Any] = {name: getattr(now, name) for name in now.__struct_fields__}
            fields[field] = number if field == "zero" else max(1, number)
            made = Parallelism(**fields)
            self._change("parallelism", None if made == Parallelism() else made, title)

        return change

    def show_job(self, job: Job | None) -> None:
        """Show the settings of a workload."""
        self._filling = True
        self._index = job.index if job else -1
        self.setEnabled(job is not None)
        if job is not None:
            work = job.workload
            if not self.name.hasFocus():
                self.name.setText(work.name or "")
            self.name.setPlaceholderText(shortened(workload_title(job), 40))
            for field, widget in self._fields.items():
                if field != "name":
                    _fill(widget, _value(work, field))
            self._hide_idle(work)
        self._filling = False

    def _hide_idle(self, work: Workload) -> None:
        from rigplanner.catalog.zoo import shipped_zoo

        model = shipped_zoo().get(work.model) if work.model else None
        kind = work.kind or (model.kind if model else None)
        text = kind is None or kind in TEXT_KINDS or work.config is not None
        training = work.task is None or work.task in TRAINING
        shown = {
            "seq_len": text and training,
            "input_tokens": text and not training,
            "output_tokens": text and not training,
            "image_size": not text or kind == "vlm",
            "optimizer": training,
            "gradient_checkpointing": training,
            "attention": text,
            "lora_rank": work.task in ("train_lora", "train_qlora"),
            "kv_precision": text and not training,
            "zero": training,
            "pipeline": text,
        }
        for field, on in shown.items():
            self._form.setRowVisible(self._fields[field], on or _value(work, field) not in (None, 0, 1))

    def _change(self, field: str, value: Any, title: str) -> None:
        if self._filling or self._index < 0 or self._index >= len(self._session.rig.workloads):
            return
        if _value(self._session.rig.workloads[self._index], field) == value:
            return
        edit = Edit("change_workload", {"index": self._index, field: value})
        self._session.edit(
            tr("{title} of workload {number}", title=title, number=self._index + 1), edit, merge=f"workload {self._index} {field}"
        )


def _value(work: Workload, field: str) -> Any:
    if field in ("zero", "tensor", "pipeline"):
        number = getattr(work.parallelism, field) if work.parallelism else 0
        return 0 if field != "zero" and number == 1 else number
    value = getattr(work, field)
    if field == "gradient_checkpointing" and isinstance(value, bool):
        return "full" if value else "none"
    return value[0] if isinstance(value, list) and value else value


def _fill(widget: QWidget, value: Any) -> None:
    widget.blockSignals(True)
    if isinstance(widget, QSpinBox):
        widget.setValue(int(value or 0))
    elif isinstance(widget, QComboBox):
        at = widget.findData(value)
        if at < 0 and value is not None:
            widget.addItem(str(value), value)
            at = widget.count() - 1
        widget.setCurrentIndex(max(0, at))
    widget.blockSignals(False)
