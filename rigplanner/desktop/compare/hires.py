"""Machines for hire by workload, worked out aside for the comparison."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from rigplanner.desktop.document.session import Session
from rigplanner.rig.workload import Workload

if TYPE_CHECKING:
    from rigplanner.planning.renting import Hire

TOPIC = "hires"
MOST_KEPT = 64
Key = tuple[int, bytes, int, str]
"""Catalog, workload, number of its GPUs, metric."""


class HireShelf:
    """Answers what it knows at once, () else; `ask` works out what was missing and then calls
    `came`."""

    def __init__(self, session: Session, came: Callable[[], None]) -> None:
        self._session, self._came = session, came
        self._known: dict[Key, tuple[Hire, ...]] = {}
        self._missing: dict[Key, Workload] = {}

    def __call__(self, workload: Workload, own: int, metric: str) -> "tuple[Hire, ...]":
        """Return the machines for hire that hold a workload of `own` GPUs, with their speed in
        `metric`."""
        key = (id(self._session.catalog), msgspec.msgpack.encode(workload), own, metric)
        if key not in self._known:
            self._missing[key] = workload
        return self._known.get(key, ())

    def ask(self) -> None:
        """Work out what was asked for and is not known."""
        missing, catalog = dict(self._missing), self._session.catalog
        self._missing.clear()
        if not missing:
            return

        def work(_: object) -> "dict[Key, tuple[Hire, ...]]":
            from rigplanner.catalog.cloud import shipped_cloud
            from rigplanner.planning.renting import hires_for

            cloud = shipped_cloud()
            return {
                key: hires_for(workload, key[2], key[3], catalog, cloud)
                for key, workload in missing.items()
            }

        self._session.tasks.run_task(TOPIC, work, self._take)

    def _take(self, found: "dict[Key, tuple[Hire, ...]]") -> None:
        if len(self._known) + len(found) > MOST_KEPT:
            self._known.clear()
        self._known |= found
        self._came()
