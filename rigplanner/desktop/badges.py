"""Badges for the catalog table: each part tried in the rig, aside from the window, visible rows first."""

import time
from collections.abc import Iterator, Sequence

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.parts import AnyPart
from rigplanner.desktop.choice import choice_edits
from rigplanner.desktop.parts_model import Fit
from rigplanner.desktop.tasks import Ticket
from rigplanner.planning.effects import effects
from rigplanner.rig.document import Rig
from rigplanner.rig.edits import EditFault, apply
from rigplanner.rules.assess import Assessment, assess

PIECE_S = 0.05
"""Badges are handed over in pieces of about this much work, so that the table fills while it is looked at."""
WORST = ("error", "unknown", "warning")


def badges(base: Assessment, catalog: Catalog, uid: str, parts: Sequence[AnyPart], ticket: Ticket) -> Iterator[dict[str, Fit]]:
    """Yield fits by part id, in the order of `parts`, until all are made or the ticket is cancelled."""
    made: dict[str, Fit] = {}
    start = time.perf_counter()
    for part in parts:
        if ticket.cancelled:
            return
        made[part.id] = fit_of(base, catalog, part, uid)
        if time.perf_counter() - start > PIECE_S:
            yield made
            made, start = {}, time.perf_counter()
    yield made


def fit_of(base: Assessment, catalog: Catalog, part: AnyPart, uid: str) -> Fit:
    """Return how a part would do: the findings that it would bring, and the worst of them."""
    tried: Rig = base.rig
    try:
        for edit in choice_edits(tried, part, uid):
            tried = apply(tried, edit)
    except EditFault:
        return Fit("unknown")
    if tried == base.rig:
        mine = {uid, *(piece for item in base.rig.items if item.uid == uid for piece in item.pieces())}
        found = tuple(finding for finding in base.report.findings if mine & set(finding.subjects))
    else:
        found = effects(base, assess(tried, catalog)).come
    severities = {finding.severity for finding in found}
    return Fit(next((each for each in WORST if each in severities), "fits"), found)
