"""What fits: the badge of each candidate of a kind, by the same rules as everything else.

A candidate is tried in the rig, and what it brings (findings that the rig without it has not)
decides. Rules are asked under watch: an answer is kept under the fields of the candidate that were
read for it, and holds for all that agree in them. So thousands of candidates cost about as much as
the different ones among them, and no list has to say what a rule reads. Rules are asked in stages,
errors before warnings, and each stage tells candidates apart by what its own rules read; where one
of a round says no, later rounds are not asked."""

from collections import OrderedDict
from collections.abc import Hashable, Sequence

import msgspec
from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import AnyPart, kind_of
from rigplanner.garbage import collector_paused
from rigplanner.machine.assemble import assemble
from rigplanner.rig.document import Rig
from rigplanner.rig.edits import apply
from rigplanner.rules.core.finding import Finding
from rigplanner.rules.fitting.answers import Fitting
from rigplanner.rules.fitting.trial import Trial, choosing, findings, found_before, key_of

SINGLE = ("cpu", "motherboard", "system", "psu", "chassis", "cooler", "gpu", "memory")
"""Kinds of which a choice replaces the first item; others are added."""

KEPT_TRIALS = 8


def item_for(rig: Rig, catalog: Catalog, kind: str) -> str | None:
    """Return the uid of the item that a choice of this kind replaces, or None when it is added."""
    if kind not in SINGLE:
        return None
    for item in rig.items:
        part = catalog.get(item.part) or rig.snapshot.get(item.part)
        if part is not None and kind_of(part) == kind:
            return item.uid
    return None


def fits(
    rig: Rig,
    catalog: Catalog,
    kind: str,
    candidates: Sequence[AnyPart],
    uid: str | None = None,
    today: str = "",
) -> tuple[Fitting, ...]:
    """Return the fitting of each candidate, in order. `uid` names the item to be replaced (None: as
    `item_for` says, "": add). A walk of the collector over all candidates would take longer than
    the answer."""
    with collector_paused():
        trial = _trial(
            rig, catalog, kind, item_for(rig, catalog, kind) if uid is None else uid or None, today
        )
        with trial.lock:
            return trial.fittings(candidates)


def brings(
    rig: Rig, catalog: Catalog, part: AnyPart, uid: str | None = None, today: str = ""
) -> tuple[Finding, ...]:
    """Return the findings that one candidate brings, by a full check; `fits` says the same in
    short."""
    kind = kind_of(part)
    replaced = item_for(rig, catalog, kind) if uid is None else uid or None
    with_part = replace(catalog, parts={**catalog.parts, part.id: part})
    chosen = apply(rig, choosing(rig, kind, part.id, replaced))
    before = found_before(rig, catalog, replaced, today)
    found = findings(chosen, with_part, assemble(chosen, with_part), today)
    return tuple(finding for finding in found if key_of(finding) not in before)


_trials: OrderedDict[Hashable, tuple[Trial, Catalog, Rig]] = OrderedDict()
"""The last trials: a table that fills row by row, or is opened again, finds what is known."""


def _trial(rig: Rig, catalog: Catalog, kind: str, uid: str | None, today: str) -> Trial:
    judged = (
        rig.items,
        rig.site,
        rig.settings,
        rig.workloads,
        rig.waivers,
        rig.ignored,
        rig.severities,
    )
    key = (
        id(catalog),
        id(rig.snapshot) if rig.snapshot else 0,
        kind,
        uid,
        today,
        msgspec.msgpack.encode(judged),
    )
    entry = _trials.get(key)
    if entry is None:
        entry = _trials[key] = (Trial(rig, catalog, kind, uid, today), catalog, rig)
        if len(_trials) > KEPT_TRIALS:
            _trials.popitem(last=False)
    return entry[0]
