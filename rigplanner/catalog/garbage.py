"""The garbage collector, paused while many lasting objects are made at once."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the collector: decoding 60 000 parts makes no cycles, and walking them again and again takes most of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def spare_the_living() -> None:
    """Take all that lives now out of the collector's walks: to be called once when much has been made that stays (a catalog, an
    index). A walk over 60 000 parts holds up a window for a tenth of a second."""
    gc.freeze()
