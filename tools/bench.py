"""`make bench`: figures as medians over several runs, beside their targets. Nothing here is a test: machines differ."""

import gc
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from rigplanner.catalog.find import PartIndex
from rigplanner.catalog.load import Family, read_catalog
from rigplanner.catalog.parts import GPU
from rigplanner.data import data_path
from rigplanner.rig.document import Rig
from rigplanner.rig.edits import change_workload, set_power_cap
from rigplanner.rig.files import read_rig
from tools.bench_engine import FIGURES as ENGINE_FIGURES
from tools.bench_memory import FIGURES as MEMORY_FIGURES

SAMPLES = data_path("resources") / "samples"
EIGHT_GPUS = "hgx-h100.rig"
MANY = 60_000
FOREIGN = 4_500

EMPTY_WINDOW = """
import time; t = time.perf_counter()
from PySide6.QtWidgets import QApplication, QMainWindow
app = QApplication([]); window = QMainWindow(); window.resize(1366, 768); window.show(); app.processEvents(); app.processEvents()
print(time.perf_counter() - t)
"""
OUR_WINDOW = """
import resource, sys, time; t = time.perf_counter()
from PySide6.QtWidgets import QApplication
app = QApplication([])
from rigplanner.desktop.start import make_window
from pathlib import Path
window = make_window(Path(sys.argv[1])); window.show(); app.processEvents(); app.processEvents()
took = time.perf_counter() - t
import json
print(json.dumps([took, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
"""


def main() -> None:
    """Run every figure and print a table."""
    print(f"{'figure':58} {'measured':>12}  target")
    for name, measure, target in FIGURES:
        print(f"{name:58} {measure():>12}  {target}", flush=True)


def _seconds(work: Callable[[], object], runs: int = 7) -> float:
    times = []
    for _ in range(runs):
        gc.collect()
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def _window_start() -> str:
    offscreen = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    ratios = []
    for _ in range(5):
        empty, ours = (
            subprocess.run([sys.executable, "-c", code, *words], env=offscreen, capture_output=True, text=True, check=True).stdout
            for code, words in ((EMPTY_WINDOW, []), (OUR_WINDOW, [str(SAMPLES / EIGHT_GPUS)]))
        )
        ratios.append(json.loads(ours)[0] / float(empty))
    return f"{statistics.median(ratios):.2f} x"


def _window_memory() -> str:
    offscreen = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    command = [sys.executable, "-c", OUR_WINDOW, str(SAMPLES / EIGHT_GPUS)]
    return f"{json.loads(subprocess.run(command, env=offscreen, capture_output=True, text=True, check=True).stdout)[1]:.0f} MiB"


def _edits(edit: Callable[[Rig, int], Rig]) -> str:
    from rigplanner.catalog.load import shipped_catalog
    from rigplanner.rules.assess import assess

    catalog, rig = shipped_catalog(), read_rig(SAMPLES / EIGHT_GPUS)
    assess(rig, catalog)
    times = []
    for step in range(1, 101):
        edited = edit(rig, step)
        start = time.perf_counter()
        assess(edited, catalog)
        times.append(time.perf_counter() - start)
    return f"{1000 * statistics.quantiles(times, n=20)[-1]:.1f} ms"


def _power_edits() -> str:
    return _edits(lambda rig, step: set_power_cap(rig, rig.items[0].uid, 200.0 + step))


def _batch_edits() -> str:
    return _edits(lambda rig, step: change_workload(rig, 0, batch_per_gpu=1 + step))


def _length_edits() -> str:
    return _edits(lambda rig, step: change_workload(rig, 0, seq_len=1024 + 64 * step))


def _catalog_load() -> str:
    folder = data_path("catalog")
    parts = len(read_catalog(folder).parts)
    return f"{1000 * _seconds(lambda: read_catalog(folder)) * 1000 / parts:.1f} ms"


