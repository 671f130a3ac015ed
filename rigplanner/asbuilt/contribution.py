"""Measured speeds back into the truth: as the user's own anchors, and as a file for the open table
of measurements. Hardware, stack and figure, nothing of the person."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from rigplanner.asbuilt.acceptance import Acceptance
from rigplanner.asbuilt.checks.speed import METRICS, PROGRAMS
from rigplanner.asbuilt.seen import SeenRate
from rigplanner.performance.anchors.own import keep_text
from rigplanner.rules.assess import Assessment, link_of

SHARED = ("model", "task", "precision", "batch_per_gpu", "seq_len", "input_tokens", "output_tokens")
"""What of a workload goes into a contribution; its name and files are the person's."""


def contribution(assessment: Assessment, made: Acceptance) -> list[dict[str, Any]]:
    """Return a row for each measured speed that the table has a place for, as `rigplanner validate`
    and the user's own anchors read them."""
    machine = assessment.machine
    if not machine.gpus:
        return []
    base: dict[str, Any] = {
        "gpu": machine.gpus[0].gpu.id,
        "nodes": 1,
        "link": link_of(machine),
        "date": made.captured or made.day,
    }
    rows = [row for rate in made.rates for row in _rows(assessment, rate)]
    return [
        {"id": f"OWN-{made.day}-{number:02d}", **base, **row} for number, row in enumerate(rows, 1)
    ]


def _rows(assessment: Assessment, rate: SeenRate) -> Iterator[dict[str, Any]]:
    count = len(assessment.machine.gpus)
    if rate.metric == "allreduce-busbw":
        ranks = int(rate.details.get("ranks", count))
        size = rate.details.get("bytes")
        yield {
            "model": "all-reduce",
            "task": "collective",
            "stack": "nccl-tests",
            "metric": "busbw_gbps",
            "count": ranks,
            "value": rate.value,
            **({"message_bytes": int(size)} if size else {}),
        }
    elif rate.metric in ("copy-peer", "copy-staged") and rate.gpus == (0, 1):
        yield {
            "model": "p2p",
            "task": "collective",
            "stack": "p2p-bandwidth-test",
            "metric": "p2p_gbps",
            "count": 2,
            "value": rate.value,
            "variant": {"direction": "unidirectional", "p2p": rate.metric == "copy-peer"},
        }
    elif rate.metric in METRICS:
        stacks = PROGRAMS.get(rate.program, ())
        jobs = [job for job in assessment.jobs if job.speed and job.speed.stack in stacks]
        if len(jobs) == 1 and jobs[0].speed is not None:
            work = msgspec.to_builtins(jobs[0].workload)
            yield {
                **{name: work[name] for name in SHARED if work.get(name)},
                "stack": jobs[0].speed.stack,
                "metric": METRICS[rate.metric],
                "count": count,
                "value": rate.value,
            }


def contribution_text(rows: list[dict[str, Any]]) -> str:
    """Return the rows as JSON lines."""
    return "".join(json.dumps(row) + "\n" for row in rows)


def keep_as_anchors(rows: list[dict[str, Any]], day: str) -> Path:
    """Keep the rows among the user's own measurements, and return where they lie. Raises
    WorkloadFault for rows that cannot be anchors, OSError where nothing can be written."""
    return keep_text(f"accepted-{day}.jsonl", contribution_text(rows))
