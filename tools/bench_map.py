"""Figures of the map for `make bench`: one work on every card, the first rows, sixty works."""

import statistics
import time
from itertools import product

from rigplanner.catalog.cloud import shipped_cloud
from rigplanner.catalog.load import shipped_catalog
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.planning.map.asked import Question, RowsSoFar, growing
from rigplanner.planning.map.cards import cards
from rigplanner.planning.map.order import ranked
from rigplanner.planning.map.rank import rows
from rigplanner.rig.workload import Workload
from tools.bench_figure import Figure

COUNTS = (1, 2, 4, 8)
MODELS = (
    "llama-3.1-8b", "qwen3-32b", "mixtral-8x7b-v0.1", "gemma-3-27b", "qwen2.5-7b", "phi-4",
    "gpt-oss-20b", "mistral-7b-v0.3", "llama-3.3-70b", "bert-large", "resnet-50", "sdxl-base",
)  # fmt: skip
TASKS = ("train_qlora", "train_lora", "train_full", "inference", "serve")
ONE = Workload(model="llama-3.1-8b", task="train_qlora")


def _ranked_s(works: list[Workload]) -> list[float]:
    """The seconds for each work on all cards by four numbers, after all that is read once."""
    zoo, found = shipped_zoo(), cards(shipped_catalog())
    list(rows([ONE], found[:20], (1,), zoo))
    times = []
    for work in works:
        start = time.process_time()
        ranked(list(rows([work], found, COUNTS, zoo)), [1.0])
        times.append(time.process_time() - start)
    return times


def one_work() -> float:
    """One work, asked for the first time."""
    return _ranked_s([ONE])[0]


def first_rows() -> float:
    """Milliseconds until the window has its first 25 rows, the program being warm."""

    def first() -> tuple[float, RowsSoFar]:
        question = Question(works=(ONE,), weights=(1.0,), counts=COUNTS)
        start = time.process_time()
        told = next(growing(question, shipped_catalog(), shipped_cloud(), shipped_zoo()))
        return time.process_time() - start, told

    first()
    return 1000 * statistics.median(first()[0] for _ in range(5))


def sixty_works() -> float:
    """Twelve networks by five tasks; what a network cannot do answers at once."""
    works = [Workload(model=model, task=task) for model, task in product(MODELS, TASKS)]
    return sum(_ranked_s(works))


FIGURES: tuple[Figure, ...] = (
    Figure("the map: one work on all GPUs by 4 numbers", one_work, "s", 1),
    Figure("the map: the first 25 rows", first_rows, "ms", 200),
    Figure("the map: 60 works on all GPUs by 4 numbers", sixty_works, "s", 60),
)
