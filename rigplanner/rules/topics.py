"""All rules: importing the topics registers them."""

from rigplanner.rules import (
    completeness,
    cooling,
    display,
    drives,
    firmware,
    kernels,
    known,
    mains,
    memory,
    nvlink,
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
    firmware,
    nvlink,
    space,
    cooling,
    power,
    mains,
    plugs,
    drives,
    display,
    software,
    kernels,
    vram,
    shape,
    known,
)
"""The rule modules in the order in which a person builds."""

RULES_BY_CODE: dict[str, Rule] = dict(sorted(RULES.items()))
