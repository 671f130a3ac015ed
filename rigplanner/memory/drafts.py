"""What does drafting tokens ahead take of a GPU's memory: the head or the model that drafts, and
its cache."""

from __future__ import annotations

import msgspec

from rigplanner.catalog.zoo import Zoo
from rigplanner.memory.training import Demand
from rigplanner.rig.workload import Workload
from rigplanner.workload.job import Job
from rigplanner.workload.mixes import file_bits
from rigplanner.workload.network import Network, resolve
from rigplanner.workload.quant import BITS, KV_BITS


def with_drafts(demand: Demand, workload: Workload, network: Network, job: Job, zoo: Zoo) -> Demand:
    """Return the demand with a draft model of the same format, or with one more layer (the head of
    MTP and EAGLE). Drafts by n-grams take nothing. Raises WorkloadFault for an unknown model."""
    told = workload.speculative
    if told is None or told.method == "ngram" or job.task not in ("inference", "serve"):
        return demand
    ways = job.tensor * job.pipeline
    tokens = (job.input_tokens or job.length) + job.output_tokens
    per_value = job.batch * KV_BITS[job.kv_precision] / 8 / ways
    if told.model:
        draft = resolve(Workload(model=told.model), zoo)
        bits = file_bits(job.precision, draft) if job.precision in BITS else 16.0
        weights, cache = draft.params * bits / 8 / ways, draft.kv_values(tokens) * per_value
    else:
        layers = max(1, network.layers)
        weights = demand.weights / layers
        cache = network.kv_values(tokens) / layers * per_value
    return msgspec.structs.replace(
        demand, weights=demand.weights + weights, kv_cache=demand.kv_cache + cache
    )
