"""Machines that people and makers run, in the catalog's parts: none of them may get an error. Where a part of the original is not
in the catalog, the nearest one stands for it; the source says what was built."""

from typing import Any

from msgspec import Struct

Pick = str | tuple[Any, ...]


class Build(Struct, frozen=True):
    """A name, where it was published, and its parts: ids, or (id, quantity, places, power cap in W)."""

    name: str
    source: str
    parts: tuple[Pick, ...]


CLUB = "noonghunna/club-3090 issue {}: rig report of a running machine"
SMC, DELL, ASUS = "Supermicro: supported GPUs of the system", "Dell: GPU options of the server", "ASUS: qualified configuration"
RTX3090, RTX4090, RTX5090 = "nvidia.geforce.rtx-3090", "nvidia.geforce.rtx-4090", "nvidia.geforce.rtx-5090"
TURBO3090, TURBO2080 = "gigabyte.turbo.rtx-3090", "asus.turbo.rtx-2080-ti"
RDIMM4, RDIMM5 = "samsung.server.m393a4k40db3-cwe", "samsung.server.m321r8ga0bb0-cqk"
NVME, SATA, U2 = "samsung.ssd-980-pro.2-tb", "samsung.ssd-870-evo.4-tb", "samsung.pm9a3.3-84-tb-u-2"
EPYC_AIR, TRPRO_AIR = "noctua.nh-u14s.nh-u14s-tr4-sp3", "noctua.nh-u14s.nh-u14s-tr4-sp3"
FRAME = "veddha.open-frame.v3c-8-gpu"


def server(name: str, source: str, system: str, cpu: str, gpu: str, count: int, memory: Pick, *more: Pick) -> Build:
    return Build(name, source, (system, (cpu, 2), (gpu, count), memory, *more))


