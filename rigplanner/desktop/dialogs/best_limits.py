"""The limits of *Find the best* that few questions need, folded below one switch: weights and least
speeds, parts that are owned or must be in it, makers, money and sizes."""

from collections import Counter
from collections.abc import Callable, Sequence

from msgspec.structs import replace
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QCheckBox,
    QDoubleSpinBox,
    QFormLayout,
    QGridLayout,
    QLineEdit,
    QPushButton,
    QSpinBox,
    QWidget,
)

from rigplanner.catalog.find.find import PartIndex
from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import GPU
from rigplanner.desktop.controls.tips import plain
from rigplanner.desktop.controls.widgets import clear, indented, label, stretchy
from rigplanner.planning.best.named import UnknownPart, circuit_named, parts_named
from rigplanner.planning.best.question import (
    LEAST_CORES,
    LEAST_RAM_GIB,
    LEAST_STORAGE_GB,
    MOST_CARDS,
    PRICE_AGE_DAYS,
    Owned,
    Question,
    Want,
)
from rigplanner.planning.best.upgrade import RESALE
from rigplanner.report.language import tr
from rigplanner.report.words.workloads import title_of
from rigplanner.rig.workload import Workload

MOST_WORKS = 12
"""Works of which weight and least speed can be said."""
MAKERS_A_ROW = 3
LONGEST = 400


class LimitFault(ValueError):
    """What was entered cannot be asked; its text is for the person."""


def makers_sold(catalog: Catalog) -> tuple[str, ...]:
    """Return the makers of the chips of all cards with a price, the one of most cards first."""
    sold = Counter(
        gpu.chip_maker
        for gpu in catalog.of_kind("gpu")
        if isinstance(gpu, GPU) and gpu.form_factor == "pcie" and gpu.prices
    )
    return tuple(sorted(sold, key=lambda maker: (-sold[maker], maker)))


