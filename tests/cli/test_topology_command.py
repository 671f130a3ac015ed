"""`rigplanner topology`: formats, captured text, faults."""

import json
from pathlib import Path

import pytest

from rigplanner.cli.main import main

QUERY = """Attached GPUs                             : 1
GPU 00000000:41:00.0
    Product Name                          : NVIDIA GeForce RTX 3090
    GPU Link Info
        PCIe Generation
            Max                       : 4
            Current                   : 1
        Link Width
            Max                       : 16x
            Current                   : 8x
    GPU Power Readings
        Current Power Limit               : 280.00 W
"""

PAIR = (
    "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tNV4\t0-31\t0\nGPU1\tNV4\t X \t0-31\t0\n"
)


def sample(samples: list[Path], stem: str) -> str:
    return str(next(path for path in samples if path.stem == stem))


def test_json_of_a_bridged_pair(samples: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["topology", sample(samples, "dual-rtx-3090"), "--format", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["links"] == [["X", "NV4"], ["NV4", "X"]]
    assert answer["islands"] == [[0, 1]]
    assert answer["p2p"] == [["X", "OK"], ["OK", "X"]]
    bandwidth = answer["allreduce_busbw_gbps"]
    assert bandwidth["low"] < bandwidth["value"] < bandwidth["high"]
    times = answer["allreduce_us"]
    assert 5 < times["1024"]["low"] < times["1024"]["value"] < 30
    assert times["4294967296"]["value"] == pytest.approx(2**32 / bandwidth["value"] / 1e3, rel=0.05)


@pytest.mark.parametrize(
    ("form", "start"),
    [
        ("matrix", "\tGPU0"),
        ("nccl", "<system"),
        ("svg", "<svg"),
        ("dot", "graph"),
        ("graphml", "<graphml"),
        ("node-link", "{"),
    ],
)
def test_other_formats(
    samples: list[Path], capsys: pytest.CaptureFixture[str], form: str, start: str
) -> None:
    assert main(["topology", sample(samples, "dgx-1-v100"), "--format", form]) == 0
    assert capsys.readouterr().out.startswith(start)


def test_one_gpu_has_no_bandwidth(samples: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["topology", sample(samples, "gtx-1080-ti"), "--format", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["allreduce_busbw_gbps"] == {"value": None, "low": None, "high": None}
    assert answer["allreduce_us"] == {}


def test_captured_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "topo.txt"
    path.write_text(PAIR, "utf-8")
    assert (
        main(["topology", "--nvidia-smi", str(path), "--gpu", "RTX 3090", "--format", "json"]) == 0
    )
    answer = json.loads(capsys.readouterr().out)
    assert answer["links"] == [["X", "NV4"], ["NV4", "X"]]
    assert answer["gpus"] == ["GeForce RTX 3090"] * 2


def test_faults_are_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "topo.txt"
    path.write_text(PAIR, "utf-8")
    torn = tmp_path / "torn.txt"
    torn.write_text(PAIR.replace("NV4\t X ", "NV2\t X "), "utf-8")
    cases = [
        ([], "name a rig file"),
        (["--nvidia-smi", str(path), "--format", "nccl"], "--gpu NAME"),
        (["--nvidia-smi", str(path), "--gpu", "No Such Card"], "no GPU named 'No Such Card'"),
        (
            ["--nvidia-smi", str(torn), "--gpu", "RTX 3090"],
            "cell GPU0/GPU1: NV4, but GPU1/GPU0 is NV2",
        ),
        (["--nvidia-smi", str(tmp_path / "none.txt"), "--gpu", "RTX 3090"], "cannot be read"),
    ]
    for words, expected in cases:
        assert main(["topology", *words]) == 2
        shown = capsys.readouterr().err
        assert expected in shown
        assert "Traceback" not in shown
    path.write_text(PAIR, "utf-8")
    assert main(["topology", "--nvidia-smi", str(path), "--gpu", "RTX 4090"]) == 2
    path.write_bytes(b"\xff\xfe\x00G")
    assert main(["topology", "--nvidia-smi", str(path), "--gpu", "RTX 3090"]) == 2


def test_nccl_xml_in_and_out(
    samples: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["topology", sample(samples, "dual-rtx-3090"), "--format", "nccl"]) == 0
    path = tmp_path / "topo.xml"
    path.write_text(capsys.readouterr().out, "utf-8")
    assert main(["topology", "--nccl", str(path), "--gpu", "RTX 3090", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["links"] == [["X", "NV4"], ["NV4", "X"]]
    assert main(["topology", "--hwloc", str(path), "--gpu", "RTX 3090"]) == 2
    assert "expected topology" in capsys.readouterr().err
    assert main(["topology", "--lspci", str(path), "--gpu", "RTX 3090"]) == 2


def test_nccl_xml_keeps_widths_and_ports(
    samples: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "topo.xml"
    for stem, name in (
        ("dual-rtx-3090", "RTX 3090"),
        ("dgx-1-v100", "V100-SXM2-16GB"),
        ("hgx-h100", "H100 SXM"),
        ("quad-rtx-4090", "RTX 4090"),
    ):
        answers = []
        for words in ([sample(samples, stem)], ["--nccl", str(path), "--gpu", name]):
            assert main(["topology", *words, "--format", "json"]) == 0
            answers.append(json.loads(capsys.readouterr().out) | {"nics": None})
            assert main(["topology", *words, "--format", "nccl"]) == 0
            path.write_text(capsys.readouterr().out, "utf-8")
        assert answers[0] == answers[1]
    assert main(["topology", "--nccl", str(path), "--gpu", "RTX 3090"]) == 2
    assert "sm='89', but GeForce RTX 3090 has compute capability 8.6" in capsys.readouterr().err


def test_nccl_xml_that_names_pci_devices_needs_no_word(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "topo.xml"
    path.write_text(
        '<system version="1"><cpu numaid="0" affinity="ff"><pci busid="0000:01:00.0"'
        ' class="0x030000" vendor="0x10de" device="0x2204" link_speed="16.0 GT/s PCIe"'
        ' link_width="4"><gpu dev="0" sm="86" rank="0"/></pci></cpu></system>',
        "utf-8",
    )
    assert main(["topology", "--nccl", str(path), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["gpus"] == ["GeForce RTX 3090"]
    path.write_text(path.read_text("utf-8").replace("0x2204", "0xffff"), "utf-8")
    assert main(["topology", "--nccl", str(path)]) == 2
    assert "--gpu NAME" in capsys.readouterr().err


LSPCI = r"""-+-[0000:00]-+-00.0  Advanced Micro Devices, Inc. [AMD] Root Complex
 |           +-01.1-[01]----00.0  NVIDIA Corporation GA102 [GeForce RTX 3090]
 |           +-03.1-[02]----00.0  NVIDIA Corporation AD102 [GeForce RTX 4090]
 |           \-03.3-[03]----00.0  Mellanox Technologies MT28908 Family [ConnectX-6]
"""

HWLOC = (
    '<topology version="2.0"><object type="Machine"><object type="Package" gp_index="3"><object'
    ' type="NUMANode" os_index="1" local_memory="68719476736"/><object type="Bridge" gp_index="10"'
    ' bridge_type="0-1"><object type="PCIDev" pci_busid="0000:01:00.0" pci_type="0300'
    ' [10de:2204]"><object type="OSDev"'
    ' name="cuda0"/></object></object></object></object></topology>'
)


def test_pci_trees_name_their_own_cards(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "tree.txt"
    path.write_text(LSPCI, "utf-8")
    assert main(["topology", "--lspci", str(path), "--format", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["gpus"] == ["GeForce RTX 3090", "GeForce RTX 4090"]
    assert (answer["links"], answer["nic_links"]) == (
        [["X", "PHB"], ["PHB", "X"]],
        [["PHB", "PHB", "X"]],
    )
    path.write_text(LSPCI.replace("AD102 [GeForce RTX 4090]", "Device 0001"), "utf-8")
    assert main(["topology", "--lspci", str(path)]) == 2
    assert "no GPU named 'NVIDIA Corporation Device 0001'" in capsys.readouterr().err
    assert main(["topology", "--lspci", str(path), "--gpu", "RTX 3090"]) == 0
    capsys.readouterr()
    path.write_text(HWLOC, "utf-8")
    assert main(["topology", "--hwloc", str(path), "--format", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["gpus"], answer["numa"]) == (["GeForce RTX 3090"], [1])


def test_other_places_are_listed_with_what_they_cost(
    samples: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["topology", sample(samples, "rtx-5090"), "--alternatives"]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert (
        first
        == "Samsung SSD 9100 Pro 4 TB to M.2_1: GeForce RTX 5090 PCIe 5.0 x8 \u2192 PCIe 5.0 x16"
    )
    assert (
        main(["topology", sample(samples, "rtx-5090"), "--alternatives", "--format", "json"]) == 0
    )
    moves = json.loads(capsys.readouterr().out)
    assert moves[0]["gain_gbs"] > 20
    assert moves[0]["changes"] == [
        {"piece": moves[0]["changes"][0]["piece"], "width": [8, 16], "gen": [5, 5]}
    ]
    assert main(["topology", sample(samples, "dual-rtx-3090"), "--alternatives"]) == 0
    assert capsys.readouterr().out == "No other place changes any link.\n"
    assert main(["topology", "--alternatives"]) == 2


def test_a_query_beside_a_matrix_names_cards_and_links(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    matrix, query = tmp_path / "topo.txt", tmp_path / "q.txt"
    matrix.write_text(PAIR.replace("NV4", "PHB"), "utf-8")
    one = QUERY.partition("Attached GPUs                             : 1\n")[2]
    query.write_text(one + one, "utf-8")
    assert (
        main(["topology", "--nvidia-smi", str(matrix), "--query", str(query), "--format", "json"])
        == 0
    )
    answer = json.loads(capsys.readouterr().out)
    assert answer["gpus"] == ["GeForce RTX 3090"] * 2
    narrow = answer["allreduce_busbw_gbps"]["value"]
    assert (
        main(["topology", "--nvidia-smi", str(matrix), "--gpu", "RTX 3090", "--format", "json"])
        == 0
    )
    assert json.loads(capsys.readouterr().out)["allreduce_busbw_gbps"]["value"] == pytest.approx(
        2 * narrow, rel=0.01
    )
    query.write_text(one, "utf-8")
    assert main(["topology", "--nvidia-smi", str(matrix), "--query", str(query)]) == 2
    assert "names 1 GPUs" in capsys.readouterr().err


def test_a_rig_from_what_a_machine_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    query, rig = tmp_path / "q.txt", tmp_path / "it.rig"
    query.write_text(QUERY, "utf-8")
    assert main(["new", "Ryzen 9 5950X", "--query", str(query), "-o", str(rig)]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "1 x GeForce RTX 3090   (PCIe 4 x8)"
    items = json.loads(rig.read_text("utf-8"))["items"]
    assert [item["part"] for item in items] == ["nvidia.geforce.rtx-3090", "amd.ryzen.9-5950x"]
    assert items[0]["power_cap_w"] == 280
    assert main(["new", "-o", str(rig)]) == 2
    assert main(["new", "--lspci", str(query), "-o", str(rig)]) == 2
    assert "lspci" in capsys.readouterr().err


NCCL_LOG = """NCCL version 2.21.5+cuda12.4
h:1:2 [0] NCCL INFO Channel 00/02 :    0   1
h:1:2 [0] NCCL INFO Trees [0] 1/-1/-1->0->-1
h:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via SHM/direct/direct
"""


def test_a_log_of_nccl_stands_beside_the_rig(
    samples: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "nccl.log"
    log.write_text(NCCL_LOG, "utf-8")
    assert main(["topology", sample(samples, "dual-rtx-3090"), "--read", str(log)]) == 0
    text = capsys.readouterr().out
    assert "NCCL 2.21.5+cuda12.4: ranks 2, rings 1, trees 1." in text
    assert "GPU0 and GPU1: SHM, predicted was P2P" in text
    assert main(["topology", "--read", str(log), "--format", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["nccl"]["rings"] == [[0, 1]]
    assert answer["beside"] == []


def test_text_that_is_no_log_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "nccl.log"
    log.write_text("hello", "utf-8")
    assert main(["topology", "--read", str(log)]) == 2
    assert "NCCL_DEBUG=INFO" in capsys.readouterr().err


def test_a_bare_matrix_is_read_without_a_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Letters need no model; what stands on one is left open, and the question is asked."""
    file = tmp_path / "m.txt"
    file.write_text(
        "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV4\t0-15\nGPU1\tNV4\t X \t0-15\n", encoding="utf-8"
    )
    assert main(["topology", "--nvidia-smi", str(file), "--format", "json"]) == 0
    told = capsys.readouterr()
    answer = json.loads(told.out)
    assert answer["links"] == [["X", "NV4"], ["NV4", "X"]]
    assert answer["islands"] == [[0, 1]]
    assert answer["allreduce_busbw_gbps"] == {"value": None, "low": None, "high": None}
    assert answer["copy_gbps"] == [[None, None], [None, None]]
    assert "which GPU is it" in told.err
    assert main(["topology", "--nvidia-smi", str(file), "--format", "nccl"]) == 2


def test_times_follow_the_release_of_nccl(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = (str(tmp_path / f"{name}.rig") for name in ("old", "new"))
    assert main(["new", "8x DGX-1 V100 16GB", "--set", "nccl=2.3", "-o", old]) == 0
    assert main(["new", "8x DGX-1 V100 16GB", "-o", new]) == 0
    capsys.readouterr()
    first = {}
    for rig in (old, new):
        assert main(["topology", rig, "--format", "times"]) == 0
        told = capsys.readouterr().out
        assert ("Rings alone" in told) is (rig == new) and "64\u202fGPUs of 8\u202fnodes" in told
        assert main(["topology", rig, "--format", "json"]) == 0
        first[rig] = json.loads(capsys.readouterr().out)["allreduce_us"]["8"]["value"]
    assert first[old] > 2 * first[new]
    assert main(["new", "RTX 4090", "-o", new]) == 0
    assert main(["topology", new, "--format", "times"]) == 2
    assert "two GPUs or more" in capsys.readouterr().err
