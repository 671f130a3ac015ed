"""The pictures of a job: their size, and of a language model that sees, how many there are and what
they take of the sequence."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import msgspec

from rigplanner.errors import WorkloadFault
from rigplanner.networks.image_tokens import Seen, seen_of
from rigplanner.rig.workload import Workload
from rigplanner.workload.network import Network

PICTURES = ("cnn", "vit", "detector", "segmenter")
DRAWN = ("diffusion_unet", "diffusion_transformer")
USUAL_EDGE, DRAWN_EDGE, EARLY_EDGE, EARLY_PARAMS = 224, 1024, 512, 1.5e9
"""Pixels of ImageNet's crops and of images that are drawn: 512 by Stable Diffusion 1 and 2 (0.86e9
parameters), 1024 since SDXL."""


def image_of(
    workload: Workload, network: Network, assumed: dict[str, str]
) -> int | tuple[int, int]:
    size = workload.image_size
    if size is None:
        native = _native_image(network)
        if network.kind in PICTURES + DRAWN or workload.images:
            assumed["image_size"] = (
                str(native) if isinstance(native, int) else " x ".join(map(str, native))
            )
        return native
    sides = [size] if isinstance(size, int) else list(size)
    if not 1 <= len(sides) <= 2 or not all(8 <= side <= 65_536 for side in sides):
        raise WorkloadFault(
            f"image_size: expected one or two edges from 8 to 65536 pixels, found {size}."
        )
    return sides[0] if len(sides) == 1 else (sides[0], sides[1])


def images_of(workload: Workload, network: Network, assumed: dict[str, str]) -> int:
    """Pictures in every sample; none where a language model that sees is not told."""
    if workload.images is None:
        if network.kind == "vlm":
            assumed["images"] = "0"
        return 0
    if workload.images and not network.sees:
        raise WorkloadFault(
            f"images: how '{network.family or network.slug}' reads images is not known, found"
            f" {workload.images}."
        )
    return workload.images


def pictures_of(workload: Workload, network: Network) -> tuple[int, float]:
    """Positions that the pictures of one sample take, and operations of seeing them; WorkloadFault
    where that is not known."""
    said: dict[str, str] = {}
    images, image = images_of(workload, network, said), image_of(workload, network, said)
    sides = (image, image) if isinstance(image, int) else image
    return images * places_of(network, image, said), network.seeing_flops(images, sides)


def places_of(network: Network, image: int | tuple[int, int], assumed: dict[str, str]) -> int:
    """Positions of the sequence that one picture takes."""
    sides = (image, image) if isinstance(image, int) else image
    places = _read(network.config or b"", sides).tokens
    assumed["tokens_per_image"] = str(places)
    return places


@lru_cache(1024)
def _read(config: bytes, sides: tuple[int, int]) -> Seen:
    return seen_of(msgspec.json.decode(config), sides)


def _native_image(network: Network) -> int | tuple[int, int]:
    """The edge that a network is usually run at: ImageNet's where its figures list it, else the
    first listed, or the one that its configuration names."""
    listed = [row.image_size for row in network.figures]
    if listed:
        return USUAL_EDGE if USUAL_EDGE in listed else listed[0]
    if network.kind in DRAWN:
        return (
            EARLY_EDGE
            if network.kind == "diffusion_unet" and network.params < EARLY_PARAMS
            else DRAWN_EDGE
        )
    edge = _named_edge(network.config) if network.config else None
    if network.kind == "detector" and isinstance(edge, list) and len(edge) == 2:
        return edge[0], edge[1]
    return edge if isinstance(edge, int) else USUAL_EDGE if network.kind in PICTURES else DRAWN_EDGE


@lru_cache(1024)
def _named_edge(config: bytes) -> Any:
    """The edge of images that a configuration names."""
    told = msgspec.json.decode(config)
    part = told.get("vision_config") or told.get("backbone_config")
    return told.get("image_size") or (
        part.get("image_size") if isinstance(part, dict) and not told.get("vocab_size") else None
    )
