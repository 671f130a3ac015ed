"""Fit the constants of the speed model to the measured rows, beginning at what is known before any row is seen.

    python -m tools.fit_speed_model -o speed_model.json [--folds FOLDER]

Needs PyTorch beside RigPlanner; half an hour of one core. Two things are fitted in turns. The multipliers of the physics, normal in
the logarithm about what is expected, by Gauss and Newton's method, six times: each time without a third of the GPUs, or of the
sources; what is written is the mean of the six. And the covariances of kriging, by gradient descent on the predictive likelihood
(Student t) of rows whose whole GPU, source, generation, stack, network, network and source, or only themselves are left out, in
closed form from one inverse (Rasmussen and Williams 2006, section 5.4.2), each row's physics being of a fit that had not seen its
GPU (or source): what the physics misses of strange rows is more than what it misses of those that it was fitted to.

The constants that ship are not the outcome of one run. Their multipliers are older, of several rounds of fits with every row in
view; on rows of strange sources they are nearer than those written here, which know less of the thresholds that were set beside
them. Their covariances began at those of such fits and were moved by gradient descent on the same likelihood and four times the
absolute error, of rows predicted from their fourteen nearest as the program does it, without their GPU, source, network or stack:
once for each half of these groups, judged on the other half. What ships is the geometric mean of the two. Seven further terms (of
networks, tasks, silicon of a stack or a network, data, links of a GPU) and terms of GPU and kind, silicon and kind, batch and kind,
stack and kind gained nothing on halves that they were not fitted to; nor did a bias of each source or robust weights on left-out
rows.
"""

import argparse
import json
import math
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import torch
from torch import Tensor

from rigplanner.performance.constants import Physics, SpeedModel, speed_model
from rigplanner.performance.kriging import TERMS
from rigplanner.performance.measured import shipped_measured
from tools.speed_refitted import FOLDS, fold_of
from tools.speed_rows import NEUTRAL, WORDS, Data, described, left_out, strange

USUAL_CLOCK = 0.3
"""Exponent of base over boost clock before any row is seen: clocks under load lie nearer to boost than to base."""
DISTANCES = ("batch", "count", "tokens", "written", "year")
FREEDOM = 4.0
"""Degrees of freedom of the likelihood: fewer forgive outliers more."""
DEALT = ("gpu", "source")
"""What the rows are dealt into folds by."""
SCHEMES = {"gpu": 1.0, "source": 1.0, "strange": 1.0, "itself": 0.4, "model": 0.4, "generation": 0.3, "stack": 0.3}
BY_GPU = ("gpu", "itself", "generation")
"""Schemes judged with the physics that was fitted without a row's GPU; the others with that without its source."""
STRANGERS = 60
"""Pairs of source and network that one step leaves out together."""
GLOBALS = (
    "traffic_train", "traffic_forward", "weights", "tail", "power_slope", "power_vector", "watt_rate", "watt_era",
    "clock_matrix", "clock_vector", "youth", "crowd", "crowd_staged", "overlap", "last_bucket", "network",
    "stream_traffic", "stream_fast_memory", "serve_traffic", "stream_tail", "update_wide", "half_rate",
)  # fmt: skip
FACTORS = ("traffic", "weights", "tail", "stream", "serve", "update", "half")
MULTIPLIED = {
    "path": 0.3, "generation": 0.25, "lane": 0.6, "kind_matrix": 0.6, "kind_traffic": 0.6, "launch": 0.7, "kind_launch": 0.5,
    "generation_traffic": 0.15, "update": 0.7, "globals": 0.7,
}  # fmt: skip
"""Multipliers of the physics, and the usual deviation of their logarithms from what is expected."""
LISTED = {"kind_matrix": "share", "kind_traffic": "share", "kind_launch": "share", "generation_traffic": "generation",
          "launch": "family", "update": "family"}  # fmt: skip
