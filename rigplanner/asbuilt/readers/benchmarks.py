"""Figures of test programs: nccl-tests, p2pBandwidthLatencyTest, nvbandwidth, fio, llama-bench,
vLLM, MLPerf, and the verdicts of gpu-burn and stress-ng."""

import json
import re

from rigplanner.asbuilt.seen import Fact, SeenRate, SeenTest

NCCL = re.compile(r"^#\s+size\s+count\s|# Avg bus bandwidth\s*:", re.MULTILINE)
P2P = re.compile(
    r"P2P=(?:Enabled|Disabled) Bandwidth|P2P \(Peer-to-Peer\) GPU Bandwidth", re.IGNORECASE
)
NVBANDWIDTH = re.compile(
    r"^nvbandwidth Version|^memcpy (?:CE|SM) |^Running (?:host|device)_\w+", re.MULTILINE
)
FIO = re.compile(r"^\s*(READ|WRITE): bw=|^fio-\d", re.MULTILINE)
LLAMA = re.compile(r"^\|\s*model\s*\|\s*size\s*\|\s*params\s*\|", re.MULTILINE)
VLLM = re.compile(
    r"throughput \(tok/s\)|^Throughput: [\d.]+ requests/s", re.MULTILINE | re.IGNORECASE
)
MLPERF = re.compile(r"^:::MLLOG |MLPerf Results Summary", re.MULTILINE)
GPU_BURN = re.compile(r"^Tested \d+ GPUs?:", re.MULTILINE)
STRESS = re.compile(r"^stress-ng: ", re.MULTILINE)
NUMBER = r"(\d{1,9}(?:\.\d{1,6})?)"
MOST_GPUS = 64


def read_nccl_tests(text: str) -> list[Fact]:
    """Return the bus bandwidth of the largest message of nccl-tests, in GB/s (1e9 bytes)."""
    started = re.search(r"Collective test starting: (\w+)_perf|\b(\w+)_perf\b", text)
    name = (started[1] or started[2]).replace("_", "-") if started else "collective"
    ranks = re.findall(r"^#\s+Rank\s+\d+ .*\bdevice\s+\d+", text, re.MULTILINE)
    best: tuple[int, float] | None = None
    for line in text.splitlines():
        words = line.split()
        if len(words) < 8 or not words[0].isdigit() or not words[1].isdigit():
            continue
        floats = [float(word) for word in words[4:] if re.fullmatch(r"-?\d+(\.\d+)?", word)]
        columns = floats[-4:-1] if len(words) >= 13 else floats[-3:]
        if len(columns) == 3 and (best is None or int(words[0]) >= best[0]):
            best = int(words[0]), columns[2]
    average = re.search(rf"Avg bus bandwidth\s*:\s*{NUMBER}", text)
    if best is None and average is None:
        return []
    details = {"ranks": str(len(ranks))} if ranks else {}
    if best:
        details["bytes"] = str(best[0])
    value = best[1] if best else float(average[1]) if average else 0.0
    metric = f"{name.replace('all-reduce', 'allreduce')}-busbw"
    return [
        SeenRate(program="nccl-tests", metric=metric, value=value, unit="GB/s", details=details)
    ]


def _square(lines: list[str]) -> list[tuple[int, int, float]]:
    """Return row, column and figure of a table with numbered rows under a numbered head."""
    cells: list[tuple[int, int, float]] = []
    for line in lines:
        words = line.split()
        if not words or not words[0].isdigit() or len(words) > MOST_GPUS + 1:
            break
        for column, word in enumerate(words[1:]):
            if re.fullmatch(NUMBER, word):
                cells.append((int(words[0]), column, float(word)))
    return cells


P2P_TABLES = (
    ("unidirectional p2p=disabled bandwidth", "copy-staged"),
    ("unidirectional p2p=enabled bandwidth (p2p writes)", "copy-peer"),
    ("unidirectional p2p=enabled bandwidth matrix", "copy-peer"),
    ("bidirectional p2p=disabled bandwidth", "copy-staged-both"),
    ("bidirectional p2p=enabled bandwidth", "copy-peer-both"),
)


def read_p2p_test(text: str) -> list[Fact]:
    """Return the copies of p2pBandwidthLatencyTest between pairs, in GB/s; a card's own memory is
    left out."""
    facts: list[Fact] = []
    lines = text.splitlines()
    for number, line in enumerate(lines):
        said = line.strip().lower()
        metric = next((code for words, code in P2P_TABLES if said.startswith(words)), None)
        if metric is None or number + 1 >= len(lines):
            continue
        for row, column, value in _square(lines[number + 2 :]):
            if row != column:
                pair = (row, column)
                facts.append(
                    SeenRate(
                        program="p2pBandwidthLatencyTest",
                        metric=metric,
                        value=value,
                        unit="GB/s",
                        gpus=pair,
                    )
                )
    return facts


NVB_METRICS = (
    ("cpu(row) -> gpu(column)", "host-to-gpu"),
    ("cpu(row) <- gpu(column)", "gpu-to-host"),
    ("gpu(row) -> gpu(column)", "copy-peer"),
    ("gpu(row) <- gpu(column)", "copy-peer"),
)


