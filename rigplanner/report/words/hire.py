"""Machines for hire in words."""

from collections.abc import Sequence

from rigplanner.catalog.cloud import CloudInstance, HireLimits, newest
from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import GPU, Price
from rigplanner.economics.spot import spot_hour
from rigplanner.report.columns import table_lines
from rigplanner.report.format import day, money, number, quantity
from rigplanner.report.language import listed, tr

PROVIDERS = {
    "aws": "AWS",
    "azure": "Azure",
    "coreweave": "CoreWeave",
    "colab": "Google Colab",
    "crusoe": "Crusoe",
    "digitalocean": "DigitalOcean",
    "floydhub": "FloydHub",
    "google": "Google Cloud",
    "hetzner": "Hetzner",
    "hyperstack": "Hyperstack",
    "kaggle": "Kaggle",
    "lambda": "Lambda",
    "leadergpu": "LeaderGPU",
    "nebius": "Nebius",
    "oracle": "Oracle Cloud",
    "paperspace": "Paperspace",
    "runpod": "RunPod",
    "trc": "TPU Research Cloud",
}


def provider_text(provider: str) -> str:
    """Return what a provider calls itself."""
    return PROVIDERS.get(provider, provider)


def spot_text(spot: Price | None) -> str:
    """Return the price an hour of a machine that its provider may take back, with its day and
    region, "" where it is not known."""
    if spot is None:
        return ""
    at = listed(filter(None, (day(spot.day), spot.region)))
    return tr("spot {price} an hour ({at})", price=money(spot.amount, spot.currency), at=at)


def machine_text(machine: str) -> str:
    """Return "runpod 1x RTX 5090" for reading."""
    provider, _, name = machine.partition(" ")
    return f"{provider_text(provider)} {name}".strip()


HIRE_COLUMNS = (
    "Machine", "Provider", "GPUs", "VRAM", "An hour", "Spot, per hour", "Hour of work on spot",
    "Day", "Limits",
)  # fmt: skip
"""Heads of the table of machines for hire; `hire_cells` has a cell for each."""
SOFT = {0: 14, 2: 12, 8: 16}
"""Columns of words, and how narrow they may become before others are left out."""
SPARE = (6, 1, 3, 7, 8, 5)
"""Columns that a narrow terminal does without, the first first."""


def hire_cells(machine: CloudInstance, catalog: Catalog) -> tuple[str, ...]:
    """Return a machine for hire as cells: name, provider, GPUs, their memory together, price on
    demand and spot with the day of the newest, what an hour of work costs on spot by the usual
    interruptions, limits; "" is not known."""
    asked, spot = newest(machine.on_demand), newest(machine.spot)
    gpu = catalog.get(machine.gpu) if machine.gpu else None
    memory = gpu.memory_gib if isinstance(gpu, GPU) else None
    month = newest(machine.monthly)
    priced = [price for price in (asked, spot, month) if price is not None]
    work = spot_hour(spot.amount).hour_of_work if spot else None
    paid = tr("free of charge") if machine.limits is not None and machine.limits.free else ""
    if month is not None and asked is None:
        paid = tr("{amount} per month", amount=money(month.amount, month.currency))
    return (
        machine.name,
        provider_text(machine.provider),
        f"{machine.count} × {machine.gpu_name}",
        quantity(memory * machine.count, "GiB") if memory else "",
        money(asked.amount, asked.currency) if asked else paid,
        money(spot.amount, spot.currency) if spot else "",
        money(work, spot.currency) if spot and work else "",
        day(max(price.day for price in priced)) if priced else "",
        limits_text(machine.limits),
    )


def hire_table(
    machines: Sequence[CloudInstance], catalog: Catalog, width: int | None = None
) -> str:
    """Return machines for hire as columns of plain text under their heads; `width`: columns of the
    terminal that they keep to."""
    rows = [hire_cells(machine, catalog) for machine in machines]
    return "\n".join(table_lines(tuple(map(tr, HIRE_COLUMNS)), rows, (), SOFT, SPARE, width))


def limits_text(limits: HireLimits | None) -> str:
    """Return what a provider allows, "" where nothing is known of it."""
    if limits is None:
        return ""
    said = [
        tr("free of charge") if limits.free else "",
        tr("{hours} h a session", hours=number(limits.session_h)) if limits.session_h else "",
        tr("ends after {minutes} min idle", minutes=number(limits.idle_min))
        if limits.idle_min
        else "",
        tr("{hours} h a week", hours=number(limits.week_h)) if limits.week_h else "",
    ]
    return listed(filter(None, said))


def spot_work_text(
    spot: Price, asked: Price | None, interruptions: float, checkpoint: float, restart: float
) -> str:
    """Return what an hour of work costs on spot, with so many interruptions a day, minutes between
    checkpoints and minutes to start again."""
    found = spot_hour(spot.amount, interruptions, checkpoint, restart)
    if found.hour_of_work is None:
        return tr("no work is done: each rented day loses all its hours to interruptions")
    text = tr(
        "{price} an hour of work: {times} interruptions a day lose {lost} h of 24 (half of"
        " {checkpoint} min between checkpoints, {restart} min to start again)",
        price=money(found.hour_of_work, spot.currency),
        times=number(interruptions),
        lost=number(found.lost_h, 2),
        checkpoint=number(checkpoint),
        restart=number(restart),
    )
    if asked is None or asked.currency != spot.currency:
        return text
    ratio = number(asked.amount / found.hour_of_work, 2)
    return tr("{text}; on demand costs {ratio} times as much", text=text, ratio=ratio)
