"""The garbage collector: paused while many lasting objects are made at once, or for good where only
one thread may destroy."""

import ctypes
import gc
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_pauses: list[bool] = []
"""One for each pause that lasts, of whatever thread: whether the collector was on before it."""


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the collector: decoding 60 000 parts makes no cycles, and walking them again and again
    takes most of the time. It goes on when the last pause ends."""
    with _lock:
        _pauses.append(gc.isenabled() or any(_pauses))
        gc.disable()
    try:
        yield
    finally:
        with _lock:
            was_on = _pauses.pop()
            if was_on and not _pauses:
                gc.enable()


_spared = False
"""Whether something was spared that may be in use no more."""


def spare_the_living() -> None:
    """Take all that lives now out of the collector's walks: to be called when much has been made
    that stays (a catalog, an index). A walk over 60 000 parts holds up a window for a tenth of a
    second. What was spared earlier and nobody uses any more goes first: it would stay for ever."""
    global _spared
    if _spared:
        gc.unfreeze()
        gc.collect()
    _spared = True
    gc.freeze()


def spare_what_was_read() -> None:
    """Take all that lives now out of the collector's walks without a walk: after decoding what
    lasts as long as the program, within a pause. The first walk after it would else cost as much as
    the decoding."""
    gc.freeze()


def sweep() -> None:
    """Collect now what the collector, were it not paused, would have collected in the middle of any
    work on any thread."""
    due = [
        generation
        for generation, made in enumerate(gc.get_count())
        if made > gc.get_threshold()[generation]
    ]
    if due:
        gc.collect(due[-1])
    if due and due[-1]:
        give_back()


def give_back() -> None:
    """Let glibc give back what lies free between what is used, in about a millisecond: by itself it
    trims the end of its heap alone, and kept 9 MiB more after five thousand deeds."""
    library = ctypes.CDLL(None) if sys.platform == "linux" else None
    if library is not None and hasattr(library, "malloc_trim"):
        library.malloc_trim(0)
