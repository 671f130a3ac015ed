"""Promise beside machine: faults are named, healthy machines pass, and each difference says what it costs and what to do."""

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from captured_machines import captured_machines

from rigplanner.asbuilt import checks
from rigplanner.asbuilt.acceptance import (
    Acceptance,
    AcceptanceFault,
    accept,
    acceptance_json,
    compared,
    read_acceptance,
)
from rigplanner.asbuilt.captures import Capture, read_text
from rigplanner.asbuilt.causes import shipped_causes, sources_of
from rigplanner.asbuilt.checks.health import shipped_xids
from rigplanner.asbuilt.checks.line import Line
from rigplanner.asbuilt.checks.parts import board_verdict, same_cpu
from rigplanner.asbuilt.costs import with_costs
from rigplanner.asbuilt.differences import differences
from rigplanner.asbuilt.promise import Promise, promise_of
from rigplanner.catalog.load import Catalog
from rigplanner.report.words.acceptance import CAUSES, STEPS, TITLES
from rigplanner.rig.edits import set_power_cap
from rigplanner.rig.files import read_rig
from rigplanner.rules.assess import Assessment, assess

MACHINES = captured_machines()


def _found(name: str) -> tuple[Line, ...]:
    machine = MACHINES[name]
    return differences(msgspec.convert(machine.promise, Promise), machine.facts)


def test_known_faults_of_real_machines_are_named() -> None:
    faulty = {name: machine.finds for name, machine in MACHINES.items() if machine.finds}
    named = [
        name
        for name, finds in faulty.items()
        if set(finds)
        <= {line.code for line in _found(name) if line.verdict in ("broken", "remark")}
    ]
    assert len(faulty) >= 20 and not set(faulty) - set(named)


def test_no_healthy_machine_is_said_to_break_its_promise() -> None:
    healthy = [name for name, machine in MACHINES.items() if not machine.finds]
    false = {name: [line for line in _found(name) if line.verdict == "broken"] for name in healthy}
    assert len(healthy) >= 20 and not {name: lines for name, lines in false.items() if lines}


PORT = """00:{port}.1 PCI bridge: Maker Port (prog-if 00 [Normal decode])
	Bus: primary=00, secondary={bus}, subordinate={bus}, sec-latency=0
	Capabilities: [58] Express (v2) Root Port (Slot+), MSI 00
		LnkCap:	Port #0, Speed {able}GT/s, Width x{wired}, ASPM L1
		LnkSta:	Speed {speed}GT/s, Width x{width}
		LnkCtl2: Target Link Speed: {target}GT/s, EnterCompliance- SpeedDis-
		ACSCtl:	SrcValid+ TransBlk- ReqRedir{acs} CmpltRedir+ UpstreamFwd+
"""
CARD = """{bus}:00.0 VGA compatible controller: NVIDIA Corporation GA102 [GeForce RTX 3090] (rev a1)
	NUMA node: 0
		LnkCap:	Port #0, Speed 16GT/s, Width x16, ASPM L1
		LnkSta:	Speed {speed}GT/s, Width x{width}
"""
SMI = """==============NVSMI LOG==============
Driver Version                            : 560.35.03
CUDA Version                              : 12.6
"""
SMI_GPU = """GPU 00000000:{bus}:00.0
    Product Name                          : NVIDIA GeForce RTX 3090
    Persistence Mode                      : Enabled
    PCI
        GPU Link Info
            PCIe Generation
                Max                       : {reach}
                Current                   : 1
            Link Width
                Max                       : 16x
                Current                   : {width}x
        Replays Since Reset               : {replays}
    Clocks Event Reasons
        HW Slowdown                       : Not Active
            HW Thermal Slowdown           : {hot}
    FB Memory Usage
        Total                             : 24576 MiB
    Utilization
        Gpu                               : 0 %
    Temperature
        GPU Current Temp                  : 40 C
    GPU Power Readings
        Current Power Limit               : {limit}.00 W
        Default Power Limit               : 350.00 W
"""
NVLINK = "GPU 0: RTX 3090\n{0}GPU 1: RTX 3090\n{0}"
FINE: dict[str, Any] = {
    "able": "16", "wired": 8, "speed": "16", "width": 8, "target": "16", "reach": 4, "limit": 350, "hot": "Not Active",
    "replays": 0, "up": 4, "acs": "-",
}  # fmt: skip


