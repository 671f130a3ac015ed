"""What people, engines and trainers call the fields of a workload, and what they write in them."""

import re
from functools import cache
from typing import Any

from msgspec import Struct

from rigplanner.data import data_path
from rigplanner.decoding import read_json


class _Words(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Other names of fields, and by field other words for its values: null where the word says no
    more than an absent field does. A stack's is one slug, or that of training and that of running;
    `trains` tells what software that trains is asked for where nobody names a task."""

    fields: dict[str, str]
    task: dict[str, str]
    precision: dict[str, str]
    kv_precision: dict[str, str | None]
    attention: dict[str, str]
    stack: dict[str, str | tuple[str, str]]
    trains: dict[str, str]


@cache
def _words() -> _Words:
    return read_json(
        (data_path("catalog") / "architectures" / "own_words.json").read_bytes(), _Words
    )


TOKENS = {"k": 2**10, "m": 2**20}
MANY = {"k": 10**3, "m": 10**6, "b": 10**9, "t": 10**12}
AMOUNTS = {
    "seq_len": TOKENS,
    "input_tokens": TOKENS,
    "output_tokens": TOKENS,
    "prefix_tokens": TOKENS,
    "train_tokens": MANY,
    "dataset_samples": MANY,
}
"""What the letter behind a number stands for: a context of 32k is one of 32,768 tokens."""
VALUES = ("task", "precision", "kv_precision", "attention")
RELEASE = re.compile(r"(?:[\s=@]+v?|-v)\d+(?:\.\d+)*\S*$|\s+b\d{3,}$")
"""A release behind the name of a stack: `vllm 0.11`, `vllm==0.11.0`, `llama.cpp b7010`."""


def in_own_words(fields: dict[str, Any]) -> dict[str, Any]:
    """Return fields under a workload's own names and with its own words in them; what is said under
    both keeps its own. A release behind the name of a stack becomes `framework_text`; software that
    trains is asked to train where no task is said."""
    found, degrees = dict[str, Any](), dict[str, dict[str, Any]]()
    for name, value in fields.items():
        own = own_field(name)
        if own in fields and own != name:
            continue
        group, dot, degree = own.partition(".")
        if dot:
            degrees.setdefault(group, {})[degree] = value
        else:
            found[own] = [value] if own == "flags" and isinstance(value, str) else value
    for group, beside in degrees.items():
        told = found.get(group) or {}
        found[group] = {**beside, **told} if isinstance(told, dict) else told
    for name, unit in AMOUNTS.items():
        if isinstance(told := found.get(name), str):
            found[name] = _amount(told, unit)
    if isinstance(size := found.get("image_size"), str):
        found["image_size"] = _edges(size)
    for name in VALUES:
        if isinstance(word := found.get(name), str | bool):
            found[name] = _own_value(name, str(word))
    if isinstance(word := found.get("quant"), str):
        found["quant"] = _own_value("precision", word)
    if isinstance(stack := found.get("stack"), str):
        if task := _words().trains.get(own_stack(stack).casefold()):
            found.setdefault("task", task)
        found["stack"] = own_stack(stack, found.get("task"))
        if RELEASE.search(stack.strip()) and not found.get("framework_text"):
            found["framework_text"] = stack
    return found


def own_field(name: str) -> str:
    """Return what a workload calls a field, with the group that it is in: `-c` is `seq_len`,
    `--tensor-parallel-size` is `parallelism.tensor`."""
    plain = name.lstrip("-").replace("-", "_")
    return _words().fields.get(plain, plain if name.startswith("-") else name)


def _own_value(field: str, word: str) -> str | None:
    others: dict[str, str | None] = getattr(_words(), field)
    return others.get(_folded(word), word)


def _amount(told: str, units: dict[str, int]) -> int | str:
    read = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([a-z])", told.strip().casefold())
    return round(float(read[1]) * units[read[2]]) if read and read[2] in units else told


def _edges(size: str) -> list[int] | str:
    """Height and width of `1280x720`, which is written width first."""
    edges = re.fullmatch(r"(\d+)\s*[x×*]\s*(\d+)", size.strip().casefold())
    return [int(edges[2]), int(edges[1])] if edges else size


def is_task(word: str) -> bool:
    """Whether a word says what is done with a model: `lora`, `serve`, `inference`."""
    others = _words().task
    return _folded(word) in others or word.casefold() in others.values()


def _folded(word: str) -> str:
    return re.sub(r"[-\s]+", "_", word.strip().casefold())


def own_stack(word: str, task: object = None) -> str:
    """Return the slug of a stack that people call otherwise ("transformers", "LM Studio",
    "llama-server"), in a task; the word itself, without a release, where it is no such name."""
    plain = RELEASE.sub("", word.strip())
    folded = re.sub(r"[_\s]+", "-", plain.casefold())
    other = _words().stack.get(folded)
    if isinstance(other, tuple):
        return other[not (isinstance(task, str) and task.startswith(TRAINS))]
    return other or (folded if " " in plain else plain)


TRAINS = ("train", "pretrain", "dpo", "grpo", "ppo")
"""How the names of tasks begin that train."""
