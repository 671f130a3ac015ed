"""`rigplanner trace MODEL|SCRIPT.py`: measure one step of a PyTorch model without a GPU, in the
interpreter that has PyTorch."""

import argparse
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from rigplanner.catalog.zoo import Zoo, shipped_zoo
from rigplanner.cli.asked import add_job_arguments, asked_case
from rigplanner.cli.commands.memory import estimate_record
from rigplanner.cli.faults import FINE, InputFault
from rigplanner.cli.hardware import place_of
from rigplanner.decoding import read_json
from rigplanner.errors import WorkloadFault
from rigplanner.memory.estimate import answered, estimate_memory
from rigplanner.memory.measured import torch_step
from rigplanner.memory.training import Demand
from rigplanner.memory.usable_memory import usable_gib
from rigplanner.report.words.memory import compared_lines, memory_lines
from rigplanner.rig.workload import Case, Workload
from rigplanner.units import GIB
from rigplanner.whole_file import write_whole
from rigplanner.workload.job import read_job
from rigplanner.workload.network import Network, resolve
from rigplanner.workload.stacks import memory_stack

LONGEST_S = 1800
HEADS = {
    "llm": "causal_lm",
    "moe": "causal_lm",
    "encoder": "masked_lm",
    "encoder_decoder": "seq2seq",
    "cnn": "image",
    "vit": "image",
}
TASKS = ("train_full", "inference")
OPTIMIZERS = ("adamw", "adam", "adamw_fused", "sgd_momentum", "sgd")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `trace`."""
    parser.add_argument(
        "what",
        metavar="MODEL|SCRIPT.py",
        help=(
            "a name of the zoo or a configuration (measured with transformers), or a script that"
            " defines model() and batch(size)"
        ),
    )
    add_job_arguments(parser)
    parser.add_argument(
        "--python",
        metavar="PATH",
        help="the interpreter that has PyTorch; default: this one, then python3",
    )
    parser.add_argument(
        "--compare",
        action="store_true",
        help="print the estimate and its error beside the measurement",
    )
    parser.add_argument(
        "--case",
        type=Path,
        metavar="FILE.jsonl",
        help="add the measurement to a file of cases for `validate`",
    )
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace) -> int:
    """Measure, print in the form of an estimate, and compare or keep it where asked."""
    zoo = shipped_zoo()
    script = Path(args.what) if args.what.endswith(".py") else None
    if script is not None and (args.compare or args.case):
        raise InputFault(
            "--compare and --case: a script has no configuration to estimate; give a name of the"
            " zoo or a configuration."
        )
    case = _with_defaults(_script_case(args, script) if script else asked_case(args))
    try:
        asked = _request(case, script, zoo)
        measured = _measure(asked, args.python)
        record = _record(case, measured, zoo, script is not None)
        if args.compare:
            record["compared"] = _compared(case, measured, zoo)
        if args.case:
            _keep(args.case, case, asked, measured)
    except WorkloadFault as fault:
        raise InputFault(str(fault)) from fault
    if args.format == "json":
        print(msgspec.json.encode(record).decode())
    else:
        print("\n".join([*memory_lines(record), *compared_lines(record)]))
    return FINE


def _script_case(args: argparse.Namespace, script: Path) -> Case:
    if not script.is_file():
        raise InputFault(f"{script}: no such file.")
    named = argparse.Namespace(**{**vars(args), "what": "script"})
    return msgspec.structs.replace(asked_case(named), id=script.stem)


def _with_defaults(case: Case) -> Case:
    work = case.workload
    task = "train_full" if work.task in (None, "train") else work.task
    work = msgspec.structs.replace(
        work,
        task=task,
        precision=work.precision or "fp32",
        optimizer=work.optimizer or "adamw",
        batch_per_gpu=work.batch_per_gpu or 1,
        seq_len=work.seq_len or 512,
    )
    return msgspec.structs.replace(case, workload=work)


def _request(case: Case, script: Path | None, zoo: Zoo) -> dict[str, Any]:
    work = case.workload
    asked: dict[str, Any] = {
        "task": work.task,
        "precision": work.precision,
        "optimizer": work.optimizer,
        "batch_per_gpu": work.batch_per_gpu,
        "seq_len": work.seq_len,
        "image_size": work.image_size or 224,
        "gradient_checkpointing": work.gradient_checkpointing in (True, "full"),
    }
    if work.attention:
        asked["attention"] = work.attention
    if asked["task"] not in TASKS:
        raise WorkloadFault(f"task: trace measures {' and '.join(TASKS)}, found {asked['task']!r}.")
    if asked["optimizer"] not in OPTIMIZERS:
        raise WorkloadFault(
            f"optimizer: trace measures {', '.join(OPTIMIZERS)}, found {asked['optimizer']!r}."
        )
    if script is not None:
        return asked | {"script": str(script.resolve())}
    network = resolve(work, zoo)
    if network.config is None or network.kind not in HEADS:
        raise WorkloadFault(
            f"model: {network.slug} has no configuration that transformers could build; give a"
            " script."
        )
    return asked | {"config": msgspec.json.decode(network.config), "head": HEADS[network.kind]}


def _measure(asked: dict[str, Any], python: str | None) -> dict[str, Any]:
    """The answer of the first interpreter that has PyTorch; raises WorkloadFault when none has, or
    when the model does not run."""
    tried = []
    for interpreter in _interpreters(python):
        answer = _ask(interpreter, asked)
        if answer.get("missing") == "torch":
            tried.append(interpreter)
            continue
        if "error" in answer:
            raise WorkloadFault(f"{interpreter}: {answer['error']}.")
        return answer
    raise WorkloadFault(
        f"PyTorch is not installed in {' or '.join(tried) or 'any Python here'}; name an"
        " interpreter that has it with --python."
    )


def _interpreters(python: str | None) -> Iterator[str]:
    if python is not None:
        yield python
        return
    if not getattr(sys, "frozen", False):
        yield sys.executable
    for name in ("python3", "python"):
        found = shutil.which(name)
        if found and Path(found).resolve() != Path(sys.executable).resolve():
            yield found


def _ask(interpreter: str, asked: dict[str, Any]) -> dict[str, Any]:
    command = [interpreter, str(Path(torch_step.__file__).with_suffix(".py"))]
    try:
        done = subprocess.run(
            command,
            input=msgspec.json.encode(asked),
            capture_output=True,
            timeout=LONGEST_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as fault:
        raise WorkloadFault(f"--python: {interpreter} did not answer ({fault}).") from fault
    try:
        return read_json(done.stdout, dict[str, Any])
    except (msgspec.DecodeError, RecursionError) as fault:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise WorkloadFault(
            f"--python: {interpreter} ended without an answer"
            f" ({said[-1][:200] if said else done.returncode})."
        ) from fault


def _demand(measured: dict[str, Any]) -> Demand:
    held = measured["weights"] + measured["gradients"] + measured["optimizer"]
    gradients = min(
        measured["gradients"],
        max(0, measured["peak_bytes"] - measured["weights"] - measured["optimizer"]),
    )
    return Demand(
        weights=measured["weights"],
        gradients=gradients,
        optimizer=measured["optimizer"],
        activations=max(0, measured["peak_bytes"] - held + measured["gradients"] - gradients),
    )


def _known(
    case: Case, measured: dict[str, Any], zoo: Zoo, script: bool
) -> tuple[Workload, Network]:
    """The workload of what was measured: a script's network is known by its parameters."""
    work = case.workload
    if not script:
        return work, resolve(work, zoo)
    work = msgspec.structs.replace(
        work, model=str(case.id), params_m=measured["params"] / 1e6, kind=work.kind or "cnn"
    )
    return work, resolve(work, zoo)


