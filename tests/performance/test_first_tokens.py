"""Times to the first token of served models against published ones, which nothing is fitted to."""

from pathlib import Path

import numpy as np
from msgspec import Struct

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.decoding import read_json
from rigplanner.performance.predict import predict_speed
from rigplanner.rig.workload import Parallelism, Workload


class Row(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """One published time; lengths in tokens."""

    source: str
    gpu: str
    count: int
    link: str
    stack: str
    model: str
    precision: str
    input_tokens: int
    output_tokens: int
    users: int
    first_token_ms: float


class Rows(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The file of them."""

    about: str
    sources: dict[str, dict[str, str]]
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


FILE = read_json(Path(__file__).with_name("first_tokens.json").read_bytes(), Rows)


def told_ms(row: Row) -> float:
    work = Workload(
        model=row.model,
        task="serve",
        precision=row.precision,
        stack=row.stack,
        input_tokens=row.input_tokens,
        output_tokens=row.output_tokens,
        users=row.users,
        parallelism=Parallelism(tensor=row.count) if row.count > 1 else None,
    )
    gpu = find_gpu(row.gpu)
    found = predict_speed(work, gpu, row.count, 1, row.link, shipped_zoo()).serving
    assert found is not None
    return found.first_token_ms


def test_first_tokens_are_told_within_three_tenths() -> None:
    """The goal: 30 % in the median. Formats of 4 bits on B200 and B300 are left out of the bound:
    one of them took 7 times as long as 16 bits."""
    assert len(FILE.rows) >= 40 and all(source["read"] for source in FILE.sources.values())
    errors = [abs(told_ms(row) / row.first_token_ms - 1) for row in FILE.rows]
    assert np.median(errors) <= 0.30
    known = [error for error, row in zip(errors, FILE.rows, strict=True) if row.precision != "fp4"]
    assert np.quantile(known, 0.9) <= 0.50


def test_longer_prompts_and_more_users_wait_longer() -> None:
    first = next(row for row in FILE.rows if row.users == 1)
    base = told_ms(first)
    times = {"input_tokens": 2 * first.input_tokens, "users": 64}
    for field, value in times.items():
        fields = {name: getattr(first, name) for name in Row.__struct_fields__} | {field: value}
        assert told_ms(Row(**fields)) > 1.05 * base
