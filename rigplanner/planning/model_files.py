"""A workload from a file of a model on this computer: what the file decides, and a task to begin
with."""

import re
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from rigplanner.errors import WorkloadFault
from rigplanner.planning.presets import PICTURES, TEXT, WRITES
from rigplanner.rig.workload import Workload
from rigplanner.workload.readers import model_fields

LONGEST_NAME = 80
MOST_FILES = 2_000
_LATER_PART = re.compile(r"-(?!00001)\d{5}-of-\d{5}\.")
SUFFIXES = (".json", ".gguf", ".safetensors")


def workload_of_file(path: Path) -> Workload:
    """Return the workload that a file or folder begins: answering for a GGUF, pictures for a
    diffusion pipeline, LoRA for the rest. Raises WorkloadFault naming the file."""
    if not path.is_dir() and path.suffix.casefold() not in SUFFIXES:
        raise WorkloadFault(
            f"{path.name}: expected config.json, model_index.json, a GGUF or a safetensors file."
        )
    fields = model_fields(path)
    config = fields.get("config")
    if (
        config is not None
        and not isinstance(config.get("model_type"), str)
        and not fields.get("kind")
    ):
        raise WorkloadFault(
            f"{path.name}: expected model_type, the name of an architecture such as 'llama'; found"
            " none."
        )
    name = _name(path, fields)
    known = {key: value for key, value in fields.items() if key != "model"}
    return replace(Workload(**{**_begun(fields), **known}), name=name[:LONGEST_NAME])


def works_of_folder(folder: Path) -> tuple[list[Workload], list[str]]:
    """Return a workload for each model in a folder: GGUF and safetensors files, and sub-folders
    with a config.json or model_index.json (the folder itself where it is one); and a sentence on
    each that cannot be read. Parts of a split GGUF count as one."""
    works: list[Workload] = []
    faults: list[str] = []
    for path in _models_in(folder):
        try:
            works.append(workload_of_file(path))
        except WorkloadFault as fault:
            faults.append(str(fault))
    return works, faults


def _models_in(folder: Path) -> list[Path]:
    if _is_model(folder):
        return [folder]
    found = []
    for path in sorted(folder.iterdir())[:MOST_FILES]:
        if path.is_dir():
            found += [path] if _is_model(path) else []
        elif path.suffix.casefold() in (".gguf", ".safetensors") and not _LATER_PART.search(
            path.name
        ):
            found.append(path)
    return found


def _is_model(folder: Path) -> bool:
    return any((folder / name).is_file() for name in ("config.json", "model_index.json"))


def _begun(fields: dict[str, Any]) -> dict[str, Any]:
    """The settings of the task that such a model begins with."""
    if fields.get("stack") == "llama.cpp":
        most = (fields.get("config") or {}).get("max_position_embeddings") or WRITES["input_tokens"]
        return {
            "batch_per_gpu": 1,
            "kind": "llm",
            **WRITES,
            "input_tokens": min(WRITES["input_tokens"], most),
        }
    return dict(
        PICTURES[0].fields
        if str(fields.get("kind", "")).startswith("diffusion")
        else TEXT[1].fields
    )


def _name(path: Path, fields: dict[str, Any]) -> str:
    stated = (fields.get("config") or {}).get("_name_or_path")
    return str(stated or fields.get("model") or path.stem).rpartition("/")[2] or path.stem
