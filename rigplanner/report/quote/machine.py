"""The machine in words: places and their links, power from load to heat, what to set up."""

import re
from collections.abc import Sequence
from itertools import groupby

from msgspec import Struct

from rigplanner.machine.model import Machine, PowerTree, SlotUse
from rigplanner.machine.topology.collectives import allreduce, island_rates
from rigplanner.report import format as fmt
from rigplanner.report.language import Words, tr

BTU_PER_HOUR_PER_WATT = 3.412142
"""1 W = 3.412142 BTU/h (International Table BTU, NIST SP 811)."""


LETTER_WORDS = Words(
    {
        "PIX": "through one PCIe switch",
        "PXB": "through several PCIe switches",
        "PHB": "through one host bridge of the CPU",
        "NODE": "between host bridges of one CPU",
        "SYS": "between CPUs",
        "NV1": "one NVLink",
    }
)
"""What `nvidia-smi topo -m` prints, as its own legend explains it."""


SHORTEST_RUN = 4
_NUMBERED = re.compile(r"(.*?)(\d{1,6})")


class SlotRow(Struct, frozen=True, kw_only=True):
    """Where a card goes and what link it gets."""

    place: str
    what: str
    link: str
    note: str = ""


def link_text(width: int | None, gen: int | None) -> str:
    """Return "x8 Gen4" or "unknown"."""
    if width is None:
        return tr(fmt.UNKNOWN)
    return f"x{width} Gen{gen}" if gen else f"x{width}"


def slot_rows(machine: Machine) -> list[SlotRow]:
    """Return what stands where and by which link; alike neighbours share a row."""
    names = {piece.name: piece.part.name for piece in machine.pieces}
    rows = [_slot_row(use, names) for use in machine.slots]
    for drive in machine.drives:
        note = _switched_off(drive.disabled_by)
        link = "SATA" if drive.port.kind == "sata" else link_text(drive.width, drive.gen)
        rows += [
            SlotRow(place=drive.port.id, what=names.get(piece, piece), link=link, note=note)
            for piece in drive.pieces
        ]
    return _grouped(rows)


def _slot_row(use: SlotUse, names: dict[str, str]) -> SlotRow:
    """What one slot holds: a card, nothing because it is off or covered, or nothing."""
    offered = link_text(use.available_width, use.available_gen)
    place = use.slot.id
    if use.piece:
        narrower = use.available_width and use.width and use.width < use.available_width
        note = tr("slot offers {offered}", offered=offered) if narrower else ""
        what, link = names.get(use.piece, use.piece), link_text(use.width, use.gen)
        return SlotRow(place=place, what=what, link=link, note=note)
    if use.disabled_by:
        return SlotRow(place=place, what=tr("off"), link="", note=_switched_off(use.disabled_by))
    if use.covered_by:
        note = tr("by {piece}", piece=names.get(use.covered_by, use.covered_by))
        return SlotRow(place=place, what=tr("covered"), link="", note=note)
    return SlotRow(place=place, what=tr("free"), link=offered)


def _switched_off(disabled_by: Sequence[str]) -> str:
    return (
        tr("switched off by {disabled_by}", disabled_by=", ".join(disabled_by))
        if disabled_by
        else ""
    )


def _grouped(rows: list[SlotRow]) -> list[SlotRow]:
    grouped = []
    for (what, link, note), alike in groupby(rows, key=lambda row: (row.what, row.link, row.note)):
        places = [row.place for row in alike]
        if len(places) == 1:
            grouped.append(SlotRow(place=places[0], what=what, link=link, note=note))
        else:
            shown = places_text(list(dict.fromkeys(places)))
            grouped.append(
                SlotRow(place=shown, what=f"{len(places)} × {what}", link=link, note=note)
            )
    return grouped


