"""All rules: importing the topics registers them."""

from rigplanner.rules import (
    backup,
    branches,
    completeness,
    cooling,
    data,
    display,
    drives,
    firmware,
    kernels,
    known,
    mains,
    memory,
    network,
    nvlink,
    partitions,
    pcie,
    plugs,
    power,
    processor,
    shape,
    slots,
    software,
    space,
    vram,
)
from rigplanner.rules.registry import RULES, Rule

TOPICS = (
    completeness,
    processor,
    memory,
    slots,
    pcie,
    network,
    firmware,
    nvlink,
    space,
    cooling,
    power,
    mains,
    backup,
    plugs,
    drives,
    data,
    display,
    software,
    branches,
    kernels,
    vram,
    partitions,
    shape,
    known,
)
"""The rule modules in the order in which a person builds."""

RULES_BY_CODE: dict[str, Rule] = dict(sorted(RULES.items()))
