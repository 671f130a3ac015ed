"""The figures that the advice on a card rests on: its rates, prices with their days, and the speeds
that it is held against."""

from collections.abc import Iterator

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import GPU, Price
from rigplanner.desktop.panels.reasons import Reason
from rigplanner.desktop.parts.columns import sources_of
from rigplanner.evidence import Step
from rigplanner.planning.map.advice import Advice
from rigplanner.planning.map.rank import Row
from rigplanner.report.language import listed, tr
from rigplanner.report.map.advice import LACK_WORDS, lack_text
from rigplanner.report.map.figures import speed_unit, title_of

RATES = {"fp16-slow": "fp16_vector", "fp64-slow": "fp64"}
"""What a card does too slowly to the field of that rate."""
FIELDS = {"p2p": "p2p", "ecc": "ecc", "fan": "cooling", "driver": "compute_capability"}
"""What a card lacks to the field that says so."""


def advice_reason(advice: Advice, catalog: Catalog, currency: str) -> Reason:
    """Return the figures behind each line of the advice, with their sources."""
    gpu = catalog.get(advice.row.gpu)
    steps = [*_rates(advice, gpu, catalog), *_others(advice, currency), *_prices(advice)]
    note = _flags(advice, gpu, catalog) if isinstance(gpu, GPU) else ""
    return Reason(tr("Advice on the card"), title_of(advice.row), tuple(steps), note)


def _rates(advice: Advice, gpu: object, catalog: Catalog) -> Iterator[Step]:
    for missing in advice.lacks:
        if missing.code not in RATES or not isinstance(gpu, GPU):
            continue
        rate, single = getattr(gpu.dense_tflops, RATES[missing.code]), gpu.dense_tflops.fp32
        yield Step(
            lack_text(missing),
            tr("rate / rate of FP32"),
            {tr("rate, TFLOPS"): rate, tr("rate of FP32, TFLOPS"): single},
            missing.share or 0.0,
            "",
            _source(gpu, f"dense_tflops.{RATES[missing.code]}", catalog),
        )


def _others(advice: Advice, currency: str) -> Iterator[Step]:
    for other in (advice.cheaper, advice.full):
        if other is not None:
            yield from (_speed(row) for row in (advice.row, other) if row.score is not None)
            yield from (_cost(row, currency) for row in (advice.row, other) if row.cost is not None)


def _speed(row: Row) -> Step:
    name = tr("Speed of {name}", name=title_of(row))
    formula = tr("80 % interval")
    ends: dict[str, float | str | None] = {tr("low"): row.low, tr("high"): row.high}
    return Step(name, formula, ends, row.score or 0.0, speed_unit([row]))


def _cost(row: Row, currency: str) -> Step:
    source = listed(filter(None, (row.price.source, row.price.day))) if row.price else ""
    return Step(
        tr("Price of {name}", name=title_of(row)), "", {}, row.cost or 0.0, currency, source
    )


def _prices(advice: Advice) -> Iterator[Step]:
    if advice.trend is not None:
        yield _price(tr("Earlier price of a new one"), advice.trend.older)
        yield _price(tr("Newest price of a new one"), advice.trend.newer)
    if advice.sells_for is not None:
        yield _price(tr("Price of a used one"), advice.sells_for)


def _price(name: str, price: Price) -> Step:
    return Step(name, "", {}, price.amount, price.currency, f"{price.source}, {price.day}")


def _flags(advice: Advice, gpu: GPU, catalog: Catalog) -> str:
    """What is a yes or no in the catalog, each with its source."""
    said = []
    for missing in advice.lacks:
        field = FIELDS.get(missing.code, "unsupported")
        if missing.code not in RATES:
            source = _source(gpu, field, catalog)
            said.append(f"{LACK_WORDS[missing.code]} ({source})" if source else lack_text(missing))
    return ". ".join(said)


def _source(gpu: GPU, field: str, catalog: Catalog) -> str:
    keys = sources_of(gpu, field)[:1]
    return listed(catalog.sources[key].title for key in keys if key in catalog.sources)
