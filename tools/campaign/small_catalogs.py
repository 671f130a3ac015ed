"""Random small catalogs, and the best rig of each by looking at every rig there is."""

import itertools
import random
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec.structs import replace

from rigplanner.catalog.load import Catalog, shipped_catalog
from rigplanner.catalog.schema.parts import (
    CPU,
    GPU,
    AnyPart,
    Chassis,
    MemoryKit,
    Motherboard,
    Price,
)
from rigplanner.planning.best.goals import near
from rigplanner.planning.best.question import Objective, Owned, Question, Want
from rigplanner.planning.best.reads import refuses
from rigplanner.planning.best.score import Score, on_cards, score_of
from rigplanner.rig.document import Item, Rig, Site
from rigplanner.rig.workload import Workload
from rigplanner.rules.assess import assess

TODAY = "2026-11-23"
PLATFORMS = (
    (
        "asrock.taichi.x870e-taichi-lite",
        ("amd.ryzen.7-7700x", "amd.ryzen.9-7950x", "amd.ryzen.7-9700x"),
        ("crucial.ddr5.ct2k16g56c46u5", "g-skill.trident-z5-rgb.f5-6400j3239g32gx2-tz5rk"),
        "thermalright.peerless-assassin.peerless-assassin-120-se",
    ),
    (
        "msi.pro.b550m-pro-vdh-wifi",
        ("amd.ryzen.5-5600g", "amd.ryzen.7-5700x"),
        ("corsair.vengeance-lpx.cmk32gx4m2b3200c16",),
        "thermalright.peerless-assassin.peerless-assassin-120-se",
    ),
    (
        "gigabyte.mz.mz32-ar0",
        ("amd.epyc.7313p",),
        ("samsung.server.m386a8k40bm1-crc",),
        "dynatron.t.t17",
    ),
    (
        "msi.mpg.z790-carbon-wifi",
        ("intel.core.i9-14900kf",),
        ("crucial.ddr5.ct2k16g56c46u5", "g-skill.trident-z5-rgb.f5-6400j3239g32gx2-tz5rk"),
        "thermalright.peerless-assassin.peerless-assassin-120-se",
    ),
)
"""Boards with processors, memory and a cooler that go with them."""
POOL = {
    "gpu": (
        "nvidia.geforce.rtx-4090",
        "nvidia.geforce.rtx-3090",
        "asus.dual.rtx-5060-ti-16gb-oc",
        "nvidia.datacenter.l4",
        "nvidia.rtx.a5000",
        "amd.radeon.rx-9070",
    ),
    "storage": ("teamgroup.mp44l.1-tb", "sk-hynix.platinum-p41.2-tb"),
    "chassis": (
        "antec.c8.c8",
        "cooler-master.masterbox.q300l",
        "phanteks.enthoo.enthoo-pro-2-server-edition",
        "aaawave.sluice.sluice-v2-12-gpu",
    ),
    "psu": (
        "cooler-master.mwe-gold.850-v2",
        "corsair.rme.rm750e-2025",
        "nzxt.c.c1200-gold",
        "be-quiet.straight-power-12.1500w",
    ),
}
FEWEST = {"gpu": 1, "storage": 1, "chassis": 1, "psu": 1}
MOST = {"gpu": 2, "storage": 1, "chassis": 2, "psu": 2}
"""So few of each kind that all rigs of a case are looked at in about a second."""
KINDS = ("gpu", "motherboard", "cpu", "memory", "storage", "chassis", "cooler", "psu")
WORKS = (
    Workload(model="resnet50", task="train", precision="amp", batch_per_gpu=64, image_size=224),
    Workload(
        model="llama-3.1-8b",
        task="train_qlora",
        batch_per_gpu=1,
        seq_len=2048,
        gradient_checkpointing="full",
    ),
    Workload(
        model="llama-3.1-8b",
        task="inference",
        precision="q4_k_m",
        stack="llama.cpp",
        batch_per_gpu=1,
        input_tokens=2048,
        output_tokens=256,
    ),
    Workload(
        model="llama-3.3-70b",
        task="inference",
        precision="q4_k_m",
        stack="llama.cpp",
        batch_per_gpu=1,
        input_tokens=2048,
        output_tokens=256,
    ),
)
FRAME = "aaawave.sluice.sluice-v2-12-gpu"
OWNER_AIMS: tuple[Objective, ...] = ("fastest", "cheapest", "per-money")
KITS = (1, 2, 3, 4, 6, 8, 12)
SITES = (
    Site(country="US", volts=120.0, breaker_a=15.0),
    Site(country="DE", volts=230.0, breaker_a=16.0),
)


