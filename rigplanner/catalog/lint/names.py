"""Do the figures in a part's name agree with its fields?"""

import re
from collections.abc import Iterator

from rigplanner.catalog.lint.complaint import Complaint
from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import GPU, MemoryKit, Part, PowerSupply, Storage

_MODULES = re.compile(r"\b(\d+) ?x ?(\d+) ?GB\b")
_RATE = re.compile(r"\bDDR\d-(\d{4,5})\b")
_CAPACITY = re.compile(r"(?<![\d.])(\d+(?:\.\d+)?) ?(TB|GB)\b")
_WATTS = re.compile(r"\b(\d{3,4}) ?W\b")
GB_OF = {"TB": 1000.0, "GB": 1.0}
NEAR = 0.04
"""Names round: 15.36 TB is sold as 15.4, 31.5 GiB of a card as 32 GB."""


def check_name(part: Part, catalog: Catalog) -> Iterator[Complaint]:
    """Modules, transfer rate, capacity, watts and memory in a name are those of the fields."""
    for field, named, held in _figures(part):
        if not any(abs(named - each) <= NEAR * each for each in held):
            expected = f"{named:g} as in {part.name}"
            yield Complaint(
                part.id, field, "name-figures", ", ".join(f"{each:g}" for each in held), expected
            )


def _figures(part: Part) -> Iterator[tuple[str, float, tuple[float, ...]]]:
    """Fields with what the name says and what they hold."""
    if isinstance(part, MemoryKit):
        if modules := _MODULES.search(part.name):
            yield "modules", float(modules[1]), (part.modules,)
            yield "module_gib", float(modules[2]), (part.module_gib,)
        if (rate := _RATE.search(part.name)) and part.speed_mts:
            yield "speed_mts", float(rate[1]), (part.speed_mts,)
    elif isinstance(part, Storage) and (capacity := _CAPACITY.search(part.name)):
        yield "capacity_gb", float(capacity[1]) * GB_OF[capacity[2]], (part.capacity_gb,)
    elif (
        isinstance(part, PowerSupply)
        and part.supply.ratings
        and (watts := _WATTS.search(part.name))
    ):
        yield (
            "supply.ratings",
            float(watts[1]),
            tuple(rating.watts for rating in part.supply.ratings),
        )
    elif isinstance(part, GPU) and part.memory_gib and (memory := _CAPACITY.search(part.name)):
        yield "memory_gib", float(memory[1]), (part.memory_gib,)
