"""The fitted constants of the law of hosts, and the measured rows that they were fitted to."""

from __future__ import annotations

from functools import cache

from msgspec import Struct

from rigplanner.data import data_path
from rigplanner.decoding import read_json
from rigplanner.evidence import Source


class HostConstants(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`ram_share`: of the rate of all channels that decoding reads, `few_channels` how much more of
    it where they are two at most; `moe_share`: of that where
    experts lie scattered; `die_gbs`: GB/s that one die of a desktop or workstation CPU draws (DDR5)
    and `older_die` its share on DDR4. `two_sockets`: share of both sockets' rates by engine.
    `core_gbs`: GB/s of stored weights that a core at 5.2 GHz unpacks, by class of format.
    `routed_share`: of these rates that an engine reaches whose CPUs work through routed experts, 1
    where it is not named, and `routed_spread` the factor either way of that share. `layer_s`,
    `layer_core_s`: seconds per layer on the host, and per core beside. `card_share`: of a GPU's
    bandwidth, `card_layer_s` seconds per layer there. `core_tflops`: arithmetic of a prompt per
    core at 5.2 GHz by engine and instruction set; `card_tflops_share` of a prompt's 16-bit products
    on a GPU, `link_share` where weights come over the link, `staged_share` of the rate of all
    channels of RAM that copies of mapped weights to the GPU reach. `spread`, `prompt_spread`:
    factor either way that holds four
    of five answers; `strange_host` the same for a host that is not told."""

    ram_share: float
    few_channels: float
    moe_share: float
    die_gbs: float
    older_die: float
    two_sockets: dict[str, float]
    core_gbs: dict[str, float]
    routed_share: dict[str, float]
    routed_spread: dict[str, float]
    layer_s: float
    layer_core_s: float
    card_share: float
    card_layer_s: float
    core_tflops: dict[str, dict[str, float]]
    card_tflops_share: float
    link_share: float
    staged_share: float
    spread: float
    prompt_spread: float
    strange_host: float
    source: str


class HostFacts(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A host as a source describes it: `channels` and `cores` of all sockets in use, `base_ghz` and
    `threads` of one CPU as its maker tells them; `read_gbs`
    where the source measured it, `link_gbs` where its slots are narrower than the GPU's own."""

    cpu: str
    sockets: int
    cores: int
    isa: str
    ram: str
    rate_mts: float
    channels: float
    boost_ghz: float | None = None
    base_ghz: float | None = None
    threads: int | None = None
    read_gbs: float | None = None
    link_gbs: float | None = None
    note: str = ""


class HostRow(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """One measured row: `decode` and `prefill` in tokens/s, `context` in tokens before."""

    source: str
    host: str
    gpus: tuple[str, ...]
    stack: str
    model: str
    precision: str
    file_gib: float | None
    placement: str
    context: int
    ubatch: int
    decode: float
    prefill: float | None


class HostRows(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The file of measured rows."""

    about: str
    sources: dict[str, Source]
    hosts: dict[str, HostFacts]
    columns: tuple[str, ...]
    rows: tuple[HostRow, ...]


@cache
def host_constants() -> HostConstants:
    """Return the shipped constants."""
    file = data_path("catalog") / "benchmarks" / "host_speed.json"
    return read_json(file.read_bytes(), HostConstants)


@cache
def host_rows() -> HostRows:
    """Return the shipped rows of models that the host holds in part."""
    file = data_path("catalog") / "benchmarks" / "host-offload.json"
    return read_json(file.read_bytes(), HostRows)
