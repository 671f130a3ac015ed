"""The model zoo: every network resolves, names are found, sources are there."""

import json
import os
from pathlib import Path

import pytest

from rigplanner.catalog.load import CatalogFault
from rigplanner.catalog.zoo import base_name, read_zoo, shipped_zoo
from rigplanner.rig.task import Workload
from rigplanner.workload.network import resolve


def test_there_are_many_networks_and_each_has_a_source() -> None:
    zoo = shipped_zoo()
    assert len(zoo.models) >= 150
    assert all(model.source in zoo.sources for model in zoo.models.values())


def test_every_network_resolves_to_a_size() -> None:
    zoo = shipped_zoo()
    for slug in zoo.models:
        network = resolve(Workload(model=slug), zoo)
        assert network.params > 1e5, slug
        assert 0 < network.active_params <= network.params, slug


def test_names_aliases_and_retrained_variants_are_found() -> None:
    zoo = shipped_zoo()
    assert zoo.get("resnet-50") is zoo.get("resnet50") is zoo.get("gluon_resnet50_v1b")
    assert zoo.get("no-such-network") is None
    assert "llama-3.1-8b" in zoo.nearest("llama-3.1-9b")
    assert zoo.find("qwen 7b")[0].slug == "qwen-7b"
    assert base_name("tf_efficientnetv2_m_in21ft1k") == "efficientnetv2_m"


def test_a_name_used_twice_is_a_fault(tmp_path: Path) -> None:
    source = {"s": {"title": "t", "read": "2026-11-21", "trust": "vendor"}}
    model = {"slug": "a", "name": "a", "kind": "llm", "source": "s"}
    (tmp_path / "x.json").write_text(json.dumps({"family": "f", "sources": source, "models": [model, model]}), encoding="utf-8")
    with pytest.raises(CatalogFault, match="used twice"):
        read_zoo(tmp_path)


def test_networks_of_the_shared_memory_cases_are_known() -> None:
    shared = Path(os.environ.get("RIGPLANNER_SHARED") or Path(__file__).parents[3] / "shared")
    cases = shared / "cases" / "memory" / "cases.jsonl"
    if not cases.exists():
        pytest.skip("the shared cases are not here")
    zoo = shipped_zoo()
    slugs = {json.loads(line)["workload"]["model"] for line in cases.read_text(encoding="utf-8").splitlines()}
    assert not {slug for slug in slugs if zoo.get(slug) is None}
