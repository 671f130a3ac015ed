"""A card for the monitors: where it stands, what it costs the others, what monitors take."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import GPU
from rigplanner.machine.assemble import assemble
from rigplanner.machine.displays import Seen, display_gib, driver_of, frame_mib
from rigplanner.memory.usable_memory import usable_gib
from rigplanner.rig.choices import with_choice
from rigplanner.rig.document import Item, Monitors, Rig, Site
from rigplanner.rig.edits import EditFault, set_role
from rigplanner.rig.workload import Workload
from rigplanner.rules.assess import assess, machine_of

PAIR = Item(uid="gpu", part="nvidia.geforce.gtx-1080-ti", quantity=2)
SMALL = Item(uid="small", part="nvidia.geforce.gtx-1050-ti", role="display")
BOARDS = ("msi.z370.z370-godlike-gaming", "asus.rog-strix.z270e-gaming")
CPUS = {BOARDS[0]: "intel.core.i7-8700k", BOARDS[1]: "intel.core.i7-7700k"}
JOB = Workload(model="resnet50", task="train", precision="fp32", batch_per_gpu=32)


def rig(board: str, *items: Item, monitors: Monitors | None = None) -> Rig:
    """A rig on a board with a CPU that it takes."""
    base = (Item(uid="cpu", part=CPUS[board]), Item(uid="board", part=board))
    return Rig(items=(*base, *items), site=Site(monitors=monitors), workloads=(JOB,))


def widths(of: Rig, catalog: Catalog) -> list[int | None]:
    """The lanes of the GPUs for jobs."""
    return [node.width for node in assemble(of, catalog).gpus]


@pytest.mark.parametrize("board", BOARDS)
def test_a_display_card_takes_what_the_others_leave(board: str, catalog: Catalog) -> None:
    machine = assemble(rig(board, PAIR, SMALL), catalog)
    assert [node.gpu.id for node in machine.gpus] == [PAIR.part, PAIR.part]
    assert [node.piece for node in machine.displays] == ["small.0"]
    assert machine.displays[0].place is not None and not machine.problems
    assert widths(rig(board, PAIR, SMALL), catalog) == widths(rig(board, PAIR), catalog) == [8, 8]
    joined = rig(board, PAIR, replace(SMALL, role=None))
    assert sum(filter(None, widths(joined, catalog))) < 24 and len(widths(joined, catalog)) == 3


def test_it_does_not_matter_where_the_display_card_stands_in_the_list(catalog: Catalog) -> None:
    one = assemble(rig(BOARDS[0], PAIR, SMALL), catalog)
    other = assemble(rig(BOARDS[0], SMALL, PAIR), catalog)
    assert {use.slot.id: use.piece for use in one.slots_in_use} == {
        use.slot.id: use.piece for use in other.slots_in_use
    }


def test_a_wished_slot_costs_lanes_and_the_check_says_so(catalog: Catalog) -> None:
    moved = rig(BOARDS[0], PAIR, replace(SMALL, places=("PCI_E1",)))
    (found,) = (f for f in assess(moved, catalog).report.findings if f.code == "DSP005")
    assert found.values["variant"] == "costs"
    assert (found.values["before"], found.values["after"]) == ("x8/x8", "x8/x4")


def test_jobs_run_on_the_other_cards_alone(catalog: Catalog) -> None:
    shown = assess(rig(BOARDS[0], PAIR, SMALL), catalog)
    alone = assess(rig(BOARDS[0], PAIR), catalog)
    assert shown.jobs[0].speed == alone.jobs[0].speed
    assert shown.jobs[0].memory == alone.jobs[0].memory
    codes = {finding.code for finding in shown.report.findings}
    assert not codes & {"GPU002", "PCI003", "VRM001", "VRM002"}


def test_a_picture_takes_what_its_pixels_take() -> None:
    assert frame_mib(Monitors(count=1)) == pytest.approx(7.91, abs=0.005)
    bare = Monitors(count=2, desktop="none")
    assert display_gib(bare) == pytest.approx(2 * 3 * 1920 * 1080 * 4 / 2**30)


@given(
    st.integers(1, 64),
    st.integers(320, 32_768),
    st.integers(320, 32_768),
    st.sampled_from(["none", "light", "usual", "heavy"]),
)
def test_more_monitors_and_games_never_take_less(
    count: int, width: int, height: int, desktop: str
) -> None:
    some = Monitors(count=count, width_px=width, height_px=height, desktop=desktop)
    assert display_gib(some) <= display_gib(replace(some, games=True))
    assert display_gib(some) <= display_gib(replace(some, count=count + 1))
    assert display_gib(some) <= display_gib(replace(some, width_px=width + 1, games=True))


def test_monitors_take_memory_of_the_card_that_drives_them(catalog: Catalog) -> None:
    monitors = Monitors(count=2, width_px=3840, height_px=2160, games=True)
    for items, first, second in (
        ((PAIR,), True, False),
        ((PAIR, SMALL), False, False),
        ((replace(PAIR, role="compute"),), False, False),
        ((replace(PAIR, role="both"),), True, False),
    ):
        machine = machine_of(rig(BOARDS[0], *items, monitors=monitors), catalog)
        full = usable_gib(catalog.parts[PAIR.part])
        left = [usable_gib(node.gpu) for node in machine.gpus]
        assert full is not None and None not in left
        lost = [full - (room or 0.0) for room in left]
        taken = display_gib(monitors)
        assert lost == pytest.approx([taken if first else 0.0, taken if second else 0.0])


def test_the_verdict_counts_them(catalog: Catalog) -> None:
    job = replace(JOB, batch_per_gpu=64)
    bare = replace(rig(BOARDS[0], PAIR), workloads=(job,))
    games = Monitors(count=2, width_px=3840, height_px=2160, games=True)
    shown = replace(bare, site=Site(monitors=games))
    verdicts = [
        {f.code for f in assess(each, catalog).report.findings} & {"VRM001", "VRM002"}
        for each in (bare, shown, bare)
    ]
    assert verdicts == [set(), {"VRM002"}, set()]


def test_firmware_takes_the_first_card_that_has_an_output(catalog: Catalog) -> None:
    card = catalog.parts[PAIR.part]
    assert isinstance(card, GPU)
    blind = replace(card, display_outputs=0)
    assert driver_of([Seen("a", blind, None), Seen("b", card, None)]) == "b"
    assert driver_of([Seen("a", card, None), Seen("b", card, "both")]) == "b"
    assert driver_of([Seen("a", card, "both"), Seen("b", card, "display")]) == "b"
    assert driver_of([Seen("a", card, "compute"), Seen("b", blind, None)]) is None


def test_words_set_them(catalog: Catalog) -> None:
    made = rig(BOARDS[0], PAIR, replace(SMALL, role=None))
    for text in ("role:1050 Ti=display", "monitors=3x1440p", "desktop=light", "games=yes"):
        made = with_choice(made, catalog, text)
    assert made.items[-1].role == "display"
    assert made.site.monitors == Monitors(
        count=3, width_px=2560, height_px=1440, desktop="light", games=True
    )
    assert with_choice(made, catalog, "monitors=none").site.monitors is None


@pytest.mark.parametrize(
    "text", ["role:Titan=display", "role:GTX=display", "role:1050=show", "monitors=70",
             "monitors=2xbig", "resolution=9x9", "desktop=gnome", "games=some"],
)  # fmt: skip
def test_words_that_mean_nothing_are_refused(text: str, catalog: Catalog) -> None:
    with pytest.raises(EditFault, match=text.partition("=")[0].split(":")[0]):
        with_choice(rig(BOARDS[0], PAIR, SMALL), catalog, text)


def test_a_role_that_there_is_none_of_is_refused() -> None:
    with pytest.raises(EditFault, match="compute, display or both"):
        set_role(rig(BOARDS[0], PAIR), "gpu", "show")  # type: ignore[arg-type]
