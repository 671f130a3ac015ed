"""Faults of the engine's models in words."""

import pytest

from rigplanner.catalog.find.find import index_of
from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import GPU
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.memory.estimate import estimate_memory
from rigplanner.performance.predict import predict_speed
from rigplanner.report.words.faults import FAULTS, fault_text
from rigplanner.rig.workload import Workload


def _fault(catalog: Catalog, gpu: str, workload: Workload) -> str:
    card = index_of(catalog).find(gpu, "gpu")[0]
    assert isinstance(card, GPU)
    with pytest.raises(WorkloadFault) as fault:
        predict_speed(workload, card, 1, 1, "none", shipped_zoo())
    return str(fault.value)


def test_the_faults_that_the_speed_model_raises_have_words(catalog: Catalog) -> None:
    lacks = _fault(
        catalog,
        "Tesla V100 SXM2 32GB",
        Workload(model="llama-3.1-8b", task="inference", precision="fp8"),
    )
    assert fault_text(lacks) != lacks
    assert fault_text(lacks).startswith(
        "NVIDIA Tesla V100 SXM2 32GB has no fp8 arithmetic; it has "
    )
    stranger = _fault(catalog, "RTX 3090", Workload(model="lama-3.1-8b", task="inference"))
    assert fault_text(stranger).startswith("The model lama-3.1-8b is not known; the nearest are ")
    assert fault_text(_fault(catalog, "RTX 3090", Workload(task="train"))) == "No model is chosen."


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("wide-and-deep", "How many rows the embedding tables of wide-and-deep have is not known."),
        ("dcn", "The model dcn is not known; the nearest are dlrm-dcnv2, "),
        ("no such net", "The model no such net is not known"),
    ],
)
def test_the_faults_that_the_memory_model_raises_of_names_have_words(
    model: str, words: str
) -> None:
    with pytest.raises(WorkloadFault) as fault:
        estimate_memory(Workload(model=model, task="train"), None, 1, shipped_zoo())
    assert fault_text(str(fault.value)).startswith(words)


def test_a_fault_without_words_stays_and_none_is_empty() -> None:
    assert (
        fault_text("tensor_split: expected shares above 0, found none.")
        == "tensor_split: expected shares above 0, found none."
    )
    assert fault_text(None) == fault_text("") == ""


def test_the_words_name_every_value_of_their_pattern() -> None:
    for pattern, text in FAULTS.items():
        assert all(f"(?P<{name}>" in pattern for name in text.replace("}", "{").split("{")[1::2])
