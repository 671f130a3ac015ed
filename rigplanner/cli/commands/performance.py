"""`rigplanner performance`: the speed of cases, one JSON answer a line, or of one model or the
workloads of a rig, in text."""

import argparse
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from rigplanner.catalog.schema.parts import GPU
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.cli.asked import Joined, add_job_arguments, asked_cases, is_cases
from rigplanner.cli.commands.memory import lines_of
from rigplanner.cli.faults import BAD_INPUT, FINE, InputFault, own_fault
from rigplanner.cli.hardware import Place, place_of, ways_to_fit
from rigplanner.cli.reading import open_assessment, open_catalog, open_rig, say_left_aside
from rigplanner.cli.terminal import tell
from rigplanner.errors import WorkloadFault
from rigplanner.memory.answer import MemoryEstimate
from rigplanner.memory.capacity.host_fit import fitted, within_room
from rigplanner.memory.capacity.mixed_gpus import card_plan, deals_layers
from rigplanner.memory.estimate import estimate_memory
from rigplanner.memory.on_host import estimate_on_host, writes_text
from rigplanner.memory.usable_memory import SYSTEM_GIB, usable_gib
from rigplanner.performance.anchors.own import read_own, with_own
from rigplanner.performance.answer import Fits, SpeedEstimate
from rigplanner.performance.capacity import within_memory
from rigplanner.performance.host.predict import predict_hosted
from rigplanner.performance.host.steps import with_ratio
from rigplanner.performance.host.verify import verifying_command
from rigplanner.performance.limits.host import epoch_of
from rigplanner.performance.predict import NO_TABLE_SPEED, predict_speed
from rigplanner.performance.settled import settled
from rigplanner.performance.several_gpus.staleness import of_unequal
from rigplanner.performance.without_network.simulated import predict_simulated
from rigplanner.performance.without_network.table import least_times
from rigplanner.report.format import quantity
from rigplanner.report.language import tr
from rigplanner.report.words.memory import verdict, way_lines
from rigplanner.report.words.speed import epoch_text, speed_lines, table_lines
from rigplanner.rig.workload import Case, Workload
from rigplanner.workload.cases import BadCase, read_cases
from rigplanner.workload.without_network import plain_job

if TYPE_CHECKING:
    from rigplanner.performance.anchors.evidence import Evidence

