"""Software: instruction sets, compute capabilities, drivers, kernels, data types, ROCm,
containers."""

import re
from collections.abc import Iterator

from rigplanner.catalog.schema.parts import CPU, GPU
from rigplanner.memory.usable_memory import on_module
from rigplanner.rig.edits import Edit
from rigplanner.rules.core.context import Card, Context
from rigplanner.rules.core.finding import Finding, Fix, Named, Severity
from rigplanner.rules.core.fixes import fix, swap
from rigplanner.rules.core.moves import adds_errors
from rigplanner.rules.core.registry import rule
from rigplanner.rules.software.tables import (
    WHEELS,
    TorchBuild,
    between,
    cuda_release,
    image_release,
    last_build,
    last_image,
    serves,
    software,
    toolkit_driver,
    torch_builds,
    version,
    within,
)

STACK_PACKAGES = {
    "tensorflow": "tensorflow",
    "tf-": "tensorflow",
    "jax": "jax",
    "torch": "pytorch",
    "vllm": "pytorch",
    "rocm": "rocm",
}
"""Part of a stack's slug to the package that it stands on."""


REGISTRY = "nvcr.io/nvidia"
IMAGES = ("ngc-pytorch", "ngc-tensorflow")
"""Names under which a rig's settings give the release of an NGC image, run by Docker or
Singularity."""


def cuda_version(settings: dict[str, str]) -> str | None:
    """Return the CUDA version that the rig names: itself, in a PyTorch version such as
    "2.8.0+cu128", or by a container image."""
    if "cuda" in settings:
        return settings["cuda"]
    match = re.search(r"\+cu(\d+)(\d)$", settings.get("pytorch", ""))
    if match:
        return f"{match[1]}.{match[2]}"
    named = (
        image_release(f"{REGISTRY}/{key.removeprefix('ngc-')}", settings[key])
        for key in IMAGES
        if key in settings
    )
    return next((row.cuda for row in named if row is not None and row.cuda), None)


def is_nvidia(gpu: GPU) -> bool:
    """Say whether a GPU's chip is NVIDIA's, which CUDA serves."""
    return gpu.chip_maker == "NVIDIA"


class Processor(Named, frozen=True):
    """A CPU model."""

    cpu: CPU


def x86(context: Context) -> Iterator[Processor]:
    """CPU models of the x86 family."""
    seen: set[str] = set()
    for name, cpu in context.cpus:
        if cpu.id not in seen and (
            any(word.startswith("sse") for word in cpu.isa or ())
            or (not cpu.isa and cpu.vendor in ("Intel", "AMD"))
        ):
            seen.add(cpu.id)
            yield Processor(name, cpu)


def packages(context: Context) -> dict[str, str | None]:
    """Return the packages that the rig or its jobs name, with version; all that have requirements
    when none is named."""
    known = {row.package for row in software().instructions}
    named: dict[str, str | None] = {
        key: value for key, value in context.rig.settings.software.items() if key in known
    }
    for job in context.jobs:
        for part, package in STACK_PACKAGES.items():
            if job.workload.stack and part in job.workload.stack:
                named.setdefault(package, None)
    return named or dict.fromkeys(sorted(known - {"rocm"}))


@rule(
    "SW001",
    "CPU lacks instructions that prebuilt frameworks use",
    "error",
    over=x86,
    needs=("cpu.isa",),
    reason=(
        "Official wheels of TensorFlow since 1.6 and of JAX stop with 'illegal instruction' on a"
        " CPU without AVX; they must be built from source."
    ),
    source="TensorFlow 1.6.0 release notes; JAX issue 31723; PyTorch issue 43300",
)
def instructions(context: Context, case: Processor) -> Iterator[Finding]:
    """Name the packages that break, and from which version on; an error only where the rig or a
    job names software, for much runs without them."""
    wants = names_software(context)
    breaks: list[dict[str, str | None]] = []
    worst: Severity = "warning"
    for package, release in packages(context).items():
        for row in software().instructions:
            if row.package != package or row.needs in (case.cpu.isa or ()):
                continue
            if release is None and row.until is not None:
                continue
            if release is None or within(release, row.since, row.until):
                breaks.append(
                    {
                        "package": package,
                        "since": row.since,
                        "needs": row.needs,
                        "verdict": row.verdict,
                        "source": row.source,
                    }
                )
                worst = "error" if row.verdict == "error" and wants else worst
    if breaks:
        needed = str(breaks[0]["needs"])
        socket, chipset = case.cpu.socket, set(case.cpu.chipsets)
        fixes = swap(
            context,
            "other-cpu",
            case.name,
            lambda cpu: (
                cpu.socket == socket and needed in (cpu.isa or ()) and chipset <= set(cpu.chipsets)
            ),
            lambda cpu: distance(case.cpu, cpu),
        )
        yield instructions.finding(
            case,
            worst,
            needed=needed,
            actual=(case.cpu.isa or ("",))[-1],
            fixes=fixes,
            breaks=breaks,
        )


