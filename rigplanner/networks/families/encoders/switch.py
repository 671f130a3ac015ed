"""Switch Transformers on the tape: T5 some of whose layers send every token to one expert of
several."""

from __future__ import annotations

from rigplanner.networks.families.decoders.attention import softmax_wide
from rigplanner.networks.families.encoders.seq2seq import T5, T5Block
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.tape import F32, I64, Tape, Tensor, new, record


def added_rows(tape: Tape, whole: Tensor, rows: Tensor) -> Tensor:
    """index_add_ of rows."""
    shape = rows.shape
    return record(
        tape,
        Tensor(whole.shape, whole.dtype, whole.storage),
        (whole, rows),
        lambda grad: (grad, new(tape, shape, grad.dtype)),
    )


class SwitchBlock(T5Block):
    """A layer whose tokens go to one expert each, taken to be equally many; an expert takes so many
    of a sequence at most."""

    def _make_feed(self, outer: int, inner: int) -> None:
        net, config = self.net, self.config
        self.router = net.linear(
            "classifier", outer, config["num_experts"], bool(config.get("router_bias"))
        )
        count = range(config["num_experts"])
        self.experts = [
            (net.linear("wi", outer, inner), net.linear("wo", inner, outer)) for _ in count
        ]

    def _feed(self, x: Tensor) -> Tensor:
        tape, experts, setting = self.net.tape, len(self.experts), self.net.setting
        low = x.dtype
        scores = self.router(ops.cast(tape, x, F32))
        odds = ops.cast(tape, softmax_wide(tape, scores), low)
        _chosen = new(tape, odds.shape, I64)
        _places = new(tape, odds.shape[:2], I64)
        best = record(
            tape,
            new(tape, (*x.shape[:2], 1), low),
            (odds,),
            lambda grad: (new(tape, odds.shape, grad.dtype),),
        )
        most = min(setting.length, self.config["expert_capacity"] * experts) * setting.batch
        whole = new(tape, x.shape, low)
        for at, (up, down) in enumerate(self.experts):
            count = most // experts + (at < most % experts)
            if not count:
                continue
            made = ops.keeping_result(tape, up(ops.resized(tape, x, (count, x.shape[2]))))
            made = down(self.net.drop(made, self.share))
            made = ops.mul(tape, made, ops.resized(tape, best, (count, 1)))
            whole = added_rows(tape, whole, ops.cast(tape, made, low))
        return whole


def sparse_at(at: int, layers: int, sparse: int) -> bool:
    """Whether a layer has experts (SwitchTransformersConfig)."""
    step = layers // sparse if sparse > 0 else layers
    return step == 1 or (step > 0 and at % step == 1)


class Switch(T5):
    """Switch Transformers (Fedus et al. 2021)."""

    def _block(self, at: int, decodes: bool) -> T5Block:
        side = "decoder" if decodes else "encoder"
        layers = (self.config.get("num_decoder_layers") if decodes else 0) or self.config[
            "num_layers"
        ]
        sparse = sparse_at(at, layers, self.config[f"num_sparse_{side}_layers"])
        return (SwitchBlock if sparse else T5Block)(self.net, self.config, at == 0, decodes)
