"""Seconds of a token and of a prompt of which the host does a part: bytes over the bandwidth that
is left of each memory, plus hops, plus arithmetic where that binds."""

from __future__ import annotations

import math

from msgspec import Struct

from rigplanner.memory.usable_memory import SYSTEM_GIB
from rigplanner.performance.host.constants import HostConstants
from rigplanner.performance.host.hosts import Host
from rigplanner.performance.host.reads import Reads
from rigplanner.performance.serving import packed_share

SMOOTH = 4.0
"""Power of the mean in which two limits meet."""
MOST_OF_A_DESKTOP = 2
"""Channels of desktops and laptops."""
MOST_CORES = 128
"""Cores beyond which engines give decoding no more threads."""
REPACKS = ("ik_llama.cpp", "ktransformers")
"""Engines that lay weights out anew for the CPU, and choose it for prompts where it is faster."""


class CardRates(Struct, frozen=True, kw_only=True):
    """What the GPUs give: GB/s of memory as one after the other reads its layers, TFLOPS of dense
    16-bit products and of products with packed weights, GB/s of one link to the host."""

    memory_gbs: float
    tflops: float
    packed_tflops: float
    link_gbs: float


class TokenTime(Struct, frozen=True, kw_only=True):
    """Seconds of one step by what it waits for; `ram_gbs`: the rate that decoding gets of RAM,
    `unpack_gbs` what the cores can unpack."""

    ram_s: float
    cpu_s: float
    hops_s: float
    card_s: float
    link_s: float
    disk_s: float
    ram_gbs: float
    unpack_gbs: float

    @property
    def total_s(self) -> float:
        """Seconds of the whole step."""
        return self.ram_s + self.cpu_s + self.hops_s + self.card_s + self.link_s + self.disk_s


def decoding_gbs(host: Host, stack: str, experts: bool, known: HostConstants) -> float:
    """Return the GB/s of weights that decoding reads of the host's memory."""
    rate = host.ram_gbs * known.ram_share
    if host.channels is not None and host.channels <= MOST_OF_A_DESKTOP:
        rate *= known.few_channels
    if host.dies:
        drawn = host.dies * known.die_gbs * (known.older_die if host.ddr4 else 1.0)
        rate = both(rate, drawn)
    if experts:
        rate *= known.moe_share
    return rate * _of_sockets(host, stack, known)


def _of_sockets(host: Host, stack: str, known: HostConstants) -> float:
    """Return the share of all sockets' rates that engines get which read across them: that of two
    again with each doubling (DeepSeek-R1 on four Xeon 8280 at 4.0 tokens/s, ktransformers issue
    806, read 2026-11-23: 7.3 as by that of two)."""
    share = known.two_sockets.get(stack, known.two_sockets["llama.cpp"])
    return float(share ** math.log2(max(1, host.sockets)))


def both(first: float, second: float) -> float:
    """Return what is left of two rates that bind one work: near the lower, less where they meet."""
    return float((first**-SMOOTH + second**-SMOOTH) ** (-1 / SMOOTH))


def token_time(
    reads: Reads, host: Host, card: CardRates | None, stack: str, known: HostConstants
) -> TokenTime:
    """Return the seconds of one step of writing."""
    rate = decoding_gbs(host, stack, reads.experts, known)
    rate *= known.routed_share.get(stack, 1.0) if reads.routed else 1.0
    cores = min(host.cores, MOST_CORES)
    format_gbs = known.core_gbs["looked_up" if reads.looked_up else "scaled"]
    unpack = format_gbs * host.pace * cores / max(1.0, reads.streams**0.5)
    missing = _on_disk(reads, host)
    ram_s = reads.host / 1e9 / rate
    host_s = reads.host / 1e9 / both(rate, unpack)
    return TokenTime(
        ram_s=ram_s,
        cpu_s=max(0.0, host_s - ram_s),
        hops_s=reads.host_layers * (known.layer_s + known.layer_core_s * cores),
        card_s=_card_s(reads, card, known),
        link_s=reads.streamed / 1e9 / (card.link_gbs * known.link_share) if card else 0.0,
        disk_s=reads.host * missing / 1e9 / host.drive_gbs,
        ram_gbs=rate,
        unpack_gbs=unpack,
    )


