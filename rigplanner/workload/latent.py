"""Multi-head latent attention on the tape."""

from __future__ import annotations

from rigplanner.workload import ops
from rigplanner.workload.attention import Form, Rope, attend, rotate
from rigplanner.workload.net import Net, Norm
from rigplanner.workload.tape import Tensor


class LatentAttention:
    """Multi-head latent attention (DeepSeek-V2): query, key and value pass through low-rank bottlenecks."""

    def __init__(self, net: Net, form: Form) -> None:
        assert form.latent is not None
        self.net, self.form, self.latent = net, form, form.latent
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
        assert rope is not None
        batch, length = x.shape[0], x.shape[1]
        narrow = self.query_norm(self.squeeze(x)) if self.squeeze and self.query_norm else x
        query = self.query(narrow).view(batch, form.heads, length, latent.plain + latent.turned)
        plain, turned = ops.split(tape, query, (latent.plain, latent.turned))
        stored, shared = ops.split(tape, self.down(x), (latent.value_rank, latent.turned))
        both = self.up(self.value_norm(stored)).view(batch, form.heads, length, latent.plain + latent.value)
        key, value = ops.split(tape, both, (latent.plain, latent.value))
        turned, shared = rotate(tape, turned, rope), rotate(tape, shared.view(batch, 1, length, latent.turned), rope)
        wide = Tensor((batch, form.heads, length, latent.turned), shared.dtype, shared.storage, shared.node)
        query, key = ops.cat(tape, (plain, turned)), ops.cat(tape, (key, wide))
        result = attend(self.net, query, key, value, mask, 0.0)
        return self.out(result.view(batch, length, form.heads * latent.value)), None
