"""A model on this computer as fields of a workload: configuration, diffusers folder, safetensors,
GGUF. It reads headers only."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec

from rigplanner.decoding import JsonFault, read_tree
from rigplanner.errors import WorkloadFault
from rigplanner.networks.config.headers import SAFETENSORS_BITS, Header, config_of, read_header
from rigplanner.networks.families.diffusion.denoisers import denoiser_config
from rigplanner.whole_file import read_within
from rigplanner.workload.pipelines import pipeline_fields
from rigplanner.workload.stored import stored_as

LARGEST_CONFIG, LARGEST_INDEX = 16 * 2**20, 64 * 2**20
"""Bytes; larger files are no configuration and no index."""
MOST_SHARDS = 4_096
FILE_TYPES = {
    0: "f32",
    1: "f16",
    2: "q4_0",
    3: "q4_1",
    7: "q8_0",
    8: "q5_0",
    9: "q5_1",
    10: "q2_k",
    11: "q3_k_s",
    12: "q3_k_m",
    13: "q3_k_l",
    14: "q4_k_s",
    15: "q4_k_m",
    16: "q5_k_s",
    17: "q5_k_m",
    18: "q6_k",
    19: "iq2_xxs",
    20: "iq2_xs",
    21: "q2_k_s",
    22: "iq3_xs",
    23: "iq3_xxs",
    24: "iq1_s",
    25: "iq4_nl",
    26: "iq3_s",
    27: "iq3_m",
    28: "iq2_s",
    29: "iq2_m",
    30: "iq4_xs",
    31: "iq1_m",
    32: "bf16",
    36: "tq1_0",
    37: "tq2_0",
}
"""general.file_type of a GGUF file (llama.cpp, llama_ftype)."""
PART = re.compile(r"(?P<stem>.+)-(?P<at>\d{5})-of-(?P<parts>\d{5})\.(gguf|safetensors)$")
"""A file that holds a part of a model's weights, as llama-gguf-split and Hugging Face name them."""
UNREAD = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".h5", ".onnx", ".msgpack", ".engine")
"""Weights that only the libraries that wrote them can read safely."""
ADAPTER, PROJECTOR = "adapter_config.json", "mmproj"


def model_fields(path: Path) -> dict[str, Any]:
    """The fields of a workload that a model on disk decides. `path`: a folder, config.json,
    model_index.json, *.safetensors.index.json, *.safetensors or *.gguf. Raises WorkloadFault naming
    the file and what is wrong with it."""
    if path.is_dir():
        return _folder(path)
    if not path.is_file():
        raise WorkloadFault(f"{path}: no such file or folder.")
    if path.name == "model_index.json":
        return pipeline_fields(
            path.parent, read_json(path, LARGEST_CONFIG), component_size, component_config
        )
    if path.suffix.casefold() in UNREAD:
        raise WorkloadFault(
            f"{path}: expected a GGUF or safetensors file; this format is not read, name the"
            " model's config.json."
        )
    if (path.parent / ADAPTER).is_file() and not (path.parent / "config.json").is_file():
        raise _adapter(path.parent / ADAPTER)
    if path.name.endswith(".index.json"):
        return _weights(path.parent, *indexed(path))
    if path.suffix == ".json":
        config = read_json(path, LARGEST_CONFIG)
        return {
            "config": _component(path, config),
            "model": path.resolve().parent.name or path.stem,
            **stored_as(config),
        }
    headers = [read_header(part) for part in _parts(path)]
    params, stored = (
        sum(header.params for header in headers),
        sum(header.weight_bytes for header in headers),
    )
    if headers[0].format == "gguf":
        return gguf_fields(
            msgspec.structs.replace(headers[0], params=params, weight_bytes=stored), path.stem
        )
    return _weights(path.parent, params, stored)


def _component(path: Path, config: dict[str, Any]) -> dict[str, Any]:
    """The configuration, or what a diffusers component says of a denoiser; raises WorkloadFault for
    a class that is not traced."""
    if config.get("model_type") or not config.get("_class_name"):
        return config
    denoiser = denoiser_config(config)
    if denoiser is None:
        raise WorkloadFault(
            f"{path}: _class_name: the layers of {str(config['_class_name'])[:60]!r} are not known;"
            " name the pipeline's model_index.json with the weights beside it."
        )
    return {
        "model_type": "unet" if denoiser["model_type"] == "unet_2d_condition" else "dit",
        "denoiser": denoiser,
    }


def _parts(path: Path) -> list[Path]:
    """The file, or all files whose parts make one model with it."""
    split = PART.fullmatch(path.name)
    if split is None:
        return [path]
    count = int(split["parts"])
    if not 1 <= count <= MOST_SHARDS:
        raise WorkloadFault(f"{path}: expected at most {MOST_SHARDS} parts, found {count}.")
    parts = [
        path.with_name(f"{split['stem']}-{at:05d}-of-{count:05d}{path.suffix}")
        for at in range(1, count + 1)
    ]
    missing = next((part for part in parts if not part.is_file()), None)
    if missing is not None:
        raise WorkloadFault(
            f"{path}: expected all {count} parts of the model beside it, found no {missing.name}."
        )
    return parts


