"""The plan for tools that watch machines: Meta's gcm (`check_pci`), NVIDIA's DCGM diagnostics, and
what `nvidia-smi` and `lspci` should print. Addresses come from a capture: no plan knows them."""

import json
from collections.abc import Callable

from rigplanner.asbuilt.checks.line import Pair, View
from rigplanner.catalog.find.gpu_names import shipped_pci_ids

SPEEDS = {1: "2.5", 2: "5.0", 3: "8.0", 4: "16.0", 5: "32.0", 6: "64.0"}
"""GT/s as the kernel prints them (drivers/pci/probe.c, pci_speed_string)."""
RESTING = "2.5 GT/s PCIe"
ZONES = (("GPU", "GPU"), ("NVMe", "Storage"), ("NIC", "Network"))


def gcm_manifest(view: View) -> str:
    """Return the `pci` portion of gcm's manifest (website/docs/GCM_Health_Checks/health_checks/
    check-pci.md): address, model, slot, links. A GPU's link may rest at Gen1, so that speed is
    allowed beside the planned one; its width is not."""
    devices: dict[str, dict[str, object]] = {}
    for (kind, zone), pairs in zip(ZONES, (view.gpus, view.drives, view.nics), strict=True):
        for number, pair in enumerate(pairs):
            if pair.card is None or not pair.card.address or pair.promised.width is None:
                continue
            speed = SPEEDS.get(pair.promised.generation or 0)
            allowed = [f"{speed} GT/s PCIe"] if speed else []
            devices[pair.card.address] = {
                "type": kind,
                "dev": pair.promised.name,
                "zone": zone,
                "slot": pair.promised.place or f"{kind}{number}",
                "link_speed": [*allowed, RESTING] if kind == "GPU" else allowed,
                "link_width": pair.promised.width,
                "topology_critical": False,
            }
    return json.dumps({"pci": devices}, indent=2) + "\n"


def dcgm_config(view: View) -> str:
    """Return a configuration for `dcgmi diag -c FILE` (spec dcgm-diag-v1, as nvvs/diag-skus.yaml.in
    of NVIDIA/DCGM): links, power and NVLinks promised of each GPU model."""
    lines = ["# dcgmi diag -r 3 -c THIS-FILE", 'version: "1.0"', "spec: dcgm-diag-v1", "skus:"]
    done: set[str] = set()
    for pair in view.gpus:
        card = pair.promised
        device = _device_id(pair)
        if not device or device in done:
            continue
        done.add(device)
        alike = [other.promised for other in view.gpus if other.promised.name == card.name]
        widths = [other.width for other in alike if other.width is not None]
        generations = [other.generation for other in alike if other.generation is not None]
        lines += [f"  - name: {card.name}", f"    id: '{device}'"]
        if card.cap_w is not None:
            lines += ["    targeted_power:", "      is_allowed: true"]
            lines += [f"      target_power: {card.cap_w:.1f}"]
        lines += ["    pcie:", "      is_allowed: true"]
        if card.nvlinks:
            lines += ["      test_nvlink_status: true"]
            lines += [f"      gpu_nvlinks_expected_up: {card.nvlinks}"]
        for test in ("h2d_d2h_single_pinned", "h2d_d2h_single_unpinned"):
            if widths and generations:
                lines += [
                    f"      {test}:",
                    f"        min_pci_generation: {min(generations)}.0",
                    f"        min_pci_width: {min(widths)}.0",
                ]
    return "\n".join(lines) + "\n" if done else ""


def _device_id(pair: Pair) -> str:
    """Return the four digits of a GPU's PCI device id, as seen or as its part is known by."""
    seen = pair.card.ids if pair.card else ""
    known = [ids for ids, part in shipped_pci_ids().items() if part == pair.promised.part]
    ids = seen or (known[0] if known else "")
    return ids.partition(":")[2] if ids.startswith("10de:") else ""


def expectation(view: View) -> str:
    """Return what `nvidia-smi` and `lspci` should print, a line for each card, with the
    commands."""
    lines = [
        "# Expected of this machine; widths hold always, speeds under load.",
        "# nvidia-smi --query-gpu=pci.bus_id,name,pcie.link.gen.max,pcie.link.width.current,"
        "power.limit --format=csv,noheader",
    ]
    for pair in view.gpus:
        card = pair.card
        if card is not None and card.gpu is not None and card.address:
            cap = f"{pair.promised.cap_w:.2f} W" if pair.promised.cap_w else "-"
            link = f"{pair.promised.generation or '-'}, {pair.promised.width or '-'}"
            bus = f"0000{card.address}".upper()
            lines.append(f"{bus}, {card.gpu.name}, {link}, {cap}")
    lines.append("# lspci -vvv -s ADDRESS | grep LnkSta:")
    for pair in (*view.gpus, *view.drives, *view.nics):
        card = pair.card
        speed = SPEEDS.get(pair.promised.generation or 0, "").removesuffix(".0")
        if card is not None and card.address and speed and pair.promised.width:
            lines.append(f"{card.address} LnkSta: Speed {speed}GT/s, Width x{pair.promised.width}")
    return "\n".join(lines) + "\n"


MANIFESTS: dict[str, Callable[[View], str]] = {
    "gcm": gcm_manifest,
    "dcgm": dcgm_config,
    "expectation": expectation,
}
"""What `rigplanner accept --manifest` writes."""
