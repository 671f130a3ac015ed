"""`rigplanner catalog VERB`: look into the catalog and add to it."""

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from typing import Any

import msgspec

from rigplanner.catalog.cloud import CloudInstance, newest, shipped_cloud
from rigplanner.catalog.find.find import index_of
from rigplanner.catalog.imports.foreign_files import ForeignFault
from rigplanner.catalog.imports.foreign_opendb import read_opendb
from rigplanner.catalog.lint.against import State, compare
from rigplanner.catalog.lint.completeness import compared_fields, completeness, evidence
from rigplanner.catalog.lint.lint import lint
from rigplanner.catalog.load import (
    Catalog,
    CatalogFault,
    Family,
    family_files,
    read_family,
    shipped_catalog,
)
from rigplanner.catalog.schema.parts import GPU, KINDS, Part, kind_of
from rigplanner.cli.catalog_verbs import (
    catalog_community,
    catalog_correct,
    catalog_enter,
    catalog_export,
    catalog_import,
    catalog_price,
    catalog_ratios,
    catalog_update,
)
from rigplanner.cli.catalog_verbs.sheet_lines import EMPTY, told_lines
from rigplanner.cli.faults import FINDINGS, FINE, InputFault
from rigplanner.cli.reading import no_part_text, open_catalog
from rigplanner.cli.terminal import tell, tell_pairs, width
from rigplanner.data import data_path
from rigplanner.economics.spot import (
    USUAL_CHECKPOINT_MIN,
    USUAL_INTERRUPTIONS,
    USUAL_RESTART_MIN,
)
from rigplanner.evidence import Source
from rigplanner.report.quote.setup_sheet import software_for
from rigplanner.report.words.hire import hire_table, spot_work_text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    verbs = parser.add_subparsers(dest="verb", required=True)
    listing = verbs.add_parser("list", help="list parts that match words")
    listing.add_argument("words", nargs="*")
    listing.add_argument("--kind", choices=list(KINDS))
    listing.add_argument("--status", choices=("current", "classic", "legacy", "reference"))
    listing.add_argument(
        "--cloud",
        action="store_true",
        help="list machines to rent instead; words as V100, aws, free, spot, monthly",
    )
    listing.add_argument("--format", choices=("text", "json"), default="text")
    show = verbs.add_parser(
        "show", help="show one part, or a machine for hire, with the source of each figure"
    )
    show.add_argument("words", nargs="+")
    show.add_argument("--format", choices=("text", "json"), default="text")
    for option, usual, what in (
        ("--interruptions", USUAL_INTERRUPTIONS, "interruptions a day of a spot machine"),
        ("--checkpoint", USUAL_CHECKPOINT_MIN, "minutes between checkpoints"),
        ("--restart", USUAL_RESTART_MIN, "minutes until the next machine works"),
    ):
        show.add_argument(option, type=float, default=usual, help=f"{what} (default: {usual:g})")
    check = verbs.add_parser(
        "lint", help="check ids, sources and physics; print how complete the catalog is"
    )
    check.add_argument("--quiet", action="store_true", help="print complaints only")
    check.add_argument(
        "--second-pass",
        action="store_true",
        help="list the parts that were compared with a second source",
    )
    check.add_argument("--format", choices=("text", "json"), default="text")
    check.add_argument(
        "--against",
        type=Path,
        metavar="FOLDER",
        help="compare with a folder or zip of BuildCores OpenDB, figure by figure",
    )
    _add_other_verbs(verbs)
    schema = verbs.add_parser(
        "schema", help="print the JSON schema of a catalog file, or the fields of one kind of part"
    )
    schema.add_argument("kind", nargs="?", choices=list(KINDS))


