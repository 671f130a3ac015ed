"""Reinforcement learning in simulated environments: steps a second that the cores make, and how
little of a GPU the policy keeps busy."""

import math
from collections.abc import Sequence
from functools import cache

from msgspec import Struct

from rigplanner.catalog.schema.parts import CPU, GPU
from rigplanner.data import data_path
from rigplanner.decoding import read_json
from rigplanner.errors import WorkloadFault
from rigplanner.evidence import Source, Step
from rigplanner.performance.answer import Bound, SpeedEstimate
from rigplanner.performance.silicon import silicon_of
from rigplanner.rig.workload import Workload

USUAL_CORES, USUAL_GHZ = 8, 4.5
"""A desktop that nobody names."""
USUAL_ENGINE, USUAL_SIMULATOR = "subprocess", "atari"
WITHIN = 1.5
"""Factor either way: single processes differ by 1.2, engines by 1.35 between four computers."""
STRANGE_WITHIN = 2.0
LEARNING_PASSES = 13.0
"""Forward passes that a step costs the policy: one to act, and four epochs of forward and backward
to learn from it (PPO's usual settings, Schulman et al. 2017, arXiv 1707.06347)."""
SMALL_NET_SHARE = 0.2
"""Of the FP32 peak that such small networks reach (estimate)."""


class Simulator(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`frames_s_per_ghz` of one process (None: not known), frames of a step, and the policy's
    millions of multiply-adds."""

    names: tuple[str, ...]
    frames_s_per_ghz: float | None
    frames_per_step: int
    policy_mmac: float
    source: str | None


class Engine(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How environments are spread: one process times `gain` x cores ^ `power`."""

    gain: float
    power: float
    source: str


class SimulatorFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The shipped simulators and engines."""

    about: str
    sources: dict[str, Source]
    simulators: dict[str, Simulator]
    engines: dict[str, Engine]


@cache
def simulators() -> SimulatorFile:
    """Return the shipped simulators, read once."""
    file = data_path("catalog") / "benchmarks" / "simulators.json"
    return read_json(file.read_bytes(), SimulatorFile)


class _Asked(Struct, frozen=True):
    """What a workload asks: simulator and engine with their names, and steps a second of one core
    where the user measured them."""

    name: str
    simulator: Simulator
    engine_name: str
    engine: Engine
    core_steps_s: float | None


def predict_simulated(
    workload: Workload, gpu: GPU | None, cpus: Sequence[CPU], count: int = 1
) -> SpeedEstimate:
    """Return the steps a second of a policy that learns in simulated environments on these CPUs (a
    desktop's where none is named), and the share of the time in which a GPU works on it. Raises
    WorkloadFault for unknown simulators and engines, and for a simulator without known speed."""
    asked = _asked(workload)
    cores = sum(cpu.cores or 0 for cpu in cpus) or USUAL_CORES
    clocks = [clock for cpu in cpus if (clock := cpu.boost_ghz or cpu.base_ghz)]
    clock = min(clocks, default=USUAL_GHZ)
    one = asked.core_steps_s or _one_process(asked, clock)
    by_cores = one * asked.engine.gain * cores**asked.engine.power
    by_gpu = _policy_steps(asked.simulator, gpu) * count if gpu else math.inf
    value = min(by_cores, by_gpu)
    within = WITHIN if cpus else STRANGE_WITHIN
    bound: Bound = "cpu cores" if by_cores <= by_gpu else "compute"
    return SpeedEstimate(
        metric="steps/s",
        value=value,
        low=value / within,
        high=min(value * within, by_gpu),
        stack=asked.engine_name,
        bound=bound,
        lift="more-cores" if bound == "cpu cores" else None,
        gpu_busy=None if gpu is None else value / by_gpu,
        assumed=_assumed(workload, asked, cores, clock, bool(cpus)),
        steps=(
            Step(
                "environments",
                "steps of one process x gain x cores ^ power",
                {"one": one, "gain": asked.engine.gain, "cores": cores, "ghz": clock,
                 "power": asked.engine.power},
                by_cores,
                "steps/s",
                simulators().sources[asked.engine.source].title,
            ),
        ),
    )  # fmt: skip


def _asked(workload: Workload) -> _Asked:
    known, told = simulators(), workload.variant
    word = str(told.get("simulator") or _of_model(workload) or USUAL_SIMULATOR).casefold()
    name = next(
        (slug for slug, one in known.simulators.items() if word == slug or word in one.names), None
    )
    if name is None:
        every = ", ".join(known.simulators)
        raise WorkloadFault(f"variant.simulator: expected one of {every}, found '{word[:40]}'.")
    engine = str(told.get("engine") or workload.stack or USUAL_ENGINE).casefold()
    if engine not in known.engines:
        every = ", ".join(known.engines)
        raise WorkloadFault(f"variant.engine: expected one of {every}, found '{engine[:40]}'.")
    steps = told.get("core_steps_s")
    if steps is not None and (not isinstance(steps, int | float) or not 0 < steps < 1e9):
        raise WorkloadFault(f"variant.core_steps_s: expected steps a second, found {steps!r:.40}.")
    return _Asked(name, known.simulators[name], engine, known.engines[engine], steps)


def _of_model(workload: Workload) -> str | None:
    return workload.model if workload.model != "simulate" else None


def _one_process(asked: _Asked, clock: float) -> float:
    """Steps a second of one process at a boost clock in GHz."""
    rate = asked.simulator.frames_s_per_ghz
    if rate is None:
        raise WorkloadFault(
            f"variant.core_steps_s: no speed of {asked.name} is known; say the steps a second that"
            " one core makes."
        )
    return rate * clock / asked.simulator.frames_per_step


def _policy_steps(simulator: Simulator, gpu: GPU) -> float:
    """Steps a second that a GPU would act on and learn from."""
    flops = 2e6 * simulator.policy_mmac * LEARNING_PASSES
    return silicon_of(gpu).fp32 * 1e12 * SMALL_NET_SHARE / flops


def _assumed(
    workload: Workload, asked: _Asked, cores: int, clock: float, told: bool
) -> dict[str, str]:
    assumed = {}
    if "simulator" not in workload.variant and _of_model(workload) is None:
        assumed["simulator"] = asked.name
    if "engine" not in workload.variant and workload.stack is None:
        assumed["engine"] = asked.engine_name
    if not told:
        assumed["host"] = f"{cores} cores, {clock:g} GHz"
    return assumed
