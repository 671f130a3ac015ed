"""The walk in closed form: live bytes after every operator are polynomials in batch and length, so the peak is a maximum of few.

A network is walked as it is the first time; asked again with other sizes, it is walked at six small sizes (three of one
sequence, which is walked apart because some copies are not made for it), every moment's polynomial is solved from them, and only
the moments that can be the peak are kept. Of a deep network of equal layers two shallow ones are walked instead: at once where
its layers are seen to be built alike, else when the result agrees with the first walk; where it differs, the whole depth is
walked, one of the small sizes beside each of the next answers."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from typing import Any

import msgspec
from msgspec import Struct

from rigplanner.workload.architectures.families import builder
from rigplanner.workload.architectures.hybrid import STATES
from rigplanner.workload.shallow import Shallow, built_of, deepened, deeper, shallow
from rigplanner.workload.tape.net import Net, Setting
from rigplanner.workload.tape.step import Trace, Walk, contradictions, walk
from rigplanner.workload.tape.tape import BF16, CPU_TRACE, CUDA, Tape

WORTH = 8
"""Layers that a shallow network must save."""
BATCHES = (2, 3)
LENGTHS = (64, 96, 160)

Terms = tuple[float, ...]


class Form(Struct, frozen=True):
    """Moments of forward and backward pass as (terms, gradient bytes), the optimizer step, operations as terms, and what does not
    depend on the size."""

    moments: tuple[tuple[Terms, int], ...]
    forward: Terms
    step: Terms
    weights: int
    optimizer: int
    values: int
    trained: int
    sequence: bool
    at_step: Terms = ()
    step_gradients: int = 0


class _Shape(Struct, frozen=True):
    config: bytes
    setting: Setting
    precision: str
    optimizer: str
    traced: bool
    sequence: bool


class _Known(Struct):
    """What a shape was asked: the first size and its walk, the small sizes walked so far, the closed form once there is one.
    `formless`: its moments do not line up."""

    batch: int
    length: int
    walk: Walk
    measured: list[tuple[Walk, Trace]] = []
    form: Form | None = None
    shallow_fails: bool = False
    formless: bool = False


_known: dict[_Shape, _Known] = {}
MOST_SHAPES = 4096


@lru_cache(4096)
def walked(config: bytes, setting: Setting, precision: str, optimizer: str, traced: bool) -> Walk:
    """The walk of a configuration, itself or by its closed form."""
    sequence = _is_sequence(config)
    general = msgspec.structs.replace(setting, batch=min(2, setting.batch), length=64 if sequence else setting.length)
    shape = _Shape(config, general, precision, optimizer, traced, sequence)
    known = _known.get(shape)
    if known is not None and known.form is not None:
        return evaluate(known.form, setting.batch, setting.length)
    if known is not None and (sequence or setting.batch > 1):
        known.form = _form_of(shape, known)
        if known.form is not None:
            return evaluate(known.form, setting.batch, setting.length)
    found = _walk_of_two(config, setting, precision, optimizer, traced) or _walk(config, setting, precision, optimizer, traced)
    if known is None:
        if len(_known) >= MOST_SHAPES:
            _known.clear()
        _known[shape] = _Known(setting.batch, setting.length, found, shallow_fails=setting.images > 0)
    return found


def _walk_of_two(config: bytes, setting: Setting, precision: str, optimizer: str, traced: bool) -> Walk | None:
    """The walk of a deep network from two shallow ones at the same size, where its layers are built alike; None for others."""
    cut = shallow(msgspec.json.decode(config)) if _is_sequence(config) else None
    if cut is None or cut.missing < WORTH:
        return None
    general = msgspec.structs.replace(setting, batch=1, length=LENGTHS[0])
    if not _built_alike(config, general, precision.startswith("amp"), traced):
        return None
    measured = _measured(_Shape(config, setting, precision, optimizer, traced, True), setting, cut)
    if measured is None:
        return None
    one, moments = measured
    at_step, step_gradients = moments.pop() if setting.training else (0, 0)
    before, held = max(moments)
    peak, gradients = (at_step, step_gradients) if at_step > before else (before, held)
    working = before - one.weights - one.optimizer - held
    return msgspec.structs.replace(one, peak=peak, gradients=gradients, working=working, working_gradients=held)


@lru_cache(4096)
def _built_alike(config: bytes, setting: Setting, mixed: bool, traced: bool) -> bool:
    """Whether the layers between the first and the last ones of a deep network are equal, and the shallow ones have the same first
    and last layers; asked of the layers as they are built."""
    plain = msgspec.json.decode(config)
    cut = shallow(plain)
    assert cut
    with contradictions():
        deep, few, more = (_layers(one, setting, mixed, traced) for one in (plain, cut.few, cut.more))
    if not deep or len(deep) - len(few) != cut.missing or len(more) != len(few) + 1:
        return False
    first = len(few) // 2
    last = len(few) - first
    middle = deep[first - 1 : len(deep) - last + 1]
    ends = deep[:first], deep[-last:]
    return all(layer == middle[0] for layer in middle) and all((net[:first], net[-last:]) == ends for net in (few, more))


def _layers(config: dict[str, Any], setting: Setting, mixed: bool, traced: bool) -> list[object]:
    """What each layer of a network was built of; none where it has no list of layers."""
    tape = Tape(CPU_TRACE if traced else CUDA, BF16 if mixed else None)
    known: dict[int, tuple[object, object]] = {}
    return [built_of(block, known) for block in getattr(builder(config)(Net(tape, setting)), "blocks", ())]


@lru_cache(1024)
def _is_sequence(config: bytes) -> bool:
    """Whether what a network keeps is a polynomial in the length; scans pad it to whole chunks."""
    if any(kind in config for kind in STEPPED):
        return False
    return (b'"vocab_size"' in config and b'"patch_size"' not in config) or b'"n_embd"' in config


STEPPED = (*(f'"model_type":"{kind}"'.encode() for kind in STATES if not kind.startswith("lfm2")),
    b'"model_type":"wav2vec2"', b'"model_type":"hubert"',
    b'"model_type":"unispeech', b'"model_type":"qwen3_next"', b'"model_type":"qwen3_5')  # fmt: skip
"""Networks with layers that scan by chunks or take samples by strides, as they are written in an encoded configuration."""


def _form_of(shape: _Shape, known: _Known) -> Form | None:
    """The closed form from shallow networks where it gives the first walk again, else that of the whole depth once all its sizes
    are walked: one more with every call, so that no answer waits for all."""
    if not known.shallow_fails:
        form = _form(shape, True)
        if form is not None and _agrees(evaluate(form, known.batch, known.length), known.walk):
            return form
        known.shallow_fails = True
    settings = _small_settings(shape)
    if known.formless or len(known.measured) >= len(settings):
        return None
    measured = _measured(shape, settings[len(known.measured)], None)
    if measured is not None:
        known.measured = [*known.measured, measured]
    if len(known.measured) < len(settings):
        return None
    form, known.measured = _form_through(shape, known.measured), []
    known.formless = form is None
    return form


def _agrees(found: Walk, walked: Walk) -> bool:
    fields = ("peak", "weights", "forward_flops", "step_flops", "values", "trained", "optimizer")
    before = found.working + found.working_gradients, walked.working + walked.working_gradients
    return before[0] == before[1] and all(getattr(found, field) == getattr(walked, field) for field in fields)


def _walk(config: bytes, setting: Setting, precision: str, optimizer: str, traced: bool, trace: Trace | None = None) -> Walk:
    with contradictions():
        make = builder(msgspec.json.decode(config))
        return walk(make, setting, precision=precision, optimizer=optimizer, semantics=CPU_TRACE if traced else CUDA, trace=trace)


def value(terms: Terms, batch: float, length: float) -> float:
    """A polynomial at one size; without terms in the length it is that of an image network."""
    if len(terms) == 2:
        return terms[0] + batch * terms[1]
    one, b, s, bs, ss, bss = terms
    return one + length * (s + length * ss) + batch * (b + length * (bs + length * bss))


def evaluate(form: Form, batch: int, length: int) -> Walk:
    """The walk at one size."""
    b, s = float(batch), float(length)
    at_step = value(form.at_step, b, s) if form.at_step else 0.0
    if form.sequence:
        square, row, area = s * s, b * s, b * s * s
        before, held = max(
            (one + b * by_b + s * by_s + row * by_bs + square * by_ss + area * by_bss, held)
            for (one, by_b, by_s, by_bs, by_ss, by_bss), held in form.moments
        )
    else:
        before, held = max((one + b * by_b, held) for (one, by_b), held in form.moments)
    peak, gradients = (at_step, form.step_gradients) if at_step > before else (before, held)
    working = round(before) - form.weights - form.optimizer - held
    forward, step = round(value(form.forward, b, s)), round(value(form.step, b, s))
    return Walk(round(peak), form.weights, gradients, form.optimizer, forward, step, form.values, form.trained, working, held)


@lru_cache(256)
def _form(shape: _Shape, from_shallow: bool = False) -> Form | None:
    """The closed form of a network, or None where its moments do not line up or its layers differ."""
    cut = shallow(msgspec.json.decode(shape.config)) if from_shallow else None
    if from_shallow and cut is None:
        return None
    measured = [_measured(shape, setting, cut) for setting in _small_settings(shape)]
    found = [one for one in measured if one is not None]
    return _form_through(shape, found) if len(found) == len(measured) else None


def _small_settings(shape: _Shape) -> list[Setting]:
    """The sizes at which a network is walked to solve its polynomials."""
    lengths = LENGTHS if shape.sequence else (shape.setting.length,)
    batches = (1,) if shape.setting.batch == 1 else BATCHES
    return [msgspec.structs.replace(shape.setting, batch=batch, length=length) for batch in batches for length in lengths]


def _form_through(shape: _Shape, measured: list[tuple[Walk, Trace]]) -> Form | None:
    """The form through the walks at the small sizes; None where their moments do not line up."""
    if len({len(trace) for _, trace in measured}) != 1:
        return None
    return _solved(shape, [walk for walk, _ in measured], [trace for _, trace in measured])


def _measured(shape: _Shape, setting: Setting, cut: Shallow | None) -> tuple[Walk, Trace] | None:
    """The walk at one size and its moments, of the network itself or from two shallow ones."""
    if cut is None:
        trace: Trace = []
        return _walk(shape.config, setting, shape.precision, shape.optimizer, shape.traced, trace), trace
    few: Trace = []
    more: Trace = []
    configs = (msgspec.json.encode(cut.few), msgspec.json.encode(cut.more))
    low, high = (
        _walk(config, setting, shape.precision, shape.optimizer, shape.traced, trace)
        for config, trace in zip(configs, (few, more), strict=True)
    )
    moments = deepened(few, more, (low, high), cut.missing)
    return None if moments is None else (deeper(low, high, cut.missing), moments)


def _solved(shape: _Shape, walks: list[Walk], traces: list[Trace]) -> Form:
    solve = _solve_sequence if shape.sequence else _solve_batch
    at_step: Terms = ()
    held = 0
    if shape.setting.training:
        last = [trace.pop() for trace in traces]
        at_step, held = solve([live for live, _ in last]), last[0][1]
    moments = {(solve([trace[at][0] for trace in traces]), traces[0][at][1]) for at in range(len(traces[0]))}
    first = walks[0]
    return Form(
        tuple(_undominated(list(moments))), solve([one.forward_flops for one in walks]), solve([one.step_flops for one in walks]),
            first.weights,
        first.optimizer, first.values, first.trained, shape.sequence, at_step, held,
    )  # fmt: skip


def _solve_batch(values: list[int]) -> Terms:
    one, two = values
    slope = (two - one) / (BATCHES[1] - BATCHES[0])
    return (one - slope * BATCHES[0], slope)


def _solve_sequence(values: list[int]) -> Terms:
    if len(values) == len(LENGTHS):
        base, slope, bend = _quadratic(values)
        return (base, 0.0, slope, 0.0, bend, 0.0)
    low, high = _quadratic(values[:3]), _quadratic(values[3:])
    slopes = [(b - a) / (BATCHES[1] - BATCHES[0]) for a, b in zip(low, high, strict=True)]
    bases = [a - slope * BATCHES[0] for a, slope in zip(low, slopes, strict=True)]
    return (bases[0], slopes[0], bases[1], slopes[1], bases[2], slopes[2])


def _quadratic(values: list[int]) -> Terms:
    """The parabola through three values at LENGTHS (Newton's divided differences)."""
    x, y = LENGTHS, values
    first, second = (y[1] - y[0]) / (x[1] - x[0]), (y[2] - y[1]) / (x[2] - x[1])
    bend = (second - first) / (x[2] - x[0])
    return (y[0] - first * x[0] + bend * x[0] * x[1], first - bend * (x[0] + x[1]), bend)


def _undominated(moments: list[tuple[Terms, int]]) -> list[tuple[Terms, int]]:
    """Moments that may be larger than every other at some size of at least one sample of one token."""
    leaders = {max(moments, key=lambda item, at=at: value(item[0], *at))[0] for at in SPOTS}  # type: ignore[misc]
    left = [item for item in moments if item[0] in leaders or not any(_within(item[0], one, one) for one in leaders)]
    apart = [item for item in left if item[0] in leaders or not _led(item[0], leaders)]
    kept: list[tuple[Terms, int]] = []
    for item in sorted(apart, key=lambda item: -value(item[0], 32.0, 4096.0)):
        if not any(_within(item[0], other[0], other[0]) for other in kept):
            kept.append(item)
    for item in tuple(reversed(kept)) if len(kept) <= MOST_PAIRED else ():
        if _led(item[0], {other[0] for other in kept if other is not item}):
            kept.remove(item)
    return kept


SPOTS = [(2.0**b, 2.0**s) for b in range(0, 16, 3) for s in range(0, 20, 3)]
"""Sizes at which the moments that matter are looked for; those that lead at none of them go only when that is proven of all."""
MOST_PAIRED = 24
"""With more moments than these their pairs are not all tried."""


def _led(moment: Terms, others: set[Terms]) -> bool:
    """Whether at every size some of the others is at least as large."""
    return any(_within(moment, one, two) for one, two in combinations(others, 2))


def _within(moment: Terms, one: Terms, two: Terms) -> bool:
    """Whether at all sizes from one on a moment is at most the larger of two others: some mean of them has, written in batch - 1
    and length - 1, no smaller coefficient."""
    low, high = 0.0, 1.0
    for wanted, first, second in zip(_from_one(moment), _from_one(one), _from_one(two), strict=True):
        lead, need = first - second, wanted - second - 1e-3
        if lead > 0:
            low = max(low, need / lead)
        elif lead < 0:
            high = min(high, need / lead)
        elif need > 0:
            return False
    return low <= high


@lru_cache(4096)
def _from_one(terms: Terms) -> Terms:
    """The coefficients in powers of batch - 1 and length - 1."""
    if len(terms) == 2:
        return (terms[0] + terms[1], terms[1])
    one, b, s, bs, ss, bss = terms
    return (one + b + s + bs + ss + bss, s + bs + 2 * (ss + bss), ss + bss, b + bs + bss, bs + 2 * bss, bss)
