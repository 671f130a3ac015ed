"""All rules: importing the topics registers them."""

from rigplanner.rules.core import completeness
from rigplanner.rules.core.registry import RULES, Rule
from rigplanner.rules.hardware import (
    backup,
    card_class,
    close_limits,
    cooling,
    cpu_lanes,
    display,
    docks,
    drives,
    firmware,
    host_ports,
    mains,
    memory,
    memory_rate,
    network,
    nvlink,
    pcie,
    plugs,
    power,
    processor,
    slots,
    space,
)
from rigplanner.rules.hardware import known_issues as known
from rigplanner.rules.hardware.fit import clearance
from rigplanner.rules.jobs import cluster, data, feeding, partitions, vram, wording
from rigplanner.rules.jobs import parallelism as shape
from rigplanner.rules.software import (
    branches,
    engines,
    frameworks,
    kernels,
    makers,
    platforms,
    readiness,
    software,
)

TOPICS = (
    completeness,
    card_class,
    cluster,
    processor,
    memory,
    memory_rate,
    slots,
    pcie,
    cpu_lanes,
    host_ports,
    network,
    firmware,
    nvlink,
    space,
    cooling,
    clearance,
    power,
    mains,
    backup,
    plugs,
    close_limits,
    docks,
    drives,
    data,
    feeding,
    display,
    software,
    branches,
    frameworks,
    platforms,
    makers,
    kernels,
    engines,
    readiness,
    vram,
    partitions,
    shape,
    known,
    wording,
)
"""The rule modules in the order in which a person builds."""
TOPIC_NAMES = frozenset(topic.__name__.rpartition(".")[2] for topic in TOPICS)

RULES_BY_CODE: dict[str, Rule] = dict(sorted(RULES.items()))
