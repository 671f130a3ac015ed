"""Lists of parts as the tests of this folder read them: in the shipped catalog, on one day."""

from rigplanner.catalog.find.find import index_of
from rigplanner.catalog.load import shipped_catalog
from rigplanner.rig.from_text.parts_list import Entry, read_parts_list

SHIPPED = index_of(shipped_catalog())


def entries(text: str) -> list[Entry]:
    return read_parts_list(text, SHIPPED, "2026-11-23")


def read(text: str) -> list[tuple[int, str]]:
    """How many of which part each line gives; "?" for none."""
    return [
        (entry.wish.quantity, entry.wish.parts[0].id if entry.wish.parts else "?")
        for entry in entries(text)
    ]