def _capture(**second: Any) -> Capture:
    """Two RTX 3090 as planned, the second one with other figures."""
    texts, facts = [], []
    rows = [dict(FINE), {**FINE, **second}]
    lspci = "".join(
        PORT.format(port=f"0{number}", bus=f"0{number}", **row)
        + CARD.format(bus=f"0{number}", **row)
        for number, row in enumerate(rows, 1)
    )
    smi = SMI + "".join(
        SMI_GPU.format(bus=f"0{number}", **row) for number, row in enumerate(rows, 1)
    )
    links = [
        f"\t Link {n}: {'14.062 GB/s' if n < rows[1]['up'] else '<inactive>'}\n" for n in range(4)
    ]
    for name, text in (("lspci", lspci), ("smi", smi), ("nvlink", NVLINK.format("".join(links)))):
        captured, found = read_text(f"{name}.txt", text, "00")
        texts.append(captured)
        facts += found
    return Capture(texts=tuple(texts), facts=tuple(facts), day="2026-11-20")


@pytest.fixture(scope="module")
def assessment(catalog: Catalog, samples: list[Path]) -> Assessment:
    return assess(read_rig(next(path for path in samples if path.stem == "dual-rtx-3090")), catalog)


def _judged(assessment: Assessment, catalog: Catalog, **second: Any) -> list[Line]:
    made = accept(assessment, catalog, _capture(**second), "2026-11-23")
    return [line for line in made.lines if line.verdict in ("broken", "remark")]


def test_a_machine_as_planned_keeps_its_promise(assessment: Assessment, catalog: Catalog) -> None:
    made = accept(assessment, catalog, _capture(), "2026-11-23")
    assert made.verdict == "kept" and not _judged(assessment, catalog)
    kept = {line.code for line in made.lines if line.verdict == "kept"}
    assert {
        "gpu-count",
        "link-width",
        "link-generation",
        "nvlink",
        "power-limit",
        "gpu-memory",
        "numa",
        "rule",
    } <= kept


@pytest.mark.parametrize(
    ("second", "code", "verdict", "cause"),
    [
        ({"width": 4}, "link-width", "broken", "contacts"),
        ({"width": 4, "wired": 4}, "link-width", "broken", "slot-narrow"),
        ({"reach": 3, "speed": "8", "target": "8"}, "link-generation", "broken", "bios-generation"),
        ({"reach": 3, "speed": "8", "able": "8"}, "link-generation", "broken", "slot-generation"),
        ({"reach": 3, "speed": "8"}, "link-generation", "broken", "signal"),
        ({"up": 0}, "nvlink", "broken", "bridge-missing"),
        ({"up": 3}, "nvlink", "broken", "bridge-partial"),
        ({"limit": 300}, "power-limit", "broken", "limit-lowered"),
        ({"limit": 370}, "power-limit", "remark", "maker-limit"),
        ({"hot": "Active"}, "gpu-throttled", "broken", "heat"),
        ({"replays": 7}, "link-errors", "remark", "signal"),
        ({"acs": "+"}, "access-control", "remark", "access-control"),
    ],
)
def test_each_fault_has_its_line_and_its_cause(
    assessment: Assessment,
    catalog: Catalog,
    second: dict[str, Any],
    code: str,
    verdict: str,
    cause: str,
) -> None:
    lines = _judged(assessment, catalog, **second)
    assert {(line.code, line.verdict, line.cause) for line in lines} == {(code, verdict, cause)}


def test_a_link_at_rest_is_no_fault(assessment: Assessment, catalog: Catalog) -> None:
    assert not _judged(assessment, catalog, speed="2.5")


def test_half_the_lanes_cost_half_the_copies_and_no_bridge_costs_the_exchange(
    assessment: Assessment, catalog: Catalog
) -> None:
    narrow = _judged(assessment, catalog, width=4)[0].cost
    bare = _judged(assessment, catalog, up=0)[0].cost
    assert narrow is not None and narrow.copies == pytest.approx(0.5)
    assert bare is not None and bare.exchange is not None and 0.5 < bare.exchange < 0.9
    assert [loss.job for loss in bare.jobs] and all(0 < loss.share < 1 for loss in bare.jobs)


def test_a_narrow_link_costs_the_exchange_where_no_bridge_carries_it(
    catalog: Catalog, samples: list[Path]
) -> None:
    quad = assess(read_rig(next(path for path in samples if path.stem == "quad-rtx-4090")), catalog)
    node = quad.machine.gpus[0]
    line = Line(
        code="link-width", group="links", verdict="broken", subject=node.piece, promised=16, seen=4
    )
    cost = with_costs([line], quad, catalog)[0].cost
    assert (
        cost is not None
        and cost.exchange == pytest.approx(0.75)
        and cost.copies == pytest.approx(0.75)
    )
    assert {loss.job for loss in cost.jobs} <= {0, 1} and cost.jobs