"""Words of a table of multipliers, where they are not called like it."""
COVARIANCES = ("variances", "wide", "narrow", "distances", "scatter", "kind_scatter")
SCATTERED = {"scatter": 0.7, "kind_scatter": 0.5}
EXPECTED = {"generation": {"kepler": 0.74}}
"""Multipliers that are not 1 before any row is seen: a core of Maxwell does 1.35 times the work of one of Kepler (NVIDIA, GeForce
GTX 750 Ti white paper, 2014)."""
HELD = {"kind_matrix": {"moe": 0.4}, "generation": {"cdna3": 0.65}}
"""Shares of the matrix rate that are set, not fitted. For served experts only three rows of one machine with a slow host speak
(single products of few tokens per expert reach a third to a half of what those of dense models do); for CDNA3 one row of inference,
while in training an MI300X gave 250 TFLOPS where an H100 gave 345 (GPT-2 XL in FP8) and 474 where an H200 gave 898 (Llama 3 8B,
FSDP), by issues 72 and 79 of ROCm/TransformerEngine."""
SLOPE_STEP, MOST_MOVE, MOVED = 1e-4, 0.7, 0.8
TURNS, FIRST_MOVES, MOVES = 2, 6, 2
STEPS, ROWS, RATE = 40, 1200, 0.1
NOISE, NOISE_SPREAD = 0.0025, 0.6
"""Variance between machines of the same GPU, stack and network: rows that agree in all of these differ by 2 to 5 % (tables of
MLPerf and Lambda); and the deviation of its logarithm within which it is fitted."""
SPARSE = 0.02
"""What the likelihood of a row must gain per unit of standard deviation of a term: terms that do not pay go to zero."""
UNTRUSTED = 1e-8
"""Trust in a row that a fit leaves out."""
FLAT = SpeedModel(
    NEUTRAL, dict.fromkeys(TERMS, 0.02) | {"noise": 0.01}, (0.1,) * 8, (0.1,) * 8, dict.fromkeys(DISTANCES, 1.0), {}, {"": 1.0}, ""
)  # fmt: skip
"""Where a fit begins that must know nothing of the rows it leaves out."""

Parameters = dict[str, Tensor]


def parameters(words: dict[str, list[str]], model: SpeedModel) -> Parameters:
    """Return the logarithms to fit, beginning at these constants."""
    physics = model.physics

    def logs(key: str, table: dict[str, float]) -> Tensor:
        return torch.tensor([math.log(table.get(word, 1.0)) for word in words[key]])

    tables = {"path": physics.matrix, "lane": physics.exchange}
    start = {name: logs(LISTED.get(name, name), tables.get(name) or getattr(physics, name, {}))
             for name in MULTIPLIED if name != "globals"}  # fmt: skip
    start |= {
        "globals": torch.tensor([_vector(physics)[name] for name in GLOBALS]),
        "variances": torch.tensor([math.log(max(model.variances[name], 1e-6)) for name in (*TERMS, "noise")]),
        "wide": torch.tensor(model.wide).log(),
        "narrow": torch.tensor(model.narrow).log(),
        "distances": torch.tensor([math.log(model.distances[name]) for name in DISTANCES]),
        "scatter": logs("family", model.scatter),
        "kind_scatter": logs("kind", {word.removeprefix("kind "): value for word, value in model.scatter.items()}),
    }
    return {name: tensor.double() for name, tensor in start.items()}


def _vector(physics: Physics) -> dict[str, float]:
    """Return the inverse of `constants`."""

    def logit(share: float) -> float:
        share = min(max(share, 0.02), 0.98)
        return math.log(share / (1 - share))

    found = {name: math.log(getattr(physics, name)) for name in GLOBALS if name.startswith(FACTORS)}
    return found | {
        "power_slope": logit(physics.power_slope) / 2, "power_vector": logit(physics.power_vector) / 2 + 0.42,
        "watt_rate": math.log(physics.watt_rate / 0.8), "watt_era": physics.watt_era - 1,
        "youth": math.log(max(physics.youth, 0.02) / 0.2) / 2,
        "clock_matrix": math.log(max(physics.clock_matrix, 0.01) / USUAL_CLOCK),
        "clock_vector": math.log(max(physics.clock_vector, 0.01) / USUAL_CLOCK),
        "crowd": physics.crowd - 0.3, "crowd_staged": physics.crowd_staged - 1, "overlap": logit(physics.overlap) - 0.4,
        "last_bucket": math.log(physics.last_bucket / 0.15), "network": math.log(physics.exchange.get("network", 1.0)),
    }  # fmt: skip


def constants(p: Parameters) -> dict[str, Tensor]:
    """Return the global constants of physics from the fitted vector."""
    g = dict(zip(GLOBALS, p["globals"], strict=True))
    found = {name: g[name].exp() for name in GLOBALS}
    found["power_slope"], found["power_vector"] = torch.sigmoid(2 * g["power_slope"]), torch.sigmoid(2 * (g["power_vector"] - 0.42))
    found["youth"] = 0.2 * (2 * g["youth"]).exp()
    found["watt_rate"], found["watt_era"] = 0.8 * found["watt_rate"], 1 + g["watt_era"]
    found["clock_matrix"], found["clock_vector"] = USUAL_CLOCK * found["clock_matrix"], USUAL_CLOCK * found["clock_vector"]
    found["crowd"], found["crowd_staged"] = 0.3 + g["crowd"], 1 + g["crowd_staged"]
    found["overlap"], found["last_bucket"] = torch.sigmoid(g["overlap"] + 0.4), 0.15 * found["last_bucket"]
    return found


