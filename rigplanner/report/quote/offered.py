"""Alternatives offered: the ways out of findings, what each costs and what it changes, as figures
of the same engine."""

from msgspec import Struct

from rigplanner.catalog.load import Catalog
from rigplanner.performance.answer import TIME_METRICS
from rigplanner.planning.effects import Effect, Effects, effects
from rigplanner.report import format as fmt
from rigplanner.report.language import tr
from rigplanner.report.quote.jobs import workload_title
from rigplanner.report.words.findings import fix_text, rule_title
from rigplanner.rig.document import Rig
from rigplanner.rig.edits import Edit, EditFault, apply
from rigplanner.rules.assess import Assessment, assess
from rigplanner.rules.core.finding import Fix

MOST_OFFERED = 8
PARTED = ("error", "warning", "unknown")
WIRED = {"volts", "breaker_a", "circuits"}
"""Fields of a site that an electrician changes, not the seller."""
SOLD = {"replace_part", "add_part"}
"""Edits that bring a part; what costs as much as the part before it is not free."""
LEAST_CHANGE = 0.005
"""Share below which a change of speed is not worth a word."""


class Offered(Struct, frozen=True, kw_only=True):
    """One alternative in words: `price` is what it adds to the total, `solves` and `brings` name
    findings by code and title."""

    what: str
    price: str
    solves: tuple[str, ...]
    brings: tuple[str, ...]
    changes: tuple[str, ...]


def alternatives_offered(
    assessment: Assessment, catalog: Catalog, today: str = ""
) -> list[Offered]:
    """Return at most MOST_OFFERED alternatives, those of errors first; what can not be made is left
    out."""
    found: list[Offered] = []
    seen: list[tuple[Edit, ...]] = []
    for finding in assessment.report.findings:
        for fix in finding.fixes if finding.severity != "info" else ():
            if not fix.edits or fix.edits in seen or len(found) == MOST_OFFERED:
                continue
            if _is_statement(fix, assessment.rig):
                continue
            seen.append(fix.edits)
            changed = _changed(assessment.rig, fix.edits)
            if changed is None:
                continue
            after = assess(changed, catalog, today)
            found.append(
                _offered(
                    fix, effects(assessment, after), _is_priced(fix, after), assessment, catalog
                )
            )
    return found


def _is_statement(fix: Fix, rig: Rig) -> bool:
    """Say whether a fix only says what the site is; nobody sells that."""
    said = {name for edit in fix.edits if edit.name == "change_site" for name in edit.args}
    return any(name not in WIRED or getattr(rig.site, name) is None for name in said)


def _changed(rig: Rig, edits: tuple[Edit, ...]) -> Rig | None:
    try:
        for edit in edits:
            rig = apply(rig, edit)
    except EditFault:
        return None
    return rig


def _is_priced(fix: Fix, after: Assessment) -> bool:
    """Say whether every part that a fix puts in has a price in the total; one unpriced part in
    place of another costs nobody knows what."""
    unpriced = {*after.totals.unpriced, *after.totals.foreign}
    brought = {edit.args["part"] for edit in fix.edits if edit.name in SOLD and "part" in edit.args}
    return not any(item.uid in unpriced and item.part in brought for item in after.rig.items)


def _offered(
    fix: Fix, effect: Effects, priced: bool, assessment: Assessment, catalog: Catalog
) -> Offered:
    bare = Fix(code=fix.code, edits=fix.edits, values={**fix.values, "price": None})
    price = fix.values.get("price")
    known = price if priced and isinstance(price, int | float) else None
    wired = any(edit.name == "change_site" and WIRED & set(edit.args) for edit in fix.edits)
    return Offered(
        what=fix_text(bare, assessment.rig, catalog),
        price=(
            tr("not in this offer: work of your electrician")
            if wired
            else tr("same price")
            if known == 0 and any(edit.name in SOLD for edit in fix.edits)
            else price_text(known, assessment.rig.currency)
        ),
        solves=tuple(
            dict.fromkeys(
                f"{rule_title(f.code)} ({f.code})" for f in effect.gone if f.severity in PARTED
            )
        ),
        brings=tuple(
            dict.fromkeys(
                f"{rule_title(f.code)} ({f.code})" for f in effect.come if f.severity in PARTED
            )
        ),
        changes=tuple(
            text for text in (_change(figure, assessment) for figure in effect.figures) if text
        ),
    )


def price_text(amount: float | None, currency: str) -> str:
    """Return a price difference with its sign."""
    if amount is None:
        return tr("price not known")
    if amount == 0:
        return tr("no charge")
    return f"{'+' if amount > 0 else '−'}{fmt.money(abs(amount), currency)}"


def _change(figure: Effect, assessment: Assessment) -> str:
    change = figure.change
    if change is None or figure.measure in ("price", "speed_per_money") or not figure.before:
        return ""
    if figure.measure == "speed":
        share = change / figure.before
        job = next((job for job in assessment.jobs if job.index == figure.job), None)
        title = workload_title(job) if job else ""
        word = tr("time") if figure.unit in TIME_METRICS else tr("speed")
        return f"{title}: {word} {_signed(100 * share, '%')}" if abs(share) >= LEAST_CHANGE else ""
    word = tr("GPU memory") if figure.measure == "vram" else tr("sustained load")
    return f"{word} {_signed(change, figure.unit)}"


def _signed(value: float, unit: str) -> str:
    return f"{'+' if value > 0 else '−'}{fmt.quantity(abs(value), unit, 0)}"
