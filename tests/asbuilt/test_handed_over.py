"""What an acceptance hands over: the collect script, manifests, the burn-in plan, measured speeds, the protocol."""

import json
import subprocess
from pathlib import Path

import pytest
from test_acceptance import RATES, _capture

from rigplanner.asbuilt.acceptance import accept
from rigplanner.asbuilt.burn_in import burn_in_plan
from rigplanner.asbuilt.captures import Capture, read_capture, read_text
from rigplanner.asbuilt.checks.pairing import view_of
from rigplanner.asbuilt.collect import collect_here, collect_script
from rigplanner.asbuilt.contribution import contribution, contribution_text, keep_as_anchors
from rigplanner.asbuilt.manifests import dcgm_config, expectation, gcm_manifest
from rigplanner.asbuilt.promise import promise_of
from rigplanner.asbuilt.seen import SeenDrive, of_kind
from rigplanner.catalog.load import Catalog
from rigplanner.performance.anchors.own import own_folder, read_own
from rigplanner.report.acceptance.content import Protocol, protocol
from rigplanner.report.acceptance.pdf import plan_pdf, protocol_pdf
from rigplanner.report.acceptance.plain import plan_html, plan_text, protocol_html, protocol_text
from rigplanner.report.language import THIN
from rigplanner.rig.files import read_rig
from rigplanner.rules.assess import Assessment, assess


@pytest.fixture(scope="module")
def assessment(catalog: Catalog, samples: list[Path]) -> Assessment:
    return assess(read_rig(next(path for path in samples if path.stem == "dual-rtx-3090")), catalog)


STUBS = {
    "uname": "echo secrethost",
    "id": 'if [ "$1" = -un ]; then echo jane; else echo 1000; fi',
    "nvidia-smi": """cat <<'X'
GPU 00000000:01:00.0
    Product Name                          : NVIDIA GeForce RTX 3090
    Serial Number                         : 1320921000123
    GPU UUID                              : GPU-5269b708-678a-b1a8-60f0-c90406537486
    Processes
        Process ID                        : 77
            Name                          : /home/jane/secret-project/train.py
X""",
    "nvme": """cat <<'X'
Node                  SN                   Model                                    Usage
--------------------- -------------------- ---------------------------------------- --------------------------
/dev/nvme0n1          S6B0NG0R712345       Samsung SSD 980 PRO 2TB                    1.02  TB /   2.00  TB
X""",
    "lspci": """cat <<'X'
0000:01:00.0 VGA compatible controller: NVIDIA Corporation GA102 [GeForce RTX 3090]
\tCapabilities: [148 v1] Device Serial Number 9c-5a-44-ff-ff-11-22-33
\t\tLnkSta:\tSpeed 16GT/s, Width x16
X""",
    "ip": """cat <<'X'
eth0             UP             9c:5a:44:11:22:33 <BROADCAST,UP>
X""",
    "ibstat": """cat <<'X'
CA 'mlx5_0'
\tCA type: MT4125
\tNode GUID: 0x0c42a103001dd12a
\t\tState: Active
\t\tRate: 100
X""",
    "dmesg": """cat <<'X'
[    1.0] NVRM: Xid (PCI:0000:01:00): 79, pid=1, name=jane on secrethost at 192.168.7.9
X""",
}
PERSONAL = (
    "secret",
    "jane",
    "1320921000123",
    "5269b708",
    "S6B0NG",
    "9c-5a",
    "9c:5a",
    "0c42a103",
    "192.168",
)


def test_the_script_collects_and_leaves_the_person_out(tmp_path: Path) -> None:
    stubs = tmp_path / "stubs"
    stubs.mkdir()
    for name, body in STUBS.items():
        (stubs / name).write_text(f"#!/bin/sh\n{body}\n")
        (stubs / name).chmod(0o755)
    subprocess.run(
        ["/bin/sh", "-s", "--", str(tmp_path / "out")],
        input=collect_script(),
        text=True,
        check=True,
        capture_output=True,
        env={"PATH": f"{stubs}:/usr/bin:/bin"},
    )
    texts = {path.name: path.read_text() for path in (tmp_path / "out").iterdir()}
    assert not [(name, word) for name, text in texts.items() for word in PERSONAL if word in text]
    assert "needs root" in texts["missing.txt"]
    made = read_capture(tmp_path / "out")
    programs = {program for text in made.texts for program in text.programs}
    assert {
        "nvidia-smi -q",
        "nvme list",
        "lspci -vvv",
        "ibstat",
        "dmesg",
        "/proc/meminfo",
    } <= programs
    assert "Samsung SSD 980 PRO 2TB" in {drive.model for drive in of_kind(made.facts, SeenDrive)}
    assert made.day is not None


