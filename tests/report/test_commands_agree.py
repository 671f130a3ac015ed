"""Memory, speed, check, comparison and quote of one rig tell one job: over models, stacks,
placements and rigs no two of them contradict each other."""

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.cli.main import main
from rigplanner.planning.compare import compare
from rigplanner.report import format as fmt
from rigplanner.report.quote.content import quote_content
from rigplanner.rig.files import read_rig, write_rig
from rigplanner.rig.workload import Workload
from rigplanner.rules.assess import Assessment, assess

RIGS = ("dual-rtx-3090", "gtx-1080-ti")
WRITING = (
    {"model": "llama-3.1-8b"},
    {"model": "llama-3.1-8b", "stack": "vllm", "precision": "fp8"},
    {"model": "gpt-oss-120b"},
    {"model": "gpt-oss-120b", "stack": "ollama", "precision": "mxfp4"},
    {"model": "gpt-oss-120b", "stack": "llama.cpp", "precision": "mxfp4", "n_cpu_moe": 30},
    {"model": "llama-3.3-70b", "stack": "llama.cpp", "precision": "q4_k_m", "gpu_layers": 20},
    {"model": "llama-3.3-70b", "stack": "llama.cpp", "precision": "q8_0"},
    {"model": "qwen3-30b-a3b", "stack": "ktransformers", "precision": "q4_k_m"},
    {"model": "qwen3-30b-a3b", "stack": "llama.cpp", "precision": "q4_k_m", "cpu_moe": True},
    {"model": "qwen3-8b", "stack": "vllm", "precision": "bf16", "cpu_offload_gb": 8.0},
    {"model": "Qwen/Qwen3-14B-AWQ"},
    {"model": "flux.1-dev"},
)
JOBS = (
    *[
        Workload(task="inference", input_tokens=1000, output_tokens=200, **fields)
        for fields in WRITING
    ],
    Workload(model="llama-3.1-8b", task="serve", stack="vllm", users=8, input_tokens=500),
    Workload(model="llama-3.1-8b", task="train_qlora", precision="nf4", seq_len=1024),
)
VERDICT = {"yes": "fits", "tight": "tight", "no": "does not fit"}


@pytest.fixture(scope="module", params=RIGS)
def answered(
    request: pytest.FixtureRequest,
    samples: list[Path],
    catalog: Catalog,
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Path, Assessment]:
    path = next(one for one in samples if one.stem == request.param)
    rig = replace(read_rig(path), workloads=JOBS)
    there = tmp_path_factory.mktemp("agree") / path.name
    write_rig(rig, there, catalog)
    return there, assess(read_rig(there), catalog)