def read_nvbandwidth(text: str) -> list[Fact]:
    """Return the one-way copies of nvbandwidth's copy engines, in GB/s."""
    facts: list[Fact] = []
    lines = text.splitlines()
    for number, line in enumerate(lines):
        said = line.strip().lower()
        if not said.startswith("memcpy ce ") or "bandwidth" not in said:
            continue
        metric = next((code for words, code in NVB_METRICS if words in said), None)
        for row, column, value in _square(lines[number + 2 :]) if metric else []:
            pair = (row, column) if metric == "copy-peer" else (column,)
            facts.append(
                SeenRate(
                    program="nvbandwidth", metric=metric or "", value=value, unit="GB/s", gpus=pair
                )
            )
    return facts


def read_fio(text: str) -> list[Fact]:
    """Return read and write rate of `fio`'s summary, in GB/s (1e9 bytes)."""
    scale = {"k": 1e-6, "M": 1e-3, "G": 1.0, "": 1e-9}
    rows = re.findall(rf"^\s*(READ|WRITE): bw=.*?\({NUMBER}([kMG]?)B/s\)", text, re.MULTILINE)
    return [
        SeenRate(
            program="fio",
            metric=f"drive-{way.lower()}",
            value=float(value) * scale[unit],
            unit="GB/s",
        )
        for way, value, unit in rows
    ]


def read_llama_bench(text: str) -> list[Fact]:
    """Return the rows of llama-bench's table: prompt (pp512) and generation (tg128) in tokens/s."""
    facts: list[Fact] = []
    head: list[str] = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if "t/s" in cells and "model" in cells:
            head = cells
            continue
        row = dict(zip(head, cells, strict=False)) if len(cells) == len(head) else {}
        rate = re.match(NUMBER, row.get("t/s", ""))
        if rate and row.get("test"):
            kept = {
                key: row[key] for key in ("test", "backend", "ngl", "n_batch", "fa") if row.get(key)
            }
            metric = "prompt-rate" if row["test"].startswith("pp") else "generation-rate"
            facts.append(
                SeenRate(
                    program="llama-bench",
                    metric=metric,
                    value=float(rate[1]),
                    unit="tokens/s",
                    model=row.get("model", ""),
                    details=kept,
                )
            )
    return facts


def read_vllm_bench(text: str) -> list[Fact]:
    """Return the output and total rate of `vllm bench serve` or `throughput`, in tokens/s."""
    patterns = (
        (rf"Output token throughput \(tok/s\):\s+{NUMBER}", "output-rate"),
        (rf"Total [Tt]oken throughput \(tok/s\):\s+{NUMBER}", "total-rate"),
        (rf"Throughput: .*? {NUMBER} total tokens/s", "total-rate"),
        (rf"Throughput: .*? {NUMBER} output tokens/s", "output-rate"),
    )
    facts: list[Fact] = []
    for pattern, metric in patterns:
        match = re.search(pattern, text)
        if match:
            facts.append(
                SeenRate(program="vllm", metric=metric, value=float(match[1]), unit="tokens/s")
            )
    return facts


def read_mlperf(text: str) -> list[Fact]:
    """Return what MLPerf logs state: samples or tokens per second of an inference summary, and the
    minutes of a training run between its start and its successful end."""
    facts: list[Fact] = []
    for words, metric, unit in (
        ("Samples per second", "samples-rate", "samples/s"),
        ("Tokens per second", "output-rate", "tokens/s"),
    ):
        match = re.search(rf"^{words}\s*:\s*{NUMBER}", text, re.MULTILINE)
        if match:
            facts.append(
                SeenRate(program="mlperf", metric=metric, value=float(match[1]), unit=unit)
            )
    times: dict[str, float] = {}
    for line in text.splitlines():
        if line.startswith(":::MLLOG "):
            try:
                entry = json.loads(line[9:])
                times.setdefault(entry["key"], float(entry["time_ms"]))
            except (ValueError, KeyError, TypeError, RecursionError):
                continue
    if "run_start" in times and times.get("run_stop", 0) > times["run_start"]:
        minutes = (times["run_stop"] - times["run_start"]) / 60000
        facts.append(SeenRate(program="mlperf", metric="time-to-train", value=minutes, unit="min"))
    valid = re.search(r"^Result is\s*:\s*(VALID|INVALID)", text, re.MULTILINE)
    if valid:
        facts.append(SeenTest("mlperf", "", valid[1] == "VALID"))
    return facts


def read_gpu_burn(text: str) -> list[Fact]:
    """Return gpu-burn's verdict on each GPU. It also says OK of a GPU that it could not start on,
    or that computed nothing (wilicc/gpu-burn issues 14 and 123): those did not pass."""
    after = text[text.rfind("Tested ") :]
    rows = re.findall(r"GPU (\d{1,3}): (OK|FAULTY)", after)
    done = re.findall(r"proc'd: (.*?)\s{2,}errors:", text)
    worked = (
        [rate != "0" for rate in re.findall(r"\((\d{1,9}) Gflop/s\)", done[-1])] if done else []
    )
    started = "Couldn't init a GPU test" not in text
    return [
        SeenTest(
            "gpu-burn",
            f"gpu{index}",
            word == "OK" and (worked[place] if place < len(worked) else started),
        )
        for place, (index, word) in enumerate(rows)
    ]


def read_stress_ng(text: str) -> list[Fact]:
    """Return stress-ng's verdict on the machine."""
    failed = re.search(r"unsuccessful run completed|failed: [1-9]", text)
    done = "successful run completed" in text
    return [SeenTest("stress-ng", "", not failed)] if failed or done else []
