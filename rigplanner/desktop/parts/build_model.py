"""The build list: what is in the rig by kind, and which kinds it still lacks."""

from typing import Any

from msgspec import Struct
from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from rigplanner.catalog.prices.exchange import convert
from rigplanner.catalog.schema.parts import KINDS, Price, System, kind_of
from rigplanner.desktop.controls.tips import plain
from rigplanner.desktop.document.session import Session
from rigplanner.desktop.parts.offers import CONDITION_WORDS, usual_rates
from rigplanner.desktop.parts.outline import Outline, outline_of
from rigplanner.desktop.words import KIND_WORDS, THIN, VERDICT_WORDS, age, is_older, money
from rigplanner.economics.totals import price_of
from rigplanner.report.language import listed, tr
from rigplanner.rig.document import Item, Rig, part_of
from rigplanner.rules.core.finding import CheckReport

Index = QModelIndex | QPersistentModelIndex
ROW_ROLE = Qt.ItemDataRole.UserRole
ESSENTIAL = ("gpu", "cpu", "motherboard", "memory", "storage", "psu", "chassis", "cooler")
IN_SYSTEM = ("motherboard", "psu", "chassis", "cooler")
RANKS = {"error": 0, "unknown": 1, "warning": 2, "info": 3, "fits": 4}


class BuildRow(Struct, frozen=True, kw_only=True):
    """One line: an item of the rig, or (`uid` None) a kind that is still to be chosen. `stale`: its
    price is older than wished."""

    kind: str
    uid: str | None = None
    name: str = ""
    quantity: int = 1
    places: str = ""
    price: str = ""
    price_age: str = ""
    stale: bool = False
    verdict: str = ""
    outline: Outline | None = None

    @property
    def title(self) -> str:
        """The name with its quantity."""
        return f"{self.quantity} × {self.name}" if self.quantity > 1 else self.name

    @property
    def detail(self) -> str:
        """Price, the price's age, and place."""
        return " · ".join(text for text in (self.price, self.price_age, self.places) if text)


def build_rows(session: Session) -> list[BuildRow]:
    """Return the rows of the open rig in the order in which a person builds."""
    rig, order = session.rig, list(KINDS)
    assessment = session.assessment
    rows = [
        _item_row(session, item, assessment.report if assessment else None) for item in rig.items
    ]
    parts = [piece.part for piece in assessment.machine.pieces] if assessment else []
    present = {row.kind for row in rows} | {kind_of(part) for part in parts}
    systems = [
        part
        for item in rig.items
        if isinstance(part := part_of(rig, session.catalog, item.part), System)
    ]
    brought = {
        *(IN_SYSTEM if systems else ()),
        *("memory" for system in systems if system.layout.memory_modules == ("onboard",)),
    }
    missing = [kind for kind in ESSENTIAL if kind not in present | brought]
    rows += [BuildRow(kind=kind) for kind in missing]
    return sorted(
        rows, key=lambda row: (order.index(row.kind) if row.kind in order else 99, row.uid is None)
    )


def _item_row(session: Session, item: Item, report: CheckReport | None) -> BuildRow:
    part = part_of(session.rig, session.catalog, item.part)
    price, own = price_of(session.rig, item.uid, session.catalog)
    amount = _price_text(price, session.rig) if price else tr("no price")
    free = price is not None and not price.amount
    return BuildRow(
        kind=kind_of(part) if part else "accessory",
        uid=item.uid,
        name=part.name if part else tr("{part} (not in the catalog)", part=item.part),
        quantity=item.quantity,
        places=places_of(session, item),
        price=tr("included")
        if free
        else tr("{price} each", price=amount)
        if price and item.quantity > 1
        else amount,
        price_age="" if free else _age_text(price, own, session.today),
        stale=price is not None and not free and is_stale(price.day, session),
        verdict=worst(report, item) if report else "",
        outline=outline_of(part),
    )


def _age_text(price: Price | None, own: bool, today: str) -> str:
    """Return "used, 2 months old", "set by hand", or "" for a price of today."""
    if own or price is None:
        return tr("set by hand") if own else ""
    old = age(price.day, today)
    told = [CONDITION_WORDS[price.condition]] if price.condition != "new" else []
    return listed([*told, *([tr("{age} old", age=old)] if old not in ("", tr("today")) else [])])


def _price_text(price: Price, rig: Rig) -> str:
    """Return a price in the rig's currency, "≈" where a rate counts it; as it is without a rate."""
    counted = convert(price.amount, price.currency, rig.currency, rig.exchange or usual_rates())
    if price.currency == rig.currency or counted is None:
        return money(price.amount, price.currency, whole=True)
    return f"≈{THIN}{money(counted, rig.currency, whole=True)}"


def is_stale(day: str, session: Session) -> bool:
    """Return whether a price of that day is older than the person lets prices be."""
    return is_older(day, session.today, session.preferences.now.price_days)


def places_of(session: Session, item: Item) -> str:
    """Return where the pieces of an item stand, as the machine was assembled."""
    assessment = session.assessment
    if assessment is None:
        return ""
    names = set(item.pieces())
    found = [use.slot.id for use in assessment.machine.slots if use.piece in names]
    found += [
        use.port.id for use in assessment.machine.drives for piece in use.pieces if piece in names
    ]
    return ", ".join(found)


def worst(report: CheckReport, item: Item) -> str:
    """Return the worst severity among the findings on an item's pieces, "fits" when there is
    none."""
    names = {item.uid, *item.pieces()}
    severities = [finding.severity for finding in report.findings if names & set(finding.subjects)]
    return min(severities, key=lambda severity: RANKS[severity], default="fits")


class BuildModel(QAbstractListModel):
    """The rows as Qt sees them."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: list[BuildRow] = []

    def show(self, rows: list[BuildRow]) -> None:
        """Show rows; only what differs is repainted when the lines stay the same."""
        if [(row.kind, row.uid) for row in rows] == [(row.kind, row.uid) for row in self.rows]:
            old, self.rows = self.rows, rows
            for n, (before, after) in enumerate(zip(old, rows, strict=True)):
                if before != after:
                    self.dataChanged.emit(self.index(n), self.index(n))
            return
        self.beginResetModel()
        self.rows = rows
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self.rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        row = self.rows[index.row()]
        if role == ROW_ROLE:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return row.title if row.uid else tr("Choose {kind}", kind=KIND_WORDS[row.kind])
        if role == Qt.ItemDataRole.ToolTipRole and row.uid:
            verdict = VERDICT_WORDS.get(row.verdict, "")
            return plain(f"{row.title}\n{row.detail}\n{verdict}".strip())
        if role == Qt.ItemDataRole.AccessibleTextRole:
            verdict = VERDICT_WORDS.get(row.verdict, "")
            return (
                f"{KIND_WORDS[row.kind]}: {row.title}, {row.detail}, {verdict}"
                if row.uid
                else tr("Choose {kind}", kind=KIND_WORDS[row.kind])
            )
        return None

    def row_of(self, uid: str) -> int | None:
        """Return the line of an item."""
        return next((n for n, row in enumerate(self.rows) if row.uid == uid), None)
