"""Why a candidate has its badge, in the few words that a row of the catalog has room for."""

from rigplanner.catalog.load import Catalog
from rigplanner.report.format import number
from rigplanner.report.language import Words, tr
from rigplanner.report.words.fields import FIELD_WORDS, VALUE_WORDS
from rigplanner.report.words.findings import amount, rule_title, value_text
from rigplanner.rig.document import Rig
from rigplanner.rules.badges import Fitting
from rigplanner.rules.core.finding import Finding

CAUSE_TEXTS: dict[str, str] = {
    "CLG001": "passive: needs forced air",
    "CLG002": "no gap for its fans",
    "CLG003": "not for {needed}",
    "CLG004": "cools {bare_actual} of {needed}",
    "CLG005": "case airflow too weak",
    "CPU001": "socket {actual}, not {needed}",
    "CPU002": "chipset {actual} not supported",
    "CPU003": "at most {needed}",
    "CPU005": "differs from the other CPU",
    "CPU006": "uses {bare_actual} of {needed}",
    "CPU007": "needs a BIOS check",
    "CPU009": "not on the board's list",
    "DSK002": "no bay left",
    "DSK009": "slower than the GPUs",
    "DSP001": "no display output",
    "DSP002": "too few display outputs",
    "DSP003": "monitors need {needed}",
    "DSP006": "drives no monitor",
    "GPU001": "needs {needed} slot",
    "GPU002": "mixes GPU models",
    "HST001": "decodes too slowly",
    "HST002": "too few cores",
    "HST004": "slow GPU-to-GPU link",
    "M2001": "no drive port left",
    "M2002": "set port {place} is gone",
    "M2005": "port is not {needed}",
    "M2006": "too long for the socket",
    "MEM001": "{actual}, board takes {needed}",
    "MEM002": "{actual}, board takes {needed}",
    "MEM003": "needs {needed}, has {bare_actual}",
    "MEM004": "more than {actual}",
    "MEM005": "fills {bare_actual} of {needed}",
    "MEM006": "runs at {actual}",
    "MEM007": "differs from the other kit",
    "MEM008": "less than the GPUs' {needed}",
    "MEM009": "offload needs {needed}",
    "MEM010": "chips too dense for the CPU",
    "NVL001": "no NVLink connector",
    "NVL002": "connector {actual}, not {needed}",
    "NVL003": "bridge length: {actual}, needs {needed}",
    "NVL004": "bridges equal cards only",
    "NVL005": "no pair of cards to bridge",
    "NVL006": "bridge not proven",
    "NVL007": "{bare_actual} of {needed}",
    "NVL008": "job spans NVLink islands",
    "NVL009": "job asks for NVLink",
    "NVL010": "bridge could join the cards",
    "P2P001": "no direct GPU exchange",
    "PCI001": "loses lanes to a drive",
    "PCI002": "gets {bare_actual} of {needed}",
    "PCI003": "in a chipset slot",
    "PCI004": "link {bare_actual} of {needed}",
    "PCI005": "slot cannot be split",
    "PCI006": "needs memory above 4 GB",
    "PCI007": "no resizable BAR",
    "PCI008": "slot {bare_actual} of {needed}",
    "PCI009": "firmware setting decides",
    "PCI010": "memory window too large",
    "PCI011": "no PCIe atomics in the slot",
    "PWR002": "needs {needed}",
    "PWR003": "headroom: {bare_needed} of {actual}",
    "PWR004": "peaks of {needed}",
    "PWR005": "no {type} plug",
    "PWR006": "{bare_actual} of {bare_needed} {type}",
    "PWR007": "needs an adapter",
    "PWR009": "one cable for two sockets",
    "PWR010": "cables of another supply",
    "PWR011": "less power at this voltage",
    "PWR012": "circuit: {needed}",
    "PWR013": "several supplies",
    "PWR015": "needs {needed}, slot {bare_actual}",
    "PWR016": "UPS: needs {needed}",
    "PWR017": "UPS holds too short",
    "PWR018": "dock has no supply",
    "PWR019": "dock: needs {needed}",
    "PWR020": "cord: {bare_needed} of {actual}",
    "PWR021": "stepped wave",
    "RIG006": "close to an unverified limit",
    "RIS001": "slower than the card",
    "RIS002": "long for its generation",
    "SLT001": "no slot left",
    "SLT002": "set slot {place} is gone",
    "SLT003": "{place} is taken",
    "SLT004": "{place} is covered",
    "SLT005": "slot is switched off",
    "SLT006": "no slot wide enough",
    "SPC001": "{needed}, room for {bare_actual}",
    "SPC002": "{needed}, room for {bare_actual}",
    "SPC003": "beyond the last slot",
    "SPC004": "too large for the case",
    "SPC005": "form {needed}, case {actual}",
    "SPC006": "{needed}, room for {bare_actual}",
    "SPC007": "{needed}, room for {bare_actual}",
    "SPC008": "no place for the radiator",
    "SW001": "CPU lacks {needed}",
    "SW006": "no FlashAttention",
    "SW007": "bf16 only emulated",
    "SW008": "no FP8",
    "SW009": "no software support",
    "SW011": "fp16 brings no speed",
    "SW012": "no FP4",
    "SW013": "engine not supported",
    "SW015": "no common driver",
    "SW016": "no common PyTorch wheel",
    "SW021": "software is not for it",
    "SW022": "no {format} units",
    "SW025": "engine of another GPU",
    "VRM001": "needs {needed}, has {bare_actual}",
    "VRM002": "tight: {bare_needed} of {actual}",
    "WRK004": "job is split for {needed}",
}
"""Code of a rule to its cause in a row: {needed} and {actual} with their units, {bare_needed} and
{bare_actual} without, other names are the finding's own values. A rule that is not here says its
title."""

