"""Models on disk as workloads, honest and hostile."""

import json
import struct
from pathlib import Path
from typing import Any

import pytest

from rigplanner.catalog.zoo import Zoo, shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.memory.estimate import estimate_memory
from rigplanner.rig.workload import Workload
from rigplanner.workload.network import resolve
from rigplanner.workload.readers import model_fields

LLAMA = {
    "model_type": "llama",
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "vocab_size": 500,
}
FLUX = {
    "_class_name": "FluxTransformer2DModel",
    "num_layers": 19,
    "num_single_layers": 38,
    "num_attention_heads": 24,
    "attention_head_dim": 128,
    "joint_attention_dim": 4096,
}
CLIP = {
    "model_type": "clip_text_model",
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "intermediate_size": 3072,
    "vocab_size": 49408,
}
T5 = {
    "model_type": "t5",
    "d_model": 4096,
    "num_layers": 24,
    "num_heads": 64,
    "d_kv": 64,
    "d_ff": 10240,
    "vocab_size": 32128,
    "feed_forward_proj": "gated-gelu",
}


@pytest.fixture(scope="module")
def zoo() -> Zoo:
    return shipped_zoo()


def write(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))
    return path


def weights(path: Path, count: int) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    header = json.dumps(
        {"w": {"dtype": "BF16", "shape": [count], "data_offsets": [0, 2 * count]}}
    ).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + b"\0" * (2 * count))
    return path


def flux(folder: Path) -> Path:
    index = {
        "_class_name": "FluxPipeline",
        "_diffusers_version": "0.35",
        "transformer": ["diffusers", "FluxTransformer2DModel"],
        "text_encoder": ["transformers", "CLIPTextModel"],
        "text_encoder_2": ["transformers", "T5EncoderModel"],
        "tokenizer": ["transformers", "CLIPTokenizer"],
        "scheduler": ["diffusers", "FlowMatchEulerDiscreteScheduler"],
        "vae": ["diffusers", "AutoencoderKL"],
        "safety_checker": [None, None],
    }
    write(folder / "model_index.json", index)
    write(folder / "transformer" / "config.json", FLUX)
    write(folder / "text_encoder" / "config.json", CLIP)
    write(folder / "text_encoder_2" / "config.json", T5)
    return folder


def test_a_configuration_and_its_folder_say_the_same(tmp_path: Path, zoo: Zoo) -> None:
    file = write(tmp_path / "net" / "config.json", LLAMA)
    for path in (file, file.parent):
        fields = model_fields(path)
        assert fields["config"] == LLAMA and fields["model"] == "net"
    assert resolve(Workload(**model_fields(file)), zoo).layers == 2


def test_a_pipeline_is_denoiser_encoders_and_decoder(tmp_path: Path, zoo: Zoo) -> None:
    fields = model_fields(flux(tmp_path / "flux"))
    known = zoo.get("flux.1-dev")
    assert known is not None and known.params_m is not None
    assert fields["params_m"] == pytest.approx(known.params_m, rel=0.02)
    assert fields["components"]["text_encoder"] == pytest.approx(123, rel=0.02)
    assert fields["components"]["text_encoder_2"] == pytest.approx(4762, rel=0.02)
    read, shipped = (
        estimate_memory(
            Workload(**work, task="inference", precision="bf16"), None, 1, zoo
        ).tensors_gib
        for work in (fields, {"model": "flux.1-dev", "stack": "diffusers"})
    )
    assert read == pytest.approx(shipped, rel=0.03)


def test_weights_of_a_component_count_before_its_formula(tmp_path: Path) -> None:
    folder = flux(tmp_path / "flux")
    weights(folder / "vae" / "diffusion_pytorch_model.safetensors", 1000)
    assert model_fields(folder)["components"]["vae"] == pytest.approx(0.001)


def test_shards_are_read_where_they_lie_and_reckoned_where_not(tmp_path: Path) -> None:
    index = {
        "metadata": {"total_size": 8_000_000_000},
        "weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"},
    }
    file = write(tmp_path / "model.safetensors.index.json", index)
    assert model_fields(file)["params_b"] == pytest.approx(4.0)
    for name in ("model-1.safetensors", "model-2.safetensors"):
        weights(tmp_path / name, 600)
    assert model_fields(file)["params_b"] == pytest.approx(1200 / 1e9)
    write(tmp_path / "config.json", LLAMA)
    assert model_fields(file)["config"] == LLAMA
    assert model_fields(tmp_path / "model-1.safetensors")["config"] == LLAMA


