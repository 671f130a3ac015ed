"""Fit the constants of the speed model to the measured rows, beginning at those that ship.

    python tools/fit_speed_model.py --steps 150 --rows 1400 -o catalog/benchmarks/speed_model.json

Needs PyTorch beside RigPlanner. Physics and kriging are fitted together by gradient descent on the predictive likelihood
(Student t) of rows whose whole GPU, source, generation or only themselves are left out, in closed form
from one inverse (Rasmussen and Williams 2006, section 5.4.2). Multipliers are held near 1 by normal priors in the logarithm.
"""

import argparse
import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import torch
from torch import Tensor

from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.performance import roofline, scaling, serving
from rigplanner.performance.anchors import find_gpu, place
from rigplanner.performance.constants import Physics, SpeedModel, speed_model
from rigplanner.performance.job import Job, read_job
from rigplanner.performance.kriging import TERMS
from rigplanner.performance.measured import Measured, shipped_measured
from rigplanner.performance.metrics import samples_per_second
from rigplanner.performance.modelled import model_speed
from rigplanner.performance.silicon import shares_of

NEUTRAL = Physics(
    matrix={}, generation={}, generation_traffic={}, kind_matrix={}, kind_traffic={}, kind_launch={}, launch={}, update={},
    update_wide=1.0, half_rate=1.0, traffic_train=1.0, traffic_forward=1.0, weights=1.0,
    tail=1.0, stream_traffic=1.0, stream_fast_memory=1.0, serve_traffic=1.0, stream_tail=1.0,
    cache=0.0, power_slope=0.0, power_vector=0.3,
    watt_rate=0.8, watt_era=1.0, youth=0.0,
    exchange={}, crowd=0.0, crowd_staged=0.0, overlap=0.6, last_bucket=0.15,
)  # fmt: skip
DISTANCES = ("batch", "count", "tokens", "written", "year")
FREEDOM = 6.0
"""Degrees of freedom of the likelihood: fewer forgive outliers more."""
CALIBRATED, FEW_SCORES = ("gpu", "itself", "source"), 20
"""Schemes whose errors set the width of the intervals, and the scores at which a stack counts as much as all."""
SCHEMES = {"gpu": 1.0, "source": 0.8, "itself": 0.5, "generation": 0.4, "stack": 0.3, "model": 0.4}
GLOBALS = (
    "traffic_train", "traffic_forward", "weights", "tail", "cache", "power_slope", "power_vector", "watt_rate", "watt_era", "youth",
    "crowd", "crowd_staged",
    "overlap", "last_bucket", "network", "stream_traffic", "stream_fast_memory", "serve_traffic", "stream_tail",
    "update_wide", "half_rate",
)  # fmt: skip
MULTIPLIERS = ("traffic", "weights", "tail", "stream", "serve", "update", "half")
PRIORS = {
    "path": 0.3,
    "generation": 0.25,
    "lane": 0.6,
    "kind_matrix": 0.6,
    "kind_traffic": 0.6,
    "launch": 0.7,
    "kind_launch": 0.5,
    "generation_traffic": 0.15,
    "update": 0.7,
    "globals": 0.7,
    "scatter": 0.7,
    "kind_scatter": 0.5,
}


def describe(row: Measured) -> dict[str, Any]:
    """Return the components of a row's modelled time without any learned constant, and where it lies."""
    gpu = find_gpu(row.gpu)
    job = read_job(row.workload, gpu, row.count, row.nodes, row.link, shipped_zoo())
    point, modelled, silicon = place(job, gpu.id, row.metric, row.source), model_speed(job), job.silicon
    found: dict[str, Any] = {field: getattr(point, field) for field in point.__struct_fields__}
    found |= {
        "measured": math.log(samples_per_second(job, row.value, row.metric, job.shape.samples_to_train)),
        "generation": shares_of(silicon.generation), "era": silicon.era,
        "half": silicon.half, "tdp": silicon.tdp_w, "l2": silicon.l2_mib,
        "hbm": float(silicon.fast_memory), "path": job.path, "lane": job.lane if job.count > 1 else "none",
        "gpus": float(job.count), "update": 0.0, "wide": 0.0,
        "halved": float(silicon.half_rate_tensor and job.path in ("half", "tf32")),
        "youth": roofline.youth(job), "share": roofline.share_kind(point.kind, job.task), "network": float(job.nodes > 1),
        "train": float(point.task.startswith("train")),
    }  # fmt: skip
    return found | (_step_parts(job, modelled.times) if modelled.times else _stream_parts(job, modelled.samples_s))


