"""The best rig in words: what was asked, the answer with its proof, what stands beside it, and why
the others lost."""

from collections.abc import Iterable

from msgspec import structs
from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import MemoryKit, Motherboard, kind_of
from rigplanner.machine.model import Machine
from rigplanner.memory.answer import MemoryEstimate
from rigplanner.memory.usable_memory import usable_gib
from rigplanner.planning.aims import Aim
from rigplanner.planning.best.answer import Answer, Seeker
from rigplanner.planning.best.choices import (
    Rival,
    from_abroad,
    surely_from,
    with_four_bits,
    with_tight_memory,
    with_used_parts,
)
from rigplanner.planning.best.goals import near
from rigplanner.planning.best.hire import Rented, hours_for
from rigplanner.planning.best.market import Market, Offer
from rigplanner.planning.best.nearest import Change, shortage
from rigplanner.planning.best.question import Objective, Question, Size, Want
from rigplanner.planning.best.score import score_of
from rigplanner.planning.best.search import Candidate
from rigplanner.planning.best.space import Cause, Way
from rigplanner.report.format import day, money, number, percent, quantity, unit_text
from rigplanner.report.language import digits, listed, tr, trn
from rigplanner.report.words.findings import rule_title
from rigplanner.report.words.hire import provider_text
from rigplanner.report.words.purposes import aim_title
from rigplanner.rig.document import part_of
from rigplanner.rules.assess import machine_of, memory_on

OBJECTIVES: dict[Objective, str] = {
    "fastest": "The fastest rig",
    "cheapest": "The cheapest rig that does it",
    "per-money": "The most work for the money",
    "least-watts": "The rig that draws least",
}

SIZES: dict[Size, str] = {
    "any": "any size",
    "atx": "ATX",
    "matx": "micro-ATX",
    "itx": "mini-ITX",
}

CAUSES: dict[Cause, tuple[str, str]] = {
    "no-price": (
        "One part has no price that counts.",
        "{count} parts have no price that counts.",
    ),
    "old-price": (
        "One part has only an old price or that of its launch.",
        "{count} parts have only old prices, or those of their launch.",
    ),
    "used": (
        "One part is sold used only; allow used parts to count it.",
        "{count} parts are sold used only; allow used parts to count them.",
    ),
    "abroad": (
        "One part has a price in other markets only; allow those to count it.",
        "{count} parts have prices in other markets only; allow those to count them.",
    ),
    "not-a-card": (
        "One GPU is a module, not a card.",
        "{count} GPUs are modules, not cards.",
    ),
    "quiet": (
        "One part is too loud for the place.",
        "{count} parts are too loud for the place.",
    ),
    "maker": (
        "One GPU is of a maker that you left out.",
        "{count} GPUs are of makers that you left out.",
    ),
    "size": (
        "One board is larger than you want, or its size is not known.",
        "{count} boards are larger than you want, or their size is not known.",
    ),
    "slow-drive": (
        "One drive is a hard disk or no drive for a computer.",
        "{count} drives are hard disks or no drives for a computer.",
    ),
    "small": (
        "One part is smaller than the least that was asked for.",
        "{count} parts are smaller than the least that was asked for.",
    ),
    "barebone": (
        "One system is no complete machine.",
        "{count} systems are no complete machines.",
    ),
    "reference": (
        "One part is in the catalog for comparison only.",
        "{count} parts are in the catalog for comparison only.",
    ),
}

WHY = {
    "memory": "its memory does not hold the job",
    "tight": "its memory may not hold the job",
    "unproven": "its speed leans on measurements of other makers' cards alone",
    "not-predicted": "memory or speed cannot be predicted",
    "target": "too slow for what was asked",
    "stack": "the software does not run it on this card",
    "short": "its memory is most likely too small for the job",
    "no-card": "the work asks for a graphics card",
    "no-rig": "no rig with it passes all checks",
    "no-price": "the catalog has no price of it that counts",
}

