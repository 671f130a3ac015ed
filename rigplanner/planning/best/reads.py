"""Which parts a rule's refusal rests on: found with these kinds present, it holds for every rig
with the same parts of these kinds, whatever else is in it."""

from functools import cache
from typing import Literal

from rigplanner.rules.badges import counts
from rigplanner.rules.core.finding import Finding
from rigplanner.rules.hardware.known_issues import known_pairs

Strictness = Literal["sound", "tight", "warned", "open"]
"""sound: no error, no deciding unknown, no warning that another part mends, and memory surely holds
the works; tight: memory may not hold them; warned: such warnings are borne too; open: deciding
unknowns too."""

LADDER: tuple[Strictness, ...] = ("sound", "tight", "warned", "open")
"""In this order it is asked: each next one only where no rig passes the one before."""

CARDS = "cards"
"""The set of cards, as one choice: number, cap, bridges and way."""

AVOIDED = frozenset(
    (
        "PWR002",
        "PWR003",
        "PWR004",
        "PWR005",
        "PWR006",
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
BARE = (CARDS, "psu")
FED = (CARDS, "motherboard", "cpu", "psu")
LOADS = (CARDS, "motherboard", "cpu", "memory", "storage", "psu")
IN_CASE = (CARDS, "chassis")
STANDING = (CARDS, "motherboard", "cpu", "chassis")
OF_LOAD = ("PWR002", "PWR003", "PWR004", "PWR012", "PWR020")
"""Asked with memory, drive, case and cooler of the space that draw least in the place of those that
are not chosen yet: every rig has some."""
OF_MODULES = ("MEM001", "MEM002", "MEM003", "MEM004")
"""Rules of memory that read no more of board, processor and kit than their memory and sockets."""
OF_ROOM = ("MEM008", "MEM009")
"""Rules of memory that read no more of the host than how much it has."""
OF_PLUGS = ("PWR005", "PWR006", "PWR008", "PWR009", "PWR011")

NO_CASE = "no-case"
"""Why a set of cards is left out whole: every case of the space is refused for these cards."""

NO_HOUSING = "no-housing"
"""Why a board and a processor are left out beside some cards: of all cases, coolers and supplies
some kind is refused whole."""
HOUSING = ("chassis", "cooler", "psu")
"""Kinds that hold, cool and feed the rest: beside cards, board and processor each case has its own
cheapest cooler and supply."""

OF_WORK = (
    "SW002", "SW003", "SW006", "SW008", "SW009", "SW012", "SW013", "SW015", "SW017", "SW018",
    "SW020", "SW021", "SW023", "SW024", "WRK001", "WRK004", "WRK005", "WRK006", "VRM001", "MIG001",
    "MIG002",
)  # fmt: skip
"""Rules that rest on the cards and the works alone: asked of the cards in a host that holds nothing
back."""

RESTS_ON: dict[tuple[str, ...], tuple[str, ...]] = {
    (CARDS,): ("PWR014",),
    ("cpu",): ("SW001",),
    ("motherboard", "cpu"): ("CPU001", "CPU002", "CPU003", "CPU004", "CPU005", "CPU009"),
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
        "P2P001",
    ),
    ("motherboard", "cpu", "memory"): OF_MODULES,
    (CARDS, "motherboard", "cpu", "memory"): OF_ROOM,
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
    IN_CASE: ("SPC001", "SPC002", "CLG001", "CLG005"),
    ("storage", "chassis"): ("DSK002",),
    STANDING: ("SPC003",),
    ("cpu", "cooler"): ("CLG003", "CLG004"),
    ("chassis", "cooler"): ("SPC007", "SPC008"),
    ("chassis", "psu"): ("SPC005", "SPC006"),
    BARE: (*OF_PLUGS, *OF_LOAD),
    FED: (*OF_PLUGS, *OF_LOAD),
    (CARDS, "motherboard", "cpu", "storage", "psu"): OF_PLUGS,
    LOADS: OF_LOAD,
}
"""Kinds to the codes of the rules. Rules that are not named judge whole rigs alone. Loads and plugs
only grow with more parts: what a supply does not feed it does not feed with more beside."""


KINDS_OF_PAIRS = {
    "gpu": CARDS, "motherboard": "motherboard", "cpu": "cpu", "memory": "memory",
    "storage": "storage", "chassis": "chassis", "cooler": "cooler", "psu": "psu",
}  # fmt: skip
"""The kinds of part in known pairs to the kinds of a choice, in their order."""


@cache
def rests_on() -> dict[tuple[str, ...], tuple[str, ...]]:
    """Return kinds to codes: what is declared, and KNO001 by the kinds that its known pairs name; a
    pair that a later processor settles rests on the processor too."""
    found = dict(RESTS_ON)
    for pair in known_pairs():
        named = {pair.first.kind, pair.second.kind} | ({"cpu"} if pair.settled_since else set())
        if named <= KINDS_OF_PAIRS.keys():
            kinds = tuple(KINDS_OF_PAIRS[kind] for kind in KINDS_OF_PAIRS if kind in named)
            codes = found.get(kinds, ())
            found[kinds] = codes if "KNO001" in codes else (*codes, "KNO001")
    return found


def refuses(finding: Finding, strictness: Strictness) -> bool:
    """Say whether a finding keeps a rig out: an error always, a fact of a part that decides and is
    not known unless those are borne, and a warning that another part mends unless those are. An
    overloaded circuit is never borne."""
    if finding.severity == "error" or (finding.code == "PWR012" and finding.severity == "warning"):
        return True
    if finding.severity == "unknown":
        return strictness != "open" and counts(finding)
    return (
        finding.severity == "warning"
        and strictness in ("sound", "tight")
        and finding.code in AVOIDED
    )
