"""The one door to the thread pool: work runs aside, its answer comes back on the window's thread,
stale answers are dropped.

Widgets may be destroyed on the window's thread only, by whatever lets go of them last. So the
collector rests on all threads as long as there are tasks (the window sweeps now and then), and work
with what it refers to, its answer and its fault end there."""

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

from PySide6.QtCore import QObject, QRunnable, QThreadPool, QTimer, Signal

from rigplanner.garbage import collector_paused, sweep

SWEEP_MS = 1000
"""How often the window's thread collects garbage."""
PAINTED_MS = 50
"""When the window has usually painted what an edit changed."""


class Ticket:
    """One piece of work under way; work that takes long asks `cancelled` now and then."""

    def __init__(self, topic: str, number: int) -> None:
        self.topic = topic
        self.number = number
        self.cancelled = False


Work = Callable[[Ticket], Any]


class _Run(QRunnable):
    """Holds the bound signals of the caller, which lives on the window's thread, and owns no
    QObject. `held` is emptied here before the answer goes out in it: what it held is let go of by
    the caller, who keeps the work as well."""

    def __init__(self, ticket: Ticket, held: list[Any], answered: Any, progressed: Any) -> None:
        super().__init__()
        self._ticket, self._held, self._answered, self._progressed = (
            ticket,
            held,
            answered,
            progressed,
        )

    def run(self) -> None:
        if not self._ticket.cancelled:
            self._held += self._outcome(self._held.pop())
        with contextlib.suppress(RuntimeError):  # the window may have gone meanwhile
            self._answered.emit(self._ticket, self._held)

    def _outcome(self, work: Work) -> tuple[Any, Exception | None]:
        """Return the answer of some work, or its fault."""
        try:
            answer = work(self._ticket)
            if not isinstance(answer, Iterator):
                return answer, None
            for piece in answer:
                if self._ticket.cancelled:
                    break
                self._progressed.emit(self._ticket, piece)
        except Exception as fault:
            return None, fault
        return None, None


class Tasks(QObject):
    """Runs work by topic: a new task on a topic cancels the former one and makes its answer
    stale."""

    _answered = Signal(object, object)
    _progressed = Signal(object, object)
    busy_changed = Signal(bool)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(2)
        self._current: dict[str, Ticket] = {}
        self._callers: dict[
            str,
            tuple[
                Callable[[Any], None],
                Callable[[Exception], None] | None,
                Callable[[Any], None] | None,
            ],
        ] = {}
        self._works: dict[Ticket, Work] = {}
        self._count = 0
        self._closed = False
        self._pause = contextlib.ExitStack()
        self._pause.enter_context(collector_paused())
        self._sweeper = QTimer(self, interval=SWEEP_MS)
        self._sweeper.timeout.connect(sweep)
        self._sweeper.start()
        self._answered.connect(self._deliver)
        self._progressed.connect(self._deliver_piece)

    def run_task(
        self,
        topic: str,
        work: Work,
        done: Callable[[Any], None],
        failed: Callable[[Exception], None] | None = None,
        piece: Callable[[Any], None] | None = None,
        wait_ms: int = 0,
    ) -> Ticket:
        """Run `work` aside and call `done` with its answer. Work may be a generator: `piece` gets
        what it yields, `done` None. A fault that no `failed` takes is told as one of the program
        itself. What can wait begins after `wait_ms`, so that it does not hold up the window's own
        painting."""
        self.cancel(topic)
        self._count += 1
        ticket = Ticket(topic, self._count)
        if self._closed:
            ticket.cancelled = True
            return ticket
        self._current[topic] = ticket
        self._callers[topic] = (done, failed, piece)
        if wait_ms:
            QTimer.singleShot(wait_ms, self, lambda: self._start(ticket, work))
        else:
            self._start(ticket, work)
        self.busy_changed.emit(True)
        return ticket

    def _start(self, ticket: Ticket, work: Work) -> None:
        if not ticket.cancelled:
            self._works[ticket] = work
            self._pool.start(_Run(ticket, [work], self._answered, self._progressed))

    def cancel(self, topic: str) -> None:
        """Ask the work on a topic to stop; its answer will be dropped."""
        ticket = self._current.pop(topic, None)
        if ticket is not None:
            ticket.cancelled = True
            self._callers.pop(topic, None)

    def is_busy(self, topic: str | None = None) -> bool:
        """Return whether work is under way, on a topic or at all."""
        return topic in self._current if topic else bool(self._current)

    def close(self) -> None:
        """Cancel everything, wait for the threads, and take no more work."""
        self._closed = True
        for topic in list(self._current):
            self.cancel(topic)
        self._pool.clear()
        self._pool.waitForDone(5000)
        self._works.clear()
        self._sweeper.stop()
        self._pause.close()

    def _deliver_piece(self, ticket: Ticket, answer: Any) -> None:
        if self._current.get(ticket.topic) is ticket:
            piece = self._callers[ticket.topic][2]
            if piece is not None:
                piece(answer)

    def _deliver(self, ticket: Ticket, held: list[Any]) -> None:
        self._works.pop(ticket, None)
        if self._current.get(ticket.topic) is not ticket:
            held.clear()
            return
        answer, fault = held
        held.clear()
        done, failed, _ = self._callers.pop(ticket.topic)
        del self._current[ticket.topic]
        if fault is None:
            done(answer)
        elif failed is not None:
            failed(fault)
        else:
            sys.excepthook(type(fault), fault, fault.__traceback__)
        self.busy_changed.emit(bool(self._current))
