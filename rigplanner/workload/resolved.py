"""The one resolved job: format, lengths, users and drafts of a workload, for whoever asks."""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.zoo import Zoo
from rigplanner.errors import WorkloadFault
from rigplanner.rig.workload import Workload
from rigplanner.workload.network import resolve
from rigplanner.workload.prompt_sets import prompt_set
from rigplanner.workload.stored import formatted


class Resolved(Struct, frozen=True):
    """A workload with what its words stand for, and what of it was not said, by field."""

    workload: Workload
    assumed: dict[str, str] = {}


def resolved(workload: Workload, zoo: Zoo) -> Resolved:
    """Return the workload with the format of its weights, the lengths of a set of prompts that it
    names, and its streams. Asked again of its own answer it changes nothing. Raises WorkloadFault
    for sets of prompts, users and drafts that mean nothing."""
    meant = _meant(workload, zoo)
    made = formatted(replace(workload, **meant), zoo)
    made = replace(made, assumed={**meant, **made.assumed}) if meant else made
    fields: dict[str, Any] = _lengths(made.workload) or _answer(made.workload, zoo)
    _check_serving(made.workload)
    if not fields:
        return Resolved(made.workload, made.assumed)
    told = {name: str(value) for name, value in fields.items()}
    return Resolved(replace(made.workload, **fields), made.assumed | told)


WRITING = ("inference", "serve", "decode", "prefill")
WRITES = ("llm", "moe", "vlm")


def _meant(work: Workload, zoo: Zoo) -> dict[str, str]:
    """What software stands for beside its name: PyTorch that runs a model of language is Hugging
    Face's loop over it, one token after the other."""
    if work.stack != "pytorch" or (work.task or "inference") != "inference":
        return {}
    try:
        writes = resolve(work, zoo).kind in WRITES
    except WorkloadFault:
        return {}  # who is asked next says what is wrong with it
    return {"stack": "hf-transformers"} if writes else {}


def in_one_format(workload: Workload, zoo: Zoo) -> Workload:
    """Return the workload with the format in which cards are compared: what it says, what its
    network is published in, else 16 bits. Left open, each card would be asked in the format of its
    usual software, and four bits on one would win against sixteen on another."""
    if workload.precision or workload.quant or workload.task not in WRITING:
        return workload
    try:
        made = formatted(workload, zoo).workload
        kind = resolve(made, zoo).kind
    except WorkloadFault:
        return workload  # who is asked next says what is wrong with it
    if made.precision or made.quant or kind not in WRITES:
        return made
    return replace(made, precision="fp16")


def _lengths(work: Workload) -> dict[str, Any]:
    if work.dataset is None or work.task not in ("inference", "serve", "decode", "prefill"):
        return {}
    found = prompt_set(work.dataset)
    lengths = {"input_tokens": found.input, "output_tokens": found.output}
    return {name: size for name, size in lengths.items() if getattr(work, name) is None and size}


SENTENCE = 128
"""Tokens of a text that a network of encoder and decoder reads, and writes anew, where nobody says
more: the sentences and short paragraphs that translators are given (their generation settings end
at 128 to 200 tokens; estimate)."""


def _answer(work: Workload, zoo: Zoo) -> dict[str, Any]:
    """What inference with a network of encoder and decoder writes where nobody says it: one text at
    a time, as long as the one that it reads."""
    said = work.output_tokens is not None or work.stack == "trace" or work.gmacs
    if said or (work.task or "inference") != "inference":
        return {}
    try:
        kind = resolve(work, zoo).kind
    except WorkloadFault:
        return {}  # who is asked next says what is wrong with it
    if kind != "encoder_decoder":
        return {}
    length = work.input_tokens or work.seq_len or SENTENCE
    fields = {"input_tokens": length, "output_tokens": length}
    return fields if work.batch_per_gpu or work.users else {**fields, "batch_per_gpu": 1}


def _check_serving(work: Workload) -> None:
    if work.users is not None and work.batch_per_gpu is not None:
        raise WorkloadFault(
            "users: expected users in all or batch_per_gpu, streams of each GPU; found both."
        )
    if work.request_rate is not None and (work.users or work.batch_per_gpu):
        raise WorkloadFault(
            "request_rate: expected requests a second or users, who ask again when they are"
            " answered; found both."
        )
    prompt = work.input_tokens or work.seq_len
    if work.prefix_tokens and prompt and work.prefix_tokens > prompt:
        raise WorkloadFault(
            f"prefix_tokens: expected at most the prompt's {prompt}, found {work.prefix_tokens}."
        )
