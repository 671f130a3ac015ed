"""Rigs of mixed cards, risers and docks in two orders: the same places, ports and findings."""

import random
from collections import Counter
from pathlib import Path

from msgspec.structs import replace

from rigplanner.catalog.load import shipped_catalog
from rigplanner.catalog.schema.parts import CPU, GPU, Motherboard
from rigplanner.rig.document import Item, Rig
from rigplanner.rules.assess import assess
from tools.campaign.figures import Failure, Figures, keep


def orders(count: int, seed: int, kept: Path | None) -> Figures:
    """Judge `count` random rigs as they are made and shuffled."""
    from rigplanner.rig.files import encode_rig

    found = Figures("orders")
    for number in range(count):
        dice = random.Random(f"{seed} {number}")
        rig = mixed(dice)
        found.deeds += 1
        if told(rig) != told(shuffled(rig, dice)):
            place = keep(kept, f"orders-{seed}-{number}.rig", encode_rig(rig))
            found.failures.append(Failure(f"rig {number} of seed {seed}", "another answer", place))
    return found


def told(rig: Rig) -> tuple[Counter[object], Counter[object], Counter[object]]:
    """Return slots, ports and findings by part, not by the names of pieces."""
    done = assess(rig, shipped_catalog())
    part = {piece.name: piece.part.id for piece in done.machine.pieces}
    slots: Counter[object] = Counter(
        (use.slot.id, part.get(use.piece), part.get(use.riser or ""), use.width, use.gen)
        for use in done.machine.slots_in_use
        if use.piece
    )
    ports: Counter[object] = Counter(
        (use.port.id, tuple(sorted(part.get(name, name) for name in use.pieces)))
        for use in done.machine.drives_in_use
    )
    findings: Counter[object] = Counter(
        (f.code, f.severity, tuple(sorted(part.get(s, s) for s in f.subjects if "." in s)))
        for f in done.report.findings
    )
    return slots, ports, findings


def shuffled(rig: Rig, dice: random.Random) -> Rig:
    items = list(rig.items)
    dice.shuffle(items)
    return replace(rig, items=tuple(items))


def mixed(dice: random.Random) -> Rig:
    """Different cards, risers, docks and adapters on one board."""
    catalog = shipped_catalog()
    cards = [
        part.id
        for part in catalog.of_kind("gpu")
        if isinstance(part, GPU) and part.form_factor == "pcie" and part.status == "current"
    ]
    risers = [part.id for part in catalog.of_kind("riser")]
    board = dice.choice(catalog.of_kind("motherboard"))
    sockets = board.layout.sockets if isinstance(board, Motherboard) else ()
    fitting = [
        cpu.id for cpu in catalog.of_kind("cpu") if isinstance(cpu, CPU) and cpu.socket in sockets
    ]
    picked = [
        board.id,
        *dice.choices(fitting, k=1 if fitting else 0),
        *dice.choices(cards, k=dice.choice((1, 2, 3))),
        *dice.choices(risers, k=dice.choice((1, 2, 3))),
        *dice.choices([part.id for part in catalog.of_kind("storage")], k=2),
    ]
    return Rig(items=tuple(Item(uid=f"u{n}", part=part) for n, part in enumerate(picked)))
