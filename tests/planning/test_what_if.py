"""What a workload could become on a rig."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from rigplanner.catalog.load import shipped_catalog
from rigplanner.planning.what_if import power_caps, room, scaling, split_over
from rigplanner.rig.edits import Edit, apply
from rigplanner.rig.files import read_rig
from rigplanner.rig.workload import Parallelism, Workload
from rigplanner.rules.assess import Assessment, assess

SAMPLES = Path(__file__).parents[2] / "resources" / "samples"


def assessed(name: str, **change: object) -> Assessment:
    rig = read_rig(SAMPLES / f"{name}.rig")
    if change:
        rig = apply(rig, Edit("change_workload", {"index": 0, **change}))
    return assess(rig, shipped_catalog())


def test_the_largest_batch_fits_and_one_step_more_does_not() -> None:
    made = assessed("gtx-1080-ti")
    found = room(made.jobs[0], made.machine).batch
    assert found and found.sure <= found.value
    largest = found.value
    card = made.machine.gpus[0].gpu.memory_gib
    assert card
    full, over = (
        assessed("gtx-1080-ti", batch_per_gpu=size).jobs[0].memory[0].device_gib
        for size in (largest, largest * 2)
    )
    assert full <= card < over


def test_a_model_that_writes_has_users_and_one_that_learns_a_batch() -> None:
    made = assessed("dual-rtx-3090")
    learns, writes = (room(job, made.machine) for job in made.jobs)
    assert learns.batch and learns.batch.value and learns.context and learns.users is None
    assert writes.users and writes.users.users and writes.context and writes.batch is None


def test_images_have_no_context() -> None:
    made = assessed("gtx-1080-ti")
    assert room(made.jobs[0], made.machine).context is None


def test_changes_that_fit_come_first_and_can_be_made() -> None:
    made = assessed("dual-rtx-3090", batch_per_gpu=8)
    changes = room(made.jobs[0], made.machine).changes
    fits = [change.fits for change in changes]
    assert fits == sorted(fits, reverse=True)
    for change in changes:
        after = apply(made.rig, Edit("change_workload", {"index": 0, **change.typed_fields()}))
        if change.count > len(made.machine.gpus):
            assert "one_more_gpu" in change.code.split("+")
            continue
        need = assess(after, shipped_catalog()).jobs[0].memory[0].device_gib
        assert need == pytest.approx(change.device_gib, rel=1e-6), change.code


def test_scaling_holds_the_rigs_own_speed_at_its_own_count() -> None:
    made = assessed("titan-x-server")
    curve = scaling(made, made.jobs[0], shipped_catalog())
    assert curve and made.jobs[0].speed
    own = next(point for point in curve.points if point.gpus == len(made.machine.gpus))
    assert own.value == made.jobs[0].speed.value
    assert [point.gpus for point in curve.points] == [1, 2, 4, 8]
    assert [point.placed for point in curve.points] == [True, True, True, False]


def test_scaling_says_where_a_model_does_not_fit_on_fewer_cards() -> None:
    made = assessed("quad-rtx-4090")
    curve = scaling(made, made.jobs[0], shipped_catalog())
    assert curve
    assert [point.fits for point in curve.points] == [False, True, True, True]


def test_scaling_names_the_count_beyond_which_the_drive_limits() -> None:
    made = assessed(
        "titan-x-server", dataset_gb=10_000.0, dataset_samples=1_000_000, dataset_format="files"
    )
    curve = scaling(made, made.jobs[0], shipped_catalog())
    assert curve
    assert curve.enough is not None
    assert curve.bound in ("storage", "cpu")


def test_a_rig_without_gpus_has_no_curve() -> None:
    made = assessed("gtx-1080-ti")
    bare = apply(
        made.rig, Edit("remove_item", {"uid": made.machine.gpus[0].piece.partition(".")[0]})
    )
    empty = assess(bare, shipped_catalog())
    assert scaling(empty, empty.jobs[0], shipped_catalog()) is None
    assert power_caps(empty, empty.jobs[0], shipped_catalog()) == ()


def test_a_gpu_that_is_built_in_is_one_and_has_no_curve() -> None:
    made = assessed("jetson-agx-orin")
    assert made.jobs[0].speed
    assert scaling(made, made.jobs[0], shipped_catalog()) is None


@pytest.mark.parametrize(("sample", "offered"), [("jetson-agx-orin", False), ("gtx-1080-ti", True)])
def test_one_gpu_more_is_no_way_out_for_one_that_is_built_in(sample: str, offered: bool) -> None:
    made = assessed(
        sample,
        model="llama-3.1-70b",
        task="inference",
        precision="fp16",
        input_tokens=512,
        output_tokens=128,
    )
    codes = {
        code
        for change in room(made.jobs[0], made.machine).changes
        for code in change.code.split("+")
    }
    assert codes and ("one_more_gpu" in codes) == offered


def test_a_split_model_is_split_over_the_cards_there_are() -> None:
    four = Workload(parallelism=Parallelism(tensor=4))
    ways = split_over(four, 4, 2).parallelism
    assert ways and ways.tensor == 2
    assert split_over(replace(four, parallelism=None), 4, 2).parallelism is None


def test_caps_rise_in_speed_and_end_at_the_makers_limit() -> None:
    made = assessed("quad-rtx-4090")
    points = power_caps(made, made.jobs[0], shipped_catalog())
    assert made.jobs[0].speed
    assert [point.value for point in points] == sorted(point.value for point in points)
    assert points[-1].saved_w == 0
    assert points[-1].value == pytest.approx(made.jobs[0].speed.value)


def test_sizes_are_those_of_the_job_that_memory_is_told_for() -> None:
    """Weights that the usual software could not load lie in four bits on the cards: of them, not of
    sixteen bits, the users are counted."""
    rig = read_rig(SAMPLES / "dual-rtx-3090.rig")
    asked = Workload(model="llama-3.3-70b", task="inference", input_tokens=1000, output_tokens=500)
    made = assess(apply(rig, Edit("add_workload", {"workload": asked})), shipped_catalog())
    job = made.jobs[-1]
    assert job.speed and job.speed.fits == "yes" and job.speed.assumed["stack"] == "llama.cpp"
    found = room(job, made.machine)
    assert found.users and found.users.value >= 1
    assert found.context and found.context.value > 1500
