"""Partitions of a GPU in words."""

from collections.abc import Mapping, Sequence
from typing import Any

from rigplanner.memory.mig import Slice
from rigplanner.report.format import number, quantity
from rigplanner.report.language import tr, trn


def partition_lines(gpu: str, offered: Sequence[Slice]) -> list[str]:
    """The partitions of a card as a table."""
    lines = [tr("{gpu}, MIG partitions:", gpu=gpu)]
    for one in offered:
        memory = quantity(one.memory_gib, "GiB", 2)
        room = memory if one.listed else tr("about {room}", room=memory)
        shares = tr(
            "{compute} of the multiprocessors, {bandwidth} of the memory bandwidth",
            compute=_percent(one.compute_share),
            bandwidth=_percent(one.bandwidth_share),
        )
        lines.append(f"  {one.name:12} {one.count} × {room:>16}  {shares}")
    return lines


def layout_lines(placed: Mapping[str, Any] | None, names: str) -> list[str]:
    """A layout of profiles, or that there is none."""
    if placed is None:
        return [tr("{names} do not fit one card together.", names=names)]
    return [*_placements(placed), *_lost(placed)]


def packing_lines(
    packing: Mapping[str, Any], jobs: Mapping[str, Sequence[Mapping[str, Any]]]
) -> list[str]:
    """Jobs on the partitions of one card: which fit which, where they go, who is left out, what is
    lost."""
    lines = []
    for job, fits in jobs.items():
        good = ", ".join(fit["profile"] for fit in fits if fit["fits"]) or tr("none")
        tight = ", ".join(fit["profile"] for fit in fits if fit["fits"] is None)
        lines.append(tr("{job} fits {profiles}.", job=job, profiles=good))
        if tight:
            lines.append("  " + tr("It is tight in {profiles}.", profiles=tight))
    lines += ["", *_placements(packing)]
    if packing["left_out"]:
        lines.append(tr("No place for: {jobs}.", jobs=", ".join(packing["left_out"])))
    return [*lines, *_lost(packing)]


def _placements(packing: Mapping[str, Any]) -> list[str]:
    lines = []
    for place in packing["placements"]:
        last = place["start"] + place["size"] - 1
        need = quantity(place["need_gib"], "GiB", 1)
        job = tr("{job} needs {need}", job=place["job"], need=need) if place["job"] else ""
        where = f"{place['start']}" if last == place["start"] else f"{place['start']}-{last}"
        room = quantity(place["memory_gib"], "GiB", 2)
        slices = tr("slices {where}", where=where)
        lines.append(f"  {slices:14}{place['profile']:12}{room:>12}  {job}".rstrip())
    if packing["placements"]:
        names = sorted(
            (place["profile"] for place in packing["placements"]),
            key=lambda name: (-int(name.split("g.")[0]), name),
        )
        lines.append(
            tr("To make them: {command}", command=f"nvidia-smi mig -cgi {','.join(names)} -C")
        )
    return lines


def _lost(packing: Mapping[str, Any]) -> list[str]:
    lines = [
        tr(
            "Outside every instance: {memory}.",
            memory=quantity(packing["idle_memory_gib"], "GiB", 1),
        )
    ]
    if packing["idle_sms"] is not None:
        lines.append(
            trn(
                "{count} multiprocessor is idle.",
                "{count} multiprocessors are idle.",
                packing["idle_sms"],
            )
        )
    if packing["room_for"]:
        lines.append(tr("There is still room for {profile}.", profile=packing["room_for"]))
    return lines


def _percent(share: float) -> str:
    return f"{number(100 * share, 0)} %"
