"""The measured rows as the fit of the speed model reads them: parts of the modelled time without learned constants, in tensors."""

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import msgspec
import torch
from torch import Tensor

from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.performance import roofline, scaling, serving
from rigplanner.performance.anchors import find_gpu, place
from rigplanner.performance.constants import Physics, speed_model
from rigplanner.performance.job import Job, read_job
from rigplanner.performance.kriging import TERMS
from rigplanner.performance.measured import Measured
from rigplanner.performance.metrics import samples_per_second
from rigplanner.performance.modelled import model_speed
from rigplanner.performance.silicon import shares_of

NEUTRAL = Physics(
    matrix={}, generation={}, generation_traffic={}, kind_matrix={}, kind_traffic={}, kind_launch={}, launch={}, update={},
    update_wide=1.0, half_rate=1.0, traffic_train=1.0, traffic_forward=1.0, weights=1.0,
    tail=1.0, stream_traffic=1.0, stream_fast_memory=1.0, serve_traffic=1.0, stream_tail=1.0,
    power_slope=0.0, power_vector=0.3,
    watt_rate=0.8, watt_era=1.0, clock_matrix=0.0, clock_vector=0.0, youth=0.0,
    exchange={}, crowd=0.0, crowd_staged=0.0, overlap=0.6, last_bucket=0.15,
)  # fmt: skip
WORDS = ("path", "generation", "lane", "kind", "family", "share")
GROUPED = ("gpu", "source", "generation", "stack", "model")
SIZES = (1, 4, 16, 64, 10**9)
"""Groups are inverted together with others of like size, padded to the largest."""


def described(rows: Sequence[Measured]) -> list[dict[str, Any]]:
    """Return all rows but collectives by the components of their modelled times."""
    neutral = msgspec.structs.replace(speed_model(), physics=NEUTRAL)
    modules, shipped_model = (roofline, scaling, serving), roofline.speed_model
    for module in modules:
        module.speed_model = lambda: neutral  # type: ignore[assignment]
    try:
        return [describe(row) for row in rows if row.workload.task != "collective"]
    finally:
        for module in modules:
            module.speed_model = shipped_model


def describe(row: Measured) -> dict[str, Any]:
    """Return the components of a row's modelled time without any learned constant, and where it lies."""
    gpu = find_gpu(row.gpu)
    job = read_job(row.workload, gpu, row.count, row.nodes, row.link, shipped_zoo())
    point, modelled, silicon = place(job), model_speed(job), job.silicon
    found: dict[str, Any] = {field: getattr(point, field) for field in point.__struct_fields__}
    found |= {
        "source": row.source, "gpu": gpu.id, "release": point.release or row.id,
        "measured": math.log(samples_per_second(job, row.value, row.metric, job.shape.samples_to_train)),
        "generation": shares_of(silicon.generation), "era": silicon.era,
        "half": silicon.half, "tdp": silicon.tdp_w, "sustained": silicon.sustained,
        "hbm": float(silicon.fast_memory and job.stack.family not in serving.FILLS_HBM),
        "path": roofline.share_path(job), "lane": job.lane if job.count > 1 else "none",
        "gpus": float(job.count), "update": 0.0, "wide": 0.0,
        "halved": float(silicon.half_rate_tensor and job.path in ("half", "tf32")),
        "youth": roofline.youth(job), "share": roofline.share_of(job), "network": float(job.nodes > 1),
        "train": float(point.task.startswith("train")),
    }  # fmt: skip
    return found | (_step_parts(job, modelled.times) if modelled.times else _stream_parts(job, modelled.samples_s))


def _step_parts(job: Job, times: Any) -> dict[str, float]:
    """Components of a step. Weights that each denoising step reads are not what an optimizer passes over: they only add."""
    read = times.weights_s if roofline.reads_once(job) else 0.0
    several = job.count > 1 and job.task != "inference"
    exchange = scaling.exchange_seconds(job) if several and scaling.replicas(job) > 1 else 0.0
    return {"step": 1.0, "matrix": times.matrix_s, "traffic": times.traffic_s, "weights": times.weights_s - read,
            "tail": times.tail_s, "launch": times.launch_s, "rest": 0.0, "host": 0.0, "exchange": exchange,
            "samples": job.batch * job.count,
            "together": scaling.tensor_seconds(job) + scaling.shuffle_seconds(job) if several else read,
            "bubble": scaling.pipeline_bubble(job),
            "update": times.update_s, "wide": float(job.precision in ("fp32", "tf32"))}  # fmt: skip


def _stream_parts(job: Job, samples_s: float) -> dict[str, float]:
    stream = {"decode": serving.decode, "prefill": serving.prefill, "serve": serving.serve}[job.task](job)
    tail, launch = job.shape.kernels * roofline.KERNEL_TAIL_S, job.shape.kernels * job.stack.launch_us * 1e-6
    if job.task == "serve":
        tail, launch = serving.SERVED_TAIL * tail, 0.0
        stream = msgspec.structs.replace(stream, other_s=stream.exchange_s)
    whole = stream.matrix_s + stream.traffic_s + stream.other_s
    busy = stream.matrix_s + stream.traffic_s + tail
    rest = stream.other_s if job.task == "serve" else whole - (busy**3 + launch**3) ** (1 / 3)
    return {"step": 0.0, "matrix": stream.matrix_s, "traffic": stream.traffic_s, "weights": 0.0, "tail": tail, "launch": launch,
            "rest": max(0.0, rest), "host": stream.host_s, "exchange": 0.0,
            "samples": stream.streams if job.task == "serve" else samples_s * whole,
            "together": 0.0, "bubble": 1.0}  # fmt: skip


