"""The catalog table: rows filtered and sorted as plain lists, cells made only when they are
seen."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from msgspec import Struct
from PySide6.QtCore import (
    QAbstractTableModel,
    QMimeData,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
)

from rigplanner.catalog.prices.exchange import ExchangeRates
from rigplanner.catalog.schema.parts import AnyPart, Price
from rigplanner.desktop.controls.tips import plain
from rigplanner.desktop.help.hints import column_hint
from rigplanner.desktop.look import icons
from rigplanner.desktop.look.tokens import STATE_OF
from rigplanner.desktop.parts.carried import ITEMS, parts_data
from rigplanner.desktop.parts.columns import FACETS, Column, Span, Value, spans_of, table_columns
from rigplanner.desktop.parts.offers import Asked, Offers
from rigplanner.desktop.words import VERDICT_ICONS, VERDICT_WORDS, cell
from rigplanner.economics.totals import own_price
from rigplanner.report.format import as_wished
from rigplanner.report.language import tr

Index = QModelIndex | QPersistentModelIndex
FIT, NAME = 0, 1
PART_ROLE = Qt.ItemDataRole.UserRole
KEPT_ROWS = 1000
"""Rows whose cells are remembered; some twenty are in sight."""
Find = Callable[[str, str], list[AnyPart]]
"""Words and kind to the parts of the kind that hold them all."""


class Fit(Struct, frozen=True, gc=False):
    """Whether a part would do in the rig: the worst verdict of what it brings, the codes of the
    rules that say why, the cause in a few words, and what would cure an error ("" for nothing)."""

    verdict: str
    codes: tuple[str, ...] = ()
    cause: str = ""
    cure: str = ""

    @property
    def rank(self) -> int:
        """The place in the default order: what fits, warns, can be cured, is unknown, cannot."""
        if self.verdict == "error":
            return 2 if self.cure else 4
        return {"fits": 0, "warning": 1, "unknown": 3}[self.verdict]


class Cell(Struct, frozen=True):
    """What a cell shows: text, unit, and an icon with the token that colours it (without an icon,
    the text)."""

    text: str
    unit: str = ""
    icon: str = ""
    tone: str = "text"


class Wish(Struct, frozen=True, kw_only=True):
    """What the table shall show: words, facet values by title, least and greatest values by title
    of the figure (None for no end), only favourites, only what fits."""

    words: str = ""
    facets: dict[str, str] = {}
    ranges: dict[str, tuple[float | None, float | None]] = {}
    favourites: bool = False
    fitting: bool = False


def figure_cell(value: Value, spec: Column) -> Cell:
    """Return a figure in the unit that the person reads."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        shown, unit, digits = as_wished(value, spec.unit, spec.digits)
        return Cell(cell(shown, digits), unit)
    return Cell(cell(value, spec.digits), "" if value is None else spec.unit)


def _is_between(value: float | None, least: float | None, most: float | None) -> bool:
    """Whether a value lies in a range; what is not known does not."""
    if value is None:
        return False
    return (least is None or value >= least) and (most is None or value <= most)


