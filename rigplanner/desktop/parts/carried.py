"""The form in which parts travel by clipboard and drag."""

from collections.abc import Sequence

import msgspec
from PySide6.QtCore import QMimeData

from rigplanner.catalog.schema.parts import AnyPart, kind_of
from rigplanner.rig.document import Item

ITEMS = "application/x-rigplanner-items"
"""The form in which items keep price, cap and tax; beside it stands the text that other programs
take."""


def items_data(items: Sequence[Item], names: Sequence[str]) -> QMimeData:
    """Return items for the clipboard or a drag, with the line of a parts list for each."""
    made = QMimeData()
    made.setData(ITEMS, msgspec.json.encode(items))
    made.setText(
        "\n".join(f"{item.quantity}x {name}" for item, name in zip(items, names, strict=True))
    )
    return made


def parts_data(parts: Sequence[AnyPart]) -> QMimeData:
    """Return one piece of each part for the clipboard or a drag."""
    items = [Item(uid=kind_of(part), part=part.id) for part in parts]
    return items_data(items, [part.name for part in parts])


def link_of(data: QMimeData) -> str:
    """Return the address of a page that is carried, "" where it is something else."""
    return next(
        (url.toString() for url in data.urls() if url.scheme() in ("http", "https")),
        text if (text := data.text().strip()).startswith(("http://", "https://")) else "",
    )


def takes(data: QMimeData) -> bool:
    """Say whether something might be parts, or the page of one."""
    return data.hasFormat(ITEMS) or bool(link_of(data)) or (data.hasText() and not data.hasUrls())
