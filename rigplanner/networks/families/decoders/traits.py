"""The words that set families of decoders apart, and the sizes of a decoder."""

from __future__ import annotations

from msgspec import Struct

from rigplanner.networks.families.decoders.delta import DeltaForm


class Traits(Struct, frozen=True, kw_only=True):
    """What sets a family apart. `names` maps our names of linear layers to the family's. `block`:
    pre, sandwich, post, parallel (one norm), parallel_two, after (norm after each sum).
    `projection`: separate, split, sliced. `rope`: the share of the head that is rotated; it is cut
    out and joined again where that is not the whole head, with `rope_joins` also then;
    `rope_float`, `rope_wide`: in float. `mlp`: gated, gated_fused, plain. `qk_norm`: head, full,
    per_head (a norm of its own for each), late (head, after the rotation) or none.
    `broadcast_heads`: fused attention is given fewer key heads than query heads. `embedding_width`:
    that of an embedding brought to the hidden width by a linear layer (0: none). `softmax`: eager
    attention weighs in float, in the type of the `states`, or in its `own`; `scores` names a way of
    its own (workload.scores). `holds_unturned`: query and key as they were before the rotation live
    on while the layer attends; `holds_weights`: written attention weights of a layer while the next
    one runs. `mask_free`: fused attention is told that it is causal and gets no mask.
    `scaled_query`: the query is scaled by itself. `spread_positions`: positions are looked up for
    every sample. `gated_result`: the query's projection is twice as wide and its second half gates
    the result. `sub_norms`: a norm stands before the output of either layer (BitNet).
    `scaled_states`: the states are scaled before the head. `fixed_positions`: rows of a table that
    never trains are added to the embedding, which may be scaled where it lies (`scaled_in_place`).
    `holds_normed`, `holds_attended`: what the first norm, or attention, gave lives to the end of
    the layer, the latter with its weights. `down_bias`, `inner_dropout`: of the feed-forward
    layer's second product, and of what goes into it. `seen_square`: a table says which position
    sees which; `seen_places` tables number the positions. `inline_feed`: the feed-forward layer
    lets go of its input. `joint_dropout`: what runs in parallel is summed before it is dropped.
    `capped_at_once`: logits live while they are capped; `float_logits`: they are raised to float at
    once. `two_masks`: one for layers that see all and one for those with a window or chunk, both
    made before the first layer. `clipped`: queries, keys and values of a joint projection are
    clamped."""

    names: dict[str, str] = {}
    norm: str = "rms"
    block: str = "pre"
    projection: str = "separate"
    qkv_bias: bool = False
    out_bias: bool = False
    qk_norm: str = "none"
    rope: float = 1.0
    rope_joins: bool = False
    rope_float: bool = False
    rope_wide: bool = False
    learned_positions: int = 0
    mlp: str = "gated"
    mlp_bias: bool = False
    down_bias: bool = False
    inner_dropout: float = 0.0
    seen_square: bool = False
    seen_places: int = 0
    inline_feed: bool = False
    joint_dropout: bool = False
    capped_at_once: bool = False
    float_logits: bool = False
    clipped: bool = False
    act: str = "silu"
    scaled_embedding: bool = False
    scaled_residual: bool = False
    scaled_logits: bool = False
    scaled_states: bool = False
    fixed_positions: bool = False
    scaled_in_place: bool = False
    holds_normed: bool = False
    holds_attended: bool = False
    capped_attention: bool = False
    capped_logits: bool = False
    head_bias: bool = False
    attention_dropout: float = 0.0
    dropout: float = 0.0
    embedding_dropout: float = 0.0
    embedding_norm: bool = False
    eager_only: bool = False
    broadcast_heads: bool = False
    sinks: bool = False
    latent: bool = False
    last_norm: bool = True
    softmax: str = "float"
    scores: str = ""
    holds_unturned: bool = False
    holds_weights: bool = False
    mask_free: bool = False
    scaled_query: bool = False
    spread_positions: bool = False
    gated_result: bool = False
    embedding_width: int = 0
    sub_norms: bool = False
    two_masks: bool = False


class LatentForm(Struct, frozen=True, kw_only=True):
    """Multi-head latent attention: ranks of the compressed query (0: none) and of key and value
    together, and the parts of a head; whether pairs of neighbours are rotated, and whether anything
    is (`turns`)."""

    query_rank: int
    value_rank: int
    plain: int
    turned: int
    value: int
    interleaved: bool = True
    turns: bool = True


class Form(Struct, frozen=True, kw_only=True):
    """The sizes of a decoder. `entering`: the width of what attention takes in (0: that of the
    states). `unturned`: layers whose queries and keys are not rotated. `spare_rows`: rows of the
    embedding for which there is no logit. `always_masked`: a mask is made whatever the kernel could
    do without."""

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    ffn: int
    vocab: int
    tied: bool
    traits: Traits
    latent: LatentForm | None = None
    delta: DeltaForm | None = None
    positions: int = 0
    entering: int = 0
    unturned: tuple[int, ...] = ()
    spare_rows: int = 0
    always_masked: bool = False