def _add_other_verbs(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    catalog_import.add_arguments(
        verbs.add_parser("import", help="add other people's parts or prices to the user's catalog")
    )
    catalog_update.add_arguments(
        verbs.add_parser("update", help="fetch a catalog or price file, or exchange rates")
    )
    catalog_community.add_arguments(
        verbs.add_parser("community", help="26,000 more parts from an open database, kept apart")
    )
    catalog_export.add_arguments(
        verbs.add_parser("export", help="the whole catalog as SQLite, CSV, Parquet or JSON")
    )
    catalog_enter.add_arguments(
        verbs.add_parser("enter", help="a part of your own; the form asks only what decides")
    )
    catalog_correct.add_arguments(
        verbs.add_parser("correct", help="a file to send that says which figure is wrong")
    )
    catalog_price.add_arguments(
        verbs.add_parser("price", help="read the price that a shop's page states for machines")
    )
    catalog_ratios.add_arguments(
        verbs.add_parser("ratios", help="how many times one is as fast as another, as measured")
    )


def run(args: argparse.Namespace) -> int:
    """Run one verb."""
    if args.verb == "schema":
        return _schema(args.kind)
    if args.verb in OTHER_VERBS:
        return OTHER_VERBS[args.verb](args)
    if args.verb == "lint":
        return _lint(args, _readable_catalog())
    return {"list": _list, "show": _show}[args.verb](args, open_catalog())


def _readable_catalog() -> Catalog:
    """Return the shipped catalog. Raises InputFault with what is wrong with each file that cannot
    be read."""
    try:
        return shipped_catalog()
    except CatalogFault as fault:
        wrong = []
        for path in family_files(data_path("catalog")):
            try:
                read_family(path)
            except CatalogFault as found:
                wrong.append(str(found))
        raise InputFault("\n".join(wrong) or str(fault)) from fault


def _schema(kind: str | None) -> int:
    """Print the schema of a family file, or the fields of a kind: name, what it holds, and whether
    a part must have it."""
    if kind is None:
        print(msgspec.json.format(msgspec.json.encode(msgspec.json.schema(Family))).decode())
        return FINE
    defined = msgspec.json.schema(KINDS[kind])["$defs"]
    fields = {
        name: shape
        for part in defined.values()
        if kind in part.get("properties", {}).get("kind", {}).get("enum", ())
        for name, shape in part["properties"].items()
    }
    for name, shape in fields.items():
        print(f"{name:28} {_held(shape, defined)}{'' if 'default' in shape else ', required'}")
    return FINE


def _held(shape: dict[str, Any], defined: dict[str, Any]) -> str:
    """Return in words what a field of a schema holds."""
    if "$ref" in shape:
        name = shape["$ref"].rpartition("/")[2]
        inner = defined[name].get("properties", {})
        return f"{name} {{{', '.join(inner)}}}" if inner else name
    if "anyOf" in shape:
        return " or ".join(
            _held(each, defined) for each in shape["anyOf"] if each.get("type") != "null"
        )
    if "enum" in shape:
        return " | ".join(map(str, shape["enum"]))
    if shape.get("type") == "array":
        return f"list of {_held(shape.get('items', {}), defined)}"
    if shape.get("type") == "object":
        return f"object of {_held(shape.get('additionalProperties') or {}, defined)}"
    return str(shape.get("type", "any"))


def _list(args: argparse.Namespace, catalog: Catalog) -> int:
    if args.cloud:
        return _list_cloud(args)
    index, words = index_of(catalog), " ".join(args.words)
    parts = index.search(words, args.kind)
    parts = [part for part in parts if args.status in (None, part.status)]
    if args.format == "json":
        print(msgspec.json.encode(parts).decode())
        return FINE
    tell_pairs([(f"{kind_of(part):12} {part.id:52}", part.name) for part in parts])
    rented = len(shipped_cloud().found(args.words)) if args.words and not parts else 0
    machines = "machine" if rented == 1 else "machines"
    hint = f"; {rented} {machines} to rent: add --cloud" if rented else ""
    if words and not parts and (near := index.nearest(words, args.kind)):
        hint += f"; the nearest are {', '.join(part.name for part in near)}"
    total = len(catalog.parts) + len(catalog.community)
    print(f"{len(parts)} of {total} parts{hint}", file=sys.stderr)
    return FINE if parts else FINDINGS


def _list_cloud(args: argparse.Namespace) -> int:
    cloud = shipped_cloud()
    found = cloud.found(args.words)
    if args.format == "json":
        print(msgspec.json.encode(found).decode())
    else:
        if found:
            print(hire_table(found, open_catalog(), width()))
        near = cloud.nearest(" ".join(args.words)) if args.words and not found else []
        hint = f"; the nearest are {', '.join(near)}" if near else ""
        for sentence in cloud.unlisted_reasons(args.words) if not found else ():
            print(sentence, file=sys.stderr)
        print(f"{len(found)} of {len(cloud.instances)} machines to rent{hint}", file=sys.stderr)
    return FINE if found else FINDINGS


def _show(args: argparse.Namespace, catalog: Catalog) -> int:
    words = " ".join(args.words)
    part: Part | None = catalog.get(words)
    hired = shipped_cloud().named(words)
    told = shipped_cloud().unlisted_reasons(args.words)
    if part is None and hired is None:
        index = index_of(catalog)
        is_provider = any(said.casefold().startswith(f"{words.casefold()}:") for said in told)
        part = None if is_provider else next(iter(index.find(words, limit=1)), None)
    if part is not None:
        _print_sourced("part", part, catalog.sources, args.format)
    elif hired is not None:
        _show_hire(args, hired, catalog)
    else:
        near = shipped_cloud().nearest(words)
        hint = f"; machines to rent with names like it: {', '.join(near)}" if near else ""
        raise InputFault(" ".join((f"{no_part_text(words, index)}{hint}.", *told)))
    return FINE


def _show_hire(args: argparse.Namespace, hired: CloudInstance, catalog: Catalog) -> None:
    """Print a machine for hire, and in text what an hour of work costs on spot and the driver and
    containers that its GPUs need."""
    chances = (args.interruptions, args.checkpoint, args.restart)
    if not all(0 <= each < float("inf") for each in chances):
        raise InputFault("--interruptions, --checkpoint and --restart: expected 0 or more.")
    _print_sourced("hire", hired, shipped_cloud().sources, args.format)
    if args.format != "text":
        return
    if (spot := newest(hired.spot)) is not None:
        tell(f"  spot: {spot_work_text(spot, newest(hired.on_demand), *chances)}")
    gpu = catalog.get(hired.gpu) if hired.gpu else None
    for row in software_for([gpu], {}) if isinstance(gpu, GPU) else ():
        tell(f"  {row.what:22} {row.value}{f'  ({row.why})' if row.why else ''}")


OTHER_VERBS: dict[str, Callable[[argparse.Namespace], int]] = {
    "community": catalog_community.run,
    "correct": catalog_correct.run,
    "enter": catalog_enter.run,
    "export": catalog_export.run,
    "import": catalog_import.run,
    "price": catalog_price.run,
    "ratios": catalog_ratios.run,
    "update": catalog_update.run,
}
STATES: tuple[State, ...] = ("agree", "mixed", "differ")
PRICE_WORDS = {
    "prices": "price",
    "on_demand": "on demand, an hour:",
    "spot": "spot, an hour:",
    "monthly": "a month:",
}
TOLD_APART = ("id", "name", "sources", "doubts", "unpublished", *PRICE_WORDS)


def _print_sourced(
    what: str, shown: Part | CloudInstance, known: Mapping[str, Source], form: str
) -> None:
    """Print a part or a machine for hire with its sources, doubts and dated prices."""
    if form == "json":
        sources = {key: known[key] for key in shown.sources if key in known}
        print(msgspec.json.format(msgspec.json.encode({what: shown, "sources": sources})).decode())
        return
    tell(f"{shown.name}  ({shown.id})")
    for field in shown.__struct_fields__:
        if field not in TOLD_APART:
            _print_field(shown, field)
    for key, fields in shown.sources.items():
        source = known[key]
        tell(
            f"  source [{source.trust}, read {source.read}] {source.title}  {source.url or ''} "
            f" settled: {', '.join(fields)}"
        )
    for field, doubt in shown.doubts.items():
        tell(f"  {doubt.state}: {field} {' / '.join(doubt.values)} {doubt.note}")
    for key, fields in shown.unpublished.items() if isinstance(shown, Part) else ():
        tell(f"  not published: {', '.join(fields)} ({known[key].title})")
    for field, word in PRICE_WORDS.items():
        for price in getattr(shown, field, ()):
            where = f", {price.region}" if price.region else ""
            tell(
                f"  {word} {price.amount:,.2f} {price.currency} on {price.day}{where},"
                f" {price.source}"
            )


def _print_field(part: Part | CloudInstance, field: str) -> None:
    value = getattr(part, field)
    if value in EMPTY:
        return
    first, *more = told_lines(msgspec.to_builtins(value))
    tell(f"  {field:22} {first}")
    for line in more:
        tell(f"  {'':22} {line}")


def _lint(args: argparse.Namespace, catalog: Catalog) -> int:
    if args.against is not None:
        return _against(args, catalog)
    complaints = lint(catalog)
    if args.format == "json":
        made = {
            "complaints": complaints,
            "completeness": completeness(catalog),
            "evidence": evidence(catalog),
        }
        print(msgspec.json.encode(made).decode())
        return FINDINGS if complaints else FINE
    for complaint in complaints:
        expected = f", expected {complaint.expected}" if complaint.expected else ""
        print(
            f"{complaint.part}: {complaint.field}: {complaint.code}: found"
            f" {complaint.found}{expected}"
        )
    if args.second_pass:
        _print_compared(catalog)
    elif not args.quiet:
        _print_completeness(catalog)
    print(
        f"{len(catalog.parts)} parts, {len(catalog.sources)} sources, {len(complaints)} complaints",
        file=sys.stderr,
    )
    return FINDINGS if complaints else FINE


def _against(args: argparse.Namespace, catalog: Catalog) -> int:
    """Print where another database says otherwise; findings are differences that the catalog does
    not tell itself."""
    try:
        others = read_opendb(args.against, date.today().isoformat())
    except ForeignFault as fault:
        raise InputFault(str(fault)) from fault
    compared = list(compare(catalog, others.parts))
    differ = [each for each in compared if each.state == "differ"]
    if args.format == "json":
        print(msgspec.json.encode(compared).decode())
    else:
        for each in differ:
            noted = f" [{each.noted}]" if each.noted else ""
            theirs = ", ".join(map(str, each.theirs))
            print(f"{each.part}: {each.field}: ours {each.ours}{noted}, theirs {theirs}")
        counts = Counter((kind_of(catalog.parts[e.part]), e.field, e.state) for e in compared)
        for kind, field in sorted({(kind, field) for kind, field, _ in counts}):
            three = [counts[kind, field, state] for state in STATES]
            told = "  ".join(f"{word} {n:4}" for word, n in zip(STATES, three, strict=True))
            print(f"{kind:12} {field:28} {told}")
    parts = len({each.part for each in compared})
    print(f"{parts} parts met, {len(compared)} figures, {len(differ)} differ", file=sys.stderr)
    return FINDINGS if any(each.noted != "conflict" for each in differ) else FINE


def _print_completeness(catalog: Catalog) -> None:
    print(
        f"\n{'kind':12} {'field':30} {'filled':>14} {'not published':>14} {'unknown':>8} "
        " unknown of"
    )
    for row in completeness(catalog):
        share = 100 * row.filled / row.parts if row.parts else 100.0
        note = "" if row.published else "(rarely published) "
        counts = (
            f"{row.filled:4}/{row.parts:<4} {share:3.0f} % {len(row.unpublished) or '-':>14}"
            f" {len(row.without) or '-':>8}"
        )
        print(f"{row.kind:12} {row.field:30} {counts}  {note}{', '.join(row.without[:4])}")
    print(
        f"\n{'kind':12} {'parts':>6} {'source read':>12} {'compared':>9} {'unverified':>11}"
        f" {'conflicts':>10}"
    )
    for kind in evidence(catalog):
        compared = len(kind.compared)
        print(
            f"{kind.kind:12} {kind.parts:6} {kind.read:12} {compared:9} {kind.unverified:11}"
            f" {kind.conflicts:10}"
        )


def _print_compared(catalog: Catalog) -> None:
    for kind in evidence(catalog):
        for part_id in kind.compared:
            part = catalog.parts[part_id]
            disputed = [field for field, doubt in part.doubts.items() if doubt.state == "conflict"]
            agreed = [field for field in compared_fields(part, catalog) if field not in disputed]
            print(
                f"{part_id:52} agree: {', '.join(agreed) or '-'}; disagree:"
                f" {', '.join(disputed) or '-'}"
            )
        print(
            f"{kind.kind}: {len(kind.compared)} of {kind.parts} parts compared with a second"
            " source\n"
        )
