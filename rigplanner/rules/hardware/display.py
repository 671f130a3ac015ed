"""Display and remote management: a way to see what the machine does."""

from collections.abc import Iterator

from rigplanner.catalog.schema.parts import Motherboard, System
from rigplanner.rules.core.completeness import WHOLE
from rigplanner.rules.core.context import Context
from rigplanner.rules.core.finding import Finding, Named
from rigplanner.rules.core.registry import rule


class Screen(Named, frozen=True):
    """A board and the outputs that a monitor could use."""

    board: Motherboard | System


def screens(context: Context) -> Iterator[Screen]:
    """The board of a rig with CPU or GPU that the owner puts together."""
    board = context.board
    whole = isinstance(board.board, System) and board.board.role in WHOLE if board else True
    if board is not None and not whole and (context.cpus or context.cards):
        yield Screen(board.name, board.board)


@rule(
    "DSP001",
    "No display output and no remote management",
    "warning",
    over=screens,
    reason="Without either nobody can set the firmware or see why the machine does not start.",
    source="Board manuals; GPU and CPU specifications",
)
def no_output(context: Context, case: Screen) -> Iterator[Finding]:
    """Look for a remote controller, a card with an output, or graphics in the CPU with an output on
    the board."""
    layout = case.board.layout
    if layout.remote_management or any(card.card.display_outputs for card in context.cards):
        return
    graphics = [cpu.has_graphics for _, cpu in context.cpus]
    if any(graphics) and layout.display_outputs:
        return
    missing = [
        f"{card.card.id}:display_outputs"
        for card in context.cards
        if card.card.display_outputs is None
    ]
    missing += [
        f"{cpu.id}:has_graphics"
        for _, cpu in context.cpus
        if cpu.has_graphics is None and layout.display_outputs != 0
    ]
    if layout.remote_management is None:
        missing.append(f"{case.board.id}:remote_management")
    if any(graphics) and layout.display_outputs is None:
        missing.append(f"{case.board.id}:display_outputs")
    if missing:
        yield no_output.unknown(case, *dict.fromkeys(missing))
    else:
        yield no_output.finding(case)
