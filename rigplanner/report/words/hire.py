"""Machines for hire in words."""

from rigplanner.catalog.schema.parts import Price
from rigplanner.report.format import day, money
from rigplanner.report.language import listed, tr

PROVIDERS = {
    "aws": "AWS",
    "azure": "Azure",
    "coreweave": "CoreWeave",
    "crusoe": "Crusoe",
    "digitalocean": "DigitalOcean",
    "google": "Google Cloud",
    "hyperstack": "Hyperstack",
    "lambda": "Lambda",
    "nebius": "Nebius",
    "oracle": "Oracle Cloud",
    "paperspace": "Paperspace",
    "runpod": "RunPod",
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
