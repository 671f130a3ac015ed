"""Moves that give a card a better link: other places for it or for the drives that narrow it, tried
on the machine itself."""

from collections.abc import Callable, Iterable

from msgspec.structs import replace

from rigplanner.machine.alternatives import Alternative, Change, alternatives
from rigplanner.machine.assemble import assemble
from rigplanner.machine.model import Machine
from rigplanner.machine.pcie import coded_gbs
from rigplanner.rig.document import Rig
from rigplanner.rig.edits import Edit, apply
from rigplanner.rules.core.context import Context
from rigplanner.rules.core.finding import Fix
from rigplanner.rules.core.fixes import fix
from rigplanner.rules.core.registry import RULES, judged

MOST_GPUS = 4
"""Beyond that many GPUs no moves are tried for a finding: each trial assembles the machine, and
`rigplanner topology --alternatives` lists them all."""

MOST_TRIALS = 4
SPACE = ("SPC001", "SPC003", "M2006", "PCI005", "PCI011")
"""What a move can break besides what the solver itself reports: room, heat sinks, bifurcation,
atomics."""
LOAD = ("PWR002", "PWR012", "PWR016", "PWR020")
"""What more parts can break: supply, circuit, UPS, cord."""
PLUGS = ("PWR005", "PWR006")
"""What another card can ask of the supply."""

Link = tuple[int | None, int | None]


def rate(link: Link) -> float:
    """Return the coded one-way rate of a link (width, generation) in GB/s, 0 where it is
    unknown."""
    width, gen = link
    return coded_gbs(gen, width) or 0.0


def tries_moves(context: Context) -> bool:
    """Say whether moves are tried for the findings of a rig."""
    return context.advise and len(context.machine.gpus) <= MOST_GPUS


def better_moves(
    context: Context, pieces: Iterable[str], gainer: str, least: float = 0.0
) -> tuple[Fix, ...]:
    """Return the best move of one of the pieces after which `gainer` has a faster link, of `least`
    GB/s at least; none where there is none, or where fixes are not sought."""
    if not tries_moves(context):
        return ()
    found: list[tuple[float, Alternative, Change]] = []
    for piece in pieces:
        for move in alternatives(context.rig, context.catalog, context.machine, piece, MOST_TRIALS):
            gain = next((change for change in move.changes if change.piece == gainer), None)
            if (
                gain is not None
                and rate(gain.after) > max(rate(gain.before), least * 0.999)
                and move.gain_gbs > 0
            ):
                found.append((move.gain_gbs, move, gain))
    found.sort(key=lambda entry: (-entry[0], len(entry[1].changes)))
    clean = next((entry for entry in found if _is_clean(context, entry[1])), None)
    return (_as_fix(context, clean[1], clean[2]),) if clean is not None else ()


def _is_clean(context: Context, move: Alternative) -> bool:
    """Say whether a move adds no error of space, which the solver does not look at."""
    rig = context.rig
    for edit in move.edits:
        rig = apply(rig, edit)
    now = _errors(context, context.rig, context.machine)
    return _errors(context, rig, assemble(rig, context.catalog)) <= now


def _errors(context: Context, rig: Rig, machine: Machine) -> set[tuple[str, tuple[str, ...]]]:
    there = Context(rig=rig, catalog=context.catalog, machine=machine, advise=False)
    found = [finding for code in SPACE for finding in judged(RULES[code], there)[0]]
    return {(finding.code, finding.subjects) for finding in found if finding.severity == "error"}


def lands(
    context: Context,
    edits: tuple[Edit, ...],
    piece: str,
    place: str = "",
    good: Callable[[Machine], bool] = lambda machine: True,
) -> bool:
    """Say whether after the edits a piece stands in a place (any, when not named), the machine is
    `good`, no piece more is homeless and no further error of space is there. Without `advise`
    nothing is tried."""
    if not context.advise:
        return True
    rig = context.rig
    for edit in edits:
        rig = apply(rig, edit)
    machine = assemble(rig, context.catalog)
    before = {(problem.piece, problem.reason) for problem in context.machine.problems}
    after = {(problem.piece, problem.reason) for problem in machine.problems}
    stands = any(use.piece == piece and place in ("", use.slot.id) for use in machine.slots) or any(
        piece in use.pieces and place in ("", use.port.id) for use in machine.drives
    )
    homeless = len(machine.problems) <= len(context.machine.problems)
    lost = any(problem[0] == piece for problem in after - before)
    return (
        stands
        and homeless
        and not lost
        and good(machine)
        and _errors(context, rig, machine) <= _errors(context, context.rig, context.machine)
    )


def adds_errors(context: Context, edits: tuple[Edit, ...], codes: tuple[str, ...]) -> bool:
    """Say whether edits bring an error of one of these rules that the rig has not now."""
    rig = context.rig
    for edit in edits:
        rig = apply(rig, edit)
    same = all(edit.name in ("set_software", "change_workload") for edit in edits)
    machine = context.machine if same else assemble(rig, context.catalog)
    now, then = (
        {
            finding.code
            for code in codes
            for finding in judged(
                RULES[code], replace(context, rig=one, machine=made, advise=False)
            )[0]
            if finding.severity == "error"
        }
        for one, made in ((context.rig, context.machine), (rig, machine))
    )
    return not then <= now


def harmless(context: Context, fixes: tuple[Fix, ...], *codes: str) -> tuple[Fix, ...]:
    """Return the fixes that bring no error of these rules."""
    return tuple(
        one for one in fixes if not context.advise or not adds_errors(context, one.edits, codes)
    )


def _as_fix(context: Context, move: Alternative, gain: Change) -> Fix:
    losses = [change for change in move.changes if rate(change.after) < rate(change.before)]
    loser = min(losses, key=lambda change: rate(change.after) - rate(change.before), default=None)
    values = {
        "piece": move.piece,
        "place": move.place,
        "gainer": gain.piece,
        "before": _words(gain.before),
        "after": _words(gain.after),
    }
    if loser is None:
        return fix(context, "move-for-lanes", *move.edits, **values)
    lost = {
        "loser": loser.piece,
        "lost_before": _words(loser.before),
        "lost_after": _words(loser.after),
    }
    return fix(context, "move-at-a-cost", *move.edits, **values, **lost)


def _words(link: Link) -> str:
    """Return a link as the field writes it: "PCIe 5.0 x16"."""
    width, gen = link
    return (
        f"PCIe {gen}.0 x{width}"
        if gen is not None and width is not None
        else f"x{width}"
        if width is not None
        else "?"
    )
