"""The guide in words: its questions, its proposals with their reasons, and what it says when the
budget does not reach."""

from datetime import date

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.prices.exchange import convert
from rigplanner.performance.answer import SpeedEstimate
from rigplanner.planning.aims import Aim, Purpose
from rigplanner.planning.guide import (
    Ability,
    Advice,
    Cause,
    Proposal,
    Reason,
    Rented,
    hours_against,
)
from rigplanner.report.format import day, money, number, quantity, unit_text
from rigplanner.report.language import listed, tr, trn
from rigplanner.report.words.faults import fault_text
from rigplanner.report.words.hire import provider_text, spot_text
from rigplanner.rig.document import part_of

PURPOSES: dict[Purpose, tuple[str, str]] = {
    "little-money": (
        "Small budget",
        "The best speed for the price, and its limits.",
    ),
    "kaggle": ("I do Kaggle", "Fine-tune image and text models on one machine, overnight."),
    "vision": (
        "Computer vision research",
        "Train convolutional and transformer networks on images.",
    ),
    "language": ("Language models", "Fine-tune open models of 1 to 70 billion weights."),
    "serve": (
        "I want to serve a model",
        "Answer requests with a model of up to 70 billion weights.",
    ),
    "trying": (
        "First steps",
        "The cheapest machine that runs a model at home, or an hour in the cloud.",
    ),
}
"""Purpose to what a person calls it and what it means."""

AIM_WORDS = {
    "train-resnet18": "Train ResNet-18 on images of 224 pixels",
    "train-resnet50": "Train ResNet-50 on images of 224 pixels",
    "train-yolov8x": "Train YOLOv8x on images of 640 pixels",
    "train-convnext-384": "Train ConvNeXt-B on images of 384 pixels",
    "train-swin-384": "Train Swin-L on images of 384 pixels",
    "images-sdxl": "Generate 1024 px images with SDXL",
    "chat-8b": "Chat with a model of 8 billion weights in 4 bits",
    "tune-deberta-base": "Fine-tune DeBERTa-v3-base",
    "tune-deberta-large": "Fine-tune DeBERTa-v3-large",
    "qlora-3b": "Adapt a model of 3 billion weights (QLoRA)",
    "qlora-8b": "Fine-tune an 8B model (QLoRA, 4-bit)",
    "lora-8b": "Adapt a model of 8 billion weights (LoRA, 16 bits)",
    "train-1b": "Train all weights of a model of 1 billion",
    "qlora-32b": "Adapt a model of 32 billion weights (QLoRA)",
    "qlora-70b": "Adapt a model of 70 billion weights (QLoRA)",
    "serve-8b": "Serve 8 billion weights in 16 bits to 8 people",
    "serve-32b-int4": "Serve 32 billion weights in 4 bits to 4 people",
    "serve-70b-int4": "Serve a 70B model, 4-bit, 4 users",
    "serve-70b-fp8": "Serve 70 billion weights in 8 bits to 4 people",
    "serve-70b-bf16": "Serve 70 billion weights in 16 bits to 4 people",
}

DAYS_A_MONTH = 30
RUNS_WORDS = {"yes": "runs", "tight": "may just fit", "no": "does not fit", "unknown": "not known"}

REASON_TEXTS = {
    "gpu": "The job needs {needed} on each card; this card has {capacity}.",
    "system": "The job needs {needed}; this machine has {capacity} for it, everything included.",
    "board": ("Cheapest board that passes all checks with these parts."),
    "cpu": (
        "The cheapest processor for the board with at least the {cores} cores that feed the cards."
    ),
    "memory": (
        "At least as much as the {vram} of the cards together, so that a model can be loaded and"
        " kept."
    ),
    "ssd": "The cheapest fast drive of the size that data and models of this kind ask for.",
    "psu": "The cheapest supply that fits: {load} of load on {supply}.",
    "chassis": "Cheapest case that fits everything.",
    "cooler": "The cheapest cooler for the processor's socket and heat.",
}

