"""A window without a display, on preferences and journals of its own; nothing may be left
running."""

import os

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import logging
import math
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QThreadPool, QTimer
from PySide6.QtWidgets import QApplication
from shiboken6 import isValid

from rigplanner.catalog.find.find import PartIndex
from rigplanner.catalog.load import Catalog
from rigplanner.data import data_path
from rigplanner.desktop.document import catalog_store
from rigplanner.desktop.document.preferences import PreferenceStore
from rigplanner.desktop.document.session import Session
from rigplanner.desktop.look.theme import look
from rigplanner.desktop.window import Window

TODAY = "2026-11-21"


@pytest.fixture
def session(qapp: QApplication, catalog: Catalog, tmp_path: Path) -> Iterator[Session]:
    journals = tmp_path / "journals"
    journals.mkdir()
    made = Session(catalog, PreferenceStore(tmp_path / "preferences.json"), journals, today=TODAY)
    yield made
    if isValid(made):  # a window that was made anew has ended it
        made.close()


@pytest.fixture(scope="session")
def shared_index(catalog: Catalog) -> PartIndex:
    return catalog_store.index_of(catalog)


@pytest.fixture(autouse=True)
def one_index(catalog: Catalog, shared_index: PartIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each window takes the one index of the shipped catalog, and leaves the collector as it is:
    to make the one and to walk all that lives for the other took most of the time of a test."""
    made = catalog_store.index_of
    monkeypatch.setattr(
        catalog_store, "index_of", lambda asked: shared_index if asked is catalog else made(asked)
    )
    monkeypatch.setattr(catalog_store, "spare_the_living", lambda: None)


@pytest.fixture
def window(
    qtbot, qapp: QApplication, session: Session, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Window]:
    """A shown window that judges every edit at once, however busy the machine; after the test its
    timers and threads must be gone."""
    monkeypatch.setattr("rigplanner.desktop.document.session.QUICK_MS", math.inf)
    qapp.setStyle("Fusion")
    look.use("light")
    made = Window(session)
    made.resize(1366, 768)  # the screen of the offscreen platform is smaller than any desktop's
    made.show_tab("Parts")
    made.show()
    qapp.processEvents()
    yield made
    if isValid(made):
        made.close()
        made.deleteLater()
    assert QThreadPool.globalInstance().activeThreadCount() == 0
    if isValid(session):
        assert not session.tasks.is_busy()
        assert not [timer for timer in session.findChildren(QTimer) if timer.isActive()]
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.fixture
def sample_folder() -> Path:
    return data_path("resources") / "samples"


@pytest.fixture(autouse=True)
def no_errors_logged(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """A fault inside the window is logged and told in it; a test that means one clears the log."""
    yield
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]
