"""Cloud machines with accelerators: what a rig is compared with."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Literal

from msgspec import Struct

from rigplanner.catalog.find.likeness import likest
from rigplanner.catalog.load import CatalogFault
from rigplanner.catalog.schema.parts import Doubt, Price, Status
from rigplanner.data import data_path
from rigplanner.decoding import JsonFault, read_json
from rigplanner.evidence import Source

Linkage = Literal["none", "pcie", "nvlink-bridge", "nvlink-mesh", "nvswitch", "xgmi", "unknown"]


class HireLimits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a provider allows: whether nothing is paid, the longest session and the idle time after
    which it ends, the hours of a week; None is unknown or unlimited."""

    free: bool = False
    session_h: float | None = None
    idle_min: float | None = None
    week_h: float | None = None
    note: str = ""


class CloudInstance(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """A machine for hire: `count` GPUs as the driver counts them (a K80 board is two), of catalog
    part `gpu`, joined by `link`.

    Prices are per hour of the whole machine, `spot` where the provider may take it back, `monthly`
    a month; None or empty is unknown, also for a `gpu` that is made for one provider and no catalog
    part. `sources` maps a source key to the fields it settled."""

    id: str
    provider: str
    name: str
    gpu_name: str
    gpu: str | None = None
    count: int
    link: Linkage = "unknown"
    vcpus: int | None = None
    ram_gib: float | None = None
    on_demand: tuple[Price, ...] = ()
    spot: tuple[Price, ...] = ()
    monthly: tuple[Price, ...] = ()
    limits: HireLimits | None = None
    status: Status = "current"
    sources: dict[str, tuple[str, ...]] = {}
    doubts: dict[str, Doubt] = {}
    notes: str = ""


class CloudOffer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One file: the machines of a provider and where their figures come from. `unlisted`: providers
    of whom no machine can be listed, each with the reason."""

    family: str
    sources: dict[str, Source]
    instances: tuple[CloudInstance, ...]
    unlisted: dict[str, str] = {}


class Cloud(Struct, frozen=True):
    """All machines by id, all sources by key."""

    instances: dict[str, CloudInstance]
    sources: dict[str, Source]
    unlisted: dict[str, str] = {}

    def unlisted_reasons(self, words: Iterable[str]) -> list[str]:
        """Return of the providers that the words name why no machine of theirs is listed."""
        wanted = "".join(words).casefold()
        return [
            f"{name}: {reason}"
            for name, reason in self.unlisted.items()
            if wanted and wanted in name.casefold().replace(" ", "")
        ]

    def found(self, words: Iterable[str]) -> list[CloudInstance]:
        """Return the machines whose provider, name, GPU and terms ("free", "spot", "monthly") hold
        all words, in their order."""
        wanted = [word.casefold() for word in words]
        return [
            machine
            for machine in self.instances.values()
            if all(word in said_of(machine) for word in wanted)
        ]

    def nearest(self, words: str, most: int = 3) -> list[str]:
        """Return the names of machines that are written most like these words."""
        return likest(words, ((each.name, each.name) for each in self.instances.values()), most)

    def named(self, words: str) -> CloudInstance | None:
        """Return the machine of this id or name, whatever the case of its letters."""
        key = words.casefold()
        return next(
            (
                machine
                for machine in self.instances.values()
                if key in (machine.id, machine.name.casefold())
            ),
            None,
        )


def said_of(machine: CloudInstance) -> str:
    """Return all words that find a machine, in small letters."""
    terms = [
        *(["free"] if machine.limits is not None and machine.limits.free else []),
        *(["spot"] if machine.spot else []),
        *(["monthly"] if machine.monthly else []),
    ]
    named = (machine.id, machine.provider, machine.name, machine.gpu_name, *terms)
    return " ".join(named).casefold()


def newest(prices: tuple[Price, ...]) -> Price | None:
    """Return the price of the latest day, the one that counts."""
    return max(prices, key=lambda price: price.day, default=None)


def read_cloud(folder: Path) -> Cloud:
    """Read every provider's file in `folder`; raise CatalogFault with path and field."""
    instances: dict[str, CloudInstance] = {}
    sources: dict[str, Source] = {}
    unlisted: dict[str, str] = {}
    for path in sorted(folder.glob("*.json")):
        try:
            offer = read_json(path.read_bytes(), CloudOffer)
        except JsonFault as fault:
            raise CatalogFault(f"{path}: {fault}") from fault
        sources.update(offer.sources)
        unlisted.update(offer.unlisted)
        for machine in offer.instances:
            if machine.id in instances:
                raise CatalogFault(f"{path}: the id {machine.id} is used twice.")
            instances[machine.id] = machine
    return Cloud(instances, sources, unlisted)


@cache
def shipped_cloud() -> Cloud:
    """Return the cloud machines that came with the program, read once."""
    return read_cloud(data_path("catalog") / "cloud")