CAUSE_TEXTS: dict[Cause, tuple[str, str]] = {
    "too-small": (
        "One choice of cards has too little memory for it.",
        "{count} choices of cards have too little memory for it.",
    ),
    "too-dear": (
        "One choice of cards costs more than the budget leaves.",
        "{count} choices of cards cost more than the budget leaves.",
    ),
    "not-todays": (
        (
            "One card has no price of the last two years, so it is not proposed; a used one may be"
            " worth a look."
        ),
        ("{count} cards were skipped: no price in the last two years. A used one may be worth it."),
    ),
    "no-host": (
        "For one choice of cards no priced board, supply and case fit together.",
        "For {count} choices of cards no priced board, supply and case fit together.",
    ),
    "rule": (
        "One choice was dropped because a rule calls it wrong.",
        "{count} choices were dropped because a rule calls them wrong.",
    ),
    "unknown": (
        "For one choice of cards memory or speed cannot be predicted.",
        "For {count} choices of cards memory or speed cannot be predicted.",
    ),
    "place": (
        "One card was left out because it needs a server's fans or is too loud for the place.",
        (
            "{count} cards were left out because they need a server's fans or are too loud for the"
            " place."
        ),
    ),
}


def purpose_title(purpose: Purpose) -> str:
    """Return what a person calls a purpose."""
    return tr(PURPOSES[purpose][0])


def purpose_note(purpose: Purpose) -> str:
    """Return one sentence on a purpose."""
    return tr(PURPOSES[purpose][1])


def aim_title(code: str) -> str:
    """Return an aim as a deed."""
    return tr(AIM_WORDS[code])


def headline(advice: Advice) -> str:
    """Return the answer in one sentence."""
    budget = (
        None
        if advice.answers.budget is None
        else money(advice.answers.budget, advice.answers.currency)
    )
    aim = aim_title(advice.aim.code)
    if advice.best is not None:
        price = money(advice.best.total, advice.answers.currency)
        return tr("{aim}: {price} at the prices in the catalog.", aim=aim, price=price)
    if advice.cheapest is not None:
        price = money(advice.cheapest.total, advice.answers.currency)
        return tr(
            "{aim} starts at {price}, above your budget of {budget}.",
            budget=budget or "",
            aim=aim,
            price=price,
        )
    if not advice.priced:
        currency = advice.answers.currency
        return tr(
            "The catalog has no prices that count in {currency}: fetch the exchange rates, or ask"
            " in USD.",
            currency=currency,
        )
    currency, rates = advice.answers.currency, advice.answers.rates
    if convert(1.0, "USD", currency, rates) is None:
        return tr(
            "{aim}: too few parts have a price that counts in {currency}. Fetch the exchange rates,"
            " or ask in USD.",
            aim=aim,
            currency=currency,
        )
    return tr("{aim}: no priced parts of the catalog do it without an error.", aim=aim)


def reason_text(reason: Reason) -> str:
    """Return why an item was chosen."""
    units = {"needed": "GiB", "capacity": "GiB", "vram": "GiB", "load": "W", "supply": "W"}
    values = {
        name: (
            quantity(value, units.get(name, ""), 0 if units.get(name) != "GiB" else 1)
            if isinstance(value, int | float) or value is None
            else value
        )
        for name, value in reason.values.items()
    }
    return tr(REASON_TEXTS[reason.code], **values)


def checked_text(proposal: Proposal) -> str:
    """Return what the rules say of a proposal in one sentence."""
    report = proposal.assessment.report
    warnings = trn("{count} warning", "{count} warnings", report.count("warning"))
    unknown = trn("{count} fact not known", "{count} facts not known", report.count("unknown"))
    return tr(
        "All checks run: no errors, {warnings}, {unknown}.",
        warnings=warnings,
        unknown=unknown,
    )


