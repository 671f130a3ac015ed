"""Fit the constants of the speed model to the measured rows, beginning at what is known before any row is seen.

    python -m tools.fit_speed_model -o speed_model.json

Needs PyTorch beside RigPlanner; ten minutes of one core. The covariances of kriging are fitted by gradient descent on the
predictive likelihood (Student t) of rows whose whole GPU, source, generation, stack, network or only themselves are left out, in
closed form from one inverse (Rasmussen and Williams 2006, section 5.4.2). The multipliers of the physics are unknown too while that
is judged: they are normal in the logarithm about what is expected, with a spread that is fitted, and enter the covariance by their
slopes (universal kriging; Rasmussen and Williams, section 2.7), so that a constant which one GPU alone tells counts as unknown when
it is left out.

The constants that ship are older: they were fitted with all multipliers taken as known, over several rounds (their `provenance`).
On published rows that no fit saw they and a fit from nothing are about as near; what a fit from nothing reaches on GPUs and sources
that it has not seen, tools/speed_refitted.py tells.
"""

import argparse
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import torch
from torch import Tensor

from rigplanner.performance.constants import Physics, SpeedModel
from rigplanner.performance.kriging import TERMS
from rigplanner.performance.measured import shipped_measured
from tools.speed_rows import NEUTRAL, WORDS, Data, described

USUAL_CLOCK = 0.3
"""Exponent of base over boost clock before any row is seen: clocks under load lie nearer to boost than to base."""
DISTANCES = ("batch", "count", "tokens", "written", "year")
FREEDOM = 6.0
"""Degrees of freedom of the likelihood: fewer forgive outliers more."""
CALIBRATED, FEW_SCORES = ("gpu", "itself", "source"), 20
"""Schemes whose errors set the width of the intervals, and the scores at which a stack counts as much as all."""
SCHEMES = {"gpu": 1.0, "source": 0.8, "itself": 0.5, "generation": 0.4, "stack": 0.3, "model": 0.4}
GLOBALS = (
    "traffic_train", "traffic_forward", "weights", "tail", "cache", "power_slope", "power_vector", "watt_rate", "watt_era",
    "clock_matrix", "clock_vector", "youth",
    "crowd", "crowd_staged",
    "overlap", "last_bucket", "network", "stream_traffic", "stream_fast_memory", "serve_traffic", "stream_tail",
    "update_wide", "half_rate",
)  # fmt: skip
MULTIPLIERS = ("traffic", "weights", "tail", "stream", "serve", "update", "half")
MULTIPLIED = {
    "path": 0.3, "generation": 0.25, "lane": 0.6, "kind_matrix": 0.6, "kind_traffic": 0.6, "launch": 0.7, "kind_launch": 0.5,
    "generation_traffic": 0.15, "update": 0.7, "globals": 0.7,
}  # fmt: skip
"""Multipliers of the physics, and the usual deviation of their logarithms from what is expected, fitted within `FREEDOM_SPREAD`."""
FREEDOM_SPREAD = 0.5
SCATTERED = {"scatter": 0.7, "kind_scatter": 0.5}
EXPECTED = {"generation": {"kepler": 0.74}}
"""Multipliers that are not 1 before any row is seen: a core of Maxwell does 1.35 times the work of one of Kepler (NVIDIA, GeForce
GTX 750 Ti white paper, 2014)."""
SLOPE_STEP, MOST_MOVE = 1e-4, 0.7
STEPS, ROWS, RATE = 260, 1200, 0.12
STEPS_BETWEEN, LAST_STEPS = 5, 3
NOISE, NOISE_SPREAD = 0.0025, 0.4
"""Variance between machines of the same GPU, stack and network: rows that agree in all of these differ by 2 to 5 % (tables of
MLPerf and Lambda); and the deviation of its logarithm within which it is fitted."""


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
        "freedom": usual_freedom(),
    }
    found = {name: tensor.double().requires_grad_() for name, tensor in start.items()}
    return found | {"expected": expected(words, found)}


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
        "clock_matrix": math.log(max(physics.clock_matrix, 0.01) / USUAL_CLOCK),
        "clock_vector": math.log(max(physics.clock_vector, 0.01) / USUAL_CLOCK),
        "crowd_staged": physics.crowd_staged - 1, "youth": math.log(max(physics.youth, 0.02) / 0.2) / 2,
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
    found["clock_matrix"], found["clock_vector"] = USUAL_CLOCK * g["clock_matrix"].exp(), USUAL_CLOCK * g["clock_vector"].exp()
    found["crowd"], found["crowd_staged"] = 0.3 + g["crowd"], 1 + g["crowd_staged"]
    found["overlap"], found["last_bucket"] = torch.sigmoid(g["overlap"] + 0.4), 0.15 * g["last_bucket"].exp()
    return found


