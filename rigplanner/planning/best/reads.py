"""Which parts a rule's refusal rests on: found with these kinds present, it holds for every rig
with the same parts of these kinds, whatever else is in it."""

CARDS = "cards"
"""The set of cards, as one choice: number, cap, bridges and way."""

AVOIDED = frozenset(
    (
        "PWR003",
        "PWR004",
        "PWR009",
        "PWR011",
        "PWR012",
        "PWR013",
        "PWR020",
        "CLG002",
        "CLG004",
        "CLG005",
        "CPU004",
        "DSP001",
        "KNO001",
        "PCI001",
        "PCI004",
        "PCI007",
        "MEM008",
        "DSK004",
        "DSK009",
        "HST001",
    )
)
"""Warnings that a rig need not have: another part of the same kind mends them. What they tell of
trips, throttles, starves or shows no picture."""

SITTING = (CARDS, "motherboard", "cpu")
LOADS = (CARDS, "motherboard", "cpu", "memory", "storage", "psu")
STANDING = (CARDS, "motherboard", "cpu", "storage", "chassis")

RESTS_ON: dict[tuple[str, ...], tuple[str, ...]] = {
    (CARDS,): ("PWR014",),
    ("cpu",): ("SW001",),
    ("motherboard", "cpu"): ("CPU001", "CPU002", "CPU003", "CPU005", "CPU009"),
    SITTING: (
        "SLT001",
        "SLT002",
        "SLT003",
        "SLT004",
        "SLT005",
        "SLT006",
        "GPU001",
        "CLG002",
        "DSP001",
        "PCI004",
        "PCI006",
        "PCI007",
        "PCI010",
        "PCI011",
        "PCI012",
        "NVL001",
        "NVL002",
        "NVL003",
        "NVL004",
        "NVL005",
        "NVL009",
        "SW002",
        "SW003",
        "SW006",
        "SW008",
        "SW009",
        "SW012",
        "SW013",
        "SW015",
        "SW017",
        "SW018",
        "SW020",
        "SW021",
        "SW023",
        "SW024",
        "WRK001",
        "WRK004",
        "WRK005",
        "WRK006",
        "VRM001",
        "MIG001",
        "MIG002",
    ),
    ("motherboard", "cpu", "memory"): ("MEM001", "MEM002", "MEM003", "MEM004", "CPU004"),
    (CARDS, "motherboard", "cpu", "memory"): ("MEM008", "MEM009"),
    (CARDS, "motherboard", "cpu", "storage"): (
        "M2001",
        "M2002",
        "M2003",
        "M2004",
        "M2005",
        "M2006",
        "PCI001",
    ),
    (CARDS, "motherboard", "cpu", "memory", "storage"): (
        "DSK003",
        "DSK004",
        "DSK008",
        "DSK009",
        "HST001",
    ),
    ("motherboard", "chassis"): ("SPC004",),
    (CARDS, "chassis"): ("SPC001", "SPC002", "CLG001", "CLG005"),
    ("storage", "chassis"): ("DSK002",),
    STANDING: ("SPC003",),
    ("cpu", "cooler"): ("CLG003", "CLG004"),
    ("chassis", "cooler"): ("SPC007", "SPC008"),
    ("chassis", "psu"): ("SPC005", "SPC006"),
    (CARDS, "motherboard", "cpu", "storage", "psu"): (
        "PWR005",
        "PWR006",
        "PWR008",
        "PWR009",
        "PWR011",
    ),
    LOADS: ("PWR002", "PWR003", "PWR004", "PWR012", "PWR020"),
}
"""Kinds to the codes of the rules. Rules that are not named judge whole rigs alone."""