def _adapter(path: Path) -> WorkloadFault:
    """Why the weights of an adapter alone are no model."""
    base = str(read_json(path, LARGEST_CONFIG).get("base_model_name_or_path"))[:80]
    return WorkloadFault(
        f"{path.parent}: expected a model, found an adapter of {base!r}; name that model."
    )


def _folder(folder: Path) -> dict[str, Any]:
    if (folder / "model_index.json").is_file():
        return model_fields(folder / "model_index.json")
    indexes = sorted(folder.glob("*.index.json"))[:1]
    if indexes:
        return model_fields(indexes[0])
    if (folder / "config.json").is_file():
        return model_fields(folder / "config.json")
    if (folder / ADAPTER).is_file():
        raise _adapter(folder / ADAPTER)
    for pattern in ("*.gguf", "*.safetensors"):
        if found := sorted(
            one for one in folder.glob(pattern) if not one.name.startswith(PROJECTOR)
        ):
            return model_fields(_only(folder, found) if pattern == "*.gguf" else found[0])
    raise WorkloadFault(
        f"{folder}: expected model_index.json, config.json, *.gguf or *.safetensors in the folder,"
        " found none."
    )


def _only(folder: Path, found: list[Path]) -> Path:
    """The one model among GGUF files: the parts of one count once."""
    models = sorted(
        {split["stem"] if (split := PART.fullmatch(file.name)) else file.name for file in found}
    )
    if len(models) > 1:
        raise WorkloadFault(
            f"{folder}: expected one GGUF model, found {', '.join(models[:4])}; name one of them."
        )
    return found[0]


def _weights(folder: Path, params: int, weight_bytes: int) -> dict[str, Any]:
    """Weights with the configuration that lies beside them; without one their number alone. What is
    quantised is loaded as it is stored."""
    if not params:
        raise WorkloadFault(f"{folder}: expected weights, found a file without tensors.")
    if (folder / "config.json").is_file():
        config = read_json(folder / "config.json", LARGEST_CONFIG)
        stored = stored_as(config)
        held = {"weights_gib": weight_bytes / 2**30} if stored else {}
        return {"config": config, "model": folder.resolve().name, **stored, **held}
    return {"model": folder.resolve().name, "params_b": params / 1e9, "kind": "llm"}


def gguf_fields(header: Header, name: str) -> dict[str, Any]:
    """The workload of a GGUF file: its configuration, its type, its own weight bytes."""
    config = config_of(header)
    kind = header.metadata.get("general.file_type")
    precision = FILE_TYPES.get(kind) if isinstance(kind, int) else None
    bits = 8 * header.weight_bytes / max(1, header.params)
    return {
        "config": config,
        "model": name,
        "precision": precision or ("f16" if bits > 12 else "q8_0" if bits > 7 else "q4_k_m"),
        "weights_gib": header.weight_bytes / 2**30,
        "stack": "llama.cpp",
    }


def read_json(path: Path, most: int) -> dict[str, Any]:
    """The object in a JSON file; raises WorkloadFault when it is too large, unreadable or no
    object."""
    try:
        read = read_tree(read_within(path, most))
    except OSError as fault:
        raise WorkloadFault(f"{path}: cannot be read ({fault.strerror}).") from fault
    except JsonFault as fault:
        raise WorkloadFault(f"{path}: not JSON ({fault}).") from fault
    if not isinstance(read, dict):
        raise WorkloadFault(f"{path}: expected an object, found {type(read).__name__}.")
    return read


def indexed(path: Path) -> tuple[int, int]:
    """Parameters and bytes of weights in shards: of the shards that are here, else by the total
    that the index names and 16 bits a value. Shards are looked for beside the index only."""
    index = read_json(path, LARGEST_INDEX)
    shards, total = index.get("weight_map"), index.get("metadata")
    if not isinstance(shards, dict) or not all(isinstance(name, str) for name in shards.values()):
        raise WorkloadFault(
            f"{path}: weight_map: expected names of files by tensor, found {str(shards)[:60]}."
        )
    names = sorted(set(shards.values()))
    if len(names) > MOST_SHARDS or any(Path(name).name != name for name in names):
        raise WorkloadFault(
            f"{path}: weight_map: expected at most {MOST_SHARDS} files beside the index, found"
            f" {str(names[:1])[:60]}."
        )
    files = [path.parent / name for name in names]
    if files and all(file.is_file() for file in files):
        headers = [read_header(file) for file in files]
        return sum(header.params for header in headers), sum(
            header.weight_bytes for header in headers
        )
    size = total.get("total_size") if isinstance(total, dict) else None
    if not isinstance(size, int | float) or isinstance(size, bool) or not 0 < size < 1e15:
        raise WorkloadFault(
            f"{path}: metadata.total_size: expected the bytes of all weights, found"
            f" {str(size)[:40]}."
        )
    return int(size * 8 / SAFETENSORS_BITS["BF16"]), int(size)


def component_size(folder: Path) -> int | None:
    """Parameters of a component by its weights; None where they are not here."""
    indexes = sorted(folder.glob("*.safetensors.index.json"))
    if indexes:
        return indexed(indexes[0])[0]
    files = sorted(folder.glob("*.safetensors"))
    return read_header(files[0]).params if files else None


def component_config(folder: Path) -> dict[str, Any] | None:
    """The configuration of a component, or None where there is none."""
    path = folder / "config.json"
    return read_json(path, LARGEST_CONFIG) if path.is_file() else None
