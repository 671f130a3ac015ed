"""`rigplanner memory`: the GPU memory of cases, one JSON answer a line, or of one model, in
text."""

import argparse
import errno
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from rigplanner.catalog.zoo import Zoo, shipped_zoo
from rigplanner.cli.asked import Joined, add_job_arguments, asked_cases, is_cases
from rigplanner.cli.faults import BAD_INPUT, FINE, InputFault, own_fault
from rigplanner.cli.hardware import Place, place_of, smallest, ways_to_fit
from rigplanner.errors import WorkloadFault
from rigplanner.memory.activation_breakdown import activation_kinds
from rigplanner.memory.answer import MemoryEstimate, fits_within
from rigplanner.memory.capacity.capacity_search import WHAT, reach
from rigplanner.memory.capacity.changes import cheapest_changes
from rigplanner.memory.capacity.host_fit import fitted, within_room
from rigplanner.memory.capacity.mixed_gpus import CardPlan, card_plan, deals_layers
from rigplanner.memory.capacity.packing import fits_slices
from rigplanner.memory.estimate import estimate_memory
from rigplanner.memory.on_host import estimate_on_host
from rigplanner.memory.usable_memory import SYSTEM_GIB, shared_limit, usable_gib
from rigplanner.performance.answer import SpeedEstimate
from rigplanner.performance.best_format import proposals
from rigplanner.performance.settled import settle_whole
from rigplanner.report.words.memory import memory_lines
from rigplanner.rig.workload import Case, Workload
from rigplanner.workload.cases import LONGEST_LINE, BadCase, read_cases

ENDLESS = 256 * 2**20
"""Bytes of one line after which a file of cases is given up."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `memory`."""
    parser.add_argument(
        "what",
        nargs="+",
        action=Joined,
        metavar="CASES.jsonl|MODEL|FILE.rig",
        help=(
            "a file of cases, one JSON object a line (- reads standard input), or one model: a name"
            " of the zoo, config.json, model_index.json, a folder, *.safetensors, *.gguf; or a rig,"
            " whose workloads are answered"
        ),
    )
    add_job_arguments(parser)
    parser.add_argument(
        "--format", choices=("text", "json"), help="default: json for cases, text for one model"
    )
    parser.add_argument(
        "--steps",
        action="store_true",
        help="add the steps of each calculation and activations by kind of layer",
    )
    parser.add_argument(
        "--largest",
        action="append",
        choices=WHAT,
        default=[],
        help="the largest batch, context, number of users",
    )
    parser.add_argument(
        "--changes",
        action="store_true",
        help="changes that make it fit, each with its cost in speed",
    )
    parser.add_argument(
        "--best",
        action="store_true",
        help="the formats that fit the machine, of what writes or draws, with place and speed",
    )
    parser.add_argument(
        "--mig", action="store_true", help="which MIG partitions of the GPU hold it"
    )


def run(args: argparse.Namespace) -> int:
    """Answer every case; one that cannot be answered says why and stops nothing. Exit 2 when a line
    is no case at all, or when the one model that was asked for cannot be answered."""
    zoo, encode = shipped_zoo(), msgspec.json.Encoder().encode
    many = is_cases(args.what)
    told = None if many else asked_cases(args)
    cases = read_cases(lines_of(args.what)) if told is None else iter(told)
    alone = told is not None and len(told) == 1
    as_text = args.format == "text" or (args.format is None and not many)
    code = FINE
    for case in cases:
        found = answer(case, zoo, args, ways=as_text and not many)
        code = BAD_INPUT if isinstance(case, BadCase) or (not many and "error" in found) else code
        if "error" in found and alone:
            raise InputFault(found["error"])
        sys.stdout.write(
            "\n".join(memory_lines(found)) + "\n" if as_text else encode(found).decode() + "\n"
        )
    return code


def lines_of(name: str) -> Iterator[bytes]:
    """Yield the lines of a file, or of standard input for "-"; raise InputFault when it cannot be
    read."""
    if name == "-":
        yield from _bounded(sys.stdin.buffer)
        return
    try:
        with Path(name).open("rb") as file:
            yield from _bounded(file)
    except OSError as fault:
        raise InputFault(f"{name}: cannot be read ({fault.strerror}).") from fault


def _bounded(file: BinaryIO) -> Iterator[bytes]:
    """The lines of a file; of one too long for a case only the beginning is held. Raises OSError
    for one that seems endless."""
    while line := file.readline(LONGEST_LINE + 1):
        yield line
        rest, left = line, ENDLESS // LONGEST_LINE
        while len(rest) > LONGEST_LINE and not rest.endswith(b"\n"):
            rest, left = file.readline(LONGEST_LINE + 1), left - 1
            if not left:
                raise OSError(errno.EFBIG, f"a line of more than {ENDLESS // 2**20} MiB")