EXCLUDED = {
    "price": "too dear",
    "speed": "too slow",
    "slots": "no board has the slots",
    "relation": "parts that do not go together",
    "sibling": "dearer parts that mend nothing",
    "twin": "the same for more money",
    "no-case": "no case takes the cards",
    "no-housing": "no case, cooler and supply go with them",
    "memory": "memory does not hold the job",
    "tight": "memory may not hold the job",
    "unproven": "speed not measured on such cards",
    "not-predicted": "speed cannot be predicted",
    "target": "slower than was asked",
    "stack": "software does not run it",
    "short": "memory most likely too small",
    "no-card": "no graphics card",
    "role": "no machine for such work",
    "rig": "looked at one by one",
}
MOST_TOLD, LEAST_TOLD = 5, 0.005
"""So many causes of rigs left out are told, and only those of such a share of all rigs."""

PRICED = {
    "carried": "{price} today by the price index ({one} each on {day})",
    "converted": "{price}, converted from {one} each on {day}",
    "both": "{price} today, converted and by the price index ({one} each on {day})",
}
"""What is said of a price that nobody asks in this market today."""
INSTEAD = {
    "used": "With used parts (--used): {cards}, {price}, {speed}.",
    "abroad": "At prices of other markets, converted (--abroad): {cards}, {price}, {speed}.",
    "tight": "Where memory may be tight (--tight): {cards}, {price}, {speed}.",
    "four-bit": "With 4-bit weights (precision=int4 quant=awq): {cards}, {price}, {speed}.",
}
"""What would be possible with a limit less."""
UNPROVEN = (
    "No rig of which the speed was measured on cards of the same maker does it: look at the speed"
    " first."
)
STRICTNESS = {
    "sound": "No error, no warning that another part would mend, nothing unknown that decides.",
    "tight": "No rig surely holds it; in this one memory is tight: look at it first.",
    "warned": "No rig is without warnings that another part would mend: look at them first.",
    "open": "Every rig leaves facts open that decide: look at them first.",
}

CHANGES = {
    "budget": "With a larger budget it is possible from {price}.",
    "used": "With used parts it is possible from {price} (--used).",
    "abroad": "With prices of other markets, converted, it is possible from {price} (--abroad).",
    "quiet": "Where it may be loud, it is possible from {price} (without --quiet).",
    "size": "In a larger case it is possible from {price} (without --size).",
    "maker": "With cards of any maker it is possible from {price}.",
    "growth": "Without slots for growth it is possible from {price}.",
    "pinned": "Without the parts that must be in it, it is possible from {price}.",
    "target": "Without the least speeds it is possible from {price}.",
    "cards": "With more cards it is possible from {price} (--cards).",
    "least cards": "With fewer cards it is possible from {price}.",
    "circuit": "On a stronger circuit it is possible from {price}.",
    "batch": "With batches of one it is possible from {price} (batch_per_gpu=1).",
    "checkpointing": "With recomputed activations it is possible from {price}"
    " (gradient_checkpointing=full).",
    "context": "With 512 tokens at once it is possible from {price}.",
    "qlora": "With QLoRA it is possible from {price} (task=train_qlora).",
    "four-bit": "With 4-bit weights it is possible from {price} (precision=int4 quant=awq).",
    "in-ram": "With 4-bit weights and what the cards do not hold in RAM it is possible from {price}"
    " (stack=llama.cpp precision=q4_k_m).",
}
GIVEN_UP = {
    "used": "used parts",
    "abroad": "prices of other markets",
    "quiet": "a loud place",
    "size": "a larger case",
    "maker": "cards of any maker",
    "growth": "no slots for growth",
    "pinned": "without the parts that must be in it",
    "target": "without the least speeds",
    "cards": "more cards",
    "least cards": "fewer cards",
    "circuit": "a stronger circuit",
    "batch": "batches of one",
    "checkpointing": "recomputed activations",
    "context": "512 tokens at once",
    "qlora": "QLoRA",
    "four-bit": "4-bit weights",
    "in-ram": "4-bit weights, in RAM what the cards do not hold",
}
REASONS = {
    "gpu": "The job needs {needed} on each card; it has {capacity}.",
    "system": "The job needs {needed}; this machine has {capacity} for it.",
    "motherboard": "The cheapest board whose {slots} slots take the cards and pass all checks.",
    "cpu": "The cheapest processor for the board that feeds the cards: {cores}.",
    "memory": "{ram}: the least that the work and the cards' {vram} ask for.",
    "storage": "The cheapest drive of {size} or more.",
    "chassis": "Cheapest case that fits the board, cards, cooler and power supply.",
    "cooler": "The cheapest cooler for the socket and the processor's heat.",
    "psu": "Cheapest power supply that fits: {load} of load on {supply}.",
}


