"""What a missing fact cannot leave: rules judge the worst and the best that the class of a part
allows, and ask only where the two differ."""

from collections.abc import Callable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

Range = tuple[float, float]
"""The least and the most."""


class Bounds(Struct, frozen=True):
    """The case with the worst and with the best values that its missing facts can have; `asked`
    names the facts in the stead of what the rule calls them."""

    worst: Any
    best: Any
    asked: tuple[str, ...] = ()


Bound = Callable[[Any, Any, tuple[str, ...]], Bounds | None]
"""Takes context, case and the paths that are missing; None where the class tells nothing."""


def with_value(owner: Any, path: str, value: Any) -> Any:
    """Return a struct with one value replaced, named by its path ("chassis.enclosure.bays_25")."""
    field, _, rest = path.partition(".")
    given = with_value(getattr(owner, field), rest, value) if rest else value
    return replace(owner, **{field: given})


def between(case: Any, ranges: dict[str, tuple[Any, Any]]) -> Bounds:
    """Return a case's bounds, of the worst and best value of each path."""
    worst = best = case
    for path, (bad, good) in ranges.items():
        worst, best = with_value(worst, path, bad), with_value(best, path, good)
    return Bounds(worst, best)
