"""A board partner's card is as fast as the reference card of the same figures."""

import pytest
from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import GPU
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.performance.predict import predict_speed
from rigplanner.performance.silicon import silicon_of
from rigplanner.rig.workload import Workload

JOBS = (
    Workload(
        model="llama-3.1-8b",
        task="inference",
        precision="q4_k_m",
        stack="llama.cpp",
        batch_per_gpu=1,
        input_tokens=512,
        output_tokens=128,
    ),
    Workload(model="resnet50", task="train", precision="amp", batch_per_gpu=64, image_size=224),
)


CARDS = (
    "nvidia.geforce.rtx-5090",
    "amd.radeon.rx-9070-xt",
    "intel.arc.a770-16gb",
    "nvidia.geforce.gtx-970",
)


@pytest.mark.parametrize("card", CARDS)
@pytest.mark.parametrize("job", JOBS)
def test_the_name_on_the_box_changes_nothing(catalog: Catalog, card: str, job: Workload) -> None:
    own = catalog.parts[card]
    assert isinstance(own, GPU)
    partner = replace(own, id="partner.card.of-it", vendor="Partner")
    assert silicon_of(partner) == silicon_of(own)
    both = [predict_speed(job, gpu, 1, 1, "none", shipped_zoo()) for gpu in (own, partner)]
    assert both[1].value == pytest.approx(both[0].value, rel=0.1)
    assert both[1].stack == both[0].stack
