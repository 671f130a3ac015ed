"""NVIDIA's generations of GPUs, from the catalog's cards and the tables of drivers and toolkits."""

from collections.abc import Sequence

from msgspec import Struct

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import GPU
from rigplanner.planning.formats import formats_on
from rigplanner.rules.software.tables import driver_range, software, version

NAMES = ("Fermi", "Kepler", "Maxwell", "Pascal", "Volta", "Turing", "Ampere", "Ada", "Hopper",
         "Blackwell")  # fmt: skip


class Generation(Struct, frozen=True, kw_only=True):
    """One generation: compute capabilities of its cards, years of the first and the last, the most
    memory (GiB) and bandwidth (GB/s) of one GPU of it and the card that has it, formats with matrix
    units, generations of PCIe and NVLink, branches of the driver and releases of CUDA, first and
    last (None: still served)."""

    name: str
    cards: int
    capabilities: tuple[str, ...]
    first_year: str | None
    last_year: str | None
    memory_gib: float
    bandwidth_gbs: float
    widest: str
    units: tuple[str, ...]
    pcie: tuple[int, ...]
    nvlink: tuple[float, ...]
    driver_first: str | None
    driver_last: str | None
    cuda_first: str | None
    cuda_last: str | None


def generations(catalog: Catalog) -> tuple[Generation, ...]:
    """Return the generations that the catalog has cards of, the oldest first."""
    cards = [
        part
        for part in catalog.of_kind("gpu")
        if isinstance(part, GPU) and part.vendor == "NVIDIA" and part.status != "reference"
    ]
    made = []
    for name in NAMES:
        own = [gpu for gpu in cards if (gpu.architecture or "").split(" ")[0] == name]
        if own:
            made.append(_generation(name, own))
    return tuple(made)


def _generation(name: str, cards: Sequence[GPU]) -> Generation:
    capabilities = sorted({gpu.compute_capability for gpu in cards if gpu.compute_capability},
                          key=version)  # fmt: skip
    years = sorted({gpu.released[:4] for gpu in cards if gpu.released})
    widest = max(cards, key=lambda gpu: gpu.bandwidth_gbs or 0.0)
    drivers = [found for each in capabilities if (found := driver_range(each))]
    firsts = [row.first for row in drivers]
    lasts = [row.last for row in drivers]
    cuda = [_cuda(each) for each in capabilities]
    return Generation(
        name=name,
        cards=len(cards),
        capabilities=tuple(capabilities),
        first_year=years[0] if years else None,
        last_year=years[-1] if years else None,
        memory_gib=max(gpu.memory_gib or 0.0 for gpu in cards),
        bandwidth_gbs=widest.bandwidth_gbs or 0.0,
        widest=widest.name,
        units=_units(cards),
        pcie=tuple(sorted({gpu.edge_gen for gpu in cards if gpu.edge_gen})),
        nvlink=tuple(sorted({gpu.nvlink.generation for gpu in cards if gpu.nvlink})),
        driver_first=min(firsts, key=version, default=None),
        driver_last=None if None in lasts else max(filter(None, lasts), key=version, default=None),
        cuda_first=min((first for first, _ in cuda if first), key=version, default=None),
        cuda_last=_latest([last for _, last in cuda]),
    )


def _units(cards: Sequence[GPU]) -> tuple[str, ...]:
    """Formats that a card of them computes in with matrix units."""
    found = {each.format.name for gpu in cards for each in formats_on(gpu) if each.how == "matrix"}
    order = ("fp64", "tf32", "fp16", "bf16", "fp8", "fp4", "int8", "int4")
    return tuple(name for name in order if name in found)


def _cuda(capability: str) -> tuple[str | None, str | None]:
    """The first and the last toolkit that builds for a compute capability; the last is None where
    the newest that is known does, the first where the oldest that is known does."""
    rows = sorted(software().cuda, key=lambda row: version(row.version))
    serving = [
        row for row in rows if version(row.lowest) <= version(capability) <= version(row.highest)
    ]
    if not serving:
        return None, None
    behind = rows[rows.index(serving[-1]) + 1 :]
    first = None if serving[0] is rows[0] else serving[0].version
    return first, behind[0].version if behind else None


def _latest(ends: Sequence[str | None]) -> str | None:
    """The toolkit that dropped the last of them; None where one is still served."""
    return None if None in ends else max(filter(None, ends), key=version, default=None)
