"""The trace in closed form: live bytes after every operator are polynomials in batch and length, so
the peak is a maximum of few.

One trace with stand-ins for batch and length gives every moment's polynomial
(rigplanner.networks.closed_form.polynomial), and only the moments that can be the peak are kept. A
form is checked against a trace of real sizes and holds for the sizes between which the network
decides alike. Of a deep network whose layers are seen to be built alike two shallow ones are traced
instead, the form is checked on the shallower one and made with the first answer; other networks are
traced as they are the first time, and get their form when they are asked again."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations, pairwise, product
from operator import mul
from typing import Any, cast

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from rigplanner.errors import WorkloadFault
from rigplanner.garbage import collector_paused
from rigplanner.networks.closed_form.polynomial import (
    BatchTerms,
    LengthTerms,
    Stand,
    Terms,
    is_within,
    powers,
    terms_of,
)
from rigplanner.networks.closed_form.shallow import Shallow, built_of, deepened, deeper, shallow
from rigplanner.networks.config.config import full_config
from rigplanner.networks.families.build import builder
from rigplanner.networks.families.state_space.hybrid import STATES
from rigplanner.networks.tracer.net import Net, Setting
from rigplanner.networks.tracer.step import StepTrace, Trace, contradictions, trace_step
from rigplanner.networks.tracer.tape import BF16, CPU_TRACE, CUDA, Tape

WORTH = 8
"""Layers that a shallow network must save."""
PLAIN_LENGTH = 64
"""Tokens that stand for any length in what names the shape of a trace."""


class Form(Struct, frozen=True):
    """Moments of forward and backward pass as terms of live and of gradient bytes, the optimizer
    step, operations as terms, and what does not depend on the size. It holds from the first to the
    last size of each of `batches` and `lengths`."""

    moments: tuple[tuple[Terms, Terms], ...]
    forward: Terms
    step: Terms
    weights: int
    optimizer: int
    values: int
    trained: int
    sequence: bool
    batches: tuple[float, float]
    lengths: tuple[float, float]
    at_step: Terms | None = None
    step_gradients: Terms | None = None

    def holds(self, batch: int, length: int) -> bool:
        """Whether it tells of this size."""
        return (
            self.batches[0] <= batch <= self.batches[1]
            and self.lengths[0] <= length <= self.lengths[1]
        )


class _Shape(Struct, frozen=True):
    config: bytes
    setting: Setting
    precision: str
    optimizer: str
    traced: bool
    sequence: bool


class _Known(Struct):
    """What is known of a shape: the two shallow networks that tell of it, the first size and its
    trace of so many moments, its closed forms, and how often a form did not give a trace again."""

    cut: Shallow | None
    first: tuple[int, int, StepTrace, int] | None = None
    forms: list[Form] = []
    misses: int = 0


_known: dict[_Shape, _Known] = {}
MOST_SHAPES = 4096
MOST_MISSES = 3
"""Sizes at which a form is looked for in vain, until none is."""


@lru_cache(4096)
def traced_step(
    config: bytes, setting: Setting, precision: str, optimizer: str, traced: bool
) -> StepTrace:
    """The trace of a configuration, itself or by its closed form."""
    sequence = _is_sequence(config)
    general = replace(setting, batch=1, length=PLAIN_LENGTH if sequence else setting.length)
    shape = _Shape(config, general, precision, optimizer, traced, sequence)
    known = _known.get(shape)
    for form in known.forms if known else ():
        if form.holds(setting.batch, setting.length):
            return evaluate(form, setting.batch, setting.length)
    with collector_paused():
        if known is None:
            if len(_known) >= MOST_SHAPES:
                _known.clear()
            known = _known[shape] = _Known(_cut(shape))
        return (
            _traced_by_two(shape, known, setting, known.cut) if known.cut else None
        ) or _traced_whole(shape, known, setting)


def _cut(shape: _Shape) -> Shallow | None:
    """The two shallow networks that a deep one of layers built alike is traced as; None for
    others."""
    cut = shallow(msgspec.json.decode(shape.config)) if shape.sequence else None
    if cut is None or cut.missing < WORTH:
        return None
    plain = replace(shape.setting, checkpointing=False, loss="plain", sheds=False)
    return (
        cut
        if _built_alike(shape.config, plain, shape.precision.startswith("amp"), shape.traced)
        else None
    )


def _traced_by_two(
    shape: _Shape, known: _Known, setting: Setting, cut: Shallow
) -> StepTrace | None:
    """The trace of a deep network from two shallow ones, and its form where the shallower one has
    one."""
    # First the real trace of the shallower network: a form must give each of its moments again.
    few, moments = _measured(shape, cut.few, setting)
    if known.misses < MOST_MISSES:
        form = _form(shape, setting, (few, moments), cut)
        if form is not None:
            known.forms = [*known.forms, form]
            return evaluate(form, setting.batch, setting.length)
        known.misses += 1
    # No form: both shallow networks at this very size, moved to the depth that was asked.
    more, higher = _measured(shape, cut.more, setting)
    deep = deepened(moments, higher, (few, more), cut.missing)
    if deep is None:
        known.cut, known.misses = None, 0
        return None
    return _peaked(deeper(few, more, cut.missing), deep, setting.training)


def _peaked(figures: StepTrace, moments: Trace, training: bool) -> StepTrace:
    at_step, step_gradients = moments.pop() if training else (0, 0)
    before, held = max(moments)
    peak, gradients = (at_step, step_gradients) if at_step > before else (before, held)
    working = before - figures.weights - figures.optimizer - held
    return replace(figures, peak=peak, gradients=gradients, working=working, working_gradients=held)


def _traced_whole(shape: _Shape, known: _Known, setting: Setting) -> StepTrace:
    """The trace of a network as it is the first time, then by its form where that gives a trace
    again."""
    # Asked a second time, a form is worth its trace with stand-ins. It is believed where it gives
    # again a trace of real sizes: the first one if it holds there, else one made for the purpose.
    if known.first is not None and known.misses < MOST_MISSES:
        batch, length, first, count = known.first
        form = _form_of_whole(shape, setting, count)
        if form is not None:
            again = form.holds(batch, length)
            truth = first if again else _one_trace(shape, shape.config, setting)
            found = evaluate(form, setting.batch, setting.length)
            if _agrees(evaluate(form, batch, length) if again else found, truth):
                known.forms = [*known.forms, form]
                return found
        known.misses += 1
    made, moments = _measured(shape, msgspec.json.decode(shape.config), setting)
    known.first = known.first or (setting.batch, setting.length, made, len(moments))
    return made


@lru_cache(4096)
def _built_alike(config: bytes, setting: Setting, mixed: bool, traced: bool) -> bool:
    """Whether the layers between the first and the last ones of a deep network are equal, and the
    shallow ones have the same first and last layers; asked of the layers as they are built."""
    plain = msgspec.json.decode(config)
    cut = shallow(plain)
    assert cut
    with contradictions():
        deep, few, more = (
            _layers(one, setting, mixed, traced) for one in (plain, cut.few, cut.more)
        )
    if not deep or len(deep) - len(few) != cut.missing or len(more) != len(few) + 1:
        return False
    first = len(few) // 2
    last = len(few) - first
    middle = deep[first - 1 : len(deep) - last + 1]
    ends = deep[:first], deep[-last:]
    return all(layer == middle[0] for layer in middle) and all(
        (net[:first], net[-last:]) == ends for net in (few, more)
    )


def _layers(config: dict[str, Any], setting: Setting, mixed: bool, traced: bool) -> list[object]:
    """What each layer of a network was built of; none where it has no list of layers."""
    tape = Tape(CPU_TRACE if traced else CUDA, BF16 if mixed else None)
    known: dict[int, tuple[object, object]] = {}
    return [
        built_of(block, known)
        for block in getattr(builder(config)(Net(tape, setting)), "blocks", ())
    ]


@lru_cache(1024)
def _is_sequence(config: bytes) -> bool:
    """Whether what a network keeps is a polynomial in the length; scans pad it to whole chunks."""
    if any(kind in config for kind in STEPPED):
        return False
    if b'"n_embd"' in config or b'"patch_size"' in config:
        return b'"n_embd"' in config
    return b'"vocab_size"' in config or "vocab_size" in full_config(msgspec.json.decode(config))


STEPPED = (*(f'"model_type":"{kind}"'.encode() for kind in STATES if not kind.startswith("lfm2")),
    b'"model_type":"wav2vec2"', b'"model_type":"hubert"', b'"model_type":"wavlm"',
    b'"model_type":"unispeech', b'"model_type":"qwen3_next"', b'"model_type":"qwen3_5')  # fmt: skip
"""Networks with layers that scan by chunks or take samples by strides, as they are written in an
encoded configuration."""


def _agrees(found: StepTrace, traced: StepTrace) -> bool:
    """Whether a form gives a trace again; a bit of a flag for each of three samples is a part of a
    byte."""
    fields = ("weights", "forward_flops", "step_flops", "values", "trained", "optimizer")
    before = found.working + found.working_gradients - traced.working - traced.working_gradients
    alike = all(getattr(found, field) == getattr(traced, field) for field in fields)
    return alike and abs(before) < ROUNDED and abs(found.peak - traced.peak) < ROUNDED


ROUNDED = 64
"""Bytes that a form may differ by."""


def _one_trace(
    shape: _Shape, config: bytes, setting: Setting, trace: Trace | None = None
) -> StepTrace:
    with contradictions():
        make = builder(msgspec.json.decode(config))
        semantics = CPU_TRACE if shape.traced else CUDA
        return trace_step(
            make,
            setting,
            precision=shape.precision,
            optimizer=shape.optimizer,
            semantics=semantics,
            trace=trace,
        )


def _measured(
    shape: _Shape, config: dict[str, Any], setting: Setting, most: int = 0
) -> tuple[StepTrace, Trace]:
    """The trace of a configuration at one size and its moments, of which there may be `most`."""
    trace: Trace = _Moments(most) if most else []
    return _one_trace(shape, msgspec.json.encode(config), setting, trace), trace


class _Moments(list[tuple[int, int]]):
    """A trace that ends a trace whose steps are as many as a stand-in is large."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most

    def append(self, moment: tuple[int, int]) -> None:
        if len(self) >= self.most:
            raise OverflowError("more moments than at the size asked")
        super().append(moment)


