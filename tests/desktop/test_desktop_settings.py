"""Settings, languages, updates, About, printing."""

import io
import math
import weakref
import zipfile
from pathlib import Path

import pytest
from desktop_waiting import settled_session
from PySide6.QtCore import QBuffer, QEvent, QIODevice
from PySide6.QtPdf import QPdfDocument
from PySide6.QtPrintSupport import QPrinter
from PySide6.QtWidgets import QApplication, QDialog, QLabel

from rigplanner.catalog.imports import community, editions, fetch, updating
from rigplanner.catalog.imports.foreign_files import ForeignFile
from rigplanner.catalog.imports.user_catalog import newest_rates
from rigplanner.catalog.prices.exchange import convert, shipped_rates
from rigplanner.catalog.prices.prices import is_currency
from rigplanner.desktop import documents
from rigplanner.desktop.dialogs.about import about_dialog
from rigplanner.desktop.dialogs.price_link import price_link_dialog
from rigplanner.desktop.dialogs.settings import CURRENCIES, SettingsDialog
from rigplanner.desktop.dialogs.update import update_dialog
from rigplanner.desktop.document import catalog_store
from rigplanner.desktop.document.exports import quote_bytes
from rigplanner.desktop.document.preferences import Preferences, PreferenceStore
from rigplanner.desktop.document.session import Session
from rigplanner.desktop.look.theme import look
from rigplanner.desktop.look.tokens import DARK
from rigplanner.desktop.parts.columns import COLUMNS
from rigplanner.desktop.parts.correction import CorrectionDialog
from rigplanner.desktop.parts.model import Cell, figure_cell
from rigplanner.desktop.quote.printing import print_pdf, print_quote
from rigplanner.desktop.window import Window, held
from rigplanner.garbage import spare_the_living
from rigplanner.report.format import quantity
from rigplanner.report.language import language, use_language
from rigplanner.report.quote.logo import logo_fault, logo_name
from rigplanner.rig.countries import USUAL

ECB = (
    b'<?xml version="1.0"?><gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01"'
    b' xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref"><Cube><Cube'
    b' time="2026-11-20"><Cube currency="USD" rate="1.1"/><Cube currency="TWD"'
    b' rate="35"/></Cube></Cube></gesmes:Envelope>'
)


@pytest.fixture
def settings(window):
    made = SettingsDialog(window)
    made.open()
    yield made
    made.close()


def now(window) -> Preferences:
    return window.session.preferences.now


def test_every_choice_is_taken_at_once_and_kept(window, settings, tmp_path):
    settings.theme.setCurrentIndex(settings.theme.findData("dark"))
    settings.theme.activated.emit(settings.theme.currentIndex())
    assert look.tokens is DARK
    settings.currency.setCurrentIndex(settings.currency.findData("EUR"))
    settings.currency.activated.emit(settings.currency.currentIndex())
    settings.country.setCurrentIndex(settings.country.findData("DE"))
    settings.country.activated.emit(settings.country.currentIndex())
    settings.tariff.setValue(0.3)
    settings.hours.setValue(8)
    settings.price_days.setValue(90)
    kept = PreferenceStore(tmp_path / "preferences.json").now
    assert (kept.theme, kept.currency, kept.price_days) == ("dark", "EUR", 90)
    assert (kept.site.country, kept.site.volts, kept.site.breaker_a) == ("DE", *USUAL["DE"])
    assert kept.site.energy_per_kwh is not None
    assert (kept.site.energy_per_kwh.amount, kept.site.energy_per_kwh.currency) == (0.3, "EUR")
    documents.new_rig(window)
    rig = window.session.rig
    assert (rig.currency, rig.site.volts, rig.site.hours_per_day) == ("EUR", USUAL["DE"][0], 8)
    look.use("light")


def test_the_open_rig_takes_them_as_one_step(qtbot, window, sample_folder):
    documents.open_file(window, sample_folder / "dual-rtx-3090.rig", sample=True)
    settled_session(qtbot, window.session)
    made = SettingsDialog(window)
    made._seller(name="Ada's Rigs")
    made._use_currency("EUR")
    budget = window.session.rig.budget
    made.here.click()
    rig = window.session.rig
    assert (rig.currency, rig.quote.seller.name, rig.budget) == ("EUR", "Ada's Rigs", budget)
    window.session.undo()
    assert window.session.rig.currency == "USD"
    made.close()


