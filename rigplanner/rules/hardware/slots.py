"""Slots: each card finds one that exists, is free, wide enough, uncovered and alive."""

from collections.abc import Iterator
from typing import Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.schema.parts import (
    GPU,
    Motherboard,
    NetworkCard,
    Part,
    Riser,
    Storage,
    System,
)
from rigplanner.machine.model import PlacementProblem, SlotUse
from rigplanner.machine.placement.adapters import is_extension
from rigplanner.rig.edits import Edit
from rigplanner.rules.core.context import Context, is_built_in
from rigplanner.rules.core.finding import Finding, Fix
from rigplanner.rules.core.fixes import cheapest, fix, item_of, move
from rigplanner.rules.core.moves import harmless, lands
from rigplanner.rules.core.recheck import fits_after
from rigplanner.rules.core.registry import Rule, rule

MANUAL = "Board manuals, slot tables"
RISER = Riser(id="any.riser.any", name="riser", vendor="any")
"""What a riser is chosen in the stead of."""


P = TypeVar("P", bound=Part)


class Seeker(Struct, Generic[P], frozen=True):
    """A piece that wants a place, the board it goes on, and what stopped it."""

    name: str
    part: P
    board: Motherboard | System
    problem: PlacementProblem | None

    @property
    def subjects(self) -> tuple[str, ...]:
        place = self.problem.place if self.problem else None
        return (self.name, place) if place else (self.name,)


def wants_slot(part: Part) -> bool:
    """Say whether a part goes into an expansion slot or a module socket."""
    if isinstance(part, GPU):
        return part.form_factor not in ("usb", "m2", "chip")
    if isinstance(part, NetworkCard):
        return part.form_factor == "pcie"
    return isinstance(part, Riser) or (isinstance(part, Storage) and part.form_factor == "aic")


def seekers(context: Context) -> Iterator[Seeker[Part]]:
    """Every piece the owner puts into a slot."""
    board = context.board
    if board is None:
        return
    problems = {problem.piece: problem for problem in reversed(context.machine.problems)}
    for piece in context.machine.pieces:
        if wants_slot(piece.part) and not is_built_in(piece.name):
            held = context.held_of.get(piece.name)
            on = context.board_of(held.board) if held else None
            yield Seeker(piece.name, piece.part, on or board.board, problems.get(piece.name))


def free_slots(context: Context, like: SlotUse | None = None) -> list[SlotUse]:
    """Return empty, living, uncovered slots of the kind of `like` (else PCIe), widest and fastest
    first: where a card may move to, so none where fixes are not sought."""
    if not context.advise:
        return []
    kind = like.slot.kind if like else "pcie"
    free = [
        use
        for use in context.machine.slots
        if use.piece is None
        and not use.disabled_by
        and use.covered_by is None
        and use.slot.kind == kind
    ]
    return sorted(
        free,
        key=lambda use: (
            -(use.available_width or use.width or 0),
            -(use.available_gen or use.gen or 0),
            use.slot.id,
        ),
    )


def unplace(context: Context, case: Seeker[Part]) -> tuple[Fix, ...]:
    """Give the piece back to the solver, when some slot is free for it."""
    edit = move(context, case.name, "")
    helps = edit is not None and free_slots(context) and lands(context, (edit,), case.name)
    return (fix(context, "let-solver-place", edit, piece=case.name),) if edit and helps else ()


def fewer(context: Context, case: Seeker[Part]) -> tuple[Fix, ...]:
    """Take out as many pieces of the item as found no place."""
    found = item_of(context, case.name)
    if found is None:
        return ()
    item = found[0]
    homeless = len(context.homeless.get((item.uid, "no-slot"), ()))
    if isinstance(case.part, GPU) and not _splits_hold(
        context, len(context.machine.gpu_parts) - homeless
    ):
        return ()
    if homeless >= item.quantity:
        removed = (fix(context, "remove", Edit("remove_item", {"uid": item.uid}), piece=case.name),)
        return harmless(context, removed, "SW021", "MEM009") if context.jobs else removed
    edit = Edit("set_quantity", {"uid": item.uid, "quantity": item.quantity - homeless})
    return (fix(context, "fewer-pieces", edit, piece=case.name, count=item.quantity - homeless),)


