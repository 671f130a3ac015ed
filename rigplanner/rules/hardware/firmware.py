"""Firmware: settings that the owner must make, because they decide which place gets which lanes."""

from collections.abc import Iterator

from msgspec import Struct

from rigplanner.catalog.schema.parts import Motherboard, System
from rigplanner.rig.edits import Edit
from rigplanner.rules.core.context import Context
from rigplanner.rules.core.finding import Finding
from rigplanner.rules.core.fixes import fix
from rigplanner.rules.core.registry import rule


class Choice(Struct, frozen=True):
    """A board whose firmware offers several settings for places that are in use."""

    name: str
    board: Motherboard | System
    places: tuple[str, ...]
    offered: tuple[str, ...]

    @property
    def subjects(self) -> tuple[str, ...]:
        return (self.name, *self.places)


def choices(context: Context) -> Iterator[Choice]:
    """Boards with lane modes that hang on a firmware setting and concern occupied places."""
    machine = context.machine
    used = {use.slot.id for use in machine.slots_in_use} | {
        use.port.id for use in machine.drives_in_use
    }
    for board in context.boards:
        modes = [
            mode
            for mode in board.layout.lane_modes
            if mode.when.bios and mode.when.used and set(mode.when.used) <= used
        ]
        offered = sorted({mode.when.bios for mode in modes if mode.when.bios})
        places = sorted({place for mode in modes for place in mode.when.used})
        if offered:
            yield Choice(board.name, board.board, tuple(places), tuple(offered))


@rule(
    "PCI009",
    "A firmware setting decides the lanes",
    "warning",
    over=choices,
    reason=(
        "The board gives the lanes to one place or the other; all places at full width do not go"
        " together."
    ),
    source="Board manuals, lane tables",
)
def lane_setting(context: Context, case: Choice) -> Iterator[Finding]:
    """A warning until the rig says which setting shall be made, then a remark that names it."""
    stated = [choice for choice in case.offered if choice in context.rig.settings.bios.values()]
    default = [choice for choice in case.offered if choice in case.board.layout.bios_default]
    if stated:
        yield lane_setting.finding(
            case, "info", needed=stated[0], actual=stated[0], places=list(case.places)
        )
        return
    fixes = tuple(
        fix(
            context,
            "set-firmware",
            Edit("set_bios", {"place": case.places[0], "choice": choice}),
            choice=choice,
        )
        for choice in case.offered
    )
    yield lane_setting.finding(
        case,
        needed=" / ".join(case.offered),
        actual=default[0] if default else None,
        fixes=fixes,
        places=list(case.places),
    )
