"""What the page *Find the best* works out aside, piece by piece."""

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from rigplanner.catalog.cloud import shipped_cloud
from rigplanner.catalog.load import Catalog
from rigplanner.planning.aims import Aim
from rigplanner.planning.best.answer import Answer, Seeker, answers
from rigplanner.planning.best.choices import front, rivals
from rigplanner.planning.best.hire import hired
from rigplanner.planning.best.nearest import changes
from rigplanner.planning.best.question import Question
from rigplanner.planning.best.search import Candidate
from rigplanner.report.words import best as words

MOST_POINTS = 6


class Found(Struct, frozen=True):
    """What the search has by now: the answer, the front around it (dearest first), what else it
    runs, why others lost, what makes it possible where nothing does; `whole` when no more comes."""

    answer: Answer
    seeker: Seeker
    points: tuple[Candidate, ...] = ()
    also: tuple[str, ...] = ()
    why: tuple[str, ...] = ()
    whole: bool = False


def finding(
    question: Question,
    aims: Sequence[Aim],
    catalog: Catalog,
    today: str,
    go_on: Callable[[], bool],
) -> Iterator[Found]:
    """Yield what is found as it grows: the best so far, the proven answer, the front below it, why
    the others lost."""
    answer: Answer | None = None
    for seeker, answer in answers(question, catalog, today, True, go_on):
        yield Found(answer, seeker)
    if answer is None or not go_on():
        return
    if answer.best is None:
        possible = words.possible_texts(changes(seeker), seeker)
        yield Found(answer, seeker, why=tuple(possible), whole=True)
        return
    points: list[Candidate] = [answer.best]
    if question.objective == "fastest":
        for point in front(seeker, answer.best.price * 0.99):
            if not go_on() or len(points) >= MOST_POINTS or point.best is None:
                break
            points.append(point.best)
            yield Found(answer, seeker, tuple(points))
    why = [*words.instead_texts(seeker, answer)]
    why += [words.rival_text(each, answer, catalog) for each in rivals(seeker, answer)]
    why += words.hire_texts(hired(question, catalog, shipped_cloud()), answer.best)
    also = tuple(words.also_texts(answer.best, aims, seeker))
    yield Found(answer, seeker, tuple(points), also, tuple(why), True)
