"""Each card of a captured machine once: what lspci, the kernel's files and the driver's program say
of one address, and the ports above it."""

from msgspec import Struct

from rigplanner.asbuilt.seen import (
    Fact,
    PcieLink,
    SeenDevice,
    SeenGpu,
    of_kind,
)

MOST_PORTS = 16
"""Ports between a card and its root complex beyond which a capture is nonsense."""


class Card(Struct, frozen=True, kw_only=True):
    """A card as seen. `reachable` is the best link that the driver says card and slot allow; `port`
    is the port right above, `root` the topmost one's address; `idle` says that the card did nothing
    when its link was read (None: not told)."""

    address: str
    name: str = ""
    ids: str = ""
    kind: str = "other"
    capable: PcieLink = PcieLink()
    running: PcieLink = PcieLink()
    reachable: PcieLink = PcieLink()
    gpu: SeenGpu | None = None
    port: SeenDevice | None = None
    root: str = ""
    numa: int | None = None
    slot: str = ""
    acs: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    alive: bool = True
    idle: bool | None = None


IDLE_PERCENT = 5.0
"""Use of a GPU below which its driver lets the link fall back."""


def devices_of(facts: tuple[Fact, ...]) -> tuple[SeenDevice, ...]:
    """Return each PCIe function once: lspci first, what it left open from the kernel's files."""
    merged: dict[str, SeenDevice] = {}
    for number, device in enumerate(of_kind(facts, SeenDevice)):
        key = device.address or f"#{number}"
        merged[key] = _both(merged[key], device) if key in merged else device
    return tuple(merged.values())


def _both(one: SeenDevice, other: SeenDevice) -> SeenDevice:
    return SeenDevice(
        address=one.address,
        name=one.name or other.name,
        kind=other.kind if one.kind == "other" else one.kind,
        ids=one.ids or other.ids,
        capable=_link(one.capable, other.capable),
        running=_link(one.running, other.running),
        target=one.target or other.target,
        port=one.port or other.port,
        bus=one.bus or other.bus,
        slot=one.slot or other.slot,
        numa=one.numa if one.numa is not None else other.numa,
        acs=one.acs if one.acs is not None else other.acs,
        errors=one.errors or other.errors,
        driver=one.driver or other.driver,
        alive=one.alive and other.alive,
        whole=one.whole or other.whole,
    )


def _link(one: PcieLink, other: PcieLink) -> PcieLink:
    return PcieLink(one.generation or other.generation, one.width or other.width)


def cards_of(facts: tuple[Fact, ...]) -> tuple[Card, ...]:
    """Return GPUs, drives, network cards and functions of unknown kind, by address."""
    devices = devices_of(facts)
    by_bus = {(device.address[:4], device.bus): device for device in devices if device.bus}
    gpus = _gpus(facts)
    cards = [
        _card(device, gpus.pop(device.address, None), by_bus)
        for device in devices
        if device.kind != "bridge" and device.port in ("", "endpoint")
    ]
    rest = [_card(None, gpu, by_bus) for gpu in gpus.values()]
    return tuple(sorted([*cards, *rest], key=lambda card: card.address))


def _gpus(facts: tuple[Fact, ...]) -> dict[str, SeenGpu]:
    """Return the GPUs that drivers name, each once; the richer text first."""
    found: dict[str, SeenGpu] = {}
    for number, gpu in enumerate(of_kind(facts, SeenGpu)):
        key = gpu.address or f"gpu{gpu.index if gpu.index is not None else number}"
        if key not in found:
            found[key] = gpu
    return found


def _card(
    device: SeenDevice | None, gpu: SeenGpu | None, by_bus: dict[tuple[str, str], SeenDevice]
) -> Card:
    seen = device or SeenDevice(address=gpu.address if gpu else "")
    chain = ports_above(seen.address, by_bus)
    busy = gpu.busy_percent if gpu else None
    return Card(
        address=seen.address,
        name=gpu.name if gpu and gpu.name else seen.name,
        ids=seen.ids,
        kind="gpu" if gpu else seen.kind,
        capable=seen.capable,
        running=_link(gpu.running, seen.running) if gpu else seen.running,
        reachable=gpu.reachable if gpu else PcieLink(),
        gpu=gpu,
        port=chain[0] if chain else None,
        root=chain[-1].address if chain else "",
        numa=seen.numa,
        slot=seen.slot or (chain[0].slot if chain else ""),
        acs=tuple([port.address for port in chain if port.acs]),
        errors=(*seen.errors, *[error for port in chain[:1] for error in port.errors]),
        alive=seen.alive,
        idle=None if busy is None else busy < IDLE_PERCENT,
    )


def ports_above(address: str, by_bus: dict[tuple[str, str], SeenDevice]) -> list[SeenDevice]:
    """Return the ports from a function up to its root complex, nearest first."""
    chain: list[SeenDevice] = []
    while len(chain) < MOST_PORTS:
        port = by_bus.get((address[:4], address[5:7]))
        if port is None or port in chain:
            break
        chain.append(port)
        address = port.address
    return chain
