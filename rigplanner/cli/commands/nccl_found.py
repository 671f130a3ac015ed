"""`rigplanner topology ... --read FILE`: what NCCL found on the machine, beside what was
predicted."""

import json
from pathlib import Path
from typing import Any

import msgspec

from rigplanner.cli.commands.captured import FAULTS, captured_text
from rigplanner.cli.faults import InputFault
from rigplanner.machine.formats.nccl_beside import beside
from rigplanner.machine.formats.nccl_log import read_nccl
from rigplanner.machine.model import Machine
from rigplanner.report.words.machine import beside_text, run_lines


def found_text(machine: Machine | None, path: Path, form: str) -> str:
    """Return what a log of NCCL or a graph file says, with the prediction beside it where there is
    a machine; `form` is json or anything else for text. Raises InputFault for files of another
    kind."""
    try:
        run = read_nccl(captured_text(path))
    except FAULTS as fault:
        raise InputFault(f"{path}: {fault}") from fault
    rows = beside(machine, run) if machine is not None else ()
    if form == "json":
        answer: dict[str, Any] = {
            "nccl": msgspec.to_builtins(run, str_keys=True),
            "beside": msgspec.to_builtins(rows),
        }
        return json.dumps(answer, ensure_ascii=False) + "\n"
    return "".join(f"{line}\n" for line in (*run_lines(run), *map(beside_text, rows)))
