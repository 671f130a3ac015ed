"""Training by preferences and rewards (DPO, PPO, GRPO) as the jobs that it is made of: what is
trained, what is only asked, what writes the answers."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from rigplanner.errors import WorkloadFault
from rigplanner.rig.workload import Workload

PREFERENCE = ("grpo", "ppo", "dpo")
"""Tasks that this module takes apart."""
PROMPT, ANSWER = 512, 1024
"""Tokens of a prompt and of an answer where none are told (estimate: a question with its
instructions, a reasoned answer)."""
GENERATIONS = 8
"""Answers to one prompt (trl/trainer/grpo_config.py, num_generations)."""
SHARED_CARDS = ("verl", "openrlhf", "ms-swift", "unsloth")
"""Stacks whose engine lives on the trainer's cards unless told otherwise (verl's hybrid engine,
OpenRLHF's --colocate_all_models, recalled; ms-swift's and Unsloth's recipes)."""
SLEEPING = ("verl", "openrlhf", "unsloth")
"""Of these, whose engine gives its memory back while the network trains (verl:
rollout.free_cache_engine, OpenRLHF: --vllm_enable_sleep, Unsloth: standby; recalled)."""
SHARE_OF_SHARED, SHARE_OF_OWN = 0.3, 0.9
"""Share of a card that an engine takes beside a trainer, and on cards of its own
(trl/trainer/grpo_config.py, vllm_gpu_memory_utilization; trl vllm-serve; trl issue 2688)."""
CARDS_AN_ENGINE = 4
"""One in so many cards writes where engine and trainer have cards of their own (estimate)."""
ROUND, IN_ROUNDS = 512, ("verl", "openrlhf")
"""Answers that are written before the network trains on them, and the stacks that say so apart from
the batch of an update (EasyR1 and NeMo RL 512, verl's examples 1,024 prompts: hiyouga/EasyR1,
examples/config.yaml, read 2026-11-24); others write what one update takes."""
MODEL_PARALLEL = {"verl": "megatron-lm"}
"""What trains a network whose layers or experts are dealt over cards: FSDP, these stacks' own way,
deals neither (verl: actor_rollout_ref.actor.strategy; recalled)."""
NARROW = ("nf4", "fp4", "int4", "int8", "fp8", "mxfp4", "nvfp4", "4bit", "8bit")
HEARD = (
    "generations",
    "colocated",
    "sleep",
    "reference",
    "reward",
    "beta",
    "engine",
    "engine_gpus",
    "overlap",
)
OWN_NETWORK = "transformers"
ENGINES = ("vllm", "sglang", OWN_NETWORK)
"""What writes the answers; transformers: the trainer's own network (generate)."""


class Preference(Struct, frozen=True, kw_only=True):
    """A task taken apart. `training`: the policy's own job; `rollout`: the engine's, None where
    answers are given (DPO). Of the GPUs `trainers` train and `writers` write, the same ones where
    `colocated`; `sleeps`: the engine's memory is free while the network trains; `own`: the
    trainer's network writes. `frozen`: copies of the network that are only asked (reference,
    reward); `asked`: passes over each answer without gradients, those of the critic among them;
    `critic`: whether a second network trains. `sequences` of one sample (two in DPO), tokens of
    `prompt` and `answer`, `generations` to one prompt, `round`: those in work at
    once at least. `overlap`: the engine writes the next answers while the last are trained on."""

    task: str
    training: Workload
    rollout: Workload | None
    trainers: int
    writers: int
    colocated: bool
    sleeps: bool
    own: bool
    frozen: int
    asked: int
    critic: bool
    sequences: int
    prompt: int
    answer: int
    generations: int
    round: int
    overlap: bool
    assumed: dict[str, str]


def is_preference(workload: Workload) -> bool:
    """Whether a workload's task is one of these."""
    return (workload.task or "").casefold() in PREFERENCE


