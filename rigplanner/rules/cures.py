"""Which findings on a candidate another part or a setting cures, and which nothing cures.

A part that needs more watts, air or room than there is can be had with another supply, cooler or
case; the platform itself (board, CPU, complete system) and what a chip cannot do stay. So a
candidate that asks for a supply is told from one that can never work here."""

SUPPLY, CASE, COOLER, RISER = "psu", "chassis", "cooler", "riser"
SETTING, CIRCUIT, SPLIT, BACKUP = "setting", "circuit", "split", "ups"
CURED_BY: dict[str, str] = {
    "CLG001": CASE,
    "CLG002": RISER,
    "CLG003": COOLER,
    "CLG004": COOLER,
    "CLG005": CASE,
    "DSK002": CASE,
    "MIG001": SETTING,
    "MIG002": SETTING,
    "M2002": SETTING,
    "M2003": SETTING,
    "PCI006": SETTING,
    "PCI005": SETTING,
    "PCI009": SETTING,
    "PWR002": SUPPLY,
    "PWR003": SUPPLY,
    "PWR004": SUPPLY,
    "PWR005": SUPPLY,
    "PWR006": SUPPLY,
    "PWR010": SUPPLY,
    "PWR011": CIRCUIT,
    "PWR012": CIRCUIT,
    "PWR014": SETTING,
    "PWR016": BACKUP,
    "PWR019": SUPPLY,
    "PWR020": CIRCUIT,
    "SLT002": SETTING,
    "SLT003": SETTING,
    "SLT004": RISER,
    "SPC001": CASE,
    "SPC002": CASE,
    "SPC003": CASE,
    "SPC004": CASE,
    "SPC005": SUPPLY,
    "SPC006": SUPPLY,
    "SPC007": CASE,
    "SPC008": CASE,
    "WRK001": SPLIT,
    "WRK004": SPLIT,
    "WRK005": SPLIT,
    "WRK006": SPLIT,
}
"""Code of a rule to the kind of part, or the setting, that cures what it finds. A rule that is not
here finds what stays as long as board, CPU and jobs do."""

ASKED_OF_EITHER = {"SPC005": (SUPPLY, CASE), "SPC006": (SUPPLY, CASE)}
"""Rules about two parts, either of which gives way to the other."""


def cure_of(code: str, kind: str) -> str | None:
    """Return what cures a finding of the rule `code` on a candidate of a kind, None for nothing:
    that another candidate of the same kind would do is no cure of this one."""
    either = [cure for cure in ASKED_OF_EITHER.get(code, (CURED_BY.get(code),)) if cure != kind]
    return either[0] if either else None