class MoreLimits(QWidget):
    """Fields that few questions need; `changed` is called when one of them is another."""

    def __init__(self, catalog: Catalog, changed: Callable[[], object]) -> None:
        super().__init__()
        self._catalog, self._changed = catalog, changed
        self.more = QPushButton(tr("More limits"))
        self.more.setCheckable(True)
        self.more.setToolTip(
            plain(tr("Weights, least speeds, parts owned or a must, makers, sizes and prices"))
        )
        self._body = QWidget()
        self._body.setVisible(False)
        self.more.toggled.connect(self._body.setVisible)
        form = QFormLayout(self._body)
        form.setContentsMargins(0, 0, 0, 0)
        form.setVerticalSpacing(8)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapAllRows)
        self._works = QGridLayout()
        self._works.setColumnStretch(0, 1)
        form.addRow(self._works)
        self.wants: list[tuple[QDoubleSpinBox, QDoubleSpinBox]] = []
        self._add_parts(form)
        self._add_sizes(form)
        whole = QFormLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addRow(self.more)
        whole.addRow(self._body)

    def _add_parts(self, form: QFormLayout) -> None:
        self.owned = self._words(form, tr("Parts I own"), "2x RTX 3090, RM1000x")
        self.pinned = self._words(form, tr("Parts that must be in it"), "4x RTX 3090")
        self.makers = [QCheckBox(maker) for maker in makers_sold(self._catalog)]
        ticks = QGridLayout()
        ticks.setColumnStretch(MAKERS_A_ROW, 1)
        for n, box in enumerate(self.makers):
            ticks.addWidget(box, *divmod(n, MAKERS_A_ROW))
            box.setChecked(True)
            box.toggled.connect(lambda _: self._changed())
            box.setToolTip(
                plain(
                    tr("Cards with chips of this maker count.")
                    + "\n"
                    + tr("Without the tick they are left out.")
                )
            )
        form.addRow(tr("Makers of cards"), ticks)
        self.circuit = self._words(form, tr("Circuit"), "230V16A")

    def _add_sizes(self, form: QFormLayout) -> None:
        self.cards = self._figure(form, tr("Most cards"), 0, MOST_CARDS, MOST_CARDS)
        self.cores = self._figure(form, tr("Least processor cores"), 1, 512, LEAST_CORES)
        self.ram = self._figure(form, tr("Least RAM"), 0, 65536, int(LEAST_RAM_GIB), "GiB")
        self.drive = self._figure(form, tr("Least drive"), 0, 10**6, int(LEAST_STORAGE_GB), "GB")
        self.age = self._figure(form, tr("Oldest price"), 0, 36500, PRICE_AGE_DAYS, tr("days"))
        self.resale = self._figure(form, tr("Resale of parts"), 0, 100, int(100 * RESALE), "%")
        self.abroad = QCheckBox(tr("Prices of other markets too"))
        self.abroad.toggled.connect(lambda _: self._changed())
        form.addRow(self.abroad)

    def _words(self, form: QFormLayout, title: str, such_as: str) -> QLineEdit:
        field = QLineEdit(maxLength=LONGEST, placeholderText=such_as)
        field.setAccessibleName(title)
        field.setClearButtonEnabled(True)
        field.textChanged.connect(lambda _: self._changed())
        form.addRow(title, field)
        return field

    def _figure(
        self, form: QFormLayout, title: str, least: int, most: int, usual: int, unit: str = ""
    ) -> QSpinBox:
        field = QSpinBox(minimum=least, maximum=most, value=usual)
        field.setSuffix(f"\u202f{unit}" if unit else "")
        self._watched(field, title)
        field.valueChanged.connect(lambda _: self._changed())
        form.addRow(title, field)
        return field

    def _watched(self, field: QAbstractSpinBox, title: str) -> None:
        field.setAccessibleName(title)
        indented(field)

    def show_works(self, works: Sequence[Workload]) -> None:
        """Offer weight and least speed of each work; what was said of other works is gone."""
        clear(self._works)
        self.wants = []
        for n, head in enumerate((tr("Work"), tr("Weight"), tr("Least speed"))):
            self._works.addWidget(label(head, "small"), 0, n)
        for at, work in enumerate(works[:MOST_WORKS]):
            title = title_of(work)
            weight = QDoubleSpinBox(minimum=0, maximum=100, decimals=1, value=1.0)
            least = QDoubleSpinBox(minimum=0, maximum=1e9, decimals=1)
            least.setSpecialValueText(tr("any"))
            self._watched(weight, tr("Weight of {work}", work=title))
            self._watched(least, tr("Least speed of {work}", work=title))
            what = tr("How much this work counts in the mean speed; 0: it must only fit.")
            weight.setToolTip(plain(f"{title}: {what}\n{tr('Twice the weight, twice the say.')}"))
            what = tr("What it must reach in its own unit, or the time that it may take.")
            least.setToolTip(plain(f"{title}: {what}\n{tr('Slower rigs are left out.')}"))
            for field in (weight, least):
                field.valueChanged.connect(lambda _: self._changed())
            self._works.addWidget(stretchy(label(title, "", wrap=True)), at + 1, 0)
            self.wants.append((weight, least))
            self._works.addWidget(weight, at + 1, 1)
            self._works.addWidget(least, at + 1, 2)

    def wanted(self, works: Sequence[Workload]) -> tuple[Want, ...]:
        """Return works with what was said of them."""
        told = [(weight.value(), least.value() or None) for weight, least in self.wants]
        told += [(1.0, None)] * (len(works) - len(told))
        return tuple(
            Want(workload=work, weight=weight, at_least=least)
            for work, (weight, least) in zip(works, told, strict=False)
        )

    def limited(self, question: Question, catalog: Catalog, index: PartIndex) -> Question:
        """Return a question with these limits. Raises LimitFault."""
        try:
            owned = parts_named(self.owned.text(), catalog, index)
            pinned = parts_named(self.pinned.text(), catalog, index)
        except UnknownPart as fault:
            raise LimitFault(tr("No part is called “{words}”.", words=str(fault))) from fault
        site, circuit = question.site, self.circuit.text().strip()
        if circuit:
            told = circuit_named(circuit)
            if told is None:
                raise LimitFault(tr("A circuit is written as 230V16A."))
            site = replace(site, volts=told[0], breaker_a=told[1])
        return replace(
            question,
            site=site,
            owned=tuple(Owned(part=part, quantity=many) for part, many in owned),
            pinned=tuple(part for part, _ in pinned),
            least_cards=max(
                (many for part, many in pinned if isinstance(catalog.get(part), GPU)), default=0
            ),
            not_makers=tuple(box.text() for box in self.makers if not box.isChecked()),
            abroad=self.abroad.isChecked(),
            most_cards=self.cards.value(),
            cores=self.cores.value(),
            ram_gib=float(self.ram.value()),
            storage_gb=float(self.drive.value()),
            price_age_days=self.age.value(),
        )