MODULE = "Memory Device\n\tSize: 32 GB\n\tLocator: DIMM {0}\n\tBank Locator: P0 CHANNEL {0}\n\tSpeed: {1} MT/s\n\tConfigured Memory Speed: {1} MT/s\n\n"


@pytest.mark.parametrize(
    ("modules", "found"),
    [
        ([("A", 3600), ("B", 3600)], set()),
        ([("A", 3600), ("B", 2133)], {("memory-speed", "broken", 2133)}),
        ([("A", 3200), ("B", 3200)], {("memory-speed", "remark", 3200)}),
        ([("A", 3600), ("A", 3600)], {("channels", "broken", 1)}),
        (
            [("A", 3600)],
            {("memory-size", "broken", 32.0), ("modules", "broken", 1), ("channels", "broken", 1)},
        ),
    ],
)
def test_memory_is_judged_by_its_slowest_module_and_its_channels(
    assessment: Assessment, modules: list[tuple[str, int]], found: set[tuple[str, str, float]]
) -> None:
    """3,200 MT/s is what the CPU takes without overclocking: slower than the kit, but no fault."""
    facts = read_text("dmi.txt", "".join(MODULE.format(*module) for module in modules))[1]
    lines = differences(promise_of(assessment), tuple(facts))
    judged = [
        line for line in lines if line.group == "memory" and line.verdict in ("broken", "remark")
    ]
    assert {(line.code, line.verdict, line.seen) for line in judged} == found


@pytest.mark.parametrize(
    ("code", "verdict"),
    [(13, "remark"), (31, "remark"), (48, "broken"), (64, "broken"), (999, "broken")],
)
def test_errors_of_programs_are_remarks_and_those_of_hardware_break_the_promise(
    code: int, verdict: str
) -> None:
    facts = read_text("dmesg", f"[    1.0] NVRM: Xid (PCI:0000:01:00): {code}, pid=1, name=x\n")[1]
    assert [
        line.verdict for line in differences(Promise(), tuple(facts)) if line.code == "xid"
    ] == [verdict]


@pytest.mark.parametrize(("wired", "verdict"), [(16, "broken"), (8, "kept")])
def test_a_link_that_no_plan_names_trains_to_what_both_ends_can(wired: int, verdict: str) -> None:
    text = PORT.format(port="01", bus="01", **{**FINE, "wired": wired}) + CARD.format(
        bus="01", **FINE
    )
    lines = [
        line
        for line in differences(Promise(), tuple(read_text("a", text)[1]))
        if line.code == "link-width"
    ]
    assert [line.verdict for line in lines] == (["broken"] if verdict == "broken" else [])


def test_a_drive_that_was_used_is_a_remark_and_a_failing_one_is_not_kept() -> None:
    smart = "smartctl 7.2\nModel Number: Any\nSMART overall-health self-assessment test result: {}\nPercentage Used: {}%\n"
    for result, worn, found in (
        ("PASSED", 1, []),
        ("PASSED", 40, [("drive-used", "remark")]),
        ("FAILED!", 1, [("drive-health", "broken")]),
    ):
        lines = differences(Promise(), tuple(read_text("a", smart.format(result, worn))[1]))
        assert [(line.code, line.verdict) for line in lines] == found


@pytest.mark.parametrize(
    ("promised", "printed", "verdict"),
    [
        ("MSI MEG X570 GODLIKE", "MEG X570 GODLIKE (MS-7C34)", "kept"),
        ("Gigabyte X570S AORUS MASTER", "X570S AORUS MASTER", "kept"),
        ("ASUS TUF H370-Pro Gaming (WI-FI)", "TUF H370-PRO GAMING WIFI", "kept"),
        ("Supermicro SuperServer SYS-821GE-TNHR (HGX H100 8-GPU)", "SYS-821GE-TNHR", "kept"),
        ("ASUS PRIME TRX40-PRO S", "PRIME TRX40-PRO", "remark"),
        ("Supermicro X10DRi", "X10DRI-T", "remark"),
        ("ASUS ROG STRIX X670E-E GAMING WIFI", "ROG STRIX X670E-F GAMING WIFI", "broken"),
    ],
)
def test_boards_are_known_by_what_their_firmware_prints(
    promised: str, printed: str, verdict: str
) -> None:
    assert board_verdict(promised, printed) == verdict


def test_every_cpu_of_the_catalog_is_known_by_what_the_kernel_prints(catalog: Catalog) -> None:
    for cpu in catalog.of_kind("cpu"):
        printed = cpu.name.replace("Intel ", "Intel(R) ").replace("Core ", "Core(TM) ")
        assert same_cpu(cpu.name, f"{printed} 16-Core Processor @ 2.60GHz"), cpu.name
    assert not same_cpu("AMD EPYC 7443P", "AMD EPYC 7453 28-Core Processor")


