"""The figures of a part with the source of each, as text: what sources say against each other, and
what the maker leaves out."""

from html import escape

from rigplanner.catalog.lint.completeness import has_field
from rigplanner.catalog.schema.parts import GPU, AnyPart, Doubt, Part, kind_of
from rigplanner.desktop.parts.columns import COLUMNS, COMMON, Column, sources_of
from rigplanner.desktop.parts.model import figure_cell
from rigplanner.desktop.words import day, shortened
from rigplanner.evidence import Source
from rigplanner.report.language import listed, tr
from rigplanner.report.words.fields import FIELD_WORDS

MATRIX_RATES = ("dense_tflops.fp16", "dense_tflops.bf16", "dense_tflops.fp8")
MOST_SOURCES = 2
"""Sources that are numbered beside one figure."""


class _Numbers:
    """The numbers of sources in the order in which figures name them."""

    def __init__(self) -> None:
        self.given: dict[str, int] = {}

    def marks(self, keys: list[str]) -> str:
        """Return the numbers of the first sources as a mark, "" where there is none."""
        numbers = [
            str(self.given.setdefault(key, len(self.given) + 1)) for key in keys[:MOST_SOURCES]
        ]
        return f" <span class=soft>[{','.join(numbers)}]</span>" if numbers else ""


def facts_html(part: AnyPart, sources: dict[str, Source]) -> str:
    """Return all known figures of a part in rows of two, each with the number of its source, then
    where sources disagree, what the maker does not publish, what is not verified, and the sources.
    """
    numbers = _Numbers()
    shown = (*COLUMNS[kind_of(part)], *COMMON)
    cells = [_fact(part, spec, numbers) for spec in shown if _is_told(part, spec)]
    pairs = [
        cells[n] + (cells[n + 1] if n + 1 < len(cells) else "<td></td><td></td>")
        for n in range(0, len(cells), 2)
    ]
    table = "<table cellspacing=0>" + "".join(f"<tr>{pair}</tr>" for pair in pairs) + "</table>"
    above = {spec.field for spec in shown if _is_told(part, spec)}
    told = _conflicts(part) + _unpublished(part, above, numbers) + _unverified(part, above)
    named = "<br>".join(_source(number, key, sources) for key, number in numbers.given.items())
    return f"{table}{told}<p class=soft>{named}</p>"


def own_html(told: list[str]) -> str:
    """Return the owner's own figures of a part, above what the catalog has; "" for none."""
    if not told:
        return ""
    lines = "<br>".join(escape(text) for text in told)
    return f"<p><b>{escape(tr('My figures'))}</b><br>{lines}</p>"


def _is_told(part: AnyPart, spec: Column) -> bool:
    if spec.of(part) not in (None, "") or _unpublished_by(part, spec.field):
        return True
    return spec.in_table and (has_field(part, spec.field) or isinstance(part, GPU))


def _fact(part: AnyPart, spec: Column, numbers: _Numbers) -> str:
    figure = _figure(part, spec, numbers) + _mark(_doubt(part, spec.field))
    return f"<td class=soft>{escape(tr(spec.title))}</td><td>{figure}</td>"


def _figure(part: AnyPart, spec: Column, numbers: _Numbers) -> str:
    value = spec.of(part)
    if value is None and (keys := _unpublished_by(part, spec.field)):
        return f"<span class=unknown>{tr('not published by the maker')}</span>{numbers.marks(keys)}"
    if value is None and not has_field(part, spec.field):
        return tr("no matrix units") if spec.field in MATRIX_RATES else tr("none")
    if value is None:
        return f"<span class=unknown>? {tr('unknown')}</span>"
    figure = figure_cell(value, spec)
    unit = f"\u202f<span class=soft>{escape(figure.unit)}</span>" if figure.unit else ""
    return (
        f"{escape(shortened(figure.text, 120))}{unit}{numbers.marks(sources_of(part, spec.field))}"
    )


def _doubt(part: Part, field: str) -> Doubt | None:
    return part.doubts.get(field) or part.doubts.get(field.split(".")[-1])


def _mark(doubt: Doubt | None) -> str:
    if doubt is None:
        return ""
    if doubt.state == "conflict":
        return f" <span class=warns>{tr('sources disagree')}</span>"
    if doubt.state == "inferred":
        return f" <span class=unknown>{tr('inferred')}</span>"
    return f" <span class=unknown>{tr('not verified')}</span>"


def _unpublished_by(part: Part, field: str) -> list[str]:
    return [key for key, fields in part.unpublished.items() if field in fields]


def field_title(part: AnyPart, field: str) -> str:
    """Return what the window calls a field: the title of its column, or its words in findings."""
    title = next(
        (spec.title for spec in (*COLUMNS[kind_of(part)], *COMMON) if spec.field == field), None
    )
    last = field.rpartition(".")[2]
    return tr(title or FIELD_WORDS.get(last, last.replace("_", " ")))


def _conflicts(part: AnyPart) -> str:
    """Return a line for each figure on which sources disagree, with what each says."""
    disputed = [(field, doubt) for field, doubt in part.doubts.items() if doubt.state == "conflict"]
    if not disputed:
        return ""
    rows = "".join(
        f"<tr><td class=soft>{escape(field_title(part, field))}</td>"
        f"<td>{escape('  ·  '.join(doubt.values))}"
        + (f" <span class=soft>{escape(doubt.note)}</span>" if doubt.note else "")
        + "</td></tr>"
        for field, doubt in disputed
    )
    return f"<p class=warns>{tr('Sources disagree')}</p><table cellspacing=0>{rows}</table>"


def _unpublished(part: AnyPart, above: set[str], numbers: _Numbers) -> str:
    """Return which further figures pages of the maker leave out."""
    left_out = {
        key: [field for field in fields if field not in above]
        for key, fields in part.unpublished.items()
    }
    lines = [
        tr("The maker does not publish: {fields}.", fields=escape(_titles(part, fields)))
        + numbers.marks([key])
        for key, fields in left_out.items()
        if fields
    ]
    return "".join(f"<p class=unknown>{line}</p>" for line in lines)


def _unverified(part: AnyPart, above: set[str]) -> str:
    """Return which further figures rest on no source that was read."""
    fields = [
        field
        for field, doubt in part.doubts.items()
        if doubt.state != "conflict" and field not in above
    ]
    return (
        f"<p class=soft>{tr('Not verified: {fields}.', fields=escape(_titles(part, fields)))}</p>"
        if fields
        else ""
    )


def _titles(part: AnyPart, fields: list[str]) -> str:
    return listed(dict.fromkeys(field_title(part, field) for field in fields))


def _source(number: int, key: str, sources: dict[str, Source]) -> str:
    source = sources.get(key)
    if source is None:
        return f"[{number}] {escape(key)}"
    title = escape(shortened(source.title, 90))
    if source.url and source.url.startswith(("https://", "http://")):
        title = f'<a href="{escape(source.url)}">{title}</a>'
    return tr(
        "[{number}] {title}, {trust}, read {read}",
        number=number,
        title=title,
        trust=escape(source.trust),
        read=day(source.read),
    )