def modelled(data: Data, p: Parameters) -> Tensor:
    """Return the log of the modelled speed; the same formulas as rigplanner.performance.roofline, scaling and serving."""
    c, step, kind = constants(p), data["step"], data.index("share")
    softplus = torch.nn.functional.softplus
    excess = 3 * (data["half"] / (data["tdp"] * c["watt_rate"] * (0.15 * (data["era"] - 4.6) * c["watt_era"]).exp())).log()
    vector = torch.isin(
        data.index("path"), torch.tensor([i for i, word in enumerate(data.words["path"]) if word.startswith("vector")])
    )
    vector = vector.double()
    throttled = (c["power_slope"] * softplus(excess) / 3 * (1 - (1 - c["power_vector"]) * vector)).exp()
    throttled = throttled * data["sustained"] ** -(c["clock_matrix"] + (c["clock_vector"] - c["clock_matrix"]) * vector)
    generation = data.index("generation")
    share = p["path"][data.index("path")] + p["generation"][generation] + p["kind_matrix"][kind]
    share = share + data["halved"] * c["half_rate"].log() - c["youth"] * data["youth"]
    own = p["kind_traffic"][kind].exp() * (c["traffic_train"] * data["train"] + c["traffic_forward"] * (1 - data["train"]))
    stream = c["stream_traffic"] * (1 + data["hbm"] * (c["stream_fast_memory"] - 1))
    stream = torch.where(data["host"] > 0, c["serve_traffic"], stream)
    traffic = data["traffic"] * torch.where(step > 0, own * p["generation_traffic"][generation].exp(), stream)
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


def scatter(data: Data, p: Parameters) -> Tensor:
    """Return by how much the residuals of each row's kind of job exceed the usual."""
    return (p["scatter"][data.index("family")] + p["kind_scatter"][data.index("kind")]).exp()


def covariance(data: Data, p: Parameters, trust: Tensor | float = 1.0) -> Tensor:
    """Return the covariance of all rows with their noise, less for rows of more `trust`; the same terms as
    rigplanner.performance.kriging."""
    batch, count, tokens, written, year = p["distances"].exp()
    near = (-batch * data.batch).exp()
    factors = {
        "": 1.0,
        "w": data.alike(lambda square: 1 / (1 + square), p["wide"].exp()),
        "n": data.alike(lambda square: (-0.5 * square).exp(), p["narrow"].exp()),
        "bc": near * (-count * data.count).exp(),
        "t": (-tokens * data.tokens - written * data.written).exp(),
        "y": (-year * data.year).exp(),
        "m": data.smaller,
    }
    variances = p["variances"].exp()
    whole = torch.diag(variances[-1] / trust * torch.ones(data.size))
    for how, (index, masks) in data.masks.items():
        whole = whole + (variances[index].float() @ masks).double().reshape(data.size, data.size) * factors[how]
    return whole


def slopes(data: Data, p: Parameters) -> tuple[Tensor, Tensor]:
    """Return the log speeds, and their slopes by the log of each multiplier."""
    speeds, columns = modelled(data, p), []
    for name in MULTIPLIED:
        for i in range(len(p[name])):
            moved = p[name].clone()
            moved[i] += SLOPE_STEP
            columns.append((modelled(data, {**p, name: moved}) - speeds) / SLOPE_STEP)
    return speeds, torch.stack(columns, 1)


def expected(words: dict[str, list[str]], p: Parameters) -> Tensor:
    """Return the logarithms of the multipliers before any row is seen."""
    found = {name: torch.zeros(len(p[name])) for name in MULTIPLIED}
    for name, table in EXPECTED.items():
        for word in set(table) & set(words[LISTED.get(name, name)]):
            found[name][words[LISTED.get(name, name)].index(word)] = math.log(table[word])
    return torch.cat([found[name] for name in MULTIPLIED])


