"""Real compatibility cases with known verdicts, on the shipped catalog; `real_verdicts.json` says
what came of each in life, and where it was read."""

import json
from pathlib import Path
from typing import Any

import pytest

from rigplanner.catalog.load import shipped_catalog
from rigplanner.rig.document import Item, Rig, Settings, Site
from rigplanner.rig.workload import Parallelism, Workload
from rigplanner.rules.assess import assess

HOME = Site(country="US", volts=120.0, breaker_a=15.0)
QUAD = ("asrock-rack.romed8.romed8-2t", "amd.epyc.7443p")


def rig(
    *parts: str | tuple[Any, ...],
    site: Site = Site(),  # noqa: B008
    settings: Settings = Settings(),  # noqa: B008
    job: Workload | None = None,
) -> Rig:
    """Return a rig from part ids, or (id, quantity, places, power cap)."""
    items = []
    for number, entry in enumerate(parts):
        full = (entry,) if isinstance(entry, str) else entry
        part, quantity, places, cap = (*full, *(1, (), None)[len(full) - 1 :])
        items.append(
            Item(uid=f"p{number}", part=part, quantity=quantity, places=places, power_cap_w=cap)
        )
    return Rig(items=tuple(items), site=site, settings=settings, workloads=(job,) if job else ())


def job(**fields: Any) -> Workload:
    return Workload(task="train", model="llama-3.1-8b", **fields)


X870E, R9950X = "asus.rog-strix.x870e-e-gaming-wifi", "amd.ryzen.9-9950x"
RTX5090, RTX4090, RTX3090 = (
    "nvidia.geforce.rtx-5090",
    "nvidia.geforce.rtx-4090",
    "nvidia.geforce.rtx-3090",
)
SSD = "samsung.ssd-990-pro.2-tb"


LLAMA_70B = Workload(
    task="inference",
    model="llama-3.1-70b",
    precision="int4",
    batch_per_gpu=1,
    input_tokens=1024,
    output_tokens=256,
    parallelism=Parallelism(tensor=2),
)


def tensor(degree: int) -> Workload:
    return Workload(
        task="inference",
        precision="bf16",
        parallelism=Parallelism(tensor=degree),
        params_m=8000.0,
        config={
            "num_attention_heads": 96,
            "num_key_value_heads": 96,
            "hidden_size": 4096,
            "num_hidden_layers": 36,
            "intermediate_size": 11008,
            "vocab_size": 32000,
        },
    )


def software(**versions: str) -> Settings:
    return Settings(software=versions)


FORMULA, Z390, N7950X = "asus.rog-maximus.z790-formula", "msi.meg.z390-godlike", "amd.ryzen.9-7950x"
KIT48, PROART = "corsair.vengeance.cmk96gx5m2b6000c30", "asus.proart.x670e-creator-wifi"
TI4060, SLOW_RISER = (
    "nvidia.geforce.rtx-4060-ti-16gb",
    "thermaltake.tt-gaming.tt-gaming-pci-e-3-0-riser-200-mm",
)


