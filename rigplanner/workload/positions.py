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
ENCODED = 512
"""Tokens that encoders and networks of encoder and decoder are given where nobody says more:
BERT's positions, and what T5 was trained with (Raffel et al. 2020, as remembered). Speed takes the
same."""


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
    most = ENCODED if network.kind in ("encoder", "encoder_decoder") else USUAL_LENGTH
    told = positions_of(network) or most
    return min(most, told - told % ROUND or told)
