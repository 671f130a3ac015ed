"""What was chosen for a rig, as against what comes of it: every part and every setting in a form in
which two rigs are compared."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from rigplanner.catalog.schema.parts import GPU, KINDS, AnyPart, kind_of
from rigplanner.rig.workload import Workload
from rigplanner.rules.assess import Assessment

Value = float | str | None
NONE = "none"
NAMED_ELSEWHERE = ("gpu", "cpu")
"""Kinds whose names the comparison tells of the machine, those built into a system included."""


def _own_parts(assessment: Assessment) -> dict[str, AnyPart]:
    """Return the part of each item that the catalog knows, by uid."""
    pieces = {piece.name: piece.part for piece in assessment.machine.pieces}
    names = {item.uid: f"{item.uid}.0" for item in assessment.rig.items}
    return {uid: pieces[name] for uid, name in names.items() if name in pieces}


def parts_of(assessment: Assessment, kind: str) -> Value:
    """Return the rig's own parts of a kind, "2 x NAME + NAME", or "none"."""
    parts = _own_parts(assessment)
    found = [(item.quantity, parts.get(item.uid)) for item in assessment.rig.items]
    named = [
        f"{count} x {part.name}" if count > 1 else part.name
        for count, part in found
        if part is not None and kind_of(part) == kind
    ]
    return " + ".join(named) or NONE


def caps(assessment: Assessment) -> Value:
    """Return the power limit of the GPUs of each item: "260 W", "260 W + none", "none"."""
    parts = _own_parts(assessment)
    limits = [
        f"{item.power_cap_w:g} W" if item.power_cap_w else NONE
        for item in assessment.rig.items
        if isinstance(parts.get(item.uid), GPU)
    ]
    return " + ".join(limits) if set(limits) != {NONE} and limits else NONE


def circuit(assessment: Assessment) -> Value:
    """Return what feeds the rig: "120 V, 15 A", "2 x 230 V, 16 A"; None where that is not said."""
    site = assessment.rig.site
    if site.volts is None or site.breaker_a is None:
        return None
    text = f"{site.volts:g} V, {site.breaker_a:g} A"
    return f"{site.circuits} x {text}" if site.circuits > 1 else text


def placement(assessment: Assessment) -> Value:
    """Return the slots in which cards stand, in the order of the slots."""
    return ", ".join(f"{use.slot.id}: {use.piece}" for use in assessment.machine.slots if use.piece)


def software(assessment: Assessment) -> Value:
    """Return the versions that the rig names, "pytorch 2.8, cuda 13.0", or "none"."""
    named = assessment.rig.settings.software
    return ", ".join(f"{name} {version}" for name, version in sorted(named.items())) or NONE


def firmware(assessment: Assessment) -> Value:
    """Return the choices that are made in the firmware, by place, or "none"."""
    settings = assessment.rig.settings
    choices = [f"{place} {choice}" for place, choice in sorted(settings.bios.items())]
    if settings.numa_per_socket is not None:
        choices.append(f"NPS{settings.numa_per_socket}")
    return ", ".join(choices) or NONE


def _or_none(text: str | None) -> Value:
    return text or NONE


def roles(assessment: Assessment) -> Value:
    """Return what the GPUs of each item are for where somebody said so, "compute + display"."""
    parts = _own_parts(assessment)
    items = [i for i in assessment.rig.items if isinstance(parts.get(i.uid), GPU)]
    return " + ".join(i.role or NONE for i in items) if any(i.role for i in items) else NONE


def monitors(assessment: Assessment) -> Value:
    """Return the monitors of the site: "3 x 1920 x 1080, usual, games"; "none"."""
    site = assessment.rig.site.monitors
    if site is None:
        return NONE
    text = f"{site.count} x {site.width_px} x {site.height_px}, {site.desktop}"
    return f"{text}, games" if site.games else text


SETTINGS: tuple[tuple[str, str, Callable[[Assessment], Value]], ...] = (
    ("caps", "", caps),
    ("roles", "", roles),
    ("monitors", "", monitors),
    ("circuit", "", circuit),
    ("other_load", "W", lambda a: a.rig.site.other_load_w),
    ("country", "", lambda a: _or_none(a.rig.site.country)),
    ("hours", "h", lambda a: a.rig.site.hours_per_day),
    ("room", "°C", lambda a: a.rig.site.room_c),
    ("placement", "", placement),
    ("firmware", "", firmware),
    ("software", "", software),
    ("peer_driver", "", lambda a: "yes" if a.rig.settings.peer_to_peer_driver else NONE),
    ("raid0", "", lambda a: ", ".join(a.rig.settings.raid0) or NONE),
    ("discount", "%", lambda a: a.rig.quote.discount_percent),
    ("tax", "%", lambda a: a.rig.quote.tax_percent),
)
"""Code, unit and value of every setting."""


def chosen_values(assessments: Sequence[Assessment]) -> list[tuple[str, str, str, list[Value]]]:
    """Return code, subject, unit and one value per rig of every part, setting and price; what no
    rig has is left out."""
    rows: list[tuple[str, str, str, list[Value]]] = [
        (f"chosen_{kind}", "", "", [parts_of(a, kind) for a in assessments])
        for kind in KINDS
        if kind not in NAMED_ELSEWHERE
    ]
    rows += [(code, "", unit, [of(a) for a in assessments]) for code, unit, of in SETTINGS]
    rows += _prices(assessments)
    rows += _jobs(assessments)
    return [row for row in rows if any(value not in (NONE, None, "", 0.0) for value in row[3])]


def _prices(assessments: Sequence[Assessment]) -> list[tuple[str, str, str, list[Value]]]:
    """The price of each part that rigs have in common and that is not the same in all of them."""
    units = [_unit_prices(a) for a in assessments]
    names = {part.id: part.name for a in assessments for part in _own_parts(a).values()}
    rows: list[tuple[str, str, str, list[Value]]] = []
    for part_id in sorted({part for prices in units for part in prices if part in names}):
        known: list[Value] = [prices.get(part_id) for prices in units]
        if len({value for value in known if value is not None}) > 1:
            rows.append(("price_each", names[part_id], assessments[0].totals.currency, known))
    return rows


def _unit_prices(assessment: Assessment) -> dict[str, float]:
    """Amount for one piece of each part, in the currency of the sums."""
    items = {item.uid: item.part for item in assessment.rig.items}
    return {
        items[line.uid]: line.amount / line.quantity
        for line in assessment.totals.lines
        if line.amount is not None and line.uid in items
    }


def _jobs(assessments: Sequence[Assessment]) -> list[tuple[str, str, str, list[Value]]]:
    """What differs between the jobs that rigs have in common, by their place and model."""
    rows: list[tuple[str, str, str, list[Value]]] = []
    lists = [a.rig.workloads for a in assessments]
    for n in range(min(len(jobs) for jobs in lists)):
        jobs = [own[n] for own in lists]
        if len({(job.model, job.task) for job in jobs}) == 1:
            differing = [
                field
                for field in Workload.__struct_fields__
                if len({msgspec.json.encode(getattr(job, field)) for job in jobs}) > 1
            ]
            if differing:
                name = jobs[0].name or jobs[0].model or ""
                told: list[Value] = [_fields_text(job, differing) for job in jobs]
                rows.append(("job_settings", name, "", told))
    return rows


def _fields_text(job: Workload, fields: list[str]) -> str:
    values: dict[str, Any] = msgspec.to_builtins(job)
    return ", ".join(f"{field}={_plain(values.get(field))}" for field in fields)


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(f"{key} {each}" for key, each in value.items() if each) or NONE
    return NONE if value in (None, "") else str(value)
