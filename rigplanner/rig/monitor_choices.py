"""Monitors and the roles of GPUs in words: "monitors=3x2560x1440", "desktop=light", "games=yes",
"role:GTX 1050 Ti=display"."""

import re
from typing import get_args

from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import GPU
from rigplanner.rig.document import MOST_MONITORS, Monitors, Rig, Role, part_of
from rigplanner.rig.edits import EditFault, change_site, set_role

SIZES = {
    "1080p": (1920, 1080),
    "fhd": (1920, 1080),
    "1440p": (2560, 1440),
    "qhd": (2560, 1440),
    "4k": (3840, 2160),
    "2160p": (3840, 2160),
    "5k": (5120, 2880),
    "8k": (7680, 4320),
}
"""Pixels of a monitor by the names that resolutions go by."""
DESKTOPS = ("none", "light", "usual", "heavy")
MONITOR_WORDS = ("monitors", "resolution", "desktop", "games")
_COUNTED = re.compile(r"(\d{1,4})(?:\s*x\s*(\S+))?", re.IGNORECASE)


def with_monitor_choice(rig: Rig, key: str, value: str) -> Rig | None:
    """Return the rig with one setting of its monitors; None for another setting. Raises EditFault
    for a value that it does not know."""
    if key not in MONITOR_WORDS:
        return None
    now = rig.site.monitors or Monitors(count=1)
    if key == "monitors":
        monitors = counted_monitors(value, now)
    elif key == "resolution":
        width, height = _size(value, "resolution")
        monitors = replace(now, width_px=width, height_px=height)
    elif key == "desktop":
        if value.casefold() not in DESKTOPS:
            raise EditFault(f"desktop: expected one of {', '.join(DESKTOPS)}, found {value!r}.")
        monitors = replace(now, desktop=value.casefold())
    else:
        if value.casefold() not in ("yes", "no"):
            raise EditFault(f"games: expected yes or no, found {value!r}.")
        monitors = replace(now, games=value.casefold() == "yes")
    return change_site(rig, monitors=monitors)


ONE = Monitors(count=1)


def counted_monitors(value: str, now: Monitors = ONE) -> Monitors | None:
    """Return so many monitors, "2" or "2x3840x2160" or "2x4K", otherwise as `now`; None for none.
    Raises EditFault for other words."""
    if value.casefold() in ("0", "none", "no"):
        return None
    found = _COUNTED.fullmatch(value.strip())
    if found is None or not 1 <= int(found[1]) <= MOST_MONITORS:
        raise EditFault(
            f"monitors: expected 1 to {MOST_MONITORS}, alone or with a resolution as 2x2560x1440 or"
            f" 2x4K, found {value!r}."
        )
    width, height = _size(found[2], "monitors") if found[2] else (now.width_px, now.height_px)
    return replace(now, count=int(found[1]), width_px=width, height_px=height)


def _size(value: str, name: str) -> tuple[int, int]:
    if value.casefold() in SIZES:
        return SIZES[value.casefold()]
    sides = value.casefold().split("x")
    if len(sides) != 2 or not all(side.isdigit() and 320 <= int(side) <= 32_768 for side in sides):
        raise EditFault(
            f"{name}: expected pixels as 2560x1440 (320 to 32768 a side) or one of"
            f" {', '.join(SIZES)}, found {value!r}."
        )
    return int(sides[0]), int(sides[1])


def with_role(rig: Rig, catalog: Catalog, name: str, value: str) -> Rig:
    """Return the rig with the role of the GPU whose name or item holds these words. Raises
    EditFault where none or several different ones do, and for a role that there is none of."""
    roles = get_args(Role)
    if value.casefold() not in (*roles, "none"):
        raise EditFault(f"role:{name}: expected one of {', '.join(roles)}, found {value!r}.")
    gpus = [
        (item, part)
        for item in rig.items
        if isinstance(part := part_of(rig, catalog, item.part), GPU)
    ]
    words = name.casefold().split()
    found = [
        item
        for item, part in gpus
        if item.uid == name or all(word in part.name.casefold().split() for word in words)
    ] or [item for item, part in gpus if all(word in part.name.casefold() for word in words)]
    if not words or len(found) != 1:
        names = ", ".join(sorted({part.name for _, part in gpus})) or "none"
        how = "no" if not found else "more than one"
        raise EditFault(f"role:{name}: {how} GPU of the rig is meant; it has {names}.")
    role = None if value.casefold() == "none" else value.casefold()
    return set_role(rig, found[0].uid, role)
