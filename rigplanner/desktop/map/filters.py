"""What a map is narrowed by: numbers, kinds, prices, words, a budget, and what it is sorted by."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace
from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QDoubleValidator
from PySide6.QtWidgets import QComboBox, QLineEdit, QSizePolicy, QWidget

from rigplanner.catalog.imports.user_catalog import newest_rates
from rigplanner.catalog.prices.exchange import convert
from rigplanner.catalog.prices.prices import is_day
from rigplanner.catalog.schema.parts import GPU
from rigplanner.desktop.controls.flow_row import FlowRow, let_flow
from rigplanner.desktop.controls.tips import plain
from rigplanner.desktop.document.session import Session
from rigplanner.desktop.look.theme import row_px
from rigplanner.desktop.map.weights import Wish
from rigplanner.machine.displays import taken_of_jobs
from rigplanner.planning.map.asked import Question
from rigplanner.planning.map.cards import Condition, Money
from rigplanner.planning.map.money import Terms
from rigplanner.report.language import Words, tr, trn
from rigplanner.report.map.figures import SORT_WORDS
from rigplanner.rig.document import Rig, part_of
from rigplanner.rig.workload import Workload

COUNTS: tuple[tuple[int, ...], ...] = ((1,), (2,), (4,), (8,), (1, 2), (1, 2, 4), (1, 2, 4, 8))
KINDS = (("card", "machine", "hire"), ("card", "machine"), ("card",), ("machine",), ("hire",))
KIND_CHOICES = Words(
    {
        "card machine hire": "Cards, machines, rent",
        "card machine": "Cards and machines",
        "card": "Cards",
        "machine": "Whole machines",
        "hire": "Cloud instances",
    }
)
CONDITION_CHOICES = Words(
    {"any": "Newest prices", "new": "Prices of new parts", "used": "Prices of used parts"}
)
TYPING_MS = 350
HOURS_PER_DAY = 8.0
"""Of a site that does not say for how long it works."""


def money_of(rig: Rig, today: str, condition: Condition = "any") -> Money:
    """Return in what the map counts: the rig's money, US dollars where no rate reaches that."""
    rates = rig.exchange or newest_rates()
    known = convert(1.0, "USD", rig.currency, rates) is not None
    return Money(rig.currency if known else "USD", rates, condition, today=today)


class Filters(QWidget):
    """A line of choices; `changed` when another question is asked."""

    changed = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.counts = _choice(
            tr("Number of GPUs"), [(_count_text(counts), counts) for counts in COUNTS]
        )
        self.kinds = _choice(tr("Kinds"), [(KIND_CHOICES[" ".join(kind)], kind) for kind in KINDS])
        self.condition = _choice(
            tr("Prices"), [(CONDITION_CHOICES[key], key) for key in ("any", "new", "used")]
        )
        self.sort = _choice(tr("Sorted by"), [(SORT_WORDS[key], key) for key in SORT_WORDS])
        for box in (self.counts, self.kinds, self.condition, self.sort):
            box.activated.connect(lambda _: self.changed.emit())
        self.words = QLineEdit()
        self.words.setPlaceholderText(tr("Names, as 4090 or mac"))
        self.words.setAccessibleName(tr("Names"))
        self.words.setMaxLength(80)
        self.budget = QLineEdit()
        self.budget.setAccessibleName(tr("Budget"))
        self.budget.setPlaceholderText(tr("Budget"))
        self.budget.setMaxLength(12)
        check = QDoubleValidator(0.0, 1e9, 2, self.budget)
        check.setNotation(QDoubleValidator.Notation.StandardNotation)
        self.budget.setValidator(check)
        self.day = QLineEdit()
        self.day.setAccessibleName(tr("Market of the day"))
        self.day.setPlaceholderText(tr("Day, as 2017-04-09"))
        self.day.setMaxLength(len("2017-04-09"))
        self._typing = QTimer(self, singleShot=True, interval=TYPING_MS)
        self._typing.timeout.connect(self.changed)
        for field, rows in ((self.words, 8), (self.budget, 5), (self.day, 6)):
            field.setClearButtonEnabled(True)
            field.setFixedWidth(row_px() * rows)
            field.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
            field.textEdited.connect(lambda _: self._typing.start())
        fields = (self.counts, self.kinds, self.condition, self.sort, self.words, self.budget)
        let_flow(self, FlowRow(*fields, self.day))

    def start_with(self, count: int) -> None:
        """Begin with as many GPUs as the rig has, where that is a choice."""
        if (count,) in COUNTS:
            self.counts.setCurrentIndex(COUNTS.index((count,)))

    def question(
        self, works: Sequence[Workload], own: int, wishes: Sequence[Wish] = ()
    ) -> Question:
        """Return what is asked of these works, in the rig's money; `own`: how many GPUs the rig has
        that they come from; `wishes`: the weight and the least speed of each work."""
        money = self.money()
        tariff, site = self._session.rig.site.energy_per_kwh, self._session.rig.site
        counted = tariff.amount if tariff and tariff.currency == money.currency else None
        amount, known = self.budget.locale().toDouble(self.budget.text())
        return Question(
            works=tuple(works),
            weights=tuple(float(wish.weight) for wish in wishes) or (1.0,) * len(works),
            least=tuple(wish.least for wish in wishes),
            own=own,
            counts=self.counts.currentData(),
            kinds=self.kinds.currentData(),
            words=self.words.text().strip(),
            money=money,
            terms=Terms(counted, site.hours_per_day or HOURS_PER_DAY),
            budget=amount if known and amount > 0 else None,
            sort=self.sort.currentData(),
            monitors_gib=self._monitors_gib(),
        )

    def money(self) -> Money:
        """The rig's currency, of prices in the condition and known by the day asked for; a day that
        is none, or is to come, leaves the market of today."""
        day = self.day.text().strip()
        known = is_day(day) and day <= self._session.today
        money = money_of(self._session.rig, self._session.today, self.condition.currentData())
        return replace(money, day=day if known else "")

    def _monitors_gib(self) -> float:
        """What the rig's monitors would take of a card in the stead of its own."""
        rig, catalog = self._session.rig, self._session.catalog
        gpus = [i.uid for i in rig.items if isinstance(part_of(rig, catalog, i.part), GPU)]
        return taken_of_jobs(rig, gpus)


def _count_text(counts: tuple[int, ...]) -> str:
    if len(counts) == 1:
        return trn("{count} GPU", "{count} GPUs", counts[0])
    return tr("{counts} GPUs", counts=" / ".join(map(str, counts)))


def _choice(name: str, entries: Sequence[tuple[str, Any]]) -> QComboBox:
    made = QComboBox()
    made.setAccessibleName(name)
    made.setToolTip(plain(name))
    made.setMinimumContentsLength(max(8, min(18, max(len(text) for text, _ in entries))))
    made.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    for text, value in entries:
        made.addItem(text, value)
    return made