SAID: dict[str, tuple[Rig, tuple[str, ...]]] = {
    "DL-001": (
        rig(X870E, R9950X, (RTX5090, 1, ("PCIEX16(G5)",)), (SSD, 1, ("M.2_2",))),
        ("PCI001", "PCI002"),
    ),
    "DL-002": (rig(X870E, "amd.ryzen.7-8700g", (SSD, 1, ("M.2_3",))), ("M2004",)),
    "DL-004": (
        rig(
            FORMULA,
            "intel.core.i9-13900k",
            (RTX4090, 2, ("PCIEX16(G5)_1", "PCIEX16(G5)_2")),
            (SSD, 1, ("M.2_1",)),
        ),
        ("SLT005",),
    ),
    "DL-006": (
        rig(
            "msi.meg.b550-unify",
            "amd.ryzen.9-5950x",
            (RTX3090, 1, ("PCI_E1",)),
            (SSD, 2, ("M2_2", "M2_3")),
        ),
        ("PCI001", "PCI002", "PCI009"),
    ),
    "DL-007": (
        rig(
            "msi.meg.x299-creation",
            "intel.core.i7-7820x",
            ("nvidia.rtx.a4000", 4, ("PCI_E1", "PCI_E2", "PCI_E3", "PCI_E5")),
            (SSD, 1, ("M2_3",)),
        ),
        ("M2004", "SLT005"),
    ),
    "DL-009": (
        rig(
            "asus.x99.x99-pro",
            "intel.core.i7-6850k",
            ("nvidia.rtx.a4000", 1, ("PCIEX16_4",)),
            (SSD, 1, ("M.2",)),
        ),
        ("SLT005",),
    ),
    "DL-011": (
        rig(*QUAD, ("nvidia.rtx.a4000", 7), ("intel.ssd-dc-p4510.4-tb", 2, ("OCU1", "OCU2"))),
        ("PCI001", "PCI002", "SLT001"),
    ),
    "DL-012": (
        rig(PROART, N7950X, (RTX4090, 2, ("PCIEX16_1", "PCIEX16_2"))),
        ("PCI001", "PCI002", "PCI003", "PCI004"),
    ),
    "DL-014": (
        rig(
            "msi.b150.b150-pc-mate",
            "intel.core.i5-7500",
            ("nvidia.geforce.gtx-1080-ti", 1, ("PCI_E4",)),
            ("intel.ethernet.i210-t1", 1, ("PCI_E1",)),
        ),
        ("PCI002", "PCI003", "PCI004"),
    ),
    "DL-016": (
        rig(FORMULA, "intel.core.i9-13900k", RTX4090, SLOW_RISER),
        ("RIS001",),
    ),
    "DL-017": (rig(Z390, "intel.core.i9-9900k", (TI4060, 1, ("PCI_E1",))), ("PCI004",)),
    "DL-019": (
        rig("asus.pro-ws.trx50-sage-wifi", "amd.threadripper-pro.7975wx"),
        ("CPU002", "CPU006"),
    ),
    "DL-021": (rig(PROART, N7950X, (KIT48, 2)), ("MEM006",)),
    "DL-022": (rig("asus.rog-strix.b650e-e-gaming-wifi", "amd.ryzen.5-7600x", KIT48), ("KNO001",)),
    "DL-024": (
        rig(*QUAD, ("nvidia.rtx-pro.6000-blackwell-workstation", 2), job=job(flags=["nvlink"])),
        ("NVL009",),
    ),
    "DL-026": (rig(*QUAD, (RTX3090, 2), "nvidia.nvlink-bridge.geforce-rtx-4-slot"), ("NVL002",)),
    "DL-027": (
        rig(
            *QUAD,
            ("nvidia.datacenter.a40", 2, ("PCIE7", "PCIE4")),
            "nvidia.nvlink-bridge.rtx-ampere-3-slot",
        ),
        ("NVL001", "NVL002", "NVL003", "NVL004", "NVL005", "NVL006"),
    ),
    "DL-029": (
        rig(
            *QUAD,
            ("asus.tuf.rtx-3090-oc", 2, ("PCIE7", "PCIE4")),
            "nvidia.nvlink-bridge.geforce-rtx-3090-3-slot",
        ),
        ("CLG002",),
    ),
    "DL-031": (rig(*QUAD, (RTX4090, 2), job=tensor(2)), ("P2P001",)),
    "DL-032": (rig(X870E, R9950X, "nvidia.tesla.v100-sxm2-16gb"), ("GPU001",)),
    "DL-034": (
        rig(X870E, R9950X, "nvidia.datacenter.a40", "fractal-design.north.north"),
        ("CLG001",),
    ),
    "DL-036": (
        rig(X870E, R9950X, "asus.rog-astral.rtx-5090-oc", "fractal-design.north.north"),
        ("SPC001",),
    ),
    "DL-037": (
        rig(
            "asus.pro-ws.wrx90e-sage-se",
            "amd.threadripper-pro.7975wx",
            "fractal-design.define-7.define-7",
        ),
        ("SPC004",),
    ),
    "DL-039": (rig(*QUAD, "nvidia.tesla.p40", "corsair.rmx.rm650x-2018"), ("PWR005", "PWR006")),
    "DL-041": (
        rig(*QUAD, RTX3090, "corsair.axi.ax1600i", "generic.power.pcie-8-pin-daisy-chain-cable"),
        ("PWR009",),
    ),
    "DL-042": (
        rig(*QUAD, RTX3090, "corsair.axi.ax1600i", "evga.cable.supernova-g2-p2-t2-cable-set"),
        ("PWR010",),
    ),
    "DL-044": (
        rig(FORMULA, "intel.core.i9-13900k", "nvidia.rtx.a6000", "corsair.rmx.rm750x-2021"),
        ("PWR002", "PWR003", "PWR004"),
    ),
    "DL-046": (
        rig(*QUAD, ("asus.turbo.rtx-3090", 4, (), 280.0), "corsair.axi.ax1600i", site=HOME),
        ("PWR012",),
    ),
    "DL-047": (rig(*QUAD, (RTX4090, 4), ("corsair.axi.ax1600i", 2), site=HOME), ("PWR012",)),
    "DL-049": (
        rig(*QUAD, ("asus.turbo.rtx-3090", 4, (), 300.0), "corsair.axi.ax1600i"),
        ("PWR002", "PWR003"),
    ),
    "DL-051": (
        rig(
            "asrock-rack.romed8.romed8-2t",
            "amd.epyc.7763",
            (RTX4090, 7),
            ("corsair.rme.rm1000e", 4),
        ),
        ("PWR013",),
    ),
    "DL-052": (rig("intel.pentium.g4600", settings=software(tensorflow="1.15")), ("SW001",)),
    "DL-054": (rig("nvidia.tesla.p40", settings=software(pytorch="2.8", cuda="12.8")), ("SW002",)),
    "DL-056": (rig("nvidia.tesla.k80", settings=software(cuda="12.0")), ("SW003",)),
    "DL-057": (rig("nvidia.geforce.rtx-2080-ti", job=job(attention="flash")), ("SW006",)),
    "DL-059": (rig("amd.radeon.vii", settings=software(os="Windows 11")), ("SW009",)),
    "DL-061": (rig(*QUAD, (RTX3090, 2), job=LLAMA_70B), ("VRM001", "VRM002")),
    "DL-062": (rig(*QUAD, ("nvidia.rtx.a4000", 6), job=tensor(6)), ("WRK001", "WRK002")),
    "DL-064": (
        rig("hp.elitedesk.800-g5-sff", "intel.core.i5-8400", "nvidia.tesla.t4"),
        ("KNO001",),
    ),
    "DL-066": (
        rig(X870E, R9950X, (RTX5090, 1, ("PCIEX16(G5)",)), (SSD, 1, ("M.2_1",))),
        ("PCI001", "PCI002"),
    ),
    "DL-067": (
        rig(
            "msi.meg.b550-unify",
            "amd.ryzen.9-5950x",
            (SSD, 1, ("M2_1",)),
            ("samsung.ssd-870-evo.1-tb", 1, ("SATA5-6",)),
        ),
        ("M2001", "M2003", "M2004", "DSK001"),
    ),
    "DL-069": (
        rig(
            "asus.x99.x99-pro",
            "intel.core.i7-6850k",
            ("asus.turbo.rtx-2080-ti", 1, ("PCIEX16_4",)),
            "thermaltake.core.core-x9",
        ),
        ("SPC003", "SLT005"),
    ),
    "DL-071": (
        rig(
            *QUAD, (RTX3090, 2, ("PCIE7", "PCIE3")), "nvidia.nvlink-bridge.geforce-rtx-3090-4-slot"
        ),
        ("NVL001", "NVL002", "NVL003", "NVL004", "NVL005", "NVL006"),
    ),
    "DL-072": (rig(X870E, R9950X, RTX4090, "corsair.rme.rm1000e", site=HOME), ("PWR012",)),
    "DL-074": (
        rig(RTX5090, settings=software(pytorch="2.7", cuda="12.8")),
        ("SW002", "SW003", "SW005"),
    ),
    "DL-076": (rig("nvidia.tesla.t4", job=job(precision="fp16")), ("SW007", "SW008")),
    "DL-077": (
        rig(*QUAD, ("nvidia.rtx-pro.6000-blackwell-max-q", 4), job=tensor(4)),
        ("WRK001", "WRK002"),
    ),
}
"""By case: the rig that the catalog can make of it, and the codes that speak of its matter."""


SETTLED = {"DL-011": "error"}
"""The case says that its jumper table is unconfirmed. By the manual's table the OCuLink ports
switch the second slot off."""


EXPECTED: dict[str, str] = {
    case["id"]: case["verdict"]
    for case in json.loads(Path(__file__).with_name("real_verdicts.json").read_text("utf-8"))
} | SETTLED


def verdict(sample: Rig, codes: tuple[str, ...]) -> str:
    """Return the worst severity among the findings of these codes."""
    found = {
        finding.severity
        for finding in assess(sample, shipped_catalog()).report.findings
        if finding.code in codes
    }
    return next((word for word in ("error", "unknown", "warning") if word in found), "ok")


@pytest.mark.parametrize("case", sorted(SAID))
def test_the_verdict_of_a_real_case(case: str) -> None:
    sample, codes = SAID[case]
    absent = [item.part for item in sample.items if shipped_catalog().get(item.part) is None]
    assert absent == []
    assert verdict(sample, codes) == EXPECTED[case]