def test_a_rate_of_ones_own_counts_in_new_rigs_and_the_open_one(
    qtbot, window, settings, sample_folder
):
    settings.rate.setValue(0.03)
    own = now(window).own_rate
    assert own is not None and (own.code, own.amount, own.currency) == ("TWD", 0.03, "USD")
    documents.new_rig(window)
    assert convert(100, "TWD", "USD", window.session.rig.exchange) == pytest.approx(3.0)
    documents.open_file(window, sample_folder / "dual-rtx-3090.rig", sample=True)
    settled_session(qtbot, window.session)
    settings._use_here()
    assert convert(100, "TWD", "USD", window.session.rig.exchange) == pytest.approx(3.0)
    settings._use_currency("TWD")
    assert settings.rate.suffix().strip() == "USD"
    settings.rate.setValue(0.04)
    assert now(window).own_rate is None and "TWD" in settings.note.text()


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("url", "http://example.org/x.json"),
        ("folder", "/no/such/folder"),
        ("logo", "/no/such/logo.png"),
    ],
)
def test_what_cannot_be_is_marked_and_not_kept(window, settings, field, text):
    box = getattr(settings, field)
    box.setText(text)
    box.editingFinished.emit()
    assert box.property("faulty") is True
    assert settings.note.text()
    kept = now(window)
    assert text not in (kept.update_url, kept.catalog_folder, kept.seller.logo)


def test_a_logo_is_a_picture(window, settings, tmp_path):
    (tmp_path / "text.png").write_text("no picture", "utf-8")
    settings._use_logo(str(tmp_path / "text.png"))
    assert now(window).seller.logo == ""
    window.grab().scaled(20, 20).save(str(tmp_path / "logo.png"))
    settings._use_logo(str(tmp_path / "logo.png"))
    assert logo_name(now(window).seller.logo) == "logo.png"
    assert logo_fault(now(window).seller.logo) == ""


def test_lengths_are_shown_in_inches_where_wished(window, settings):
    window.parts.show_kind("gpu", "")
    settings._use_lengths("in")
    try:
        spec = next(each for each in COLUMNS["gpu"] if each.unit == "mm")
        assert figure_cell(254.0, spec) == Cell("10.00", "in")
        assert quantity(508.0, "mm") == "20.00\u202fin"
        assert quantity(450, "W") == "450\u202fW"
        assert now(window).lengths == "in"
    finally:
        settings._use_lengths("mm")
    assert quantity(508.0, "mm") == "508\u202fmm"


def test_another_currency_must_be_one(window, settings):
    settings._use_currency("euro")
    assert now(window).currency == "USD"
    assert settings.note.text()
    assert all(map(is_currency, CURRENCIES))


def test_the_catalog_folder_is_read_at_once(qtbot, window, settings, tmp_path, catalog):
    folder = tmp_path / "parts"
    folder.mkdir()
    (folder / "own.json").write_bytes(b"{")
    settings.folder.setText(str(folder))
    settings.folder.editingFinished.emit()
    settled_session(qtbot, window.session)
    assert "own.json" in window.messages.text.text()
    assert window.session.catalog.parts.keys() == catalog.parts.keys()


def test_another_language_makes_the_window_anew_around_the_same_rig(
    qtbot, window, sample_folder, tmp_path, monkeypatch
):
    documents.open_file(window, sample_folder / "dual-rtx-3090.rig", sample=True)
    settled_session(qtbot, window.session)
    path = tmp_path / "mine.rig"
    window.session.save(path)
    window.build.view.setCurrentIndex(window.build.model.index(0))
    window.build.remove_current()
    settled_session(qtbot, window.session)
    rig, history = window.session.rig, window.session.history
    for former in (window, window.session):
        monkeypatch.setattr(former, "deleteLater", lambda: None)
    fresh = window.use_language("cs")
    qtbot.addWidget(fresh)
    try:
        assert language() == "cs"
        assert fresh.session.rig is rig
        assert fresh.session.history == history
        assert (fresh.session.path, fresh.session.unsaved) == (path, True)
        assert fresh.menuBar().actions()[0].text() == "&Soubor"
        fresh.session.undo()
        assert not fresh.session.unsaved
        assert fresh.session.save(path)
        settled_session(qtbot, fresh.session)
        QApplication.processEvents()
    finally:
        fresh.close()
        use_language("en")


def test_the_former_window_goes_with_all_that_it_held(qapp, catalog, monkeypatch):
    monkeypatch.setattr(catalog_store, "spare_the_living", spare_the_living)
    monkeypatch.setattr("rigplanner.desktop.document.session.QUICK_MS", math.inf)
    session = Session(catalog, PreferenceStore(None))
    window = Window(session)
    window.show()
    former = [weakref.ref(window), weakref.ref(session), weakref.ref(session.shelf)]
    index = session.index
    fresh = window.use_text(110)
    try:
        assert fresh.session.index is index
        del window, session
        QApplication.processEvents()
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        spare_the_living()  # as the new window does, when the former one has gone
        assert [each() is None for each in former] == [True] * 3
    finally:
        fresh.close()
        fresh.deleteLater()
        held.clear()
        look.use_text(100)
        look.use("light")


