"""What a step waits for the host where states or weights are offloaded."""

import math
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.load import shipped_catalog
from rigplanner.catalog.schema.parts import MemoryKit, Motherboard
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.machine.assemble import assemble
from rigplanner.performance.answer import SpeedEstimate
from rigplanner.performance.job import read_job
from rigplanner.performance.modelled import model_speed
from rigplanner.performance.offload import (
    SPREAD,
    STEP_BYTES,
    STEP_S,
    USUAL_LINK_GBS,
    Offload,
    offload_of,
    ram_gbs,
    waits,
)
from rigplanner.performance.predict import by_rows, predict_speed
from rigplanner.rig.document import Item, Rig
from rigplanner.rig.files import read_rig
from rigplanner.rig.workload import Workload


def trained(
    offload: str | None, gpu: str = "A100-SXM4-40GB", count: int = 8, **fields: object
) -> SpeedEstimate:
    asked: dict[str, object] = {
        "model": "falcon-7b",
        "task": "train_full",
        "precision": "bf16",
        "batch_per_gpu": 1,
        "seq_len": 2048,
        "parallelism": {"zero": 3, "offload": offload},
        **fields,
    }
    return predict_speed(
        msgspec.convert(asked, Workload), find_gpu(gpu), count, 1, "nvswitch", shipped_zoo()
    )


def test_the_more_is_offloaded_the_slower_and_the_less_certain() -> None:
    none, states, everything, drives = (
        trained(word) for word in (None, "optimizer", "all", "nvme")
    )
    assert none.value > states.value > everything.value > drives.value
    assert none.high / none.low < states.high / states.low < drives.high / drives.low
    assert drives.bound == "offload" and drives.lift == "less-offload-or-more-accumulation"
    assert [step.name for step in drives.steps if step.name == "states on drives"]


def test_a_published_step_lies_within_the_spread_of_hosts() -> None:
    """Falcon-7B on eight A100, 13.7 s (deepspeedai/DeepSpeed issue 3901)."""
    found = trained("all", seq_len=4096, gradient_checkpointing=True, stack="hf-trainer")
    published = 8 * 4096 / 13.70
    assert found.value / SPREAD <= published <= found.value * SPREAD
    assert found.low <= published <= found.high


def test_rows_correct_the_time_of_the_gpus_and_not_what_they_wait_for() -> None:
    work = msgspec.convert(
        {
            "model": "falcon-7b",
            "task": "train_full",
            "precision": "bf16",
            "stack": "hf-trainer",
            "batch_per_gpu": 1,
            "seq_len": 2048,
            "parallelism": {"zero": 3, "offload": "optimizer"},
        },
        Workload,
    )
    job = read_job(work, find_gpu("A100-SXM4-40GB"), 8, 1, "nvswitch", shipped_zoo())
    told = model_speed(job)
    step_s, waits_s = job.batch * job.count / told.samples_s, told.waits.total_s
    twice = job.batch * job.count / by_rows(job, told, -math.log(2))
    assert waits_s > 0.3 * step_s
    assert twice == pytest.approx(2 * (step_s - waits_s) + waits_s)


def test_accumulation_shares_one_step_of_the_optimizer() -> None:
    once, often = trained("optimizer"), trained("optimizer", variant={"grad_accum": 8})
    assert often.value > 1.5 * once.value


def test_adapters_have_little_to_offload() -> None:
    plain, moved = (trained(word, task="train_lora").value for word in (None, "optimizer"))
    assert moved == pytest.approx(plain, rel=0.1)


def test_a_step_by_hand() -> None:
    slow_memory = Offload("optimizer", 10.0, 20.0, 3.0)
    found = waits(slow_memory, 1e9, "bf16", 2, adapted=False)
    assert found.cpu_s == pytest.approx(1e9 * (STEP_S + STEP_BYTES / (20e9 * 0.8)))
    assert found.link_s == pytest.approx(1e9 * 4 / 2 / 10e9)
    assert found.drive_s == 0
    assert waits(
        Offload("optimizer", 10.0, None, 3.0), 1e9, "bf16", 2, adapted=False
    ).cpu_s == pytest.approx(1e9 * STEP_S)
    assert waits(
        Offload("nvme", 10.0, None, 3.0), 1e9, "bf16", 2, adapted=False
    ).drive_s == pytest.approx(8.0)