def _step_parts(job: Job, times: Any) -> dict[str, float]:
    several = job.count > 1 and job.task != "inference"
    exchange = scaling.exchange_seconds(job) if several and scaling.replicas(job) > 1 else 0.0
    return {"step": 1.0, "matrix": times.matrix_s, "traffic": times.traffic_s, "weights": times.weights_s, "tail": times.tail_s,
            "launch": times.launch_s, "rest": 0.0, "host": 0.0, "exchange": exchange, "samples": job.batch * job.count,
            "together": scaling.tensor_seconds(job) + scaling.shuffle_seconds(job) if several else 0.0,
            "bubble": scaling.pipeline_bubble(job),
            "update": times.update_s, "wide": float(job.precision in ("fp32", "tf32"))}  # fmt: skip


def _stream_parts(job: Job, samples_s: float) -> dict[str, float]:
    stream = {"decode": serving.decode, "prefill": serving.prefill, "serve": serving.serve}[job.task](job)
    tail, launch = job.shape.kernels * roofline.KERNEL_TAIL_S, job.shape.kernels * job.stack.launch_us * 1e-6
    if job.task == "serve":
        tail = launch = 0.0
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
        self.rows, self.words = rows, words
        self.size = len(rows)
        by_factor: dict[str, list[int]] = {}
        for i, (_, how) in enumerate(TERMS.values()):
            by_factor.setdefault(how, []).append(i)
        keys = [keys for keys, _ in TERMS.values()]
        self.masks = {how: (torch.tensor(index), torch.stack([self.same(keys[i]).reshape(-1).float() for i in index]))
                      for how, index in by_factor.items()}  # fmt: skip
        self.silicon = [self.distance(lambda row, i=i: row["silicon"][i]) for i in range(len(rows[0]["silicon"]))]
        self.batch = self.distance(lambda row: row["batch"])
        self.year = self.distance(lambda row: row["year"])
        counts = self.column(lambda row: row["count"])
        self.smaller = torch.minimum(counts[:, None], counts)
        self.count, self.tokens, self.written = (self.distance(lambda row, k=k: row[k]) for k in ("count", "tokens", "written"))
        self.groups = {scheme: self.grouped(scheme) for scheme in SCHEMES if scheme != "itself"}

    def column(self, of: Callable[[dict[str, Any]], Any]) -> Tensor:
        return torch.tensor([float(of(row)) for row in self.rows])

    def __getitem__(self, name: str) -> Tensor:
        return self.column(lambda row: row[name])

    def index(self, name: str) -> Tensor:
        return torch.tensor([self.words[name].index(row[name]) for row in self.rows])

    def same(self, keys: tuple[str, ...]) -> Tensor:
        numbers: dict[tuple[Any, ...], int] = {}
        index = torch.tensor([numbers.setdefault(tuple(row[key] for key in keys), len(numbers)) for row in self.rows])
        return (index[:, None] == index).double()

    def distance(self, of: Callable[[dict[str, Any]], Any]) -> Tensor:
        column = self.column(of)
        return (column[:, None] - column) ** 2

    def grouped(self, name: str) -> tuple[list[Tensor], Tensor, Tensor]:
        members: dict[str, list[int]] = {}
        for i, row in enumerate(self.rows):
            members.setdefault(row[name], []).append(i)
        groups = [torch.tensor(group) for group in members.values()]
        flat = torch.cat([(group[:, None] * self.size + group).reshape(-1) for group in groups])
        return groups, flat, torch.argsort(torch.cat(groups))


def parameters(words: dict[str, list[str]], model: SpeedModel) -> dict[str, Tensor]:
    """Return the logarithms to fit, beginning at the shipped constants."""
    physics = model.physics

    def logs(key: str, table: dict[str, float]) -> Tensor:
        return torch.tensor([math.log(table.get(word, 1.0)) for word in words[key]])

    start = {
        "variances": torch.tensor([math.log(model.variances.get(name, 0.01)) for name in (*TERMS, "noise")]),
        "wide": torch.tensor(model.wide).log(),
        "narrow": torch.tensor(model.narrow).log(),
        "distances": torch.tensor([math.log(model.distances[name]) for name in DISTANCES]),
        "path": logs("path", physics.matrix),
        "generation": logs("generation", physics.generation),
        "lane": logs("lane", physics.exchange),
        "scatter": logs("family", model.scatter),
        "kind_scatter": logs("kind", {word.removeprefix("kind "): value for word, value in model.scatter.items()}),
        "kind_matrix": logs("share", physics.kind_matrix),
        "kind_traffic": logs("share", physics.kind_traffic),
        "kind_launch": logs("share", physics.kind_launch),
        "generation_traffic": logs("generation", physics.generation_traffic),
        "launch": logs("family", physics.launch),
        "update": logs("family", physics.update),
        "globals": torch.tensor([_vector(physics)[name] for name in GLOBALS]),
    }
    return {name: tensor.double().requires_grad_() for name, tensor in start.items()}