def value(terms: Terms, batch: float, length: float) -> float:
    """A polynomial at one size."""
    if isinstance(terms, BatchTerms):
        return terms.one + batch * terms.b
    one, b, s, bs, ss, bss = terms
    return one + length * (s + length * ss) + batch * (b + length * (bs + length * bss))


def evaluate(form: Form, batch: int, length: int) -> StepTrace:
    """The trace at one size."""
    # The peak is the largest of the moments that were kept; the sums are written out, as this is
    # asked thousands of times a second.
    b, s = float(batch), float(length)
    at_step = value(form.at_step, b, s) if form.at_step else 0.0
    if form.sequence:
        square, row, area = s * s, b * s, b * s * s
        of_both = cast("tuple[tuple[LengthTerms, Terms], ...]", form.moments)
        before, kept = max(
            (one + b * by_b + s * by_s + row * by_bs + square * by_ss + area * by_bss, held)
            for (one, by_b, by_s, by_bs, by_ss, by_bss), held in of_both
        )
    else:
        of_batch = cast("tuple[tuple[BatchTerms, Terms], ...]", form.moments)
        before, kept = max((one + b * by_b, held) for (one, by_b), held in of_batch)
    held = round(value(kept, b, s))
    peak, gradients = before, held
    if at_step > before and form.step_gradients:
        peak, gradients = at_step, round(value(form.step_gradients, b, s))
    working = round(before) - form.weights - form.optimizer - held
    forward, step = round(value(form.forward, b, s)), round(value(form.step, b, s))
    return StepTrace(
        round(peak),
        form.weights,
        gradients,
        form.optimizer,
        forward,
        step,
        form.values,
        form.trained,
        working,
        held,
    )