def gguf(path: Path, kind: int) -> Path:
    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value)) + value.encode()

    fields = {
        "llama.block_count": 2,
        "llama.embedding_length": 64,
        "llama.feed_forward_length": 128,
        "llama.attention.head_count": 4,
        "general.file_type": kind,
    }
    data = b"GGUF" + struct.pack("<IQQ", 3, 1, len(fields) + 1)
    data += text("general.architecture") + struct.pack("<I", 8) + text("llama")
    for name, value in fields.items():
        data += text(name) + struct.pack("<II", 4, value)
    data += (
        text("t") + struct.pack("<I", 2) + struct.pack("<2Q", 256, 200) + struct.pack("<IQ", 12, 0)
    )
    path.write_bytes(data + b"\0" * 30_000)
    return path


def test_a_gguf_brings_its_own_bytes(tmp_path: Path, zoo: Zoo) -> None:
    fields = model_fields(gguf(tmp_path / "net.gguf", 15))
    assert fields["precision"] == "q4_k_m" and fields["stack"] == "llama.cpp"
    assert fields["weights_gib"] * 2**30 == 200 * 144
    found = estimate_memory(Workload(**fields, task="inference"), None, 1, zoo)
    assert (found.parts.weights_gib + found.host_gib) * 2**30 == pytest.approx(200 * 144)
    assert model_fields(gguf(tmp_path / "odd.gguf", 999))["precision"] == "q4_k_m"


HOSTILE: list[tuple[str, Any, str]] = [
    ("config.json", [1, 2], "expected an object"),
    ("model_index.json", {"_class_name": "X"}, "expected a transformer or unet"),
    ("model_index.json", {"transformer": ["diffusers", "X"]}, "found neither"),
    (
        "model_index.json",
        {"../../etc": ["a", "b"], "unet": ["diffusers", "UNet2DConditionModel"]},
        "found neither",
    ),
    ("m.safetensors.index.json", {"weight_map": {"a": "../../../etc/passwd"}}, "weight_map"),
    ("m.safetensors.index.json", {"weight_map": {"a": 3}}, "weight_map"),
    (
        "m.safetensors.index.json",
        {"weight_map": {"a": "b.safetensors"}, "metadata": {"total_size": -1}},
        "total_size",
    ),
    (
        "m.safetensors.index.json",
        {"weight_map": {"a": "b.safetensors"}, "metadata": {"total_size": 1e30}},
        "total_size",
    ),
    ("m.safetensors.index.json", {}, "weight_map"),
]


@pytest.mark.parametrize(("name", "value", "said"), HOSTILE)
def test_hostile_files_are_named(tmp_path: Path, name: str, value: object, said: str) -> None:
    with pytest.raises(WorkloadFault, match=said) as fault:
        model_fields(write(tmp_path / name, value))
    assert str(tmp_path) in str(fault.value)


def test_absurd_sizes_of_a_denoiser_are_named(tmp_path: Path) -> None:
    folder = flux(tmp_path / "flux")
    write(folder / "transformer" / "config.json", {**FLUX, "num_layers": 10**9})
    with pytest.raises(WorkloadFault, match="num_layers"):
        model_fields(folder)


def test_deep_nesting_and_missing_files_are_named(tmp_path: Path) -> None:
    deep = tmp_path / "config.json"
    deep.write_text("[" * 100_000 + "]" * 100_000)
    for path, said in (
        (deep, "not JSON"),
        (tmp_path / "no.gguf", "no such file"),
        (tmp_path / "empty", "no such file"),
    ):
        with pytest.raises(WorkloadFault, match=said):
            model_fields(path)
    (tmp_path / "bare").mkdir()
    with pytest.raises(WorkloadFault, match="found none"):
        model_fields(tmp_path / "bare")


def test_an_unknown_family_is_estimated_widely_or_refused(tmp_path: Path, zoo: Zoo) -> None:
    strange = {**LLAMA, "model_type": "newnet"}
    wide = estimate_memory(
        Workload(**model_fields(write(tmp_path / "a" / "config.json", strange))), None, 1, zoo
    )
    plain = estimate_memory(Workload(config=LLAMA), None, 1, zoo)
    assert (
        wide.assumed["architecture"]
        and wide.high_gib / wide.device_gib > plain.high_gib / plain.device_gib
    )
    with pytest.raises(WorkloadFault, match="newnet"):
        resolve(
            Workload(
                **model_fields(write(tmp_path / "b" / "config.json", {"model_type": "newnet"}))
            ),
            zoo,
        )
