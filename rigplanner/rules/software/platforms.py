"""Windows and Arm: software that has no build with GPU support for them, and jobs that stand on
such software."""

from collections.abc import Iterator

from rigplanner.rig.edits import Edit
from rigplanner.rig.workload import Workload
from rigplanner.rules.core.context import Context
from rigplanner.rules.core.finding import Finding, Named
from rigplanner.rules.core.fixes import fix
from rigplanner.rules.core.registry import rule
from rigplanner.rules.software.software import is_nvidia, name_software
from rigplanner.rules.software.tables import ArmRow, software, version, within


class Unported(Named, frozen=True):
    """Software under Windows: `what` as in the table, its version where the rig names one, and the
    job or card that asks for it."""

    what: str
    release: str | None


def on_windows(context: Context) -> Iterator[Unported]:
    """Packages that the rig names, and what its jobs stand on, where it runs native Windows."""
    named = context.rig.settings.software
    system = named.get("os", "").casefold()
    if "windows" not in system or "wsl" in system:
        return
    cards = [card.name for card in context.that_work(context.cards) if is_nvidia(card.card)]
    for package in ("tensorflow", "jax", "vllm"):
        if package in named and cards:
            yield Unported(cards[0], package, named[package])
    for job in context.jobs:
        yield from (
            Unported(job.name, what, None) for what in _standing_on(job.workload, len(cards))
        )


def without_windows(work: Workload, cards: int) -> Iterator[str]:
    """Yield the software of the table that a job on so many GPUs stands on and that native Windows
    lacks."""
    stack = work.stack or ""
    for package, words in (
        ("vllm", ("vllm",)),
        ("tensorflow", ("tensorflow", "tf-")),
        ("jax", ("jax",)),
    ):
        if any(word in stack for word in words):
            yield package
    yield from _standing_on(work, cards)


def _standing_on(work: Workload, cards: int) -> Iterator[str]:
    stack = work.stack or ""
    if (
        cards > 1
        and "train" in (work.task or "")
        and not any(word in stack for word in ("tensorflow", "tf-", "jax", "mxnet"))
    ):
        yield "nccl"
    if "compile" in work.flags or "compile" in stack:
        yield "triton"


@rule(
    "SW019",
    "Software has no build with GPU support for Windows",
    "error",
    over=on_windows,
    reason=(
        "TensorFlow left native Windows after 2.10, JAX never served GPUs there, PyTorch comes"
        " without NCCL, Triton has no official wheel and vLLM none at all: WSL 2 or Linux run them."
    ),
    source=(
        "TensorFlow, JAX and vLLM installation guides; pytorch/pytorch issue 159742;"
        " triton-lang/triton, installation"
    ),
)
def windows(context: Context, case: Unported) -> Iterator[Finding]:
    """Look the software up; a warning where another way remains (gloo for NCCL, builds by others
    for Triton)."""
    row = next(row for row in software().windows if row.what == case.what)
    if case.release is not None and not version(case.release):
        yield windows.unknown(case, f"software:{case.what} {case.release}")
    elif case.release is None or version(case.release) >= version(row.since):
        edit = Edit("set_software", {"versions": {"os": "Linux"}})
        yield windows.finding(
            case,
            row.verdict,
            needed=row.since if case.release else None,
            actual=case.release,
            fixes=(fix(context, "other-version", edit, versions={"os": "Linux"}),),
            variant=case.what if case.what != "tensorflow" else "",
        )


class OnArm(Named, frozen=True):
    """Software on a machine whose CPU is an Arm: the rows of its kind of machine, and the release
    where the rig names one."""

    package: str
    release: str | None
    rows: tuple[ArmRow, ...]


JETSONS = ("5.3", "6.2", "7.2", "8.7")
"""Compute capabilities of Jetsons on JetPack's own libraries; Thor (11.0) runs those of Arm servers
(JetPack 7)."""


def on_arm(context: Context) -> Iterator[OnArm]:
    """Packages that the rig names, and vLLM where a job runs on it, beside NVIDIA GPUs on an Arm
    CPU."""
    cards = [case for case in context.that_work(context.cards) if is_nvidia(case.card)]
    module = next((case.name for case in cards if case.card.compute_capability in JETSONS), None)
    host = module or next((name for name, cpu in context.cpus if "neon" in (cpu.isa or ())), None)
    if host is None or not cards:
        return
    machine = "jetson" if module else "server"
    named: dict[str, str | None] = dict(context.rig.settings.software)
    if any("vllm" in (job.workload.stack or "") for job in context.jobs):
        named.setdefault("vllm", None)
    for package, release in named.items():
        rows = tuple(
            row for row in software().arm if row.package == package and row.machine == machine
        )
        if rows:
            yield OnArm(host, package, release, rows)


PACKAGE_NAMES = {"pytorch": "PyTorch", "tensorflow": "TensorFlow", "vllm": "vLLM"}


@rule(
    "SW023",
    "Package for Arm does not serve the GPU",
    "error",
    over=on_arm,
    reason=(
        "Packages for Arm CPUs came later than those for x86 and often serve the CPU alone:"
        " PyTorch's on PyPI does, its own index has another. Jetsons run JetPack's libraries, for"
        " which only NVIDIA's and a few other builds are made."
    ),
    source=(
        "pytorch/pytorch issues 134790, 160162 and 168065; bitsandbytes issue 1930; vLLM pull"
        " request 19328"
    ),
)
def arm(context: Context, case: OnArm) -> Iterator[Finding]:
    """Look the release up; without one only what holds for all releases counts."""
    if case.release is not None and not version(case.release):
        yield arm.unknown(case, f"software:{case.package} {case.release}")
        return
    held = [
        row
        for row in case.rows
        if (within(case.release, row.since, row.until) if case.release else row.until is None)
    ]
    for row in held[:1]:
        later = (
            next((other for other in case.rows if other.verdict == "info"), None)
            if row.verdict == "error"
            else None
        )
        variant = (
            "jetson"
            if row.machine == "jetson"
            else "index"
            if row.verdict == "info"
            else "first"
            if later
            else ""
        )
        yield arm.finding(
            case,
            row.verdict,
            needed=later.since if later else None,
            actual=case.release,
            fixes=(
                name_software(context, **{case.package: later.until or later.since})
                if later
                else ()
            ),
            variant=variant,
            what=PACKAGE_NAMES.get(case.package, case.package),
        )
