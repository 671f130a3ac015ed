"""The model zoo: every network resolves, names are found, sources are there."""

import json
from pathlib import Path

import pytest

from rigplanner.catalog.load import CatalogFault
from rigplanner.catalog.zoo import base_name, read_zoo, shipped_zoo
from rigplanner.rig.workload import Workload
from rigplanner.workload.network import resolve


def test_there_are_many_networks_and_each_has_a_source() -> None:
    zoo = shipped_zoo()
    assert len(zoo.models) >= 150
    assert all(model.source in zoo.sources for model in zoo.models.values())


def test_every_network_resolves_to_a_size() -> None:
    zoo = shipped_zoo()
    for slug in zoo.models:
        network = resolve(Workload(model=slug), zoo)
        assert network.params > 5e4, slug
        assert 0 < network.active_params <= network.params, slug


PUBLISHED_B = {
    "trinity-mini": 26.1,
    "trinity-large": 398.0,
    "grok-2": 269.5,
    "k-exaone-236b-a23b": 236.0,
    "solar-open-100b": 102.6,
    "snowflake-arctic": 479.0,
    "devstral-2-123b": 125.0,
    "nemotron-nano-12b-v2": 12.3,
    "internlm2.5-7b": 7.74,
    "internvl3.5-241b-a28b": 240.7,
    "minicpm-v-2.6": 8.1,
    "embeddinggemma-300m": 0.303,
    "gte-multilingual-base": 0.305,
    "multilingual-e5-small": 0.118,
    "granite-4.0-micro": 3.4,
    "qwen1.5-110b": 111.2,
    "qwen2-57b-a14b": 57.4,
    "deepseek-llm-67b": 67.4,
    "deepseek-moe-16b": 16.4,
    "moonlight-16b-a3b": 16.0,
    "codestral-22b": 22.2,
    "baichuan2-13b": 13.9,
    "internlm2-20b": 19.9,
    "chatglm3-6b": 6.24,
    "glm-4-32b-0414": 32.6,
    "glm-4.5": 353,
    "ling-1t": 1000,
    "dbrx": 132,
    "minimax-text-01": 456,
    "jamba-1.5-large": 398,
    "command-r-plus": 104,
    "command-a": 111,
    "dolly-v2-12b": 11.8,
    "starcoder": 15.5,
    "codegen-6b": 7.07,
    "cerebras-gpt-13b": 12.9,
    "falcon-11b": 11.1,
    "stablelm-2-12b": 12.1,
    "nemotron-4-340b": 341,
    "rwkv-4-14b": 14.2,
    "esm2-15b": 15.1,
    "xlm-roberta-xl": 3.48,
    "t5-11b": 11.3,
    "byt5-xxl": 12.9,
    "nllb-3.3b": 3.34,
    "wav2vec2-xls-r-2b": 2.16,
    "internvl3-78b": 78.4,
    "llama-3.2-90b-vision": 88.6,
    "vicuna-33b": 32.5,
}
"""Parameters that the makers publish, in billions."""


def test_parameters_counted_from_a_configuration_are_the_published_ones() -> None:
    zoo = shipped_zoo()
    for name, billions in PUBLISHED_B.items():
        assert resolve(Workload(model=name), zoo).params / 1e9 == pytest.approx(
            billions, rel=0.01
        ), name


def test_names_aliases_and_retrained_variants_are_found() -> None:
    zoo = shipped_zoo()
    assert zoo.get("resnet-50") is zoo.get("resnet50") is zoo.get("gluon_resnet50_v1b")
    assert zoo.get("no-such-network") is None
    assert (
        "llama-3.1-8b" in (near := zoo.nearest("llama-3.1-9b")) and len(near) == len(set(near)) == 4
    )
    assert zoo.find("qwen 7b")[0].slug == "qwen-7b"
    assert base_name("tf_efficientnetv2_m_in21ft1k") == "efficientnetv2_m"


def test_a_name_used_twice_is_a_fault(tmp_path: Path) -> None:
    source = {"s": {"title": "t", "read": "2026-11-21", "trust": "vendor"}}
    model = {"slug": "a", "name": "a", "kind": "llm", "source": "s"}
    (tmp_path / "x.json").write_text(
        json.dumps({"family": "f", "sources": source, "models": [model, model]}), encoding="utf-8"
    )
    with pytest.raises(CatalogFault, match="used twice"):
        read_zoo(tmp_path)


def test_networks_of_published_memory_are_known() -> None:
    zoo = shipped_zoo()
    published = json.loads(Path(__file__).with_name("published_names.json").read_bytes())
    assert not {slug for slug in published["networks"] if zoo.get(slug) is None}
