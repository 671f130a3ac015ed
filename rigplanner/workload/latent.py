"""Multi-head latent attention on the tape."""

from __future__ import annotations

from rigplanner.workload import ops
from rigplanner.workload.attention import Attention, Form, Rope, attend, rotate, rotate_pairs
from rigplanner.workload.net import Net, Norm
from rigplanner.workload.tape import Grads, Tensor, new, record

LIES = (True, True, False)
"""Queries and keys are joined of two parts and lie heads first; values are cut out of a joint projection."""


class LatentAttention(Attention):
    """Multi-head latent attention (DeepSeek-V2): query, key and value pass through low-rank bottlenecks."""

    joins = True

    def __init__(self, net: Net, form: Form) -> None:
        assert form.latent is not None
        self.net, self.form, self.latent, self.sinks = net, form, form.latent, None
        latent, heads, hidden = form.latent, form.heads, form.hidden
        wide = heads * (latent.plain + latent.turned)
        rank = latent.query_rank
        self.squeeze = net.linear("q_a_proj", hidden, rank) if rank else None
        self.query_norm = Norm(net, "rms", rank) if rank else None
        self.query = net.linear("q_b_proj" if rank else "q_proj", rank or hidden, wide)
        self.down = net.linear("kv_a_proj_with_mqa", hidden, latent.value_rank + latent.turned)
        self.value_norm = Norm(net, "rms", latent.value_rank)
        self.up = net.linear("kv_b_proj", latent.value_rank, heads * (latent.plain + latent.value))
        self.out = net.linear("o_proj", heads * latent.value, hidden)

    def __call__(self, x: Tensor, rope: Rope | None, mask: Tensor | None) -> tuple[Tensor, Tensor | None]:
        tape, form, latent = self.net.tape, self.form, self.latent
        batch, length = x.shape[0], x.shape[1]
        narrow = self.query_norm(self.squeeze(x)) if self.squeeze and self.query_norm else x
        query = self.query(narrow).view(batch, form.heads, length, latent.plain + latent.turned)
        stored, shared = ops.split(tape, self.down(x), (latent.value_rank, latent.turned))
        narrow, shared = self.value_norm(stored), shared.view(batch, 1, length, latent.turned)
        if latent.turns and rope is not None:
            plain, turned = ops.split(tape, query, (latent.plain, latent.turned))
            turn = rotate_pairs if latent.interleaved else rotate
            turned, shared = turn(tape, turned, rope), turn(tape, shared, rope)
            query = ops.cat(tape, (plain, turned))
            del plain, turned
        key, value = self._spread(narrow, shared)
        if self.net.setting.eager:
            result, weights = self._eager(query, key, value, mask)
        else:
            result, weights = attend(self.net, query, key, value, mask, form.traits.attention_dropout, LIES), None
        return self.out(result.view(batch, length, form.heads * latent.value)), weights

    def _spread(self, stored: Tensor, shared: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values of all heads from what is stored of them; the rotated part is the same for every head."""
        tape, latent, heads = self.net.tape, self.latent, self.form.heads
        batch, length = stored.shape[0], stored.shape[1]
        both = self.up(stored).view(batch, heads, length, latent.plain + latent.value)
        plain, value = ops.split(tape, both, (latent.plain, latent.value))
        return self._filled(plain, shared), value

    def _filled(self, plain: Tensor, shared: Tensor) -> Tensor:
        """An empty tensor into which both parts are copied; the gradient is copied once for each."""
        tape, dtype = self.net.tape, plain.dtype
        first, second = plain.shape, (*plain.shape[:3], shared.shape[3])
        whole = (*plain.shape[:3], plain.shape[3] + shared.shape[3])

        def pull(grad: Tensor) -> Grads:
            _copy = new(tape, whole, dtype)
            turned = new(tape, second, dtype)
            _copy = new(tape, whole, dtype)
            return new(tape, first, dtype), turned

        return record(tape, new(tape, whole, dtype), (plain, shared), pull)