CURE_WORDS = Words(
    {
        "psu": "Another power supply would do.",
        "chassis": "Another case would do.",
        "cooler": "Another cooler would do.",
        "riser": "A riser to another place would do.",
        "setting": "Another setting of the machine would do.",
        "circuit": "Another wall circuit would do.",
        "split": "Splitting the job otherwise would do.",
        "ups": "Another UPS would do.",
    }
)
"""What cures a finding to the sentence that says so."""


def cause_text(fitting: Fitting, rig: Rig, catalog: Catalog) -> str:
    """Return why a candidate does not simply fit, "" where it does: "needs 900 W"."""
    if fitting.cause is None:
        return ""
    if fitting.badge == "unknown":
        return _missing_text(fitting.cause)
    return short_text(fitting.cause, rig, catalog)


def short_text(finding: Finding, rig: Rig, catalog: Catalog) -> str:
    """Return a finding in a few words."""
    text = CAUSE_TEXTS.get(finding.code)
    if text is None or not _is_filled(text, finding):
        return rule_title(finding.code)
    values = {key: value_text(value, rig, catalog) for key, value in finding.values.items()}
    values["needed"] = amount(finding.needed, finding.unit, rig, catalog)
    values["actual"] = amount(finding.actual, finding.unit, rig, catalog)
    values["bare_needed"], values["bare_actual"] = (
        number(value, 1 if finding.unit == "mm" and value % 1 else None)
        if isinstance(value, int | float)
        else str(value)
        for value in (finding.needed, finding.actual)
    )
    return tr(text, **values)


def _is_filled(text: str, finding: Finding) -> bool:
    """Whether a finding has all that its text names."""
    given = {key for key, value in finding.values.items() if value is not None}
    for name in ("needed", "actual"):
        if getattr(finding, name) is not None:
            given |= {name, f"bare_{name}"}
    return not _names(text) - given


def _names(text: str) -> set[str]:
    return {piece.partition("}")[0] for piece in text.split("{")[1:]}


def _missing_text(finding: Finding) -> str:
    """Return which fact is missing: "length unknown"."""
    if not finding.missing:
        return rule_title(finding.code)
    fact = finding.missing[0]
    field = fact.rpartition(":")[2].rpartition(".")[2]
    words = FIELD_WORDS.get(fact) or FIELD_WORDS.get(field) or VALUE_WORDS.get(field)
    return tr("{field} unknown", field=tr(words)) if words else tr("data missing")