def places_text(places: list[str]) -> str:
    """Return places in words; a run of consecutive numbers as "NIC0 to NIC7"."""
    split = [_NUMBERED.fullmatch(place) for place in places]
    heads = {match[1] for match in split if match}
    numbers = [int(match[2]) for match in split if match]
    run = (
        len(numbers) == len(places)
        and len(heads) == 1
        and numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    )
    return (
        tr("{low} to {high}", low=places[0], high=places[-1])
        if run and len(places) >= SHORTEST_RUN
        else ", ".join(places)
    )


def links_text(machine: Machine) -> str:
    """Return how the GPUs are joined, "" for fewer than two."""
    if len(machine.gpus) < 2:
        return ""
    kinds = sorted(
        {
            cell
            for row in machine.matrix[: len(machine.gpus)]
            for cell in row[: len(machine.gpus)]
            if cell not in ("X", "")
        }
    )
    said = [
        tr("GPU to GPU: {kinds}.", kinds=", ".join(map(_letters_text, kinds)) or tr(fmt.UNKNOWN)),
        _islands_text(machine),
    ]
    return " ".join(said)


def _islands_text(machine: Machine) -> str:
    """Which GPUs are joined by direct links, and what an all-reduce that leaves such an island
    loses."""
    islands = [island for island in machine.islands if len(island) > 1]
    if not islands:
        return tr("No NVLink between GPUs.")
    joined = tr(
        "Joined by direct links: GPU {joined}.",
        joined="; ".join("+".join(map(str, island)) for island in islands),
    )
    inside = [estimate for _, estimate in island_rates(machine)]
    whole = allreduce(machine) if len(islands[0]) < len(machine.gpus) else None
    if whole is None or not inside:
        return joined
    cost = tr(
        "An all-reduce runs at {inside} inside an island and at {whole} over all GPUs.",
        inside=fmt.quantity(min(estimate.value for estimate in inside), "GB/s", 0),
        whole=fmt.quantity(whole.value, "GB/s", 0),
    )
    return f"{joined} {cost}"


def _letters_text(letters: str) -> str:
    if letters in LETTER_WORDS:
        return f"{letters} ({LETTER_WORDS[letters]})"
    count = letters.removeprefix("NV")
    return (
        tr("{letters} ({count} NVLinks)", letters=letters, count=count)
        if count.isdigit() and count != "1"
        else letters
    )


def power_rows(power: PowerTree) -> list[tuple[str, str]]:
    """Return the rows of the power table, from load to heat."""
    rows = [
        (tr("Sustained load of all parts"), fmt.quantity(power.sustained_w, "W", 0)),
        (tr("Short excursions"), fmt.quantity(power.transient_w, "W", 0)),
        (tr("Power supply, continuous"), fmt.quantity(power.supply_w, "W", 0)),
        (tr("Drawn from the wall"), fmt.quantity(power.wall_w, "W", 0)),
        (
            tr("Circuit, continuous limit"),
            fmt.quantity(power.circuit_w, "W", 0) if power.circuit_w else tr("not stated"),
        ),
        (
            tr("Heat into the room"),
            fmt.quantity(
                power.wall_w * BTU_PER_HOUR_PER_WATT if power.wall_w else None, "BTU/h", 0
            ),
        ),
    ]
    if power.unknown:
        rows.append((tr("Not known"), ", ".join(power.unknown)))
    return rows


QUIET_W = 350.0
"""Heat of the GPUs in watts up to which large, slow fans carry it off without much sound
(estimate)."""


def noise_row(machine: Machine) -> tuple[str, str]:
    """Return the noise class under load as a row: judged by how the cards are cooled and how much
    heat they give, not measured."""
    kinds = {node.gpu.cooling for node in machine.gpus}
    heat = sum(node.power_cap_w or node.gpu.tdp_w or 0.0 for node in machine.gpus)
    if not machine.gpus or None in kinds:
        said = tr(fmt.UNKNOWN)
    elif kinds & {"passive", "none"}:
        said = tr("server: cards without fans need server fans")
    elif "blower" in kinds:
        said = tr("loud: blower cards")
    else:
        said = tr("audible under load") if heat > QUIET_W else tr("quiet")
    return tr("Noise class, by the kind of cooling"), said
