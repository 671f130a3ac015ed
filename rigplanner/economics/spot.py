"""What an hour of work costs on a machine that its provider may take back."""

from msgspec import Struct

DAY_H = 24.0
USUAL_INTERRUPTIONS, USUAL_CHECKPOINT_MIN, USUAL_RESTART_MIN = 2.0, 60.0, 10.0
"""Taken where nobody says: two interruptions a day, a checkpoint every hour, ten minutes until the
next machine works (assumed)."""


class SpotHour(Struct, frozen=True, kw_only=True):
    """`lost_h` of each rented day are no work: half a checkpoint's interval and the restart, for
    each interruption; `hour_of_work` is what an hour that counts costs, None where none is left."""

    price: float
    lost_h: float
    hour_of_work: float | None

    @property
    def useful_share(self) -> float:
        """The share of the rented hours that is work."""
        return max(0.0, 1 - self.lost_h / DAY_H)


def spot_hour(
    price: float,
    interruptions_a_day: float = USUAL_INTERRUPTIONS,
    checkpoint_min: float = USUAL_CHECKPOINT_MIN,
    restart_min: float = USUAL_RESTART_MIN,
) -> SpotHour:
    """Return what an hour of work costs at a spot price an hour. An interruption comes at any
    moment between two checkpoints: half the interval is lost on average, then the restart, which
    is rented too; what a checkpoint takes to write is not counted."""
    lost = interruptions_a_day * (checkpoint_min / 2 + restart_min) / 60
    useful = DAY_H - lost
    return SpotHour(
        price=price,
        lost_h=min(lost, DAY_H),
        hour_of_work=price * DAY_H / useful if useful > 0 else None,
    )
