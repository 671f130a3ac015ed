"""State-space layers on the tape: the selective scan of Mamba and the chunked scan of Mamba-2.

Beside the fused kernels (mamba-ssm), transformers writes both out in plain PyTorch; a trace on the
CPU sees that path, a GPU is taken to have the kernels, which keep their input, their result and
little else, and make the rest again in the backward pass."""

from __future__ import annotations

from msgspec import Struct

from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Net, Norm
from rigplanner.networks.tracer.products import cat, conv1d, dense, einsum
from rigplanner.networks.tracer.strided import Array, array, empty, zeros
from rigplanner.networks.tracer.tape import BOOL, F32, Grads, Tape, Tensor, new, record

SCAN_PIECE = 2048
"""Tokens between the states that the kernel of the selective scan keeps (mamba-ssm,
selective_scan_fwd_kernel)."""


class StateForm(Struct, frozen=True, kw_only=True):
    """A state-space mixer: `inner` width, `state` values per channel, `kernel` of the convolution;
    Mamba has a `rank` of its step sizes, Mamba-2 `heads` of width `head_dim` in `groups` and a
    `chunk`. `normed`: step sizes and states are normed (Jamba, Falcon-Mamba: "bare"); `gated_norm`:
    the norm that takes the gate in; without it the gate is a plain product; `norm_place`: the gate
    comes "early" or "late", before or after a norm that stays in float (Falcon-H1). `scaled`: input
    and projection are multiplied by numbers."""

    inner: int
    state: int
    kernel: int
    rank: int = 0
    heads: int = 0
    head_dim: int = 0
    groups: int = 1
    chunk: int = 256
    bias: bool = False
    conv_bias: bool = True
    gated_norm: bool = True
    normed: str = ""
    norm_place: str = ""
    scaled: bool = False