def reason_texts(best: Candidate, seeker: Seeker) -> dict[str, str]:
    """Return why each item was chosen, by its uid, with the figure that decided."""
    machine, catalog = machine_of(best.rig, seeker.catalog), seeker.catalog
    needs = [need for work in best.rig.workloads for need in memory_on(work, machine)[0]]
    rooms = [usable_gib(node.gpu) or 0.0 for node in machine.gpus]
    video = sum(node.gpu.memory_gib or 0.0 for node in machine.gpus)
    told: dict[str, str] = {}
    for item in best.rig.items:
        part = part_of(best.rig, catalog, item.part)
        if part is None or kind_of(part) not in REASONS:
            continue
        kind = kind_of(part)
        told[item.uid] = tr(
            REASONS[kind],
            needed=quantity(max((held_gib(n) for n in needs), default=None), "GiB", 1),
            capacity=quantity(max(rooms, default=None), "GiB", 1),
            slots=len(part.layout.slots) if isinstance(part, Motherboard) else 0,
            cores=_cores_and_links(machine),
            ram=quantity(_ram(machine), "GiB", 0),
            vram=quantity(video, "GiB", 0),
            size=quantity(seeker.question.storage_gb, "GB", 0),
            load=quantity(machine.power.sustained_w, "W", 0),
            supply=quantity(machine.power.supply_w, "W", 0),
        )
    return told


def _cores_and_links(machine: Machine) -> str:
    """The cores of the processors, and the slowest link of a card beside them."""
    cores = sum(cpu.cpu.cores or 0 for cpu in machine.cpus)
    told = trn("one core", "{count} cores", cores)
    links = [(n.gen, n.width) for n in machine.gpus if n.gen and n.width]
    if not links:
        return told
    gen, width = min(links, key=lambda link: link[1] * 2 ** link[0])
    return tr("{cores}, cards at PCIe {gen}.0 x{width}", cores=told, gen=gen, width=width)


def _ram(machine: Machine) -> float:
    kits = [piece.part for piece in machine.pieces if isinstance(piece.part, MemoryKit)]
    return sum(kit.modules * kit.module_gib for kit in kits)


def held_gib(need: MemoryEstimate) -> float:
    """Return what a card must hold, GiB: all parts, without the pool that a serving engine takes of
    what is free."""
    return min(float(sum(structs.astuple(need.parts))), need.device_gib)


def also_texts(best: Candidate, aims: Iterable[Aim], seeker: Seeker) -> list[str]:
    """Return what else of a purpose a rig does, and what it does not."""
    machine = machine_of(best.rig, seeker.catalog)
    told = []
    for aim in aims:
        way: Way = "spread" if aim.spread else "copies"
        asked = replace(seeker.question, wants=(Want(workload=aim.workload),))
        score = score_of(asked, machine, way, "open")
        if isinstance(score, str):
            said = tr(WHY.get(score, score))
        else:
            speed = score.speeds[0]
            said = f"{number(speed.value)} {unit_text(speed.metric)}"
            said = tr("{speed}, memory is tight", speed=said) if score.tight else said
        told.append(f"{aim_title(aim.code)}: {said}")
    return told


def outside_text() -> str:
    """Return which rigs are not among those that were looked at."""
    return tr(
        "Not looked at: cards of different kinds together (but for two kinds of one maker whose"
        " layers a program deals out), risers, switches and docks, two supplies in a closed case,"
        " several drives, barebones."
    )


def headline(answer: Answer) -> str:
    """Return the answer in one sentence."""
    question, best = answer.question, answer.best
    if best is None:
        if answer.gap is not None:
            return tr("The time ended before a rig was found; there may be one.")
        if question.budget is None:
            return tr("No rig of priced parts does it without an error.")
        budget = money(question.budget, question.currency)
        return tr("No rig up to {budget} does it without an error.", budget=budget)
    what = tr(OBJECTIVES[question.objective])
    price = money(best.price, question.currency)
    return tr("{what}: {price}, {speed}.", what=what, price=price, speed=speed_text(best))


