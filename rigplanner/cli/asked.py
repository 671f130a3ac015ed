"""A case in words: a model, GPUs and settings on the command line."""

import argparse
from pathlib import Path
from typing import Any

import msgspec

from rigplanner.cli.faults import InputFault
from rigplanner.rig.task import Case, Hardware, Workload
from rigplanner.workload.answer import WorkloadFault
from rigplanner.workload.readers import model_fields

MODEL_SUFFIXES = (".json", ".safetensors", ".gguf")


def add_job_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare how one job is described: GPUs, task and any other field of a workload."""
    parser.add_argument("--gpu", action="append", default=[], metavar="[N×]NAME", help='the GPUs, as "RTX 4090" or "2x RTX 3090"')
    parser.add_argument("--free", action="append", type=float, default=[], metavar="GIB", help="memory free on each GPU, in order")
    parser.add_argument("--task", help="train_full, train_lora, train_qlora, inference or serve")
    parser.add_argument("--precision", help="such as bf16, amp_fp16, int8, nf4, q4_k_m")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="FIELD=VALUE",
        dest="fields",
        help="any field of a workload, as batch_per_gpu=4 or parallelism.zero=3",
    )


def is_cases(what: str) -> bool:
    """Whether the argument is a file of cases rather than one model."""
    path = Path(what)
    return (
        what == "-"
        or what.endswith((".jsonl", ".ndjson"))
        or (path.exists() and not path.is_dir() and path.suffix not in MODEL_SUFFIXES)
    )


def asked_case(args: argparse.Namespace) -> Case:
    """Return the case that the arguments describe; raise InputFault for a field that is none or a value that does not suit it."""
    fields: dict[str, Any] = _model(args.what)
    for name in ("task", "precision"):
        if getattr(args, name):
            fields[name] = getattr(args, name)
    for given in args.fields:
        _put(fields, given)
    try:
        work = msgspec.convert(fields, Workload)
    except msgspec.ValidationError as fault:
        raise InputFault(f"{args.what}: {fault}.") from fault
    unknown = [name for name in fields if name not in Workload.__struct_fields__]
    if unknown:
        raise InputFault(f"--set: a workload has no field {unknown[0]!r}; it has {', '.join(Workload.__struct_fields__)}.")
    return Case(id=Path(args.what).name, workload=work, hardware=_hardware(args))


def _model(what: str) -> dict[str, Any]:
    path = Path(what)
    if not path.exists() and path.suffix not in MODEL_SUFFIXES:
        return {"model": what}
    try:
        return model_fields(path)
    except WorkloadFault as fault:
        raise InputFault(str(fault)) from fault


def _put(fields: dict[str, Any], given: str) -> None:
    name, equals, text = given.partition("=")
    if not equals or not name:
        raise InputFault(f"--set: expected FIELD=VALUE, found {given!r}.")
    try:
        value = msgspec.json.decode(text.encode())
    except (msgspec.DecodeError, RecursionError):
        value = text
    *path, last = name.split(".")
    for step in path:
        inner = fields.setdefault(step, {})
        if not isinstance(inner, dict):
            raise InputFault(f"--set: {step} holds {str(inner)[:40]!r}, not fields.")
        fields = inner
    fields[last] = value


def _hardware(args: argparse.Namespace) -> Hardware:
    names: list[str] = []
    for word in args.gpu:
        count, times, name = word.partition("x ") if "x " in word else word.partition("× ")
        many = times and count.strip().isdigit()
        if many and not 1 <= int(count) <= 1024:
            raise InputFault(f"--gpu: expected 1 to 1024 GPUs, found {count}.")
        names += [name.strip()] * int(count) if many else [word]
    if not names:
        return Hardware()
    free = args.free or None
    if len(set(names)) == 1 and free is None:
        return Hardware(gpu=names[0], count=len(names))
    return Hardware(gpus=names, count=len(names), free_gib=free)
