"""Networks of which only the kind and the parameters are known."""

import pytest

from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.memory.estimate import estimate_memory
from rigplanner.performance.geometry.resolve import resolve_shape
from rigplanner.rig.workload import Parallelism, Workload
from rigplanner.workload.by_parameter_count import STANDS_IN, sized_config
from rigplanner.workload.network import resolve


@pytest.mark.parametrize(
    ("kind", "billions"),
    [
        ("llm", 0.5),
        ("llm", 8.0),
        ("llm", 70.0),
        ("llm", 405.0),
        ("encoder", 0.34),
        ("encoder_decoder", 11.0),
        ("asr", 1.55),
        ("vit", 0.3),
    ],
)
def test_the_stand_in_is_about_as_large(kind: str, billions: float) -> None:
    config = sized_config(kind, billions * 1e9)
    assert config is not None
    assert resolve(
        Workload(model="own", config=config), shipped_zoo()
    ).params / 1e9 == pytest.approx(billions, rel=0.06)


def test_weights_are_sure_and_the_rest_is_wide() -> None:
    unheard = Workload(
        model="unheard-of-8b",
        params_b=8.03,
        kind="llm",
        task="inference",
        precision="bf16",
        batch_per_gpu=1,
        seq_len=512,
    )
    known = Workload(
        model="llama-3.1-8b", task="inference", precision="bf16", batch_per_gpu=1, seq_len=512
    )
    named = estimate_memory(known, None, 1, shipped_zoo())
    found = estimate_memory(unheard, None, 1, shipped_zoo())
    assert found.parts.weights_gib == pytest.approx(named.parts.weights_gib, rel=0.001)
    assert found.assumed["architecture"] == "llama"
    assert (
        0.95 * found.parts.weights_gib
        < found.low_gib
        < named.tensors_gib
        < found.high_gib
        < 1.2 * named.high_gib
    )


@pytest.mark.parametrize(
    "kind",
    [
        *STANDS_IN,
        "cnn",
        "detector",
        "segmenter",
        "diffusion",
        "video_diffusion",
        "diffusion_unet",
        None,
    ],
)
def test_every_kind_has_an_estimate_to_train(kind: str | None) -> None:
    work = Workload(
        model="unheard-of",
        params_b=0.3,
        kind=kind,
        task="train_full",
        precision="amp_bf16",
        batch_per_gpu=1,
    )
    found = estimate_memory(work, None, 1, shipped_zoo())
    states_gib = found.parts.weights_gib + found.parts.gradients_gib + found.parts.optimizer_gib
    rest_gib = found.tensors_gib - states_gib
    assert found.tensors_gib > 2
    assert (
        found.low_gib <= states_gib + 0.51 * rest_gib
        and found.high_gib >= found.device_gib + 0.49 * rest_gib
    )


def test_large_ones_are_shared_by_eight_cards() -> None:
    for billions in (7, 14, 32, 70, 123, 405):
        work = Workload(
            model="unheard-of",
            params_b=billions,
            kind="llm",
            task="inference",
            precision="bf16",
            batch_per_gpu=1,
            parallelism=Parallelism(tensor=8),
        )
        assert estimate_memory(work, None, 8, shipped_zoo()).parts.weights_gib == pytest.approx(
            billions * 2e9 / 8 / 2**30, rel=0.25
        )


def test_the_speed_is_that_of_a_network_of_this_size() -> None:
    own = resolve_shape(
        Workload(model="unheard-of", params_b=8.03, kind="llm", task="inference", seq_len=512), None
    )
    named = resolve_shape(Workload(model="llama-3.1-8b", task="inference", seq_len=512), None)
    assert own.gflop == pytest.approx(named.gflop, rel=0.1) and own.params_m == pytest.approx(8030)
    with pytest.raises(WorkloadFault, match="not known"):
        resolve_shape(
            Workload(model="unheard-of", params_b=0.03, kind="cnn", task="inference"), None
        )


def test_what_its_source_writes_names_a_network_too() -> None:
    assert (
        resolve(Workload(model="l31-8", model_text="Llama 3.1 8B"), shipped_zoo()).slug
        == "llama-3.1-8b"
    )