def _card_s(reads: Reads, card: CardRates | None, known: HostConstants) -> float:
    if card is None or reads.card <= 0:
        return 0.0
    read_s = reads.card / 1e9 / (card.memory_gbs * known.card_share)
    return read_s + reads.card_layers * known.card_layer_s


def _on_disk(reads: Reads, host: Host) -> float:
    """The share of what lies on the host that its memory does not hold: mapped files are read from
    the drive again (llama.cpp, mmap)."""
    if host.ram_gib is None or not reads.held_gib:
        return 0.0
    return max(0.0, 1 - max(0.0, host.ram_gib - SYSTEM_GIB) / reads.held_gib)


class PromptTime(Struct, frozen=True, kw_only=True):
    """Seconds of a prompt: what the CPUs, the link and the GPUs take. `streamed`: whether the
    weights of the host come to the GPU for it."""

    cpu_s: float
    link_s: float
    card_s: float
    streamed: bool

    @property
    def total_s(self) -> float:
        """Seconds of the whole prompt."""
        return self.cpu_s + self.link_s + self.card_s


FEW_CORES, MORE_CORES = 24, 0.6
"""Cores up to which prompts grow in step with them, and the power with which they grow beyond: 24
cores of a Threadripper do 8 TFLOPS of DeepSeek-R1, 128 of a Xeon 6980P 10.6, 192 of an EPYC 9965 10
of Kimi K2 (ik_llama.cpp discussion 258, pull requests 259 and 612)."""


def cores_of_prompt(host: Host, stack: str, known: HostConstants) -> float:
    """Return the cores of 5.2 GHz that multiply prompts. Of several CPUs engines that do not copy
    the weights to each get no more than of their memory."""
    cores = host.wide_cores or host.cores
    if stack != "ktransformers":
        cores *= _of_sockets(host, stack, known)
    pace = host.pace if host.sustained is None else host.sustained
    return pace * (cores if cores <= FEW_CORES else FEW_CORES * (cores / FEW_CORES) ** MORE_CORES)


STREAMED_FROM = 32
"""Tokens from which llama.cpp brings weights of the host to the GPU (--op-offload, pull request
11446)."""


def prompt_time(
    reads: Reads,
    tokens: int,
    piece: int,
    host: Host,
    card: CardRates | None,
    stack: str,
    known: HostConstants,
) -> PromptTime:
    """Return the seconds of a prompt of `tokens`, worked on in pieces of `piece`."""
    tables = known.core_tflops.get(stack, known.core_tflops["llama.cpp"])
    rate = tables.get(host.isa, tables["avx2"]) * cores_of_prompt(host, stack, known)
    scores = tokens * reads.host_scores / 1e3 / rate
    by_cpu = tokens * reads.host_gflop / 1e3 / rate + scores
    if card is None:
        return PromptTime(cpu_s=by_cpu, link_s=0.0, card_s=0.0, streamed=False)
    rate = _products(reads, min(tokens, piece), card, known)
    own = tokens * reads.card_gflop / 1e3 / rate
    own += tokens * reads.card_scores / 1e3 / (card.tflops * known.card_tflops_share)
    pieces = -(-tokens // piece)
    link = both(card.link_gbs * known.link_share, host.ram_gbs * known.staged_share)
    brought = pieces * reads.held_gib * 2**30 / 1e9 / link
    whole = own + tokens * reads.host_gflop / 1e3 / rate
    over = PromptTime(cpu_s=scores, link_s=brought, card_s=whole, streamed=True)
    stays = PromptTime(cpu_s=by_cpu, link_s=0.0, card_s=own, streamed=False)
    if min(tokens, piece) < STREAMED_FROM or stack == "ktransformers" or not reads.held_gib:
        return stays
    return min(over, stays, key=lambda time: time.total_s) if stack in REPACKS else over


def _products(reads: Reads, tokens: int, card: CardRates, known: HostConstants) -> float:
    """TFLOPS of the weights' products on the cards, of a piece of so many tokens."""
    if not reads.packed:
        return card.tflops * known.card_tflops_share
    share = packed_share(reads.precision, reads.each, tokens)
    return card.packed_tflops * share