def _many() -> list[GPU]:
    return [
        GPU(id=f"maker.family.card-{n}", name=f"Card {n}", vendor="Maker", form_factor="pcie", memory_gib=24, tdp_w=350)
        for n in range(MANY)
    ]


def _large_catalog_load() -> str:
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "gpu").mkdir()
        (Path(name) / "gpu" / "many.json").write_bytes(msgspec.json.encode(Family(family="many", sources={}, parts=tuple(_many()))))
        return f"{1000 * _seconds(lambda: read_catalog(Path(name)), 3):.0f} ms"


def _foreign_files() -> str:
    from rigplanner.catalog.foreign_opendb import read_opendb

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "GPU"
        folder.mkdir()
        for n in range(FOREIGN):
            card = {"opendb_id": f"{n:08x}", "metadata": {"name": f"Card {n}", "manufacturer": "Maker"}, "tdp": 350, "length": 300,
                    "power_connectors": {"pcie_8_pin": 2}, "video_outputs": {"hdmi_2_1": 1}}  # fmt: skip
            (folder / f"{n}.json").write_text(json.dumps(card), "utf-8")
        return f"{_seconds(lambda: read_opendb(Path(name), '2026-11-21'), 3) * 45_000 / FOREIGN:.1f} s"


def _lookup() -> str:
    index = PartIndex(_many())
    return f"{1000 * _seconds(lambda: index.find('card 59999')):.1f} ms"


def _window(figure: str) -> Callable[[], str]:
    def measure() -> str:
        command = [sys.executable, "-m", "tools.bench_window", figure]
        return f"{json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout):.0f} ms"

    return measure


def _quote() -> str:
    from rigplanner.catalog.load import shipped_catalog
    from rigplanner.report.quote_pdf import quote_pdf
    from rigplanner.rules.assess import assess

    catalog = shipped_catalog()
    assessment = assess(read_rig(SAMPLES / EIGHT_GPUS), catalog)
    quote_pdf(assessment, catalog)
    return f"{_seconds(lambda: quote_pdf(assessment, catalog), 5):.2f} s"


def _pace() -> str:
    """How fast this machine is just now: times of other runs compare as this line does."""
    return f"{1000 * _seconds(lambda: sum(number for number in range(1_000_000)), 5):.0f} ms"


PACE = ("the machine: a million additions in Python", _pace, "")
FIGURES: tuple[tuple[str, Callable[[], str], str], ...] = (
    PACE,
    ("start to usable window / start of an empty one", _window_start, "3 x"),
    ("peak resident memory of the window", _window_memory, "250 MB"),
    ("one edit of a power cap to all verdicts, 8 GPUs, p95", _power_edits, "16 ms"),
    ("one edit of a batch size to all verdicts, 8 GPUs, p95", _batch_edits, "16 ms"),
    ("one edit of a sequence length, batch 1, 8 GPUs, p95", _length_edits, "16 ms"),
    ("edit to repaint, all parts, 8 GPUs, p95", _window("repaint"), "16 ms"),
    ("the same on the slowest tab", _window("tabs"), "16 ms"),
    ("filter keystroke to table, 5 000 rows, p95", _window("keystrokes"), "16 ms"),
    ("filter keystroke to table, 60 000 rows, p95", _window("many"), "50 ms"),
    ("longest stall while 60 000 parts get badges", _window("stall"), "50 ms"),
    ("catalog load per 1 000 shipped parts", _catalog_load, "50 ms"),
    ("catalog load, 60 000 synthetic parts", _large_catalog_load, "500 ms"),
    ("import of 4 500 foreign part files, scaled to 45 000", _foreign_files, "30 s"),
    ("lookup by words over 60 000 parts", _lookup, "5 ms"),
    ("quote PDF after import", _quote, "0.5 s"),
    *ENGINE_FIGURES,
    *MEMORY_FIGURES,
    PACE,
)

if __name__ == "__main__":
    main()
