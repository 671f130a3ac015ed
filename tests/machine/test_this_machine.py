"""The computer at hand, read from a made-up /proc and /sys."""

from pathlib import Path

from test_topology_formats import QUERY

from rigplanner.catalog.load import Catalog
from rigplanner.machine.formats.facts import Fact, facts_of_hwloc, facts_of_lspci, facts_of_query
from rigplanner.machine.this_machine import read_this_machine, recognise


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


CPUS = "".join(
    f"processor\t: {n}\nmodel name\t: AMD Ryzen 9 5950X 16-Core Processor\nphysical id\t: 0\n\n"
    for n in range(4)
)


def test_what_linux_tells(tmp_path: Path, catalog: Catalog) -> None:
    write(
        tmp_path,
        {
            "proc/cpuinfo": CPUS,
            "proc/meminfo": "MemTotal:       65842332 kB\nMemFree: 1 kB\n",
            "sys/block/nvme0n1/device/model": "Samsung SSD 990 PRO 2TB\n",
            "sys/block/nvme0n1/size": "3907029168\n",
            "sys/block/loop0/size": "8\n",
            "sys/class/dmi/id/board_vendor": "Unheard Of Boards Inc.\n",
            "sys/class/dmi/id/board_name": "XQ-1\n",
        },
    )
    facts = read_this_machine(
        tmp_path,
        lambda: QUERY + QUERY.split("\n\n")[-1].partition("Attached GPUs")[2].partition("\n")[2],
    )
    assert Fact("cpu", "AMD Ryzen 9 5950X 16-Core Processor") in facts
    assert Fact("gpu", "NVIDIA GeForce RTX 3090", 2, "PCIe 4 x8", 280.0) in facts
    assert Fact("memory", "63 GiB") in facts
    assert Fact("storage", "Samsung SSD 990 PRO 2TB", 1, "2000 GB") in facts
    known = recognise(facts, catalog)
    assert {item.part: item.quantity for item in known.rig.items} == {
        "amd.ryzen.9-5950x": 1,
        "nvidia.geforce.rtx-3090": 2,
        known.rig.items[-1].part: 1,
    }
    assert [fact.kind for fact in known.unmatched] == ["motherboard", "memory"]
    assert [item.power_cap_w for item in known.rig.items] == [None, 280.0, None]


def test_the_driver_names_gpus_where_nvidia_smi_is_missing(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "proc/driver/nvidia/gpus/0000:01:00.0/information": (
                "Model: \t NVIDIA GeForce RTX 4090\nIRQ: 1\n"
            )
        },
    )
    assert read_this_machine(tmp_path, lambda: "") == (Fact("gpu", "NVIDIA GeForce RTX 4090"),)


def test_a_name_without_a_model_is_not_recognised(catalog: Catalog) -> None:
    facts = (Fact("cpu", "Intel(R) Xeon(R) Processor @ 2.50GHz"),)
    assert recognise(facts, catalog).unmatched == facts


def test_another_system_tells_nothing(tmp_path: Path, catalog: Catalog) -> None:
    assert read_this_machine(tmp_path, lambda: "") == ()
    assert recognise((), catalog).rig.items == ()


def test_texts_of_another_machine(catalog: Catalog) -> None:
    tree = """-[0000:00]-+-01.0-[01]----00.0  NVIDIA Corporation GA102 [GeForce RTX 3090]
           +-01.1-[02]----00.0  NVIDIA Corporation GA102 [GeForce RTX 3090]
           \\-1b.4-[03]----00.0  Samsung Electronics Co Ltd NVMe SSD Controller PM9A1/PM9A3/980PRO
"""
    found = recognise(facts_of_lspci(tree), catalog)
    assert [(item.part, item.quantity) for item in found.rig.items] == [
        ("nvidia.geforce.rtx-3090", 2)
    ]
    assert [fact.kind for fact in found.unmatched] == ["storage"]
    known = recognise(facts_of_query(QUERY), catalog).rig.items[0]
    assert (known.part, known.power_cap_w, known.note) == (
        "nvidia.geforce.rtx-3090",
        280.0,
        "PCIe 4 x8",
    )
    topology = """<topology version="2.0"><object type="Machine"><object type="Package" os_index="0">
<info name="CPUModel" value="AMD EPYC 7443P 24-Core Processor"/>
<object type="NUMANode" os_index="0" local_memory="137438953472"/></object></object></topology>"""
    facts = facts_of_hwloc(topology)
    assert facts == (Fact("cpu", "AMD EPYC 7443P 24-Core Processor"), Fact("memory", "128 GiB"))
    assert recognise(facts, catalog).rig.items[0].part == "amd.epyc.7443p"
