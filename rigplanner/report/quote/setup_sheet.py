"""The set-up sheet: which part goes where, what to set in the firmware, power limits, software that
serves the GPUs."""

from collections.abc import Iterator

from msgspec import Struct

from rigplanner.catalog.schema.parts import CPU, GPU, Layout, MemoryKit, Motherboard, System
from rigplanner.machine.displays import taken_of
from rigplanner.memory.usable_memory import on_module
from rigplanner.report import format as fmt
from rigplanner.report.language import listed, tr
from rigplanner.report.quote.machine import places_text
from rigplanner.rules.assess import Assessment
from rigplanner.rules.core.finding import Finding
from rigplanner.rules.software.platforms import without_windows
from rigplanner.rules.software.tables import (
    between,
    cuda_release,
    image_rows,
    last_build,
    serves,
    software,
    version,
)

OWN_SOFTWARE = {
    "linux": "Linux",
    "pytorch": "PyTorch",
    "cuda": "CUDA",
    "driver": "Driver",
    "tensorflow": "TensorFlow",
    "jax": "JAX",
}
UNPORTED = {
    "jax": "JAX",
    "nccl": "NCCL",
    "tensorflow": "TensorFlow",
    "triton": "Triton",
    "vllm": "vLLM",
}
FIRST_RESIZABLE_BAR = "8.6"
"""GeForce RTX 30 and later offer a resizable BAR (NVIDIA, 12 Jan 2021;
techpowerup.com/news-tags/RTX+30-series)."""
MANY_GPUS = 4
"""GPUs from which the address space below 4 GB runs out (as rule PCI006)."""


class SetupRow(Struct, frozen=True, kw_only=True):
    """One step: `area` is placement, firmware, power or software; `what` is set to `value`; `why`
    in few words."""

    area: str
    what: str
    value: str
    why: str = ""


def setup_rows(assessment: Assessment) -> list[SetupRow]:
    """Return the steps in the order in which they are made."""
    return [
        *_placement(assessment),
        *_firmware(assessment),
        *_limits(assessment),
        *_monitors(assessment),
        *_software(assessment),
    ]


def _placement(assessment: Assessment) -> Iterator[SetupRow]:
    machine = assessment.machine
    names = {piece.name: piece.part.name for piece in machine.pieces}
    places: dict[str, list[str]] = {}
    put = [(use.piece, use.slot.id) for use in machine.slots if use.piece]
    put += [(piece, use.port.id) for use in machine.drives for piece in use.pieces]
    for piece, place in put:
        if "/" not in piece:
            places.setdefault(names.get(piece, piece), []).append(place)
    for name, found in places.items():
        many = f"{len(found)} × " if len(found) > 1 else ""
        yield SetupRow(
            area="placement", what=many + name, value=places_text(list(dict.fromkeys(found)))
        )
    board = _layout(assessment)
    kits = [
        piece.part
        for piece in machine.pieces
        if isinstance(piece.part, MemoryKit) and "/" not in piece.name
    ]
    if kits and board is not None and board.memory_slots:
        modules = sum(kit.modules for kit in kits)
        channels = (
            tr(", spread over {memory_channels} channels", memory_channels=wired)
            if (wired := _channels(assessment, board))
            else ""
        )
        yield SetupRow(
            area="placement",
            what=tr("Memory modules"),
            value=tr(
                "{modules} in {memory_slots} slots{channels}",
                modules=modules,
                memory_slots=board.memory_slots,
                channels=channels,
            ),
        )


def _channels(assessment: Assessment, board: Layout) -> int | None:
    """The memory channels that CPUs and board have together, per socket times sockets in use."""
    cpus = [
        piece.part.memory.channels
        for piece in assessment.machine.pieces
        if isinstance(piece.part, CPU) and piece.part.memory and piece.part.memory.channels
    ]
    if not cpus or not board.memory_channels:
        return board.memory_channels
    return min(board.memory_channels, *cpus) * len(cpus)


