"""Which card the site's monitors hang on, and what they take of its memory."""

from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

from rigplanner.catalog.schema.parts import CPU, GPU, AnyPart, Motherboard, System
from rigplanner.machine.cache import IdentityCache
from rigplanner.rig.document import Monitors, Rig, Role

BYTES_PER_PIXEL, BUFFERS = 4, 3
"""32 bits a pixel; the picture shown, the one being drawn and the compositor's."""
DESKTOP_GIB = {"none": 0.0, "light": 236 / 1024, "usual": 430 / 1024, "heavy": 1703 / 1024}
"""Least, middle and most of what graphics processes held in eight published outputs of nvidia-smi
on Ubuntu desktops (READMEs and reports of 2021 to 2025, read 23 Nov 2026: 236, 316, 345, 393, 467,
492, 495 and 1,703 MiB; the last with several browsers)."""
GAMES_GIB = ((1920 * 1080, 2.0), (2560 * 1440, 3.9), (3840 * 2160, 4.3), (7680 * 4320, 8.4))
"""What games of 2015 held by pixels of their picture (reported; single ones up to 3.7 GB at 1080p
and 6.4 GB at 2160p with anti-aliasing)."""


class DrivingGPU(GPU, frozen=True, kw_only=True):
    """A GPU with monitors: `display_gib` of its memory is theirs."""

    display_gib: float


class Seen(Struct, frozen=True):
    """A GPU piece as the question who drives the monitors sees it; `role` is what its owner gave
    it."""

    piece: str
    gpu: GPU
    role: Role | None


def showing(rig: Rig) -> frozenset[str]:
    """Return the items whose GPUs drive the monitors and nothing else."""
    return frozenset(item.uid for item in rig.items if item.role == "display")


def taken_of_jobs(rig: Rig, gpus: Sequence[str]) -> float:
    """GiB that the rig's monitors would take of a card for jobs put in the stead of its items
    `gpus`: nothing where another card drives them, or those are for jobs alone."""
    roles = [item.role for item in rig.items]
    held = [item.role for item in rig.items if item.uid in gpus]
    if rig.site.monitors is None or "display" in roles:
        return 0.0
    return 0.0 if held and set(held) == {"compute"} else display_gib(rig.site.monitors)


def frame_mib(monitors: Monitors) -> float:
    """MiB of one picture of one monitor."""
    return monitors.width_px * monitors.height_px * BYTES_PER_PIXEL / 2**20


def display_gib(monitors: Monitors) -> float:
    """GiB that monitors, their desktop and games take of the card that drives them."""
    buffers = monitors.count * BUFFERS * frame_mib(monitors) / 1024
    games = games_gib(monitors.width_px * monitors.height_px) if monitors.games else 0.0
    return buffers + DESKTOP_GIB[monitors.desktop] + games


def games_gib(pixels: int) -> float:
    """GiB of a game at so many pixels: between the reported sizes in proportion, beyond them as the
    nearest."""
    for (fewer, low), (more, high) in pairwise(GAMES_GIB):
        if pixels <= more:
            share = max(0.0, (pixels - fewer) / (more - fewer))
            return low + share * (high - low)
    return GAMES_GIB[-1][1]


def driver_of(seen: Sequence[Seen]) -> str | None:
    """Return the piece that drives the monitors, of GPUs in the order of their buses: one whose
    role is display, else both, else the first that nobody gave a role and that may have an output,
    as firmware takes a card before the CPU's graphics; None where all of them only compute."""
    for role in ("display", "both", None):
        for one in seen:
            if one.role == role and (role or one.gpu.display_outputs != 0):
                return one.piece
    return None


def graphics_beside(parts: Sequence[AnyPart]) -> bool | None:
    """Say whether CPU and board can show a picture without a card; None where that is not known."""
    cpus = [part.has_graphics for part in parts if isinstance(part, CPU)]
    outputs = [
        part.layout.display_outputs for part in parts if isinstance(part, Motherboard | System)
    ]
    if not any(graphics is not False for graphics in cpus) or not any(o != 0 for o in outputs):
        return False
    return True if any(cpus) and any(outputs) else None


_driving: IdentityCache[GPU] = IdentityCache(64)


def driving(gpu: GPU, taken_gib: float) -> GPU:
    """Return a GPU with so much of its memory taken by monitors."""
    if not taken_gib:
        return gpu

    def make() -> GPU:
        fields = {name: getattr(gpu, name) for name in GPU.__struct_fields__}
        return DrivingGPU(**fields, display_gib=taken_gib)

    return _driving.get((id(gpu), taken_gib), gpu, make)


def taken_of(gpu: GPU) -> float:
    """GiB of a GPU's memory that monitors take."""
    return gpu.display_gib if isinstance(gpu, DrivingGPU) else 0.0
