"""The solver against all placements, on small made-up boards."""

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st
from small_parts import board, cpu, gpu, m2, machine_of, places, slot

from rigplanner.catalog.schema.parts import GPU, DrivePort, LaneMode, Motherboard, Slot, When
from rigplanner.machine.pcie import LANE_GBS
from rigplanner.machine.placement.lanes import seat

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
    ]
    modes = []
    for _ in range(draw(st.integers(0, 3))):
        used = draw(st.sampled_from(IDS[:count]))
        target = draw(st.sampled_from(IDS[:count]))
        if draw(st.booleans()) and target != used:
            modes.append(LaneMode(when=When(used=(used,)), disabled=(target,)))
        else:
            modes.append(
                LaneMode(when=When(used=(used,)), widths={target: draw(st.sampled_from((4, 8)))})
            )
    return board(slots, modes=modes)


cards = st.lists(
    st.builds(lambda n, thick, width: gpu(f"g{n}-{thick}-{width}", slots=thick, edge_width=width),
              st.integers(0, 1), st.sampled_from((1, 2, 3)), st.sampled_from((8, 16))),
    min_size=1, max_size=3,
)  # fmt: skip


def score(
    made: Motherboard, gpus: list[GPU], choice: tuple[Slot | None, ...]
) -> tuple[float, ...] | None:
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
        min(offers[p.id].width or 0, g.edge_width or 0)
        * LANE_GBS[min(offers[p.id].gen or 0, g.edge_gen or 0)]
        for g, p in taken
    ]
    return (len(rates), round(min(rates, default=0.0), 6), round(sum(rates), 6))


@settings(max_examples=150, deadline=None)
@given(boards(), cards)
def test_no_placement_is_better(made: Motherboard, gpus: list[GPU]) -> None:
    options = [None, *made.layout.slots]
    best = max(
        found
        for choice in product(options, repeat=len(gpus))
        if (found := score(made, gpus, choice)) is not None
    )
    machine = machine_of(made, cpu(), *gpus)
    where = {use.piece: use.slot for use in machine.slots if use.piece is not None}
    names = [piece.name for piece in machine.pieces if piece.name.startswith("gpu")]
    assert score(made, gpus, tuple(where.get(name) for name in names)) == best
    assert len(machine.problems) == len(gpus) - best[0]


PORTS = "MNO"


@st.composite
def boards_with_ports(draw: st.DrawFn) -> Motherboard:
    """Boards of two or three slots and sockets for drives that take lanes from slots, from each
    other, or switch them off."""
    slots = [
        slot(IDS[n], 3 * n + 1, draw(st.sampled_from((8, 16))))
        for n in range(draw(st.integers(2, 3)))
    ]
    ports = [
        DrivePort(
            id=PORTS[n],
            kind="m2",
            origin="cpu0",
            gen=4,
            width=4,
            protocols=draw(st.sampled_from((("nvme",), ("nvme", "sata")))),
        )
        for n in range(draw(st.integers(1, 3)))
    ]
    modes = []
    places = [place.id for place in (*slots, *ports)]
    for _ in range(draw(st.integers(0, 3))):
        used, target = draw(st.sampled_from(places)), draw(st.sampled_from(places))
        if used == target:
            continue
        if draw(st.booleans()):
            modes.append(LaneMode(when=When(used=(used,)), disabled=(target,)))
        elif target in IDS:
            modes.append(LaneMode(when=When(used=(used,)), widths={target: 8}))
    return board(slots, ports, modes)


def whole_score(
    made: Motherboard, gpus: int, drives: list[str], choice: tuple[str | None, ...]
) -> tuple[float, ...] | None:
    """Return GPUs and drives placed, slowest and summed GPU links, None when two pieces meet, fit
    not, or switch each other off."""
    used = [place for place in choice if place is not None]
    if len(set(used)) < len(used):
        return None
    ports = {port.id: port for port in made.layout.drives}
    held = {
        place: kind for kind, place in zip(drives, choice[gpus:], strict=True) if place is not None
    }
    if any(kind not in ports[place].protocols for place, kind in held.items()):
        return None
    offers = seat(made.layout, (cpu(),), {}).at(frozenset(used), held)
    if any(offers[place].disabled_by for place in used):
        return None
    rates = [
        (offers[place].width or 0) * LANE_GBS[offers[place].gen or 4]
        for place in choice[:gpus]
        if place is not None
    ]
    return (len(rates), len(held), round(min(rates, default=0.0), 6), round(sum(rates), 6))


@settings(max_examples=150, deadline=None)
@given(
    boards_with_ports(), st.integers(1, 2), st.lists(st.sampled_from(("nvme", "sata")), max_size=3)
)
def test_no_placement_of_cards_and_drives_is_better(
    made: Motherboard, gpus: int, drives: list[str]
) -> None:
    slots, ports = (
        [None, *(s.id for s in made.layout.slots)],
        [None, *(p.id for p in made.layout.drives)],
    )
    choices = product(*([slots] * gpus), *([ports] * len(drives)))
    best = max(
        found
        for choice in choices
        if (found := whole_score(made, gpus, drives, choice)) is not None
    )
    machine = machine_of(
        made, cpu(), (gpu(), gpus), *(m2(f"{kind}{n}", kind) for n, kind in enumerate(drives))
    )
    where = places(machine)
    names = sorted(name for name in where if name.startswith("storage"))
    chosen = tuple(where.get(f"gpu.{n}") for n in range(gpus))
    stored = tuple(where.get(f"storage{n or ''}.0") for n in range(len(drives)))
    assert len(names) == best[1]
    assert whole_score(made, gpus, drives, (*chosen, *stored)) == best


def test_a_socket_that_switches_two_others_off_stays_empty_for_two_drives() -> None:
    ports = [
        DrivePort(id=name, kind="m2", origin="cpu0", gen=4, width=4, protocols=("nvme",))
        for name in PORTS
    ]
    modes = [LaneMode(when=When(used=("M",)), disabled=(name,)) for name in ("N", "O")]
    made = board([slot("A", 1)], ports, modes)
    assert len(places(machine_of(made, cpu(), m2("one")))) == 1
    where = places(machine_of(made, cpu(), m2("one"), m2("two")))
    assert sorted(where.values()) == ["N", "O"]