def _layout(assessment: Assessment) -> Layout | None:
    for piece in assessment.machine.pieces:
        if isinstance(piece.part, Motherboard | System) and piece.part.layout is not None:
            return piece.part.layout
    return None


def _firmware(assessment: Assessment) -> Iterator[SetupRow]:
    bios = assessment.rig.settings.bios
    for place, choice in bios.items():
        yield SetupRow(
            area="firmware",
            what=tr("Setting for {place}", place=place),
            value=choice,
            why=tr("chosen for this rig"),
        )
    for finding in assessment.report.findings:
        yield from _firmware_of(finding, bool(bios))
    layout, gpus = _layout(assessment), [gpu.gpu for gpu in assessment.machine.gpus]
    cards = [gpu for gpu in gpus if gpu.form_factor == "pcie"]
    if layout is None or not cards:
        return
    if len(cards) >= MANY_GPUS or any(gpu.cooling == "passive" for gpu in cards):
        known = "" if layout.above_4g else tr("whether the board offers it is not known")
        if layout.above_4g is not False:
            yield SetupRow(
                area="firmware",
                what=tr("Above 4G decoding"),
                value=tr("on"),
                why=known or tr("the cards map more than 4 GB"),
            )
    if layout.resizable_bar and any(_takes_resizable_bar(gpu) for gpu in cards):
        yield SetupRow(
            area="firmware",
            what=tr("Resizable BAR"),
            value=tr("on, with CSM off"),
            why=tr("card and board offer it"),
        )


def _firmware_of(finding: Finding, stated: bool) -> Iterator[SetupRow]:
    if finding.code == "PCI005" and finding.severity_of_text == "info":
        place = str(finding.values.get("place", ""))
        yield SetupRow(
            area="firmware",
            what=tr("Split of slot {place}", place=place),
            value=str(finding.needed),
            why=tr("the adapter splits the slot"),
        )
    elif finding.code == "PCI009" and not stated:
        places = ", ".join(map(str, finding.values.get("places", ())))
        default = (
            tr("as shipped: {actual}", actual=finding.actual)
            if finding.actual
            else tr("which one is shipped is not known")
        )
        yield SetupRow(
            area="firmware",
            what=tr("Lanes of {places}", places=places),
            value=tr("choose {needed}", needed=finding.needed),
            why=default,
        )
    elif finding.code == "CPU007":
        yield SetupRow(
            area="firmware",
            what=tr("BIOS version"),
            value=tr("{needed} or later", needed=finding.needed)
            if finding.needed
            else tr("one that knows the CPU"),
            why=tr("first one that knows the CPU")
            if finding.needed
            else tr("the CPU is younger than the board"),
        )


def _takes_resizable_bar(gpu: GPU) -> bool:
    if gpu.chip_maker == "Intel":
        return True
    return (
        gpu.compute_capability is not None
        and _is_cuda(gpu)
        and version(gpu.compute_capability) >= version(FIRST_RESIZABLE_BAR)
    )


def _is_cuda(gpu: GPU) -> bool:
    return bool(gpu.compute_capability) and str(gpu.compute_capability)[0].isdigit()


def _limits(assessment: Assessment) -> Iterator[SetupRow]:
    caps: dict[float, list[int]] = {}
    makers = {gpu.index: gpu.gpu.chip_maker for gpu in assessment.machine.gpus}
    for gpu in assessment.machine.gpus:
        if gpu.power_cap_w:
            caps.setdefault(gpu.power_cap_w, []).append(gpu.index)
    for watts, indexes in caps.items():
        shown = ",".join(map(str, indexes))
        nvidia = all(makers[index] == "NVIDIA" for index in indexes)
        why = (
            tr(
                "nvidia-smi -i {shown} -pl {watts}, again after each start",
                shown=shown,
                watts=f"{watts:g}",
            )
            if nvidia
            else ""
        )
        yield SetupRow(
            area="power",
            what=tr("Limit of GPU {gpus}", gpus=shown.replace(",", ", ")),
            value=fmt.quantity(watts, "W"),
            why=why,
        )