def distance(cpu: CPU, other: CPU) -> float:
    """Return how unlike two CPUs of a socket are: a generation's year counts most, then each core,
    then each GHz; what is not known of one counts as far."""
    years = abs(int((cpu.released or "0")[:4]) - int((other.released or "0")[:4]))
    cores = abs((cpu.cores or 0) - (other.cores or 0))
    clock = abs((cpu.base_ghz or 0.0) - (other.base_ghz or 0.0))
    return 100.0 * min(years, 100) + 10.0 * cores + clock


class Served(Named, frozen=True):
    """A GPU model and the software that the rig names."""

    card: GPU
    named: dict[str, str]


def models(context: Context) -> Iterator[Served]:
    """GPU models for jobs that CUDA serves or served."""
    return _served(context, context.that_work(context.cards))


def driven_models(context: Context) -> Iterator[Served]:
    """GPU models that NVIDIA's driver serves or served, those of the monitors too."""
    return _served(context, context.cards)


def _served(context: Context, cards: tuple[Card, ...]) -> Iterator[Served]:
    seen: set[str] = set()
    for card in cards:
        if card.card.id not in seen and is_nvidia(card.card):
            seen.add(card.card.id)
            yield Served(card.name, card.card, context.rig.settings.software)


def with_pytorch(context: Context) -> Iterator[Served]:
    """GPU models on rigs that name a PyTorch version."""
    return models(context) if "pytorch" in context.rig.settings.software else iter(())


def with_cuda(context: Context) -> Iterator[Served]:
    """GPU models on rigs that name a CUDA version."""
    return models(context) if cuda_version(context.rig.settings.software) else iter(())


def without_pytorch(context: Context) -> Iterator[Served]:
    """GPU models on rigs that name no PyTorch version."""
    return (
        case for case in models(context) if "pytorch" not in case.named and not on_module(case.card)
    )


def name_software(context: Context, **versions: str) -> tuple[Fix, ...]:
    """Offer to name other versions in the rig's settings, with the driver that they need where the
    rig names an older one; nothing where that would leave another GPU unserved."""
    row, named = cuda_release(versions.get("cuda", "")), context.rig.settings.software.get("driver")
    if (
        row is not None
        and named is not None
        and "driver" not in versions
        and version(named) < version(row.driver)
    ):
        versions["driver"] = row.driver
    edit = Edit("set_software", {"versions": versions})
    if context.advise and adds_errors(context, (edit,), OF_VERSIONS):
        return ()
    return (fix(context, "other-version", edit, versions=versions),)


OF_VERSIONS = ("SW002", "SW003", "SW004", "SW014", "SW020")
"""What other versions can break."""


@rule(
    "SW002",
    "PyTorch build does not serve the GPU",
    "error",
    over=with_pytorch,
    needs=("card.compute_capability",),
    reason=(
        "Each prebuilt wheel holds kernels for some generations only; others fail with 'no kernel"
        " image is available'."
    ),
    source="PyTorch RELEASE.md, CUDA support matrix",
)
def pytorch(context: Context, case: Served) -> Iterator[Finding]:
    """Look the release and CUDA version up; a pair that is not listed is unknown."""
    release, cuda, capability = (
        case.named["pytorch"],
        cuda_version(case.named),
        case.card.compute_capability or "",
    )
    builds = torch_builds(release, cuda)
    if not builds:
        yield pytorch.unknown(
            case, f"software:pytorch {release}" + (f" CUDA {cuda}" if cuda else "")
        )
    elif not any(serves(build.archs, capability) for build in builds):
        other = next(
            (row for row in torch_builds(release, None) if serves(row.archs, capability)), None
        )
        yield pytorch.finding(
            case,
            needed=capability,
            actual=" ".join(builds[-1].archs),
            fixes=_other_build(context, case, release, other),
            release=release,
            cuda=cuda,
        )


def _other_build(
    context: Context, case: Served, release: str, other: TorchBuild | None
) -> tuple[Fix, ...]:
    if other is not None:
        return name_software(context, pytorch=release.split("+")[0], cuda=other.cuda)
    last = last_build(case.card.compute_capability or "")
    return name_software(context, pytorch=last[0], cuda=last[1].cuda) if last else ()


