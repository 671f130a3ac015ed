"""What is known of chipsets, dies and technologies, against which parts are held."""

from functools import cache

from msgspec import Struct

from rigplanner.data import shipped_path
from rigplanner.decoding import read_json


class KnownHardware(Struct, frozen=True, forbid_unknown_fields=True):
    """`chipset_gens`: chipsets by the fastest PCIe that they pass on to slots and drives.
    `first_years`: in which the first product with an architecture, memory type, socket, supply
    standard or plug was sold. `full_dies`: multiprocessors and memory bus in bits of the whole die,
    and no card has more. `sources` tells where each was read."""

    sources: dict[str, str]
    chipset_gens: dict[int, tuple[str, ...]]
    first_years: dict[str, int]
    full_dies: dict[str, tuple[int, int]]

    def chipset_gen(self, chipset: str | None) -> int:
        """Return the fastest PCIe that a chipset passes on, 0 for one that is not known."""
        return next((gen for gen, known in self.chipset_gens.items() if chipset in known), 0)


@cache
def known_hardware() -> KnownHardware:
    """Return what is known, as shipped with the program."""
    path = shipped_path("resources") / "lint" / "known_hardware.json"
    return read_json(path.read_bytes(), KnownHardware)