def random_case(seed: int) -> tuple[Catalog, Question]:
    """Return a small catalog of real parts at random prices, and a question about it."""
    rng, shipped = random.Random(seed), shipped_catalog()
    parts: dict[str, AnyPart] = {}
    chosen: list[str] = []
    for board, cpus, kits, cooler in rng.sample(PLATFORMS, rng.randint(1, 2)):
        few = rng.randint(1, min(2, len(cpus)))
        chosen += [board, *rng.sample(cpus, few), rng.choice(kits), cooler]
    for kind, ids in POOL.items():
        chosen += rng.sample(ids, rng.randint(FEWEST[kind], MOST[kind]))
    for part_id in dict.fromkeys(chosen):
        amount = round(rng.choice((40, 150, 400, 1000)) * rng.uniform(0.5, 2.0), 2)
        price = Price(amount=amount, currency="USD", day=TODAY, source="A shop")
        parts[part_id] = replace(shipped.parts[part_id], prices=(price,))
    objectives: tuple[Objective, ...] = (
        "fastest",
        "fastest",
        "cheapest",
        "per-money",
        "least-watts",
    )
    works = rng.sample(WORKS, 1) if rng.random() < 0.7 else list(WORKS[:2])
    question = Question(
        wants=tuple(Want(workload=work, weight=rng.choice((1.0, 2.0))) for work in works),
        objective=rng.choice(objectives),
        budget=rng.choice((None, 2500.0, 4000.0, 6000.0, 9000.0)),
        site=rng.choice(SITES),
        most_cards=2,
    )
    return replace(shipped, parts=parts), question


MIXED_EACH = 5
"""One in so many asks what goes beside a card that is owned, and one what two kinds do."""


def asked_of(number: int) -> tuple[Catalog, Question]:
    """Return a small catalog and a question by its number."""
    made = {0: owner_case, 1: mixed_case}.get(number % MIXED_EACH, random_case)
    return made(number)


def mixed_case(seed: int) -> tuple[Catalog, Question]:
    """Return a small catalog with two kinds of card, the larger of which costs more, and a work
    whose layers are dealt out to cards that differ."""
    catalog, question = owner_case(seed)
    gpus = [part for part in catalog.of_kind("gpu") if isinstance(part, GPU)]
    gpus.sort(key=lambda gpu: (gpu.memory_gib or 0, gpu.bandwidth_gbs or 0))
    prices = sorted((gpu.prices for gpu in gpus), key=lambda prices: prices[0].amount)
    priced = {g.id: replace(g, prices=p) for g, p in zip(gpus, prices, strict=True)}
    return replace(catalog, parts={**catalog.parts, **priced}), replace(question, owned=())


def owner_case(seed: int) -> tuple[Catalog, Question]:
    """Return a small catalog with two kinds of card of which the asker has one, and a work whose
    layers are dealt out to cards that differ."""
    rng, (catalog, question) = random.Random(seed), random_case(seed)
    chosen = rng.sample([part for part in POOL["gpu"] if not part.startswith("amd")], 2)
    mine, shipped = chosen[0], shipped_catalog()
    parts: dict[str, AnyPart] = {
        part_id: part for part_id, part in catalog.parts.items() if not isinstance(part, GPU)
    }
    for part_id in chosen:
        amount = round(rng.uniform(300.0, 2000.0), 2)
        price = Price(amount=amount, currency="USD", day=TODAY, source="A shop")
        parts[part_id] = replace(shipped.parts[part_id], prices=(price,))
    price = Price(amount=90.0, currency="USD", day=TODAY, source="A shop")
    parts[FRAME] = replace(shipped.parts[FRAME], prices=(price,))
    owned = Owned(part=mine, resale=rng.choice((0.0, 250.0)))
    work = replace(question, wants=(Want(workload=WORKS[rng.choice((2, 3))]),), owned=(owned,))
    return replace(catalog, parts=parts), replace(work, objective=rng.choice(OWNER_AIMS))


def every_rig(catalog: Catalog, question: Question) -> Iterator[tuple[float, float, Score]]:
    """Yield price, watts and score of every sound rig, by trying all."""
    kinds = {kind: list(catalog.of_kind(kind)) for kind in KINDS}
    for cards in card_sets(kinds["gpu"], question):
        count = sum(n for _, n in cards)
        ways = ("copies", "spread") if count > 1 and len(cards) == 1 else ("copies",)
        for board, cpu in itertools.product(kinds["motherboard"], kinds["cpu"]):
            assert isinstance(board, Motherboard) and isinstance(cpu, CPU)
            if cpu.socket not in board.layout.sockets or (cpu.cores or 0) < max(6, 4 * count):
                continue
            for kit, kits in itertools.product(kinds["memory"], KITS):
                assert isinstance(kit, MemoryKit)
                gib = kits * kit.modules * kit.module_gib
                video = sum(n * (gpu.memory_gib or 0) for gpu, n in cards)
                if gib < max(32, video) or kits * kit.modules > 16:
                    continue
                if kit.type != board.layout.memory_type:
                    continue
                if kits * kit.modules > (board.layout.memory_slots or 0):
                    continue
                rest = (kinds[kind] for kind in ("storage", "chassis", "cooler"))
                for others in _with_supplies(itertools.product(*rest), kinds["psu"]):
                    *others, supplies = others
                    items = [("board", board, 1), ("cpu", cpu, 1), ("memory", kit, kits)]
                    items += [
                        (k, p, 1) for k, p in zip(("ssd", "chassis", "cooler"), others, strict=True)
                    ]
                    items.append(("psu", *supplies))
                    for uid, (gpu, n) in reversed([*zip(("gpu", "gpu2"), cards, strict=False)]):
                        items.insert(0, (uid, gpu, n))
                    price = sum(paid(part, n, question) for _, part, n in items)
                    if question.budget is not None and round(price, 2) > question.budget:
                        continue
                    for way in ways:
                        found = rig_judged(
                            tuple((uid, part.id, n) for uid, part, n in items), way,
                            question.wants, question.site, count,
                        )  # fmt: skip
                        if found is not None:
                            yield round(price, 2), *found