def answer(case: Case | BadCase, zoo: Zoo, args: argparse.Namespace, ways: bool) -> dict[str, Any]:
    """The answer of one case, with `error` where there is none; `ways`: whether one that does not
    fit says what makes it fit."""
    if isinstance(case, BadCase):
        return {"id": case.id, "error": case.error}
    try:
        return {"id": case.id, **_answered(case, zoo, args, ways)}
    except WorkloadFault as fault:
        return {"id": case.id, "error": str(fault)}
    except Exception as fault:  # a case must not silence those after it
        return {"id": case.id, "error": own_fault(fault)}


def _answered(case: Case, zoo: Zoo, args: argparse.Namespace, ways: bool) -> dict[str, Any]:
    work, place = case.workload, place_of(case.hardware)
    assumed: dict[str, str] = {}
    if place.gpu is None and case.hardware.gpu:
        raise WorkloadFault(place.fault)
    if args.best:
        return _best_record(work, place, zoo)
    if place.alone:
        alone = estimate_on_host(work, zoo, explained=args.steps)
        return estimate_record(alone, args.steps) | _host_record(alone.host_gib, place)
    if place.gpu is not None:
        made = settle_whole(work, place.gpu, place.count, place.nodes, place.link, zoo)
        work, assumed = made.workload, made.assumed
    found = estimate_memory(work, place.gpu, place.count, zoo, explained=args.steps)
    dealt = len(place.gpus) > 1 and deals_layers(work, found.stack)
    plan = (
        card_plan(work, place.gpus, zoo, place.free_gib)
        if dealt or place.unequal or place.free_gib is not None
        else None
    )
    if plan:
        found = plan.fullest.need
    shown = estimate_record(found, args.steps)
    shown["assumed"] = assumed | shown["assumed"]
    if case.ignored:
        shown["assumed"]["fields_ignored"] = case.ignored
    if plan:
        shown |= _plan_record(plan)
    elif place.gpu is not None:
        shown |= {
            "gpu": place.gpu.name,
            "count": place.count,
            "capacity_gib": usable_gib(place.gpu),
        }
    shown |= _fits_record(plan, found, place)
    shown |= _limit_record(found, place)
    left = _placed_record(work, found, place, zoo)
    needed = left["placed"]["host_gib"] if "placed" in left else found.host_gib
    shown |= _host_record(needed, place) | left
    if args.steps:
        shown["activation_kinds_gib"] = {
            name: round(gib, 6)
            for name, gib in activation_kinds(work, place.gpu, place.count, zoo).items()
        }
    if args.largest or args.changes or args.mig:
        shown |= _other_way_round(work, place, zoo, args)
    elif ways and shown.get("fits") == "no" and "placed" not in shown:
        shown["ways"] = ways_to_fit(work, place, zoo)
    return shown


def _best_record(work: Workload, place: Place, zoo: Zoo) -> dict[str, Any]:
    """The ways to run a model on the machine, the largest format first."""
    if place.gpu is None and not place.alone:
        raise WorkloadFault(place.fault or "hardware.gpu: name the GPUs, or a rig.")
    gpus = place.gpus or (() if place.gpu is None else (place.gpu,) * place.count)
    found = []
    for way in proposals(work, gpus, place.machine, zoo):
        told = {
            "gpu_layers": way.gpu_layers,
            "n_cpu_moe": way.n_cpu_moe,
            "tensor_split": way.tensor_split,
        }
        speed = way.speed
        found.append(
            {"precision": way.precision, "stack": way.stack, "cards": way.cards, "best": way.best}
            | {name: value for name, value in told.items() if value is not None}
            | {"device_gib": round(way.device_gib, 3), "host_gib": round(way.host_gib, 3)}
            | (_rate_record(speed) if speed is not None else {})
        )
    stacks = list(dict.fromkeys(str(way["stack"]) for way in found))
    return {"stack": ", ".join(stacks) or work.stack or "llama.cpp", "best": found}


def _rate_record(speed: SpeedEstimate) -> dict[str, Any]:
    """A speed in its metric; that of writing by its own name too."""
    rate = {"metric": speed.metric, "value": speed.value, "low": speed.low, "high": speed.high}
    if speed.metric != "tokens/s":
        return {"rate": rate}
    return {"tokens_s": speed.value, "low": speed.low, "high": speed.high, "rate": rate}


def _limit_record(found: MemoryEstimate, place: Place) -> dict[str, Any]:
    """What the system gives a GPU with unified memory, and the setting that a job needs raised."""
    limit = shared_limit(place.gpu) if place.gpu is not None else None
    if limit is None:
        return {}
    shown: dict[str, Any] = {"usual_limit_gib": round(limit.usual_gib, 3)}
    if limit.setting and found.high_gib > limit.usual_gib:
        shown |= {"raise": limit.setting, "raise_to_gib": math.ceil(found.high_gib + 1)}
    return shown


