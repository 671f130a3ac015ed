"""All lines of an acceptance: each subject's checks in turn."""

from collections.abc import Callable, Iterator

from rigplanner.asbuilt.checks.between import between
from rigplanner.asbuilt.checks.health import health
from rigplanner.asbuilt.checks.line import GROUPS, VERDICTS, Line, View
from rigplanner.asbuilt.checks.links import links
from rigplanner.asbuilt.checks.memory import memory
from rigplanner.asbuilt.checks.pairing import view_of
from rigplanner.asbuilt.checks.parts import parts
from rigplanner.asbuilt.checks.settings import settings
from rigplanner.asbuilt.checks.speed import speed
from rigplanner.asbuilt.promise import Promise
from rigplanner.asbuilt.seen import Fact

CHECKS: tuple[Callable[[View], Iterator[Line]], ...] = (
    parts,
    links,
    between,
    memory,
    settings,
    health,
    speed,
)


def differences(
    promise: Promise, facts: tuple[Fact, ...], loaded: bool = False
) -> tuple[Line, ...]:
    """Return what was compared, worst first within each group; what nothing was promised of and
    nothing is wrong with has no line."""
    view = view_of(promise, facts, loaded)
    lines = [line for check in CHECKS for line in check(view)]
    return tuple(
        sorted(lines, key=lambda line: (GROUPS.index(line.group), VERDICTS.index(line.verdict)))
    )
