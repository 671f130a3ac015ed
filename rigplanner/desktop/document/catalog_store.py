"""The catalog that the window works with: its index made aside, exchanged as a whole when parts or
prices come in."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, get_args

from msgspec.structs import replace
from PySide6.QtCore import QObject, QTimer, Signal

from rigplanner.catalog.find.find import PartIndex, index_of, words_of
from rigplanner.catalog.imports.user_catalog import FullCatalog, full_catalog, user_folder
from rigplanner.catalog.load import Catalog, CatalogFault
from rigplanner.catalog.schema.parts import GPU, AnyPart, Status
from rigplanner.desktop.document.tasks import Tasks
from rigplanner.desktop.document.watch import Watch
from rigplanner.garbage import spare_the_living

INDEX, RELOAD = "index", "reload"
RENEWED_MS = 2_000
"""When a former window has gone, what was spared from the collector with it is looked through."""
STATUSES = get_args(Status)
"""In the order in which a table lists them."""


class Shelf(QObject):
    """`in_use` gives the ids of the parts that the open rig holds. `exchanged` is emitted when
    another catalog is in use, `faulted` with a sentence when files of it cannot be read."""

    exchanged = Signal()
    faulted = Signal(str)

    def __init__(self, catalog: Catalog, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.catalog = catalog
        self.in_use: Callable[[], Iterable[str]] = tuple
        self._tasks = tasks
        self._index: PartIndex | None = None
        self._ordered: dict[str, list[AnyPart]] = {}
        self._folder: Path | None = None
        self._follows = False
        self._watch = Watch(self)
        self._watch.changed.connect(self.reload)

    @property
    def index(self) -> PartIndex:
        """All parts by their words; made on the spot when it is not there yet."""
        if self._index is None:
            self._tasks.cancel(INDEX)
            self._take_index(index_of(self.catalog))
        assert self._index is not None
        return self._index

    def warm(self) -> None:
        """Make the index aside."""
        catalog = self.catalog

        def done(made: PartIndex) -> None:
            if catalog is self.catalog:
                self._take_index(made)

        if self._index is None:
            self._tasks.run_task(INDEX, lambda _: index_of(catalog), done)

    def _take_index(self, made: PartIndex) -> None:
        self._index = made
        spare_the_living()

    def find(self, words: str, kind: str | None = None, limit: int | None = None) -> list[AnyPart]:
        """Return the parts (of a kind) that hold all words, for none all of them, what is sold
        today and new first. While the index is being made, names alone are looked at."""
        if not words.strip():
            return self._in_order(kind) if kind else []
        if self._index is None and self._tasks.is_busy(INDEX):
            wanted = words_of(words)
            those: Any = self.catalog.of_kind(kind) if kind else self.catalog.parts.values()
            return [part for part in those if all(word in part.name.casefold() for word in wanted)][
                :limit
            ]
        found: list[Any] = self.index.search(words, kind, limit)
        return found

    def _in_order(self, kind: str) -> list[AnyPart]:
        if kind not in self._ordered:
            self._ordered[kind] = sorted(self.catalog.of_kind(kind), key=_newness, reverse=True)
        return self._ordered[kind]

    def use(self, catalog: Catalog) -> None:
        """Take another catalog in place of the present one. Parts in use that it lacks are kept
        while the window is open."""
        if catalog is self.catalog:
            return
        self.catalog, self._index = self._with_used(catalog), None
        self._ordered.clear()
        self._tasks.cancel(INDEX)
        self.exchanged.emit()
        self.warm()

    def _with_used(self, catalog: Catalog) -> Catalog:
        lost = {
            i: part
            for i in self.in_use()
            if (part := self.catalog.get(i)) is not None and catalog.get(i) is None
        }
        if not lost:
            return catalog
        sources = {
            key: self.catalog.sources[key]
            for part in lost.values()
            for key in part.sources
            if key in self.catalog.sources
        }
        return replace(
            catalog, parts={**catalog.parts, **lost}, sources={**sources, **catalog.sources}
        )

    def follow(self, folder: Path | None) -> None:
        """Read the user's catalog in a folder (None: the usual one) anew whenever a file of it
        changes."""
        self._folder, self._follows = folder, True
        top = folder or user_folder()
        folders = [top, *(top / name for name in ("updates", "imported", "prices"))]
        self._watch.watch([*folders, *(path for place in folders for path in place.glob("*.json"))])

    def take_over(self, former: "Shelf") -> None:
        """Go on with the index, the order and the watched folder of another window's shelf, whose
        catalog is the same."""
        self._index, self._ordered = former._index, former._ordered
        if former._follows:
            self.follow(former._folder)
        QTimer.singleShot(RENEWED_MS, self, spare_the_living)

    def reload(self) -> None:
        """Read the catalog files aside and use what they give; the present catalog stays when they
        give none."""
        folder = self._folder
        self.follow(folder)

        def done(full: FullCatalog) -> None:
            if (
                full.catalog.parts != self.catalog.parts
                or full.catalog.sources != self.catalog.sources
                or full.catalog.community != self.catalog.community
            ):
                self.use(full.catalog)
            if full.faults:
                self.faulted.emit(" ".join(full.faults))

        def failed(fault: Exception) -> None:
            self.faulted.emit(
                str(fault)
                if isinstance(fault, CatalogFault | OSError)
                else f"{type(fault).__name__}: {fault}"
            )

        self._tasks.run_task(RELOAD, lambda _: full_catalog(folder), done, failed)

    def close(self) -> None:
        """Watch nothing any more."""
        self._watch.close()


def _newness(part: AnyPart) -> tuple[bool, int, str]:
    """What can be bought by itself before what is built in, what is sold today before what was, and
    new before old."""
    built_in = isinstance(part, GPU) and part.form_factor == "embedded"
    return not built_in, -STATUSES.index(part.status), part.released or ""
