"""Workloads from files of models on this computer."""

import json
import struct
from pathlib import Path

import pytest

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.machine.assemble import assemble
from rigplanner.memory.estimate import estimate_memory
from rigplanner.planning.model_files import workload_of_file
from rigplanner.planning.presets import (
    ENCODER,
    IMAGE,
    OTHER,
    PICTURES,
    TEXT,
    preset_fields,
    presets,
)
from rigplanner.rig.files import read_rig
from rigplanner.rig.workload import Workload

LLAMA = {
    "model_type": "llama",
    "hidden_size": 2048,
    "num_hidden_layers": 16,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 8192,
    "vocab_size": 128256,
}


def gguf(path: Path, file_type: int) -> Path:
    """Write a small Llama with the header of one tensor and its values."""

    def text(word: str) -> bytes:
        return struct.pack("<Q", len(word)) + word.encode()

    keys = [("general.architecture", "llama"), ("general.name", "Small Llama")]
    numbers = [
        ("llama.block_count", 16),
        ("llama.embedding_length", 2048),
        ("llama.feed_forward_length", 8192),
        ("llama.attention.head_count", 32),
        ("llama.attention.head_count_kv", 8),
        ("llama.vocab_size", 128256),
        ("llama.context_length", 512),
        ("general.file_type", file_type),
    ]
    body = b"".join(text(key) + struct.pack("<I", 8) + text(value) for key, value in keys)
    body += b"".join(text(key) + struct.pack("<II", 4, value) for key, value in numbers)
    body += text("w") + struct.pack("<IQIQ", 1, 1 << 16, 0, 0) + bytes(4 << 16)
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 1, len(keys) + len(numbers)) + body)
    return path


def safetensors(path: Path) -> Path:
    header = json.dumps({"w": {"dtype": "F16", "shape": [2, 2], "data_offsets": [0, 8]}}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + bytes(8))
    return path


def test_a_configuration_becomes_a_training_named_by_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "my-llama"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(LLAMA))
    work = workload_of_file(folder / "config.json")
    assert work.name == "my-llama"
    assert work.task == "train_lora"
    assert estimate_memory(work, None, 1, shipped_zoo()).device_gib > 1


@pytest.mark.parametrize(("code", "precision"), [(15, "q4_k_m"), (7, "q8_0"), (1, "f16")])
def test_a_gguf_tells_architecture_name_and_format(
    tmp_path: Path, code: int, precision: str
) -> None:
    work = workload_of_file(gguf(tmp_path / "small.gguf", code))
    assert (work.name, work.precision, work.input_tokens) == ("small", precision, 512)
    assert work.config and work.config["num_hidden_layers"] == 16
    assert estimate_memory(work, None, 1, shipped_zoo()).parts.weights_gib > 0


def test_safetensors_take_the_configuration_beside_them(tmp_path: Path) -> None:
    path = safetensors(tmp_path / "model.safetensors")
    alone = workload_of_file(path)
    assert alone.params_b == pytest.approx(4e-9)
    (tmp_path / "config.json").write_text(json.dumps(LLAMA))
    config = workload_of_file(path).config
    assert config and config["model_type"] == "llama"
    assert workload_of_file(tmp_path).config == config


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("config.json", b"{"),
        ("config.json", b"[1]"),
        ("config.json", b"\xff"),
        ("config.json", b"{}"),
        ("config.json", b'{"a": ' + b"[" * 100_000),
        ("x.gguf", b"GGUF"),
        ("x.safetensors", b"\xff" * 9),
        ("x.bin", b""),
    ],
)
def test_a_file_that_is_no_model_is_named(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(WorkloadFault, match=name.replace(".", r"\.")):
        workload_of_file(tmp_path / name)


def test_a_file_that_went_away_is_named(tmp_path: Path) -> None:
    with pytest.raises(WorkloadFault, match=r"gone.*no such file"):
        workload_of_file(tmp_path / "gone" / "config.json")


def test_each_kind_of_model_has_its_starting_points() -> None:
    assert presets("llm") is TEXT
    assert presets(None) is TEXT
    assert presets("encoder") is ENCODER
    assert presets("cnn") is IMAGE
    assert presets("diffusion_unet") is PICTURES
    assert presets("asr") is OTHER


def test_a_starting_point_asks_of_old_cards_what_they_can(
    samples: list[Path], catalog: Catalog
) -> None:
    rigs = {path.stem: read_rig(path) for path in samples}
    lora = TEXT[1]
    pascal = preset_fields(lora, assemble(rigs["titan-x-server"], catalog))
    assert (pascal["attention"], pascal["precision"]) == ("sdpa", "fp16")
    ada = preset_fields(lora, assemble(rigs["quad-rtx-4090"], catalog))
    assert (ada["attention"], ada["precision"]) == ("flash", "bf16")


@pytest.mark.parametrize("slug", ["llama-3.1-8b", "resnet50", "bert-base-uncased"])
def test_every_starting_point_of_a_model_can_be_computed(slug: str) -> None:
    model = shipped_zoo().get(slug)
    assert model
    for preset in presets(model.kind):
        work = Workload(model=model.slug, **preset_fields(preset, None))
        assert estimate_memory(work, None, 1, shipped_zoo()).device_gib > 0, preset.code
