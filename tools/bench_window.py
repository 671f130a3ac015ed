"""Figures of the window itself: keystrokes, repaints and stalls, measured without a display in a
process of its own."""

import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from msgspec.structs import replace
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

import rigplanner.desktop
from rigplanner.catalog.load import Catalog, shipped_catalog
from rigplanner.catalog.schema.parts import AnyPart
from rigplanner.data import data_path
from rigplanner.desktop.document.preferences import PreferenceStore
from rigplanner.desktop.document.session import Session
from rigplanner.desktop.documents import open_file
from rigplanner.desktop.look.theme import look
from rigplanner.desktop.quote.view import QuoteView
from rigplanner.desktop.start import SWITCH_S
from rigplanner.desktop.window import TABS, Window
from rigplanner.garbage import spare_the_living
from rigplanner.rig.edits import Edit

SAMPLES = data_path("resources") / "samples"
TYPED = (
    "r",
    "rt",
    "rtx",
    "rtx ",
    "rtx 4",
    "rtx 40",
    "rtx 409",
    "rtx 4090",
    "rtx 4090 a",
    "rtx 4090 as",
    "rtx 4090 asus",
    "",
    "2",
    "24",
    "24g",
    "24gb",
    "",
    "a",
    "as",
    "asus",
    "asus w",
    "asus wh",
    "asus white",
)
MAKERS = ("ASUS", "MSI", "Gigabyte", "Zotac", "Sapphire", "EVGA", "PNY", "Palit")
SERIES = (
    "ROG Strix",
    "TUF Gaming",
    "Gaming X Trio",
    "Ventus 3X",
    "Eagle",
    "Aorus Master",
    "Nitro+",
    "Windforce",
    "Dual",
)


def with_cards(count: int) -> Catalog:
    """Return the shipped catalog with made-up board partners' cards, until it holds `count`
    GPUs."""
    chance, own, base = random.Random(2), shipped_catalog().of_kind("gpu"), shipped_catalog()
    parts: dict[str, AnyPart] = dict(base.parts)
    for n in range(count - len(own)):
        card = chance.choice(own)
        name = (
            f"{chance.choice(MAKERS)} {chance.choice(SERIES)} {card.name}"
            f" {chance.choice(('White', 'Black', 'OC'))}"
        )
        length = chance.choice((None, float(chance.randint(200, 360))))
        parts[f"opendb.gpu.{n:08x}"] = replace(
            card, id=f"opendb.gpu.{n:08x}", name=name, length_mm=length
        )
    return replace(base, parts=parts)


class Bench:
    """A shown window on a catalog of so many GPUs, with a sample open and judged."""

    def __init__(self, application: QApplication, cards: int, sample: str) -> None:
        self.application = application
        self.folder = tempfile.TemporaryDirectory()
        self.session = Session(
            with_cards(cards), PreferenceStore(Path(self.folder.name) / "preferences.json")
        )
        self.window = Window(self.session)
        self.window.resize(1366, 768)
        open_file(self.window, SAMPLES / sample, sample=True)
        self.window.show()
        self.window.show_tab("Parts")
        assert self.session.index
        spare_the_living()
        self.settle()

    def settle(self) -> None:
        """Let all work aside come to its end."""
        quiet = 0
        while quiet < 20:
            self.application.processEvents()
            time.sleep(0.005)
            quiet = (
                0 if self.session.tasks.is_busy() or self.session.assessment is None else quiet + 1
            )

    def close(self) -> None:
        """End the session and its files."""
        self.window.close()
        self.session.close()
        self.folder.cleanup()


def keystrokes_ms(bench: Bench) -> float:
    """Return the 95th percentile of a keystroke in the filter until the table is painted, badges
    aside."""
    view = bench.window.parts
    view.make_badges = lambda: None  # type: ignore[method-assign]
    times = []
    for words in TYPED * 4:
        view.words.setText(words)
        start = time.perf_counter()
        view.apply_filter()
        bench.application.processEvents()
        times.append(1000 * (time.perf_counter() - start))
    return statistics.quantiles(times[len(TYPED) :], n=20)[-1]


def longest_stall_ms(bench: Bench) -> float:
    """Return the longest time without an event while the badges of all parts are made."""
    view, gaps, last = bench.window.parts, [0.0], [time.perf_counter()]

    def tick() -> None:
        now = time.perf_counter()
        gaps.append(1000 * (now - last[0]))
        last[0] = now

    timer = QTimer()
    timer.timeout.connect(tick)
    bench.session.edit(
        "Another budget",
        Edit("set_power_cap", {"uid": bench.session.rig.items[0].uid, "watts": 300.0}),
    )
    bench.settle()
    view.model.forget_fits()
    last[0] = time.perf_counter()
    timer.start(1)
    view.make_badges()
    while bench.session.tasks.is_busy("badges"):
        bench.application.processEvents()
        time.sleep(0.0002)
    return max(gaps)


def slowest_tab_ms(bench: Bench) -> float:
    """Return the same for the tab that takes longest."""
    found = []
    for title in TABS:
        bench.window.show_tab(title)
        bench.settle()
        found.append(repaint_ms(bench))
    return max(found)


def repaint_ms(bench: Bench) -> float:
    """Return the 95th percentile of an edit until everything is painted again."""
    times = []
    for step in range(60):
        start = time.perf_counter()
        bench.session.edit("Drives", Edit("set_quantity", {"uid": "ssd", "quantity": 1 + step % 8}))
        bench.application.processEvents()
        times.append(1000 * (time.perf_counter() - start))
        bench.settle()
    return statistics.quantiles(times, n=20)[-1]


def preview_ms(bench: Bench) -> float:
    """Return the median time from an edit until the preview of the quote shows its pages."""
    bench.window.show_tab("Quote")
    bench.settle()
    view = bench.window.findChildren(QuoteView)[0]
    times = []
    for step in range(7):
        former, start = view.content, time.perf_counter()
        bench.session.edit("Drives", Edit("set_quantity", {"uid": "ssd", "quantity": 2 + step}))
        while view.content is former:
            bench.application.processEvents()
            time.sleep(0.0002)
        bench.application.processEvents()
        times.append(1000 * (time.perf_counter() - start))
        bench.settle()
    return statistics.median(times)


FIGURES: dict[str, tuple[Callable[[Bench], float], int, str]] = {
    "keystrokes": (keystrokes_ms, 5_000, "quad-rtx-4090.rig"),
    "many": (keystrokes_ms, 60_000, "quad-rtx-4090.rig"),
    "stall": (longest_stall_ms, 5_000, "quad-rtx-4090.rig"),
    "repaint": (repaint_ms, 0, "hgx-h100.rig"),
    "preview": (preview_ms, 0, "hgx-h100.rig"),
    "tabs": (slowest_tab_ms, 0, "hgx-h100.rig"),
}


def main() -> None:
    """Print the figure that the command line names, in milliseconds."""
    assert rigplanner.desktop
    QApplication.setStyle("Fusion")
    application = QApplication([])
    look.use("light")
    sys.setswitchinterval(SWITCH_S)
    measure, cards, sample = FIGURES[sys.argv[1]]
    bench = Bench(application, cards, sample)
    print(json.dumps(measure(bench)))
    bench.close()


if __name__ == "__main__":
    main()
