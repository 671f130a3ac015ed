"""The engine's own command that would check a predicted speed."""

from __future__ import annotations

import shlex

from rigplanner.rig.workload import Workload

BENCHED_BY_LLAMA = ("llama.cpp", "ik_llama.cpp", "lm-studio", "koboldcpp")
CACHES = ("q8_0", "q4_0", "q5_0", "q5_1", "q4_1")
"""Types of the cache that llama.cpp calls by the same names."""
USUAL_PROMPT, USUAL_ANSWER = 512, 128
"""Tokens of llama-bench's own tests, pp512 and tg128."""


def prompt_of(workload: Workload) -> int:
    """Return the tokens of a prompt: as told, else usual ones within the context that is reserved,
    which a job that does nothing but read prompts fills."""
    room = workload.seq_len or USUAL_PROMPT
    return workload.input_tokens or (
        room if workload.task == "prefill" else min(room, USUAL_PROMPT)
    )


def verifying_command(workload: Workload, stack: str, gpus: int) -> str | None:
    """Return the command that measures the job with its engine; None for engines without one.
    `gpus` 0 stands for a computer without a GPU."""
    prompt = prompt_of(workload)
    answer = workload.output_tokens or USUAL_ANSWER
    if stack in BENCHED_BY_LLAMA:
        return shlex.join(_llama_bench(workload, prompt, answer, gpus))
    if stack == "ollama":
        return shlex.join(["ollama", "run", "--verbose", _name(workload)])
    if stack == "vllm" and (workload.users or 1) > 1:
        return _under_load(workload, prompt, answer, gpus)
    if stack in ("vllm", "sglang"):
        return shlex.join(_served(workload, stack, prompt, answer, gpus))
    if stack == "mlx":
        words = ["mlx_lm.benchmark", "--model", _name(workload), "-p", str(prompt)]
        return shlex.join([*words, "-g", str(answer)])
    return None


def _name(workload: Workload) -> str:
    return workload.model or workload.name or "MODEL"


def _llama_bench(workload: Workload, prompt: int, answer: int, gpus: int) -> list[str]:
    file = f"{_name(workload)}-{(workload.precision or 'q4_k_m').upper()}.gguf"
    words = ["llama-bench", "-m", file, "-p", str(prompt), "-n", str(answer), "-fa", "1"]
    if (users := workload.users or 1) > 1:
        words = ["llama-batched-bench", "-m", file, "-c", str(users * (prompt + answer))]
        words += ["-npp", str(prompt), "-ntg", str(answer), "-npl", str(users), "-fa", "1"]
    layers = 0 if not gpus else workload.gpu_layers if workload.gpu_layers is not None else 99
    words += ["-ngl", str(layers)]
    if workload.n_cpu_moe is not None and gpus:
        words += ["-ncmoe", str(workload.n_cpu_moe)]
    patterns = workload.override_tensors
    told = [patterns] if isinstance(patterns, str) else list(patterns or ())
    if workload.cpu_moe or "cpu_moe" in workload.flags:
        told.append("exps=CPU")
    for pattern in told:
        words += ["-ot", pattern]
    if workload.kv_precision in CACHES:
        words += ["-ctk", workload.kv_precision, "-ctv", workload.kv_precision]
    if workload.split:
        words += ["-sm", workload.split]
    piece = workload.variant.get("ubatch")
    return words + (["-ub", str(piece)] if isinstance(piece, int) else [])


def _served(workload: Workload, stack: str, prompt: int, answer: int, gpus: int) -> list[str]:
    streams = str(workload.users or workload.batch_per_gpu or 1)
    of_vllm, of_sglang = "vllm bench latency", "python -m sglang.bench_one_batch"
    words = (of_vllm if stack == "vllm" else of_sglang).split()
    words += ["--model", _name(workload), "--input-len", str(prompt)]
    words += ["--output-len", str(answer), "--batch-size", streams]
    if gpus > 1:
        words += ["--tensor-parallel-size", str(gpus)]
    if workload.cpu_offload_gb:
        words += ["--cpu-offload-gb", f"{workload.cpu_offload_gb:g}"]
    return words


ROUNDS = 10
"""Requests of each user: the first rounds warm up, the last run out."""


def _under_load(workload: Workload, prompt: int, answer: int, gpus: int) -> str:
    """A server, and users who ask it all at once: the client waits until it answers
    (docs.vllm.ai, cli/bench/serve, read 2026-11-23)."""
    users = workload.users or 1
    serve = ["vllm", "serve", _name(workload)]
    if gpus > 1:
        serve += ["--tensor-parallel-size", str(gpus)]
    if workload.cpu_offload_gb:
        serve += ["--cpu-offload-gb", f"{workload.cpu_offload_gb:g}"]
    ask = ["vllm", "bench", "serve", "--model", _name(workload), "--dataset-name", "random"]
    ask += ["--random-input-len", str(prompt), "--random-output-len", str(answer)]
    ask += ["--max-concurrency", str(users), "--num-prompts", str(ROUNDS * users)]
    return f"{shlex.join(serve)} & {shlex.join(ask)}"