def speed_text(best: Candidate) -> str:
    """Return the speeds of a rig, each with its interval."""
    return listed(
        tr(
            "{value} {unit} ({low} to {high})",
            value=number(speed.value),
            unit=unit_text(speed.metric),
            low=number(speed.low),
            high=number(speed.high),
        )
        for speed in best.score.speeds
    )


def proof_text(total: int, gap: float | None) -> str:
    """Return what was proven of how many rigs."""
    rigs = digits(f"{total:,}")
    if gap is None:
        return tr("Proven best of {rigs} rigs at these prices.", rigs=rigs)
    if gap == float("inf"):
        return tr("The best so far of {rigs} rigs; not proven.", rigs=rigs)
    if gap == 0:
        return tr(
            "No faster one among {rigs} rigs; whether one as fast is cheaper was not proven.",
            rigs=rigs,
        )
    share = percent(gap)
    return tr("Within {share} of the best of {rigs} rigs.", share=share, rigs=rigs)


def counts_text(answer: Answer) -> str:
    """Return how many rigs were looked at and what left out most of the others."""
    large = [(why, count / answer.total) for why, count in answer.counts.items()]
    told = [f"{excluded_text(why)} {percent(share)}" for why, share in large if share >= LEAST_TOLD]
    return tr(
        "{examined} rigs were looked at one by one; whole families were left out: {reasons}.",
        examined=str(answer.examined),
        reasons=listed(told[:MOST_TOLD]),
    )


def excluded_text(why: str) -> str:
    """Return why a family of rigs was left out: in words, a rule by its title."""
    return tr(EXCLUDED[why]) if why in EXCLUDED else rule_title(why)


def sound_text(answer: Answer) -> str:
    """Return what the rules let pass."""
    if answer.best is not None and answer.best.score.unproven:
        return tr(UNPROVEN)
    if answer.sure is not None:
        return tr(
            "Memory is tight: it most likely holds the work. A rig that surely does is less than"
            " half as good."
        )
    return tr(STRICTNESS[answer.strictness])


def item_rows(best: Candidate, seeker: Seeker) -> list[tuple[str, str]]:
    """Return each part of a rig with the price of the pieces to buy, its day and condition."""
    rows = []
    there = {each.part: each.quantity for each in seeker.question.owned}
    for item in best.rig.items:
        part = part_of(best.rig, seeker.catalog, item.part)
        name = part.name if part else item.part
        offer = seeker.market.offer(part) if part else None
        kept = min(item.quantity, there.get(item.part, 0))
        said = tr("owned")
        if offer is not None and item.price is not None and kept < item.quantity:
            said = _offer_text(offer, item.quantity - kept, seeker.market)
            if item.price.used:
                said = tr("{said}, used", said=said)
            if kept:
                said = tr("{said}, {count} owned", said=said, count=kept)
        if item.power_cap_w:
            said = tr(
                "{said}, limited to {watts}", said=said, watts=quantity(item.power_cap_w, "W")
            )
        rows.append((f"{item.quantity} × {name}" if item.quantity > 1 else name, said))
    return rows


def _offer_text(offer: Offer, quantity: int, market: Market) -> str:
    """Return what so many pieces cost, and what was asked when: carried or converted prices are
    told with what they are made of."""
    cost, asked = money(quantity * offer.amount, market.currency), offer.asked
    if offer.price is asked and asked.currency == market.currency:
        return tr("{price}, price of {day}", price=cost, day=day(asked.day))
    home, fresh = asked.currency == market.currency, offer.price is asked
    text = PRICED["carried" if home else "converted" if fresh else "both"]
    return tr(text, price=cost, one=money(asked.amount, asked.currency), day=day(asked.day))


