"""Windows: software that has no build with GPU support for it, and jobs that stand on such software."""

from collections.abc import Iterator

from msgspec import Struct

from rigplanner.rig.edits import Edit
from rigplanner.rules.finding import Finding
from rigplanner.rules.fixes import fix
from rigplanner.rules.registry import rule
from rigplanner.rules.situation import JobFacts, Situation
from rigplanner.rules.software import is_nvidia
from rigplanner.rules.software_tables import software, version


class Unported(Struct, frozen=True):
    """Software under Windows: `what` as in the table, its version where the rig names one, and the job or card that asks for it."""

    name: str
    what: str
    release: str | None

    @property
    def subjects(self) -> tuple[str, ...]:
        return (self.name,)


def on_windows(situation: Situation) -> Iterator[Unported]:
    """Packages that the rig names, and what its jobs stand on, where it runs native Windows."""
    named = situation.rig.settings.software
    system = named.get("os", "").casefold()
    if "windows" not in system or "wsl" in system:
        return
    cards = [card.name for card in situation.cards if is_nvidia(card.card)]
    for package in ("tensorflow", "jax"):
        if package in named and cards:
            yield Unported(cards[0], package, named[package])
    for job in situation.jobs:
        yield from (Unported(job.name, what, None) for what in _standing_on(job, len(cards)))


def _standing_on(job: JobFacts, cards: int) -> Iterator[str]:
    work = job.workload
    stack = work.stack or ""
    if cards > 1 and "train" in (work.task or "") and not any(word in stack for word in ("tensorflow", "tf-", "jax", "mxnet")):
        yield "nccl"
    if "compile" in work.flags or "compile" in stack:
        yield "triton"


@rule(
    "SW019", "Software has no build with GPU support for Windows", "error", over=on_windows,
    reason="TensorFlow left native Windows after 2.10, JAX never served GPUs there, PyTorch comes without NCCL, and Triton has no "
    "official wheel: WSL 2 or Linux run them.",
    source="TensorFlow and JAX installation guides; pytorch/pytorch issue 159742; triton-lang/triton, installation",
)  # fmt: skip
def windows(situation: Situation, case: Unported) -> Iterator[Finding]:
    """Look the software up; a warning where another way remains (gloo for NCCL, builds by others for Triton)."""
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
            fixes=(fix(situation, "other-version", edit, versions={"os": "Linux"}),),
            variant=case.what if case.what != "tensorflow" else "",
        )
