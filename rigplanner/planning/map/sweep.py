"""A landscape: cards, counts, works, lengths and batches, every combination a row of one table.

`record_of` is a pure function of one cell, so that any pool maps it: the standard process pool
here, a Dask or Ray cluster by its own `map`."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.schema.parts import GPU
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.planning.map.cards import built_in
from rigplanner.planning.map.rank import answer
from rigplanner.rig.workload import Workload

PIECE = 64
"""Cells that a worker takes at once: some tenths of a second of work."""


class Cell(Struct, frozen=True, kw_only=True):
    """One work on so many of a card; `title` names the work, `length` is in tokens (None: as the
    work says). It can be pickled."""

    title: str
    work: Workload
    gpu: GPU
    count: int
    length: int | None = None


def cells(
    works: Sequence[tuple[str, Workload]],
    gpus: Sequence[GPU],
    counts: Sequence[int],
    lengths: Sequence[int] = (),
    batches: Sequence[int] = (),
) -> list[Cell]:
    """Return every combination, works outermost. A length is the sequence of a job that trains,
    else the prompt; a batch is that of each GPU. A GPU that is built into its computer is there
    once, however many are asked for."""
    return [
        Cell(title=title, work=_with(work, length, batch), gpu=gpu, count=count, length=length)
        for (title, work), length, batch, gpu, count in product(
            works, lengths or (None,), batches or (None,), gpus, counts
        )
        if count == 1 or not built_in(gpu)
    ]


def _with(work: Workload, length: int | None, batch: int | None) -> Workload:
    if length is not None:
        trains = (work.task or "").startswith("train")
        work = replace(work, seq_len=length) if trains else replace(work, input_tokens=length)
    return work if batch is None else replace(work, batch_per_gpu=batch)


def record_of(cell: Cell) -> dict[str, Any]:
    """Return one row of the table: numbers as numbers, units in the names, None for unknown."""
    found = answer(cell.work, cell.gpu, cell.count, shipped_zoo())
    speed = found.speed
    return {
        "work": cell.title,
        "model": cell.work.model,
        "task": cell.work.task,
        "batch_per_gpu": cell.work.batch_per_gpu,
        "length": cell.length,
        "gpu": cell.gpu.id,
        "name": cell.gpu.name,
        "count": cell.count,
        "fit": found.fit,
        "need_gib": found.need_gib,
        "room_gib": found.room_gib,
        "metric": speed.metric if speed else None,
        "value": speed.value if speed else None,
        "low": speed.low if speed else None,
        "high": speed.high if speed else None,
        "stack": speed.stack if speed else None,
        "bound": speed.bound if speed else None,
        "evidence": found.known,
        "fault": found.fault or None,
    }


COLUMNS = (
    "work", "model", "task", "batch_per_gpu", "length", "gpu", "name", "count", "fit", "need_gib",
    "room_gib", "metric", "value", "low", "high", "stack", "bound", "evidence", "fault",
)  # fmt: skip
"""The keys of a record, in order."""


def sweep(asked: Sequence[Cell], workers: int = 1) -> Iterator[dict[str, Any]]:
    """Yield the record of each cell in order, worked out by so many processes; 1 needs no other
    process. Closing the generator cancels what was not begun."""
    if workers <= 1 or len(asked) <= PIECE:
        yield from map(record_of, asked)
        return
    pool = ProcessPoolExecutor(workers, get_context("spawn"))
    try:
        yield from pool.map(record_of, asked, chunksize=PIECE)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