def _form(
    shape: _Shape, setting: Setting, few: tuple[StepTrace, Trace], cut: Shallow
) -> Form | None:
    """The form of a deep network about a size at which the shallower of the two that tell of it was
    traced; None where that one's moments are no polynomials."""
    sides = _stands(shape, setting)
    general = replace(setting, batch=sides[0], length=sides[1])
    basis = powers(float(setting.batch), float(setting.length), shape.sequence)
    try:
        low, moments = _measured(shape, cut.few, general, len(few[1]))
        if len(moments) != len(few[1]) or not all(
            _gives(*pair, basis) for pair in zip(moments, few[1], strict=True)
        ):
            return None
        high, higher = _measured(shape, cut.more, general, 2 * len(moments))
    except WorkloadFault:
        return None
    deep = deepened(moments, higher, (low, high), cut.missing)
    return None if deep is None else _formed(shape, deeper(low, high, cut.missing), deep, sides)


def _gives(moment: tuple[int, int], live: tuple[int, int], basis: Terms) -> bool:
    return abs(float(sum(map(mul, terms_of(moment[0], True), basis))) - live[0]) < ROUNDED


def _form_of_whole(shape: _Shape, setting: Setting, count: int) -> Form | None:
    """The form of a network about a size, if it takes not many more moments than the `count` of the
    first trace."""
    sides = _stands(shape, setting)
    general = replace(setting, batch=sides[0], length=sides[1])
    try:
        made, moments = _measured(shape, msgspec.json.decode(shape.config), general, 2 * count)
    except WorkloadFault:
        return None
    return _formed(shape, made, moments, sides)


