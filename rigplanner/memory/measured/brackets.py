"""The largest batch of a network that a card held, and a batch that it did not: estimates must lie
on both sides of its memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec
from msgspec import Struct

from rigplanner.catalog.schema.parts import GPU
from rigplanner.catalog.zoo import Zoo
from rigplanner.decoding import read_json
from rigplanner.errors import WorkloadFault
from rigplanner.memory.answer import MemoryEstimate
from rigplanner.memory.estimate import estimate_memory
from rigplanner.memory.usable_memory import usable_gib
from rigplanner.rig.workload import Workload


class Line(Struct, frozen=True, kw_only=True):
    """One line of a file: a network on a card, the batch that ran and the one that failed, None
    where none was tried; parameters and kept values (`macts_m`) in millions, multiplications in
    1e9."""

    gpu: str
    task: str
    fits_batch: int
    fails_batch: int | None = None
    model: str | None = None
    precision: str | None = None
    optimizer: str | None = None
    image_size: int | None = None
    stack: str | None = None
    params_m: float | None = None
    gmacs: float | None = None
    macts_m: float | None = None


class Bracket(Struct, frozen=True):
    """The estimates of a batch that ran on a card of `usable_gib`, and of one that failed, None
    where none was tried."""

    usable_gib: float
    ran: MemoryEstimate
    failed: MemoryEstimate | None

    @property
    def holds(self) -> bool:
        """Whether both estimates lie on their side of the card's memory."""
        return self.ran.device_gib <= self.usable_gib and (
            self.failed is None or self.failed.device_gib > self.usable_gib
        )

    @property
    def overflows(self) -> bool:
        """Whether the batch that failed is said to fit with its whole interval."""
        return self.failed is not None and self.failed.high_gib <= self.usable_gib

    @property
    def refuses(self) -> bool:
        """Whether the batch that ran is said not to fit with its whole interval."""
        return self.ran.low_gib > self.usable_gib


def brackets(lines: Iterable[bytes], find_gpu: Callable[[str], GPU], zoo: Zoo) -> list[Bracket]:
    """Return the bracket of each line whose card's memory is known. Raises WorkloadFault for a line
    that cannot be read, and for a card or a network that is not known."""
    found = []
    for raw in lines:
        try:
            line = read_json(raw, Line)
        except msgspec.DecodeError as fault:
            raise WorkloadFault(f"a line with 'fits_batch' cannot be read: {fault}.") from fault
        room = usable_gib(find_gpu(line.gpu))
        if room is not None:
            failed = _estimate(line, line.fails_batch, zoo) if line.fails_batch else None
            found.append(Bracket(room, _estimate(line, line.fits_batch, zoo), failed))
    return found


def _estimate(line: Line, batch: int, zoo: Zoo) -> MemoryEstimate:
    job = Workload(
        model=line.model,
        task=line.task,
        precision=line.precision,
        optimizer=line.optimizer,
        image_size=line.image_size,
        stack=line.stack,
        params_m=line.params_m,
        gmacs=line.gmacs,
        activations_m=line.macts_m,
        batch_per_gpu=batch,
    )
    return estimate_memory(job, None, 1, zoo)
