"""One model, or the workloads of a rig, asked on the command line: speed in words, and faults that
say what was meant."""

import json
from pathlib import Path
from typing import Any

import pytest

from rigplanner.catalog.load import shipped_catalog
from rigplanner.cli.main import main
from rigplanner.report.format import quantity
from rigplanner.rig.files import read_rig
from rigplanner.rules.assess import assess

LLAMA = [
    "llama-3.1-8b",
    "--gpu",
    "2x RTX 3090",
    "--task",
    "inference",
    "--precision",
    "q4_k_m",
    "--set",
    "stack=llama.cpp",
]


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(list(words)) == 0
    return capsys.readouterr().out


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(list(words)) == 2
    caught = capsys.readouterr()
    assert not caught.out
    return caught.err


def test_the_speed_of_one_model_in_words_is_that_of_its_json(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = said(capsys, "performance", *LLAMA)
    found: dict[str, Any] = json.loads(said(capsys, "performance", *LLAMA, "--format", "json"))
    assert text.startswith(
        f"llama-3.1-8b on 2 × GeForce RTX 3090: {quantity(found['value'], 'tokens/s')}\n"
    )
    for word in (
        "80 % interval",
        "Memory per GPU",
        ": fits.",
        "Limited by",
        "first token",
        "Software: llama.cpp",
        "Measured: ",
    ):
        assert word in text
    assert "{" not in text and "None" not in text
    assert "modelled" not in text and "modelled = " in said(
        capsys, "performance", *LLAMA, "--steps"
    )


def test_a_speed_says_when_the_job_does_not_fit(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(
        capsys,
        "performance",
        "llama-3.1-70b",
        "--gpu",
        "RTX 3090",
        "--task",
        "train_qlora",
        "--set",
        "seq_len=512",
    )
    assert "does not fit." in text


def test_a_rig_answers_for_its_workloads_as_the_window_does(
    samples: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    catalog = shipped_catalog()
    path = next(path for path in samples if read_rig(path).workloads)
    jobs = assess(read_rig(path), catalog).jobs
    text = said(capsys, "performance", str(path))
    for job in jobs:
        assert job.speed is None or quantity(job.speed.value, job.speed.metric) in text
    assert said(capsys, "memory", str(path)).count("nvidia-smi shows") == len(jobs)


def test_a_model_runs_on_the_cards_of_a_rig(
    samples: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    path = next(path for path in samples if read_rig(path).workloads)
    text = said(capsys, "performance", "resnet-50", "--task", "train", "--rig", str(path))
    assert " on " in text and "images/s" in text
    assert "leave --gpu away" in refused(
        capsys, "performance", "resnet-50", "--gpu", "RTX 3090", "--rig", str(path)
    )


def test_a_rig_without_workloads_says_how_to_name_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bare.rig"
    assert main(["new", "RTX 3090", "-o", str(path)]) == 0
    capsys.readouterr()
    assert f"--rig {path}" in refused(capsys, "performance", str(path))


@pytest.mark.parametrize("command", ["memory", "performance"])
def test_a_misspelt_gpu_is_refused_with_the_nearest(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = refused(capsys, command, "llama-3.1-8b", "--gpu", "RTX 4009")
    assert "--gpu" in text and "RTX 4009" in text and "GeForce RTX 4090" in text


def test_speed_without_gpus_asks_for_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert "--gpu NAME" in refused(capsys, "performance", "llama-3.1-8b")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("batches=4", ("'batches'", "batch_per_gpu")),
        ("batch_per_gpu=abc", ("batch_per_gpu", "a whole number", "'abc'")),
        ("stack=vlm", ("'vlm'", "vllm")),
        ("parallelism.tensro=2", ("'tensro'", "parallelism.tensor")),
        ("parallelism.tensor=two", ("parallelism.tensor", "a whole number", "'two'")),
    ],
)
def test_a_field_that_is_none_says_what_was_meant(
    given: str, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    text = refused(capsys, "memory", "llama-3.1-8b", "--gpu", "RTX 4090", "--set", given)
    assert all(word in text for word in words), text
    assert "`" not in text and "$" not in text


def test_an_architecture_that_is_not_known_is_said_to_be_counted_as_its_relative(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shape = {
        "hidden_size": 1024,
        "num_hidden_layers": 4,
        "num_attention_heads": 8,
        "vocab_size": 1000,
        "intermediate_size": 4096,
    }
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"model_type": "zorgblat", **shape}), "utf-8")
    assert "counted as llama, with a wider interval" in said(
        capsys, "memory", str(path), "--gpu", "RTX 4090"
    )
    path.write_text(json.dumps({"model_type": "llama", **shape}), "utf-8")
    assert "wider interval" not in said(capsys, "memory", str(path), "--gpu", "RTX 4090")


def test_a_file_that_is_cut_short_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "cut.gguf"
    path.write_bytes(b"GGUF\x03\0\0\0garbage")
    assert "cut short" in refused(capsys, "memory", str(path), "--gpu", "RTX 4090")


def test_the_name_of_a_published_file_is_a_model_where_no_such_file_lies_here(
    capsys: pytest.CaptureFixture[str],
) -> None:
    name = "Qwen3-30B-A3B-Instruct-2507-Q4_K_M.gguf"
    found = json.loads(said(capsys, "memory", name, "--gpu", "RTX 4090", "--format", "json"))
    assert found["stack"] == "llama.cpp" and 17 < found["device_gib"] < 19
    assert "no such file" in refused(capsys, "memory", f"./here/{name}", "--gpu", "RTX 4090")
    assert "not known" in refused(capsys, "memory", "nonsense-7x.gguf", "--gpu", "RTX 4090")


def test_what_an_engine_calls_a_field_is_an_option(capsys: pytest.CaptureFixture[str]) -> None:
    """People paste the options of their engine's command line."""
    card = ["memory", "qwen3:30b", "--gpu", "RTX 3090", "--format", "json"]
    pasted = ["--max-model-len=8192", "-ngl", "20", "--kv-on-host", "--users", "2"]
    fields = ["seq_len=8192", "gpu_layers=20", "kv_on_host=true", "users=2"]
    told = []
    for words in (pasted, [word for each in fields for word in ("--set", each)]):
        assert main([*card, *words]) == 0
        told.append(capsys.readouterr().out)
    assert told[0] == told[1]


@pytest.mark.parametrize(
    ("option", "hint"),
    [
        (["--count", "3"], 'as --gpu "3x RTX 3090"'),
        (["--langauge", "cs"], "the nearest are --language"),
        (["--zzzz", "1"], "unrecognized arguments: --zzzz 1. See"),
    ],
)
def test_an_option_that_is_none_says_what_may_be_meant(
    capsys: pytest.CaptureFixture[str], option: list[str], hint: str
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["memory", "qwen3:30b", "--gpu", "RTX 3090", *option])
    assert stopped.value.code == 2 and hint in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "cards"),
    [
        ("7900 xtx", ["AMD Radeon RX 7900 XTX"]),
        ("9070 xt x2", ["AMD Radeon RX 9070 XT"] * 2),
        ("2x3090", ["GeForce RTX 3090"] * 2),
        ("dual rtx 3090", ["GeForce RTX 3090"] * 2),
        ("Ryzen AI Max+ 395", ["AMD Ryzen AI Max+ 395 (Radeon 8060S) 128GB"]),
        ("RTX 3090 + 2x RTX 4090", ["GeForce RTX 3090", "GeForce RTX 4090", "GeForce RTX 4090"]),
    ],
)
def test_gpus_are_named_as_people_write_them(
    capsys: pytest.CaptureFixture[str], words: str, cards: list[str]
) -> None:
    assert main(["memory", "qwen3-8b", "--gpu", words, "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    named = [card["gpu"] for card in told.get("cards", ())] or [told["gpu"]] * told["count"]
    assert named == cards


def test_names_and_tasks_need_no_quotes(capsys: pytest.CaptureFixture[str]) -> None:
    quoted = said(capsys, "memory", "llama 3.3 70b", "--gpu", "2x RTX 3090", "--task", "train_lora")
    bare = said(capsys, "memory", "llama", "3.3", "70b", "lora", "--gpu", "2x RTX 3090")
    assert bare.splitlines()[1:] == quoted.splitlines()[1:]
    ranked = said(capsys, "rank", "llama-3.1-8b", "task=lora", "--only", "RTX 5090")
    assert ranked == said(capsys, "rank", "llama-3.1-8b task=train_lora", "--only", "RTX 5090")
    names = ("rank", "llama", "3.3", "70b", "--only", "RTX 5090")
    assert said(capsys, *names) == said(capsys, "rank", "llama 3.3 70b", "--only", "RTX 5090")


def test_a_switch_of_an_engine_needs_no_value(capsys: pytest.CaptureFixture[str]) -> None:
    told = ("memory", "llama-3.1-8b", "--gpu", "RTX 4090", "--stack", "llama-server")
    assert said(capsys, *told, "-fa") == said(capsys, *told, "--attention", "flash")


def test_software_that_trains_is_asked_to_train(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "memory", "llama-3.1-8b", "--gpu", "RTX 4090", "--stack", "axolotl")
    assert text.startswith("llama-3.1-8b, train_lora: ") and "optimizer states" in text


def test_pytorch_writes_with_a_language_model(capsys: pytest.CaptureFixture[str]) -> None:
    told = ("performance", "llama-3.1-8b", "--gpu", "RTX 4090", "--stack")
    own, loop = said(capsys, *told, "torch"), said(capsys, *told, "transformers")
    assert own.splitlines()[0] == loop.splitlines()[0]


def test_a_context_that_is_reserved_is_no_prompt(capsys: pytest.CaptureFixture[str]) -> None:
    """llama.cpp's -c sets memory aside; what is asked is as long as usual."""
    told = ("performance", "gpt-oss-120b", "--gpu", "RTX 5090", "--stack", "llama.cpp", "-c")
    text = said(capsys, *told, "128k")
    assert "input tokens 512" in text and "after a prompt" not in text
    long = said(capsys, *told, "128k", "--prompt-tokens", "100k")
    assert "after a prompt of 102,400 tokens" in long


def test_a_speed_of_what_does_not_fit_names_what_makes_it_fit(
    capsys: pytest.CaptureFixture[str],
) -> None:
    job = ("llama-3.1-8b", "--task", "train_lora", "--precision", "bf16", "--gpu", "RTX 4090")
    told = said(capsys, "performance", *job)
    assert "does not fit" in told and "QLoRA" in told.partition("What makes it fit")[2]
    assert "What makes it fit" not in said(capsys, "performance", *job[:-1], "A100 80GB")


def test_a_cpu_beside_the_gpus_is_the_host_of_what_stays_in_ram(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = ("performance", "kimi-k2", "--gpu", "RTX 5090", "--stack", "llama.cpp")
    own = said(capsys, *told, "--cpu", "2x EPYC 9555")
    assert "128 cores" in own.partition("kimi-k2 on 2 ×")[0]
    assert "128 cores" not in said(capsys, *told)


def test_deepseek_on_cpus_is_a_file_for_llama_cpp(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "performance", "deepseek-r1", "--cpu", "EPYC 9654")
    assert "precision q4_k_m" in text and "fp8" not in text


def test_a_film_that_takes_long_says_how_long(capsys: pytest.CaptureFixture[str]) -> None:
    film = ("performance", "wan2.2-t2v-a14b", "--gpu", "RTX 4090", "--resolution", "1280x720")
    assert "one takes" in said(capsys, *film, "--frames", "81")
    assert "one takes" not in said(capsys, "performance", "sdxl", "--gpu", "RTX 4090")


def test_a_card_whose_name_ends_in_xtx_is_no_count(capsys: pytest.CaptureFixture[str]) -> None:
    one, two = "7900xtx", "2x7900xtx"
    assert "1 × AMD Radeon RX 7900 XTX" in said(capsys, "memory", "llama-3.1-8b", "--gpu", one)
    assert "2 × AMD Radeon RX 7900 XTX" in said(capsys, "memory", "llama-3.1-8b", "--gpu", two)
