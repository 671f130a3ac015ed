"""Between GPUs: letters of the matrix, NVLinks that are up, access control that turns peer
copies."""

from collections.abc import Iterator
from itertools import permutations

from msgspec.structs import replace

from rigplanner.asbuilt.checks.line import Line, Verdict, View
from rigplanner.asbuilt.seen import SeenKernel, SeenMatrix, SeenNvlink, SeenRate, of_kind
from rigplanner.machine.nodes import pair_of

RANKS = ("X", "PIX", "PXB", "PHB", "NODE", "SYS")
"""Letters of `nvidia-smi topo -m`, nearest first."""
MOST_TRIED = 6
"""GPUs up to which every order is tried: the driver counts by bus numbers, the plan by slots."""
PEER_LEAST = 0.8
"""Share of the copy through host memory below which a peer copy is slower than doing without: six
GPUs behind ports with access control gave 10 against 22 GB/s (NVIDIA/nccl issue 814); the spread of
one measurement is a tenth."""


def between(view: View) -> Iterator[Line]:
    """Yield the lines between GPUs."""
    yield from _letters(view)
    yield from _nvlinks(view)
    yield from _access_control(view)
    yield from _peer_slower(view)


def _letters(view: View) -> Iterator[Line]:
    seen = next(iter(of_kind(view.facts, SeenMatrix)), None)
    plan = view.promise.matrix
    if len(plan) < 2:
        return
    if seen is not None and len(seen.cells) > len(plan):
        seen = _of_jobs(seen, view)
    if seen is None or len(seen.cells) != len(plan):
        if seen is not None:
            yield Line(
                code="matrix-size",
                group="links",
                verdict="broken",
                promised=len(plan),
                seen=len(seen.cells),
                unit="GPUs",
                cause="gpu-missing",
            )
        return
    order = _order(plan, seen.cells)
    for a in range(len(plan)):
        for b in range(a + 1, len(plan)):
            yield _letter(a, b, plan[a][b], seen.cells[order[a]][order[b]])


def _of_jobs(seen: SeenMatrix, view: View) -> SeenMatrix:
    """The matrix without the cards that only drive the monitors, which the driver counts too, by
    the order of their addresses; as it is where that does not tell which they are."""
    drivers = sorted(card.address for card in view.cards if card.kind == "gpu" and card.gpu)
    shown = {pair.card.address for pair in view.displays if pair.card}
    kept = [at for at, address in enumerate(drivers) if address not in shown]
    if len(drivers) != len(seen.cells) or len(kept) != len(view.promise.matrix):
        return seen
    return replace(seen, cells=tuple(tuple(seen.cells[a][b] for b in kept) for a in kept))


def _order(
    plan: tuple[tuple[str, ...], ...], cells: tuple[tuple[str, ...], ...]
) -> tuple[int, ...]:
    """Return the order of the seen GPUs in which they are most like the plan."""
    count = len(plan)
    straight = tuple(range(count))
    if plan == cells or count > MOST_TRIED:
        return straight

    def unlike(order: tuple[int, ...]) -> int:
        return sum(plan[a][b] != cells[order[a]][order[b]] for a in range(count) for b in range(a))

    return min(permutations(straight), key=unlike)


def _letter(a: int, b: int, planned: str, found: str) -> Line:
    verdict, cause = _letter_verdict(planned, found)
    return Line(
        code="matrix",
        group="links",
        verdict=verdict,
        subject=f"gpu{a}-gpu{b}",
        promised=planned,
        seen=found or None,
        cause=cause,
    )


def _letter_verdict(planned: str, found: str) -> tuple[Verdict, str]:
    if not planned or not found:
        return "unseen", ""
    wanted, there = _bonds(planned), _bonds(found)
    if wanted and there < wanted:
        return "broken", "bridge-missing" if there == 0 else "bridge-partial"
    if wanted or there or found == planned:
        return "kept", ""
    ranks = [RANKS.index(word) if word in RANKS else None for word in (planned, found)]
    if ranks[0] is None or ranks[1] is None:
        return "remark", "other-path"
    if ranks[1] <= ranks[0]:
        return "kept", ""
    across = found == "SYS"
    return ("broken", "other-socket") if across else ("remark", "other-path")


def _bonds(letters: str) -> int:
    pair = pair_of(letters)
    return pair.links or int(pair.linked)


def _nvlinks(view: View) -> Iterator[Line]:
    promised = {card.index: card for card in view.promise.gpus if card.nvlinks}
    seen = {gpu.index: gpu for gpu in of_kind(view.facts, SeenNvlink)}
    if not seen:
        return
    for index, card in promised.items():
        gpu = seen.get(index if index is not None else -1)
        up = gpu.up if gpu else 0
        wanted = card.nvlinks or 0
        cause = "" if up >= wanted else "bridge-missing" if up == 0 else "bridge-partial"
        yield Line(
            code="nvlink",
            group="links",
            verdict="kept" if up >= wanted else "broken",
            subject=card.piece or card.name,
            promised=wanted,
            seen=up,
            unit="links",
            cause=cause,
        )
    for index, gpu in seen.items():
        if index not in promised and 0 < gpu.up < gpu.listed:
            yield Line(
                code="nvlink",
                group="links",
                verdict="remark",
                subject=gpu.name,
                promised=gpu.listed,
                seen=gpu.up,
                unit="links",
                cause="bridge-partial",
            )


def _access_control(view: View) -> Iterator[Line]:
    ports = sorted({port for pair in view.gpus if pair.card for port in pair.card.acs})
    if not view.promise.peer or len(view.gpus) < 2:
        return
    linked = any(_bonds(cell) for row in view.promise.matrix for cell in row)
    if ports:
        yield Line(
            code="access-control",
            group="links",
            verdict="remark",
            where=", ".join(ports),
            promised="off",
            seen="on",
            cause="access-control",
        )
    iommu = next((kernel.iommu for kernel in of_kind(view.facts, SeenKernel) if kernel.iommu), "")
    if iommu == "on" and not linked:
        yield Line(
            code="iommu",
            group="software",
            verdict="remark",
            promised="pt",
            seen="on",
            cause="iommu",
        )


def _peer_slower(view: View) -> Iterator[Line]:
    """Compare peer copies with copies through host memory: slower ones take a detour."""
    rates = [rate for rate in of_kind(view.facts, SeenRate) if len(rate.gpus) == 2]
    staged = {rate.gpus: rate.value for rate in rates if rate.metric == "copy-staged"}
    peers = {rate.gpus: rate.value for rate in rates if rate.metric == "copy-peer"}
    slow = [pair for pair in peers if peers[pair] < PEER_LEAST * staged.get(pair, 0.0)]
    if slow:
        worst = min(slow, key=lambda pair: peers[pair] / staged[pair])
        yield Line(
            code="peer-path",
            group="speed",
            verdict="broken",
            subject=f"gpu{worst[0]}-gpu{worst[1]}",
            promised=staged[worst],
            seen=peers[worst],
            unit="GB/s",
            cause="access-control",
            values={"pairs": len(slow)},
        )
