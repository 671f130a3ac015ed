"""A workload from a file of a model on this computer: config.json, GGUF or safetensors. Only headers are read."""

from pathlib import Path
from typing import Any

import msgspec

from rigplanner.planning.presets import LEARNS, TEXT, WRITES
from rigplanner.rig.task import Workload
from rigplanner.workload.answer import WorkloadFault
from rigplanner.workload.headers import Header, config_of, read_header
from rigplanner.workload.quant import BITS

LARGEST_CONFIG_BYTES = 1_000_000
LONGEST_NAME = 80
CONFIG = "config.json"
SUFFIXES = (".json", ".gguf", ".safetensors")
FILE_TYPES = {
    0: "f32", 1: "f16", 2: "q4_0", 3: "q4_1", 7: "q8_0", 8: "q5_0", 9: "q5_1", 10: "q2_k", 11: "q3_k_s", 12: "q3_k_m", 13: "q3_k_l",
    14: "q4_k_s", 15: "q4_k_m", 16: "q5_k_s", 17: "q5_k_m", 18: "q6_k", 19: "iq2_xxs", 20: "iq2_xs", 23: "iq3_xxs", 24: "iq1_s",
    25: "iq4_nl", 26: "iq3_s", 30: "iq4_xs", 32: "bf16", 36: "tq1_0", 37: "tq2_0",
}  # fmt: skip
"""general.file_type of a GGUF header (llama.cpp include/llama.h, enum llama_ftype)."""


def workload_of_file(path: Path) -> Workload:
    """Return the workload that a file begins: training with LoRA for a configuration or safetensors, answering for a GGUF.

    A safetensors file does not say its architecture: the config.json beside it is read. Raises WorkloadFault naming the file."""
    suffix = path.suffix.casefold()
    if suffix == ".gguf":
        return _of_gguf(path, read_header(path))
    if suffix == ".safetensors":
        read_header(path)
        beside = path.with_name(CONFIG)
        if not beside.is_file():
            raise WorkloadFault(f"{path.name}: expected {CONFIG} beside it, which names the architecture; found none.")
        return _of_config(beside)
    if suffix == ".json":
        return _of_config(path)
    raise WorkloadFault(f"{path.name}: expected {CONFIG}, a GGUF or a safetensors file.")


def _of_config(path: Path) -> Workload:
    try:
        if path.stat().st_size > LARGEST_CONFIG_BYTES:
            raise WorkloadFault(f"{path.name}: expected at most {LARGEST_CONFIG_BYTES} bytes, found {path.stat().st_size}.")
        config: dict[str, Any] = msgspec.json.decode(path.read_bytes(), type=dict)
    except OSError as fault:
        raise WorkloadFault(f"{path}: cannot be read ({fault.strerror or fault}).") from fault
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as fault:
        raise WorkloadFault(f"{path.name}: expected a model's configuration as JSON ({fault}).") from fault
    if not isinstance(config.get("model_type"), str):
        raise WorkloadFault(f"{path.name}: expected model_type, the name of an architecture such as 'llama'; found none.")
    name = str(config.get("_name_or_path") or path.resolve().parent.name or config["model_type"])
    return Workload(name=name.rpartition("/")[2][:LONGEST_NAME], config=config, **TEXT[1].fields)


def _of_gguf(path: Path, header: Header) -> Workload:
    named = header.metadata.get("general.name")
    name = named if isinstance(named, str) and named.strip() else path.stem
    length = header.metadata.get(f"{header.metadata.get('general.architecture')}.context_length")
    most = length if isinstance(length, int) and length > 0 else LEARNS["seq_len"]
    fields = {**WRITES, "input_tokens": min(WRITES["input_tokens"], most)}
    return Workload(
        name=name[:LONGEST_NAME], config=config_of(header), precision=_precision(header), batch_per_gpu=1, kind="llm", **fields
    )


def _precision(header: Header) -> str:
    """Return the format that the header names, else the one nearest to its bytes per value."""
    code = header.metadata.get("general.file_type")
    named = FILE_TYPES.get(code) if isinstance(code, int) else None
    if named in BITS:
        return {"f32": "fp32", "f16": "fp16"}.get(named, named)
    bits = 8 * header.weight_bytes / header.params if header.params else 16.0
    return min((form for form in BITS if form[0] == "q" or form == "fp16"), key=lambda form: abs(BITS[form] - bits))
