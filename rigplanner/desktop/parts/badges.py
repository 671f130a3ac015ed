"""Badges for the catalog table: the candidates of a kind tried in the rig, aside from the window,
rows in sight first."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import AnyPart, kind_of
from rigplanner.desktop.document.tasks import Ticket
from rigplanner.desktop.parts.model import Fit
from rigplanner.report.language import tr
from rigplanner.rig.document import Rig

if TYPE_CHECKING:
    from rigplanner.rules.badges import Trial

PIECE = 50
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
    from rigplanner.rules.badges import Trial

    parts = [*seen, *others]
    if not parts or ticket.cancelled:
        return
    trial = Trial(rig, catalog, kind_of(parts[0]), uid, today)
    bounds = [0, *range(len(seen), len(parts), PIECE), len(parts)]
    for first, end in pairwise(bounds):
        if ticket.cancelled:
            return
        if first < end:
            yield {part.id: _fit_of(trial, part, catalog) for part in parts[first:end]}


def _fit_of(trial: "Trial", part: AnyPart, catalog: Catalog) -> Fit:
    """A part of the catalog's references (chips of clouds, phones) is compared with, not bought."""
    from rigplanner.report.words.causes import cause_text

    if part.status == "reference":
        return Fit("error", cause=tr("not sold as a part"))
    fitting = trial.fitting(part)
    codes = tuple(code for _, code in fitting.brings)
    cause = cause_text(fitting, trial.with_part(part), catalog)
    return Fit(VERDICTS[fitting.badge], codes, cause, fitting.cure)