def modelled(data: Data, p: dict[str, Tensor]) -> Tensor:
    """Return the log of the modelled speed; the same formulas as rigplanner.performance.roofline, scaling and serving."""
    c, step, kind = constants(p), data["step"], data.index("share")
    softplus = torch.nn.functional.softplus
    excess = 3 * (data["half"] / (data["tdp"] * c["watt_rate"] * (0.15 * (data["era"] - 4.6) * c["watt_era"]).exp())).log()
    shaders = [i for i, word in enumerate(data.words["path"]) if word.startswith("vector")]
    vector = torch.isin(data.index("path"), torch.tensor(shaders)).double()
    throttled = (c["power_slope"] * softplus(excess) / 3 * (1 - (1 - c["power_vector"]) * vector)).exp()
    throttled = throttled * data["sustained"] ** -(c["clock_matrix"] + (c["clock_vector"] - c["clock_matrix"]) * vector)
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


def covariance(data: Data, p: dict[str, Tensor], trust: Tensor) -> Tensor:
    """Return the covariance of all rows with their noise, less for rows of more `trust`; the same terms as
    rigplanner.performance.kriging."""
    batch, count, tokens, written, year = p["distances"].exp()
    factors = {
        "w": data.alike(lambda square: 1 / (1 + square), p["wide"].exp()),
        "n": data.alike(lambda square: (-0.5 * square).exp(), p["narrow"].exp()),
        "b": (-batch * data.batch).exp(),
        "c": (-count * data.count).exp(),
        "t": (-tokens * data.tokens - written * data.written).exp(),
        "y": (-year * data.year).exp(),
        "m": data.smaller,
    }
    variances = p["variances"].exp()
    whole = torch.diag(p["variances"][-1].exp() / trust)
    for how, (index, masks) in data.masks.items():
        part = (variances[index].float() @ masks).double().reshape(data.size, data.size)
        whole = whole + math.prod([factors[letter] for letter in how], start=part)
    return whole


def left_out(inverse: Tensor, alpha: Tensor, grouping: tuple[list[tuple[Tensor, Tensor]], Tensor] | None) -> tuple[Tensor, Tensor]:
    """Return error and variance of every row predicted without its group (None: without itself)."""
    if grouping is None:
        variance = 1 / inverse.diagonal()
        return alpha * variance, variance
    tables, order = grouping
    errors, variances = [], []
    for table, held in tables:
        block = inverse[table[:, :, None], table[:, None, :]] * (held[:, :, None] & held[:, None, :])
        own = torch.linalg.inv(block + torch.diag_embed((~held).double()))
        errors.append((own @ (alpha[table] * held)[:, :, None])[:, :, 0][held])
        variances.append(own.diagonal(dim1=1, dim2=2)[held])
    return torch.cat(errors)[order], torch.cat(variances)[order]