LINKS = ("none", "pcie", "nvlink-bridge", "nvlink-mesh", "nvswitch", "xgmi")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `performance`."""
    parser.add_argument(
        "what",
        nargs="+",
        action=Joined,
        metavar="CASES.jsonl|MODEL|FILE.rig",
        help="a file of cases, one JSON object a line (- reads "
        "standard input), or one model as for `rigplanner memory`, or a rig with workloads",
    )
    add_job_arguments(parser)
    parser.add_argument("--link", choices=LINKS, help="what joins the GPUs")
    parser.add_argument(
        "--measurements",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="CSV or JSONL of your own measurements: anchors of these answers",
    )
    parser.add_argument(
        "--format",
        choices=("text", "json"),
        help="default: json for cases, text for a model or a rig",
    )
    parser.add_argument(
        "--verify", action="store_true", help="print the engine's own command that would check it"
    )
    parser.add_argument(
        "--steps", action="store_true", help="print the steps of each calculation too"
    )


def run(args: argparse.Namespace) -> int:
    """Answer each case on its own line, in order; exit 2 when a line is no case, or what was asked
    for has no answer."""
    try:
        evidence = (
            with_own([row for path in args.measurements for row in read_own(path)])
            if args.measurements
            else None
        )
    except WorkloadFault as fault:
        raise InputFault(str(fault)) from fault
    if evidence is None:
        say_left_aside()
    if not is_cases(args.what):
        return _asked(args, evidence)
    code = FINE
    for case in read_cases(lines_of(args.what)):
        code = BAD_INPUT if isinstance(case, BadCase) else code
        _print_json(answer(case, args.steps, evidence))
    return code


def _print_json(record: dict[str, Any]) -> None:
    sys.stdout.write(msgspec.json.encode(record).decode() + "\n")


def _asked(args: argparse.Namespace, evidence: "Evidence | None") -> int:
    """Print the speed of each case that was asked for. Of the workloads of a rig one that has none
    says why and silences none of the others."""
    cases, code = asked_cases(args), FINE
    for case in cases:
        try:
            _print_case(case, args, evidence)
        except WorkloadFault as fault:
            if len(cases) == 1:
                raise InputFault(str(fault)) from fault
            _print_fault(case, fault, args)
            code = BAD_INPUT
    if args.what.endswith(".rig") and args.format != "json":
        _print_tokens(Path(args.what))
    return code


def _print_fault(case: Case, fault: WorkloadFault, args: argparse.Namespace) -> None:
    if args.format == "json":
        _print_json({"id": case.id, "error": str(fault)})
        return
    told = tr("{id}: not answered: {error}", id=case.id, error=str(fault))
    tell(told)


def _print_case(case: Case, args: argparse.Namespace, evidence: "Evidence | None") -> None:
    """Print one speed with whether memory holds the job. Raises WorkloadFault where there is
    none."""
    hardware = (
        msgspec.structs.replace(case.hardware, link=args.link) if args.link else case.hardware
    )
    place = place_of(hardware)
    if place.alone:
        _print_alone(case, place, args)
        return
    if place.gpu is None:
        raise WorkloadFault("name the GPUs with --gpu NAME, or a rig with --rig FILE.")
    needs = _needs(case.workload, place)
    if plain_job(case.workload) == "dataframe":
        _print_table(case, place, needs, args)
        return
    found = within_memory(_predicted(case, place, evidence), needs)
    beside = _on_cpu(case, place) if place.cpus and not plain_job(case.workload) else None
    found = _beside(case.workload, found, beside)
    if args.format == "json":
        _print_json(_as_answer(case, place.gpu.id, found, args.steps))
        return
    name = _title(case, place, place.gpu)
    lines = speed_lines(name, found, _memory_line(needs), open_catalog(), args.steps)
    epoch = epoch_of(case.workload, place.machine) if place.machine else None
    lines += [f"  {epoch_text(epoch)}"] if epoch else []
    lines += _verifying(case, found, place, args)
    lines += _ways(case.workload, place) if found.fits == "no" else []
    tell("\n".join(lines))
    if beside:
        _print_on_cpus(case, place, beside, args)


def _print_table(
    case: Case, place: Place, needs: list[tuple[MemoryEstimate, GPU]], args: argparse.Namespace
) -> None:
    """Print of a table whether memory holds it, and the least that a pass over it takes."""
    assert place.gpu is not None
    links = tuple(node.host_gbs for node in place.machine.gpus) if place.machine else ()
    times = least_times(case.workload, place.gpu, place.count, links)
    if args.format == "json":
        raise WorkloadFault(NO_TABLE_SPEED)
    name = _title(case, place, place.gpu)
    lines = [f"{name}: {tr('a table; how fast its work goes is not known')}", *table_lines(times)]
    lines.insert(1, _memory_line(needs))
    sys.stdout.write("\n  ".join(line for line in lines if line) + "\n")


def _title(case: Case, place: Place, gpu: GPU) -> str:
    """A job and its cards, each model with its number."""
    counts = Counter(card.name for card in place.gpus) or {gpu.name: place.count}
    cards = " + ".join(f"{count} × {name}" for name, count in counts.items())
    return tr("{name} on {cpu}", name=case.id, cpu=cards)


def _print_tokens(path: Path) -> None:
    """Print what tokens cost on the rig and at the API whose price its site names."""
    rig = open_rig(path)
    if not rig.site.tokens_per_day:
        return
    from rigplanner.planning.tokens import token_offers
    from rigplanner.report.words.tokens import token_words

    assessment, _ = open_assessment(path)
    for offer in token_offers(assessment):
        asked, prices, here, after = token_words(assessment, offer)
        words = tr("{here}; the rig has paid for itself after: {after}", here=here, after=after)
        sys.stdout.write(f"{asked}: {prices}\n  {words}\n")


def _verifying(
    case: Case, found: SpeedEstimate, place: Place, args: argparse.Namespace
) -> list[str]:
    """The command that would check a speed, where it is asked for and the engine has one."""
    if not args.verify:
        return []
    told = {
        name: int(value)
        for name, value in found.assumed.items()
        if name in ("n_cpu_moe", "gpu_layers") and value.isdigit()
    }
    named = {"precision": found.assumed["precision"]} if "precision" in found.assumed else {}
    work = msgspec.structs.replace(case.workload, **told, **named)
    command = verifying_command(work, found.stack, 0 if place.alone else place.count)
    if command is None:
        return ["  " + tr("No command of this engine is known that would check it.")]
    return ["  " + tr("Check it with: {command}", command=command)]


def _print_alone(case: Case, place: Place, args: argparse.Namespace) -> None:
    """Print the speed of a job on a computer without a GPU."""
    found = _on_cpu(case, place)
    if args.format == "json":
        _print_json(_as_answer(case, "", found, args.steps))
        return
    _print_on_cpus(case, place, found, args)


def _beside(work: Workload, gpu: SpeedEstimate, cpus: SpeedEstimate | None) -> SpeedEstimate:
    """A speed with how many times that of CPUs beside it it is, where both write in one format."""
    alike = work.precision is not None or not writes_text(work, shipped_zoo())
    return with_ratio(gpu, cpus) if cpus and alike else gpu


def _print_on_cpus(
    case: Case, place: Place, found: SpeedEstimate, args: argparse.Namespace
) -> None:
    """Print the speed of a job on the CPUs of a place alone."""
    own = place.machine.cpus if place.machine else ()
    cpus = place.cpus or tuple(node.cpu for node in own)
    several = f"{len(cpus)} × " if len(cpus) > 1 else ""
    name = tr("{name} on {cpu}", name=case.id, cpu=several + cpus[0].name)
    lines = speed_lines(name, found, "", open_catalog(), args.steps)
    lines += _verifying(case, found, place, args)
    tell("\n".join(lines))


def _on_cpu(case: Case, place: Place) -> SpeedEstimate:
    """The speed on a computer without a GPU, with whether its memory holds the job."""
    work = case.workload
    found = predict_hosted(work, (), place.machine, shipped_zoo(), case.metric, place.cpus)
    if found is None:
        raise WorkloadFault(f"metric: CPUs alone are not answered in '{case.metric}'.")
    if place.ram_gib is None:
        return found
    need = estimate_on_host(case.workload, shipped_zoo(), explained=False).host_gib
    fits: Fits = "yes" if need <= place.ram_gib - SYSTEM_GIB else "no"
    return msgspec.structs.replace(found, fits=fits)


def _needs(work: Workload, place: Place) -> list[tuple[MemoryEstimate, GPU]]:
    """What the fullest card needs, with that card; none where memory cannot be told."""
    gpu, zoo = place.gpu, shipped_zoo()
    assert gpu is not None
    try:
        asked = settled(work, gpu, place.count, place.nodes, place.link, zoo)
        work = fitted(asked, place.gpus, zoo)
        found = estimate_memory(work, gpu, place.count, zoo)
        if len(place.gpus) > 1 and (place.unequal or deals_layers(work, found.stack)):
            plan = card_plan(work, place.gpus, zoo)
            gpu, found = place.gpus[plan.cards.index(plan.fullest)], plan.fullest.need
    except WorkloadFault:
        return []
    return [(found if work is asked else within_room(found, gpu), gpu)]


def _ways(work: Workload, place: Place) -> list[str]:
    """What makes a job fit that the GPUs do not hold."""
    gpu, zoo = place.gpu, shipped_zoo()
    assert gpu is not None
    try:
        asked = settled(work, gpu, place.count, place.nodes, place.link, zoo)
        ways = list(way_lines(ways_to_fit(asked, place, zoo)))
    except WorkloadFault:
        return []
    title = tr("What makes it fit (all: rigplanner memory ... --changes):")
    return [f"  {line}" for line in (title, *ways)] if ways else []


def _memory_line(needs: list[tuple[MemoryEstimate, GPU]]) -> str:
    """Whether it fits, of the fullest card; "" where memory cannot be told."""
    if not needs:
        return ""
    found, gpu = needs[0]
    room = usable_gib(gpu)
    return tr(
        "Memory per GPU {low} to {high} of {room}: {verdict}.",
        low=quantity(found.low_gib, "GiB", 1),
        high=quantity(found.high_gib, "GiB", 1),
        room=quantity(room, "GiB"),
        verdict=verdict(found.low_gib, found.high_gib, room),
    )


def answer(
    case: Case | BadCase, steps: bool = False, evidence: "Evidence | None" = None
) -> dict[str, Any]:
    """Return the answer of one case, or its id with an `error`."""
    if isinstance(case, BadCase):
        return {"id": case.id, "error": case.error}
    try:
        place = place_of(case.hardware)
        if place.alone:
            return _as_answer(case, "", _on_cpu(case, place), steps)
        if place.gpu is None:
            raise WorkloadFault(place.fault)
        found = _predicted(case, place, evidence)
        found = within_memory(found, _needs(case.workload, place)) if place.machine else found
        apart = place.cpus and not plain_job(case.workload)
        found = _beside(case.workload, found, _on_cpu(case, place) if apart else None)
        return _as_answer(case, place.gpu.id, found, steps)
    except WorkloadFault as fault:
        return {"id": case.id, "error": str(fault)}
    except Exception as fault:  # a case must not silence those after it
        return {"id": case.id, "error": own_fault(fault)}


def _predicted(case: Case, place: Place, evidence: "Evidence | None") -> SpeedEstimate:
    if place.gpu is None:
        raise WorkloadFault(place.fault)
    if place.cpus and plain_job(case.workload) == "simulate":
        return predict_simulated(case.workload, place.gpu, place.cpus, place.count)

    def on(gpu: GPU, count: int) -> SpeedEstimate:
        return predict_speed(
            case.workload,
            gpu,
            count,
            place.nodes,
            place.link,
            shipped_zoo(),
            place.machine,
            case.metric,
            evidence,
            power_limit_w=place.power_limit_w,
            cpus=place.cpus,
        )

    return of_unequal(case.workload, place.gpus, on) or on(place.gpu, place.count)


def _as_answer(case: Case, gpu: str, found: SpeedEstimate, steps: bool) -> dict[str, Any]:
    answer = {"id": case.id, **msgspec.to_builtins(found), "gpu": gpu or None}
    if found.hours_range:
        answer["hours_low"], answer["hours_high"] = found.hours_range
    if case.ignored:
        answer["assumed"] = {**found.assumed, "fields_ignored": case.ignored}
    if not steps:
        del answer["steps"]
    return answer