def _monitors(assessment: Assessment) -> Iterator[SetupRow]:
    """Where the monitors are plugged in, and what they take there."""
    monitors, machine = assessment.rig.site.monitors, assessment.machine
    if monitors is None:
        return
    taken = [node for node in (*machine.displays, *machine.gpus) if taken_of(node.gpu)]
    for node in taken[:1]:
        yield SetupRow(
            area="firmware",
            what=tr("Monitors"),
            value=tr("on {card} in {place}", card=node.gpu.name, place=node.place or "?"),
            why=tr("they take {gib} of its memory", gib=fmt.quantity(taken_of(node.gpu), "GiB")),
        )
    if not taken:
        yield SetupRow(
            area="firmware",
            what=tr("Monitors"),
            value=tr("on the board's own outputs"),
            why=tr("all cards are for jobs"),
        )


def _software(assessment: Assessment) -> Iterator[SetupRow]:
    named = assessment.rig.settings.software
    for key, value in named.items():
        yield SetupRow(
            area="software",
            what=tr(OWN_SOFTWARE.get(key, key)),
            value=value,
            why=tr("chosen for this rig"),
        )
    gpus = [gpu.gpu for gpu in assessment.machine.gpus]
    if (
        gpus
        and assessment.rig.workloads
        and "os" not in named
        and all(map(_is_cuda, gpus))
        and not any(map(on_module, gpus))
    ):
        yield _system_row(assessment, len(gpus))
    yield from software_for(gpus, named)


def _system_row(assessment: Assessment, count: int) -> SetupRow:
    """Linux or Windows: what of the chosen work native Windows lacks."""
    lacking = {what for work in assessment.rig.workloads for what in without_windows(work, count)}
    barred = sorted(row.what for row in software().windows if row.what in lacking)
    if not barred:
        value = tr("Linux or Windows")
        why = tr("no work here needs Linux; containers need it, or WSL 2")
    else:
        value = tr("Linux, or WSL 2 on Windows")
        why = tr(
            "native Windows has no {software}",
            software=listed(UNPORTED[what] for what in barred),
        )
    return SetupRow(area="software", what=tr("Operating system"), value=value, why=why)


def software_for(gpus: list[GPU], named: dict[str, str]) -> Iterator[SetupRow]:
    """Yield driver, frameworks, toolkits and container images that serve all these GPUs, but for
    what is `named` already."""
    if not gpus:
        return
    if any(map(on_module, gpus)):
        yield SetupRow(
            area="software",
            what=tr("Driver, CUDA, frameworks"),
            value=tr("those of the board's system image"),
            why=tr("packages for desktops and servers do not serve it"),
        )
        return
    capabilities = sorted(
        {gpu.compute_capability for gpu in gpus if gpu.compute_capability}, key=version
    )
    if len(capabilities) == 0 or any(gpu.compute_capability is None for gpu in gpus):
        yield SetupRow(
            area="software",
            what=tr("Driver and frameworks"),
            value=tr(fmt.UNKNOWN),
            why=tr("compute capability not known"),
        )
    elif all(_is_cuda(gpu) for gpu in gpus):
        yield from _cuda_rows(capabilities, named)
    else:
        yield from _rocm_rows(capabilities)


def _cuda_rows(capabilities: list[str], named: dict[str, str]) -> Iterator[SetupRow]:
    """Return the newest prebuilt PyTorch that serves all GPUs, its driver, the span of CUDA
    toolkits, and container images."""
    serving = [
        (row.until or software().newest_pytorch, row)
        for row in software().pytorch
        if all(serves(row.archs, capability) for capability in capabilities)
    ]
    best = max(serving, key=lambda pair: (version(pair[0]), version(pair[1].cuda)), default=None)
    every = ", ".join(capabilities)
    if best is None:
        yield _without_wheel(capabilities[0])
    elif "pytorch" not in named:
        newest = best[0] == software().newest_pytorch
        yield SetupRow(
            area="software",
            what="PyTorch",
            value=f"{best[0]}, CUDA {best[1].cuda}" + ("" if newest else tr(" (last)")),
            why=tr("newest wheel for capability {capabilities}", capabilities=every),
        )
    release = cuda_release(best[1].cuda) if best else None
    if release is not None and best is not None and "driver" not in named:
        yield SetupRow(
            area="software",
            what=tr("NVIDIA driver"),
            value=tr("{driver} or later", driver=release.driver),
            why=tr("for CUDA {cuda}", cuda=best[1].cuda),
        )
    if "cuda" not in named:
        yield from _toolkit_rows(capabilities)
    yield from _image_rows(capabilities)