def test_a_language_that_is_not_there_leaves_english(window, monkeypatch):
    from rigplanner.desktop.locale import speak

    assert not speak("tlh")
    assert language() == "en"


def _serve(monkeypatch, content: bytes, path_of) -> None:
    """Let the fetching succeed with this content, through the same checks and files."""

    def get(url, limits, old, go_on=lambda done, announced: True):
        if not go_on(len(content), len(content)):
            raise fetch.Stopped(f"{url}: stopped.")
        return content, '"tag"', ""

    monkeypatch.setattr(fetch, "_get", get)


def test_exchange_rates_are_fetched_and_their_age_is_said(qtbot, window, monkeypatch):
    _serve(monkeypatch, ECB, None)
    dialog = update_dialog(window)
    dialog.rates_button.click()
    settled_session(qtbot, window.session)
    rates = newest_rates()
    assert rates.day == "2026-11-20"
    assert "Updated" in dialog.outcome.text()
    assert any("20 Nov 2026" in each.text() for each in dialog.findChildren(QLabel))
    dialog.close()


def test_an_answer_that_is_no_catalog_changes_nothing(qtbot, window, monkeypatch):
    _serve(monkeypatch, b"<html>", None)
    window.session.preferences.change(update_url="https://example.org/parts.json")
    dialog = update_dialog(window)
    dialog.file_button.click()
    settled_session(qtbot, window.session)
    assert "not a catalog file" in dialog.outcome.text()
    assert "Nothing was changed" in dialog.outcome.text()
    assert not updating.target("https://example.org/parts.json").exists()
    dialog.close()


def test_more_parts_come_with_one_click_and_go_again(qtbot, window, monkeypatch):
    fan = b'{"opendb_id": "aaaaaaaa", "metadata": {"name": "ACME Fan"}, "water_cooled": false}'
    files = {"LICENSE.txt": b"terms", "open-db/CPUCooler/a.json": fan}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in files.items():
            archive.writestr(f"top/{name}", content)
    proven = [ForeignFile(name, content) for name, content in files.items()]
    monkeypatch.setattr(community, "SHA256", community.contents_sha256(proven))
    _serve(monkeypatch, packed.getvalue(), None)
    dialog = update_dialog(window)
    assert "ODC-By" in " ".join(each.text() for each in dialog.findChildren(QLabel))
    dialog.more_button.click()
    settled_session(qtbot, window.session)
    assert "1 more parts" in dialog.outcome.text()
    assert [part.name for part in window.session.shelf.find("acme fan", "cooler")] == ["ACME Fan"]
    assert "ACME Fan" not in [part.name for part in window.session.shelf.find("", "cooler")]
    dialog.remove_button.click()
    settled_session(qtbot, window.session)
    assert window.session.shelf.find("acme fan", "cooler") == []
    monkeypatch.setattr(community, "SHA256", "0" * 64)
    dialog.more_button.click()
    settled_session(qtbot, window.session)
    assert "checksum" in dialog.outcome.text()
    assert "Nothing was changed" in dialog.outcome.text()
    dialog.close()


def test_newer_data_are_looked_for_when_asked_and_taken_when_asked_again(
    qtbot, window, monkeypatch, tmp_path
):
    assert not update_dialog(window).data_button.isEnabled()  # a checkout names no place
    index = editions.Index(
        edition="2099.01.01", archive="a.zip", sha256="", least_program="1.0.0", program="1.0.0"
    )
    place = editions.Place(index="https://example.org/index.json", public_key="00")
    asked = []

    def look(place, cache, go_on):
        asked.append("look")
        return index

    def take(found, address, go_on):
        asked.append(found.edition)
        return tmp_path / found.edition

    monkeypatch.setattr(editions, "shipped_place", lambda: place)
    monkeypatch.setattr(editions, "look", look)
    monkeypatch.setattr(editions, "take", take)
    dialog = update_dialog(window)
    assert asked == []
    for said in ("2099.01.01 are there", "from the next start on"):
        dialog.data_button.click()
        settled_session(qtbot, window.session)
        assert said in dialog.outcome.text()
    assert asked == ["look", "2099.01.01"]

    def unsigned(place, cache, go_on):
        raise editions.EditionFault("The signature is not of RigPlanner's key.")

    monkeypatch.setattr(editions, "look", unsigned)
    dialog.data_button.click()
    settled_session(qtbot, window.session)
    assert dialog.outcome.text() == (
        "The signature is not of RigPlanner's key. Nothing was changed."
    )
    dialog.close()


