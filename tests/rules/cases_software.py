"""Cases of software, memory fit, shape, completeness and known pairs. Jobs say what they need by
the flag "gib:N"."""

from msgspec.structs import replace
from rule_bench import CARD, bench_rig, case, named

from rigplanner.catalog.schema.parts import Doubt
from rigplanner.rig.document import Site
from rigplanner.rig.edits import set_ignored, set_severity, waive
from rigplanner.rig.workload import Parallelism, Workload

DESK_RIG = bench_rig()
PASCAL = "gpu.passive"
LLAMA = {
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "num_hidden_layers": 32,
    "num_local_experts": 8,
}


def _job(gib: float = 10.0, **fields: object) -> Workload:
    return Workload(name="job", flags=[f"gib:{gib}"], **{"task": "train", **fields})


def _on(gpu: str = "gpu.card", count: int = 1, job: Workload | None = None, **software: str):
    return bench_rig(
        gpu=(gpu, count, ("PCIE1", "PCIE2")[:count]),
        settings=named(**software),
        jobs=(job,) if job else (),
    )


def _engine(**variant: object) -> Workload:
    return _job(task="inference", stack="tensorrt", variant=variant)


def _split(config: dict[str, object] | None = None, count: int = 2, **degrees: int):
    job = _job(config=LLAMA if config is None else config, parallelism=Parallelism(**degrees))
    return bench_rig(
        gpu=("gpu.thin", count),
        motherboard="board.server",
        chassis="case.server",
        cpu=("cpu.server", 2),
        memory=("memory.server", 16),
        cooler=("cooler.server", 2),
        jobs=(job,),
    )


BLOCKS = {"quant_method": "fp8", "weight_block_size": [128, 128]}


def _grouped(
    tensor: int, width: int | None, stack: str = "vllm", quant: str = "awq", **more: object
):
    dense = {key: value for key, value in LLAMA.items() if key != "num_local_experts"}
    config = {**dense, **({"intermediate_size": width} if width else {}), **more}
    plan = Parallelism(tensor=tensor)
    rig = _split(config, count=4)
    job = replace(rig.workloads[0], task="inference", stack=stack, quant=quant, parallelism=plan)
    return replace(rig, workloads=(job,))


SPARK = {"gpu.card": {"compute_capability": "12.1"}}
GRACE = {"cpu.desk": {"isa": ("neon", "sve2"), "vendor": "NVIDIA"}}
JETSON = {"gpu.card": {"compute_capability": "8.7"}}
RADEON = {
    "gpu.card": {
        "vendor": "AMD",
        "compute_capability": "gfx1100",
        "unsupported": ("fp8", "fp4"),
        "dense_tflops.bf16": 100.0,
    }
}
VEGA = {
    "gpu.card": {
        "vendor": "AMD",
        "compute_capability": "gfx906",
        "unsupported": ("bf16", "fp8", "fp4"),
    }
}
MAXWELL = {"gpu.card": {"compute_capability": "5.2"}}
BLACKWELL = {"gpu.card": {"compute_capability": "12.0"}}
NO_CAPABILITY = {PASCAL: {"compute_capability": None, "vendor": "NVIDIA"}}


def _compiled() -> Workload:
    return Workload(name="job", task="train", flags=["gib:10", "compile"])


def _two(system: str = "", **software: str):
    settings = named(**software, **({"os": system} if system else {}))
    return bench_rig(
        gpu=("gpu.card", 1, ("PCIE1",)), second=(PASCAL, 1, ("PCIE2",)), settings=settings
    )


A30 = replace(CARD, id="nvidia.datacenter.a30", name="A30", mig_slices=4)


def _parts(*profiles: str):
    jobs = tuple(replace(_job(1.0, mig=profile), name=profile) for profile in profiles)
    return bench_rig(gpu=(A30.id, 1, ("PCIE1",)), jobs=jobs)


UNVERIFIED = Doubt(state="unverified")


def _room(doubt: Doubt | None, room_mm: float) -> dict[str, dict[str, object]]:
    """A card of 300 mm in a case of which somebody says how long a card it takes."""
    doubts = {} if doubt is None else {"enclosure.gpu_length_mm": doubt}
    return {
        "gpu.card": {"length_mm": 300},
        "case.tower": {"enclosure.gpu_length_mm": room_mm, "doubts": doubts},
    }