def trained(workload: Workload) -> Workload:
    """Return the job of the policy alone; any other workload as it is."""
    return taken_apart(workload, 1).training if is_preference(workload) else workload


def taken_apart(workload: Workload, count: int) -> Preference:
    """Return the jobs of a task on `count` GPUs. Raises WorkloadFault for words of its variant that
    mean nothing."""
    assert workload.task is not None
    task, told = workload.task.casefold(), workload.variant
    assumed: dict[str, str] = {}
    writes = task != "dpo"
    prompt, answer = _lengths(workload, assumed)
    stack = (workload.stack or "").casefold()
    narrow = (workload.precision or "").casefold() in NARROW
    engine = _engine(told, narrow and stack not in SHARED_CARDS, assumed)
    own = writes and engine == OWN_NETWORK
    colocated = writes and (own or _colocated(told, stack, count, assumed))
    writers = count if colocated else _writers(told, count) if writes else 0
    trainers = max(1, count if colocated else count - writers)
    adapters = workload.lora_rank is not None or narrow
    training = _training(workload, prompt + answer, 1 if writes else 2, adapters, assumed)
    reference = _reference(told, task, stack, assumed)
    reward = task == "ppo" and told.get("reward", True) is not False
    return Preference(
        task=task,
        training=training,
        rollout=_rollout(workload, engine, prompt, answer, colocated) if writes else None,
        trainers=trainers,
        writers=writers,
        colocated=colocated,
        sleeps=colocated and (own or _flag(told, "sleep", stack in SLEEPING)),
        own=own,
        frozen=int(reference and not adapters) + int(reward),
        asked=int(reference) + int(reward) + int(task == "ppo"),
        critic=task == "ppo",
        sequences=1 if writes else 2,
        prompt=prompt,
        answer=answer,
        generations=_number(told, "generations", GENERATIONS) if task == "grpo" else 1,
        round=_round(workload, stack, assumed) if writes else 1,
        overlap=writes and not colocated and _flag(told, "overlap", False),
        assumed=assumed,
    )


def _round(workload: Workload, stack: str, assumed: dict[str, str]) -> int:
    """Answers that are in work at once at least: those of a round, unless accumulation says how
    many an update takes."""
    if workload.gradient_accumulation or stack not in IN_ROUNDS:
        return 1
    assumed["answers"] = str(ROUND)
    return ROUND


