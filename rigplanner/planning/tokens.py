"""A rig of one's own against a price per token, for each language model that it writes with."""

from msgspec import Struct

from rigplanner.economics.tokens import TokenCost, token_cost
from rigplanner.rules.assess import Assessment, Job

WRITING = ("inference", "serve", "decode")


class TokenOffer(Struct, frozen=True, kw_only=True):
    """One workload against the API: its own cost, the tokens a day and the watts that count;
    `energy_known` says whether energy was counted."""

    job: Job
    cost: TokenCost
    tokens_per_day: float
    wall_w: float
    energy_known: bool


def token_offers(assessment: Assessment) -> tuple[TokenOffer, ...]:
    """Return every workload that writes tokens against the API whose price the site names; ()
    without tokens a day, a price in the currency of the total, or a whole price of the rig."""
    site, totals = assessment.rig.site, assessment.totals
    prices = (site.api_input_per_million, site.api_output_per_million)
    if not site.tokens_per_day or totals.unpriced or totals.foreign or not totals.total:
        return ()
    if not any(prices) or any(one and one.currency != totals.currency for one in prices):
        return ()
    found = (_offer(assessment, job) for job in assessment.jobs)
    return tuple(offer for offer in found if offer is not None)


def _offer(assessment: Assessment, job: Job) -> TokenOffer | None:
    site, work, speed = assessment.rig.site, job.workload, job.speed
    if speed is None or speed.metric != "tokens/s" or not speed.value or speed.fits == "no":
        return None
    if (work.task or "inference") not in WRITING or not site.tokens_per_day:
        return None
    answers = site.tokens_per_day
    prompts = answers * (work.input_tokens or 0) / (work.output_tokens or work.input_tokens or 1)
    wall_w, tariff = assessment.machine.power.wall_w, site.energy_per_kwh
    known = wall_w is not None and tariff is not None
    known = known and tariff is not None and tariff.currency == assessment.totals.currency
    cost = token_cost(
        price=assessment.totals.total,
        tokens_s=speed.value,
        answers=answers,
        prompts=prompts,
        input_price=site.api_input_per_million.amount if site.api_input_per_million else 0.0,
        output_price=site.api_output_per_million.amount if site.api_output_per_million else 0.0,
        wall_w=wall_w or 0.0,
        energy_price=tariff.amount if known and tariff else 0.0,
    )
    return TokenOffer(
        job=job,
        cost=cost,
        tokens_per_day=answers,
        wall_w=wall_w or 0.0,
        energy_known=bool(known),
    )
