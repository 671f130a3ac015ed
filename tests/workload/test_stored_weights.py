"""What a checkpoint says of its stored weights, files in parts, and files that are no model."""

import json
import struct
from pathlib import Path
from typing import Any

import pytest

from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.memory.estimate import estimate_memory
from rigplanner.networks.config.headers import read_header
from rigplanner.rig.workload import Workload, changed
from rigplanner.workload.quant import usual_type
from rigplanner.workload.readers import model_fields
from rigplanner.workload.stored import stored_as

LLAMA = {
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
}
GROUP = {"config_groups": {"group_0": {"weights": {"num_bits": 4, "type": "int"}}}}


def floats(bits: int) -> dict[str, Any]:
    return {"config_groups": {"group_0": {"weights": {"num_bits": bits, "type": "float"}}}}


@pytest.mark.parametrize(
    ("told", "precision", "quant"),
    [
        ({"quant_method": "awq", "bits": 4, "group_size": 128}, "int4", "awq"),
        ({"quant_method": "gptq", "bits": 8}, "int8", "gptq"),
        ({"quant_method": "intel/auto-round", "bits": 4}, "int4", "autoround"),
        ({"quant_method": "fp8", "weight_block_size": [128, 128]}, "fp8", None),
        ({"quant_method": "mxfp4"}, "mxfp4", None),
        (
            {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4"},
            "nf4",
            "bnb",
        ),
        (
            {"load_in_4bit": True, "bnb_4bit_quant_type": "nf4", "bnb_4bit_use_double_quant": True},
            "nf4",
            "bnb_double",
        ),
        ({"quant_method": "bitsandbytes", "load_in_8bit": True}, "int8", "bnb"),
        ({"quant_method": "compressed-tensors", **GROUP}, "int4", None),
        ({"quant_method": "compressed-tensors", **floats(8)}, "fp8", None),
        ({"quant_method": "compressed-tensors", **floats(4)}, "nvfp4", None),
        ({"quant_method": "modelopt", "quant_algo": "NVFP4"}, "nvfp4", None),
        ({"quant_method": "modelopt", "quant_algo": "W4A16_AWQ"}, "int4", None),
        ({"quant_method": "torchao", "quant_type": "int4_weight_only"}, "int4", "torchao"),
        ({"quant_method": "quanto", "weights": "float8"}, "fp8", None),
        (
            {"quant_method": "hqq", "quant_config": {"weight_quant_params": {"nbits": 4}}},
            "int4",
            "hqq",
        ),
    ],
)
def test_a_configuration_names_its_quantisation(
    told: dict[str, Any], precision: str, quant: str | None
) -> None:
    expected = {"precision": precision} | ({"quant": quant} if quant else {})
    assert stored_as({**LLAMA, "quantization_config": told}) == expected
    assert stored_as({"text_config": {"quantization_config": told}}) == expected
    work = Workload(config={**LLAMA, "quantization_config": told}, task="inference", **expected)
    assert estimate_memory(work, None, 1, shipped_zoo()).parts.weights_gib < 10


def test_an_mlx_configuration_names_its_bits() -> None:
    assert stored_as({**LLAMA, "quantization": {"group_size": 64, "bits": 4}}) == {
        "precision": "int4",
        "quant": "mlx",
    }
    assert stored_as(LLAMA) == {}


@pytest.mark.parametrize(
    "told",
    [
        [],
        "awq",
        4,
        {},
        {"quant_method": None},
        {"quant_method": "magic"},
        {"quant_method": "gptq"},
        {"quant_method": "gptq", "bits": "4"},
        {"quant_method": "gptq", "bits": True},
        {"quant_method": "gptq", "bits": 3},
        {"quant_method": "gptq", "bits": 10**9},
        {"quant_method": "compressed-tensors"},
        {"quant_method": "hqq", "quant_config": []},
        {
            "quant_method": "compressed-tensors",
            "config_groups": {"g": {"weights": {"num_bits": None}}},
        },
        {"quant_method": "torchao", "quant_type": {"a": 1}},
        {"quant_method": "quanto"},
    ],
)
def test_a_quantisation_of_unknown_bytes_is_refused_by_its_field(told: object) -> None:
    with pytest.raises(WorkloadFault, match=r"^quantization"):
        stored_as({"quantization_config": told})


def _safetensors(path: Path, count: int) -> Path:
    header = json.dumps(
        {"w": {"dtype": "I32", "shape": [count], "data_offsets": [0, 4 * count]}}
    ).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + b"\0" * (4 * count))
    return path


