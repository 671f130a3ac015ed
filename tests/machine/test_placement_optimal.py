"""The solver against all placements, on small made-up boards."""

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st
from small_parts import board, cpu, gpu, machine_of, slot

from rigplanner.catalog.parts import GPU, LaneMode, Motherboard, Slot, When
from rigplanner.machine.lanes import seat
from rigplanner.machine.pcie import LANE_GBS

IDS = "ABCD"


@st.composite
def boards(draw: st.DrawFn) -> Motherboard:
    count = draw(st.integers(2, 4))
    positions = draw(st.lists(st.integers(1, 7), min_size=count, max_size=count, unique=True))
    slots = [
        slot(
            IDS[n],
            positions[n],
            draw(st.sampled_from((4, 8, 16))),
            draw(st.sampled_from(("cpu0", "chipset"))),
            gen=draw(st.sampled_from((3, 4))),
        )
        for n in range(count)
    ]  # fmt: skip
    modes = []
    for _ in range(draw(st.integers(0, 3))):
        used = draw(st.sampled_from(IDS[:count]))
        target = draw(st.sampled_from(IDS[:count]))
        if draw(st.booleans()) and target != used:
            modes.append(LaneMode(when=When(used=(used,)), disabled=(target,)))
        else:
            modes.append(LaneMode(when=When(used=(used,)), widths={target: draw(st.sampled_from((4, 8)))}))
    return board(slots, modes=modes)


cards = st.lists(
    st.builds(lambda n, thick, width: gpu(f"g{n}-{thick}-{width}", slots=thick, edge_width=width),
              st.integers(0, 1), st.sampled_from((1, 2, 3)), st.sampled_from((8, 16))),
    min_size=1, max_size=3,
)  # fmt: skip


def score(made: Motherboard, gpus: list[GPU], choice: tuple[Slot | None, ...]) -> tuple[float, ...] | None:
    """Return GPUs placed, slowest and summed links of one placement, None when it cannot be."""
    taken = [(part, place) for part, place in zip(gpus, choice, strict=True) if place is not None]
    used = [place.id for _, place in taken]
    if len(set(used)) < len(used):
        return None
    for part, place in taken:
        covered = range((place.position or 0) + 1, (place.position or 0) + int(part.slots or 1))
        if any(other.position in covered for _, other in taken):
            return None
    offers = seat(made.layout, (cpu(),), {}).at(frozenset(used), {})
    if any(offers[place].disabled_by for place in used):
        return None
    rates = [
        min(offers[p.id].width or 0, g.edge_width or 0) * LANE_GBS[min(offers[p.id].gen or 0, g.edge_gen or 0)] for g, p in taken
    ]
    return (len(rates), round(min(rates, default=0.0), 6), round(sum(rates), 6))


@settings(max_examples=150, deadline=None)
@given(boards(), cards)
def test_no_placement_is_better(made: Motherboard, gpus: list[GPU]) -> None:
    options = [None, *made.layout.slots]
    best = max(found for choice in product(options, repeat=len(gpus)) if (found := score(made, gpus, choice)) is not None)
    machine = machine_of(made, cpu(), *gpus)
    where = {use.piece: use.slot for use in machine.slots if use.piece is not None}
    names = [piece.name for piece in machine.pieces if piece.name.startswith("gpu")]
    assert score(made, gpus, tuple(where.get(name) for name in names)) == best
    assert len(machine.problems) == len(gpus) - best[0]
