"""Words of the window. Numbers are those of `report.format`, findings those of `report.words`."""

from datetime import date

from rigplanner.machine.model import PlacementProblem
from rigplanner.report.format import day, interval, money, number, percent, price, quantity
from rigplanner.report.language import THIN, Words, tr, trn
from rigplanner.report.words.fields import VALUE_WORDS
from rigplanner.rig.countries import COUNTRY_NAMES, USUAL

__all__ = ["THIN", "day", "interval", "money", "number", "percent", "price", "quantity"]

MINUS = "\u2212"

KIND_WORDS = Words(
    {
        "gpu": "GPU",
        "cpu": "CPU",
        "motherboard": "Motherboard",
        "system": "System",
        "memory": "Memory",
        "storage": "Storage",
        "psu": "Power supply",
        "chassis": "Case",
        "cooler": "Cooler",
        "bridge": "NVLink bridge",
        "riser": "Riser",
        "nic": "Network card",
        "accessory": "Accessory",
    }
)
"""Kind word of the catalog to the word a person uses."""

VERDICT_WORDS = Words(
    {
        "fits": "fits",
        "ok": "works",
        "warning": "warns",
        "error": "does not fit",
        "unknown": "unknown",
        "info": "note",
    }
)
VERDICT_ICONS = {
    "fits": "tick",
    "ok": "tick",
    "warning": "warn",
    "error": "cross",
    "unknown": "question",
    "info": "info",
}
SEVERITY_WORDS = Words(
    {"error": "error", "warning": "warning", "unknown": "unknown", "info": "note"}
)

COUNTRY_WORDS = Words(COUNTRY_NAMES)


def outlets() -> list[tuple[str, str]]:
    """Return the countries in the order of their names, each with its usual outlet: "DE" and
    "Germany, 230 V 16 A"."""
    told = {
        code: f"{COUNTRY_WORDS[code]}, {number(volts, 0)}\u202fV {number(amperes, 0)}\u202fA"
        for code, (volts, amperes) in USUAL.items()
    }
    return sorted(told.items(), key=lambda country: country[1])


def signed(value: float, unit: str = "", digits: int | None = None) -> str:
    """Return a change: "+24 GiB" or "−450 W"."""
    text = quantity(abs(value), unit, digits)
    return text if value == 0 else f"{'+' if value > 0 else MINUS}{text}"


def cell(value: float | str | None, digits: int | None = None) -> str:
    """Return a value for a table cell, "?" for None."""
    if value is None:
        return "?"
    return tr(VALUE_WORDS.get(value, value)) if isinstance(value, str) else number(value, digits)


def age(iso: str | None, today: str) -> str:
    """Return how old a day is, "3 days", "9 years"."""
    try:
        days = (date.fromisoformat(today) - date.fromisoformat(iso or "")).days
    except ValueError:
        return ""
    if days < 1:
        return tr("today")
    if days < 30:
        return trn("{count} day", "{count} days", days)
    if days < 365:
        return trn("{count} month", "{count} months", days // 30)
    return trn("{count} year", "{count} years", days // 365)


def is_older(iso: str, today: str, days: int) -> bool:
    """Return whether a day lies more than so many days back; a strange one counts as old."""
    try:
        return (date.fromisoformat(today) - date.fromisoformat(iso)).days > days
    except ValueError:
        return True


def shortened(text: str, longest: int = 60) -> str:
    """Return text on one line, cut with an ellipsis; strange characters of direction are
    dropped."""
    line = "".join(c for c in " ".join(text[: 4 * longest].split()) if c.isprintable() or c == THIN)
    return line if len(line) <= longest else line[: longest - 1] + "…"


PROBLEM_WORDS = Words(
    {
        "no-slot": "there is no free slot for it",
        "slot-missing": "there is no such slot",
        "slot-taken": "the slot is taken",
        "slot-covered": "the slot is covered by a thick card",
        "slot-disabled": "the slot is switched off by how others are used",
        "wrong-kind": "the slot is of another kind",
        "too-narrow": "the connector is too short",
        "no-port": "there is no free port for it",
        "port-missing": "there is no such port",
        "port-taken": "the port is taken",
        "port-disabled": "the port is switched off by how others are used",
        "protocol": "the port does not speak the drive's protocol",
        "no-socket": "there is no free socket",
        "socket-mismatch": "the socket is another one",
        "no-memory-slot": "there is no free memory slot",
        "bridge-pair": "the bridge's two cards are not there",
        "bridge-spacing": "the bridge does not span this distance",
        "bridge-connector": "the bridge does not fit these cards",
        "bridge-identical": "the bridge joins identical cards only",
    }
)


def problem_words(problem: PlacementProblem) -> str:
    """Return why a piece cannot stand in a place."""
    by = f" ({', '.join(problem.by)})" if problem.by else ""
    return PROBLEM_WORDS.get(problem.reason, problem.reason) + by
