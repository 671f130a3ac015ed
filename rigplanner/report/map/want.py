"""Work that nothing runs, in words: what is missing, what comes nearest, what to do."""

from collections.abc import Sequence

from rigplanner.planning.map.nearest import Shortage
from rigplanner.report import format as fmt
from rigplanner.report.language import tr
from rigplanner.report.map.figures import title_of


def told(found: Sequence[Shortage], works: Sequence[str]) -> list[str]:
    """Return a line for each work that no row runs."""
    return [_line(each, works[each.work]) for each in found]


def _line(found: Shortage, work: str) -> str:
    if found.row is not None and found.reached is not None:
        return tr(
            "{work}: none is fast enough; the nearest, {name}, reaches {speed}. Take more of them,"
            " or ask for less.",
            work=work,
            name=title_of(found.row),
            speed=fmt.quantity(found.reached, found.metric),
        )
    if found.row is not None and found.lacks_gib:
        return tr(
            "{work}: no memory holds it; the nearest, {name}, lacks {lack} on each GPU. Take more"
            " GPUs with --count, a smaller format (precision=q4_k_m, task=train_qlora), or fewer"
            " tokens.",
            work=work,
            name=title_of(found.row),
            lack=fmt.quantity(found.lacks_gib, "GiB", 1),
        )
    return tr("{work}: nothing runs it: {fault}", work=work, fault=found.fault)