def _vector(physics: Physics) -> dict[str, float]:
    """Return the inverse of `constants`."""

    def logit(share: float) -> float:
        share = min(max(share, 0.02), 0.98)
        return math.log(share / (1 - share))

    found = {name: math.log(getattr(physics, name)) for name in GLOBALS if name.startswith(MULTIPLIERS)}
    return found | {
        "cache": math.log(max(physics.cache, 1e-3) / 0.1) / 2, "power_slope": logit(physics.power_slope) / 2,
        "power_vector": logit(physics.power_vector) / 2 + 0.42,
        "watt_rate": math.log(physics.watt_rate / 0.8), "watt_era": physics.watt_era - 1, "crowd": physics.crowd - 0.3,
        "crowd_staged": physics.crowd_staged - 0.5, "youth": math.log(max(physics.youth, 0.02) / 0.2) / 2,
        "overlap": logit(physics.overlap) - 0.4,
        "last_bucket": math.log(physics.last_bucket / 0.15), "network": math.log(physics.exchange.get("network", 1.0)),
    }  # fmt: skip


def constants(p: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return the global constants of physics from the fitted vector."""
    g = dict(zip(GLOBALS, p["globals"], strict=True))
    found = {name: g[name].exp() for name in GLOBALS}
    found["cache"], found["power_slope"] = 0.1 * (2 * g["cache"]).exp(), torch.sigmoid(2 * g["power_slope"])
    found["power_vector"] = torch.sigmoid(2 * (g["power_vector"] - 0.42))
    found["youth"] = 0.2 * (2 * g["youth"]).exp()
    found["watt_rate"], found["watt_era"] = 0.8 * g["watt_rate"].exp(), 1 + g["watt_era"]
    found["crowd"], found["crowd_staged"] = 0.3 + g["crowd"], 0.5 + g["crowd_staged"]
    found["overlap"], found["last_bucket"] = torch.sigmoid(g["overlap"] + 0.4), 0.15 * g["last_bucket"].exp()
    return found


def modelled(data: Data, p: dict[str, Tensor]) -> Tensor:
    """Return the log of the modelled speed; the same formulas as rigplanner.performance.roofline, scaling and serving."""
    c, step, kind = constants(p), data["step"], data.index("share")
    softplus = torch.nn.functional.softplus
    excess = 3 * (data["half"] / (data["tdp"] * c["watt_rate"] * (0.15 * (data["era"] - 4.6) * c["watt_era"]).exp())).log()
    vector = (data.index("path") == data.words["path"].index("vector")).double()
    throttled = (c["power_slope"] * softplus(excess) / 3 * (1 - (1 - c["power_vector"]) * vector)).exp()
    generation = data.index("generation")
    share = p["path"][data.index("path")] + p["generation"][generation] + p["kind_matrix"][kind]
    share = share + data["halved"] * c["half_rate"].log() - c["youth"] * data["youth"]
    own = p["kind_traffic"][kind].exp() * (c["traffic_train"] * data["train"] + c["traffic_forward"] * (1 - data["train"]))
    stream = c["stream_traffic"] * (1 + data["hbm"] * (c["stream_fast_memory"] - 1))
    stream = torch.where(data["host"] > 0, c["serve_traffic"], stream)
    traffic = data["traffic"] * torch.where(
        step > 0, own * (data["l2"] / 6) ** -c["cache"] * p["generation_traffic"][generation].exp(), stream
    )
    tail = data["tail"] * torch.where(step > 0, c["tail"], c["stream_tail"])
    busy = data["matrix"] * (-share).exp() * throttled + traffic + data["weights"] * c["weights"] + tail
    family = data.index("family")
    launch = data["launch"] * p["launch"][family].exp() * torch.where(step > 0, p["kind_launch"][kind].exp(), 1.0)
    update = data["update"] * p["update"][family].exp() * (1 + data["wide"] * (c["update_wide"] - 1))
    total = (busy**3 + launch**3 + data["host"] ** 3 + 1e-30) ** (1 / 3) + torch.where(step > 0, update, data["rest"])
    lanes = data.index("lane")
    staged, shared = (torch.isin(lanes, torch.tensor([i for i, word in enumerate(data.words["lane"]) if word.startswith(names)]))
                      for names in (("staged",), ("pcie", "bridge")))  # fmt: skip
    crowd = (data["gpus"] / 2).clamp(min=0.5) ** (c["crowd"] * shared + c["crowd_staged"] * staged)
    exchange = data["exchange"] * p["lane"][lanes].exp() * (1 + data["network"] * (c["network"] - 1)) * crowd
    soft = 0.2 * total
    exposed = c["last_bucket"] * exchange + soft * softplus((exchange - c["overlap"] * total) / soft) * (data["exchange"] > 0)
    return data["samples"].log() - ((total + exposed + data["together"]) * data["bubble"]).log()


def scatter(data: Data, p: dict[str, Tensor]) -> Tensor:
    """Return by how much the residuals of each row's kind of job exceed the usual."""
    return (p["scatter"][data.index("family")] + p["kind_scatter"][data.index("kind")]).exp()


def covariance(data: Data, p: dict[str, Tensor]) -> Tensor:
    """Return the covariance of all rows with their noise; the same terms as rigplanner.performance.kriging."""
    batch, count, tokens, written, year = p["distances"].exp()
    factors = {
        "w": 1 / (1 + sum(d * w for d, w in zip(data.silicon, p["wide"].exp(), strict=True))),
        "n": (-0.5 * sum(d * w for d, w in zip(data.silicon, p["narrow"].exp(), strict=True))).exp(),
        "b": (-batch * data.batch).exp(),
        "c": (-count * data.count).exp(),
        "t": (-tokens * data.tokens - written * data.written).exp(),
        "y": (-year * data.year).exp(),
        "m": data.smaller,
    }
    variances = p["variances"].exp()
    sums = {
        how: (variances[index].float() @ masks).double().reshape(data.size, data.size) for how, (index, masks) in data.masks.items()
    }
    whole = p["variances"][-1].exp() * torch.eye(data.size)
    for how, part in sums.items():
        whole = whole + math.prod([factors[letter] for letter in how], start=part)
    return whole


def left_out(inverse: Tensor, alpha: Tensor, grouping: tuple[list[Tensor], Tensor, Tensor] | None) -> tuple[Tensor, Tensor]:
    """Return error and variance of every row predicted without its group (None: without itself)."""
    if grouping is None:
        variance = 1 / inverse.diagonal()
        return alpha * variance, variance
    groups, flat, order = grouping
    blocks = torch.split(inverse.reshape(-1)[flat], [len(group) ** 2 for group in groups])
    errors, variances = [], []
    for group, block in zip(groups, blocks, strict=True):
        own = torch.linalg.inv(block.reshape(len(group), len(group)))
        errors.append(own @ alpha[group])
        variances.append(own.diagonal())
    return torch.cat(errors)[order], torch.cat(variances)[order]


def loss(data: Data, measured: Tensor, p: dict[str, Tensor]) -> Tensor:
    """Return the negative predictive log likelihood over the schemes, and the priors."""
    inverse = torch.linalg.inv(covariance(data, p))
    usual = scatter(data, p)
    alpha = inverse @ ((measured - modelled(data, p)) / usual)
    total = usual.log().mean() * sum(SCHEMES.values())
    for scheme, weight in SCHEMES.items():
        error, variance = left_out(inverse, alpha, data.groups.get(scheme))
        total = total + weight * (0.5 * variance.log() + 0.5 * (FREEDOM + 1) * torch.log1p(error**2 / variance / FREEDOM)).mean()
    return total + 0.75 * sum(((p[name] / spread) ** 2).sum() for name, spread in PRIORS.items()) / data.size


def shipped(p: dict[str, Tensor], words: dict[str, list[str]], widening: dict[str, float], provenance: str) -> SpeedModel:
    """Return the constants in the form that ships."""
    c = {name: _round(value) for name, value in constants(p).items()}

    def table(name: str, key: str) -> dict[str, float]:
        return {word: _round(value.exp()) for word, value in zip(words[key], p[name], strict=True) if word != "none"}

    physics = Physics(
        matrix=table("path", "path"), generation=table("generation", "generation"), kind_matrix=table("kind_matrix", "share"),
        kind_traffic=table("kind_traffic", "share"), launch=table("launch", "family"),
        kind_launch=table("kind_launch", "share"), generation_traffic=table("generation_traffic", "generation"),
        update=table("update", "family"), exchange=table("lane", "lane") | {"network": c.pop("network")}, **c,
    )  # fmt: skip
    variances = {name: _round(value.exp()) for name, value in zip((*TERMS, "noise"), p["variances"], strict=True)}
    distances = {name: _round(value.exp()) for name, value in zip(DISTANCES, p["distances"], strict=True)}
    scattered = table("scatter", "family") | {f"kind {word}": value for word, value in table("kind_scatter", "kind").items()}
    return SpeedModel(physics, variances, tuple(_round(value.exp()) for value in p["wide"]),
                      tuple(_round(value.exp()) for value in p["narrow"]), distances, scattered, widening, provenance)  # fmt: skip


def widening(data: Data, measured: Tensor, p: dict[str, Tensor]) -> dict[str, float]:
    """Return by how much the middle 80 % of the left-out errors exceed the kriging error, by stack; small stacks lean on all."""
    inverse = torch.linalg.inv(covariance(data, p))
    alpha = inverse @ ((measured - modelled(data, p)) / scatter(data, p))
    scores = []
    for scheme in CALIBRATED:
        error, variance = left_out(inverse, alpha, data.groups.get(scheme))
        scores.append(error.abs() / variance.sqrt() / 1.2816)
    table, stacks = torch.stack(scores), [row["stack"] for row in data.rows]
    every = table.flatten().quantile(0.8).item()
    found = {"": float(f"{every:.3g}")}
    for name in sorted(set(stacks)):
        own = table[:, [i for i, word in enumerate(stacks) if word == name]].flatten()
        share = own.numel() / (own.numel() + FEW_SCORES)
        found[name] = float(f"{share * own.quantile(0.8).item() + (1 - share) * every:.3g}")
    return found


def _round(value: Tensor) -> float:
    return float(f"{value.item():.4g}")


FLAT = SpeedModel(
    NEUTRAL,
    dict.fromkeys((*TERMS, "noise"), 0.01),
    (0.1,) * 8,
    (0.1,) * 8,
    dict.fromkeys(DISTANCES, 0.1),
    {},
    {"": 1.0},
    "",
)
"""Where a fit begins that must know nothing of the rows it leaves out."""


HELD = {"kind_matrix": {"moe": 0.4}, "generation": {"cdna3": 0.65}}
"""Shares of the matrix rate that are set, not fitted. For served experts only three rows of one machine with a slow host speak
(single products of few tokens per expert reach a third to a half of what those of dense models do); for CDNA3 one row of inference,
while in training an MI300X gave 250 TFLOPS where an H100 gave 345 (GPT-2 XL in FP8) and 474 where an H200 gave 898 (Llama 3 8B,
FSDP), by issues 72 and 79 of ROCm/TransformerEngine."""


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


def fit(rows: Sequence[dict[str, Any]], start: SpeedModel, steps: int, most: int, rate: float, told: bool = True) -> SpeedModel:
    """Return the constants fitted to at most `most` of the rows in `steps` steps, beginning at `start`; `told` prints progress."""
    torch.set_default_dtype(torch.float64)
    words = {name: sorted({row[name] for row in rows}) for name in ("path", "generation", "lane", "kind", "family", "share")}
    chosen = torch.randperm(len(rows), generator=torch.Generator().manual_seed(0))[:most].sort().values
    data = Data([rows[i] for i in chosen], words)
    measured, p = data["measured"], parameters(words, start)
    optimizer = torch.optim.Adam(list(p.values()), lr=rate)
    for step in range(steps):
        optimizer.zero_grad()
        value = loss(data, measured, p)
        value.backward()
        optimizer.step()
        with torch.no_grad():
            p["variances"].clamp_(math.log(1e-6), math.log(20))
            p["variances"][0].clamp_(max=math.log(0.02))
            for name, key in (("kind_matrix", "share"), ("generation", "generation")):
                for word in set(HELD[name]) & set(words[key]):
                    p[name][words[key].index(word)] = math.log(HELD[name][word])
        if told and step % 10 == 0:
            print(f"step {step}: {value.item():.4f}", flush=True)
    provenance = f"tools/fit_speed_model.py: {steps} steps on {data.size} of {len(rows)} measured rows"
    with torch.no_grad():
        return shipped(p, words, widening(data, measured, p), provenance)


def main() -> None:
    """Fit and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--rows", type=int, default=1400)
    parser.add_argument("--rate", type=float, default=0.06)
    parser.add_argument("-o", "--output", type=Path, required=True)
    args = parser.parse_args()
    found = fit(described(shipped_measured()), speed_model(), args.steps, args.rows, args.rate)
    args.output.write_text(json.dumps(msgspec.to_builtins(found), indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
