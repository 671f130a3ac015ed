"""A window without a display, on preferences and journals of its own; nothing may be left
running."""

import os

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import gc
import logging
import math
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import msgspec
import pytest
from PySide6.QtCore import QEvent, QThreadPool, QTimer
from PySide6.QtWidgets import QApplication
from shiboken6 import isValid

from rigplanner.catalog.find.find import PartIndex
from rigplanner.catalog.load import Catalog, shipped_catalog
from rigplanner.catalog.schema.parts import AnyPart
from rigplanner.data import data_path
from rigplanner.desktop.document import catalog_store
from rigplanner.desktop.document.preferences import PreferenceStore
from rigplanner.desktop.document.session import Session
from rigplanner.desktop.look.theme import look
from rigplanner.desktop.window import Window
from rigplanner.garbage import collector_paused
from rigplanner.rig.document import Rig
from rigplanner.rules.badges import Fitting, Trial, item_for

TODAY = "2026-11-21"


@pytest.fixture(autouse=True, scope="module")
def this_thread_destroys() -> Iterator[None]:
    """As in the program, where the collector is paused for good: what windows leave goes in the
    thread that made it. The collector runs in whatever thread makes the next objects, a server of
    another file's test too, and a widget that is destroyed there takes the process along."""
    with collector_paused():
        yield
        gc.collect()


@pytest.fixture(autouse=True)
def no_widgets_left() -> Iterator[None]:
    """What a test leaves of windows goes with it: each new style and palette is worked out for all
    widgets that live."""
    yield
    for widget in QApplication.topLevelWidgets():
        if widget.parent() is None:
            widget.deleteLater()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


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


class RememberedTrial(Trial):
    """Candidates of the shipped catalog, judged once for all windows that show them for the same
    rig, and of each question those that are asked first, the rows in sight; the rest is said to
    fit: `tests/rules` prove the judgement, windows show it."""

    known: ClassVar[dict[object, dict[str, Fitting]]] = {}
    most: ClassVar[float] = 25

    def __init__(
        self, rig: Rig, catalog: Catalog, kind: str, uid: str | None = None, today: str = ""
    ) -> None:
        self.rig, self.catalog, self.kind, self.today = rig, catalog, kind, today
        self.uid = item_for(rig, catalog, kind) if uid is None else uid or None
        self.answers: dict[str, Fitting] = {}
        if catalog is shipped_catalog():
            key = (msgspec.json.encode(rig), kind, self.uid, today)
            self.answers = self.known.setdefault(key, self.answers)
        self.own: Trial | None = None

    def fitting(self, part: AnyPart) -> Fitting:
        if part.id not in self.answers:
            if len(self.answers) >= self.most:
                return Fitting("fits")
            self.own = self.own or Trial(self.rig, self.catalog, self.kind, self.uid, self.today)
            self.answers[part.id] = self.own.fitting(part)
        return self.answers[part.id]


@pytest.fixture(autouse=True)
def badges_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rigplanner.rules.badges.Trial", RememberedTrial)


@pytest.fixture
def every_badge(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test says of badges holds for all candidates, not for those in sight alone."""
    monkeypatch.setattr(RememberedTrial, "most", math.inf)
    monkeypatch.setattr(RememberedTrial, "known", {})


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
