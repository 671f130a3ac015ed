"""Waiting for the work aside."""


def settled_session(qtbot, session) -> None:
    """Wait until the work aside is done."""
    qtbot.waitUntil(lambda: not (session.pending or session.tasks.is_busy()), timeout=90_000)