class PartsModel(QAbstractTableModel):
    """One kind of part. Columns: fit, name, the kind's own, price, and of which day that is.

    Until a head is clicked, rows stand by what fits, then by price; they are arranged so when they
    are asked for (`settle`), not while badges come: a row that is read must not move."""

    def __init__(
        self,
        find: Find,
        currency: str,
        today: str,
        parent: QObject | None = None,
        asked: Asked = own_price,
    ) -> None:
        super().__init__(parent)
        self._find = find
        self.offers = Offers(currency, today, asked)
        self.installed: frozenset[str] = frozenset()
        self._is_judging = False
        self.replaced = ""
        self._wish = Wish()
        self._sort: tuple[int, Qt.SortOrder] | None = None
        self._keys: dict[int, dict[str, tuple[bool, Any]]] = {}
        self._fits: dict[str, Fit] = {}
        self._stale: dict[str, Fit] = {}
        self._cells: dict[str, list[Cell]] = {}
        self._figures: tuple[bool, ...] = ()
        self.kind = ""
        self.columns: tuple[Column, ...] = ()
        self.parts: list[AnyPart] = []
        self.total = 0
        self.favourites: frozenset[str] = frozenset()

    def show(self, kind: str, wish: Wish) -> None:
        """Show the parts of a kind that a wish leaves."""
        self.beginResetModel()
        if kind != self.kind:
            self.kind, self.columns, self._sort = kind, table_columns(kind), None
            self.total = len(self._find("", kind))
            self._keys.clear()
            self.offers.forget()
            self._fits.clear()
            self._stale.clear()
            known = (spec.digits is not None or bool(spec.unit) for spec in self.columns)
            self._figures = (False, False, *known, True, False)
        self._cells.clear()
        self._wish = wish
        self._select()
        self.endResetModel()

    def _select(self) -> None:
        wish = self._wish
        found: list[Any] = self._find(wish.words, self.kind)
        for facet in FACETS[self.kind]:
            if chosen := wish.facets.get(facet.title):
                found = [part for part in found if str(facet.value(part)) == chosen]
        for span in spans_of(self.kind):
            if (ends := wish.ranges.get(span.title)) is not None:
                found = [part for part in found if _is_between(self._figure(part, span), *ends)]
        if wish.favourites:
            found = [part for part in found if part.id in self.favourites]
        if wish.fitting:
            found = [part for part in found if self._passes(part.id)]
        self.parts = found
        if self._sort:
            self._arrange(*self._sort)
        else:
            self.parts = sorted(found, key=self._place)

    def _place(self, part: AnyPart) -> tuple[bool, int, bool, float]:
        """Where a part stands in the default order: the one whose whole name is asked for, then
        what fits, then what has a price, then by price."""
        named = part.name.casefold() == self._wish.words.strip().casefold()
        fit, amount = self._shown_fit(part.id), self.offers.amount(part)
        return (not named, fit.rank if fit else 3, amount is None, amount or 0.0)

    def _figure(self, part: AnyPart, span: Span) -> float | None:
        if span.value is None:
            return self.offers.amount(part)
        value = span.value(part)
        return value if isinstance(value, int | float) else None

    def settle(self) -> None:
        """Arrange the rows by the badges that are known now, unless a head was clicked."""
        if self._sort is None:
            self._move_rows(lambda: setattr(self, "parts", sorted(self.parts, key=self._place)))

    def _passes(self, part_id: str) -> bool:
        fit = self._shown_fit(part_id)
        return fit is None or fit.verdict in ("fits", "warning")

    def facet_counts(self, title: str) -> list[tuple[str, int]]:
        """Return the values of a facet among the parts that the words leave, most frequent
        first."""
        facet = next(each for each in FACETS[self.kind] if each.title == title)
        counts: dict[str, int] = {}
        for part in self._find(self._wish.words, self.kind):
            value = facet.value(part)
            if value is not None:
                counts[str(value)] = counts.get(str(value), 0) + 1
        return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))

    def set_currency(
        self, currency: str, rates: ExchangeRates | None = None, stale_days: int = 0
    ) -> None:
        """Show prices in this currency, others counted by the rates, and mark old ones."""
        if self.offers.use(currency, rates, stale_days):
            self._keys.clear()
            self._cells.clear()
            self._repaint(self.price_column)

    def judge(self, is_open: bool) -> None:
        """Say of parts without a badge that it is being made, where a rig is open to judge them."""
        if is_open != self._is_judging:
            self._is_judging = is_open
            self._cells.clear()

    def mark(self, installed: frozenset[str], replaced: str) -> None:
        """Mark the parts that are in the rig; `replaced` is the one that a choice would take out,
        "" for none."""
        if (installed, replaced) != (self.installed, self.replaced):
            for part_id in self.installed ^ installed | {self.replaced, replaced}:
                self._cells.pop(part_id, None)
            self.installed, self.replaced = installed, replaced
            if self.kind:
                self._repaint(NAME)

    @property
    def price_column(self) -> int:
        """The column of the price; behind it stands its day."""
        return self.columnCount() - 2

    def set_fits(self, fits: dict[str, Fit]) -> None:
        """Add badges as they come from the worker."""
        changed = any(self._shown_fit(part_id) != fit for part_id, fit in fits.items())
        self._fits.update(fits)
        self._keys.pop(FIT, None)
        for part_id in fits:
            self._cells.pop(part_id, None)
        if changed and self._wish.fitting:
            self.beginResetModel()
            self._select()
            self.endResetModel()
        elif changed:
            self._repaint(FIT)

    def forget_fits(self) -> None:
        """The rig changed: all badges are to be made anew, and are shown as they were until
        then."""
        self._stale.update(self._fits)
        self._fits.clear()

    def _shown_fit(self, part_id: str) -> Fit | None:
        return self._fits.get(part_id) or self._stale.get(part_id)

    def judged(self) -> frozenset[str]:
        """Return the ids of the parts that have a badge."""
        return frozenset(self._fits)

    def fit_of(self, part_id: str) -> Fit | None:
        """Return the badge of a part, None while it is being made."""
        return self._fits.get(part_id)

    def _repaint(self, column: int) -> None:
        if self.parts:
            self.dataChanged.emit(self.index(0, column), self.index(len(self.parts) - 1, column))

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self.parts)

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() or not self.kind else len(self.columns) + 4

    def row_of(self, part_id: str) -> int | None:
        """Return the row of a part, None when the filter hides it."""
        return next((row for row, part in enumerate(self.parts) if part.id == part_id), None)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        part, column = self.parts[index.row()], index.column()
        if role == PART_ROLE:
            return part
        if role == Qt.ItemDataRole.DisplayRole:
            return self.cells(index.row())[column].text
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return self._spoken(index.row(), column)
        if role == Qt.ItemDataRole.DecorationRole:
            cell = self.cells(index.row())[column]
            return icons.icon(cell.icon, cell.tone) if cell.icon else None
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain(self._tip(part, column) or "") or None
        if role == Qt.ItemDataRole.TextAlignmentRole and self.is_figure(column):
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = super().flags(index)
        return flags | Qt.ItemFlag.ItemIsDragEnabled if index.isValid() else flags

    def mimeTypes(self) -> list[str]:
        return [ITEMS, "text/plain"]

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:
        rows = sorted({index.row() for index in indexes})
        return parts_data([self.parts[n] for n in rows])

    def is_figure(self, column: int) -> bool:
        """Whether a column holds numbers."""
        return self._figures[column]

    def cells(self, row: int) -> list[Cell]:
        """Return what a row shows, column by column."""
        part = self.parts[row]
        cells = self._cells.get(part.id)
        if cells is None:
            if len(self._cells) >= KEPT_ROWS:
                self._cells.clear()
            figures = (figure_cell(spec.of(part), spec) for spec in self.columns)
            star = "star-full" if part.id in self.favourites else ""
            marked = part.id in self.installed and part.id != self.replaced
            mark = tr("installed") if marked else ""
            name = Cell(part.name, mark, icon=star, tone="accent" if star else "text")
            cells = self._cells[part.id] = [
                self._fit_cell(part),
                name,
                *figures,
                self._price_cell(part),
                self._day_cell(part),
            ]
        return cells

    def _fit_cell(self, part: AnyPart) -> Cell:
        fit = self._shown_fit(part.id)
        if part.id == self.replaced:
            return Cell(tr("in the rig"), "", "tick", "soft")
        if fit is None:
            return Cell("…" if self._is_judging else "")
        words = fit.cause or VERDICT_WORDS[fit.verdict]
        if fit.verdict == "error" and fit.cure:
            return Cell(words, "", "wrench", "warns")
        return Cell(words, "", VERDICT_ICONS[fit.verdict], STATE_OF[fit.verdict])

    def _price_cell(self, part: AnyPart) -> Cell:
        return Cell(self.offers.price_text(part))

    def _day_cell(self, part: AnyPart) -> Cell:
        text, old = self.offers.day_text(part)
        return Cell(text, tone="warns" if old else "soft")

    def _tip(self, part: AnyPart, column: int) -> str | None:
        if column == FIT:
            return self._reasons(part)
        if column >= self.price_column:
            return self.offers.tip(part)
        return part.name if column == NAME else None

    def _spoken(self, row: int, column: int) -> str:
        """What a screen reader says of a cell: a verdict by word, a figure with its unit; of a
        name, where the row is entered, the verdict too."""
        cell, part = self.cells(row)[column], self.parts[row]
        if column == NAME:
            return f"{part.name}, {self._spoken(row, FIT)}"
        if column == FIT and (fit := self._shown_fit(part.id)) and part.id != self.replaced:
            word = VERDICT_WORDS[fit.verdict]
            return f"{word}: {fit.cause}" if fit.cause else word
        return f"{cell.text} {cell.unit}".strip()

    def _reasons(self, part: AnyPart) -> str | None:
        """Why a part has its badge: verdict, cause, what would cure it, then one rule a line."""
        from rigplanner.report.words.causes import CURE_WORDS
        from rigplanner.report.words.findings import rule_title

        if part.id == self.replaced:
            return tr("This part is in the rig.")
        fit = self._shown_fit(part.id)
        if fit is None:
            return None
        head = VERDICT_WORDS[fit.verdict].capitalize()
        return "\n".join(
            [
                f"{head}: {fit.cause}" if fit.cause else head,
                *([CURE_WORDS[fit.cure]] if fit.cure else []),
                *(f"{code}  {rule_title(code)}" for code in fit.codes),
            ]
        )

    def price_of(self, part: AnyPart) -> Price | None:
        """Return the price by which a rig would count the part."""
        offer = self.offers.of(part)
        return offer.given if offer else None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < self.columnCount():
            return None
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain(column_hint(self.headerData(section, orientation)))
        if role == Qt.ItemDataRole.DisplayRole:
            return (
                tr("Fit"),
                tr("Name"),
                *(tr(column.title) for column in self.columns),
                tr("Price"),
                tr("Dated"),
            )[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = (
                Qt.AlignmentFlag.AlignRight
                if self.is_figure(section)
                else Qt.AlignmentFlag.AlignLeft
            )
            return side | Qt.AlignmentFlag.AlignVCenter
        return None

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        if not 0 <= column < self.columnCount():
            return
        self._sort = (column, order)
        self._move_rows(lambda: self._arrange(column, order))

    def _move_rows(self, arrange: Callable[[], None]) -> None:
        """Put the rows into another order; what is chosen stays chosen."""
        self.layoutAboutToBeChanged.emit()
        kept = self.persistentIndexList()
        ids = [self.parts[index.row()].id for index in kept]
        arrange()
        rows = {part.id: row for row, part in enumerate(self.parts)}
        self.changePersistentIndexList(
            kept, [self.index(rows[i], old.column()) for i, old in zip(ids, kept, strict=True)]
        )
        self.layoutChanged.emit()

    def _arrange(self, column: int, order: Qt.SortOrder) -> None:
        """Sort the rows; unknown values stay last in either direction."""
        keys = self._keys_of(column)
        known = [part for part in self.parts if keys[part.id][0]]
        blank = [part for part in self.parts if not keys[part.id][0]]
        known.sort(key=lambda part: keys[part.id][1], reverse=order == Qt.SortOrder.DescendingOrder)
        self.parts = known + blank

    def _keys_of(self, column: int) -> dict[str, tuple[bool, Any]]:
        if column not in self._keys:
            parts: Iterable[Any] = self._find("", self.kind)
            values = {part.id: self._key(part, column) for part in parts}
            mixed = len({type(value) is str for value in values.values() if value is not None}) > 1
            self._keys[column] = {
                part_id: (value is not None, str(value) if mixed else value)
                for part_id, value in values.items()
            }
        return self._keys[column]

    def _key(self, part: AnyPart, column: int) -> Value:
        if column == FIT:
            fit = self._shown_fit(part.id)
            return None if fit is None else fit.rank
        if column == NAME:
            return part.name.casefold()
        if column == self.price_column:
            return self.offers.amount(part)
        if column > self.price_column:
            price = self.price_of(part)
            return price.day if price else None
        value = self.columns[column - 2].of(part)
        return value.casefold() if isinstance(value, str) else value
