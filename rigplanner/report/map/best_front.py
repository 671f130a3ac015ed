"""The front of the best rigs as a picture: price against speed."""

from collections.abc import Sequence

from rigplanner.catalog.load import Catalog
from rigplanner.planning.best.search import Candidate
from rigplanner.report.format import money, unit_text
from rigplanner.report.language import tr
from rigplanner.report.map.scatter import Axis, Point, scatter, short
from rigplanner.report.map.scene import Measure, Scene, letters
from rigplanner.report.words.best import cards_text, speed_text


def front_scene(
    points: Sequence[Candidate],
    knee: int | None,
    catalog: Catalog,
    width: float = 760.0,
    height: float | None = None,
    measure: Measure = letters,
) -> Scene:
    """Return the picture of rigs none of which another beats; the knee is named, a spot's row is
    the rig's index."""
    made = [_point(n, best, n == knee, catalog) for n, best in enumerate(points)]
    currency = points[0].rig.currency if points else ""
    unit = points[0].score.speeds[0].metric if points else ""
    single = bool(points) and len(points[0].score.speeds) == 1
    return scatter(
        made,
        Axis(name=tr("price, {currency}", currency=currency)),
        Axis(name=unit_text(unit) if single else tr("mean speed")),
        tr("Price and speed of the best rigs"),
        tr("80 % intervals; no rig is faster for the same money."),
        width=width,
        height=height,
        measure=measure,
    )


def _point(n: int, best: Candidate, is_knee: bool, catalog: Catalog) -> Point:
    name = short(cards_text(best, catalog))
    said = f"{cards_text(best, catalog)}\n{money(best.price, best.rig.currency)}"
    return Point(
        x=best.price,
        y=best.score.value,
        low=best.score.low,
        high=best.score.high,
        name=tr("{name} (the knee)", name=name) if is_knee else name,
        kind="machine" if best.cards is None else "card",
        hollow=best.score.unproven,
        row=n,
        text=f"{said}\n{speed_text(best)}",
    )