class Slopes:
    """The physics in a straight line about its present multipliers: log speeds, and their slopes by the log of each multiplier."""

    def __init__(self, data: Data, p: dict[str, Tensor]) -> None:
        with torch.no_grad():
            self.multipliers = torch.cat([p[name] for name in MULTIPLIED])
            self.speeds = modelled(data, p)
            columns = []
            for name in MULTIPLIED:
                for i, value in enumerate(p[name].tolist()):
                    p[name].data[i] = value + SLOPE_STEP
                    columns.append((modelled(data, p) - self.speeds) / SLOPE_STEP)
                    p[name].data[i] = value
            self.slopes = torch.stack(columns, 1)

    def whole(self, data: Data, p: dict[str, Tensor], trust: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the inverse covariance of all rows before any was seen, multipliers unknown too; what it makes of the residuals
        against their priors; and the priors' part of it."""
        usual = scatter(data, p)
        free = self.slopes * torch.cat([p["freedom"][i].exp().expand(len(p[name])) for i, name in enumerate(MULTIPLIED)])
        free = free / usual[:, None]
        residuals = data["measured"] - self.speeds + self.slopes @ (self.multipliers - p["expected"])
        inverse = torch.linalg.inv(covariance(data, p, trust) + free @ free.T)
        return inverse, inverse @ (residuals / usual), free


def expected(words: dict[str, list[str]], p: dict[str, Tensor]) -> Tensor:
    """Return the logarithms of the multipliers before any row is seen."""
    tables = [EXPECTED.get(name, {}) for name in MULTIPLIED]
    return torch.cat([torch.tensor([math.log(table.get(word, 1.0)) for word in words["generation"]]) if table
                      else torch.zeros(len(p[name])) for name, table in zip(MULTIPLIED, tables, strict=True)])  # fmt: skip


def improve(data: Data, p: dict[str, Tensor], trust: Tensor, share: float) -> Tensor:
    """Move the multipliers a `share` of the way to what is most probable by all rows, and return the trust in each row: those far
    from what the others tell count less (Student t)."""
    line = Slopes(data, p)
    with torch.no_grad():
        inverse, alpha, free = line.whole(data, p, trust)
        spread = torch.cat([p["freedom"][i].exp().expand(len(p[name])) for i, name in enumerate(MULTIPLIED)])
        aim = p["expected"] + spread * (free.T @ alpha)
        moved = line.multipliers + share * (aim - line.multipliers).clamp(-MOST_MOVE, MOST_MOVE)
        for name, part in zip(MULTIPLIED, moved.split([len(p[name]) for name in MULTIPLIED]), strict=True):
            p[name].data.copy_(part)
        for name, key in (("kind_matrix", "share"), ("generation", "generation")):
            for word in set(HELD[name]) & set(data.words[key]):
                p[name].data[data.words[key].index(word)] = math.log(HELD[name][word])
        return ((FREEDOM + 1) / (FREEDOM + alpha**2 / inverse.diagonal())).clamp(max=1.0)


def loss(data: Data, line: Slopes, p: dict[str, Tensor], trust: Tensor) -> Tensor:
    """Return the negative predictive log likelihood over the schemes, and the priors."""
    inverse, alpha, _ = line.whole(data, p, trust)
    total = scatter(data, p).log().mean() * sum(SCHEMES.values())
    for scheme, weight in SCHEMES.items():
        error, variance = left_out(inverse, alpha, data.groups.get(scheme))
        total = total + weight * (0.5 * variance.log() + 0.5 * (FREEDOM + 1) * torch.log1p(error**2 / variance / FREEDOM)).mean()
    away = ((p["freedom"] - usual_freedom()) / FREEDOM_SPREAD) ** 2
    noisy = ((p["variances"][-1] - math.log(NOISE)) / NOISE_SPREAD) ** 2
    priors = away.sum() + noisy + sum(((p[name] / spread) ** 2).sum() for name, spread in SCATTERED.items())
    return total + 0.75 * priors / data.size


def usual_freedom() -> Tensor:
    """Return the logarithms of the usual spreads of the multipliers."""
    return torch.tensor(list(MULTIPLIED.values())).log()


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


def widening(data: Data, p: dict[str, Tensor], trust: Tensor) -> dict[str, float]:
    """Return by how much the middle 80 % of the errors that are left out, multipliers learned anew without them, exceed the kriging
    error that is told of them, by stack; small stacks lean on all."""
    unsure, alpha, _ = Slopes(data, p).whole(data, p, trust)
    sure = torch.linalg.inv(covariance(data, p, torch.ones(data.size)))
    scores = []
    for scheme in CALIBRATED:
        error, _ = left_out(unsure, alpha, data.groups.get(scheme))
        _, variance = left_out(sure, alpha, data.groups.get(scheme))
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
    dict.fromkeys(TERMS, 0.01) | {"noise": NOISE},
    (0.1,) * 8,
    (0.1,) * 8,
    dict.fromkeys(DISTANCES, 1.0),
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


def fit(rows: Sequence[dict[str, Any]], start: SpeedModel, steps: int, most: int, rate: float, told: bool = True) -> SpeedModel:
    """Return the constants fitted in `steps` steps, beginning at `start`: covariances by gradient descent on at most `most` of the
    rows, multipliers in between by Gauss and Newton's method and at the end on all; `told` prints progress."""
    torch.set_default_dtype(torch.float64)
    words = {name: sorted({row[name] for row in rows}) for name in WORDS}
    chosen = torch.randperm(len(rows), generator=torch.Generator().manual_seed(0))[:most].sort().values
    data, p = Data([rows[i] for i in chosen], words), parameters(words, start)
    fitted = [p[name] for name in p if name not in MULTIPLIED and name != "expected"]
    trust = torch.ones(data.size)
    optimizer = torch.optim.Adam(fitted, lr=rate)
    for step in range(steps):
        if step % STEPS_BETWEEN == 0:
            trust = improve(data, p, trust, 0.6)
            line = Slopes(data, p)
        optimizer.param_groups[0]["lr"] = rate * (0.55 + 0.45 * math.cos(math.pi * step / steps))
        optimizer.zero_grad()
        value = loss(data, line, p, trust)
        value.backward()
        optimizer.step()
        with torch.no_grad():
            p["variances"].clamp_(math.log(1e-6), math.log(20))
            p["variances"][0].clamp_(max=math.log(0.02))
        if told and step % 10 == 0:
            print(f"step {step}: {value.item():.4f}", flush=True)
    whole = Data(rows, words)
    trust = torch.ones(whole.size)
    for _ in range(LAST_STEPS):
        trust = improve(whole, p, trust, 0.8)
    provenance = f"tools/fit_speed_model.py: {steps} steps on {data.size} rows, multipliers on {len(rows)}"
    with torch.no_grad():
        return shipped(p, words, widening(whole, p, trust), provenance)


def main() -> None:
    """Fit and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--rate", type=float, default=RATE)
    parser.add_argument("-o", "--output", type=Path, required=True)
    args = parser.parse_args()
    found = fit(described(shipped_measured()), FLAT, args.steps, args.rows, args.rate)
    args.output.write_text(json.dumps(msgspec.to_builtins(found), indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