@rule(
    "SW003",
    "CUDA version does not serve the GPU",
    "error",
    over=with_cuda,
    needs=("card.compute_capability",),
    reason=(
        "Toolkits drop old generations (12 Kepler; 13 Maxwell, Pascal and Volta) and do not know"
        " newer ones; a GPU runs code built for a lower capability of the same major number."
    ),
    source="NVIDIA CUDA toolkit release notes",
)
def cuda(context: Context, case: Served) -> Iterator[Finding]:
    """Compare the compute capability with the toolkit's range."""
    named = cuda_version(case.named) or ""
    row, capability = cuda_release(named), case.card.compute_capability or ""
    if row is None:
        yield cuda.unknown(case, f"software:cuda {named}")
    elif not between(capability, row.lowest, row.highest):
        younger = version(capability)[:1] == version(row.highest)[:1] and version(
            capability
        ) > version(row.highest)
        rows = [
            other for other in software().cuda if between(capability, other.lowest, other.highest)
        ]
        newest = max(rows, key=lambda other: version(other.version), default=None)
        fixes = (
            name_software(context, cuda=newest.version)
            if newest and "pytorch" not in case.named
            else ()
        )
        yield cuda.finding(
            case,
            "warning" if younger else "error",
            needed=capability,
            actual=f"{row.lowest} - {row.highest}",
            fixes=fixes,
            cuda=named,
            variant="younger" if younger else "",
            highest=row.highest,
        )


def with_driver(context: Context) -> Iterator[Served]:
    """GPU models on rigs that name a driver and a CUDA version."""
    return with_cuda(context) if "driver" in context.rig.settings.software else iter(())


def is_data_centre(card: GPU) -> bool:
    """Say whether a card is a data-centre one: a module, or cooled by the server's air."""
    return (card.form_factor or "").startswith("sxm") or card.cooling == "passive"


@rule(
    "SW004",
    "Driver is older than the CUDA version needs",
    "error",
    over=with_driver,
    needs=("card.compute_capability",),
    reason=(
        "Programs built with a CUDA major version need at least its first driver branch: 450 for"
        " 11, 525 for 12, 580 for 13. Code that is compiled at run time (PTX, as Numba and CuPy"
        " make it) needs the branch of the toolkit itself. On data-centre cards the compatibility"
        " packages (cuda-compat, in NVIDIA's containers) bridge an older branch."
    ),
    source=(
        "NVIDIA CUDA compatibility guide (forward compatibility); NVIDIA/numba-cuda issue 192; vLLM"
        " pull request 7943"
    ),
)
def driver(context: Context, case: Served) -> Iterator[Finding]:
    """Compare driver versions. Where only code compiled at run time, and images that ask for the
    toolkit's own branch, are left out: a warning, or a remark for frameworks that are shipped
    compiled. A warning on data-centre cards, for which CUDA's compatibility packages replace the
    driver's user-space half."""
    named, row = case.named["driver"], cuda_release(cuda_version(case.named) or "")
    if row is None:
        yield driver.unknown(case, f"software:cuda {cuda_version(case.named)}")
        return
    toolkit = cuda_version(case.named) or ""
    runs = version(named) >= version(row.driver)
    whole = toolkit_driver(toolkit) or row.driver
    least = whole if runs else row.driver
    if version(named) < version(least):
        fixes = name_software(context, driver=whole)
        bridged = is_data_centre(case.card)
        wheels = any(name in case.named for name in WHEELS)
        severity: Severity = (
            "info" if runs and wheels else "warning" if runs or bridged else "error"
        )
        variant = ("ptx" if wheels else "toolkit") if runs else "bridged" if bridged else ""
        yield driver.finding(
            case, severity, needed=least, actual=named, fixes=fixes, variant=variant, cuda=toolkit
        )


@rule(
    "SW005",
    "Current PyTorch wheels no longer serve the GPU",
    "info",
    may_err=True,
    over=without_pytorch,
    needs=("card.compute_capability",),
    reason=(
        "Older generations stay usable with the last release that holds their kernels, or with a"
        " build from source."
    ),
    source="PyTorch RELEASE.md and issue 190385",
)
def last_release(context: Context, case: Served) -> Iterator[Finding]:
    """Name the last release; a warning once it is older than 2.6."""
    found = last_build(case.card.compute_capability or "")
    newest = software().newest_pytorch
    if found is None:
        severity: Severity = "error" if names_software(context) else "warning"
        yield last_release.finding(case, severity, needed=newest, actual=None)
    elif version(found[0]) < version(newest):
        old = version(found[0]) < (2, 6)
        yield last_release.finding(
            case, "warning" if old else "info", needed=newest, actual=found[0], cuda=found[1].cuda
        )