def _record(case: Case, measured: dict[str, Any], zoo: Zoo, script: bool) -> dict[str, Any]:
    place = place_of(case.hardware)
    work, network = _known(case, measured, zoo, script)
    job = read_job(work, network, place.count, place.gpu is not None)
    found = answered(network, job, memory_stack(job.stack), _demand(measured), None, place.count)
    record = {"id": case.id, **estimate_record(found, False), "measured": measured}
    if place.gpu is not None:
        record |= {
            "gpu": place.gpu.name,
            "count": place.count,
            "capacity_gib": usable_gib(place.gpu),
        }
    return record


def _compared(case: Case, measured: dict[str, Any], zoo: Zoo) -> dict[str, Any]:
    asked = msgspec.structs.replace(case.workload, stack="trace")
    estimate = estimate_memory(asked, None, 1, zoo, explained=False)
    true = measured["peak_bytes"] / GIB
    return {
        "measured_gib": true,
        "estimated_gib": estimate.tensors_gib,
        "error": estimate.tensors_gib / true - 1,
    }


def _keep(path: Path, case: Case, asked: dict[str, Any], measured: dict[str, Any]) -> None:
    """Add the measurement to a file as a traced step, which `validate` judges the model by."""
    line = {
        "id": str(case.id),
        "spec": asked,
        "peak_bytes": measured["peak_bytes"],
        "params": measured["params"],
    }
    try:
        before = path.read_bytes() if path.exists() else b""
        ended = before if not before or before.endswith(b"\n") else before + b"\n"
        write_whole(path, ended + msgspec.json.encode(line) + b"\n")
    except OSError as fault:
        raise InputFault(f"{path}: not written ({fault.strerror or fault}).") from fault