def test_a_pasted_link_shows_its_price_before_it_is_kept(qtbot, window, monkeypatch):
    page = (
        b'<script type="application/ld+json">{"@type": "Product", "name": "NVIDIA GeForce RTX 3090'
        b' 24 GB", "offers": {"@type": "Offer", "price": 777, "priceCurrency": "EUR"}}</script>'
    )
    _serve(monkeypatch, page, None)
    QApplication.clipboard().setText("https://example.org/card")
    dialog = price_link_dialog(window)
    assert dialog.address.text() == "https://example.org/card"
    assert not dialog.keep_button.isEnabled()
    dialog.read_button.click()
    settled_session(qtbot, window.session)
    assert "777" in dialog.outcome.text()
    assert dialog.part.id == "nvidia.geforce.rtx-3090"
    dialog.keep_button.click()
    settled_session(qtbot, window.session)
    prices = window.session.catalog.get("nvidia.geforce.rtx-3090").prices
    assert [price.shop for price in prices if price.amount == 777] == ["example.org"]
    _serve(monkeypatch, b"<p>nothing</p>", None)
    dialog.address.setText("https://example.org/other")
    dialog.read_button.click()
    settled_session(qtbot, window.session)
    assert "Nothing was changed" in dialog.outcome.text()
    dialog.close()


def test_a_wrong_figure_becomes_a_file_only_with_evidence(window):
    part = window.session.catalog.get("nvidia.geforce.rtx-3090")
    dialog = CorrectionDialog(window.session, part, window)
    dialog.field.setCurrentIndex(dialog.field.findData("tdp_w"))
    dialog.expected.setText("360")
    assert dialog.content() is None
    assert "where it can be seen" in dialog.fault.text()
    dialog.evidence.setText("https://example.org")
    assert b'"expected": 360' in dialog.content()
    dialog.close()


def test_without_an_address_there_is_nothing_to_fetch(window):
    dialog = update_dialog(window)
    assert not dialog.file_button.isEnabled()
    assert dialog.rates_button.isEnabled()
    dialog.close()


def test_fetching_can_be_stopped(qtbot, window, monkeypatch):
    gate = {"open": False}

    def slow(url, limits, old, go_on):
        while go_on(1, None):
            if gate["open"]:
                return ECB, "", ""
        raise fetch.Stopped(f"{url}: stopped.")

    monkeypatch.setattr(fetch, "_get", slow)
    dialog = update_dialog(window)
    dialog.rates_button.click()
    assert dialog.stop_button.isVisible()
    dialog.stop_button.click()
    gate["open"] = True
    settled_session(qtbot, window.session)
    window.session.tasks._pool.waitForDone(5000)
    assert newest_rates() == shipped_rates()
    assert "Stopped" in dialog.outcome.text()
    dialog.close()


def test_about_names_program_catalog_and_licences(window):
    dialog = about_dialog(window)
    said = " ".join(each.text() for each in dialog.findChildren(QLabel))
    assert f"{len(window.session.catalog.parts):,}" in said.replace("\u202f", ",")
    assert "MIT" in said
    assert "CC BY 4.0" in said
    dialog.close()


def _pages(content: bytes) -> int:
    from PySide6.QtCore import QByteArray

    held = QByteArray(content)
    buffer = QBuffer(held)
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    document = QPdfDocument()
    document.load(buffer)
    return document.pageCount()


def test_the_quote_prints_page_by_page(qtbot, window, sample_folder, tmp_path: Path):
    documents.open_file(window, sample_folder / "dual-rtx-3090.rig", sample=True)
    settled_session(qtbot, window.session)
    content = quote_bytes(window.session)
    assert content is not None
    printer = QPrinter(QPrinter.PrinterMode.HighResolution)
    printer.setOutputFormat(QPrinter.OutputFormat.PdfFormat)
    printer.setOutputFileName(str(tmp_path / "printed.pdf"))
    assert print_pdf(content, printer) == _pages(content) > 0
    assert _pages((tmp_path / "printed.pdf").read_bytes()) == _pages(content)
    assert print_pdf(b"no pdf", printer) == 0


def test_printing_asks_for_a_printer_and_says_when_there_is_no_quote(qtbot, window, sample_folder):
    assert print_quote(window) is None
    assert "no quote" in window.messages.text.text()
    documents.open_file(window, sample_folder / "dual-rtx-3090.rig", sample=True)
    settled_session(qtbot, window.session)
    dialog = print_quote(window)
    assert isinstance(dialog, QDialog)
    dialog.close()
