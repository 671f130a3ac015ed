"""The table of a sweep as CSV, or as Parquet where pyarrow is installed."""

import csv
import io
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from rigplanner.planning.map.sweep import COLUMNS


def csv_text(records: Sequence[dict[str, Any]]) -> str:
    """Return a line a record under one head; empty cells are unknown."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return out.getvalue()


def writes_parquet() -> bool:
    """Whether this installation can write Parquet."""
    return find_spec("pyarrow") is not None


def parquet(records: Sequence[dict[str, Any]]) -> bytes:
    """Return the records as a Parquet file; whole numbers that may be missing stay whole numbers.
    Needs pyarrow."""
    import pandas as pd

    frame = pd.DataFrame(list(records), columns=list(COLUMNS))
    whole = dict.fromkeys(("batch_per_gpu", "length", "count"), "Int64")
    out = io.BytesIO()
    frame.astype(whole).to_parquet(out, index=False, engine="pyarrow")
    return out.getvalue()
