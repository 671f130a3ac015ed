"""Advice on cards in words."""

from rigplanner.planning.map.advice import FULL_FP64, Advice, Missing, Trend
from rigplanner.report import format as fmt
from rigplanner.report.language import Words, listed, tr
from rigplanner.report.map.figures import title_of

CLASS_WORDS = Words(
    {
        "game": "a card for games",
        "titan": "a Titan",
        "workstation": "a workstation card",
        "server": "a server card",
        "laptop": "a laptop's GPU",
        "computer": "a computer with its GPU",
    }
)
BUYER_WORDS = Words(
    {
        "game": "the usual choice where its memory holds the work",
        "titan": "for those who want one at a fair used price",
        "workstation": "for those who need its memory, ECC, or slots beside each other",
        "server": "for a chassis that blows air through it",
        "laptop": "for trying out on the way",
        "computer": "for those who want much memory and little power",
    }
)
LACK_WORDS = Words(
    {
        "fp16": "no FP16",
        "fp16-slow": "FP16 at 1/{times} of FP32",
        "bf16": "no BF16",
        "fp64-slow": "FP64 at 1/{times} of FP32",
        "p2p": "no peer access over PCIe",
        "ecc": "no ECC",
        "fan": "no fan of its own",
        "driver": "the newest CUDA has dropped it",
    }
)


def lines(advice: Advice, currency: str) -> list[str]:
    """Return the advice on a row as lines."""
    name = title_of(advice.row)
    made = [
        tr("{name}: {kind}, {buyer}.", name=name, kind=CLASS_WORDS[advice.kind],
           buyer=BUYER_WORDS[advice.kind])
    ]  # fmt: skip
    if advice.lacks:
        made.append(tr("Mind: {what}.", what=listed(map(lack_text, advice.lacks))))
    if advice.cheaper is not None and advice.saves is not None:
        made.append(
            tr(
                "{other} does this work at least as fast for {saves} less.",
                other=title_of(advice.cheaper),
                saves=fmt.money(advice.saves, currency, whole=True),
            )
        )
    made += _double(advice)
    if advice.trend is not None:
        made.append(_trend(advice.trend))
    if (used := advice.sells_for) is not None:
        made.append(
            tr(
                "A used one brings {money} ({day}).",
                money=fmt.money(used.amount, used.currency, whole=True),
                day=fmt.day(used.day),
            )
        )
    return made


def _double(advice: Advice) -> list[str]:
    """What is said of work in FP64: what float32 would bring, and which cards have units for it."""
    if advice.fp32_gain is None:
        return []
    times = fmt.number(advice.fp32_gain)
    if advice.fp32_gain <= FULL_FP64:
        text = tr("The work is in FP64, for which it has units: float32 brings {times} times.",
                  times=times)  # fmt: skip
        checked = tr("Its memory is checked (ECC), as results that count for days want.")
        return [text, checked] if advice.ecc else [text]
    made = [tr("Convert to float32 first: the work is {times} times as fast then.", times=times)]
    if advice.full is not None:
        other = title_of(advice.full)
        made.append(tr("If it must be FP64: {other} does most of it for its price.", other=other))
    return made


def _trend(trend: Trend) -> str:
    values = {
        "share": fmt.percent(abs(trend.change)),
        "before": fmt.money(trend.older.amount, trend.older.currency, whole=True),
        "day": fmt.day(trend.older.day),
        "after": fmt.money(trend.newer.amount, trend.newer.currency, whole=True),
        "now": fmt.day(trend.newer.day),
    }
    if trend.change > 0:
        return tr(
            "New ones rose by {share}, from {before} ({day}) to {after} ({now}): whoever has one"
            " may sell it well, whoever needs none yet may wait.",
            **values,
        )
    return tr("New ones fell by {share}, from {before} ({day}) to {after} ({now}).", **values)


def lack_text(missing: Missing) -> str:
    """Return what a card lacks in words."""
    text = LACK_WORDS[missing.code]
    return text.format(times=f"{1 / missing.share:.0f}") if missing.share else text