def doubt_texts(best: Candidate, market: Market) -> list[str]:
    """Return which prices of a rig nobody asks today: old ones, and those of other markets."""
    parts = [market.catalog.get(item.part) for item in best.rig.items]
    offers = [offer for part in parts if part and (offer := market.offer(part))]
    told = []
    if old := sum(offer.price is not offer.asked for offer in offers):
        told.append(
            trn(
                "One price is older than half a year: what it is today is estimated by the price"
                " index.",
                "{count} prices are older than half a year: what they are today is estimated by"
                " the price index.",
                old,
            )
        )
    others = [offer.asked.currency for offer in offers if offer.asked.currency != market.currency]
    if others:
        told.append(
            trn(
                "One price is of another market ({currencies}), converted: duty and tax are not"
                " in it.",
                "{count} prices are of other markets ({currencies}), converted: duty and tax are"
                " not in them.",
                len(others),
                currencies=listed(dict.fromkeys(others)),
            )
        )
    return told


def beside_texts(answer: Answer) -> Iterable[str]:
    """Yield what is to be known beside the rig: the fastest one where this is its near-tie, the
    money that is left, tight memory, what is not proven."""
    question, best, top = answer.question, answer.best, answer.top
    if best is None:
        return
    if top is not None and top is not best and near(top.score, best.score):
        more = money(top.price - best.price, question.currency)
        yield tr(
            "The fastest ({speed}) costs {more} more; nobody can tell the two apart.",
            speed=speed_text(top),
            more=more,
        )
    unspent = question.budget is not None and question.budget - best.price >= 1
    if question.budget is not None and unspent and answer.gap is None:
        yield _left_text(question, money(question.budget - best.price, question.currency))
    if best.score.tight and answer.sure is None:
        yield tr("Memory is tight: the job may not fit.")
    if best.score.unproven:
        yield tr("Its speed leans on measurements of other makers' cards alone.")


def _left_text(question: Question, left: str) -> str:
    site = question.site
    if site.volts is None or site.breaker_a is None:
        return tr("{left} of the budget is left: it buys nothing that is surely faster.", left=left)
    return tr(
        "{left} of the budget is left: on a circuit of {volts} and {amperes} it buys nothing that"
        " is surely faster.",
        left=left,
        volts=quantity(site.volts, "V", 0),
        amperes=quantity(site.breaker_a, "A", 0),
    )


def price_text(best: Candidate, market: Market) -> str:
    """Return within which interval the price lies where some prices are old."""
    low = high = 0.0
    for item in best.rig.items:
        part = market.catalog.get(item.part)
        offer = market.offer(part) if part else None
        if offer is not None:
            low, high = low + item.quantity * offer.low, high + item.quantity * offer.high
    if high - low < 1:
        return ""
    return tr(
        "Prices move: today it may cost {low} to {high}.",
        low=money(low, market.currency),
        high=money(high, market.currency),
    )


def cards_text(best: Candidate, catalog: Catalog) -> str:
    """Return the cards of a rig, or the name of a complete machine."""
    if best.cards is None:
        part = catalog.get(best.rig.items[0].part)
        return part.name if part else ""
    named = []
    for part_id, many in best.cards.kinds:
        part = catalog.get(part_id)
        name = part.name if part else part_id
        named.append(f"{many} × {name}" if many > 1 else name)
    return " + ".join(named) or tr("no card")


def instead_texts(seeker: Seeker, answer: Answer) -> Iterable[str]:
    """Yield what prices of other markets, tight memory and smaller weights would make possible, and
    from how much on a rig is in no doubt."""
    if answer.sure is not None:
        yield tr(
            "Surely held: {cards}, {price}, {speed}.",
            cards=cards_text(answer.sure, seeker.catalog),
            price=money(answer.sure.price, seeker.question.currency),
            speed=speed_text(answer.sure),
        )
    if (sure := surely_from(seeker, answer)) is not None:
        yield tr(
            "Without these doubts: {cards}, from {price}.",
            cards=cards_text(sure, seeker.catalog),
            price=money(sure.price, seeker.question.currency),
        )
    others = {
        "used": with_used_parts(seeker, answer),
        "abroad": from_abroad(seeker, answer),
        "tight": with_tight_memory(seeker, answer),
        "four-bit": with_four_bits(seeker, answer),
    }
    for limit, other in others.items():
        if other is not None and other.best is not None:
            yield tr(
                INSTEAD[limit],
                cards=cards_text(other.best, seeker.catalog),
                price=money(other.best.price, other.question.currency),
                speed=speed_text(other.best),
            )