def _splits_hold(context: Context, gpus: int) -> bool:
    """Say whether every job still fits this number of GPUs, which its degrees of parallelism make
    up."""
    if gpus and not all(fits_after(context, job, gpus) for job in context.jobs):
        return False
    plans = [job.workload.parallelism for job in context.jobs]
    return all(
        plan.tensor * plan.pipeline * plan.context * (plan.data or 1) <= gpus
        for plan in plans
        if plan is not None
    )


def on_risers(context: Context, name: str, part: Part) -> tuple[Fix, ...]:
    """Hang the cards of a piece's item on risers where only their thickness is in the way, and an
    open frame (or no case) can hold them."""
    found, enclosure = item_of(context, name), context.enclosure
    if (
        found is None
        or not isinstance(part, GPU)
        or part.form_factor != "pcie"
        or not context.advise
    ):
        return ()
    if enclosure and enclosure[1].enclosure and enclosure[1].enclosure.airflow != "open":
        return ()
    living = [
        use for use in context.machine.slots if use.slot.kind == "pcie" and not use.disabled_by
    ]
    cards = sum(
        1
        for piece in context.machine.pieces
        if wants_slot(piece.part) and not isinstance(piece.part, Riser)
    )
    if len(living) < cards or any(
        isinstance(piece.part, Riser) for piece in context.machine.pieces
    ):
        return ()
    reach = max((use.gen or use.slot.gen or 0 for use in living), default=0)
    riser = cheapest(
        context,
        RISER,
        lambda other: _carries(other, part, reach),
        lambda other: other.length_mm or 0.0,
    )
    if riser is None:
        return ()
    count = found[0].quantity
    edit = Edit("add_part", {"part": riser.id, "stem": "riser", "quantity": count})
    return (fix(context, "on-risers", edit, piece=name, part=riser.id, count=count),)


def _carries(riser: Riser, card: GPU, reach: int) -> bool:
    """Say whether a riser leads a slot to a card whole and at the generation that both reach."""
    wanted = min(card.edge_gen or reach, reach)
    return (
        is_extension(riser)
        and (riser.width or 0) >= (card.edge_width or 16)
        and (riser.gen or 0) >= wanted
    )


def stopped(entry: Rule, case: Seeker[Part], fixes: tuple[Fix, ...], variant: str = "") -> Finding:
    """Return the finding about what the solver reported."""
    problem = case.problem
    assert problem is not None
    return entry.finding(
        case,
        needed=problem.needed,
        actual=problem.actual,
        fixes=fixes,
        variant=variant,
        place=problem.place,
        by=list(problem.by),
    )


def _is(case: Seeker[Part], *reasons: str) -> bool:
    return case.problem is not None and case.problem.reason in reasons


@rule(
    "SLT001",
    "No slot is left for a card",
    "error",
    over=seekers,
    needs=("board.layout.slots",),
    reason="Each card takes one living slot, and its thickness covers the next ones.",
    source=MANUAL,
)
def no_slot(context: Context, case: Seeker[Part]) -> Iterator[Finding]:
    """The solver found no slot, or ended before it had tried everything; one finding for all pieces
    of an item."""
    pieces = context.homeless.get((case.name.partition("/")[0].rpartition(".")[0], "no-slot"), ())
    if _is(case, "no-slot") and case.name == pieces[0] and case.problem and not case.problem.proven:
        yield replace(no_slot.unknown(case, variant="cut"), subjects=pieces)
    elif _is(case, "no-slot") and case.name == pieces[0]:
        yield replace(
            stopped(no_slot, case, on_risers(context, case.name, case.part) + fewer(context, case)),
            subjects=pieces,
        )