def _length(*said: str) -> dict[str, dict[str, object]]:
    """A card of whose length sources say this, in a case with room for 320 mm."""
    doubts = {"length_mm": Doubt(state="conflict", values=said)}
    return {
        "gpu.card": {"length_mm": 300, "doubts": doubts},
        "case.tower": {"enclosure.gpu_length_mm": 320},
    }


CASES = (
    case("SW001", "fires", bench_rig(cpu="cpu.small", settings=named(tensorflow="2.15"))),
    case("SW001", "fires", bench_rig(cpu="cpu.small"), None, "warning"),
    case(
        "SW001", "fires", bench_rig(cpu="cpu.small", settings=named(pytorch="2.8")), None, "warning"
    ),
    case("SW001", "limit", bench_rig(cpu="cpu.small", settings=named(tensorflow="1.5"))),
    case("SW001", "silent", DESK_RIG),
    case(
        "SW001",
        "unknown",
        bench_rig(cpu="cpu.small"),
        {"cpu.small": {"isa": None, "vendor": "Intel"}},
    ),
    case("SW002", "fires", _on(PASCAL, pytorch="2.8", cuda="12.8")),
    case("SW002", "limit", _on(PASCAL, pytorch="2.8", cuda="12.6")),
    case("SW002", "silent", _on(pytorch="2.8", cuda="12.8")),
    case(
        "SW002",
        "unknown",
        _on(pytorch="2.8", cuda="12.8"),
        {"gpu.card": {"compute_capability": None, "vendor": "NVIDIA"}},
    ),
    case("SW003", "fires", _on(PASCAL, cuda="13.0")),
    case("SW003", "limit", _on(PASCAL, cuda="13.0"), {PASCAL: {"compute_capability": "7.5"}}),
    case("SW003", "silent", DESK_RIG),
    case("SW003", "unknown", _on(cuda="20.0")),
    case("SW004", "fires", _on(cuda="12.4", driver="520.61")),
    case("SW004", "fires", _on(cuda="12.4", driver="525.60"), None, "warning"),
    case("SW004", "fires", _on(pytorch="2.7", cuda="12.8", driver="550.54"), None, "info"),
    case(
        "SW004",
        "fires",
        _on(cuda="12.4", driver="520.61"),
        {"gpu.card": {"cooling": "passive"}},
        "warning",
    ),
    case("SW004", "limit", _on(cuda="12.4", driver="550.54")),
    case("SW004", "silent", _on(cuda="12.4")),
    case("SW004", "unknown", _on(cuda="20.0", driver="525.60")),
    case("SW005", "fires", _on(PASCAL)),
    case("SW005", "fires", _on(PASCAL), {PASCAL: {"compute_capability": "3.7"}}, "warning"),
    case("SW005", "limit", _on(PASCAL), {PASCAL: {"compute_capability": "7.5"}}),
    case("SW005", "silent", DESK_RIG),
    case(
        "SW005", "unknown", _on(PASCAL), {PASCAL: {"compute_capability": None, "vendor": "NVIDIA"}}
    ),
    case("SW006", "fires", _on(PASCAL, job=_job(attention="flash"))),
    case(
        "SW006",
        "limit",
        _on(PASCAL, job=_job(attention="flash")),
        {PASCAL: {"compute_capability": "8.0"}},
    ),
    case("SW006", "silent", _on(PASCAL, job=_job())),
    case(
        "SW006",
        "unknown",
        _on(PASCAL, job=_job(attention="flash")),
        {PASCAL: {"compute_capability": None, "vendor": "NVIDIA"}},
    ),
    case("SW007", "fires", _on(PASCAL, job=_job(precision="bf16"))),
    case("SW007", "fires", _on(PASCAL, job=_job(precision="bf16", stack="vllm")), None, "error"),
    case(
        "SW007",
        "limit",
        _on(PASCAL, job=_job(precision="bf16")),
        {PASCAL: {"compute_capability": "8.0"}},
    ),
    case("SW007", "silent", _on(PASCAL, job=_job(precision="fp16"))),
    case(
        "SW007",
        "unknown",
        _on(PASCAL, job=_job(precision="bf16")),
        {PASCAL: {"compute_capability": None, "vendor": "NVIDIA"}},
    ),
    case("SW008", "fires", _on(job=_job(precision="fp8"))),
    case("SW008", "fires", _on(job=_job(precision="fp8", task="inference")), None, "warning"),
    case("SW008", "limit", _on("gpu.other", job=_job(precision="fp8"))),
    case("SW008", "silent", _on(job=_job(precision="bf16"))),
    case(
        "SW008",
        "unknown",
        _on(job=_job(precision="fp8")),
        {"gpu.card": {"compute_capability": None, "vendor": "NVIDIA"}},
    ),
    case(
        "SW009",
        "fires",
        _on(os="Windows 11"),
        {"gpu.card": {"vendor": "AMD", "compute_capability": "gfx906"}},
    ),
    case(
        "SW009",
        "fires",
        DESK_RIG,
        {"gpu.card": {"vendor": "AMD", "compute_capability": "gfx1010"}},
        "warning",
    ),
    case(
        "SW009",
        "fires",
        _on(os="Windows 11", rocm="6.2"),
        {"gpu.card": {"vendor": "AMD", "compute_capability": "gfx906"}},
    ),
    case(
        "SW009",
        "fires",
        _on(rocm="6.4"),
        {"gpu.card": {"vendor": "AMD", "compute_capability": "gfx906"}},
    ),
    case(
        "SW009",
        "fires",
        _on(rocm="7.0"),
        {"gpu.card": {"vendor": "AMD", "compute_capability": "gfx1151"}},
        "warning",
    ),
    case(
        "SW009",
        "limit",
        _on(rocm="6.3"),
        {"gpu.card": {"vendor": "AMD", "compute_capability": "gfx906"}},
    ),
    case(
        "SW009",
        "limit",
        _on(rocm="7.2"),
        {"gpu.card": {"vendor": "AMD", "compute_capability": "gfx1151"}},
    ),
    case("SW009", "silent", DESK_RIG),
    case(
        "SW009",
        "unknown",
        DESK_RIG,
        {"gpu.card": {"vendor": "AMD", "compute_capability": "gfx9999"}},
    ),
    case(
        "SW010", "fires", _on(PASCAL, ngc_pytorch="19.10"), {PASCAL: {"compute_capability": "5.2"}}
    ),
    case(
        "SW010", "limit", _on(PASCAL, ngc_pytorch="19.10"), {PASCAL: {"compute_capability": "6.0"}}
    ),
    case("SW010", "silent", DESK_RIG),
    case("SW010", "unknown", _on(ngc_pytorch="12.01")),
    case(
        "SW010", "fires", _on(ngc_tensorflow="25.02"), {"gpu.card": {"compute_capability": "7.0"}}
    ),
    case(
        "SW010", "limit", _on(ngc_tensorflow="24.12"), {"gpu.card": {"compute_capability": "7.0"}}
    ),
    case("SW010", "unknown", _on(ngc_pytorch="99.01")),
    case("SW004", "fires", _on(ngc_pytorch="26.05", driver="570.86")),
    case("SW004", "limit", _on(ngc_pytorch="25.01", driver="570.86")),
    case("SW002", "fires", _on(pytorch="1.8.0", cuda="10.2")),
    case("SW002", "limit", _on(pytorch="1.7.1", cuda="11.0")),
    case(
        "SW006",
        "fires",
        _on(job=_job(attention="flash3")),
        {"gpu.card": {"compute_capability": "12.0"}},
    ),
    case(
        "SW006",
        "limit",
        _on(job=_job(attention="flash3")),
        {"gpu.card": {"compute_capability": "9.0"}},
    ),
    case(
        "SW006",
        "limit",
        _on(PASCAL, job=_job(attention="flash1")),
        {PASCAL: {"compute_capability": "7.5"}},
    ),
    case("SW011", "fires", _on(PASCAL, job=_job(precision="amp_fp16"))),
    case(
        "SW011",
        "limit",
        _on(PASCAL, job=_job(precision="fp16")),
        {PASCAL: {"compute_capability": "6.0"}},
    ),
    case("SW011", "silent", _on(job=_job(precision="fp16"))),
    case(
        "SW011",
        "unknown",
        _on(PASCAL, job=_job(precision="fp16")),
        {PASCAL: {"compute_capability": None, "vendor": "NVIDIA"}},
    ),
    case("SW025", "fires", _on(PASCAL, job=_engine(built_on="RTX 3090"))),
    case("SW025", "fires", _on(job=_engine(built_with="10.3"), tensorrt="10.9")),
    case(
        "SW025",
        "fires",
        _on(job=_engine(built_on="RTX 4070")),
        {"gpu.card": {"compute_capability": "8.9"}},
        "warning",
    ),
    case(
        "SW025",
        "limit",
        _on(job=_engine(built_on="RTX 3090", hardware_compatibility="ampere_plus")),
    ),
    case(
        "SW025",
        "limit",
        _on(job=_engine(built_with="10.3", version_compatible=True), tensorrt="11.0"),
    ),
    case("SW025", "silent", _on(job=_job(task="inference", stack="vllm"))),
    case(
        "SW025",
        "unknown",
        _on(PASCAL, job=_engine(built_on="RTX 3090")),
        {PASCAL: {"compute_capability": None, "vendor": "NVIDIA"}},
    ),
    case("WRK007", "fires", _split(sync="asynchronous")),
    case("WRK007", "fires", _split(sync="stale", staleness=2)),
    case("WRK007", "silent", _split(sync="synchronous")),
    case("WRK007", "limit", _split(sync="asynchronous", tensor=2)),
    case("SW012", "fires", _on(job=_job(precision="nvfp4"))),
    case("SW012", "fires", _on(job=_job(precision="mxfp4", task="inference")), None, "warning"),
    case(
        "SW012",
        "fires",
        _on(job=_job(precision="nvfp4")),
        {"gpu.card": {"compute_capability": "12.0"}},
        "warning",
    ),
    case(
        "SW012",
        "limit",
        _on(job=_job(precision="nvfp4")),
        {"gpu.card": {"compute_capability": "10.0"}},
    ),
    case(
        "SW012",
        "limit",
        _on(job=_job(precision="nvfp4", task="inference")),
        {"gpu.card": {"compute_capability": "12.0"}},
    ),
    case("SW012", "silent", _on(job=_job(precision="fp16"))),
    case(
        "SW012",
        "unknown",
        _on(job=_job(precision="nvfp4")),
        {"gpu.card": {"compute_capability": None, "vendor": "NVIDIA"}},
    ),
    case("SW013", "fires", _on(PASCAL, job=_job(stack="vllm", task="serve"))),
    case(
        "SW013",
        "limit",
        _on(PASCAL, job=_job(stack="vllm", task="serve")),
        {PASCAL: {"compute_capability": "7.0"}},
    ),
    case("SW013", "fires", _on(job=_job(stack="vllm", task="serve"), os="Windows 11")),
    case("SW013", "limit", _on(job=_job(stack="vllm", task="serve"), os="Windows 11, WSL 2")),
    case(
        "SW013",
        "fires",
        _on(PASCAL, job=_job(stack="ollama", task="serve")),
        {PASCAL: {"compute_capability": "3.7"}},
    ),
    case(
        "SW013",
        "limit",
        _on(PASCAL, job=_job(stack="ollama", task="serve")),
        {PASCAL: {"compute_capability": "5.0"}},
    ),
    case("SW013", "limit", _on(job=_job(stack="ollama", task="serve"), os="Windows 11")),
    case("SW013", "silent", _on(PASCAL, job=_job())),
    case(
        "SW013",
        "unknown",
        _on(PASCAL, job=_job(stack="vllm")),
        {PASCAL: {"compute_capability": None, "vendor": "NVIDIA"}},
    ),
    case("SW014", "fires", _on(PASCAL, driver="590.44")),
    case("SW014", "fires", _on(driver="450.80")),
    case("SW014", "fires", _on(PASCAL, driver="580.95-open")),
    case("SW014", "fires", _on(driver="580.95-proprietary"), BLACKWELL),
    case("SW014", "limit", _on(PASCAL, driver="580.95")),
    case("SW014", "limit", _on(driver="580.95-open"), BLACKWELL),
    case("SW014", "limit", _on(driver="580.95-proprietary")),
    case("SW014", "limit", _on(driver="455.23")),
    case("SW014", "silent", _on(PASCAL)),
    case(
        "SW014",
        "unknown",
        _on(driver="580.95"),
        {"gpu.card": {"compute_capability": None, "vendor": "NVIDIA"}},
    ),
    case(
        "SW015",
        "fires",
        _two(),
        {PASCAL: {"compute_capability": "3.7"}, "gpu.card": {"compute_capability": "8.9"}},
    ),
    case("SW015", "fires", _two(), BLACKWELL, "warning"),
    case("SW015", "fires", _two("Ubuntu 24.04"), BLACKWELL, "error"),
    case("SW015", "fires", _two(driver="580.95"), BLACKWELL, "warning"),
    case("SW015", "limit", _two("Windows 11"), BLACKWELL),
    case("SW015", "limit", _two(driver="580.95-open"), BLACKWELL),
    case(
        "SW015",
        "limit",
        _two(),
        {PASCAL: {"compute_capability": "3.7"}, "gpu.card": {"compute_capability": "8.6"}},
    ),
    case("SW015", "silent", _on(count=2)),
    case("SW015", "unknown", _two(), {PASCAL: {"compute_capability": None, "vendor": "NVIDIA"}}),
    case("SW016", "fires", _two(), {"gpu.card": {"compute_capability": "12.0"}}),
    case("SW016", "fires", _two(), None, "info"),
    case(
        "SW016",
        "limit",
        _two(),
        {PASCAL: {"compute_capability": "7.5"}, "gpu.card": {"compute_capability": "12.0"}},
    ),
    case("SW016", "silent", _on(count=2)),
    case("SW016", "unknown", _two(), {PASCAL: {"compute_capability": None, "vendor": "NVIDIA"}}),
    case("SW017", "fires", _on(PASCAL, job=_job(task="serve", quant="awq"))),
    case(
        "SW017",
        "fires",
        _on(PASCAL, job=_job(task="serve", quant="w4a16")),
        {PASCAL: {"compute_capability": "7.5"}},
        "warning",
    ),
    case(
        "SW017",
        "limit",
        _on(PASCAL, job=_job(task="serve", quant="awq")),
        {PASCAL: {"compute_capability": "7.5"}},
    ),
    case("SW017", "limit", _on(PASCAL, job=_job(task="serve", quant="gptq"))),
    case("SW017", "fires", _on(PASCAL, job=_job(task="serve", quant="mxfp4", stack="vllm"))),
    case("SW017", "silent", _on(PASCAL, job=_job(task="serve", quant="mxfp4", stack="llama.cpp"))),
    case("SW017", "silent", _on(PASCAL, job=_job())),
    case("SW017", "unknown", _on(PASCAL, job=_job(task="serve", quant="awq")), NO_CAPABILITY),
    case("SW024", "fires", _on(job=_job(task="serve", precision="fp8", stack="llama.cpp"))),
    case("SW024", "fires", _on(PASCAL, job=_job(task="serve", precision="fp8", stack="vllm"))),
    case(
        "SW024",
        "fires",
        _on(job=_job(task="serve", precision="q4_k_m", stack="vllm")),
        None,
        "warning",
    ),
    case(
        "SW024",
        "fires",
        _on(job=_job(task="serve", precision="fp8", stack="vllm")),
        None,
        "info",
    ),
    case("SW024", "limit", _on("gpu.other", job=_job(task="serve", precision="fp8", stack="vllm"))),
    case("SW024", "silent", _on(job=_job(task="serve", precision="q4_k_m", stack="llama.cpp"))),
    case(
        "SW024",
        "unknown",
        _on(PASCAL, job=_job(task="serve", precision="fp8", stack="vllm")),
        NO_CAPABILITY,
    ),
    case("SW018", "fires", _on(PASCAL, job=_compiled())),
    case("SW018", "fires", _on(job=_compiled(), pytorch="2.9"), SPARK),
    case("SW018", "limit", _on(job=_compiled(), pytorch="2.10"), SPARK),
    case("SW018", "limit", _on(PASCAL, job=_compiled()), {PASCAL: {"compute_capability": "7.0"}}),
    case("SW018", "silent", _on(PASCAL, job=_job())),
    case("SW018", "unknown", _on(PASCAL, job=_compiled()), NO_CAPABILITY),
    case("SW019", "fires", _on(tensorflow="2.11", os="Windows 11")),
    case("SW019", "fires", _on(jax="0.4.30", os="Windows 11")),
    case("SW019", "fires", _on(count=2, job=_job(), os="Windows 10"), None, "warning"),
    case("SW019", "fires", _on(job=_compiled(), os="Windows 11"), None, "warning"),
    case("SW019", "limit", _on(tensorflow="2.10", os="Windows 11")),
    case("SW019", "limit", _on(tensorflow="2.11", os="Windows 11, WSL 2")),
    case("SW019", "limit", _on(job=_job(), os="Windows 11")),
    case("SW019", "silent", _on(tensorflow="2.16")),
    case("SW019", "unknown", _on(tensorflow="nightly", os="Windows 11")),
    case("SW020", "fires", _on(tensorflow="2.17"), MAXWELL),
    case("SW020", "fires", _on(tensorflow="2.3")),
    case("SW020", "fires", _on(rapids="24.02"), MAXWELL),
    case("SW020", "fires", _on(nunchaku="0.2"), MAXWELL),
    case("SW020", "fires", _on(**{"deep-gemm": "2.1"}), BLACKWELL),
    case("SW020", "limit", _on(tensorflow="2.16.2"), MAXWELL),
    case("SW020", "limit", _on(tensorflow="2.4")),
    case("SW020", "silent", _on(jax="0.4.30")),
    case("SW020", "unknown", _on(tensorflow="nightly")),
    case("SW020", "unknown", _on(PASCAL, tensorflow="2.10"), NO_CAPABILITY),
    case("SW023", "fires", _on(pytorch="2.4"), GRACE),
    case("SW023", "fires", _on(pytorch="2.9"), GRACE, "info"),
    case("SW023", "fires", _on(tensorflow="2.20"), GRACE),
    case("SW023", "fires", _on(bitsandbytes="0.46.1"), JETSON),
    case(
        "SW023",
        "fires",
        _on(job=Workload(name="job", task="inference", stack="vllm", flags=["gib:10"])),
        JETSON,
        "warning",
    ),
    case("SW023", "limit", _on(pytorch="2.10"), GRACE),
    case("SW023", "limit", _on(bitsandbytes="0.46.1"), GRACE),
    case("SW023", "silent", _on(pytorch="2.4", tensorflow="2.20")),
    case("SW023", "unknown", _on(pytorch="nightly"), GRACE),
    case("SW021", "fires", _on(rocm="6.2")),
    case("SW021", "fires", _on(cuda="12.4"), RADEON),
    case(
        "SW021",
        "fires",
        _on(job=Workload(name="job", task="inference", stack="vllm", flags=["gib:10"])),
        VEGA,
    ),
    case("SW021", "fires", _on(job=_job(attention="flash")), VEGA),
    case("SW021", "fires", _on(driver="470"), RADEON),
    case("SW021", "fires", _on(**{"ngc-pytorch": "25.01"}), VEGA),
    case("SW021", "fires", _on(pytorch="2.8.0+cu128"), RADEON),
    case("SW021", "fires", _on(pytorch="2.8.0+rocm6.4")),
    case("SW021", "limit", _on(driver="99.9"), RADEON),
    case("SW021", "limit", _on(driver="470")),
    case("SW021", "limit", _on(**{"ngc-pytorch": "25.01"})),
    case("SW021", "limit", _on(pytorch="2.8.0+rocm6.4"), RADEON),
    case("SW021", "limit", _on(cuda="12.4")),
    case("SW021", "limit", _on(rocm="6.2"), RADEON),
    case(
        "SW021",
        "limit",
        _on(job=Workload(name="job", task="inference", stack="vllm", flags=["gib:10"])),
        RADEON,
    ),
    case("SW021", "silent", _on(job=_job())),
    case(
        "SW021",
        "unknown",
        _on(job=_job(attention="flash")),
        {"gpu.card": {"vendor": "AMD", "compute_capability": None}},
    ),
    case("SW022", "fires", _on(job=_job(precision="bf16")), VEGA),
    case("SW022", "fires", _on(job=_job(precision="fp8")), RADEON, "error"),
    case("SW022", "fires", _on(job=_job(task="inference", precision="fp8")), RADEON, "warning"),
    case(
        "SW022",
        "fires",
        _on(job=_job()),
        {"gpu.card": {"unsupported": ("fp32", "fp16", "bf16"), "dense_tflops.int8": 40.0}},
        "error",
    ),
    case("SW022", "limit", _on(job=_job(precision="bf16")), RADEON),
    case(
        "SW022",
        "unknown",
        _on(job=_job(precision="bf16")),
        {"gpu.card": {"vendor": "AMD", "compute_capability": "gfx1100", "dense_tflops.bf16": None}},
    ),
    case("SW022", "silent", _on(job=_job(precision="fp8"))),
    case("VRM001", "fires", _on(job=_job(27.0, batch_per_gpu=4))),
    case("VRM001", "limit", _on(job=_job(23.7 / 0.9))),
    case("VRM001", "silent", _on(job=_job(10.0))),
    case("VRM001", "unknown", _on(job=_job(10.0)), {"gpu.card": {"memory_gib": None}}),
    case("VRM002", "fires", _on(job=_job(22.0, batch_per_gpu=4))),
    case("VRM002", "fires", _on(job=_job(25.0))),
    case("VRM002", "limit", _on(job=_job(23.7 / 1.1))),
    case("VRM002", "silent", _on(job=_job(10.0))),
    case("VRM002", "unknown", _on(job=_job(10.0)), {"gpu.card": {"memory_gib": None}}),
    case(
        "MEM009", "fires", _on(job=Workload(name="job", task="train", flags=["gib:10", "host:65"]))
    ),
    case(
        "MEM009", "limit", _on(job=Workload(name="job", task="train", flags=["gib:10", "host:64"]))
    ),
    case("MEM009", "silent", _on(job=_job())),
    case(
        "MEM009",
        "unknown",
        bench_rig(
            memory=None, jobs=(Workload(name="job", task="train", flags=["gib:10", "host:64"]),)
        ),
    ),
    case(
        "DSK008",
        "fires",
        _on(job=Workload(name="job", task="train", flags=["gib:10", "nvme:1863"])),
    ),
    case(
        "DSK008",
        "limit",
        _on(job=Workload(name="job", task="train", flags=["gib:10", "nvme:1862"])),
    ),
    case("DSK008", "silent", _on(job=_job())),
    case(
        "DSK008",
        "unknown",
        bench_rig(
            storage=None, jobs=(Workload(name="job", task="train", flags=["gib:10", "nvme:1"]),)
        ),
    ),
    case("MIG001", "fires", _parts("4g.24gb", "1g.6gb"), None, None, (A30,)),
    case("MIG001", "fires", _parts("3g.20gb"), None, None, (A30,)),
    case("MIG001", "fires", _on(job=_job(1.0, mig="1g.6gb"))),
    case("MIG001", "limit", _parts("2g.12gb", "1g.6gb", "1g.6gb"), None, None, (A30,)),
    case("MIG001", "silent", _on(job=_job())),
    case(
        "MIG001",
        "unknown",
        _on(job=_job(1.0, mig="1g.6gb")),
        {"gpu.card": {"mig_slices": 7, "vendor": "NVIDIA"}},
    ),
    case("MIG002", "fires", _on(job=_job(1.0, mig="1g.6gb", parallelism=Parallelism(tensor=2)))),
    case(
        "MIG002",
        "fires",
        bench_rig(
            settings=named(nccl="2.32.3"),
            jobs=(_job(1.0, mig="1g.6gb", parallelism=Parallelism(data=4)),),
        ),
        None,
        "warning",
    ),
    case("MIG002", "limit", _on(job=_job(1.0, mig="1g.6gb", parallelism=Parallelism(data=1)))),
    case("MIG002", "silent", _split(count=2, tensor=2)),
    case("WRK001", "fires", _split(count=3, tensor=3)),
    case("WRK001", "limit", _split(count=4, tensor=4)),
    case("WRK001", "silent", _split(count=4)),
    case("WRK001", "unknown", _split({"hidden_size": 1}, count=4, tensor=4)),
    case(
        "WRK002",
        "fires",
        _split({**LLAMA, "num_attention_heads": 30, "num_key_value_heads": 30}, count=3, tensor=3),
    ),
    case("WRK002", "limit", _split(count=4, tensor=4)),
    case("WRK002", "silent", _split(count=4)),
    case("WRK003", "fires", _split(count=3, pipeline=3)),
    case(
        "WRK003",
        "fires",
        _split({**LLAMA, "num_hidden_layers": 2}, count=4, pipeline=4),
        None,
        "error",
    ),
    case("WRK003", "limit", _split(count=4, pipeline=4)),
    case("WRK003", "silent", _split(count=4)),
    case("WRK003", "unknown", _split({"hidden_size": 1}, count=4, pipeline=4)),
    case("WRK004", "fires", _split(count=4, tensor=2, pipeline=4), None, "error"),
    case("WRK004", "fires", _split(count=4, tensor=2, data=1), None, "warning"),
    case("WRK004", "limit", _split(count=4, tensor=2, pipeline=2)),
    case("WRK004", "silent", DESK_RIG),
    case("WRK005", "fires", _split(count=3, expert=3)),
    case("WRK005", "limit", _split(count=4, expert=4)),
    case("WRK005", "silent", _split(count=4)),
    case("WRK005", "unknown", _split({"hidden_size": 1}, count=4, expert=4)),
    case("WRK006", "fires", _grouped(2, 29568), None, "warning"),
    case("WRK006", "fires", _grouped(4, 1536 // 2, quantization_config=BLOCKS)),
    case(
        "WRK006",
        "fires",
        _grouped(
            4, 4096, num_local_experts=8, moe_intermediate_size=768, quantization_config=BLOCKS
        ),
    ),
    case("WRK006", "limit", _grouped(2, 29696)),
    case(
        "WRK006",
        "limit",
        _grouped(
            2, 4096, num_local_experts=8, moe_intermediate_size=768, quantization_config=BLOCKS
        ),
    ),
    case("WRK006", "limit", _grouped(2, 29568, stack="llama.cpp")),
    case("WRK006", "silent", _grouped(2, 29568, quant="fp8")),
    case("WRK006", "unknown", _grouped(2, None)),
    case(
        "KNO001",
        "fires",
        bench_rig(gpu="nvidia.tesla.t4", motherboard=None, system="hp.elitedesk.800-g5"),
    ),
    case("KNO001", "limit", bench_rig(gpu="nvidia.tesla.t4")),
    case("KNO001", "silent", DESK_RIG),
    case(
        "KNO001",
        "fires",
        DESK_RIG,
        {"board.desk": {"layout.chipset": "B650"}, "memory.desk": {"module_gib": 48.0}},
    ),
    case(
        "KNO001",
        "limit",
        _on(bios="3.10"),
        {"board.desk": {"layout.chipset": "B650"}, "memory.desk": {"module_gib": 48.0}},
    ),
    case("RIG005", "fires", bench_rig(settings=named(pytroch="2.8"))),
    case("RIG005", "fires", bench_rig(settings=named(pytroch="2.8", pytorch="2.8"))),
    case("RIG005", "fires", bench_rig(settings=named(house_spirit="1"))),
    case("RIG005", "fires", bench_rig(site=Site(country="XX"))),
    case("RIG005", "fires", bench_rig(site=Site(country="GERMANY"))),
    case("RIG005", "fires", set_ignored(DESK_RIG, "XXX999", True)),
    case("RIG005", "fires", set_severity(DESK_RIG, "SPC01", "info")),
    case("RIG005", "fires", set_severity(DESK_RIG, "SPC001", "fatal")),
    case("RIG005", "fires", set_severity(DESK_RIG, "SPC001", "erorr")),
    case(
        "RIG005",
        "fires",
        waive(
            waive(DESK_RIG, "SPC999", "cut open", "Ada"),
            "SPC999",
            "cut open",
            "Ada",
            subject="gpu.0",
        ),
    ),
    case("RIG005", "limit", bench_rig(settings=named(pytorch="2.8"), site=Site(country="uk"))),
    case(
        "RIG005",
        "silent",
        waive(
            set_severity(set_ignored(DESK_RIG, "SPC001", True), "SPC002", "unknown"),
            "SPC003",
            "no",
            "Ada",
        ),
    ),
    case("RIG001", "fires", bench_rig(thing="nobody.knows.this"), None, "unknown"),
    case("RIG001", "limit", bench_rig(thing="fan.gpu")),
    case("RIG001", "silent", DESK_RIG),
    case("RIG001", "unknown", bench_rig(thing="nobody.knows.this")),
    case("RIG002", "fires", bench_rig(psu=None), None, "unknown"),
    case("RIG002", "fires", bench_rig(storage=None), None, "info"),
    case("RIG002", "fires", bench_rig(motherboard=None, cpu=None, memory=None), None, "unknown"),
    case("RIG002", "limit", bench_rig(chassis=None, cooler=None)),
    case("RIG002", "silent", DESK_RIG),
    case("RIG002", "unknown", bench_rig(psu=None)),
    case(
        "RIG003",
        "fires",
        DESK_RIG,
        {"gpu.card": {"doubts": {"tdp_w": Doubt(state="conflict", values=("300", "350"))}}},
    ),
    case(
        "RIG003", "limit", DESK_RIG, {"gpu.card": {"doubts": {"tdp_w": Doubt(state="unverified")}}}
    ),
    case("RIG003", "silent", DESK_RIG),
    case(
        "RIG003",
        "limit",
        DESK_RIG,
        {"gpu.card": {"doubts": {"released": Doubt(state="conflict", values=("2020", "2021"))}}},
    ),
    case("RIG003", "fires", DESK_RIG, _length("290", "321")),
    case("RIG003", "limit", DESK_RIG, _length("290", "320")),
    case("RIG003", "limit", bench_rig(chassis=None), _length("290", "321")),
    case("RIG006", "fires", DESK_RIG, _room(UNVERIFIED, 308)),
    case("RIG006", "limit", DESK_RIG, _room(UNVERIFIED, 310)),
    case("RIG006", "limit", DESK_RIG, _room(None, 300)),
    case("RIG006", "fires", DESK_RIG, _room(Doubt(state="conflict", values=("290", "400")), 400)),
    case("RIG006", "limit", DESK_RIG, _room(Doubt(state="conflict", values=("310", "400")), 400)),
    case("RIG006", "silent", bench_rig(chassis=None)),
)