def _gguf(path: Path, entries: dict[str, str], tensors: int) -> Path:
    def text(word: str) -> bytes:
        return struct.pack("<Q", len(word)) + word.encode()

    body = b"GGUF" + struct.pack("<IQQ", 3, tensors, len(entries))
    for name, value in entries.items():
        body += text(name) + struct.pack("<I", 8) + text(value)
    for at in range(tensors):
        body += text(f"t{at}") + struct.pack("<IQIQ", 1, 3200, 0, 0)
    path.write_bytes(body + bytes(4 * 3200 * tensors))
    return path


def test_quantised_weights_are_loaded_as_they_are_stored(tmp_path: Path) -> None:
    config = {**LLAMA, "quantization_config": {"quant_method": "awq", "bits": 4}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    _safetensors(tmp_path / "model.safetensors", 1 << 18)
    fields = model_fields(tmp_path / "model.safetensors")
    assert fields["weights_gib"] == pytest.approx(2**-10) and fields["precision"] == "int4"
    (tmp_path / "config.json").write_text(json.dumps(LLAMA))
    assert "weights_gib" not in model_fields(tmp_path / "model.safetensors")


def test_the_parts_of_a_model_are_read_together(tmp_path: Path) -> None:
    for at in (1, 2):
        _safetensors(tmp_path / f"model-{at:05d}-of-00002.safetensors", 500)
    assert model_fields(tmp_path)["params_b"] == pytest.approx(1e-6)
    (tmp_path / "model-00002-of-00002.safetensors").unlink()
    with pytest.raises(WorkloadFault, match="no model-00002-of-00002"):
        model_fields(tmp_path)


def test_a_gguf_in_parts_counts_all_of_them_whichever_is_named(tmp_path: Path) -> None:
    kind = {"general.architecture": "llama"}
    _gguf(tmp_path / "m-00001-of-00003.gguf", kind, 0)
    second = _gguf(tmp_path / "m-00002-of-00003.gguf", {}, 2)
    _gguf(tmp_path / "m-00003-of-00003.gguf", {}, 1)
    whole = 3 * 4 * 3200 / 2**30
    assert (
        model_fields(tmp_path)["weights_gib"]
        == model_fields(second)["weights_gib"]
        == pytest.approx(whole)
    )


def test_a_folder_of_several_gguf_models_is_refused_and_a_projector_is_none(tmp_path: Path) -> None:
    kind = {"general.architecture": "llama"}
    _gguf(tmp_path / "a-Q4_K_M.gguf", kind, 1)
    _gguf(tmp_path / "mmproj-f16.gguf", {"general.architecture": "clip"}, 1)
    assert model_fields(tmp_path)["model"] == "a-Q4_K_M"
    _gguf(tmp_path / "a-Q8_0.gguf", kind, 1)
    with pytest.raises(
        WorkloadFault, match=r"expected one GGUF model, found a-Q4_K_M.gguf, a-Q8_0.gguf"
    ):
        model_fields(tmp_path)


def test_an_adapter_names_its_base(tmp_path: Path) -> None:
    (tmp_path / "adapter_config.json").write_text(
        json.dumps({"base_model_name_or_path": "meta-llama/Llama-3.1-8B"})
    )
    weights = _safetensors(tmp_path / "adapter_model.safetensors", 100)
    for path in (tmp_path, weights, tmp_path / "adapter_config.json"):
        with pytest.raises(WorkloadFault, match=r"adapter of 'meta-llama/Llama-3.1-8B'"):
            model_fields(path)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.gguf", b"\x07" * 400, "letters GGUF"),
        ("a.safetensors", b"", "found 0 bytes"),
        ("a.bin", b"PK", "not read"),
    ],
)
def test_damaged_and_foreign_files_are_told_as_such(
    tmp_path: Path, name: str, content: bytes, words: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(WorkloadFault, match=words):
        model_fields(path)


def test_a_file_without_tensors_is_no_model(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    path.write_bytes(struct.pack("<Q", 2) + b"{}")
    assert read_header(path).params == 0
    with pytest.raises(WorkloadFault, match="without tensors"):
        model_fields(path)


def test_stored_bytes_hold_for_their_precision_only() -> None:
    work = Workload(
        model="llama-3.1-8b", precision="q8_0", weights_gib=8.0, stack="llama.cpp", task="inference"
    )
    assert changed(work, {"batch_per_gpu": 2}).weights_gib == 8.0
    assert changed(work, {"precision": "q4_k_m"}).weights_gib is None
    assert changed(work, {"precision": "q4_k_m", "weights_gib": 4.5}).weights_gib == 4.5


def test_adapters_on_a_quantised_base_are_qlora() -> None:
    told = Workload(model="llama-3.1-8b", task="train_lora", precision="nf4")
    plain = Workload(model="llama-3.1-8b", task="train_qlora", precision="nf4")
    found, meant = (estimate_memory(work, None, 1, shipped_zoo()) for work in (told, plain))
    assert found.device_gib == meant.device_gib and found.assumed["task"] == "train_qlora"
    whole = estimate_memory(
        Workload(model="llama-3.1-8b", task="train_full", precision="int4"), None, 1, shipped_zoo()
    )
    assert whole.assumed["precision"] == "bf16"


@pytest.mark.parametrize(
    ("quant", "stored"),
    [
        ("gptq", "int4"),
        ("GPTQ", "int4"),
        ("awq_marlin", "int4"),
        ("auto-round", "int4"),
        ("w4a16", "int4"),
        ("gptq-int8", "int8"),
        ("gptq-8bit", "int8"),
        ("awq 4-bit", "int4"),
        ("w8a8", "int8"),
        ("bitsandbytes", "nf4"),
        ("bnb_4bit", "nf4"),
        ("bnb-int8", "int8"),
        ("fp8_dynamic", "fp8"),
        ("gptq-3bit", None),
        ("gguf", None),
        ("compressed-tensors", None),
        (None, None),
    ],
)
def test_a_way_of_quantising_tells_the_width_of_weights(
    quant: str | None, stored: str | None
) -> None:
    assert usual_type(quant) == stored


@pytest.mark.parametrize("arithmetic", ["fp16", "bf16", "fp32", None])
@pytest.mark.parametrize(
    ("quant", "stored"), [("gptq", "int4"), ("awq", "int4"), ("bnb", "nf4"), ("w8a8", "int8")]
)
def test_a_precision_beside_quantised_weights_is_that_of_the_arithmetic(
    arithmetic: str | None, quant: str, stored: str
) -> None:
    """Llama 2 7B in GPTQ of groups of 128 is a file of 3.90 GB."""
    work = Workload(
        model="llama-2-7b", task="inference", stack="vllm", quant=quant, precision=arithmetic
    )
    found, told = (
        estimate_memory(job, None, 1, shipped_zoo())
        for job in (work, changed(work, {"precision": stored}))
    )
    assert found.parts == told.parts and found.assumed["precision"] == stored
    if stored == "int4":
        assert found.parts.weights_gib * 2**30 == pytest.approx(3.90e9, rel=0.03)


def test_types_told_and_weights_that_train_stay() -> None:
    told = Workload(model="llama-2-7b", task="inference", precision="int8", quant="gptq")
    assert "precision" not in estimate_memory(told, None, 1, shipped_zoo()).assumed
    whole = Workload(
        model="llama-2-7b",
        task="train_full",
        precision="bf16",
        quant="gptq",
        batch_per_gpu=1,
        seq_len=512,
    )
    plain = changed(whole, {"quant": None})
    assert (
        estimate_memory(whole, None, 1, shipped_zoo()).parts
        == estimate_memory(plain, None, 1, shipped_zoo()).parts
    )


def test_a_way_without_a_width_is_told() -> None:
    work = Workload(
        model="llama-2-7b", task="inference", precision="fp16", quant="compressed-tensors"
    )
    assert (
        estimate_memory(work, None, 1, shipped_zoo()).assumed["quant_ignored"]
        == "compressed-tensors"
    )


@pytest.mark.parametrize("precision", ["fp16", None, "int4"])
def test_a_configuration_that_says_how_weights_are_stored_is_heard(precision: str | None) -> None:
    config = {**LLAMA, "quantization_config": {"quant_method": "gptq", "bits": 4}}
    work = Workload(config=config, task="inference", stack="vllm", precision=precision)
    meant = Workload(config=LLAMA, task="inference", stack="vllm", precision="int4", quant="gptq")
    assert estimate_memory(work, None, 1, None).parts == estimate_memory(meant, None, 1, None).parts


def test_a_configuration_tells_more_than_the_way_of_quantising() -> None:
    config = {**LLAMA, "quantization_config": {"quant_method": "gptq", "bits": 8}}
    work = Workload(config=config, task="inference", stack="vllm", precision="fp16", quant="gptq")
    assert estimate_memory(work, None, 1, None).assumed["precision"] == "int8"
