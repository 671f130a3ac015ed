"""The import dialog: preview, reasons, cancel, keep."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QTableWidget
from shiboken6 import isValid

from rigplanner.catalog.foreign import Import, Progress
from rigplanner.catalog.imports import importing
from rigplanner.catalog.imports.user_catalog import RATES_FILE, full_catalog, user_folder
from rigplanner.catalog.prices.exchange import shipped_others, shipped_rates
from rigplanner.desktop.dialogs.imports import ImportDialog, open_import
from rigplanner.desktop.document.session import Message
from rigplanner.desktop.window import Window
from rigplanner.rig.document import Rig

RATES = b"""<Envelope xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref"><Cube><Cube time="2026-11-20">
<Cube currency="USD" rate="1.25"/></Cube></Cube></Envelope>"""


@pytest.fixture
def dialog(window: Window, qtbot) -> Iterator[ImportDialog]:
    made = open_import(window)
    qtbot.waitExposed(made)
    yield made
    if isValid(made):
        made.close()


def _choose(dialog: ImportDialog, source: str) -> None:
    dialog.source.setCurrentIndex(dialog.source.findData(source))


def _read(dialog: ImportDialog, place: Path, qtbot) -> None:
    dialog.read(place)
    qtbot.waitUntil(lambda: not dialog.cancel_button.isVisible())


def _column(table: QTableWidget, number: int) -> list[str]:
    return [table.item(line, number).text() for line in range(table.rowCount())]


def _opendb(folder: Path) -> Path:
    (folder / "GPU").mkdir(parents=True)
    card = {"opendb_id": "3f2a9c10", "metadata": {"name": "ACME Storm RTX 4090"}, "tdp": 450}
    (folder / "GPU" / "good.json").write_text(json.dumps(card))
    (folder / "GPU" / "bad.json").write_text("{")
    return folder


def test_the_preview_shows_what_came_in_and_what_did_not(
    dialog: ImportDialog, tmp_path: Path, qtbot
) -> None:
    assert not dialog.keep_button.isEnabled()
    _read(dialog, _opendb(tmp_path / "data"), qtbot)
    assert _column(dialog.matched, 1) == ["ACME Storm RTX 4090"]
    assert _column(dialog.counts, 1) == ["file or row is not JSON"]
    assert dialog.refused.toPlainText() == "GPU/bad.json is not JSON."
    assert dialog.head.text() == "1 of 2 became parts; 1 left out."
    assert not user_folder().exists()


def test_keep_writes_into_the_users_catalog(
    window: Window, dialog: ImportDialog, tmp_path: Path, qtbot
) -> None:
    told: list[Message] = []
    window.session.message_given.connect(told.append)
    _read(dialog, _opendb(tmp_path / "data"), qtbot)
    dialog.keep_button.click()
    assert full_catalog().catalog.get("opendb.gpu.acme-storm-rtx-4090-3f2a9c10") is not None
    assert told[-1].text.startswith("Imported: 1 of 2 became parts.")


def test_a_csv_with_its_columns_named(dialog: ImportDialog, tmp_path: Path, qtbot) -> None:
    path = tmp_path / "shop.csv"
    path.write_text("model;usd\nRTX 3090;700\nFrobnicator;5\n", "utf-8")
    _choose(dialog, "csv")
    assert dialog.columns.isVisible()
    _read(dialog, path, qtbot)
    assert "needs a column" in dialog.head.text()
    dialog.columns.setText("model=name, usd=price")
    _read(dialog, path, qtbot)
    assert (_column(dialog.matched, 2), _column(dialog.matched, 4)) == (
        ["$700.00"],
        ["name and maker"],
    )
    assert (
        dialog.refused.toPlainText() == "line 3: name names no part of the catalog (Frobnicator)."
    )


def test_strange_columns_are_told_at_once(dialog: ImportDialog, tmp_path: Path) -> None:
    _choose(dialog, "csv")
    dialog.columns.setText("model")
    dialog.read(tmp_path)
    assert "column=field" in dialog.head.text()


def test_what_cannot_be_read_is_told(dialog: ImportDialog, tmp_path: Path, qtbot) -> None:
    (tmp_path / "x.html").write_text("<html></html>")
    _choose(dialog, "coolpc")
    _read(dialog, tmp_path / "x.html", qtbot)
    assert "not the evaluation page" in dialog.head.text()
    assert not dialog.keep_button.isEnabled()
    dialog.read(tmp_path / "nowhere")
    assert "cannot be read" in dialog.head.text()


@pytest.mark.parametrize("way", ["cancel", "close"])
def test_reading_can_be_stopped(
    window: Window, dialog: ImportDialog, tmp_path: Path, qtbot, monkeypatch, way: str
) -> None:
    begun, stopped = threading.Event(), threading.Event()

    def endless(place: Path, day: str, progress: Progress) -> Import:
        while progress(1, 2):
            begun.set()
        stopped.set()
        raise importing.ForeignFault("stopped")

    monkeypatch.setitem(importing.PART_SOURCES, "opendb", endless)
    dialog.read(tmp_path)
    qtbot.waitUntil(begun.is_set)
    getattr(dialog, way)()
    qtbot.waitUntil(stopped.is_set)
    assert not window.session.tasks.is_busy("import")
    assert not user_folder().exists()


def test_the_newest_rates_become_the_rigs(window: Window) -> None:
    told: list[Message] = []
    window.session.message_given.connect(told.append)
    window.session.start_rig(Rig(currency="EUR"))
    window.actions_by_id["rates"].trigger()
    assert window.session.rig.exchange == shipped_rates()
    assert shipped_rates().day in told[-1].text
    user_folder().mkdir(parents=True)
    (user_folder() / RATES_FILE).write_bytes(RATES)
    window.actions_by_id["rates"].trigger()
    exchange = window.session.rig.exchange
    assert exchange is not None
    assert exchange.day == "2026-11-20"
    assert exchange.rates == {"USD": 1.25} | shipped_others().rates
    assert window.session.undo_name() == "Set exchange rates"