class Data:
    """The rows as tensors: columns, masks of what pairs share, squared distances, and the groups that are left out."""

    def __init__(self, rows: Sequence[dict[str, Any]], words: dict[str, list[str]]) -> None:
        self.rows, self.words, self.size = rows, words, len(rows)
        by_factor: dict[str, list[int]] = {}
        for i, (_, how) in enumerate(TERMS.values()):
            by_factor.setdefault(how, []).append(i)
        keys = [keys for keys, _ in TERMS.values()]
        self.masks = {how: (torch.tensor(index), torch.stack([self.same(keys[i]).reshape(-1).float() for i in index]))
                      for how, index in by_factor.items()}  # fmt: skip
        kinds = sorted({row["silicon"] for row in rows})
        places = torch.tensor(kinds).T
        self.silicon = (places[:, :, None] - places[:, None, :]) ** 2
        self.kind_of = torch.tensor([kinds.index(row["silicon"]) for row in rows])
        self.batch, self.year, self.count, self.tokens, self.written = (
            self.distance(name) for name in ("batch", "year", "count", "tokens", "written")
        )
        counts = self["count"]
        self.smaller = torch.minimum(counts[:, None], counts)
        self.groups = {scheme: self.grouped(scheme) for scheme in GROUPED}
        self.column, self.index = cache(self._column), cache(self._index)

    def _column(self, name: str) -> Tensor:
        return torch.tensor([float(row[name]) for row in self.rows])

    def __getitem__(self, name: str) -> Tensor:
        return self.column(name) if hasattr(self, "column") else self._column(name)

    def _index(self, name: str) -> Tensor:
        return torch.tensor([self.words[name].index(row[name]) for row in self.rows])

    def same(self, keys: tuple[str, ...]) -> Tensor:
        """Return which pairs of rows agree in all of `keys`."""
        numbers: dict[tuple[Any, ...], int] = {}
        index = torch.tensor([numbers.setdefault(tuple(row[key] for key in keys), len(numbers)) for row in self.rows])
        return (index[:, None] == index).double()

    def distance(self, name: str) -> Tensor:
        """Return the squared differences of a column."""
        column = self._column(name)
        return (column[:, None] - column) ** 2

    def grouped(self, name: str) -> tuple[list[tuple[Tensor, Tensor]], Tensor]:
        """Return the rows of the groups of a word, in tables of groups of like size, each with the places that hold a row; and the
        order that brings the held places, table by table, back to that of the rows."""
        members: dict[str, list[int]] = {}
        for i, row in enumerate(self.rows):
            members.setdefault(row[name], []).append(i)
        tables = []
        for low, high in zip((0, *SIZES), SIZES, strict=False):
            groups = [group for group in members.values() if low < len(group) <= high]
            if groups:
                most = max(map(len, groups))
                padded = torch.tensor([group + [0] * (most - len(group)) for group in groups])
                tables.append((padded, torch.tensor([[place < len(group) for place in range(most)] for group in groups])))
        return tables, torch.argsort(torch.cat([table[held] for table, held in tables]))

    def strangers(self) -> list[tuple[Tensor, Tensor]]:
        """Return, for each network of each source, its rows and all rows that share the source or the network."""
        members: dict[tuple[str, str], list[int]] = {}
        either: dict[tuple[str, str], set[int]] = {}
        for i, row in enumerate(self.rows):
            members.setdefault((row["source"], row["model"]), []).append(i)
            for key in ("source", "model"):
                either.setdefault((key, row[key]), set()).add(i)
        return [(torch.tensor(rows), torch.tensor(sorted(either["source", source] | either["model", model])))
                for (source, model), rows in members.items()]  # fmt: skip

    def alike(self, of: Callable[[Tensor], Tensor], weights: Tensor) -> Tensor:
        """Return a function of the weighted squared distance of the silicon of each pair of rows."""
        return of(torch.tensordot(weights, self.silicon, 1))[self.kind_of][:, self.kind_of]


def left_out(
    inverse: Tensor, answers: Tensor, grouping: tuple[list[tuple[Tensor, Tensor]], Tensor] | None
) -> tuple[Tensor, Tensor]:
    """Return errors and variance of every row predicted without its group (None: without itself), for several columns of what the
    inverse answers to residuals."""
    if grouping is None:
        variance = 1 / inverse.diagonal()
        return answers * variance[:, None], variance
    tables, order = grouping
    errors, variances = [], []
    for table, held in tables:
        block = inverse[table[:, :, None], table[:, None, :]] * (held[:, :, None] & held[:, None, :])
        own = torch.linalg.inv(block + torch.diag_embed((~held).double()))
        errors.append((own @ (answers[table] * held[:, :, None]))[held])
        variances.append(own.diagonal(dim1=1, dim2=2)[held])
    return torch.cat(errors)[order], torch.cat(variances)[order]


def strange(inverse: Tensor, answers: Tensor, pairs: Sequence[tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor, Tensor]:
    """Return errors and variance of rows predicted without their source and without their network anywhere, and which rows: `pairs`
    of the rows of one network in one source, and of all rows that share either."""
    errors, variances, rows = [], [], []
    for members, union in pairs:
        own, place = torch.linalg.inv(inverse[union][:, union]), torch.searchsorted(union, members)
        errors.append((own @ answers[union])[place])
        variances.append(own.diagonal()[place])
        rows.append(members)
    return torch.cat(errors), torch.cat(variances), torch.cat(rows)
