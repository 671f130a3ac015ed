"""`make bench`: figures as medians over several runs, beside their targets and in paces of the
machine. Nothing here is a test."""

import compileall
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec.structs import replace

import rigplanner
from rigplanner.catalog.find.find import PartIndex
from rigplanner.catalog.load import Family, read_catalog
from rigplanner.catalog.schema.parts import GPU
from rigplanner.data import data_path
from rigplanner.rig.document import Rig
from rigplanner.rig.edits import change_workload, set_power_cap
from rigplanner.rig.files import read_rig
from tools.bench_best import FIGURES as BEST_FIGURES
from tools.bench_engine import FIGURES as ENGINE_FIGURES
from tools.bench_figure import Figure, row_of, seconds
from tools.bench_map import FIGURES as MAP_FIGURES
from tools.bench_memory import FIGURES as MEMORY_FIGURES

SAMPLES = data_path("resources") / "samples"
EIGHT_GPUS = "hgx-h100.rig"
MANY = 60_000
FOREIGN = 4_500

EMPTY_WINDOW = """
import time; t = time.perf_counter()
from PySide6.QtWidgets import QApplication, QMainWindow
app = QApplication([]); window = QMainWindow(); window.resize(1366, 768); window.show()
app.processEvents(); app.processEvents()
print(time.perf_counter() - t)
"""
OUR_WINDOW = """
import resource, sys, time; t = time.perf_counter()
from rigplanner.desktop.start import make_application, make_window
app = make_application()
from pathlib import Path
window = make_window(Path(sys.argv[1])); window.show(); app.processEvents(); app.processEvents()
took = time.perf_counter() - t
import json
print(json.dumps([took, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
"""


def main() -> None:
    """Run every figure and print a table."""
    print(
        "A pace is what this machine takes just now for a million additions in Python; runs compare"
        " by it, not by the clock."
    )
    print(f"{'figure':60} {'measured':>18} {'in paces':>16}  {'target':>10}")
    for figure in FIGURES:
        print(row_of(figure), flush=True)


def _window_start() -> float:
    """Start the window of a compiled package, as an installation leaves it: where Python writes no
    bytecode, each start would compile what was edited last."""
    compileall.compile_dir(rigplanner.__path__[0], quiet=2)
    offscreen = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    ratios: list[float] = []
    for _ in range(9):
        empty, ours = (
            subprocess.run(
                [sys.executable, "-c", code, *words],
                env=offscreen,
                capture_output=True,
                text=True,
                check=True,
            ).stdout
            for code, words in ((EMPTY_WINDOW, []), (OUR_WINDOW, [str(SAMPLES / EIGHT_GPUS)]))
        )
        ratios.append(json.loads(ours)[0] / float(empty))
    return statistics.median(ratios)


def _window_memory() -> float:
    offscreen = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    command = [sys.executable, "-c", OUR_WINDOW, str(SAMPLES / EIGHT_GPUS)]
    return float(
        json.loads(
            subprocess.run(
                command, env=offscreen, capture_output=True, text=True, check=True
            ).stdout
        )[1]
    )


def _edits(edit: Callable[[Rig, int], Rig]) -> float:
    from rigplanner.catalog.load import shipped_catalog
    from rigplanner.rules.assess import assess

    catalog, rig = shipped_catalog(), read_rig(SAMPLES / EIGHT_GPUS)
    assess(rig, catalog)
    times = []
    for step in range(1, 101):
        edited = edit(rig, step)
        start = time.process_time()
        assess(edited, catalog)
        times.append(time.process_time() - start)
    return 1000 * statistics.quantiles(times, n=20)[-1]


def _power_edits() -> float:
    return _edits(lambda rig, step: set_power_cap(rig, rig.items[0].uid, 200.0 + step))


def _batch_edits() -> float:
    return _edits(lambda rig, step: change_workload(rig, 0, batch_per_gpu=1 + step))


def _length_edits() -> float:
    return _edits(lambda rig, step: change_workload(rig, 0, seq_len=1024 + 64 * step))


def _catalog_load() -> float:
    folder = data_path("catalog")
    return 1000 * seconds(lambda: read_catalog(folder))


def _many() -> list[GPU]:
    return [
        GPU(
            id=f"maker.family.card-{n}",
            name=f"Card {n}",
            vendor="Maker",
            form_factor="pcie",
            memory_gib=24,
            tdp_w=350,
        )
        for n in range(MANY)
    ]


def _large_catalog_load() -> float:
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "gpu").mkdir()
        (Path(name) / "gpu" / "many.json").write_bytes(
            msgspec.json.encode(Family(family="many", sources={}, parts=tuple(_many())))
        )
        return 1000 * seconds(lambda: read_catalog(Path(name)), 3)


def _foreign_files() -> float:
    from rigplanner.catalog.imports.foreign_opendb import read_opendb

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "GPU"
        folder.mkdir()
        for n in range(FOREIGN):
            card = {
                "opendb_id": f"{n:08x}",
                "metadata": {"name": f"Card {n}", "manufacturer": "Maker"},
                "tdp": 350,
                "length": 300,
                "power_connectors": {"pcie_8_pin": 2},
                "video_outputs": {"hdmi_2_1": 1},
            }
            (folder / f"{n}.json").write_text(json.dumps(card), "utf-8")
        return seconds(lambda: read_opendb(Path(name), "2026-11-21"), 3) * 45_000 / FOREIGN


def _lookup() -> float:
    index = PartIndex(_many())
    return 1000 * seconds(lambda: index.find("card 59999"))


def _window(figure: str) -> Callable[[], float]:
    def measure() -> float:
        command = [sys.executable, "-m", "tools.bench_window", figure]
        return float(
            json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        )

    return measure


