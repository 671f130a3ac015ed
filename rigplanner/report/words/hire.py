"""Machines for hire in words."""

PROVIDERS = {
    "aws": "AWS", "azure": "Azure", "coreweave": "CoreWeave", "crusoe": "Crusoe", "digitalocean": "DigitalOcean",
    "google": "Google Cloud", "hyperstack": "Hyperstack", "lambda": "Lambda", "nebius": "Nebius", "oracle": "Oracle Cloud",
    "paperspace": "Paperspace", "runpod": "RunPod",
}  # fmt: skip


def provider_text(provider: str) -> str:
    """Return what a provider calls itself."""
    return PROVIDERS.get(provider, provider)


def machine_text(machine: str) -> str:
    """Return "runpod 1x RTX 5090" for reading."""
    provider, _, name = machine.partition(" ")
    return f"{provider_text(provider)} {name}".strip()
