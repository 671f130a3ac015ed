"""`make site`: the documentation as static pages, with a page for each GPU and each system.

Pages are written into build/pages and made into build/site by MkDocs, which refuses links that lead
nowhere. No page loads anything from elsewhere, and nothing counts its readers."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from rigplanner.catalog.load import shipped_catalog
from rigplanner.catalog.schema.parts import GPU, AnyPart, System
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.evidence import Source
from rigplanner.performance.measured import Measured, shipped_measured
from rigplanner.planning.map.runs import Run, run_of
from rigplanner.report.rule_book import rule_book
from rigplanner.report.words.fields import FIELD_WORDS
from rigplanner.report.words.workloads import title_of

ROOT = Path(__file__).resolve().parent.parent
PAGES, SITE = ROOT / "build" / "pages", ROOT / "build" / "site"
APART = ("id", "name", "sources", "doubts", "unpublished", "prices", "aliases", "notes")
MOST_ROWS = 60
"""Measured rows on one page; the whole table is in the open data."""
UNITS = {
    "w": "W", "mm": "mm", "gib": "GiB", "gb": "GB", "gbs": "GB/s", "mhz": "MHz", "ghz": "GHz",
    "mib": "MiB", "tflops": "TFLOPS", "gbps": "Gbit/s", "bits": "bit", "mts": "MT/s",
}  # fmt: skip
ASKED = (
    "llama-3.1-8b", "qwen3-8b", "gpt-oss-20b", "gemma-3-27b", "qwen3-32b", "qwen3-30b-a3b",
    "llama-3.3-70b", "gpt-oss-120b",
)  # fmt: skip
"""Networks of which each page says how they run: the usual open ones from 8 to 120 billion."""


def cell(value: object) -> str:
    """Return a value as text that stands in a cell of a table."""
    return re.sub(r"([|<>\[\]*_`])", r"\\\1", " ".join(plain(msgspec.to_builtins(value)).split()))


def plain(value: object) -> str:
    """Return a value of the catalog as words: of a list its entries, of a struct name and value."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.6g}"
    if isinstance(value, list | tuple):
        return "; ".join(map(plain, value))
    if isinstance(value, dict):
        return ", ".join(f"{key.replace('_', ' ')} {plain(one)}" for key, one in value.items())
    return str(value)


def rows(head: tuple[str, ...], lines: Iterable[tuple[object, ...]]) -> list[str]:
    """Return a table in Markdown, or nothing when it has no line."""
    body = ["| " + " | ".join(map(cell, line)) + " |" for line in lines]
    if not body:
        return []
    return [f"| {' | '.join(head)} |", "|" + " --- |" * len(head), *body, ""]


def words(field: str) -> str:
    """Return what people call a field, its unit from the field's own name."""
    last = field.rpartition(".")[2]
    unit = UNITS.get(last.rpartition("_")[2], "")
    name = FIELD_WORDS.get(last, last.replace("_", " "))
    return f"{name}, {unit}" if unit and unit not in name else name


def slug(part: AnyPart) -> str:
    return part.id.replace(".", "-")


def link(source: Source) -> str:
    title = cell(source.title)
    address = (source.url or "").replace(" ", "%20")
    return f"[{title}]({address})" if address.startswith("http") else title


def part_page(part: AnyPart, sources: Mapping[str, Source]) -> list[str]:
    """Return the head of a part's page: figures with what settled them, doubts, prices."""
    number = {key: n for n, key in enumerate(part.sources, 1)}
    settled: dict[str, dict[str, None]] = {}
    for key, fields in part.sources.items():
        for field in fields:
            settled.setdefault(field.partition(".")[0], {})[f"{number[key]}"] = None
    figures = [
        (words(field), getattr(part, field), ", ".join(settled.get(field, settled.get("*", ()))))
        for field in part.__struct_fields__
        if field not in APART and getattr(part, field) not in (None, (), {}, "")
    ]
    page = [f"# {cell(part.name)}", "", f"`{part.id}`", ""]
    page += [cell(part.notes), ""] if part.notes else []
    page += rows(("Figure", "Value", "Source"), figures)
    doubts = [(words(f), d.state, " / ".join(d.values), d.note) for f, d in part.doubts.items()]
    if doubts:
        page += ["## Not settled", ""]
        page += rows(("Figure", "State", "Values", "Note"), doubts)
    if part.prices:
        page += ["## Prices", ""]
        page += rows(
            ("Day", "Price", "Region", "Source"),
            (
                (p.day, f"{p.amount:,.2f} {p.currency}", p.region or "", p.source)
                for p in part.prices
            ),
        )
    page += ["## Sources", ""]
    for key, n in number.items():
        source = sources[key]
        page.append(f"{n}. {link(source)} ({source.trust}, read {source.read})")
    return [*page, ""]


