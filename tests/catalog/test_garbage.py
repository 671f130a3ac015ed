"""The collector rests while any thread asks for it, and goes on afterwards."""

import gc
import weakref

from rigplanner.garbage import collector_paused, sweep


def test_the_collector_goes_on_when_the_last_pause_ends() -> None:
    assert gc.isenabled()
    first, second = collector_paused(), collector_paused()
    first.__enter__()
    second.__enter__()
    assert not gc.isenabled()
    first.__exit__(None, None, None)
    assert not gc.isenabled()
    second.__exit__(None, None, None)
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    try:
        with collector_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_a_sweep_collects_what_a_paused_collector_left() -> None:
    class Knot:
        pass

    with collector_paused():
        knot = Knot()
        knot.itself = knot  # type: ignore[attr-defined]
        gone = weakref.ref(knot)
        del knot
        kept = [[] for _ in range(2 * gc.get_threshold()[0])]
        assert gone() is not None
        sweep()
        assert gone() is None and kept


def test_what_lies_free_goes_back_when_older_objects_are_swept(monkeypatch) -> None:
    told: list[int] = []
    monkeypatch.setattr("rigplanner.garbage.give_back", lambda: told.append(1))
    with collector_paused():
        gc.collect()
        kept = [[] for _ in range(2 * gc.get_threshold()[0])]
        sweep()
        assert not told and kept
        for _ in range(gc.get_threshold()[1]):
            gc.collect(0)
        kept += [[] for _ in range(2 * gc.get_threshold()[0])]
        sweep()
        assert told
