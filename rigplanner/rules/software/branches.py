"""Driver branches and PyTorch wheels: whether one serves each GPU of the rig, and all of them
together."""

from collections.abc import Iterator

from msgspec import Struct

from rigplanner.catalog.schema.parts import GPU
from rigplanner.rules.core.context import Context
from rigplanner.rules.core.finding import Finding, Fix
from rigplanner.rules.core.registry import rule
from rigplanner.rules.software.software import Served, driven_models, models, name_software
from rigplanner.rules.software.tables import (
    DriverRange,
    driver_range,
    only_modules,
    serves,
    software,
    version,
)


class Mixture(Struct, frozen=True):
    """The GPU models of a rig that have more than one compute capability; `capability` is None
    where one's is not known."""

    served: tuple[Served, ...]
    capability: str | None

    @property
    def subjects(self) -> tuple[str, ...]:
        return tuple(case.name for case in self.served)

    @property
    def cards(self) -> tuple[GPU, ...]:
        return tuple(case.card for case in self.served)


def mixtures(context: Context) -> Iterator[Mixture]:
    """The GPU models together, those of the monitors too, where they differ in compute
    capability."""
    return _differing(tuple(driven_models(context)) if len(context.cards) > 1 else ())


def _differing(found: tuple[Served, ...]) -> Iterator[Mixture]:
    known = [case.card.compute_capability for case in found if case.card.compute_capability]
    if len(set(known)) + (len(known) < len(found)) > 1:
        yield Mixture(found, min(known) if len(known) == len(found) else None)


def open_driver(context: Context) -> Iterator[Mixture]:
    """Mixed GPU models on rigs that name no driver, or none with the flavour of its kernel
    modules."""
    return (
        iter(()) if _flavour(context.rig.settings.software.get("driver", "")) else mixtures(context)
    )


def unnamed_pytorch(context: Context) -> Iterator[Mixture]:
    """Mixed GPU models for jobs on rigs that name no PyTorch version."""
    named = "pytorch" in context.rig.settings.software
    return iter(()) if named else _differing(tuple(models(context)))


def with_driver(context: Context) -> Iterator[Served]:
    """GPU models on rigs that name a driver."""
    return driven_models(context) if "driver" in context.rig.settings.software else iter(())


@rule(
    "SW014",
    "Driver does not serve the GPU",
    "error",
    over=with_driver,
    needs=("card.compute_capability",),
    reason=(
        "A driver ignores GPUs that came after it, and those whose generation it has dropped: 470"
        " is the last for Kepler, 580 for Maxwell, Pascal and Volta. The open kernel modules of"
        " Linux begin with Turing, and Blackwell runs with no others: name the flavour behind the"
        " release, as in 580-open."
    ),
    source=(
        "NixOS/nixos-hardware issue 1880; NixOS/nixpkgs pull request 142565; NVIDIA driver"
        " installation guide, Kernel Modules"
    ),
)
def driver_branch(context: Context, case: Served) -> Iterator[Finding]:
    """Compare the branch with the first and the last that serve the generation, then the flavour of
    the kernel modules."""
    named, row = case.named["driver"], driver_range(case.card.compute_capability or "")
    if row is None:
        yield driver_branch.unknown(case, f"{case.card.id}:compute_capability")
        return
    old = version(named)[:1] < version(row.first)[:1]
    if old or (row.last is not None and version(named)[:1] > version(row.last)[:1]):
        needed = row.first if old else row.last or row.first
        yield driver_branch.finding(
            case,
            needed=needed,
            actual=named,
            fixes=name_software(context, driver=needed),
            variant="old" if old else "new",
        )
        return
    flavour, only = _flavour(named), only_modules(case.card.compute_capability or "")
    if flavour and only and flavour != only:
        other = "-".join((".".join(map(str, version(named))), only))
        yield driver_branch.finding(
            case,
            needed=other,
            actual=named,
            fixes=name_software(context, driver=other),
            variant=flavour,
        )


def _flavour(driver: str) -> str | None:
    """Return the flavour of kernel modules that a driver's name holds ("580-open",
    "580.95-proprietary"), None where none."""
    return next((word for word in ("open", "proprietary") if word in driver.casefold()), None)


@rule(
    "SW015",
    "No driver supports all the GPUs",
    "error",
    over=open_driver,
    needs=("capability",),
    reason=(
        "One computer loads one driver: it must be young enough for the newest card and old enough"
        " for the oldest; and of its two kinds of kernel modules for Linux, Blackwell takes the"
        " open ones only, cards before Turing the proprietary ones only."
    ),
    source=(
        "NixOS/nixos-hardware issue 1880; NixOS/nixpkgs pull request 142565; NVIDIA driver"
        " installation guide, Kernel Modules"
    ),
)
def one_driver(context: Context, case: Mixture) -> Iterator[Finding]:
    """Compare the newest first branch with the oldest last one, then the flavours of kernel modules
    that serve one alone."""
    rows = [(served, driver_range(served.card.compute_capability or "")) for served in case.served]
    known: list[tuple[Served, DriverRange]] = [
        (served, row) for served, row in rows if row is not None
    ]
    ended = [(served, row) for served, row in known if row.last is not None]
    if not ended:
        return
    young, first = max(known, key=lambda pair: version(pair[1].first))
    old, last = min(ended, key=lambda pair: version(pair[1].last or ""))
    unnamed = "driver" not in context.rig.settings.software
    if unnamed and version(first.first) > version(last.last or ""):
        yield one_driver.finding(
            case, needed=first.first, actual=last.last, subjects=(young.name, old.name)
        )
        return
    system = context.rig.settings.software.get("os", "").casefold()
    alone = {only_modules(served.card.compute_capability or ""): served.name for served, _ in known}
    if "open" in alone and "proprietary" in alone and "windows" not in system:
        yield one_driver.finding(
            case,
            None if system else "warning",
            subjects=(alone["open"], alone["proprietary"]),
            variant="modules",
        )


@rule(
    "SW016",
    "No PyTorch wheel supports all the GPUs",
    "warning",
    over=unnamed_pytorch,
    needs=("capability",),
    reason=(
        "Each prebuilt wheel holds kernels for some generations only; one program cannot load two."
    ),
    source="PyTorch RELEASE.md, CUDA support matrix",
)
def one_wheel(context: Context, case: Mixture) -> Iterator[Finding]:
    """Look for a listed wheel with kernels for all; a remark where only old ones have them."""
    capabilities = {card.compute_capability or "" for card in case.cards}
    builds = [
        row
        for row in software().pytorch
        if all(serves(row.archs, capability) for capability in capabilities)
    ]
    young, old = (
        pick(case.served, key=lambda served: version(served.card.compute_capability or ""))
        for pick in (max, min)
    )
    if not builds:
        yield one_wheel.finding(
            case,
            needed=young.card.compute_capability,
            actual=old.card.compute_capability,
            subjects=(young.name, old.name),
        )
        return
    newest = max((row.until or software().newest_pytorch for row in builds), key=version)
    if version(newest) < version(software().newest_pytorch):
        best = next(row for row in builds if (row.until or software().newest_pytorch) == newest)
        fixes: tuple[Fix, ...] = name_software(context, pytorch=newest, cuda=best.cuda)
        yield one_wheel.finding(
            case,
            "info",
            needed=software().newest_pytorch,
            actual=newest,
            fixes=fixes,
            subjects=(young.name, old.name),
            variant="last",
            cuda=best.cuda,
        )
