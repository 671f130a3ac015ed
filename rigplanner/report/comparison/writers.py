"""Writers of a comparison by form: one table, for commands and window."""

from collections.abc import Callable

from rigplanner.plain_text import cleaned, cleaned_json
from rigplanner.report.comparison.content import (
    Comparison,
    csv_text,
    json_text,
    markdown,
)
from rigplanner.report.comparison.text_table import table
from rigplanner.report.comparison.web import comparison_html

FORMATS: dict[str, Callable[[Comparison], str]] = {
    "table": cleaned(table),
    "csv": cleaned(csv_text),
    "markdown": cleaned(markdown),
    "html": cleaned(comparison_html),
    "json": cleaned_json(json_text),
}