def _records(verb: str, path: Path, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    main([verb, str(path), "--format", "json"])
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_each_command_tells_the_same_job(
    answered: tuple[Path, Assessment], catalog: Catalog, capsys: pytest.CaptureFixture[str]
) -> None:
    path, assessment = answered
    assert len(assessment.jobs) == len(JOBS)
    _agree(path, assessment, catalog, capsys)


MODELS = (
    "llama-3.1-8b", "llama-3.3-70b", "gpt-oss-20b", "gpt-oss-120b", "qwen3-14b", "qwen3-30b-a3b",
    "qwen3.6-35b-a3b", "gemma-3-12b", "deepseek-r1", "glm-4.5-air", "mixtral-8x7b-v0.1", "phi-4",
)  # fmt: skip
STACKS = {
    "llama.cpp": ("q4_k_m", "q8_0", "iq3_xxs", None),
    "ollama": ("q4_k_m", None),
    "ik_llama.cpp": ("q4_k_m", "iq2_k"),
    "ktransformers": ("q4_k_m",),
    "vllm": ("bf16", "fp8", "awq", None),
    "sglang": ("bf16", "fp8"),
    "mlx": ("int4",),
    "exllamav2": ("int4",),
    None: ("q4_k_m", "fp16", None),
}
PLACES: tuple[dict[str, Any], ...] = (
    {}, {}, {}, {"cpu_moe": True}, {"n_cpu_moe": 20}, {"gpu_layers": 0}, {"gpu_layers": 30},
    {"kv_on_host": True}, {"cpu_offload_gb": 6.0},
)  # fmt: skip


@st.composite
def asked(draw: st.DrawFn) -> Workload:
    """A job as people say it: model, engine, format, placement, lengths, users."""
    stack = draw(st.sampled_from(sorted(STACKS, key=str)))
    users = draw(st.sampled_from((None, None, 1, 8)))
    return Workload(
        model=draw(st.sampled_from(MODELS)),
        task="serve" if users else "inference",
        stack=stack,
        precision=draw(st.sampled_from(STACKS[stack])),
        input_tokens=draw(st.sampled_from((None, 200, 8000))),
        output_tokens=draw(st.sampled_from((None, 300))),
        seq_len=draw(st.sampled_from((None, None, 32768))),
        users=users,
        **draw(st.sampled_from(PLACES)),
    )


def test_no_two_commands_contradict_each_other_on_any_job_and_rig(
    samples: list[Path], catalog: Catalog, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    @settings(max_examples=12, deadline=None, derandomize=True, phases=(Phase.generate,))
    @given(rig=st.sampled_from(sorted(samples)), jobs=st.lists(asked(), min_size=3, max_size=5))
    def holds(rig: Path, jobs: list[Workload]) -> None:
        there = tmp_path / rig.name
        write_rig(replace(read_rig(rig), workloads=tuple(jobs)), there, catalog)
        _agree(there, assess(read_rig(there), catalog), catalog, capsys)

    holds()


def _agree(
    path: Path, assessment: Assessment, catalog: Catalog, capsys: pytest.CaptureFixture[str]
) -> None:
    """Hold the records of memory and performance, the quote and the comparison to what the check
    found of each job."""
    memory, speeds = (_records(verb, path, capsys) for verb in ("memory", "performance"))
    assert len(memory) == len(speeds) == len(assessment.jobs)
    quoted = quote_content(assessment, catalog, date(2026, 11, 23)).jobs
    rows = compare([assessment, assessment])
    for need, speed, job, told in zip(memory, speeds, assessment.jobs, quoted, strict=True):
        where = f"{job.workload.model}, {job.workload.stack}, {path.stem}"
        assert (job.speed is None) == ("error" in speed), where
        if job.memory and "error" not in need:
            placed = need.get("placed")
            fullest = max(one.device_gib for one in job.memory)
            here = placed["fits"] if placed else need["fits"]
            bars = {bar.verdict for bar in told.bars}
            worst = next(word for word in ("does not fit", "tight", "fits") if word in bars)
            assert VERDICT[here] == worst, where
            if not placed:
                assert need["device_gib"] == pytest.approx(fullest, abs=1e-4), where
            if job.speed is not None:
                assert (job.speed.fits == "no") == (here == "no"), where
        if job.speed is not None:
            assert speed["value"] == pytest.approx(job.speed.value), where
            assert speed["fits"] == job.speed.fits and speed["bound"] == job.speed.bound, where
            assert told.speed == fmt.quantity(job.speed.value, job.speed.metric), where
            of_it = [row for row in rows if row.workload == job.workload]
            for row in of_it:
                if row.attribute.code == "speed":
                    assert row.values[0] == pytest.approx(job.speed.value), where
                if row.attribute.code == "fits" and row.values[0] is not None:
                    assert (row.values[0] == "does not fit") == (job.speed.fits == "no"), where
    short = {
        at for finding in assessment.report.findings
        if finding.code == "VRM001" and finding.severity == "error"
        for at in finding.subjects
    }  # fmt: skip
    beyond = any(job.speed.fits == "no" for job in assessment.jobs if job.speed)
    unsaid = any(job.speed is None for job in assessment.jobs)
    assert bool(short) == beyond or (short and unsaid)
