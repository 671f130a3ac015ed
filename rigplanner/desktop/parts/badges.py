"""Badges for the catalog table: the candidates of a kind tried in the rig, aside from the window,
rows in sight first."""

from collections.abc import Iterator, Sequence

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import AnyPart, kind_of
from rigplanner.desktop.document.tasks import Ticket
from rigplanner.desktop.parts.model import Fit
from rigplanner.rig.document import Rig

PIECE = 2000
"""Candidates that are judged in one go; between two goes the work can be cancelled."""
VERDICTS = {"fits": "fits", "warns": "warning", "no": "error", "unknown": "unknown"}


def badges(
    rig: Rig,
    catalog: Catalog,
    uid: str,
    seen: Sequence[AnyPart],
    others: Sequence[AnyPart],
    today: str,
    ticket: Ticket,
) -> Iterator[dict[str, Fit]]:
    """Yield fits by part id: those in sight, then the others; `uid` is the item that a choice would
    replace, "" for none."""
    from rigplanner.rules.fitting.fitting import fits

    for parts in (seen, *(others[n : n + PIECE] for n in range(0, len(others), PIECE))):
        if ticket.cancelled:
            return
        if parts:
            answers = fits(rig, catalog, kind_of(parts[0]), parts, uid, today)
            yield {
                part.id: _fit(answer.badge, answer.brings)
                for part, answer in zip(parts, answers, strict=True)
            }


def _fit(badge: str, brings: tuple[tuple[str, str], ...]) -> Fit:
    return Fit(VERDICTS[badge], tuple(code for _, code in brings))