def _host_record(needed_gib: float, place: Place) -> dict[str, Any]:
    """What the computer's memory holds beside what it must, where the rig is known."""
    if place.ram_gib is None or not needed_gib:
        return {}
    room = max(0.0, place.ram_gib - SYSTEM_GIB)
    return {"host_capacity_gib": place.ram_gib, "host_fits": needed_gib <= room}


def _placed_record(work: Workload, found: MemoryEstimate, place: Place, zoo: Zoo) -> dict[str, Any]:
    """What the engine leaves in RAM by itself where the cards do not hold the job."""
    if not place.gpus:
        return {}
    other = fitted(work, place.gpus, zoo)
    if other is work:
        return {}
    need = estimate_memory(other, place.gpu, place.count, zoo, explained=False)
    need = within_room(need, place.gpu)
    plan = card_plan(other, place.gpus, zoo) if len(place.gpus) > 1 else None
    plan = msgspec.structs.replace(plan, tight=()) if plan else None
    told = {
        "gpu_layers": other.gpu_layers,
        "n_cpu_moe": other.n_cpu_moe,
        "tensor_split": other.tensor_split,
    }
    return {
        "placed": {name: value for name, value in told.items() if value is not None}
        | {"device_gib": round(need.device_gib, 6), "host_gib": round(need.host_gib, 6)}
        | _fits_record(plan, need, place)
    }


def _other_way_round(
    work: Workload, place: Place, zoo: Zoo, args: argparse.Namespace
) -> dict[str, Any]:
    shown = dict[str, Any]()
    if place.gpu is None:
        raise WorkloadFault(place.fault)
    gpu, count = smallest(place.gpu, place), place.count
    gpus = place.gpus if place.unequal else ()
    if args.largest:
        reached = [reach(what, work, gpu, count, zoo, gpus) for what in dict.fromkeys(args.largest)]
        shown["largest"] = [
            {
                "what": one.what,
                "value": one.value,
                "sure": one.sure,
                "room_gib": one.room_gib,
                "users": msgspec.to_builtins(one.users),
                "positions": one.positions,
            }
            for one in reached
        ]
    if args.changes:
        shown["changes"] = msgspec.to_builtins(cheapest_changes(work, gpu, count, zoo))
    if args.mig:
        shown["partitions"] = [
            {
                **msgspec.to_builtins(fit.slice),
                "device_gib": fit.need.device_gib,
                "low_gib": fit.need.low_gib,
                "high_gib": fit.need.high_gib,
                "fits": fit.fits,
            }
            for fit in fits_slices(work, gpu, zoo)
        ]
    return shown


def estimate_record(estimate: MemoryEstimate, steps: bool) -> dict[str, Any]:
    """An estimate as the contract's fields."""
    parts = {
        field.removesuffix("_gib"): round(getattr(estimate.parts, field), 6)
        for field in estimate.parts.__struct_fields__
    }
    figures = (
        "tensors_gib",
        "allocated_gib",
        "reserved_gib",
        "device_gib",
        "low_gib",
        "high_gib",
        "host_gib",
        "nvme_gib",
    )
    shown: dict[str, Any] = {
        "parts_gib": parts,
        **{field: round(getattr(estimate, field), 6) for field in figures},
    }
    shown["detail_gib"] = {name: round(gib, 6) for name, gib in estimate.detail_gib.items()}
    shown |= {"stack": estimate.stack, "assumed": estimate.assumed, "evidence": estimate.evidence}
    return shown | {"steps": msgspec.to_builtins(estimate.steps)} if steps else shown


FITS = {True: "yes", None: "tight", False: "no"}


def _fits_record(plan: CardPlan | None, found: MemoryEstimate, place: Place) -> dict[str, str]:
    """Whether the GPUs hold the job: yes, no, or tight where an interval holds the room; nothing
    where no GPU of known memory is named."""
    if plan:
        return {"fits": "no" if plan.overflows else "tight" if plan.tight else "yes"}
    room = usable_gib(place.gpu) if place.gpu is not None else None
    return {} if room is None else {"fits": FITS[fits_within(found, room)]}


def _plan_record(plan: CardPlan) -> dict[str, Any]:
    cards = [
        {
            "gpu": card.gpu,
            "share": round(card.share, 4),
            "device_gib": round(card.need.device_gib, 6),
            "low_gib": round(card.need.low_gib, 6),
            "high_gib": round(card.need.high_gib, 6),
            "room_gib": round(card.room_gib, 6),
            "fits": card.fits,
            "over_gib": round(card.over_gib, 6),
        }
        for card in plan.cards
    ]
    return {
        "cards": cards,
        "split": plan.split,
        "overflows": list(plan.overflows),
        "tight": list(plan.tight),
        "total_gib": round(plan.need_gib, 6),
        "total_room_gib": round(plan.room_gib, 6),
    }