BUILDS = (
    server("8x V100 in a 4U", SMC, "supermicro.superserver.sys-4029gp-trt", "intel.xeon.gold-6148", "nvidia.tesla.v100-pcie-32gb",
           8,
           ("samsung.server.m393a2k43bb1-crc", 24), SATA),
    server("8x P100 in a 4U", SMC, "supermicro.superserver.sys-4028gr-tr", "intel.xeon.e5-2680-v4", "nvidia.tesla.p100-pcie-16gb",
           8,
           ("samsung.server.m393a2k43bb1-crc", 16), SATA),
    server("8x GTX 1080 Ti in a 4U", SMC, "supermicro.superserver.sys-4028gr-tr2", "intel.xeon.e5-2690-v4",
           "nvidia.geforce.gtx-1080-ti", 8, ("samsung.server.m393a2k43bb1-crc", 16), SATA),
    server("8x RTX 8000 in a 4U", SMC, "supermicro.superserver.sys-4029gp-trt2", "intel.xeon.gold-6248", "nvidia.quadro.rtx-8000",
           8,
           ("samsung.server.m393a4k40bb1-crc", 24), SATA),
    server("8x A100 in a 4U", SMC, "supermicro.a-plus.as-4124gs-tnr", "amd.epyc.7542", "nvidia.datacenter.a100-pcie-40gb", 8,
           (RDIMM4, 16), SATA),
    server("8x A6000 in a 4U", SMC, "supermicro.a-plus.as-4124gs-tnr", "amd.epyc.7543", "nvidia.rtx.a6000", 8, (RDIMM4, 32), SATA),
    server("8x L40S in a 4U", SMC, "supermicro.a-plus.as-4125gs-tnrt", "amd.epyc.9354", "nvidia.datacenter.l40s", 8, (RDIMM5, 24),
           U2),
    server("8x RTX 6000 Ada in a 4U", SMC, "supermicro.a-plus.as-4125gs-tnrt", "amd.epyc.9554", "nvidia.rtx.6000-ada", 8,
           (RDIMM5, 24), U2),
    server("8x H100 PCIe in a 4U", SMC, "supermicro.superserver.sys-421ge-tnrt", "intel.xeon.platinum-8480-plus",
           "nvidia.datacenter.h100-pcie-80gb", 8, (RDIMM5, 16), U2),
    server("4x A6000 workstation", SMC, "supermicro.superserver.sys-740gp-tnrt", "intel.xeon.gold-6348", "nvidia.rtx.a6000", 4,
           (RDIMM4, 16), NVME),
    server("4x A100 workstation", SMC, "supermicro.superserver.sys-740gp-tnrt", "intel.xeon.gold-6330",
           "nvidia.datacenter.a100-pcie-80gb", 4, (RDIMM4, 16), NVME),
    server("4x V100 workstation", SMC, "supermicro.superserver.sys-7049gp-trt", "intel.xeon.gold-6148",
           "nvidia.tesla.v100-pcie-16gb", 4, ("samsung.server.m393a2k43bb1-crc", 12), SATA),
    server("4x Titan X workstation", SMC, "supermicro.superserver.sys-7048gr-tr", "intel.xeon.e5-2630-v4",
           "nvidia.titan.x-pascal", 4,
           ("samsung.server.m393a2k43bb1-crc", 8), SATA),
    server("8x V100 in an ESC8000", ASUS, "asus.esc.esc8000-g4", "intel.xeon.gold-6148", "nvidia.tesla.v100-pcie-32gb", 8,
           ("samsung.server.m393a2k43bb1-crc", 12), SATA),
    server("4x V100 in an ESC4000", ASUS, "asus.esc.esc4000-g4", "intel.xeon.gold-6130", "nvidia.tesla.v100-pcie-16gb", 4,
           ("samsung.server.m393a2k43bb1-crc", 12), SATA),
    server("4x P100 in an ESC4000", ASUS, "asus.esc.esc4000-g3", "intel.xeon.e5-2650-v4", "nvidia.tesla.p100-pcie-16gb", 4,
           ("samsung.server.m393a2k43bb1-crc", 8), SATA),
    server("2x A100 in an R7525", "NVIDIA/nccl-tests issue 293", "dell.poweredge.r7525", "amd.epyc.7352",
           "nvidia.datacenter.a100-pcie-40gb", 2, (RDIMM4, 16), SATA),
    server("3x V100 in an R740", DELL, "dell.poweredge.r740", "intel.xeon.gold-6148", "nvidia.tesla.v100-pcie-16gb", 3,
           ("samsung.server.m393a2k43bb1-crc", 12), SATA),
    server("4x T4 in an R740", DELL, "dell.poweredge.r740", "intel.xeon.gold-6130", "nvidia.tesla.t4", 4,
           ("samsung.server.m393a2k43bb1-crc", 12), SATA),
    Build("8x A100 in a G292", "Gigabyte: GPU options of the server",
          ("gigabyte.g.g292-z20", "amd.epyc.7742", ("nvidia.datacenter.a100-pcie-40gb", 8), (RDIMM4, 8), U2)),
    Build("Four capped 3090", "Puget Systems labs: quad RTX 3090 GPU power limiting (2020)",
          ("asus.ws.c422-pro-se", "intel.xeon-w.w-2295", (TURBO3090, 4, (), 280.0), ("samsung.server.m393a4k40bb1-crc", 8),
           "evga.supernova.1600-p2", NVME)),
    Build("Two 3090 on X570", CLUB.format(1095),
          ("gigabyte.aorus.x570-aorus-master", "amd.ryzen.9-5900x", (RTX3090, 2), ("crucial.ballistix.bl2k16g32c16u4b", 2),
           "corsair.axi.ax1600i", NVME)),
    Build("Two capped 3090 on Pro WS X570", CLUB.format(745),
          ("asus.pro-ws.x570-ace", "amd.ryzen.7-5700x", (RTX3090, 2, (), 250.0), ("crucial.ddr4.ct2k32g4dfd832a", 2),
           "corsair.hxi.hx1000i-2022", NVME)),
    Build("Four capped 3090 on WRX80", CLUB.format(1106),
          ("asrock-rack.wrx80.wrx80d8-2t", "amd.threadripper-pro.3975wx", (TURBO3090, 4, (), 250.0), (RDIMM4, 8),
           "evga.supernova.1600-t2", TRPRO_AIR, NVME)),
    Build("Four 3090 on TRX40", CLUB.format(1028),
          ("asus.prime.trx40-pro", "amd.threadripper.3970x", (TURBO3090, 3), ("corsair.vengeance-lpx.cmk128gx4m4d3600c18", 2),
           "corsair.axi.ax1600i", "noctua.nh-u14s.nh-u14s-tr4-sp3", NVME)),
    Build("Two 5090 on WRX80", CLUB.format(1133),
          ("asus.pro-ws.wrx80e-sage-se-wifi", "amd.threadripper-pro.3975wx", (RTX5090, 2), (RDIMM4, 8),
           "seasonic.prime.tx-1600-atx-3-1", TRPRO_AIR, NVME)),
    Build("A 4090 on WRX80", "train.sh: GPU desktop upgrade, March 2023",
          ("asus.pro-ws.wrx80e-sage-se-wifi", "amd.threadripper-pro.5975wx", RTX4090, (RDIMM4, 8), "asus.rog-thor.1600t", NVME,
           ("western-digital.black-sn850x.4-tb", 1))),
    Build("Four 3090 on ROMED8-2T", "thinksmart.life: GPU rig, professional tier (4x RTX 3090, 1600 W)",
          ("asrock-rack.romed8.romed8-2t", "amd.epyc.7282", (TURBO3090, 4, ("PCIE7", "PCIE5", "PCIE3", "PCIE1"), 280.0), (RDIMM4,
           1),
           "super-flower.leadex-titanium.1600w", "noctua.nh-u9.nh-u9-tr4-sp3", FRAME, NVME)),
    Build("Two RTX PRO 6000 on X299", "Public matrix of a Core i9-7920X with two RTX PRO 6000 Blackwell",
          ("asus.ws.x299-pro", "intel.core.i9-7920x", ("nvidia.rtx-pro.6000-blackwell-workstation", 2),
           ("corsair.vengeance-lpx.cmk128gx4m8a2400c14", 1), "seasonic.prime.tx-1600-atx-3-1", SATA)),
    Build("Two Titan RTX with a bridge", "stas00/ml-engineering and huggingface/transformers issue 9371",
          ("asus.rog-strix.x299-e-gaming", "intel.core.i9-7920x", ("nvidia.titan.rtx", 2), "nvidia.nvlink-bridge.titan-rtx-4-slot",
           ("corsair.vengeance-lpx.cmk64gx4m4b3000c15", 1), "corsair.axi.ax1600i", SATA)),
    Build("Four RTX 2080 Ti on X299 SAGE", "Curtis Northcutt: build of a four-GPU workstation (2019), blower cards",
          ("asus.ws.x299-sage", "intel.core.i9-9820x", (TURBO2080, 4), ("corsair.vengeance-lpx.cmk128gx4m8a2400c14", 1),
           "evga.supernova.1600-g2", "samsung.ssd-970-evo-plus.1-tb")),
    Build("Four RTX PRO 6000 Max-Q on WRX90", "voipmonitor/rtx6kpro: four cards on one socket",
          ("asus.pro-ws.wrx90e-sage-se", "amd.threadripper-pro.7975wx", ("nvidia.rtx-pro.6000-blackwell-max-q", 4),
           ("micron.server.mtc40f2046s1rc64bb1r", 8), "seasonic.prime.px-2200", "noctua.nh-u14s.nh-u14s-tr5-sp6", NVME)),
    Build("Two 4090 on ProArt X670E", "stas00/ml-engineering: pair of one host bridge; a usual two-card desktop",
          ("asus.proart.x670e-creator-wifi", "amd.ryzen.9-7950x", (RTX4090, 2), "corsair.vengeance.cmk96gx5m2b6000c30",
           "seasonic.prime.tx-1600-atx-3-1", "phanteks.enthoo.enthoo-719", NVME)),
    Build("A 4090 desktop", "PCPartPicker: usual completed build of 2023",
          ("asus.rog-maximus.z790-hero", "intel.core.i9-13900k", RTX4090, "corsair.vengeance.cmk64gx5m2b6000c30",
           "corsair.rmx.rm1000x-2021", "lian-li.o11.o11-dynamic-evo", "arctic.liquid-freezer-ii.280", "samsung.ssd-990-pro.2-tb")),
    Build("A 5090 desktop", "PCPartPicker: usual completed build of 2025",
          ("msi.mpg.x870e-carbon-wifi", "amd.ryzen.7-9800x3d", RTX5090, "g-skill.trident-z5-neo.f5-6000j3040g32gx2-tz5n",
           "corsair.rmx-shift.rm1200x-shift", "nzxt.h9.h9-flow", "arctic.liquid-freezer-iii.360", "samsung.ssd-9100-pro.2-tb")),
    Build("A 3090 desktop", "PCPartPicker: usual completed build of 2021",
          ("msi.meg.x570-unify", "amd.ryzen.9-5950x", RTX3090, "g-skill.trident-z-neo.f4-3600c16q-64gtzn",
           "corsair.rmx.rm850x-2021",
           "fractal-design.meshify-2.meshify-2", "noctua.nh-d15.nh-d15", "samsung.ssd-980-pro.1-tb")),
    Build("A 1080 Ti desktop", "Usual deep-learning box of 2017 (GTX 1080 Ti, 750 W)",
          ("asus.prime.z270-a", "intel.core.i7-7700k", "nvidia.geforce.gtx-1080-ti", "corsair.vengeance-lpx.cmk32gx4m2b3200c16",
           "evga.supernova.750-g3", "fractal-design.define.r5", "cooler-master.hyper.212-evo", "samsung.ssd-960-evo.500-gb")),
    Build("Two P40 on X99", "r/LocalLLaMA: two Tesla P40 with fans and EPS adapters on a used X99 board",
          ("asus.x99.x99-e-ws", "intel.core.i7-5960x", ("nvidia.tesla.p40", 2), "corsair.vengeance-lpx.cmk64gx4m4b3000c15",
           "evga.supernova.1300-g2", ("generic.power.eps-adapter-2x-pcie-8-pin", 2), ("generic.cooling.tesla-blower-shroud", 2),
           "nvidia.quadro.p400", "samsung.ssd-860-evo.1-tb")),
)  # fmt: skip