def test_the_script_is_standard_shell() -> None:
    script = collect_script()
    assert script.startswith("#!/bin/sh\n") and not [
        word for word in ("[[", "local ", "python", "curl", "<<<") if word in script
    ]
    subprocess.run(["/bin/sh", "-n"], input=script, text=True, check=True)


def test_this_machine_can_be_read(tmp_path: Path) -> None:
    assert collect_here(tmp_path / "here").facts


def test_manifests_hold_the_promise_at_the_addresses_that_were_seen(assessment: Assessment) -> None:
    view = view_of(promise_of(assessment), _capture(width=4).facts)
    devices = json.loads(gcm_manifest(view))["pci"]
    assert set(devices) == {"0000:01:00.0", "0000:02:00.0"}
    card = devices["0000:02:00.0"]
    assert (card["link_width"], card["link_speed"], card["type"]) == (
        8,
        ["16.0 GT/s PCIe", "2.5 GT/s PCIe"],
        "GPU",
    )
    config = dcgm_config(view)
    for part in (
        "spec: dcgm-diag-v1",
        "id: '2204'",
        "min_pci_width: 8.0",
        "gpu_nvlinks_expected_up: 4",
        "target_power: 350.0",
    ):
        assert part in config
    assert "0000:02:00.0 LnkSta: Speed 16GT/s, Width x8" in expectation(view)


def test_the_burn_in_plan_expects_what_the_plan_predicts(assessment: Assessment) -> None:
    plan = burn_in_plan(assessment)
    expected = {rate.metric: rate for rate in promise_of(assessment).rates}
    steps = {step.purpose: step for step in plan.steps}
    assert {
        "matrix",
        "nvlink",
        "gpu-load",
        "allreduce-busbw",
        "host-to-gpu",
        "drive-read",
        "collect",
    } <= set(steps)
    ring = steps["allreduce-busbw"]
    assert (ring.low, ring.high) == (
        expected["allreduce-busbw"].low,
        expected["allreduce-busbw"].high,
    )
    assert "-g 2" in ring.command and plan.seconds == sum(step.seconds for step in plan.steps)
    text = plan_text(plan)
    assert all(step.command in text for step in plan.steps)
    assert plan_html(plan).startswith("<!doctype html>") and plan_pdf(plan).startswith(b"%PDF")


def test_measured_speeds_become_anchors_and_name_nobody(
    assessment: Assessment, catalog: Catalog, tmp_path: Path
) -> None:
    captured, facts = read_text("nccl.txt", RATES.format(busbw=43.0))
    made = accept(assessment, catalog, Capture(texts=(captured,), facts=tuple(facts)), "2026-11-23")
    rows = contribution(assessment, made)
    assert [(row["model"], row["metric"], row["value"], row["count"]) for row in rows] == [
        ("all-reduce", "busbw_gbps", 43.0, 2)
    ]
    assert "Llama" not in contribution_text(rows) and assessment.rig.name not in contribution_text(
        rows
    )
    kept = keep_as_anchors(rows, made.day)
    assert kept.parent == own_folder()
    assert [(row.gpu, row.value) for row in read_own(kept)] == [("nvidia.geforce.rtx-3090", 43.0)]


@pytest.fixture
def words(assessment: Assessment, catalog: Catalog) -> Protocol:
    made = accept(assessment, catalog, _capture(width=4), "2026-11-23")
    return protocol(made, assessment.rig, catalog)


def test_the_protocol_says_what_it_costs_and_what_to_do(words: Protocol) -> None:
    text = protocol_text(words)
    assert "does not keep the promise" in text
    row = next(row for row in words.rows if row.state == "error")
    assert (row.promised, row.seen) == ("x8", "x4")
    assert row.cost == f"50{THIN}% slower copies to the GPU" and row.cause and row.step
    page = protocol_html(words)
    assert row.source and row.source in page
    assert row.step in page and "SHA-256" in page and "<script" not in page
    assert "&lt;b&gt;" in protocol_html(_renamed(words, "<b>"))


def _renamed(words: Protocol, name: str) -> Protocol:
    import msgspec

    return msgspec.structs.replace(words, rig=name)


def test_the_protocol_is_a_page_to_sign(words: Protocol) -> None:
    import io

    from pypdf import PdfReader

    content = protocol_pdf(words)
    text = " ".join(page.extract_text() for page in PdfReader(io.BytesIO(content)).pages)
    for part in (
        "Acceptance protocol",
        "Seller",
        "Buyer",
        "Day, name, signature",
        "not kept",
        "SHA-256",
    ):
        assert part in " ".join(text.split())
