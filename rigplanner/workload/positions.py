"""How long a sequence a network was made for."""

from __future__ import annotations

from functools import lru_cache

import msgspec

from rigplanner.workload.network import Network

POSITIONS = (
    "max_position_embeddings",
    "n_positions",
    "max_target_positions",
    "max_seq_len",
    "seq_length",
)
"""Names of the longest sequence in configurations; of those that give several the first."""
USUAL_LENGTH, ROUND = 2048, 64
TRANSLATED = 512
"""Tokens that networks of encoder and decoder without positions of their own (T5, section 3.1.1 of
Raffel et al. 2020, as remembered) were trained with."""


def positions_of(network: Network) -> int | None:
    """The tokens of one sequence that a network was made for; None where its configuration does not
    say."""
    return _positions(network.config) if network.config else None


@lru_cache(1024)
def _positions(config: bytes) -> int | None:
    fields = msgspec.json.decode(config)
    fields = fields.get("text_config") or fields
    told = next(
        (
            fields[name]
            for name in POSITIONS
            if isinstance(fields.get(name), int) and fields[name] > 0
        ),
        None,
    )
    return int(told) if told is not None else None


def usual_length(network: Network) -> int:
    """The tokens of a sequence where a job does not say: no more than the network has positions, of
    which RoBERTa leaves two."""
    kind_length = TRANSLATED if network.kind == "encoder_decoder" else USUAL_LENGTH
    told = positions_of(network) or kind_length
    return min(USUAL_LENGTH, told - told % ROUND or told)
