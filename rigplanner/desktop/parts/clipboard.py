"""Parts that go and come by clipboard and drag: items of a rig as they are, rows of tables and
lists of parts as text."""

from collections.abc import Callable, Iterable

import msgspec
from PySide6.QtCore import QMimeData, Qt
from PySide6.QtWidgets import QTableView

from rigplanner.catalog.schema.parts import kind_of
from rigplanner.decoding import read_json
from rigplanner.desktop.document.session import Session
from rigplanner.desktop.parts.carried import ITEMS, link_of
from rigplanner.desktop.parts.choice import rate_edits
from rigplanner.desktop.parts.model import PartsModel
from rigplanner.desktop.words import shortened
from rigplanner.report.language import tr, trn
from rigplanner.report.words.importing import taken_text
from rigplanner.rig.document import Item, Rig, part_of
from rigplanner.rig.edits import Edit, new_uid
from rigplanner.rig.from_text.parts_list import Entry, read_parts_list


def paste_data(
    session: Session, data: QMimeData | None, ask_page: Callable[[str], object] | None = None
) -> None:
    """Add what came to the rig as one step, and say what became of it; the address of a page is
    handed to `ask_page`, which reads its price. A clipboard that another program is changing has
    no data at all."""
    data = data or QMimeData()
    if not data.hasFormat(ITEMS) and (link := link_of(data)):
        take_link(session, link) if ask_page is None else ask_page(link)
        return
    try:
        items = (
            read_json(bytes(data.data(ITEMS).data()), list[Item]) if data.hasFormat(ITEMS) else []
        )
        entries = [] if items else read_parts_list(data.text(), session.index, session.today)
    except (msgspec.MsgspecError, ValueError) as fault:
        session.tell(str(fault), "warning")
        return
    known = [item for item in items if part_of(session.rig, session.catalog, item.part)]
    wanted = known or _items_of(entries)
    if not wanted:
        session.tell(tr("The clipboard contains no known part."), "warning")
        return
    first = part_of(session.rig, session.catalog, wanted[0].part)
    name = (
        tr("Add {name}", name=first.name)
        if first and len(wanted) == 1
        else trn("Add {count} part", "Add {count} parts", len(wanted))
    )
    if session.edit(name, *edits_that_add(session, wanted)):
        said = taken_text(entries) if entries else tr("Done: {words}", words=name)
        session.tell(said, "info", tr("Undo"), session.undo)


def take_link(session: Session, link: str) -> None:
    """Say what can be done with the page of a shop."""
    session.tell(
        tr(
            "This is a link to {site}. File > Paste a link to a price… reads its price; the part"
            " itself comes from the catalog.",
            site=shortened(link.partition("://")[2].partition("/")[0], 40),
        ),
        "warning",
    )


def _items_of(entries: Iterable[Entry]) -> list[Item]:
    return [
        Item(
            uid=kind_of(entry.wish.parts[0]),
            part=entry.wish.parts[0].id,
            quantity=entry.wish.quantity,
            price=entry.price,
        )
        for entry in entries
        if entry.wish.parts
    ]


def edits_that_add(session: Session, items: Iterable[Item]) -> list[Edit]:
    """Return the edits that add items with all they carry but their places, which the other rig may
    not have."""
    edits: list[Edit] = []
    rig: Rig = session.rig
    for item in items:
        part = part_of(rig, session.catalog, item.part)
        stem = kind_of(part) if part else item.uid
        prices = [item.price] if item.price else part.prices if part else ()
        edits += rate_edits(session, prices)
        uid = new_uid(rig, stem)
        rig = msgspec.structs.replace(
            rig, items=(*rig.items, msgspec.structs.replace(item, uid=uid))
        )
        edits.append(
            Edit(
                "add_part",
                {"part": item.part, "stem": stem, "quantity": item.quantity, "price": item.price},
            )
        )
        if item.power_cap_w:
            edits.append(Edit("set_power_cap", {"uid": uid, "watts": item.power_cap_w}))
        if item.tax_percent is not None:
            edits.append(Edit("set_tax", {"uid": uid, "percent": item.tax_percent}))
    return edits


def rows_text(table: QTableView) -> str:
    """Return the rows that are chosen in a table, cells parted by tabs, hidden columns left out."""
    model, chosen = table.model(), sorted({index.row() for index in table.selectedIndexes()})
    columns = [n for n in range(model.columnCount()) if not table.isColumnHidden(n)]
    lines = [
        [str(model.index(line, n).data(Qt.ItemDataRole.DisplayRole) or "") for n in columns]
        for line in chosen
    ]
    return "\n".join("\t".join(cells) for cells in lines)


def catalog_rows(model: PartsModel) -> list[list[str]]:
    """Return all that the catalog table lists, heads first: figures as plain numbers with their
    units in the heads."""
    heads = [
        tr("Fit"),
        tr("Name"),
        *(f"{tr(c.title)} ({c.unit})" if c.unit else tr(c.title) for c in model.columns),
    ]
    rows = [[*heads, tr("Price"), tr("Currency"), tr("Price dated"), tr("Source"), "id"]]
    for n, part in enumerate(model.parts):
        price = model.price_of(part)
        paid = (
            [_figure(price.amount), price.currency, price.day, price.source] if price else [""] * 4
        )
        rows.append(
            [
                model.cells(n)[0].text,
                part.name,
                *(_figure(c.of(part)) for c in model.columns),
                *paid,
                part.id,
            ]
        )
    return rows


def _figure(value: float | str | None) -> str:
    return "" if value is None else value if isinstance(value, str) else f"{value:.10g}"