def test_copies_step_and_move_all_of_it_each() -> None:
    shared = waits(Offload("all", 10.0, None, 3.0), 1e9, "bf16", 4, adapted=False)
    copied = waits(Offload("all", 10.0, None, 3.0, copies=True), 1e9, "bf16", 4, adapted=False)
    for field in ("cpu_s", "link_s", "fetch_s"):
        assert getattr(copied, field) == pytest.approx(4 * getattr(shared, field))


def test_weights_come_up_for_every_pass_and_again_where_layers_are_recomputed() -> None:
    """Offloaded weights are not brought once a step of the optimizer, as gradients are."""
    kept, again = (
        waits(Offload("all", 10.0, None, 3.0), 1e9, "bf16", 2, adapted=False, passes=passes)
        for passes in (2, 3)
    )
    assert [kept.fetch_s, again.fetch_s] == pytest.approx([0.2, 0.3])
    assert again.over(8).fetch_s == again.fetch_s and again.over(8).cpu_s == again.cpu_s / 8


def test_the_machine_tells_its_memory_and_links(samples: list[Path]) -> None:
    rig = read_rig(next(path for path in samples if path.stem == "quad-rtx-4090"))
    machine = assemble(rig, shipped_catalog())
    work = msgspec.convert({"model": "llama-3.1-8b", "parallelism": {"offload": "cpu"}}, Workload)
    found = offload_of(work, machine.gpus[0].gpu, machine, True)
    assert found is not None and found.word == "all"
    assert found.ram_gbs == pytest.approx(8 * 3.2 * 8)
    assert found.link_gbs == pytest.approx(min(node.host_gbs or 0 for node in machine.gpus))
    faster = [
        replace(piece, part=replace(piece.part, speed_mts=4800))
        if isinstance(piece.part, MemoryKit)
        else piece
        for piece in machine.pieces
    ]
    labelled = offload_of(work, machine.gpus[0].gpu, replace(machine, pieces=tuple(faster)), True)
    assert labelled and labelled.ram_gbs == found.ram_gbs, (
        "registered modules run as the CPU does, not as their label bears"
    )
    apart = offload_of(
        work, msgspec.structs.replace(machine.gpus[0].gpu, edge_gen=None), None, True
    )
    assert apart is not None and apart.ram_gbs is None and apart.link_gbs == USUAL_LINK_GBS


def test_an_unknown_word_is_refused() -> None:
    with pytest.raises(WorkloadFault, match="offload"):
        trained("tape")


@pytest.mark.parametrize(("socket", "runs"), [("LGA1851", 8200), ("LGA1700", 5600)])
def test_a_clocked_module_keeps_its_rate_where_the_cpu_uses_its_clock(
    socket: str, runs: float
) -> None:
    catalog = shipped_catalog()
    boards = (p for p in catalog.parts.values() if isinstance(p, Motherboard))
    board = next(
        b
        for b in boards
        if b.layout.sockets == (socket,)
        and b.layout.memory_type == "DDR5"
        and b.layout.memory_speed_mts is None
    )
    cpu = {"LGA1851": "intel.core-ultra.5-245k", "LGA1700": "intel.core.i5-14600k"}[socket]
    kit = "g-skill.trident-z5-ck.f5-8200c4052g24gx2-tz5ck"
    parts = {"board": board.id, "cpu": cpu, "memory": kit}
    rig = Rig(items=tuple(Item(uid=uid, part=part) for uid, part in parts.items()))
    assert ram_gbs(assemble(rig, catalog)) == pytest.approx(2 * 8 * runs / 1e3)