def improve(data: Data, p: Parameters, trust: Tensor, kept: Tensor) -> tuple[Parameters, Tensor]:
    """Return multipliers moved towards what is most probable by the rows that are `kept`, and the trust in each row: those far from
    what the others tell count less (Student t)."""
    lengths, usual = [len(p[name]) for name in MULTIPLIED], scatter(data, p)
    speeds, slope = slopes(data, p)
    spread = torch.cat([torch.full((size,), MULTIPLIED[name]) for name, size in zip(MULTIPLIED, lengths, strict=True)])
    now, prior = torch.cat([p[name] for name in MULTIPLIED]), expected(data.words, p)
    free = slope * spread / usual[:, None]
    residuals = (data["measured"] - speeds + slope @ (now - prior)) / usual
    lower = torch.linalg.cholesky(covariance(data, p, torch.where(kept, trust, UNTRUSTED)))
    both = torch.cholesky_solve(torch.cat([free, residuals[:, None]], 1), lower)
    best = torch.linalg.solve(free.T @ both[:, :-1] + torch.eye(len(now)), free.T @ both[:, -1])
    answer = both[:, -1] - both[:, :-1] @ best
    moved = now + MOVED * (prior + spread * best - now).clamp(-MOST_MOVE, MOST_MOVE)
    found = dict(zip(MULTIPLIED, moved.split(lengths), strict=True))
    for name, table in HELD.items():
        for word in set(table) & set(data.words[LISTED.get(name, name)]):
            found[name][data.words[LISTED.get(name, name)].index(word)] = math.log(table[word])
    surprise = answer**2 / torch.cholesky_inverse(lower).diagonal()
    return {**p, **found}, ((FREEDOM + 1) / (FREEDOM + surprise)).clamp(max=1.0)


class Crossed:
    """Multipliers fitted six times, each without a fold; `of` tells by which of the three of each deal a row is judged."""

    def __init__(self, data: Data, p: Parameters) -> None:
        self.of = {deal: torch.tensor([fold_of(row[deal]) for row in data.rows]) for deal in DEALT}
        self.fits = {deal: [p] * FOLDS for deal in DEALT}

    def fit(self, data: Data, p: Parameters, moves: int) -> None:
        """Fit all multipliers anew under the covariances of `p`."""
        with torch.no_grad():
            for deal, fits in self.fits.items():
                for fold in range(FOLDS):
                    now, trust, kept = (
                        {**fits[fold], **{name: p[name] for name in COVARIANCES}},
                        torch.ones(data.size),
                        self.of[deal] != fold,
                    )
                    for _ in range(moves):
                        now, trust = improve(data, now, trust, kept)
                    fits[fold] = now

    def residuals(self, data: Data) -> dict[str, Tensor]:
        """Return what each fit misses of each row, in columns by fold."""
        with torch.no_grad():
            return {
                deal: torch.stack([data["measured"] - modelled(data, fit) for fit in fits], 1) for deal, fits in self.fits.items()
            }

    def mean(self) -> Parameters:
        """Return the mean multipliers."""
        every = [fit for fits in self.fits.values() for fit in fits]
        return {name: torch.stack([fit[name] for fit in every]).mean(0) for name in MULTIPLIED}


def errors(
    data: Data, p: Parameters, crossed: Crossed, missed: dict[str, Tensor], pairs: Sequence[Any]
) -> dict[str, tuple[Tensor, Tensor]]:
    """Return errors and deviations by scheme, in log units."""
    usual = scatter(data, p)
    inverse, found = torch.linalg.inv(covariance(data, p)), {}
    answers = {deal: inverse @ (columns / usual[:, None]) for deal, columns in missed.items()}
    for scheme in SCHEMES:
        deal, rows = "gpu" if scheme in BY_GPU else "source", torch.arange(data.size)
        if scheme == "strange":
            several, variance, rows = strange(inverse, answers[deal], pairs)
        else:
            several, variance = left_out(inverse, answers[deal], data.groups.get(scheme))
        error = several.gather(1, crossed.of[deal][rows][:, None])[:, 0]
        found[scheme] = (error * usual[rows], variance.sqrt() * usual[rows])
    return found


def loss(found: dict[str, tuple[Tensor, Tensor]], p: Parameters, size: int) -> Tensor:
    """Return the negative predictive log likelihood over the schemes, and the priors."""
    total = torch.zeros(())
    for scheme, (error, deviation) in found.items():
        surprise = deviation.log() + 0.5 * (FREEDOM + 1) * torch.log1p((error / deviation) ** 2 / FREEDOM)
        total = total + SCHEMES[scheme] * surprise.mean()
    priors = ((p["variances"][-1] - math.log(NOISE)) / NOISE_SPREAD) ** 2
    priors = priors + sum(((p[name] / spread) ** 2).sum() for name, spread in SCATTERED.items())
    return total + 0.75 * priors / size + SPARSE * (p["variances"][:-1] / 2).exp().sum()


