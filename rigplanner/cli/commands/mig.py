"""`rigplanner mig GPU [CASES.jsonl]`: the partitions of a GPU, the jobs that fit them, the best
packing on one card."""

import argparse
from typing import Any

import msgspec

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.schema.parts import GPU
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.cli.commands.memory import lines_of
from rigplanner.cli.faults import FINDINGS, FINE, InputFault
from rigplanner.errors import WorkloadFault
from rigplanner.memory.capacity.packing import MOST_JOBS, fits_slices, layout, pack
from rigplanner.memory.mig import geometry, mig_sources, slices
from rigplanner.report.words.mig import layout_lines, packing_lines, partition_lines
from rigplanner.rig.workload import Workload
from rigplanner.workload.cases import BadCase, read_cases


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `mig`."""
    parser.add_argument("gpu", metavar="GPU", help='such as "A100 SXM4 40GB"')
    parser.add_argument(
        "cases",
        nargs="?",
        metavar="CASES.jsonl",
        help="jobs that shall share the card; - reads standard input",
    )
    parser.add_argument(
        "--layout", metavar="NAMES", help="profiles to place, as 3g.20gb,2g.10gb,1g.5gb"
    )
    parser.add_argument(
        "--tight", action="store_true", help="also place a job where only its expected need fits"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace) -> int:
    """Print the partitions, where asked also a layout or the packing of jobs."""
    try:
        gpu = find_gpu(args.gpu)
        record = _record(gpu, args)
    except WorkloadFault as fault:
        raise InputFault(str(fault)) from fault
    if args.format == "json":
        print(msgspec.json.format(msgspec.json.encode(record)).decode())
        return _exit(record)
    lines = partition_lines(gpu.name, slices(gpu))
    if "layout" in record:
        lines += ["", *layout_lines(record["layout"], args.layout)]
    if "packing" in record:
        lines += ["", *packing_lines(record["packing"], record["jobs"])]
    print("\n".join(lines))
    return _exit(record)


def _exit(record: dict[str, Any]) -> int:
    """1 where profiles were asked for that do not fit one card together."""
    return FINDINGS if record.get("layout", FINE) is None else FINE


def _record(gpu: GPU, args: argparse.Namespace) -> dict[str, Any]:
    made, sources = geometry(gpu), mig_sources()
    record: dict[str, Any] = {
        "gpu": gpu.id,
        "memory_gib": gpu.memory_gib,
        "memory_slices": made.memory_slices,
        "compute_slices": made.compute_slices,
        "partitions": msgspec.to_builtins(slices(gpu)),
        "sources": [
            msgspec.to_builtins(sources[key]) for key in (made.source, made.listing) if key
        ],
    }
    if args.layout:
        placed = layout(gpu, args.layout.split(","))
        record["layout"] = msgspec.to_builtins(placed)
    if args.cases:
        jobs, zoo = _jobs(args.cases), shipped_zoo()
        record["jobs"] = {
            name: [
                {"profile": fit.slice.name, "device_gib": fit.need.device_gib, "fits": fit.fits}
                for fit in fits_slices(work, gpu, zoo)
            ]
            for name, work in jobs
        }
        record["packing"] = msgspec.to_builtins(pack(jobs, gpu, zoo, tight=args.tight))
    return record


def _jobs(name: str) -> list[tuple[str, Workload]]:
    jobs: list[tuple[str, Workload]] = []
    for case in read_cases(lines_of(name)):
        if isinstance(case, BadCase):
            raise InputFault(f"{name}: {case.error}")
        jobs.append((str(case.id), case.workload))
        if len(jobs) > MOST_JOBS:
            raise InputFault(f"{name}: expected at most {MOST_JOBS} jobs for one card.")
    return jobs
