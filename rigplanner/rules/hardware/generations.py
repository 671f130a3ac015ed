"""Generations of CPUs in the words of boards' support lists ("EPYC 7002", "Xeon Scalable 2nd",
"Ryzen 5000")."""

import re
from functools import cache

from rigplanner.catalog.load import shipped_catalog
from rigplanner.catalog.schema.parts import CPU, Motherboard, System, year_of

ORDINALS = {"1": "1st", "2": "2nd", "3": "3rd", "4": "4th", "5": "5th"}
HEDT = {
    "58": "Intel Core 5000 (Haswell-E)",
    "59": "Intel Core 5000 (Haswell-E)",
    "68": "Intel Core 6000 (Broadwell-E)",
    "69": "Intel Core 6000 (Broadwell-E)",
}
"""Core i7 of LGA2011-3 by their first two digits."""
DESKTOP = {
    "6": "Intel Core 6000 (Skylake)",
    "7": "Intel Core 7000 (Kaby Lake)",
    "8": "Intel Core 8000",
    "9": "Intel Core 9000",
}
NAMED = (
    (r"EPYC ([789])\w{2}([1-5])", "EPYC {0}00{1}"),
    (r"Threadripper (PRO )?([1-9])\d{3}", "Threadripper {0}{1}000"),
    (r"Ryzen \d (8)\d{3}G", "Ryzen {0}000G"),
    (r"Ryzen \d (?:PRO )?(4)\d{3}", "Ryzen {0}000G"),
    (r"Ryzen \d ([1-9])\d{3}", "Ryzen {0}000"),
    (r"Xeon (?:Bronze|Silver|Gold|Platinum) \d([1-5])", "Xeon Scalable {ordinal}"),
    (r"Xeon E5-\d{4} (v[34])", "Xeon E5 {0}"),
    (r"Xeon W-([23][12])\d{2}", "Xeon W-{0}00"),
    (r"Xeon w\d-([23][45])\d{2}", "Xeon W-{0}00"),
    (r"Xeon 6\d{2}(?!\d)", "Xeon 600"),
    (r"Core Ultra \d 2\d{2}", "Intel Core Ultra 200S"),
    (r"Core i\d-(1[0-4])\d{3}", "Intel Core {0}th"),
)
"""How makers name a model, and the generation that its digits tell."""


@cache
def generation(name: str, socket: str | None) -> str | None:
    """Return the generation of a CPU by its name and socket, as support lists name it; None where
    the name tells none."""
    core = re.search(r"Core i\d-(\d)(\d)(\d+)", name)
    if core and socket == "LGA2066":
        return f"Intel Core X {'10' if core[1] == '1' else core[1]}000"
    if core and socket == "LGA2011-3":
        return HEDT.get(core[1] + core[2])
    if core and len(core[3]) == 2:
        return DESKTOP.get(core[1])
    for pattern, text in NAMED:
        if told := re.search(pattern, name):
            words = told.groups(default="")
            return text.format(*words, ordinal=ORDINALS.get(words[0] if words else "", ""))
    return None


SERVED_WITH = {"Ryzen 4000G": "Ryzen 5000"}
"""Generations that a support list means with another: the firmware that starts a Ryzen 5000
of AM4 knows the Ryzen 4000 before it (ASUS, MSI and Gigabyte list them together; recalled)."""


def listed(board: Motherboard | System, cpu: CPU) -> bool | None:
    """Say whether a board's support list holds the CPU's generation; None where the name tells
    none."""
    told = generation(cpu.name, cpu.socket)
    names = {told, SERVED_WITH.get(told or "")}
    return None if told is None else bool(names & {*board.layout.cpu_generations})


@cache
def first_years() -> dict[str, int]:
    """Return the year in which the first CPU of each generation came out, by the release dates of
    the shipped catalog."""
    years: dict[str, int] = {}
    for cpu in shipped_catalog().of_kind("cpu"):
        told = generation(cpu.name, cpu.socket) if isinstance(cpu, CPU) else None
        year = year_of(cpu)
        if told and year is not None:
            years[told] = min(years.get(told, year), year)
    return years


def younger(board: Motherboard | System, cpu: CPU) -> bool:
    """Say whether a CPU's generation came out in a later year than its board."""
    made, own = year_of(board), year_of(cpu)
    if made is None or own is None:
        return False
    return min(own, first_years().get(generation(cpu.name, cpu.socket) or "", own)) > made
