"""What software serves which hardware: tables with versions, dates and sources, read from
`resources/rules/software.json`."""

import re
from functools import cache
from typing import Literal

from msgspec import Struct

from rigplanner.data import data_path
from rigplanner.decoding import read_json
from rigplanner.evidence import Source

Version = tuple[int, ...]
WHEELS = ("pytorch", "tensorflow", "jax")
"""Packages that bring compiled kernels along, and that ask a driver for no more than its CUDA major
version."""


class Instructions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Prebuilt packages of `since`..`until` that use instructions beyond SSE4.2."""

    package: str
    since: str
    until: str | None = None
    needs: str
    verdict: Literal["error", "warning"]
    source: str


class CudaRelease(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A CUDA toolkit from `version` on: compute capabilities it builds for, and the oldest Linux
    driver."""

    version: str
    lowest: str
    highest: str
    driver: str
    source: str


class TorchBuild(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Prebuilt PyTorch wheels for one CUDA version, releases `since`..`until` (None: still
    made)."""

    since: str
    until: str | None = None
    cuda: str
    archs: tuple[str, ...]
    source: str


class Feature(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A kernel or data type and the compute capabilities that have it: a range, and single ones
    `also`."""

    feature: str
    lowest: str
    highest: str | None = None
    also: tuple[str, ...] = ()
    source: str


class DriverRange(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """NVIDIA driver branches that serve compute capabilities `lowest`..`highest`: the first and the
    last (None: still served)."""

    lowest: str
    highest: str
    first: str
    last: str | None = None
    source: str


class ModuleRange(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Compute capabilities `lowest`..`highest` (None: all later ones) that one flavour of NVIDIA's
    Linux kernel modules serves alone; those between run with either."""

    flavour: Literal["open", "proprietary"]
    lowest: str
    highest: str | None = None
    source: str


class RocmTarget(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whether AMD supports a GPU target on a platform, from and until which release. `stand_in` is
    the version that an unsupported target may report in HSA_OVERRIDE_GFX_VERSION, because its
    instructions are those of a supported one."""

    platform: Literal["linux", "windows"]
    target: str
    since: str
    until: str | None = None
    supported: bool
    stand_in: str | None = None
    source: str


class WindowsGap(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Software (or part of PyTorch) without GPU support on native Windows from release `since`
    on."""

    what: Literal["tensorflow", "jax", "vllm", "nccl", "triton"]
    since: str
    verdict: Literal["error", "warning"]
    source: str


class ArmRow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Releases `since`..`until` (None: still so) of a package whose builds for Arm do not serve the
    GPU of servers (Grace, Thor and kin) or of Jetsons with JetPack's own libraries; `info` where
    another place has a build that does."""

    package: str
    machine: Literal["server", "jetson"]
    since: str
    until: str | None = None
    verdict: Literal["error", "warning", "info"]
    source: str


class Assembler(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A compute capability that the assembler in Triton knows from a PyTorch release on."""

    capability: str
    pytorch: str
    source: str


class Framework(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Prebuilt releases `since`..`until` (None: still made) of a framework, and the compute
    capabilities they serve."""

    package: str
    since: str
    until: str | None = None
    lowest: str
    highest: str | None = None
    source: str


class MakerRow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Software that runs on GPUs of some makers only, of those in `since` from that release on, and
    on some `targets` of AMD where it lists them."""

    what: str
    makers: tuple[str, ...]
    since: dict[str, str] = {}
    targets: tuple[str, ...] = ()
    source: str


class Container(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Container images of `since`..`until` (None: still made), the compute capabilities they serve,
    the oldest CUDA among them."""

    image: str
    since: str
    until: str | None = None
    lowest: str
    highest: str | None = None
    cuda: str | None = None
    source: str


class Software(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All tables. `read` is the day they were read; `newest_images` the newest release seen of each
    image; `toolkit_drivers` the Linux driver that each CUDA toolkit brings, which knows the PTX
    that it makes."""

    read: str
    sources: dict[str, Source]
    instructions: tuple[Instructions, ...]
    cuda: tuple[CudaRelease, ...]
    pytorch: tuple[TorchBuild, ...]
    newest_pytorch: str
    kernels: tuple[Feature, ...]
    drivers: tuple[DriverRange, ...]
    modules: tuple[ModuleRange, ...]
    rocm: tuple[RocmTarget, ...]
    windows: tuple[WindowsGap, ...]
    arm: tuple[ArmRow, ...]
    assemblers: tuple[Assembler, ...]
    frameworks: tuple[Framework, ...]
    makers: tuple[MakerRow, ...]
    toolkit_drivers: dict[str, str]
    containers: tuple[Container, ...]
    newest_images: dict[str, str]


@cache
def software() -> Software:
    """Return the tables, read once."""
    path = data_path("resources") / "rules" / "software.json"
    return read_json(path.read_bytes(), Software)


@cache
def version(text: str) -> Version:
    """Return the numbers of a version ("2.8.0+cu128" gives 2, 8, 0), for comparison."""
    return tuple(int(word) for word in re.findall(r"\d+", text.split("+")[0]))


def within(text: str, since: str, until: str | None) -> bool:
    """Say whether a version lies in since..until, both included, at the precision of the bounds
    ("2.8.1" is within ..2.8)."""
    found = version(text)
    if found[: len(version(since))] < version(since):
        return False
    return until is None or found[: len(version(until))] <= version(until)


def serves(archs: tuple[str, ...], capability: str) -> bool:
    """Say whether binaries for `archs` run: the same major number and no higher minor one (CUDA
    binary compatibility); never for targets of other makers ("gfx906")."""
    if len(version(capability)) < 2:
        return False
    major, minor = version(capability)[:2]
    return any(version(arch)[0] == major and version(arch)[1] <= minor for arch in archs)


def between(capability: str, lowest: str, highest: str | None) -> bool:
    """Say whether a compute capability lies in lowest..highest."""
    found = version(capability)
    return found >= version(lowest) and (highest is None or found <= version(highest))


@cache
def cuda_release(text: str) -> CudaRelease | None:
    """Return the row of the newest listed toolkit that is not newer than `text`, within its major
    version."""
    rows = [
        row
        for row in software().cuda
        if version(row.version) <= version(text) and version(row.version)[0] == version(text)[0]
    ]
    return max(rows, key=lambda row: version(row.version), default=None)


@cache
def driver_range(capability: str) -> DriverRange | None:
    """Return the driver branches that serve a compute capability, None where it is not listed."""
    return next(
        (
            row
            for row in software().drivers
            if capability and between(capability, row.lowest, row.highest)
        ),
        None,
    )


@cache
def only_modules(capability: str) -> str | None:
    """Return the one flavour of Linux kernel modules that serves a compute capability, None where
    both do."""
    rows = (
        row
        for row in software().modules
        if capability and between(capability, row.lowest, row.highest)
    )
    return next((row.flavour for row in rows), None)


@cache
def torch_builds(release: str, cuda: str | None) -> tuple[TorchBuild, ...]:
    """Return the listed builds of a PyTorch release, for one CUDA version when that is given."""
    rows = (row for row in software().pytorch if within(release, row.since, row.until))
    return tuple(row for row in rows if cuda is None or version(row.cuda)[:2] == version(cuda)[:2])


@cache
def last_build(capability: str) -> tuple[str, TorchBuild] | None:
    """Return the newest PyTorch release with a prebuilt wheel that serves a compute capability, and
    that build."""
    found = [
        (row.until or software().newest_pytorch, row)
        for row in software().pytorch
        if serves(row.archs, capability)
    ]
    return max(found, key=lambda pair: (version(pair[0]), version(pair[1].cuda)), default=None)


def image_rows(image: str) -> tuple[Container, ...]:
    """Return the rows of one image, oldest first."""
    return tuple(row for row in software().containers if row.image == image)


def image_release(image: str, release: str) -> Container | None:
    """Return the row that holds a release of an image, None where it is not listed or newer than
    the newest seen."""
    if version(release)[:2] > version(software().newest_images.get(image, "0")):
        return None
    return next((row for row in image_rows(image) if within(release, row.since, row.until)), None)


def last_image(image: str, capability: str) -> str | None:
    """Return the newest release of an image that serves a compute capability."""
    serving = [row for row in image_rows(image) if between(capability, row.lowest, row.highest)]
    return (serving[-1].until or software().newest_images[image]) if serving else None


@cache
def framework_rows(package: str) -> tuple[Framework, ...]:
    """Return the rows of one framework, oldest first."""
    return tuple(row for row in software().frameworks if row.package == package)


def toolkit_driver(cuda: str) -> str | None:
    """Return the driver that a CUDA toolkit brings, None for one that is not listed."""
    return software().toolkit_drivers.get(".".join(str(number) for number in version(cuda)[:2]))