def age_text(proposal: Proposal, today: str) -> str:
    """Return how old the oldest price of a proposal is, "" while all are of the last month."""
    oldest = proposal.assessment.totals.oldest_price
    months = (
        (date.fromisoformat(today) - date.fromisoformat(oldest)).days // DAYS_A_MONTH
        if oldest
        else 0
    )
    if not months:
        return ""
    return trn(
        "The oldest price is one month old: ask for those of the day before you buy.",
        "The oldest price is {count} months old. Get current prices before you buy.",
        months,
    )


def item_rows(proposal: Proposal, catalog: Catalog) -> list[tuple[str, str, str]]:
    """Return part, price and reason of each item."""
    lines = {line.uid: line for line in proposal.assessment.totals.lines}
    reasons = {reason.uid: reason_text(reason) for reason in proposal.reasons}
    rows = []
    for item in proposal.rig.items:
        part = part_of(proposal.rig, catalog, item.part)
        name = part.name if part else item.part
        line = lines[item.uid]
        price = (
            money(line.amount, proposal.rig.currency) if line.amount is not None else tr("no price")
        )
        dated = price
        if line.unit and line.own:
            dated = tr(
                "{price}, price of an equal part of {day}", price=price, day=day(line.unit.day)
            )
        elif line.unit:
            dated = tr("{price}, price of {day}", price=price, day=day(line.unit.day))
        rows.append(
            (
                f"{item.quantity} × {name}" if item.quantity > 1 else name,
                dated,
                reasons.get(item.uid, ""),
            )
        )
    return rows


def speed_text(speed: SpeedEstimate) -> str:
    """Return a speed as its interval: "1 480 to 2 900 tokens/s"."""
    return tr(
        "{low} to {high} {unit}",
        low=number(speed.low),
        high=number(speed.high),
        unit=unit_text(speed.metric),
    )


def ability_text(ability: Ability) -> str:
    """Return whether an aim runs, with memory and speed: "runs, 14.1 of 16 GiB, 1 480 to 2 900
    tokens/s"."""
    parts = [tr(RUNS_WORDS[ability.runs])]
    if ability.needed_gib is not None and ability.capacity_gib is not None:
        parts.append(
            tr(
                "{needed} of {capacity}",
                needed=number(ability.needed_gib, 1),
                capacity=quantity(ability.capacity_gib, "GiB", 1),
            )
        )
    if ability.speed is not None:
        parts.append(speed_text(ability.speed))
    return listed(parts)


def doubt_text(ability: Ability) -> str:
    """Return why nothing is known of an aim, "" where all is."""
    return fault_text(ability.fault) if ability.runs == "unknown" else ""


def rented_text(machine: Rented, proposal: Proposal | None, aim: Aim) -> str:
    """Return a machine for hire with its price, and after how many hours of the same work the rig
    is cheaper."""
    values = {
        "provider": provider_text(machine.provider),
        "name": machine.name,
        "gpus": machine.gpus,
        "price": money(machine.price.amount, machine.price.currency),
        "day": day(machine.price.day),
        "speed": speed_text(machine.speed) if machine.speed else "",
    }
    said = tr("{provider} {name}, {gpus}, {speed}: {price} an hour ({day}).", **values)
    if spot := spot_text(machine.spot):
        said = f"{said} {tr('Or {spot}.', spot=spot)}"
    hours = hours_against(machine, proposal, aim) if proposal else None
    if hours is None:
        return said
    return (
        said
        + " "
        + tr("For the same work the rig is cheaper after {hours} hours.", hours=number(hours, 0))
    )


def passed_over_texts(advice: Advice) -> list[str]:
    """Return how many cards were passed over and why, most first."""
    counts = sorted(advice.passed_over.items(), key=lambda pair: -pair[1])
    return [trn(*CAUSE_TEXTS[cause], count) for cause, count in counts]
