"""Optimizers by the names that trainers have for them: what each keeps of a trained value."""

from __future__ import annotations

import difflib
import re

from msgspec import Struct

from rigplanner.errors import WorkloadFault


class Optimizer(Struct, frozen=True):
    """Bytes of state per trained value in fp32 and in 16-bit parameters, and tensors that a step
    makes at once, per parameter."""

    state_fp32: float
    state_16: float
    copies: int = 0


OPTIMIZERS = {
    "adamw": Optimizer(8, 4, 1),
    "adam": Optimizer(8, 4, 1),
    "adamw_fused": Optimizer(8, 4),
    "adamw_apex_fused": Optimizer(8, 4),
    "adamw_anyprecision": Optimizer(8, 8),
    "stable_adamw": Optimizer(8, 6, 1),
    "grokadamw": Optimizer(12, 6),
    "paged_adamw": Optimizer(8, 8),
    "paged_lion": Optimizer(4, 4),
    "paged_lion_8bit": Optimizer(1.03, 1.03),
    "adamw_8bit": Optimizer(2.06, 2.06),
    "paged_adamw_8bit": Optimizer(2.06, 2.06),
    "paged_adamw_32bit": Optimizer(8, 8),
    "adamw_4bit": Optimizer(1.13, 1.13),
    "adamw_fp8": Optimizer(2.06, 2.06),
    "ademamix": Optimizer(12, 12),
    "ademamix_8bit": Optimizer(3.09, 3.09),
    "paged_ademamix": Optimizer(12, 12),
    "paged_ademamix_8bit": Optimizer(3.09, 3.09),
    "adafactor": Optimizer(0.02, 0.02),
    "adalomo": Optimizer(0.02, 0.02),
    "lomo": Optimizer(0, 0),
    "lion": Optimizer(4, 2),
    "lion_32bit": Optimizer(4, 4),
    "lion_8bit": Optimizer(1.03, 1.03),
    "sgd": Optimizer(0, 0),
    "sgd_momentum": Optimizer(4, 2),
    "rmsprop": Optimizer(4, 2),
    "rmsprop_bnb": Optimizer(4, 4),
    "rmsprop_bnb_8bit": Optimizer(1.03, 1.03),
    "adagrad": Optimizer(4, 2),
    "muon": Optimizer(4, 4),
    "galore": Optimizer(2, 1),
    "galore_adamw": Optimizer(2, 1),
    "galore_adamw_8bit": Optimizer(0.52, 0.52),
    "galore_adafactor": Optimizer(0.02, 0.02),
    "lamb": Optimizer(8, 4),
    "came": Optimizer(4, 2),
    "prodigy": Optimizer(16, 8),
    "adamw_bnb_8bit": Optimizer(2.06, 2.06),
    "apollo": Optimizer(0.5, 0.25),
    "schedulefree_adamw": Optimizer(8, 4, 1),
    "schedulefree_sgd": Optimizer(4, 2),
}
"""torch.optim: two moments of the parameter's type, a foreach step adds the root of the second.
8-bit states: one byte each and scales per 256 values (bitsandbytes, arXiv 2110.02861); bitsandbytes
keeps those of 32 bits so whatever the parameter is. Adafactor keeps rows and columns (arXiv
1804.04235), Lion and Muon one moment, AdEMAMix three (arXiv 2409.03137), GaLore moments of a
quarter of the matrix (arXiv 2403.03507), LOMO none (arXiv 2306.09782), Prodigy two moments, a sum
and the first weights (arXiv 2306.06101); StableAdamW sums 16-bit weights with a correction of their
type (optimi, Kahan summation)."""
OTHER_NAMES = {
    "adamw_torch": "adamw",
    "adamw_hf": "adamw",
    "adamw_torch_xla": "adamw",
    "adamw_torch_fused": "adamw_fused",
    "adamw_torch_npu_fused": "adamw_fused",
    "adamw_torch_8bit": "adamw_8bit",
    "adamw_torch_4bit": "adamw_4bit",
    "ao_adamw_8bit": "adamw_8bit",
    "ao_adamw_4bit": "adamw_4bit",
    "ao_adamw_fp8": "adamw_fp8",
    "adam_8bit": "adamw_8bit",
    "apollo_adamw": "apollo",
    "paged_lion_32bit": "paged_lion",
    "paged_ademamix_32bit": "paged_ademamix",
    "rmsprop_bnb_32bit": "rmsprop_bnb",
    "schedule_free_adamw": "schedulefree_adamw",
    "schedule_free_radam": "schedulefree_adamw",
    "schedule_free_sgd": "schedulefree_sgd",
    "adamw_schedule_free": "schedulefree_adamw",
    "came_pytorch": "came",
    "lion_pytorch": "lion",
    "optimi_adamw": "stable_adamw",
    "torch.optim.adamw": "adamw",
}
"""What trainers call them (transformers, OptimizerNames at 5.18; axolotl's config schema;
kohya's and ai-toolkit's are written together, AdamW8bit)."""
LAYERWISE = "_layerwise"
IN_BACKWARD = "optimizer_in_backward"
"""A word for a step on each layer as soon as its gradients are there: those of one layer are held
at once."""
FUSED_BACKWARD = ("lomo", "adalomo")
RUN_TOGETHER = re.compile(r"(?<=[a-z])_?(\d+)_?bit$")


def _written(word: str) -> str:
    """A name as `OPTIMIZERS` writes them: `PagedAdamW8bit` is paged_adamw_8bit."""
    plain = RUN_TOGETHER.sub(r"_\1bit", word.strip().casefold().replace("-", "_"))
    plain = plain.removesuffix(LAYERWISE)
    if plain.startswith("paged") and not plain.startswith("paged_"):
        plain = f"paged_{plain.removeprefix('paged')}"
    return OTHER_NAMES.get(plain, plain)


def find_optimizer(word: str) -> str:
    """Return the name in `OPTIMIZERS` of an optimizer as trainers call it; raise WorkloadFault with
    the nearest names for one that nobody knows."""
    found = _written(word)
    if found in OPTIMIZERS:
        return found
    near = difflib.get_close_matches(found, [*OPTIMIZERS, *OTHER_NAMES], 4, 0.4)
    raise WorkloadFault(
        f"optimizer: expected one of {', '.join(near or OPTIMIZERS)}, found {word[:40]!r}."
    )


def steps_in_backward(word: str | None) -> bool:
    """Whether an optimizer steps on each layer as the backward pass leaves it."""
    return word is not None and (
        word.casefold().endswith(LAYERWISE) or _written(word) in FUSED_BACKWARD
    )