def _stands(shape: _Shape, setting: Setting) -> tuple[int, int]:
    """What stands for the batch and, of sequences, for the length; one is itself, as some copies
    are not made for it."""
    batch = 1 if setting.batch == 1 else Stand(3 if shape.sequence else 1, setting.batch)
    return batch, setting.length if setting.length == 1 or not shape.sequence else Stand(
        1, setting.length
    )


def _formed(shape: _Shape, made: StepTrace, moments: Trace, sides: tuple[int, int]) -> Form:
    """The form from a trace with stand-ins for its sizes, and what its comparisons left of them."""

    def terms(number: int) -> Terms:
        return terms_of(number, shape.sequence)

    # The optimizer's step comes last and is no moment of the passes.
    last = moments.pop() if shape.setting.training else None
    # A moment after which live bytes only grow, in every coefficient, is never the peak.
    highest = {
        here for here, following in pairwise(moments) if not is_within(here[0], following[0])
    } | {moments[-1]}
    found = [(terms(live), terms(held)) for live, held in highest]
    batches, lengths = (
        (float(side.least), side.most) if isinstance(side, Stand) else (float(side),) * 2
        for side in sides
    )
    return Form(
        tuple(undominated(found)),
        terms(made.forward_flops),
        terms(made.step_flops),
        made.weights,
        made.optimizer,
        made.values,
        made.trained,
        shape.sequence,
        batches,
        lengths,
        *((terms(last[0]), terms(last[1])) if last else ()),
    )


def undominated(moments: list[tuple[Terms, Terms]]) -> list[tuple[Terms, Terms]]:
    """Moments that may be larger than every other at some size of at least one sample of one
    token."""
    # At some sizes, corners first, the largest moment leads; what lies below a leader in every
    # coefficient falls away, and after the corners what lies below a mix of two leaders, too.
    left, leaders = moments, set[Terms]()
    for at, basis in enumerate(SPOTS[type(moments[0][0])]):
        lead = max(left, key=lambda item, basis=basis: sum(map(mul, item[0], basis)))[0]  # type: ignore[misc]
        if lead not in leaders:
            leaders.add(lead)
            left = [item for item in left if item[0] in leaders or not _within(item[0], lead, lead)]
        if at == CORNERS:
            left = [item for item in left if item[0] in leaders or not _led(item[0], leaders)]
    kept = [item for item in left if item[0] in leaders or not _led(item[0], leaders)]
    # Few are left: each is held against the mixes of all others.
    for item in tuple(kept) if len(kept) <= MOST_PAIRED else ():
        if _led(item[0], {other[0] for other in kept if other is not item}):
            kept.remove(item)
    return kept


CORNERS = 4
SPOTS: dict[type[Terms], list[Terms]] = {
    LengthTerms: [
        powers(2.0**b, 2.0**s, True)
        for b, s in (
            (4, 11),
            (0, 0),
            (15, 0),
            (0, 18),
            (15, 18),
            *product(range(0, 16, 3), range(0, 19, 3)),
        )
    ],
    BatchTerms: [powers(2.0**b, 1.0, False) for b in (4, 0, 15, *range(0, 16, 3))],
}
"""Sizes at which the moments that matter are looked for, by how many terms they have, those at the
corners first; moments that lead at none of them go only when that is proven of all sizes."""
MOST_PAIRED = 24
"""With more moments than these their pairs are not all tried."""


def _led(moment: Terms, others: set[Terms]) -> bool:
    """Whether at every size some of the others is at least as large."""
    return any(_within(moment, one, two) for one, two in combinations(others, 2))


def _within(moment: Terms, one: Terms, two: Terms) -> bool:
    """Whether at all sizes from one on a moment is at most the larger of two others: some mean of
    them has, written in batch - 1 and length - 1, no smaller coefficient."""
    low, high = 0.0, 1.0
    for wanted, first, second in zip(
        _from_one(moment), _from_one(one), _from_one(two), strict=True
    ):
        lead, need = first - second, wanted - second - 1e-3
        if lead > 0:
            low = max(low, need / lead)
        elif lead < 0:
            high = min(high, need / lead)
        elif need > 0:
            return False
    return low <= high


@lru_cache(4096)
def _from_one(terms: Terms) -> tuple[float, ...]:
    """The coefficients in powers of batch - 1 and length - 1, in an order of their own."""
    if isinstance(terms, BatchTerms):
        return (terms.one + terms.b, terms.b)
    one, b, s, bs, ss, bss = terms
    return (
        one + b + s + bs + ss + bss,
        s + bs + 2 * (ss + bss),
        ss + bss,
        b + bs + bss,
        bs + 2 * bss,
        bss,
    )
