"""A case in words: a model, GPUs and settings on the command line."""

import argparse
import difflib
import re
from collections.abc import Container, Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import fields as fields_of

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.cli.faults import InputFault
from rigplanner.decoding import JsonFault, convert, read_tree
from rigplanner.errors import WorkloadFault
from rigplanner.performance.host.steps import cpu_file
from rigplanner.performance.software.stacks import shipped_stacks
from rigplanner.performance.without_network.simulated import simulators
from rigplanner.rig.files import RigFault, read_rig
from rigplanner.rig.from_text.from_words import counted
from rigplanner.rig.own_words import in_own_words, is_task, own_field
from rigplanner.rig.workload import Case, Hardware, Parallelism, Workload
from rigplanner.workload.network import resolve
from rigplanner.workload.readers import UNREAD, model_fields
from rigplanner.workload.stacks import memory_stacks
from rigplanner.workload.without_network import TABLE_STACKS, plain_job

WORKLOAD_FIELDS = frozenset(Workload.__struct_fields__)
MODEL_SUFFIXES = (".json", ".safetensors", ".gguf")


def add_job_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare how one job is described: GPUs, task and any other field of a workload."""
    parser.add_argument(
        "--gpu",
        action="append",
        default=[],
        metavar="[N×]NAME",
        help='the GPUs, as "RTX 4090" or "2x RTX 3090"',
    )
    parser.add_argument(
        "--cpu",
        metavar="[N×]NAME",
        help='the CPUs alone, as "2x Xeon E5-2630 v3"; beside --gpu, what they would do',
    )
    parser.add_argument(
        "--rig", metavar="FILE.rig", help="the GPUs of this rig, with its links, instead of --gpu"
    )
    parser.add_argument(
        "--free",
        action="append",
        type=float,
        default=[],
        metavar="GIB",
        help="memory free on each GPU, in order",
    )
    parser.add_argument(
        "--task", help="train_full, train_lora, train_qlora, grpo, inference or serve"
    )
    parser.add_argument("--precision", help="such as bf16, amp_fp16, int8, nf4, q4_k_m")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="FIELD=VALUE",
        dest="fields",
        help="any field of a workload, as batch_per_gpu=4 or parallelism.zero=3",
    )


def fields_as_options(words: list[str], options: Container[str]) -> list[str]:
    """Return the words of a command with each option that is none of its own but a field of a
    workload, or what an engine calls one (`--max-model-len 8192`, `-ngl 20`, `--cpu-moe`), as
    `--set FIELD=VALUE`. A field that is yes or no needs no value, nor does a switch (`-fa`)."""
    yes_or_no = {field.name for field in fields_of(Workload) if field.type == bool | None}
    made, rest = list[str](), words[::-1]
    while rest:
        word = rest.pop()
        said, given, value = word.partition("=")
        name = own_field(said)
        if not said.startswith("-") or said in options or not _is_field(name):
            made.append(word)
            continue
        if not given:
            alone = name in yes_or_no or not rest or re.match(r"-\D", rest[-1])
            value = "true" if alone else rest.pop()
        made += ["--set", f"{name}={value}"]
    return made


def _is_field(name: str) -> bool:
    """Whether a workload has it: `seq_len`, `parallelism.tensor`."""
    return name.partition(".")[0] in WORKLOAD_FIELDS


class Joined(argparse.Action):
    """The words of a name that nobody quoted, as one: `memory llama 3.3 70b`."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        """Keep the words with one space between."""
        setattr(namespace, self.dest, " ".join(values or ()))


def is_cases(what: str) -> bool:
    """Whether the argument is a file of cases rather than one model."""
    path = Path(what)
    return (
        what == "-"
        or what.endswith((".jsonl", ".ndjson"))
        or (
            path.exists()
            and not path.is_dir()
            and path.suffix not in (*MODEL_SUFFIXES, *UNREAD, ".rig")
        )
    )


def asked_cases(args: argparse.Namespace) -> list[Case]:
    """Return the one case that the arguments describe, or every workload of a rig file that they
    name. Raises InputFault."""
    return _cases_of_rig(args.what) if args.what.endswith(".rig") else [asked_case(args)]


def _cases_of_rig(name: str) -> list[Case]:
    try:
        rig = read_rig(Path(name))
    except RigFault as fault:
        raise InputFault(str(fault)) from fault
    if not rig.workloads:
        raise InputFault(
            f"{name}: the rig has no workload; name a model and --rig {name}, or give the rig one"
            " with `rigplanner new --from FILE.rig --workload MODEL`."
        )
    titles = list(map(_title, rig.workloads))
    return [
        Case(id=title, workload=work, hardware=Hardware(rig=name))
        for title, work in zip(titles, rig.workloads, strict=True)
    ]


def _title(work: Workload) -> str:
    """A workload as its answer is headed: its name, else model and task."""
    if not (work.name or work.task) and plain_job(work):
        return work.model or ""
    return work.name or f"{work.model or 'network'}, {work.task or 'task not set'}"


def asked_case(args: argparse.Namespace) -> Case:
    """Return the case that the arguments describe; raise InputFault for a field that is none or a
    value that does not suit it."""
    asked = {name: getattr(args, name) for name in ("task", "precision") if getattr(args, name)}
    what, _, last = args.what.rpartition(" ")
    if what and is_task(last) and not Path(args.what).exists():
        asked = {"task": last} | asked
    else:
        what = args.what
    work = with_fields(what, model_asked(what), args.fields, asked)
    name = Path(args.what).name
    said = "task" in asked or any(one.startswith("task=") for one in args.fields)
    if work.task and not said:
        name = f"{name}, {work.task}"
    return Case(id=name, workload=work, hardware=_hardware(args))


def with_fields(
    name: str, fields: dict[str, Any], given: Iterable[str], asked: dict[str, Any] | None = None
) -> Workload:
    """Return the workload of these fields and of others that are asked or written FIELD=VALUE;
    raise InputFault for what is no field or value. What a file stores holds for its own precision.
    """
    told = {name: fields.get(name) for name in ("precision", "weights_gib", "quant")}
    over = {key: value for key, value in (asked or {}).items() if key in told}
    fields = fields | {key: value for key, value in (asked or {}).items() if key not in told}
    for one in given:
        _put(over if one.partition("=")[0] in told else fields, one)
    if over.get("precision", told["precision"]) != told["precision"]:
        fields = {key: value for key, value in fields.items() if key not in told}
    fields = in_own_words({**fields, **over})
    _refuse_unknown(fields, Workload, "a workload", "")
    if isinstance(fields.get("parallelism"), dict):
        _refuse_unknown(fields["parallelism"], Parallelism, "parallelism", "parallelism.")
    try:
        work = convert(fields, Workload)
    except msgspec.ValidationError as fault:
        raise InputFault(f"{name}: {_in_words(str(fault), fields)}") from fault
    if work.stack is not None:
        _refuse_stack(work.stack)
    if built := work.variant.get("built_on"):
        try:
            find_gpu(str(built))
        except WorkloadFault as fault:
            said = str(fault).removeprefix("hardware.gpu: ")
            raise InputFault(f"variant.built_on: {said}") from fault
    return work


def _refuse_unknown(fields: dict[str, Any], struct: type, owner: str, before: str) -> None:
    known = struct.__struct_fields__  # type: ignore[attr-defined]
    for name in fields:
        if name in known:
            continue
        near = (
            difflib.get_close_matches(name, known, 3, 0.5)
            or [one for one in known if name in one][:3]
        )
        meant = (
            f"the nearest are {', '.join(before + one for one in near)}"
            if near
            else f"it has {', '.join(known)}"
        )
        raise InputFault(f"--set: {owner} has no field {name!r}; {meant}.")


def _refuse_stack(slug: str) -> None:
    known = {
        *shipped_stacks(),
        *memory_stacks(),
        *cpu_file().stacks,
        *TABLE_STACKS,
        *simulators().engines,
    }
    if slug.casefold() not in known:
        near = ", ".join(
            difflib.get_close_matches(slug.casefold(), sorted(known), 4, 0.4) or sorted(known)
        )
        raise InputFault(f"stack: {slug!r} is not known; the nearest are {near}.")


KINDS = {
    "int": "a whole number",
    "float": "a number",
    "bool": "yes or no (true, false)",
    "str": "a word",
    "array": "a list",
    "object": "fields",
}
_MISFIT = re.compile(
    r"^Expected `(?P<wanted>[^`]+)`, got `(?P<got>[^`]+)` - at `\$\.(?P<field>[^`]+)`$"
)


def _in_words(fault: str, fields: dict[str, Any]) -> str:
    """A fault of decoding as field, expected, found."""
    read = _MISFIT.match(fault)
    if not read:
        return f"{fault}."
    wanted = " or ".join(
        KINDS.get(one.strip(), one.strip())
        for one in read["wanted"].split("|")
        if one.strip() != "null"
    )
    value: Any = fields
    for step in read["field"].split("."):
        value = value.get(step) if isinstance(value, dict) else None
    found = KINDS.get(read["got"], read["got"]) if value is None else repr(value)[:60]
    return f"{read['field']}: expected {wanted}, found {found}."


def model_asked(what: str) -> dict[str, Any]:
    """Return the fields of a workload that name a model: a name of the zoo or of a GGUF file as it
    is published, or what a file that is here tells. Raises InputFault."""
    path = Path(what)
    named = path.suffix not in MODEL_SUFFIXES or (path.suffix == ".gguf" and path.name == what)
    if named and not path.exists():
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
        value = read_tree(text.encode("utf-8", "replace"))
    except JsonFault:
        value = text
    *path, last = name.split(".")
    for step in path:
        inner = fields.setdefault(step, {})
        if not isinstance(inner, dict):
            raise InputFault(f"--set: {step} holds {str(inner)[:40]!r}, not fields.")
        fields = inner
    fields[last] = value


BETWEEN = re.compile(r"\s*[,&]\s*|\s+\+\s*|(?<!max)\+(?=\S)", re.IGNORECASE)
"""What stands between GPUs that differ: "RTX 3090 + RTX 4090"; the plus of "Max+ 395" does not."""


def _hardware(args: argparse.Namespace) -> Hardware:
    if args.rig:
        if args.gpu:
            raise InputFault("--rig: the rig names its GPUs; leave --gpu away.")
        if args.cpu:
            raise InputFault("--rig: the rig names its CPUs; leave --cpu away.")
        return Hardware(rig=args.rig)
    names: list[str] = []
    for word in (one for given in args.gpu for one in BETWEEN.split(given.strip())):
        count, name = counted(word)
        if not 1 <= count <= 1024:
            raise InputFault(f"--gpu: expected 1 to 1024 GPUs, found {count}.")
        names += [name] * count
    cpu, cpus = _processors(args.cpu)
    if not names:
        return Hardware(cpu=cpu, cpus=cpus)
    for name in dict.fromkeys(names):
        try:
            find_gpu(name)
        except WorkloadFault as fault:
            raise InputFault(f"--gpu: {str(fault).removeprefix('hardware.gpu: ')}") from fault
    free = args.free or None
    if len(set(names)) == 1 and free is None:
        return Hardware(gpu=names[0], count=len(names), cpu=cpu, cpus=cpus)
    return Hardware(gpus=names, count=len(names), free_gib=free, cpu=cpu, cpus=cpus)


def _processors(word: str | None) -> tuple[str | None, int]:
    """The name of the CPUs asked for and their number."""
    if not word:
        return word, 1
    count, name = counted(word)
    return name, count


class Work(Struct, frozen=True):
    """A workload that was named on the command line, its weight among others, and the speed that it
    must reach, if any."""

    text: str
    workload: Workload
    weight: float = 1.0
    least: float | None = None


def works_asked(texts: Iterable[str]) -> list[Work]:
    """Read workloads in words: a model with fields, `weight=` and `min=` of them; fields and a task
    that stand alone belong to the model before them. Raises InputFault for what nothing knows."""
    return [_work_asked(text) for text in whole_works(texts)]


def whole_works(texts: Iterable[str], apart: Container[str] = ()) -> list[str]:
    """Return works with the fields and the task that were written behind them as words of their
    own, and as one the words of a name that nobody quoted; names that stand `apart` take none."""
    texts, told = list(texts), list[str]()
    if len(texts) > 1 and not any(" " in text or text in apart for text in texts):
        names = [text for text in texts if not _adds(text)]
        whole = " ".join(names)
        if not any(map(_is_model, names)) and _is_model(whole):
            return [" ".join([whole, *(text for text in texts if _adds(text))])]
    for text in texts:
        if told and told[-1] not in apart and _adds(text):
            told[-1] = f"{told[-1]} {text}"
        else:
            told.append(text)
    return told


def _is_model(name: str) -> bool:
    try:
        resolve(Workload(model=name), shipped_zoo())
    except WorkloadFault:
        return False
    return True


def _adds(text: str) -> bool:
    return all("=" in word or is_task(word) for word in text.split())


def _work_asked(text: str) -> Work:
    words = text.split()
    own = {
        key: _above_nothing(word)
        for word in words
        if (key := word.partition("=")[0]) in ("weight", "min") and "=" in word
    }
    given = [word for word in words if "=" in word and word.partition("=")[0] not in own]
    named = [word for word in words if "=" not in word]
    if len(named) > 1 and is_task(named[-1]):
        given.append(f"task={named.pop()}")
    model = " ".join(named)
    if not model:
        raise InputFault(f"expected a model, for example 'llama-3.1-8b task=serve', not {text!r}.")
    work = with_fields(model, model_asked(model), given)
    try:
        if not plain_job(work):
            resolve(work, shipped_zoo())
    except WorkloadFault as fault:
        raise InputFault(str(fault)) from fault
    plain = " ".join([model, *given])
    return Work(plain, work, own.get("weight", 1.0), own.get("min"))


def _above_nothing(word: str) -> float:
    try:
        value = float(word.partition("=")[2])
    except ValueError:
        value = 0.0
    if not 0 < value <= 1e6:
        raise InputFault(f"{word}: expected a number above 0.")
    return value
