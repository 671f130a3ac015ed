"""Memory and speed read a configuration once: every known family has the same parameters and the
same feed-forward layers for both, as the layers on the tape have them."""

from typing import Any

import pytest

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.networks.config.config import defaults
from rigplanner.networks.config.older_configs import of_today
from rigplanner.networks.counting import counted, made_of
from rigplanner.networks.families.build import NETWORKS, OWN, STATES, WHOLE
from rigplanner.networks.families.decoders.family import traits_by_family
from rigplanner.networks.families.encoders.family import encoder_families
from rigplanner.networks.tracer.net import Net, Setting
from rigplanner.networks.tracer.step import contradictions
from rigplanner.networks.tracer.tape import CUDA, Tape
from rigplanner.performance.geometry.resolve import resolve_shape
from rigplanner.performance.predict import predict_speed
from rigplanner.rig.workload import Workload
from rigplanner.workload.network import Network, resolve

LAYERS, WIDTH = 4, 14336
BODY = {
    "hidden_size": 4096,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": WIDTH,
    "vocab_size": 128256,
}
FAMILIES = sorted(
    {*traits_by_family(), *encoder_families(), *STATES, *OWN, *WHOLE, *defaults()} - {*NETWORKS}
)
SHARED_WEIGHTS = {"albert"}
"""Families whose layers hold one set of weights."""


def network_of(family: str) -> Network | None:
    """The 8B body under a family's name; None where its layers are told otherwise."""
    try:
        return resolve(Workload(config={"model_type": family, **BODY}), shipped_zoo())
    except WorkloadFault:
        return None


def on_tape(family: str) -> Net:
    given = of_today({"model_type": family, **BODY}, defaults())
    net = Net(Tape(CUDA), Setting(batch=1, length=64, training=False))
    with contradictions():
        made_of(given)(net)
    return net


def matrices(net: Net) -> float:
    """Matrices of the feed-forward width; one that holds two beside each other counts as two."""
    shapes = [tensor.shape for tensor in net.held if len(tensor.shape) == 2]
    return sum(edge // WIDTH for shape in shapes for edge in shape if edge in (WIDTH, 2 * WIDTH))


def test_every_known_family_is_one_network_for_memory_and_speed() -> None:
    known, told = 0, 0
    for family in FAMILIES:
        network = network_of(family)
        if network is None or network.stand_in or not network.layers:
            continue
        known += 1
        work = Workload(
            model=None, config={"model_type": family, **BODY}, kind=network.kind, seq_len=2048
        )
        shape = resolve_shape(work, None)
        params = (network.params - network.side_params) / 1e6
        assert shape.params_m == pytest.approx(params, rel=1e-9), family
        if family not in SHARED_WEIGHTS and network.hidden:
            assert shape.active_m <= params * (1 + 1e-9), family
        net = on_tape(family)
        if not network.components and not network.side_params:
            assert network.params == pytest.approx(net.values, rel=1e-6), family
        found = matrices(net) / LAYERS
        if not network.experts and found in (2, 3):
            told += 1
            assert network.ffn_matrices == found, family
    assert known > 110 and told > 80, (known, told)


def test_encoder_decoders_pass_both_sides() -> None:
    zoo = shipped_zoo()
    passed = {
        slug: resolve(Workload(model=slug), zoo).passed_layers
        for slug in ("t5-small", "flan-t5-xl", "mt5-small", "bart-base", "whisper-tiny")
    }
    assert passed == {
        "t5-small": 12,
        "flan-t5-xl": 48,
        "mt5-small": 16,
        "bart-base": 12,
        "whisper-tiny": 8,
    }


def test_experts_are_those_on_the_tape() -> None:
    """Stacks of routed experts hold as many values as their matrices, width and number say."""
    zoo = shipped_zoo()
    for slug in ("mixtral-8x7b", "qwen3-30b-a3b", "nvidia-nemotron-3-nano-30b-a3b"):
        model = zoo.get(slug)
        assert model is not None and model.config is not None
        network = resolve(Workload(model=slug), zoo)
        net = Net(Tape(CUDA), Setting(batch=1, length=64, training=False))
        made_of(model.config)(net)
        stacks = [t for t in net.held if len(t.shape) == 3 and t.shape[0] == network.experts]
        layers = len(stacks) / 2
        held = sum(t.size for t in stacks) / (network.experts * network.hidden * layers)
        assert held == network.ffn_matrices * network.expert_ffn, slug


@pytest.mark.parametrize("task", ["train_lora", "train_full"])
def test_the_same_body_is_as_fast_under_any_name(task: str) -> None:
    """Ministral and VaultGemma were 5 % faster than Llama: a list of gated families lacked them."""

    def speed(family: str) -> float:
        config: dict[str, Any] = {**BODY, "num_hidden_layers": 32, "model_type": family}
        work = Workload(
            config={**config, "tie_word_embeddings": False, "head_dim": 128},
            task=task,
            precision="bf16",
            batch_per_gpu=4,
            seq_len=2048,
        )
        return predict_speed(work, find_gpu("H100 SXM"), 1, 1, "none", None).value

    llama = speed("llama")
    assert speed("ministral") == pytest.approx(llama, rel=1e-6)
    assert speed("vaultgemma") == pytest.approx(llama, rel=2e-3)


def test_half_widths_are_halved_once() -> None:
    network = resolve(Workload(model="qwen-7b"), shipped_zoo())
    model = shipped_zoo().get("qwen-7b")
    assert model is not None and model.config is not None
    net = Net(Tape(CUDA), Setting(batch=1, length=64, training=False))
    made_of(model.config)(net)
    assert network.ffn == model.config["intermediate_size"] // 2
    assert any(network.ffn in tensor.shape for tensor in net.held)
    assert counted(made_of(model.config), 64) == net.values
