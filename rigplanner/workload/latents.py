"""What a token of a diffusion transformer stands for, and the values of its own that it reads."""

LATENT_PIXELS, FRAMES_PER_LATENT = 16, 4
"""Pixels per side that one token stands for (8 of the autoencoder times 2 of the patch), and frames
per latent frame of a clip."""
COARSER = {
    "ltx": (32, 8),
    "sana": (32, 4),
    "wan2.2-ti2v": (32, 4),
    "hunyuanimage": (32, 4),
    "mochi": (16, 6),
    "cogvideox-1.5": (16, 8),
}
"""Beginnings of the slugs of models whose autoencoder or patches are larger -> pixels per side of a
token and frames per latent frame (model cards: LTX-Video 32 x 32 x 8, Sana's DC-AE 32, Wan2.2's 16
times patches of two, HunyuanImage 2.1 32, Mochi 8 x 8 x 6 in patches of two; CogVideoX 1.5 joins
two latent frames, patch_size_t of its configuration)."""
LONG_PROMPTS = {"krea-2": 2000, "ideogram-4": 2000}
"""Tokens of prompt that the memory of a model's training grows as if it read (2.7 GiB for each
further sample of 512 pixels and 5.0 of 1,024: bghira/SimpleTuner, quickstart/KREA2.md and
IDEOGRAM4.md, read 2026-11-22); the time does not."""


EDITS = ("-edit", "kontext")
"""Words of models that change a picture: its tokens stand beside those of the new one, which is as
large (Qwen-Image-Edit, FLUX.1 Kontext; diffusers' pipelines join both)."""


def pictures_seen(slug: str) -> int:
    """Return how many pictures of one size a step of a model works on."""
    return 2 if any(word in slug for word in EDITS) else 1


def latent_tokens(slug: str, area: float, frames: int) -> float:
    """Return the tokens of a picture or clip of `area` pixels a frame, and of one it changes."""
    side, together = next(
        (sizes for begin, sizes in COARSER.items() if slug.startswith(begin)),
        (LATENT_PIXELS, FRAMES_PER_LATENT),
    )
    return pictures_seen(slug) * area / side**2 * (1 + (frames - 1) / together)
