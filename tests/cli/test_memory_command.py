"""`rigplanner memory` and `rigplanner mig` as people and scripts meet them."""

import json
from pathlib import Path
from typing import Any

import pytest

from rigplanner.cli.main import main
from rigplanner.memory.capacity.changes import candidates
from rigplanner.report.words.memory import CHANGES, STEPS

JOB = ["--gpu", "RTX 4090", "--task", "train_lora", "--precision", "bf16", "--set", "seq_len=1024"]


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(list(words)) == 0
    return capsys.readouterr().out


def record(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(said(capsys, *words, "--format", "json"))
    return found


def cases(path: Path, *given: dict[str, Any]) -> str:
    path.write_text("\n".join(json.dumps(case) for case in given) + "\n")
    return str(path)


def test_one_model_in_text_names_parts_figures_and_verdict(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = said(capsys, "memory", "qwen3-1.7b", *JOB, "--steps", "--largest", "batch", "--changes")
    for word in (
        "weights",
        "optimizer states",
        "nvidia-smi shows",
        "live tensors",
        "fragmentation",
        "Largest batch",
        "fits",
    ):
        assert word in text
    assert "{" not in text and "None" not in text
    assert "arXiv" in text and "torch.optim" in text


def test_what_does_not_fit_says_what_makes_it_fit(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "memory", "llama-3.3-70b", "--gpu", "2x RTX 3090", "--stack", "vllm")
    assert "does not fit" in text and "What makes it fit" in text and "4-bit weights" in text
    assert "What makes it fit" not in said(capsys, "memory", "qwen3-1.7b", "--gpu", "RTX 3090")


def test_json_holds_what_the_text_says(capsys: pytest.CaptureFixture[str]) -> None:
    found = record(
        capsys,
        "memory",
        "qwen3-1.7b",
        *JOB,
        "--steps",
        "--largest",
        "batch",
        "--largest",
        "context",
        "--changes",
    )
    assert (
        found["tensors_gib"]
        <= found["allocated_gib"]
        <= found["reserved_gib"]
        <= found["device_gib"]
    )
    assert sum(found["parts_gib"].values()) == pytest.approx(found["device_gib"], abs=1e-3)
    workspace = sum(
        found["detail_gib"][part]
        for part in ("communication", "buffers", "library", "fragmentation")
    )
    assert workspace == pytest.approx(found["parts_gib"]["workspace"], abs=1e-3)
    assert sum(found["activation_kinds_gib"].values()) == pytest.approx(
        found["parts_gib"]["activations"], abs=1e-3
    )
    assert [one["what"] for one in found["largest"]] == ["batch", "context"]
    assert all(step["formula"] for step in found["steps"])
    assert found["changes"][0]["speed_share"] > 0


def test_unequal_cards_and_free_memory(capsys: pytest.CaptureFixture[str]) -> None:
    job = ["--task", "inference", "--precision", "q4_k_m", "--set", "input_tokens=2048"]
    found = record(capsys, "memory", "qwen3-32b", "--gpu", "RTX 4090", "--gpu", "RTX 3060", *job)
    assert [card["gpu"] for card in found["cards"]] == ["GeForce RTX 4090", "GeForce RTX 3060 12GB"]
    assert found["overflows"] == [] and found["split"] == "free"
    tight = record(
        capsys, "memory", "qwen3-32b", "--gpu", "2xRTX 3060", "--free", "12", "--free", "4", *job
    )
    assert tight["overflows"] and len(tight["cards"]) == 2
    text = said(
        capsys, "memory", "qwen3-32b", "--gpu", "2×RTX 3060", "--free", "12", "--free", "4", *job
    )
    assert "Overflowing: GPU" in text


def test_a_card_that_the_catalog_lacks_is_refused_as_speed_refuses_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Memory and speed say the same words, with the nearest names."""
    work = {
        "model": "llama-3.1-8b",
        "task": "train_lora",
        "lora_rank": 16,
        "precision": "bf16",
        "batch_per_gpu": 1,
        "seq_len": 512,
    }
    cases = tmp_path / "cases.jsonl"
    cards: list[dict[str, str]] = [{"gpu": "Ascend 920"}, {"gpu": "A100-SXM4-80GB"}, {}]
    cases.write_text(
        "".join(
            json.dumps({"id": at, "workload": work, "hardware": card}) + "\n"
            for at, card in enumerate(cards)
        )
    )
    told = []
    for command in ("memory", "performance"):
        assert main([command, str(cases)]) == 0
        told.append(json.loads(capsys.readouterr().out.splitlines()[0])["error"])
    assert told[0] == told[1]
    assert "Ascend 920" in told[0]


def test_cases_keep_their_contract(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = {
        "id": "a",
        "workload": {"model": "gpt2", "task": "train_full"},
        "hardware": {"gpu": "RTX 3090"},
    }
    bad = {"id": "b", "workload": {"model": "gpt2", "optimizer": "nadamw", "task": "train_full"}}
    mixed = {
        "id": "c",
        "workload": {"model": "gpt2", "task": "train_full"},
        "hardware": {"gpus": ["RTX 3090", "GTX 1080"]},
    }
    wrong = {
        "id": "d",
        "workload": {"model": "gpt2"},
        "hardware": {"gpus": ["RTX 3090"], "free_gib": [1, 2]},
    }
    file = cases(tmp_path / "cases.jsonl", good, bad, mixed, wrong)
    assert main(["memory", file, "--largest", "batch"]) == 0
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [answer["id"] for answer in answers] == ["a", "b", "c", "d"]
    parts = {"weights", "gradients", "optimizer", "activations", "kv_cache", "workspace", "context"}
    assert set(answers[0]["parts_gib"]) == parts and answers[0]["largest"][0]["value"] > 0
    assert "optimizer" in answers[1]["error"]
    assert len(answers[2]["cards"]) == 2
    assert "free_gib" in answers[3]["error"]


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["no-such-net"], "no-such-net"),
        (["gpt2", "--set", "batches=3"], "no field 'batches'"),
        (["gpt2", "--set", "batch_per_gpu"], "FIELD=VALUE"),
        (["gpt2", "--set", "batch_per_gpu=many"], "batch_per_gpu"),
        (["gpt2", "--gpu", "0x RTX 3090"], "1 to 1024"),
        (["gpt2", "--gpu", "RTX 3090", "--mig"], "no MIG partitions"),
        (["gpt2", "--largest", "batch"], "hardware.gpu"),
        (["missing/model_index.json"], "no such file"),
    ],
)
def test_bad_words_are_named(
    words: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["memory", *words]) == 2
    assert named in capsys.readouterr().err


def test_a_model_on_disk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = {
        "model_type": "llama",
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "vocab_size": 500,
    }
    (tmp_path / "config.json").write_text(json.dumps(config))
    for path in (tmp_path, tmp_path / "config.json"):
        assert record(capsys, "memory", str(path), "--task", "train_full")["tensors_gib"] > 0


def test_every_change_has_words() -> None:
    from rigplanner.catalog.load import shipped_catalog
    from rigplanner.catalog.schema.parts import GPU
    from rigplanner.catalog.zoo import shipped_zoo
    from rigplanner.rig.workload import Workload

    card = shipped_catalog().get("nvidia.geforce.rtx-4090")
    assert isinstance(card, GPU)
    train = Workload(model="gpt2", task="train_full", attention="eager", batch_per_gpu=4)
    lora, infer = (
        Workload(model="gpt2", task="train_lora"),
        Workload(model="gpt2", task="inference", batch_per_gpu=2),
    )
    found = {
        one.code
        for work in (train, lora, infer)
        for stack in ("pytorch", "llama.cpp")
        for one in candidates(work, card, 2, shipped_zoo(), stack)
    }
    assert found <= set(CHANGES)


JOBS = (
    {
        "id": "chat",
        "workload": {
            "model": "qwen3-4b",
            "task": "inference",
            "precision": "bf16",
            "output_tokens": 64,
        },
    },
    {
        "id": "bert",
        "workload": {
            "model": "bert-base-uncased",
            "task": "train_full",
            "precision": "amp_bf16",
            "seq_len": 128,
        },
    },
)


def test_partitions_layouts_and_packings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = cases(tmp_path / "jobs.jsonl", *JOBS)
    text = said(capsys, "mig", "A100 SXM4 40GB", file, "--layout", "3g.20gb,1g.5gb")
    assert (
        "nvidia-smi mig -cgi" in text and "chat needs" in text and "Outside every instance" in text
    )
    assert "{" not in text
    found = record(capsys, "mig", "A100 SXM4 40GB", file)
    assert {place["job"] for place in found["packing"]["placements"]} == {"chat", "bert"}
    assert found["sources"][0]["trust"] == "vendor"
    assert main(["mig", "A100 SXM4 40GB", "--layout", "4g.20gb,4g.20gb"]) == 1
    assert "do not fit one card" in capsys.readouterr().out


def test_a_card_without_partitions_is_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mig", "RTX 4090"]) == 2
    assert "no MIG partitions" in capsys.readouterr().err


def test_a_line_that_is_no_job_is_bad_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "jobs.jsonl").write_text("[]\n")
    assert main(["mig", "A30", str(tmp_path / "jobs.jsonl")]) == 2
    assert "expected an object" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        JOB,
        [
            "--gpu",
            "2x A100 SXM4 40GB",
            "--task",
            "train_full",
            "--set",
            "parallelism.offload=nvme",
            "--set",
            "parallelism.zero=3",
        ],
        [
            "--task",
            "inference",
            "--precision",
            "q4_k_m",
            "--set",
            "gpu_layers=4",
            "--gpu",
            "RTX 3060",
        ],
        ["--task", "train_full", "--set", "optimizer=paged_adamw_8bit", "--gpu", "RTX 3060"],
        [
            "--task",
            "inference",
            "--set",
            "parallelism.offload=cpu",
            "--set",
            "output_tokens=8",
            "--gpu",
            "RTX 3060",
        ],
    ],
)
def test_every_step_has_words(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    found = record(capsys, "memory", "qwen3-1.7b", *words, "--steps")
    assert {step["name"] for step in found["steps"]} <= set(STEPS)


@pytest.mark.parametrize("command", ["memory", "performance"])
def test_one_line_of_an_unknown_word_silences_no_other(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    net = {"model": "resnet-50", "task": "train", "precision": "fp32", "batch_per_gpu": 8}
    card = {"gpu": "RTX 3090", "count": 1}
    wrong: list[dict[str, Any]] = [
        {"attention": "flsh"},
        {"kind": "transfomer"},
        {"dataset_gb": -1},
        {"dataset_samples": -4},
    ]
    lines = [
        {"id": n, "workload": net | more, "hardware": card} for n, more in enumerate([*wrong, {}])
    ]
    answers = [
        json.loads(line)
        for line in said(capsys, command, cases(tmp_path / "cases.jsonl", *lines)).splitlines()
    ]
    assert [answer["id"] for answer in answers] == [0, 1, 2, 3, 4]
    assert [answer.get("error", "").split(":")[0] for answer in answers] == [
        "attention",
        "kind",
        "dataset_gb",
        "dataset_samples",
        "",
    ]


def test_ram_is_asked_for_what_the_engine_leaves_in_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parts = (
        "amd.ryzen.9-5900x",
        "corsair.vengeance-lpx.cmk32gx4m2d3600c18",
        "nvidia.geforce.rtx-3090",
    )
    answers = []
    for model in ("gpt-oss-120b", "gpt-oss-20b"):
        work = {"model": model, "task": "inference", "stack": "llama.cpp", "seq_len": 8192}
        items = [{"uid": f"p{at}", "part": part} for at, part in enumerate(parts)]
        rig = {"format_version": 1, "name": "x", "items": items, "workloads": [work]}
        file = tmp_path / f"{model}.rig"
        file.write_text(json.dumps(rig))
        main(["memory", str(file)])
        answers.append(capsys.readouterr().out.replace("\u202f", " "))
    assert "32.0 GiB: does not fit" in answers[0] and "38.4 GiB of RAM" in answers[0]
    assert "does not fit" not in answers[1]