class Radeon(Named, frozen=True):
    """An AMD GPU model and the platform that the rig names; `wanted` where its software or jobs
    need AMD's own."""

    card: GPU
    platform: str
    release: str | None
    wanted: bool


def amd_models(context: Context) -> Iterator[Radeon]:
    """AMD GPU models."""
    named = context.rig.settings.software
    platform = "windows" if "windows" in named.get("os", "").casefold() else "linux"
    seen: set[str] = set()
    for card in context.that_work(context.cards):
        gpu = card.card
        if gpu.id not in seen and gpu.chip_maker == "AMD":
            seen.add(gpu.id)
            yield Radeon(card.name, gpu, platform, named.get("rocm"), names_software(context))


def names_software(context: Context) -> bool:
    """Say whether the rig has a job, or names software other than drivers and firmware: much else
    runs through Vulkan."""
    return bool(context.jobs) or bool(
        set(context.rig.settings.software) - {"driver", "kernel", "bios", "iommu"}
    )


@rule(
    "SW009",
    "AMD does not support the GPU on this platform",
    "error",
    over=amd_models,
    needs=("card.compute_capability",),
    reason=(
        "ROCm and the HIP SDK support a list of GPU targets, which differs between Linux and"
        " Windows and shrinks with releases."
    ),
    source="AMD ROCm documentation, system requirements",
)
def rocm(context: Context, case: Radeon) -> Iterator[Finding]:
    """Look target, platform and release up; a target that is not listed is unknown. An error only
    where software or jobs name what runs on ROCm; a remark else where an older release or another
    target's name makes the card run."""
    rows = [
        row
        for row in software().rocm
        if row.target == case.card.compute_capability and row.platform == case.platform
    ]
    if not rows:
        yield rocm.unknown(case, f"software:rocm {case.platform} {case.card.compute_capability}")
        return
    row = rows[0]
    fits = row.supported and (
        within(case.release, row.since, row.until) if case.release else row.until is None
    )
    if not fits:
        runs = bool(row.stand_in) or (row.supported and case.release is None)
        severity: Severity = (
            ("warning" if runs else "error") if case.wanted else ("info" if runs else "warning")
        )
        yield rocm.finding(
            case,
            severity,
            needed=row.stand_in or row.until or row.since,
            actual=case.release,
            platform=case.platform,
            target=row.target,
            variant=(
                "stand-in"
                if row.stand_in
                else "never"
                if not row.supported
                else "last"
                if row.until
                else "first"
            ),
        )


class Image(Named, frozen=True):
    """A container image that the rig names, and a GPU model."""

    card: GPU
    key: str
    release: str

    @property
    def image(self) -> str:
        return f"{REGISTRY}/{self.key.removeprefix('ngc-')}"


def images(context: Context) -> Iterator[Image]:
    """GPU models on rigs that name an NGC image."""
    named = context.rig.settings.software
    for key in IMAGES:
        if named.get(key):
            for case in models(context):
                yield Image(case.name, case.card, key, named[key])


@rule(
    "SW010",
    "Container image does not serve the GPU",
    "error",
    over=images,
    needs=("card.compute_capability",),
    reason=(
        "NVIDIA's images hold kernels for the generations of their day: 25.01 brought Blackwell and"
        " left Pascal and Volta. Singularity runs the same images since 19.11 (singularity pull"
        " docker://nvcr.io/nvidia/pytorch:24.12-py3)."
    ),
    source=(
        "NVIDIA PyTorch and TensorFlow container release notes; architecture lists of the images"
    ),
)
def container(context: Context, case: Image) -> Iterator[Finding]:
    """Look the image up; one that is not listed is unknown."""
    row = image_release(case.image, case.release)
    if row is None:
        yield container.unknown(case, f"software:{case.key} {case.release}")
    elif not between(case.card.compute_capability or "", row.lowest, row.highest):
        last = last_image(case.image, case.card.compute_capability or "")
        yield container.finding(
            case,
            needed=case.card.compute_capability,
            actual=f"{row.lowest} - {row.highest or ''}",
            fixes=name_software(context, **{case.key: last}) if last else (),
            release=f"{case.image}:{case.release}",
        )