def measured_rows(found: list[Measured]) -> list[str]:
    """Return the measured rows of one GPU, newest first."""
    if not found:
        return []
    shown = sorted(found, key=lambda row: -(row.year or 0))[:MOST_ROWS]
    more = f" The newest {MOST_ROWS} of {len(found)}." if len(found) > MOST_ROWS else ""
    lines = (
        (
            title_of(row.workload),
            row.workload.task or "",
            row.workload.stack or "",
            row.count,
            f"{row.value:,.4g} {row.metric}",
            row.year or "",
            row.source,
        )
        for row in shown
    )
    head = ("Work", "Task", "Stack", "GPUs", "Measured", "Year", "Source")
    return ["## Measured", "", f"What others measured on it.{more}", "", *rows(head, lines)]


def runs_rows(gpu: GPU) -> list[str]:
    """Return how the usual open networks run on one of this GPU, with 80 % intervals."""
    zoo = shipped_zoo()
    found = [run_of(zoo.models[name], [gpu], None, zoo) for name in ASKED if name in zoo.models]
    lines = [_run_line(run) for run in found if run.precision]
    if not lines:
        return []
    head = ("Network", "Format", "Memory", "Speed", "80 % interval")
    return [
        "## What it runs",
        "",
        "Predicted for one card, with no RAM counted.",
        "",
        *rows(head, lines),
    ]


def _run_line(run: Run) -> tuple[object, ...]:
    speed = run.speed
    return (
        run.name,
        run.precision,
        f"{run.device_gib:.1f} GiB" if run.device_gib is not None else "",
        f"{speed.value:,.3g} {speed.metric}" if speed else "",
        f"{speed.low:,.3g} to {speed.high:,.3g}" if speed else "",
    )


def write_parts(kind: str, title: str, parts: list[AnyPart], sources: Mapping[str, Source]) -> None:
    """Write a page for each part and one that lists them."""
    by_gpu: dict[str, list[Measured]] = {}
    for row in shipped_measured():
        by_gpu.setdefault(row.gpu, []).append(row)
    folder = PAGES / kind
    folder.mkdir(parents=True)
    for part in parts:
        page = part_page(part, sources)
        if isinstance(part, GPU):
            page += runs_rows(part) + measured_rows(by_gpu.get(part.id, []))
        (folder / f"{slug(part)}.md").write_text("\n".join(page), "utf-8")
    listed = [f"# {title}", ""]
    listed += [f"- [{cell(part.name)}]({slug(part)}.md)" for part in sorted(parts, key=_order)]
    (folder / "index.md").write_text("\n".join([*listed, ""]), "utf-8")


def _order(part: AnyPart) -> tuple[str, str]:
    return part.vendor, part.name


def copy_docs() -> None:
    """Copy the pages of docs/, the first page from README.md, and the schemas that pages name."""
    shutil.copytree(ROOT / "docs", PAGES)
    for schema in ("catalog/family.schema.json", "resources/check.schema.json"):
        shutil.copy(ROOT / schema, PAGES)
    for page in PAGES.glob("*.md"):
        text = page.read_text("utf-8")
        page.write_text(re.sub(r"\]\(\.\./(?:catalog|resources)/", "](", text), "utf-8")
    (PAGES / "rules.md").write_text(rule_book(), "utf-8")
    first = (ROOT / "README.md").read_text("utf-8").replace("](docs/", "](")
    first = re.sub(r"\]\((LICENSE|catalog/LICENSE|resources/[^)]*|CONTRIBUTING.md)\)", "]", first)
    (PAGES / "index.md").write_text(first, "utf-8")
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8").replace("](docs/", "](")
    (PAGES / "changelog.md").write_text(changes, "utf-8")
    shutil.copy(ROOT / "packaging" / "icon.svg", PAGES / "icon.svg")


def main() -> int:
    """Write the pages, then the site; exit with what MkDocs says."""
    shutil.rmtree(PAGES, ignore_errors=True)
    copy_docs()
    catalog = shipped_catalog()
    for kind, title, of in (("gpus", "GPUs", GPU), ("systems", "Systems", System)):
        parts = [part for part in catalog.parts.values() if isinstance(part, of)]
        write_parts(kind, title, parts, catalog.sources)
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-q", "-d", SITE]
    return subprocess.run(
        [*command, "-f", ROOT / "packaging" / "mkdocs.yml"], check=False
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