def card_sets(gpus: list[Any], question: Question) -> Iterator[tuple[tuple[GPU, int], ...]]:
    """No card, one and two of a kind, and, where layers are dealt out, an owned one beside one of
    another kind, and two of which neither is as good and no dearer."""
    yield ()
    yield from (((gpu, n),) for n in (1, 2) for gpu in gpus)
    if not all(want.workload.stack == "llama.cpp" for want in question.wants):
        return
    mine = [gpu for gpu in gpus if gpu.id in {owned.part for owned in question.owned}]
    for one, other in itertools.permutations(gpus, 2):
        if one.chip_maker != other.chip_maker or one in mine:
            continue
        bought = (
            other not in mine
            and (one.bandwidth_gbs, other.id) >= (other.bandwidth_gbs, one.id)
            and not any(is_matched(gpu, gpus) for gpu in (one, other))
        )
        if bought or other in mine:
            yield (one, 1), (other, 1)


def is_matched(gpu: GPU, gpus: Iterable[GPU]) -> bool:
    """Whether a cheaper card of the same maker has as much memory and as fast a one."""
    return any(
        other.chip_maker == gpu.chip_maker
        and other.prices[0].amount < gpu.prices[0].amount
        and (other.memory_gib or 0) >= (gpu.memory_gib or 0)
        and (other.bandwidth_gbs or 0) >= (gpu.bandwidth_gbs or 0)
        for other in gpus
    )


def paid(part: Any, many: int, question: Question) -> float:
    """What so many pieces cost: owned ones what selling them would bring."""
    kept = next((o for o in question.owned if o.part == part.id), Owned(part="", quantity=0))
    mine = min(many, kept.quantity)
    return float((many - mine) * part.prices[0].amount + mine * kept.resale)


def _with_supplies(
    rest: Iterable[tuple[AnyPart, ...]], psus: list[AnyPart]
) -> Iterator[tuple[Any, ...]]:
    """Each choice of drive, case and cooler with one supply, in an open frame with two as well."""
    for others in rest:
        case = others[1]
        assert isinstance(case, Chassis)
        for many in (1, 2) if case.enclosure.airflow == "open" else (1,):
            yield from ((*others, (psu, many)) for psu in psus)


_seen: dict[str, tuple[float, Score] | None] = {}


def rig_judged(
    items: tuple[tuple[str, str, int], ...],
    way: str,
    wants: tuple[Want, ...],
    site: Site,
    count: int,
) -> tuple[float, Score] | None:
    """Verdict and score do not depend on prices: each rig is looked at once."""
    key = repr((items, way, wants, site))
    if key not in _seen:
        _seen[key] = _looked_at(items, way, wants, site, count)
    return _seen[key]


def _looked_at(
    items: tuple[tuple[str, str, int], ...],
    way: str,
    wants: tuple[Want, ...],
    site: Site,
    count: int,
) -> tuple[float, Score] | None:
    works = tuple(on_cards(want, count, way) for want in wants)  # type: ignore[arg-type]
    rig = Rig(
        items=tuple(Item(uid=uid, part=part, quantity=n) for uid, part, n in items),
        workloads=works,
        site=site,
    )
    found = assess(rig, shipped_catalog(), TODAY)
    if any(refuses(each, "sound") for each in found.report.findings):
        return None
    score = score_of(Question(wants=wants), found.machine, way)  # type: ignore[arg-type]
    if not isinstance(score, Score):
        return None
    return found.machine.power.sustained_w or 0.0, score


def best_of(
    rigs: list[tuple[float, float, Score]], objective: Objective
) -> tuple[float, float, float] | None:
    """Return price, watts and score that the best of all rigs has; where several do, the figure by
    which the objective goes is what counts."""
    if not rigs:
        return None
    if objective == "cheapest":
        price, watts, score = min(rigs, key=lambda rig: rig[0])
    elif objective == "least-watts":
        price, watts, score = min(rigs, key=lambda rig: rig[1])
    elif objective == "per-money":
        price, watts, score = max(rigs, key=lambda rig: rig[2].value / rig[0])
    else:
        top = max((rig[2] for rig in rigs), key=lambda score: score.value)
        tops = [rig[2] for rig in rigs if rig[2].value >= top.value * (1 - 1e-9)]
        equal = [rig for rig in rigs if any(near(one, rig[2]) for one in tops)]
        price, watts, score = min(equal, key=lambda rig: rig[0])
    return price, watts, score.value