def left_out_texts(answer: Answer) -> list[str]:
    """Return which parts were no choice, most first."""
    pairs = sorted(answer.left_out.items(), key=lambda pair: -pair[1])
    return [trn(*CAUSES[cause], count) for cause, count in pairs]  # type: ignore[index]


def rival_text(rival: Rival, answer: Answer, catalog: Catalog) -> str:
    """Return why a card is not the answer, in one line with the figure."""
    part, currency, best = catalog.get(rival.gpu), answer.question.currency, answer.best
    name = part.name if part else rival.gpu
    if rival.used:
        name = tr("{name}, used", name=name)
    if rival.price is None and rival.score is not None and best is not None:
        share = rival.score / best.score.value - 1
        return tr(
            "{name}: {speed}; the catalog has no price of it that counts.",
            name=name,
            speed=_apart_text(share),
        )
    if rival.price is None or rival.score is None:
        return tr("{name}: {why}.", name=name, why=tr(WHY.get(rival.why, rival.why)))
    price = money(rival.price, currency)
    if rival.why == "price":
        if rival.wins_below is None:
            return tr("{name}: its cheapest rig costs {price}.", name=name, price=price)
        said = tr(
            "{name}: its cheapest rig costs {price}; below {limit} for the card it comes within the"
            " budget.",
            name=name,
            price=price,
            limit=money(rival.wins_below, currency),
        )
        sway = tr("Its price may be that low today.")
        return f"{said} {sway}" if rival.sways else said
    if best is None:
        return tr("{name}: {price}.", name=name, price=price)
    ratio = rival.score / best.score.value - 1
    return tr("{name}: {price}, {speed}.", name=name, price=price, speed=_apart_text(ratio))


def _apart_text(ratio: float) -> str:
    if ratio < 0:
        return tr("{share} slower", share=percent(-ratio))
    return tr("{share} faster", share=percent(ratio))


def change_text(change: Change, currency: str) -> str:
    """Return what must change of the question to make a rig possible."""
    price = money(change.price, currency)
    if len(change.codes) > 1:
        together = listed(tr(GIVEN_UP[code]) for code in change.codes)
        return tr("Only with {changes} together: from {price}.", changes=together, price=price)
    (code,) = change.codes
    if code in CHANGES:
        return tr(CHANGES[code], price=price)
    return tr("Without {work} it is possible from {price}.", work=code, price=price)


def possible_texts(changed: Iterable[Change], seeker: Seeker) -> list[str]:
    """Return what would make a rig possible; where nothing does, what the cards lack."""
    told = [change_text(each, seeker.question.currency) for each in changed]
    if told:
        return told
    lack = shortage(seeker)
    if lack is None:
        return [tr("No change of the question makes it possible with the parts that have a price.")]
    part = seeker.catalog.get(lack.gpu)
    return [
        tr(
            "No cards hold work {number}: {count} × {name} together have {room}, it takes {needed}."
            " A smaller model, or one divided among several machines, is the least change.",
            number=lack.work + 1,
            count=lack.count,
            name=part.name if part else lack.gpu,
            room=quantity(lack.room_gib, "GiB", 0),
            needed=quantity(lack.needed_gib, "GiB", 0),
        )
    ]


LONGEST_H = 5 * 8766
"""Hours without a pause after which nobody waits for a rig to be cheaper: as long as it is used."""


def hire_texts(hires: Iterable[Rented], best: Candidate | None) -> list[str]:
    """Return machines for hire that do the first work, and after how many hours of the same work
    the rig costs less, energy not counted."""
    told = []
    for hire in hires:
        said = tr(
            "Rent {provider} {name}, {gpus}: {price} per hour.",
            provider=provider_text(hire.provider),
            name=hire.name,
            gpus=hire.gpus,
            price=money(hire.price.amount, hire.price.currency),
        )
        hours = hours_for(hire, best) if best is not None else None
        if hours is not None and hours > LONGEST_H:
            said = f"{said} {tr('For the same work the rig is not cheaper within five years.')}"
        elif hours is not None:
            more = tr("For the same work the rig is cheaper after {hours} hours.",
                      hours=number(hours, 0))  # fmt: skip
            said = f"{said} {more}"
        told.append(said)
    return told
