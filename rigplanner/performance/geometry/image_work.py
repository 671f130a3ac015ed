"""Pictures that a language model reads, as positions of its sequence and as work of the part that
sees."""

from msgspec.structs import replace

from rigplanner.catalog.zoo import Zoo, shipped_zoo
from rigplanner.rig.workload import Workload
from rigplanner.workload.network import resolve
from rigplanner.workload.pictures import pictures_of


def pictured(workload: Workload, zoo: Zoo | None) -> tuple[Workload, float]:
    """Return the workload with the positions that its pictures take among its tokens, and the GFLOP
    of seeing them for one sample. What writes reads its prompt that much longer: the work of seeing
    counts as so many more tokens there, and no GFLOP is left. Raises WorkloadFault for a model
    whose way of reading images is not known."""
    if not workload.images:
        return workload, 0.0
    network = resolve(workload, zoo or shipped_zoo())
    places, flops = pictures_of(workload, network)
    bare = replace(workload, images=None, image_size=None)
    if (workload.task or "").startswith("train"):
        return replace(
            bare, seq_len=(workload.seq_len or workload.input_tokens or USUAL_TEXT) + places
        ), flops / 1e9
    text = workload.input_tokens or workload.seq_len or USUAL_TEXT
    return replace(
        bare, input_tokens=text + places + round(flops / (2 * network.active_params)), seq_len=None
    ), 0.0


USUAL_TEXT = 512
"""Tokens of text beside pictures where a job does not say."""