def covariances(data: Data, start: Parameters, crossed: Crossed, steps: int) -> Parameters:
    """Return the covariances that tell best how far the cross-fitted physics is off rows that are left out."""
    chance, pairs, missed = random.Random(0), data.strangers(), crossed.residuals(data)
    p = {name: value.clone().requires_grad_(name in COVARIANCES) for name, value in start.items()}
    optimizer = torch.optim.Adam([p[name] for name in COVARIANCES], lr=RATE)
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = RATE * (0.55 + 0.45 * math.cos(math.pi * step / steps))
        optimizer.zero_grad()
        value = loss(errors(data, p, crossed, missed, chance.sample(pairs, min(STRANGERS, len(pairs)))), p, data.size)
        value.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step}: {value.item():.4f}", flush=True)
    return {name: value.detach() for name, value in p.items()}


def fit(rows: Sequence[dict[str, Any]], steps: int, most: int) -> tuple[SpeedModel, dict[str, list[SpeedModel]]]:
    """Return the constants, and those of each fold with the same covariances; covariances on at most `most` of the rows."""
    torch.set_default_dtype(torch.float64)
    words = {name: sorted({row[name] for row in rows}) for name in WORDS}
    chosen = torch.randperm(len(rows), generator=torch.Generator().manual_seed(0))[:most].sort().values
    whole, data = Data(rows, words), Data([rows[i] for i in chosen], words)
    p = parameters(words, FLAT if steps else msgspec.structs.replace(speed_model(), physics=NEUTRAL))
    crossed, part = Crossed(whole, p), Crossed(data, p)
    for turn in range(TURNS if steps else 1):
        crossed.fit(whole, p, MOVES if turn else FIRST_MOVES)
        part.fits = crossed.fits
        p = covariances(data, p, part, steps)
    crossed.fit(whole, p, MOVES if steps else 0)
    told = (
        f"tools/fit_speed_model.py: covariances {TURNS} times in {steps} steps on {data.size} rows, multipliers on {len(rows)}, "
        f"each the mean of fits without a third of the GPUs or of the sources"
    )
    each = {
        deal: [shipped({**p, **{name: one[name] for name in MULTIPLIED}}, words, told) for one in fits]
        for deal, fits in crossed.fits.items()
    }
    return shipped({**p, **crossed.mean()}, words, told), each


def shipped(p: Parameters, words: dict[str, list[str]], provenance: str) -> SpeedModel:
    """Return the constants as they are shipped."""

    def table(name: str, key: str = "") -> dict[str, float]:
        return {word: _round(value.exp()) for word, value in zip(words[key or LISTED.get(name, name)], p[name], strict=True)}

    c = {name: _round(value) for name, value in constants(p).items()}
    exchange = {word: value for word, value in table("lane").items() if word != "none"} | {"network": c.pop("network")}
    tables = {name: table(name) for name in MULTIPLIED if name not in ("path", "lane", "globals")}
    physics = Physics(matrix=table("path"), exchange=exchange, **tables, **c)  # type: ignore[arg-type]
    variances = {name: _round(value.exp()) for name, value in zip((*TERMS, "noise"), p["variances"], strict=True)}
    distances = {name: _round(value.exp()) for name, value in zip(DISTANCES, p["distances"], strict=True)}
    scattered = table("scatter", "family") | {f"kind {word}": value for word, value in table("kind_scatter", "kind").items()}
    wide, narrow = (tuple(_round(value.exp()) for value in p[name]) for name in ("wide", "narrow"))
    return SpeedModel(physics, variances, wide, narrow, distances, scattered, {"": 1.0}, provenance)


def _round(value: Tensor) -> float:
    return float(f"{value.item():.4g}")


def main() -> None:
    """Fit and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=STEPS, help="of the covariances; 0 keeps those that ship")
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--folds", type=Path, help="folder for the constants of each fold, which tools/speed_refitted.py judges")
    parser.add_argument("-o", "--output", type=Path, required=True)
    args = parser.parse_args()
    found, each = fit(described(shipped_measured()), args.steps, args.rows)
    args.output.write_text(json.dumps(msgspec.to_builtins(found), indent=1) + "\n", "utf-8")
    for deal, fits in each.items() if args.folds else ():
        for fold, one in enumerate(fits):
            (args.folds / f"{deal}-{fold}.json").write_bytes(msgspec.json.encode(one))


if __name__ == "__main__":
    main()
