"""A rig as one line of text that people and codes carry: how many of which part, by the parts'
ids."""

import re

from rigplanner.rig.document import Rig

HEAD = "RigPlanner:"
_LINE = re.compile(rf"^\W*{HEAD}[ \t]*(\S.*)$", re.MULTILINE)
_ITEM = re.compile(r"(?:(\d{1,4})x )?(\S+)")


def one_line(rig: Rig) -> str:
    """Return a rig's parts as "RigPlanner: 2x nvidia.geforce.rtx-3090 + amd.ryzen.9-5950x", "" for
    a rig without any."""
    items = [
        f"{item.quantity}x {item.part}" if item.quantity > 1 else item.part for item in rig.items
    ]
    return f"{HEAD} {' + '.join(items)}" if items else ""


def parts_of_line(text: str) -> list[tuple[int, str]]:
    """Return quantity and part id of each item of the first such line in a text, [] where it has
    none."""
    found = _LINE.search(text)
    items = [_ITEM.fullmatch(word.strip()) for word in found[1].split(" + ")] if found else []
    return [(int(item[1] or 1), item[2]) for item in items if item]