def _quote() -> float:
    from rigplanner.catalog.load import shipped_catalog
    from rigplanner.report.quote.pdf import quote_pdf
    from rigplanner.rules.assess import assess

    catalog = shipped_catalog()
    assessment = assess(read_rig(SAMPLES / EIGHT_GPUS), catalog)
    quote_pdf(assessment, catalog)
    return seconds(lambda: quote_pdf(assessment, catalog), 5)


def _placement() -> tuple[float, str]:
    """The sample whose machine takes longest to put together."""
    from rigplanner.catalog.load import shipped_catalog
    from rigplanner.machine.assemble import assemble

    catalog = shipped_catalog()
    rigs = {path.stem: read_rig(path) for path in sorted(SAMPLES.glob("*.rig"))}
    times = {
        name: 1000 * seconds(lambda rig=rig: assemble(rig, catalog)) for name, rig in rigs.items()
    }  # type: ignore[misc]
    name = max(times, key=times.__getitem__)
    return times[name], name


def _all_rules() -> float:
    """All rules on a machine that is put together, its jobs estimated: with fixes, as every view
    shows them."""
    from rigplanner.catalog.load import shipped_catalog
    from rigplanner.rules.assess import assess, memory_of
    from rigplanner.rules.check import check
    from rigplanner.rules.core.context import Context, JobFacts

    catalog, rig = shipped_catalog(), read_rig(SAMPLES / EIGHT_GPUS)
    known = assess(rig, catalog)
    jobs = tuple(
        JobFacts(
            name=f"workload.{job.index}",
            index=job.index,
            workload=job.workload,
            memory=job.memory,
            fault=job.memory_fault,
        )
        for job in known.jobs
    )
    made = Context(rig=rig, catalog=catalog, machine=known.machine, jobs=jobs, estimate=memory_of)
    return 1000 * seconds(lambda: check(replace(made)), 15)


def _cold(*command: str) -> Callable[[], float]:
    """Processor time of a command in a new process over that of one memory estimate, median; what
    a first run leaves in the caches of Python and of the user is there."""

    def spent(words: tuple[str, ...]) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, "-m", "rigplanner", *words], stdout=subprocess.DEVNULL, check=False
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def measure() -> float:
        compileall.compile_dir(rigplanner.__path__[0], quiet=2)
        with tempfile.TemporaryDirectory() as folder:
            case = Path(folder) / "case.jsonl"
            case.write_bytes(msgspec.json.encode(COLD_CASE) + b"\n")
            names = {"CASE": str(case), "RIG": str(SAMPLES / ONE_GPU), "PDF": f"{folder}/quote.pdf"}
            words = tuple(names.get(word, word) for word in command)
            spent(words)
            known = ("memory", str(case))
            return statistics.median(spent(words) / spent(known) for _ in range(7))

    return measure


ONE_GPU = "rtx-5090.rig"
COLD_CASE = {
    "id": "a",
    "workload": {
        "model": "llama-3.1-8b",
        "task": "train_lora",
        "precision": "bf16",
        "batch_per_gpu": 4,
        "seq_len": 2048,
    },
    "hardware": {"gpu": "H100 SXM", "count": 1},
}
FIGURES: tuple[Figure, ...] = (
    Figure("first speed of a process / first memory", _cold("performance", "CASE"), "x", 2),
    Figure("check of a rig, cold / first memory", _cold("check", "RIG"), "x", 2),
    Figure("quote of a rig, cold / first memory", _cold("quote", "RIG", "-o", "PDF"), "x", 3.5),
    Figure("start to usable window / start of an empty one, median", _window_start, "x", 3),
    Figure("peak resident memory of the window", _window_memory, "MiB", 238),
    Figure("one edit of a power cap to all verdicts, 8 GPUs, p95", _power_edits, "ms", 16),
    Figure("one edit of a batch size to all verdicts, 8 GPUs, p95", _batch_edits, "ms", 16),
    Figure("one edit of a sequence length, batch 1, 8 GPUs, p95", _length_edits, "ms", 16),
    Figure(
        "edit to repaint, all parts, 8 GPUs, p95", _window("repaint"), "ms", 16, time.perf_counter
    ),
    Figure("the same on the slowest tab", _window("tabs"), "ms", 16, time.perf_counter),
    Figure(
        "filter keystroke to table, 5 000 rows, p95",
        _window("keystrokes"),
        "ms",
        16,
        time.perf_counter,
    ),
    Figure(
        "filter keystroke to table, 60 000 rows, p95", _window("many"), "ms", 50, time.perf_counter
    ),
    Figure(
        "longest stall while 5 000 parts get badges", _window("stall"), "ms", 50, time.perf_counter
    ),
    Figure(
        "quote preview, edit to pages in the window",
        _window("preview"),
        "ms",
        700,
        time.perf_counter,
    ),
    Figure("quote PDF after import", _quote, "s", 0.5),
    Figure("catalog load, all shipped parts", _catalog_load, "ms", 50),
    Figure("catalog load, 60 000 synthetic parts", _large_catalog_load, "ms", 500),
    Figure("import of 4 500 foreign part files, scaled to 45 000", _foreign_files, "s", 30),
    Figure("lookup by words over 60 000 parts", _lookup, "ms", 5),
    Figure("placement, slowest sample", _placement, "ms", 20),
    Figure("all rules on a rig of 8 GPUs", _all_rules, "ms", 5),
    *ENGINE_FIGURES,
    *MAP_FIGURES,
    *BEST_FIGURES,
    *MEMORY_FIGURES,
)

if __name__ == "__main__":
    main()