@rule(
    "SLT002",
    "Slot does not exist on this board",
    "error",
    over=seekers,
    needs=("board.layout.slots",),
    reason="A wished place must be one of the board's.",
    source=MANUAL,
)
def slot_missing(context: Context, case: Seeker[Part]) -> Iterator[Finding]:
    """The wished slot is not on the board."""
    if _is(case, "slot-missing"):
        yield stopped(slot_missing, case, unplace(context, case))


@rule(
    "SLT003",
    "Slot is taken",
    "error",
    over=seekers,
    needs=("board.layout.slots",),
    reason="A slot holds one card.",
    source=MANUAL,
)
def slot_taken(context: Context, case: Seeker[Part]) -> Iterator[Finding]:
    """The wished slot holds another piece."""
    if _is(case, "slot-taken"):
        yield stopped(slot_taken, case, unplace(context, case))


@rule(
    "SLT004",
    "Slot is covered by a neighbour",
    "error",
    over=seekers,
    needs=("board.layout.slots",),
    reason="A card of several slots hides the slots beside it.",
    source=MANUAL,
)
def slot_covered(context: Context, case: Seeker[Part]) -> Iterator[Finding]:
    """The wished slot lies under a neighbour's cooler."""
    if _is(case, "slot-covered"):
        yield stopped(slot_covered, case, unplace(context, case))


@rule(
    "SLT005",
    "Slot is switched off",
    "error",
    over=seekers,
    needs=("board.layout.slots",),
    reason="Drives, neighbours or the class of CPU take the lanes of some slots away.",
    source=MANUAL,
)
def slot_disabled(context: Context, case: Seeker[Part]) -> Iterator[Finding]:
    """A lane mode switches the wished slot off."""
    if _is(case, "slot-disabled"):
        yield stopped(slot_disabled, case, _free_the_lanes(context, case) or unplace(context, case))


def _free_the_lanes(context: Context, case: Seeker[Part]) -> tuple[Fix, ...]:
    """Give the drives back to the solver that switch the slot off, where other ports of their kind
    are free."""
    places = set(case.problem.by if case.problem else ())
    thieves = [drive for drive in context.drives if drive.port and drive.port.id in places]
    kinds = [
        use.port.kind for use in context.machine.drives if not use.pieces and not use.disabled_by
    ]
    if any(drive.port and kinds.count(drive.port.kind) < len(thieves) for drive in thieves):
        return ()
    known = [edit for drive in thieves if (edit := move(context, drive.name, "")) is not None]
    return (
        (fix(context, "free-lanes", *known, piece=case.name, places=sorted(places)),)
        if known
        else ()
    )


@rule(
    "SLT006",
    "Slot is too narrow for the card's connector",
    "error",
    over=seekers,
    needs=("board.layout.slots",),
    reason="A card's edge must enter the slot; only open-ended slots take longer edges.",
    source=MANUAL,
)
def too_narrow(context: Context, case: Seeker[Part]) -> Iterator[Finding]:
    """The card's edge does not enter the slot."""
    if _is(case, "too-narrow"):
        wished = case.problem is not None and bool(case.problem.place)
        yield stopped(
            too_narrow, case, unplace(context, case) if wished else (), "" if wished else "nowhere"
        )


@rule(
    "GPU001",
    "Module or card does not fit this kind of slot",
    "error",
    over=seekers,
    needs=("board.layout.slots",),
    reason="SXM, OAM and MXM modules have no card edge: they need a board made for them.",
    source="NVIDIA and OCP module specifications",
)
def form_factor(context: Context, case: Seeker[Part]) -> Iterator[Finding]:
    """The piece's form factor and the board's slots differ."""
    if not _is(case, "wrong-kind"):
        return
    form = getattr(case.part, "form_factor", "pcie")
    kinds = sorted({slot.kind for slot in case.board.layout.slots})
    yield form_factor.finding(case, needed=str(form), actual=" / ".join(kinds))
