"""Parts: is everything there, in number, model and size?"""

import re
from collections import Counter
from collections.abc import Iterator

from rigplanner.asbuilt.checks.line import Line, Verdict, View
from rigplanner.asbuilt.checks.pairing import same_name, words_of
from rigplanner.asbuilt.seen import SeenBoard, SeenCpu, SeenDrive, SeenMatrix, of_kind

SIZE_LEAST = 0.97
"""Share of a drive's or GPU's size that programs show at least: drives count in 1e9 bytes, GPUs
keep some of their memory for themselves."""
GPU_LEAST = 0.93
IN_BRACKETS = re.compile(r"\([^()]*\)")
WIFI = re.compile(r"\(?\bwi-?fi\b\)?", re.IGNORECASE)
MAKERS = {
    *("asus", "asrock", "rack", "gigabyte", "msi", "supermicro", "superserver", "biostar", "dell"),
    *("hp", "hpe", "lenovo", "intel", "tyan", "nvidia", "poweredge", "proliant"),
}
"""Words of makers and their series, which firmware prints or not."""
MADE_UP = ("loop", "ram", "zram", "sr", "md", "dm-", "fd")


def parts(view: View) -> Iterator[Line]:
    """Yield the lines of boards, CPUs, GPUs, drives and network cards."""
    yield from _board(view)
    yield from _cpus(view)
    yield from _gpus(view)
    yield from _drives(view)
    yield from _nics(view)


def _board(view: View) -> Iterator[Line]:
    seen = next(iter(of_kind(view.facts, SeenBoard)), None)
    for code, wanted in (("board", view.promise.board), ("system", view.promise.system)):
        if not wanted:
            continue
        name = "" if seen is None else seen.name if code == "board" else seen.system or seen.name
        verdict = board_verdict(wanted, name) if name else "unseen"
        yield Line(
            code=code,
            group="parts",
            verdict=verdict,
            promised=wanted,
            seen=name or None,
            cause={"remark": "other-variant", "broken": "other-part"}.get(verdict, ""),
        )


def board_verdict(wanted: str, name: str) -> Verdict:
    """Return kept for the promised board or system, remark where the names differ by a word
    (another variant, or the firmware's shorter name), broken for another one. Makers leave their
    own name out, or add a number in brackets ("MEG X570 GODLIKE (MS-7C34)") or a revision
    ("-CF")."""
    plain, bare = _board_words(name.removesuffix("-CF")), _board_words(wanted)
    if plain == bare:
        return "kept"
    return "remark" if plain and (plain <= bare or bare <= plain) else "broken"


def _board_words(name: str) -> set[str]:
    told = WIFI.sub(" wifi ", name)
    return words_of(IN_BRACKETS.sub(" ", told)) - MAKERS


def _cpus(view: View) -> Iterator[Line]:
    promise = view.promise
    seen = next(iter(of_kind(view.facts, SeenCpu)), None)
    if not promise.cpu:
        return
    model = "" if seen is None else seen.model
    alike = bool(model) and same_cpu(promise.cpu, model)
    yield Line(
        code="cpu",
        group="parts",
        verdict="unseen" if not model else "kept" if alike else "broken",
        promised=promise.cpu,
        seen=model or None,
        cause="" if alike or not model else "other-part",
    )
    sockets = seen.sockets if seen else None
    if promise.sockets and sockets:
        short = sockets < promise.sockets
        yield Line(
            code="sockets",
            group="parts",
            verdict="broken" if short else "kept",
            promised=promise.sockets,
            seen=sockets,
            unit="CPUs",
            cause="cpu-missing" if short else "",
        )


def same_cpu(wanted: str, model: str) -> bool:
    """Say whether all words of a CPU's name that hold a digit are in the model's ("EPYC 7443P" in
    "AMD EPYC 7443P 24-Core Processor"); a name without any must be in it as a whole."""
    words = [word for word in wanted.lower().split() if any(letter.isdigit() for letter in word)]
    found = model.lower().replace("(r)", " ").replace("(tm)", " ").split()
    return all(word in found for word in words) if words else same_name(wanted, model)