def _lengths(workload: Workload, assumed: dict[str, str]) -> tuple[int, int]:
    """Tokens of prompt and answer; a `seq_len` alone holds both, and where pairs are packed both
    answers of one."""
    whole = workload.seq_len
    packed = workload.samples == "packed" or "packed" in workload.flags
    if whole and packed and (workload.task or "").casefold() == "dpo":
        whole = max(2, whole // 2)
    answer = workload.output_tokens or (max(1, whole // 2) if whole else ANSWER)
    prompt = workload.input_tokens or (max(1, whole - answer) if whole else PROMPT)
    for name, size in (("input_tokens", prompt), ("output_tokens", answer)):
        if not getattr(workload, name):
            assumed[name] = str(size)
    return prompt, answer


def _flag(told: dict[str, Any], name: str, usual: bool) -> bool:
    found = told.get(name, usual)
    if not isinstance(found, bool):
        raise WorkloadFault(f"variant.{name}: expected true or false, found {found!r:.40}.")
    return found


def _number(told: dict[str, Any], name: str, usual: int) -> int:
    found = told.get(name, usual)
    if isinstance(found, bool) or not isinstance(found, int) or not 0 < found <= 4096:
        raise WorkloadFault(
            f"variant.{name}: expected a whole number from 1 to 4096, found {found!r:.40}."
        )
    return found


def _engine(told: dict[str, Any], narrow: bool, assumed: dict[str, str]) -> str:
    """What writes the answers: above a quantised base the trainer's own network, since an engine
    would take a copy in 16 bits and the adapters at each step (trl, notebook of GRPO with QLoRA:
    Qwen2 7B takes 8.8 GiB of a T4)."""
    if narrow and "engine" not in told:
        assumed["engine"] = OWN_NETWORK
    found = told.get("engine", OWN_NETWORK if narrow else ENGINES[0])
    if found not in ENGINES:
        raise WorkloadFault(
            f"variant.engine: expected one of {', '.join(ENGINES)}, found {str(found)[:40]!r}."
        )
    return str(found)


def _colocated(told: dict[str, Any], stack: str, count: int, assumed: dict[str, str]) -> bool:
    usual = count == 1 or stack in SHARED_CARDS
    if "colocated" not in told:
        assumed["colocated"] = "true" if usual else "false"
    found = _flag(told, "colocated", usual)
    if not found and count == 1:
        raise WorkloadFault("variant.colocated: one GPU both trains and writes, found false.")
    return found


def _writers(told: dict[str, Any], count: int) -> int:
    found = _number(told, "engine_gpus", max(1, count // CARDS_AN_ENGINE))
    if found >= count:
        raise WorkloadFault(
            f"variant.engine_gpus: expected fewer than the {count} GPUs, found {found}."
        )
    return found


def _reference(told: dict[str, Any], task: str, stack: str, assumed: dict[str, str]) -> bool:
    """Whether a copy of the network as it was stands beside the one that trains: DPO and PPO need
    one, GRPO only with a penalty for leaving it (beta; 0 in TRL since 0.18, recalled)."""
    if told.get("beta") == 0:
        return False
    usual = task != "grpo" or stack != "trl"
    if "reference" not in told:
        assumed["reference"] = "true" if usual else "false"
    return _flag(told, "reference", usual)


def _training(
    workload: Workload, length: int, sequences: int, adapters: bool, assumed: dict[str, str]
) -> Workload:
    """The policy's job; layers are recomputed unless told otherwise, as the recipes of TRL, verl
    and OpenRLHF do."""
    if workload.gradient_checkpointing is None:
        assumed["gradient_checkpointing"] = "full"
    precision = (workload.precision or "").casefold()
    task = "train_qlora" if precision in NARROW else "train_lora" if adapters else "train_full"
    variant = {name: value for name, value in workload.variant.items() if name not in HEARD}
    return msgspec.structs.replace(
        workload,
        task=task,
        stack=_trainer(workload, assumed),
        seq_len=length,
        input_tokens=None,
        output_tokens=None,
        batch_per_gpu=sequences * (workload.batch_per_gpu or 1),
        gradient_checkpointing=(
            "full" if workload.gradient_checkpointing is None else workload.gradient_checkpointing
        ),
        memory_utilization=None,
        variant=variant,
    )


def _trainer(workload: Workload, assumed: dict[str, str]) -> str | None:
    """The stack that trains the policy."""
    dealt, stack = workload.parallelism, (workload.stack or "").casefold()
    if dealt is None or max(dealt.tensor, dealt.pipeline, dealt.expert) == 1:
        return workload.stack
    if stack in MODEL_PARALLEL:
        assumed["trainer"] = MODEL_PARALLEL[stack]
    return MODEL_PARALLEL.get(stack, workload.stack)


def _rollout(
    workload: Workload, engine: str, prompt: int, answer: int, colocated: bool
) -> Workload:
    """The engine's job: it serves the network in 16 bits, adapters merged."""
    share = workload.memory_utilization or (SHARE_OF_SHARED if colocated else SHARE_OF_OWN)
    return Workload(
        model=workload.model,
        config=workload.config,
        params_m=workload.params_m,
        params_b=workload.params_b,
        kind=workload.kind,
        task="serve",
        precision="bf16",
        stack="hf-transformers" if engine == OWN_NETWORK else engine,
        input_tokens=prompt,
        output_tokens=answer,
        memory_utilization=share,
    )