def _without_wheel(oldest: str) -> SetupRow:
    """No prebuilt PyTorch serves all GPUs: what the oldest was served by last."""
    last = last_build(oldest)
    word = (
        tr("the oldest GPU is served up to {version}", version=last[0])
        if last
        else tr("no prebuilt release supports the oldest GPU")
    )
    return SetupRow(area="software", what="PyTorch", value=tr("none supports all GPUs"), why=word)


def _toolkit_rows(capabilities: list[str]) -> Iterator[SetupRow]:
    """The span of CUDA toolkits that serve all GPUs, where any does."""
    toolkits = [
        row.version
        for row in software().cuda
        if all(between(each, row.lowest, row.highest) for each in capabilities)
    ]
    if not toolkits:
        return
    low, high, every = toolkits[0], toolkits[-1], ", ".join(capabilities)
    yield SetupRow(
        area="software",
        what="CUDA toolkit",
        value=tr("{low} to {high}", low=low, high=high) if len(toolkits) > 1 else low,
        why=tr("listed ones that serve {capabilities}", capabilities=every),
    )


def _image_rows(capabilities: list[str]) -> Iterator[SetupRow]:
    """Name the releases of each container image that serve all GPUs. A row without a newest
    capability is older than the cards that came later: it is not offered."""
    for image, newest in software().newest_images.items():
        rows = [
            r
            for r in image_rows(image)
            if r.highest and all(between(c, r.lowest, r.highest) for c in capabilities)
        ]
        if rows:
            last = rows[-1].until or newest
            name = image.rpartition("/")[2]
            yield SetupRow(
                area="software",
                what=tr("{framework} container", framework=FRAMEWORK[name]),
                value=f"{image}:{last}-{IMAGE_TAIL[name]}",
                why=tr(
                    "releases {since} to {last} serve it; for Singularity put docker:// before it",
                    since=rows[0].since,
                    last=last,
                ),
            )


def image_for(gpus: list[GPU], framework: str = "PyTorch") -> str | None:
    """Return the newest container image of a framework that serves all these GPUs, with its tag;
    None where none is known."""
    capabilities = [gpu.compute_capability for gpu in gpus if gpu.compute_capability]
    if not gpus or len(capabilities) < len(gpus) or not all(map(_is_cuda, gpus)):
        return None
    what = tr("{framework} container", framework=framework)
    rows = _image_rows(sorted(set(capabilities), key=version))
    return next((row.value for row in rows if row.what == what), None)


IMAGE_TAIL = {"pytorch": "py3", "tensorflow": "tf2-py3"}
"""What follows the release in an image's tag."""
FRAMEWORK = {"pytorch": "PyTorch", "tensorflow": "TensorFlow"}


def _rocm_rows(targets: list[str]) -> Iterator[SetupRow]:
    for target in targets:
        row = next(
            (
                row
                for row in software().rocm
                if row.platform == "linux" and row.target == target and row.supported
            ),
            None,
        )
        if row is None:
            value = tr(fmt.UNKNOWN)
        elif row.until:
            value = tr("{since} to {until}, on Linux", since=row.since, until=row.until)
        else:
            value = tr("{since} or later, on Linux", since=row.since)
        yield SetupRow(
            area="software",
            what=tr("ROCm for {target}", target=target),
            value=value,
            why="" if row else tr("no listed release"),
        )
