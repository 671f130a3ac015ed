"""`rigplanner catalog ratios ONE OTHER`: how many times one is as fast as another, as measured."""

import argparse
from collections.abc import Callable
from functools import cache

import msgspec

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.cli.faults import FINDINGS, FINE, InputFault
from rigplanner.cli.hardware import cpus_named
from rigplanner.cli.terminal import tell
from rigplanner.errors import WorkloadFault
from rigplanner.performance.geometry.resolve import resolve_shape
from rigplanner.performance.software.stacks import find_stack
from rigplanner.planning.map.cards import same_kind
from rigplanner.planning.map.measured_ratios import Ratio, Ratios, Side, boards_of, ratios
from rigplanner.report.format import columns_of, number, padded
from rigplanner.report.language import tr
from rigplanner.report.words.measured_ratios import ratios_text
from rigplanner.rig.from_text.from_words import counted
from rigplanner.rig.workload import Workload

HEADS = ("Network", "Task", "Format", "Batch", "GPUs", "Times", "Source")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the verb."""
    parser.add_argument("one", metavar="ONE", help="a GPU, or CPUs as '2x Xeon E5-2630 v3'")
    parser.add_argument("other", metavar="OTHER", help="what it is compared with; may be the same")
    parser.add_argument(
        "--stack", default="", help="the software of both, or of each: torch7,torch7-nocudnn"
    )
    parser.add_argument(
        "--task", choices=("train", "inference", "serve"), help="of such jobs alone"
    )
    parser.add_argument("--model", help="of this network alone")
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace) -> int:
    """Print the pairs; 1 when nobody measured both alike."""
    stacks = [word.strip() for word in args.stack.split(",")]
    if len(stacks) > 2:
        raise InputFault(f"--stack: expected one stack or two, found {args.stack!r}.")
    try:
        slugs = [find_stack(word).slug if word else "" for word in stacks]
    except WorkloadFault as fault:
        raise InputFault(f"--{fault}") from fault
    sides = [_side(args.one, slugs[0]), _side(args.other, slugs[-1])]
    if sides[0] == sides[1]:
        raise InputFault(
            "name two devices, two numbers of them, or two stacks (--stack ONE,OTHER)."
        )
    found = ratios(sides[0], sides[1], _wanted(args))
    if args.format == "json":
        print(msgspec.json.encode(found.pairs if found else ()).decode())
    else:
        named = [
            tr("{device} with {software}", device=word, software=slug) if slug else word
            for word, slug in zip((args.one, args.other), (slugs[0], slugs[-1]), strict=True)
        ]
        tell(ratios_text(found, *named))
        for line in _table(found) if found else ():
            tell(line)
    return FINE if found else FINDINGS


def _side(words: str, stack: str) -> Side:
    """What a word names. Raises InputFault with the nearest for what nothing knows."""
    several, name = counted(words)
    count = several if name != words.strip() else None
    try:
        gpu = find_gpu(name)
    except WorkloadFault as fault:
        try:
            cpu = cpus_named(name, 1)[0]
        except WorkloadFault:
            raise InputFault(str(fault).removeprefix("hardware.")) from fault
        return Side(cpu=cpu.id, count=count or 1, stack=stack)
    return Side(gpus=boards_of(gpu, same_kind), count=count, stack=stack)


def _wanted(args: argparse.Namespace) -> Callable[[Ratio], bool]:
    """Which pairs are of the task and the network asked for."""
    try:
        model = _slug(args.model) if args.model else ""
    except WorkloadFault as fault:
        raise InputFault(f"--model: {str(fault).removeprefix('model: ')}") from fault
    return lambda pair: (
        args.task in (None, pair.task) and (not model or model in (pair.model, _slug(pair.model)))
    )


@cache
def _slug(model: str) -> str:
    return resolve_shape(Workload(model=model), shipped_zoo()).slug


def _table(found: Ratios) -> list[str]:
    several = any(pair.count > 1 for pair in found.pairs)
    rows = [
        (
            pair.model,
            pair.task,
            pair.precision,
            number(pair.batch) if pair.batch else "",
            number(pair.count) if several else "",
            number(pair.times),
            pair.source,
        )
        for pair in found.pairs
    ]
    lines = [tuple(map(tr, HEADS)), *rows]
    widths = {
        at: max(columns_of(line[at]) for line in lines)
        for at in range(len(HEADS))
        if any(row[at] for row in rows)
    }
    return [
        "  ".join(padded(line[at], width) for at, width in widths.items()).rstrip()
        for line in lines
    ]