class Mamba2:
    """Projection, convolution over time, chunked scan, gated norm, output."""

    def __init__(self, net: Net, hidden: int, form: StateForm) -> None:
        self.net, self.form, self.width = net, form, form.inner + 2 * form.groups * form.state
        self.filter = net.parameter(self.width, 1, form.kernel)
        self.filter_bias = net.parameter(self.width) if form.conv_bias else None
        self.into = net.linear("in_proj", hidden, form.inner + self.width + form.heads, form.bias)
        self.step_bias, self.decay, self.skip = (net.parameter(form.heads) for _ in range(3))
        self.norm = net.parameter(form.inner) if form.gated_norm else None
        self.out = net.linear("out_proj", form.inner, hidden, form.bias)

    def __call__(self, x: Tensor) -> Tensor:
        tape, form = self.net.tape, self.form
        joint = dense(self.into, array(tape, ops.sub_self(tape, x) if form.scaled else x))
        if form.scaled:
            joint = joint * new(tape, (1,), self.net.setting.dtype)
        if not tape.semantics.explicit_mask:
            return self.out(self._kernel(joint, x))
        decay = -array(tape, self.decay).float().of_result()
        gate, mixed, steps = joint.split(form.inner, self.width, form.heads)
        mixed = conv1d(mixed.transpose(1, 2), self.filter, self.filter_bias, form.kernel - 1)
        mixed = mixed.cut(2, x.shape[1]).of_input().transpose(1, 2)
        states = form.groups * form.state
        value, into, out = mixed.split(form.inner, states, states)
        heads = (*x.shape[:2], form.heads, form.head_dim)
        shape = (*x.shape[:2], form.groups, form.state)
        result = self._scan(
            value.reshape(*heads), steps, decay, into.reshape(*shape), out.reshape(*shape)
        )
        scanned = result.reshape(*x.shape[:2], form.inner)
        scanned = self._gated(scanned, gate)
        scanned = dense(self.out, scanned.to(x.dtype))
        del result
        return scanned

    def _kernel(self, joint: Tensor, x: Tensor) -> Tensor:
        """The fused kernel: its input and the result before the norm are kept; the backward pass
        makes the rest again."""
        tape, form = self.net.tape, self.form
        shape, low = (*x.shape[:2], form.inner), tape.autocast or x.dtype
        pieces = -(-x.shape[1] // form.chunk)
        states = (x.shape[0], pieces, form.heads, form.head_dim, form.state)
        kept = [joint, new(tape, shape, low)]
        whole, width = joint.shape, self.width
        _states = new(tape, states, F32), new(tape, (*x.shape[:2], width), low)

        def pull(grad: Tensor) -> Grads:
            _again = [
                new(tape, states, F32),
                new(tape, states, F32),
                new(tape, (*shape[:2], width), low),
                new(tape, shape, low),
            ]
            made = new(tape, whole, kept[0].dtype)
            kept.clear()
            return (made,)

        tape.saves()
        return record(tape, new(tape, shape, low), (joint,), pull)

    def _gated(self, x: Array, gate: Array) -> Array:
        if self.norm is None:
            return x * gate.of_input()
        if self.form.norm_place:
            return self._floating(x, gate)
        dtype = x.dtype
        x = x.float()
        x = x * gate.float().of_input()
        shape = x.shape
        pieces = x.reshape(*shape[:-1], self.form.groups, shape[-1] // self.form.groups)
        variance = pieces.squared().mean(-1)
        pieces = pieces * (variance + 1.0).reciprocal_root()
        x = pieces.reshape(*shape)
        return self.norm * x.to(dtype)

    def _floating(self, x: Array, gate: Array) -> Array:
        """The norm of Falcon-H1."""
        assert self.norm is not None
        dtype, shape, groups = x.dtype, x.shape, self.form.groups
        if self.form.norm_place == "early":
            x = x * gate.float().of_input()
        x = x.float().reshape(*shape[:-1], groups, shape[-1] // groups)
        variance = x.squared().mean(-1)
        x = x * (variance + 1.0).reciprocal_root()
        x = array(self.net.tape, self.norm).reshape(groups, shape[-1] // groups) * x
        x = x.reshape(*shape)
        if self.form.norm_place == "late":
            x = x * gate.float().of_input()
        return x.to(dtype)

    def _scan(self, value: Array, steps: Array, decay: Array, into: Array, out: Array) -> Array:
        tape, form = self.net.tape, self.form
        length, chunk = value.shape[1], form.chunk
        steps = steps + self.step_bias
        steps = steps.of_input()
        steps = steps.clamped()
        value, times = value.float(), form.heads // form.groups
        into = into.float().repeated(times, 2)
        out = out.float().repeated(times, 2)
        more = -length % chunk
        skipped = array(tape, self.skip).unsqueeze(-1) * value.padded(1, more)
        value = value * steps.unsqueeze(-1).float()
        decay = decay * steps.float()
        value, decay, into, out = (_chunks(item, more, chunk) for item in (value, decay, into, out))
        summed_up = decay.permute(0, 3, 1, 2)
        decay = summed_up
        sums = decay.cumsum()
        seen = _segments(self.net, decay).of_result()
        scores = einsum("bclhn,bcshn->bclsh", out, into)
        weights = scores * seen.permute(0, 2, 3, 4, 1)
        near = einsum("bclsh,bcshp->bclhp", weights, value)
        late = (sums.cut(-1, 1) - sums).of_result()
        faded = into * late.permute(0, 2, 3, 1).unsqueeze(-1)
        states = einsum("bclhn,bclhp->bchpn", faded, value)
        before = zeros(tape, states.shape[0], 1, *states.shape[2:], dtype=F32)
        states = cat([before, states], 1)
        between = _segments(self.net, sums.pick(-1).padded(-1, 1)).of_result().transpose(1, 3)
        fresh = einsum("bzch,bzhpn->bchpn", between, states)
        states = fresh.cut(1, fresh.shape[1] - 1)
        fading = sums.of_result()
        crossed = einsum("bclhn,bchpn->bclhp", out, states)
        far = crossed * fading.permute(0, 2, 3, 1).unsqueeze(-1)
        result = (near + far).contiguous()
        result = result.reshape(result.shape[0], -1, form.heads, form.head_dim)
        result = result + skipped
        del before
        return result.cut(1, length) if more else result


def _chunks(x: Array, more: int, chunk: int) -> Array:
    x = x.padded(1, more)
    return x.reshape(x.shape[0], -1, chunk, *x.shape[2:])


def _segments(net: Net, x: Array) -> Array:
    """Sums of all runs of a chunk: spread over a square, masked, summed up and masked again."""
    side = x.shape[-1]
    x = x.unsqueeze(-1).expand(*x.shape, side)
    x = x.masked(_hidden(net, side))
    summed = x.cumsum()
    return summed.masked(_hidden(net, side))


def _hidden(net: Net, side: int) -> Tensor:
    tape = net.tape
    _lower = new(tape, (side, side), BOOL)
    return new(tape, (side, side), BOOL)


class Mamba:
    """Projection, convolution over time, selective scan, gate, output."""

    def __init__(self, net: Net, hidden: int, form: StateForm) -> None:
        self.net, self.form = net, form
        self.filter = net.parameter(form.inner, 1, form.kernel)
        self.filter_bias = net.parameter(form.inner) if form.conv_bias else None
        self.into = net.linear("in_proj", hidden, 2 * form.inner, form.bias)
        self.sides = net.linear("x_proj", form.inner, form.rank + 2 * form.state)
        self.step, self.step_bias = net.parameter(form.inner, form.rank), net.parameter(form.inner)
        self.decay, self.skip = net.parameter(form.inner, form.state), net.parameter(form.inner)
        self.out = net.linear("out_proj", form.inner, hidden, form.bias)
        widths = (form.rank, form.state, form.state)
        self.norms = [Norm(net, form.normed, width) for width in widths] if form.normed else []

    def __call__(self, x: Tensor) -> Tensor:
        tape, form = self.net.tape, self.form
        joint = dense(self.into, array(tape, x)).transpose(1, 2)
        decay = -array(tape, self.decay).float().of_result()
        mixed, gate = joint.split(form.inner, form.inner, axis=1)
        mixed = conv1d(mixed, self.filter, self.filter_bias, form.kernel - 1)
        mixed = mixed.cut(2, x.shape[1]).of_input().transpose(1, 2)
        steps, into, out = dense(self.sides, mixed).split(form.rank, form.state, form.state)
        if self.norms:
            steps, into, out = (
                array(tape, norm(side.contiguous()))
                for norm, side in zip(self.norms, (steps, into, out), strict=True)
            )
        steps = dense(lambda rows: ops.linear(tape, rows, self.step), steps)
        steps = steps.transpose(1, 2).copy()
        bias, skip = array(tape, self.step_bias).float(), array(tape, self.skip).float()
        if not tape.semantics.explicit_mask:
            return dense(self.out, self._kernel(mixed, steps, into, out, gate).transpose(1, 2))
        scanned = self._scan(mixed.transpose(1, 2), steps, decay, into, out, skip, bias, gate)
        return dense(self.out, scanned.transpose(1, 2).to(x.dtype))

    def _kernel(self, *inputs: Array) -> Array:
        """The fused kernel: inputs, result, and the state after every so many tokens."""
        tape, value = self.net.tape, inputs[0]
        batch, length, inner = value.shape
        pieces, low = -(-length // SCAN_PIECE), tape.autocast or value.dtype
        kept = [
            *inputs,
            empty(tape, (batch, inner, pieces, 2 * self.form.state), F32),
            empty(tape, (batch, inner, length), low),
        ]
        shapes = [(item.shape, item.dtype) for item in inputs]

        def pull(grad: Tensor) -> Grads:
            made = [empty(tape, *shape) for shape in shapes]
            kept.clear()
            return made

        tape.saves()
        result = empty(tape, (batch, inner, length), low)
        record(tape, result, inputs, pull)
        return result

    def _scan(
        self,
        value: Array,
        steps: Array,
        decay: Array,
        into: Array,
        out: Array,
        skip: Array,
        bias: Array,
        gate: Array,
    ) -> Array:
        steps = steps + bias.to(steps.dtype).unsqueeze(-1)
        steps = steps.of_input()
        fading = (decay.unsqueeze(0).unsqueeze(2) * steps.unsqueeze(-1)).of_result()
        rates = steps.unsqueeze(-1) * into.unsqueeze(1).float()
        entering = rates * value.unsqueeze(-1).float()
        del rates
        result = one_by_one(fading, entering, out, value.dtype)
        result = result + value * skip.unsqueeze(0).unsqueeze(-1)
        return result * gate.of_input()


def one_by_one(fading: Array, entering: Array, out: Array, dtype: str) -> Array:
    """A scan written as a loop over tokens. Every state is kept, and again in the type of the
    tokens; in the backward pass a gradient of one token is written into zeros of the whole, and
    added to those of the tokens before."""
    tape, (batch, inner, length, _) = fading.tape, fading.shape
    low, whole = tape.autocast or dtype, fading.shape
    kept = _states(fading, out, low)
    pieces = [empty(tape, (length, batch, inner), low)]
    result = empty(tape, (batch, inner, length), low)
    pieces.clear()
    of_out = out.shape, out.dtype

    def pull(grad: Tensor) -> Grads:
        sides = empty(tape, *of_out)
        second, first = empty(tape, whole, F32), empty(tape, whole, F32)
        if length > 1:
            del kept[-1]
            second = _added(tape, second)
            first = _added(tape, first)
        kept.clear()
        return first, second, sides

    tape.saves()
    record(tape, result, (fading, entering, out), pull)
    return result


def _states(fading: Array, out: Array, low: str) -> list[Tensor]:
    tape, (batch, inner, length, state) = fading.tape, fading.shape
    kept: list[Tensor] = [
        fading,
        out,
        *(empty(tape, (many, batch, inner, state), F32) for many in (length, 1)),
    ]
    if low != F32:
        kept.insert(0, empty(tape, (length, batch, inner, state), low))
    return kept if tape.recording else []


def _added(tape: Tape, whole: Array) -> Array:
    _zeros = whole.like()
    return whole.like()