def test_a_cap_that_is_not_set_breaks_the_promise(assessment: Assessment, catalog: Catalog) -> None:
    capped = assess(set_power_cap(assessment.rig, "gpu", 250.0), catalog)
    lines = accept(capped, catalog, _capture(), "2026-11-23").lines
    assert {line.cause for line in lines if line.code == "power-limit"} == {"cap-not-set"}


def test_a_missing_gpu_costs_its_price(assessment: Assessment, catalog: Catalog) -> None:
    capture = _capture()
    facts = tuple(fact for fact in capture.facts if getattr(fact, "address", "") != "0000:02:00.0")
    made = accept(assessment, catalog, msgspec.structs.replace(capture, facts=facts), "2026-11-23")
    line = next(line for line in made.lines if line.code == "gpu-count")
    assert (line.verdict, line.promised, line.seen, line.cause) == ("broken", 2, 1, "gpu-missing")
    assert line.cost is not None and line.cost.amount and line.cost.currency == "USD"


def test_a_driver_that_does_not_serve_the_card_is_a_finding_of_the_rules(
    assessment: Assessment, catalog: Catalog
) -> None:
    facts = [
        read_text("a", (SMI + SMI_GPU.format(bus="01", **FINE)).replace("560.35.03", "390.10"))[1]
    ]
    made = accept(assessment, catalog, Capture(texts=(), facts=tuple(facts[0])), "2026-11-23")
    assert [
        line.seen for line in made.lines if line.code == "rule" and line.verdict == "broken"
    ] == ["SW014"]


RATES = """# Avg bus bandwidth    : {busbw}
#  Rank  0 Group  0 Pid  1 on  x device  0 [0x01] NVIDIA
#  Rank  1 Group  0 Pid  1 on  x device  1 [0x02] NVIDIA
# Collective test starting: all_reduce_perf
"""


@pytest.mark.parametrize(("busbw", "verdict"), [(43.0, "kept"), (12.0, "broken"), (90.0, "kept")])
def test_a_measured_speed_is_judged_by_the_predicted_interval(
    assessment: Assessment, busbw: float, verdict: str
) -> None:
    facts = read_text("nccl.txt", RATES.format(busbw=busbw))[1]
    lines = differences(promise_of(assessment), tuple(facts))
    assert [line.verdict for line in lines if line.code == "allreduce-busbw"] == [verdict]


def test_the_second_day_tells_what_changed(
    assessment: Assessment, catalog: Catalog, tmp_path: Path
) -> None:
    first = accept(assessment, catalog, _capture(), "2026-11-23")
    path = tmp_path / "first.json"
    path.write_bytes(acceptance_json(first))
    assert read_acceptance(path) == first
    later = compared(
        accept(assessment, catalog, _capture(width=4, up=3), "2027-05-01"), read_acceptance(path)
    )
    assert {(since.code, since.change, since.before, since.now) for since in later.since} == {
        ("link-width", "worse", 8, 4),
        ("nvlink", "worse", 4, 3),
    }
    assert later.earlier == "2026-11-23"
    again = compared(first, later)
    assert {since.change for since in again.since} == {"better"}


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b'{"rig": 3}', b"\xff"])
def test_what_is_no_acceptance_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(content)
    with pytest.raises(AcceptanceFault, match="expected an acceptance"):
        read_acceptance(path)
    newer = msgspec.structs.replace(Acceptance(rig="a", day="2026-01-01"), format_version=99)
    path.write_bytes(acceptance_json(newer))
    with pytest.raises(AcceptanceFault, match="newer"):
        read_acceptance(path)


def _codes(pattern: str) -> set[str]:
    text = "".join(path.read_text("utf-8") for path in Path(checks.__file__).parent.glob("*.py"))
    return set(re.findall(pattern, text))


def test_every_cause_has_words_a_step_and_a_source() -> None:
    steps = {f"xid-{xid.step}" for xid in shipped_xids().values()}
    assert steps <= set(CAUSES.english)
    assert set(CAUSES.english) == set(STEPS.english)
    assert set(CAUSES.english) <= set(shipped_causes().causes)
    assert all(sources_of(cause) for cause in shipped_causes().causes)
    used = {key for keys in shipped_causes().causes.values() for key in keys}
    assert used == set(shipped_causes().sources)


def test_every_line_has_a_title() -> None:
    assert _codes(r'code="([a-z-]+)"') <= set(TITLES.english)