def _gpus(view: View) -> Iterator[Line]:
    anything = any(card.kind == "gpu" for card in view.cards)
    pairs = (*view.gpus, *view.displays)
    wanted = Counter(pair.promised.name for pair in pairs)
    there = Counter(pair.promised.name for pair in pairs if pair.card is not None)
    others = [card for card in view.cards if card.kind == "gpu" and card.name]
    paired = {pair.card.address for pair in pairs if pair.card is not None}
    strangers = [card.name for card in others if card.address not in paired]
    counted = next((len(matrix.cells) for matrix in of_kind(view.facts, SeenMatrix)), None)
    for name, count in wanted.items():
        found = there[name]
        if not anything:
            continue
        short = found < count
        yield Line(
            code="gpu-count",
            group="parts",
            verdict="broken" if short else "kept",
            subject=name,
            promised=count,
            seen=found,
            unit="GPUs",
            cause="" if not short else "other-part" if strangers else "gpu-missing",
            values={"others": strangers, "missing": count - found},
        )
    if wanted and not anything and counted is None:
        yield Line(code="gpu-count", group="parts", verdict="unseen", promised=sum(wanted.values()))
    for pair in pairs:
        yield from _gpu_memory(pair.promised.memory_gib, pair.promised.piece, pair.card)


def _gpu_memory(wanted: float | None, piece: str, card: object) -> Iterator[Line]:
    gpu = getattr(card, "gpu", None)
    if wanted is None or gpu is None or gpu.memory_mib is None:
        return
    seen = gpu.memory_mib / 1024
    kept = seen >= GPU_LEAST * wanted
    yield Line(
        code="gpu-memory",
        group="parts",
        verdict="kept" if kept else "broken",
        subject=piece,
        where=gpu.address,
        promised=wanted,
        seen=round(seen, 1),
        unit="GiB",
        cause="" if kept else "other-part",
    )


def _drives(view: View) -> Iterator[Line]:
    left = _drives_once(view)
    named = list(left)
    cards = [card for card in view.cards if card.kind == "drive"]
    for wanted in view.promise.drives:
        if not named:
            continue
        alike = [drive for drive in left if same_name(wanted.name, drive.model)]
        alike = alike or [drive for drive in left if _as_large(wanted.bytes, drive.bytes)]
        if alike:
            left.remove(alike[0])
        size = alike[0].bytes if alike else None
        small = bool(size and wanted.bytes and size < SIZE_LEAST * wanted.bytes)
        other = bool(alike) and not same_name(wanted.name, alike[0].model)
        yield Line(
            code="drive",
            group="drives",
            verdict="broken" if small or not alike else "remark" if other else "kept",
            subject=wanted.piece,
            where=alike[0].device if alike else "",
            promised=wanted.name,
            seen=alike[0].model if alike else None,
            cause="drive-missing" if not alike else "other-part" if other or small else "",
        )
    nvme = [card for card in view.promise.drives if card.width is not None]
    if nvme and not named and cards:
        short = len(cards) < len(nvme)
        yield Line(
            code="drive-count",
            group="drives",
            verdict="broken" if short else "kept",
            promised=len(nvme),
            seen=len(cards),
            unit="drives",
            cause="drive-missing" if short else "",
        )


def _drives_once(view: View) -> list[SeenDrive]:
    """Return each drive by its device, with the longer of its names (nvme list and lsblk name the
    same ones); what the kernel makes of memory and files is none."""
    found: dict[str, SeenDrive] = {}
    for drive in of_kind(view.facts, SeenDrive):
        if not drive.device or drive.device.startswith(MADE_UP):
            continue
        known = found.get(drive.device)
        if known is None or len(drive.model) > len(known.model):
            found[drive.device] = drive
    return list(found.values())


def _as_large(wanted: float | None, seen: int | None) -> bool:
    return bool(wanted and seen and SIZE_LEAST * wanted <= seen <= wanted / SIZE_LEAST)


def _nics(view: View) -> Iterator[Line]:
    if not any(card.kind == "network" for card in view.cards):
        return
    for pair in view.nics:
        if pair.card is None:
            yield Line(
                code="nic",
                group="network",
                verdict="broken",
                subject=pair.promised.piece,
                promised=pair.promised.name,
                cause="card-missing",
            )
