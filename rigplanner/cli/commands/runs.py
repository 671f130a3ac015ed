"""`rigplanner runs`: every model against a machine: what runs, in which format, how fast."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path

from rigplanner.catalog.schema.parts import GPU
from rigplanner.catalog.zoo import Zoo, shipped_zoo
from rigplanner.cli.asked import BETWEEN, Joined
from rigplanner.cli.faults import FINDINGS, FINE, InputFault
from rigplanner.cli.hardware import Place, place_of
from rigplanner.cli.terminal import tell_columns, width
from rigplanner.cli.written import written
from rigplanner.errors import WorkloadFault
from rigplanner.planning.map.runs import (
    NAMES,
    TASKS,
    Run,
    deepened,
    file_run,
    marked,
    newest_first,
    runs,
)
from rigplanner.planning.model_files import works_of_folder
from rigplanner.report.language import tr
from rigplanner.report.map import models
from rigplanner.report.map.table import note
from rigplanner.rig.from_text.from_words import counted
from rigplanner.rig.own_words import in_own_words
from rigplanner.rig.workload import Hardware

FORMATS = ("text", "csv", "json", "svg", "html")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.add_argument(
        "machine",
        nargs="*",
        action=Joined,
        metavar="RIG|GPU",
        help="a .rig file, or GPUs as '2x RTX 3090'",
    )
    parser.add_argument(
        "--gpu", nargs="+", action=Joined, dest="named", help="the GPUs, as the other commands ask"
    )
    parser.add_argument("--this-machine", action="store_true", help="the GPUs of this computer")
    parser.add_argument(
        "--purpose",
        action="append",
        choices=NAMES,
        help="models of this purpose alone; may be given again (default: chat)",
    )
    parser.add_argument("--task", choices=tuple(TASKS), default="inference", type=_task)
    parser.add_argument(
        "--files", type=Path, metavar="FOLDER", help="model files (GGUF, safetensors) instead"
    )
    parser.add_argument(
        "--largest", action="store_true", help="the largest that run well first, not the newest"
    )
    parser.add_argument("--most", type=int, default=15, help="models shown of each purpose")
    parser.add_argument("--format", choices=FORMATS, default="text")
    parser.add_argument("-o", "--output", type=Path, help="file to write")


def _task(word: str) -> str:
    """A task as it is asked for here: `train_lora` and `LoRA` are `lora`."""
    own = in_own_words({"task": word})["task"]
    return next((name for name, task in TASKS.items() if task == own), word)


def run(args: argparse.Namespace) -> int:
    """Print what runs; 1 when nothing does."""
    if args.most < 1:
        raise InputFault(f"--most: expected at least 1, found {args.most}.")
    place = _place(args)
    gpus = place.gpus or ((place.gpu,) * place.count if place.gpu else ())
    found = _found(args, gpus, place)
    zoo = shipped_zoo()
    if args.task == "inference":
        found = _deepened(found, gpus, zoo, args.most if args.format == "text" else len(found))
    content = _content(args, found, place)
    if args.output is None and args.format == "text":
        tell_columns(content.rstrip("\n"))
    elif args.output is None:
        print(content, end="")
    else:
        written(args.output, content.encode())
    return FINE if any(each.precision is not None for each in found) else FINDINGS


def _found(args: argparse.Namespace, gpus: Sequence[GPU], place: Place) -> list[Run]:
    """The models of the zoo, or those of a folder, marked and in order. Raises InputFault for a
    folder without any, and for training without a GPU."""
    if args.task != "inference" and not gpus:
        raise InputFault(f"--task {args.task}: this machine has no GPU that is known.")
    if args.files is not None:
        found = list(_of_folder(args.files, gpus))
    else:
        purposes = tuple(args.purpose or ("chat",))
        found = list(runs(gpus, place.machine, shipped_zoo(), purposes, args.task))
    best = marked(found)
    return best if args.largest else newest_first(best)


def _of_folder(folder: Path, gpus: Sequence[GPU]) -> Iterator[Run]:
    if not folder.is_dir():
        raise InputFault(f"{folder}: expected a folder of model files.")
    works, faults = works_of_folder(folder)
    for fault in faults:
        print(fault, file=sys.stderr)
    if not works:
        raise InputFault(f"{folder}: no GGUF, safetensors or config.json of a model is in it.")
    for work in works:
        yield file_run(work, gpus, shipped_zoo())


def _deepened(found: Sequence[Run], gpus: Sequence[GPU], zoo: Zoo, most: int) -> list[Run]:
    """The runs that are shown, with context and users."""
    seen: dict[str, int] = {}
    made = []
    for run in found:
        seen[run.purpose] = seen.get(run.purpose, 0) + 1
        made.append(deepened(run, gpus, zoo) if seen[run.purpose] <= most else run)
    return made


def _content(args: argparse.Namespace, found: Sequence[Run], place: Place) -> str:
    if args.format == "csv":
        return models.csv_text(found)
    if args.format == "json":
        return models.json_text(found)
    room = width() if args.output is None and args.format == "text" else None
    lines = models.text(found, args.most, room)
    if args.format == "text":
        return "\n".join(lines) + "\n"
    from rigplanner.report.map import picture
    from rigplanner.report.map.runs_chart import runs_chart

    scene = runs_chart(found, _title(place), note(date.today().isoformat()), args.most)
    if args.format == "svg":
        return picture.svg(scene)
    return picture.page_html([scene], scene.title, lines)


def _title(place: Place) -> str:
    """What the machine is called: its GPUs, or the host alone."""
    gpus = place.gpus or ((place.gpu,) * place.count if place.gpu else ())
    counts = {gpu.name: [each.name for each in gpus].count(gpu.name) for gpu in gpus}
    return ", ".join(f"{count} × {name}" for name, count in counts.items()) or tr("CPU")


def _place(args: argparse.Namespace) -> Place:
    """The machine asked for. Raises InputFault for none, or for one that nothing knows."""
    asked = args.machine or args.named
    if args.this_machine == bool(asked) or (args.machine and args.named):
        raise InputFault("name a rig file or GPUs, or say --this-machine.")
    if args.this_machine:
        return _this_machine()
    try:
        if asked.endswith(".rig") or Path(asked).is_file():
            return place_of(Hardware(rig=asked))
        told = [counted(word) for word in BETWEEN.split(asked.strip())]
        names = [name for count, name in told for _ in range(count)]
        alike = len(set(names)) == 1
        found = place_of(
            Hardware(gpu=names[0], count=len(names))
            if alike
            else Hardware(gpus=names, count=len(names))
        )
    except WorkloadFault as fault:
        raise InputFault(str(fault)) from fault
    if found.gpu is None and not found.alone:
        raise InputFault(found.fault)
    return found


def _this_machine() -> Place:
    from rigplanner.cli.reading import open_catalog
    from rigplanner.machine.this_machine import read_this_machine, recognise
    from rigplanner.rules.assess import link_of, machine_of

    catalog = open_catalog()
    machine = machine_of(recognise(read_this_machine(), catalog).rig, catalog)
    gpus = tuple(node.gpu for node in machine.gpus)
    if not gpus and not machine.cpus:
        raise InputFault("this computer tells neither its GPU nor its CPU; name the GPU instead.")
    return Place(
        gpu=gpus[0] if gpus else None,
        count=max(1, len(gpus)),
        nodes=1,
        link=link_of(machine),
        machine=machine,
        gpus=gpus,
        alone=not gpus,
    )
