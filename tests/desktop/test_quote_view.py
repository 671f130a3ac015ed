"""The Quote tab: exports, logo, costs, taxes of single parts."""

import io
import zipfile
from datetime import date

import pytest
from desktop_waiting import settled_session
from msgspec.structs import replace
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QGuiApplication, QImage, QImageIOHandler, QImageWriter
from PySide6.QtWidgets import QDialog, QLineEdit, QMenu, QPlainTextEdit

from rigplanner.catalog.schema.parts import Price
from rigplanner.desktop import documents
from rigplanner.desktop.document import exports
from rigplanner.desktop.panels.reasons import cost_steps
from rigplanner.desktop.quote.figures import figure_entries
from rigplanner.desktop.quote.form import read_taxes, taxes_text
from rigplanner.desktop.quote.logos import usable_logo
from rigplanner.report.forms import WORKBOOK
from rigplanner.report.quote import export
from rigplanner.report.quote.content import quote_content
from rigplanner.report.quote.export import FORMATS
from rigplanner.report.quote.logo import logo_content, logo_fault, logo_name
from rigplanner.rig.document import Goods, Tax
from rigplanner.rig.edits import Edit

SVG = (
    b'<svg xmlns="http://www.w3.org/2000/svg" width="60" height="20"><rect width="60" height="20"'
    b' fill="#0b5c8a"/></svg>'
)


@pytest.fixture
def view(window, sample_folder):
    documents.open_file(window, sample_folder / "dual-rtx-3090.rig", sample=True)
    window.show_tab("Quote")
    return window.view("Quote")


def png(path, width=40, height=20):
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.fill(QColor("#224466"))
    assert image.save(str(path))
    return path


def test_every_form_is_written_and_a_folder_that_is_gone_is_told(window, view, tmp_path):
    for form in (*FORMATS, WORKBOOK):
        view.save_as(tmp_path / "out", form)
        content = (tmp_path / "out").read_bytes()
        if form == WORKBOOK:
            assert "xl/workbook.xml" in zipfile.ZipFile(io.BytesIO(content)).namelist()
        else:
            assert "geforce" in content.decode().casefold()
            assert "rtx-3090" in content.decode().casefold().replace(" ", "-")
    assert "out" in window.messages.text.text()
    view.save_as(tmp_path / "gone" / "out.md", "markdown")
    assert "not written" in window.messages.text.text()


def test_the_quote_is_copied(window, view):
    exports.copy_as(window.session, "bbcode")
    assert "[b]" in QGuiApplication.clipboard().text()


def test_a_picture_becomes_the_logo_and_can_be_taken_back(window, view, tmp_path):
    assert view.form.use_logo(str(png(tmp_path / "logo.png")))
    kept = window.session.rig.quote.seller.logo
    assert (logo_name(kept), view.form.logo.text()) == ("logo.png", "logo.png")
    (tmp_path / "logo.png").unlink()
    assert logo_content(kept).startswith(b"\x89PNG") and logo_fault(kept) == ""
    assert view.form.use_logo("logo.png")
    assert window.session.rig.quote.seller.logo == kept
    assert view.form.use_logo("")
    assert window.session.rig.quote.seller.logo == ""
    assert not view.form.use_logo(str(tmp_path / "gone.png"))
    assert view.form.logo_note.isVisibleTo(view.form)
    assert window.session.rig.quote.seller.logo == ""


def test_a_drawing_becomes_a_picture_of_the_logos_room(qapp, tmp_path):
    (tmp_path / "logo.svg").write_bytes(SVG)
    used, fault = usable_logo(str(tmp_path / "logo.svg"))
    assert fault == "" and logo_fault(used) == ""
    assert logo_name(used) == "logo.svg"
    assert QImage.fromData(logo_content(used)).size().toTuple() == (1152, 384)


def test_a_drawing_may_say_what_it_is_as_older_programs_do(qapp, tmp_path):
    kind = (
        b'<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN"'
        b' "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">'
    )
    (tmp_path / "logo.svg").write_bytes(kind + SVG)
    used, fault = usable_logo(str(tmp_path / "logo.svg"))
    assert fault == ""
    assert QImage.fromData(logo_content(used)).size().toTuple() == (1152, 384)


def test_a_picture_in_the_inks_of_a_press_is_carried_in_colours_of_screens(qapp, tmp_path):
    image = QImage(60, 20, QImage.Format.Format_RGB32)
    image.fill(QColor("#10a010"))
    assert image.convertToFormat(QImage.Format.Format_CMYK8888).save(
        str(tmp_path / "logo.jpg"), quality=95
    )
    used, fault = usable_logo(str(tmp_path / "logo.jpg"))
    kept = QImage.fromData(logo_content(used))
    assert (fault, kept.size().toTuple()) == ("", (60, 20))
    assert kept.format() != QImage.Format.Format_CMYK8888
    colour = kept.pixelColor(30, 10)
    assert max(abs(colour.red() - 16), abs(colour.green() - 160), abs(colour.blue() - 16)) <= 6


def test_a_picture_that_is_turned_when_shown_is_carried_turned(qapp, tmp_path):
    plain = QImage(60, 20, QImage.Format.Format_RGB32)
    plain.fill(QColor("#10a010"))
    writer = QImageWriter(str(tmp_path / "logo.jpg"))
    writer.setTransformation(QImageIOHandler.Transformation.TransformationRotate90)
    assert writer.write(plain)
    used, fault = usable_logo(str(tmp_path / "logo.jpg"))
    assert (fault, QImage.fromData(logo_content(used)).size().toTuple()) == ("", (20, 60))


def test_a_large_picture_is_carried_in_the_room_of_a_logo(qapp, tmp_path):
    used, fault = usable_logo(str(png(tmp_path / "wide.png", 4000, 400)))
    assert fault == ""
    assert QImage.fromData(logo_content(used)).size().toTuple() == (1250, 125)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.png", b"no picture"),
        ("a.jpg", b""),
        ("a.gif", b"GIF89a"),
        ("a.svg", b"<svg"),
        ("big.png", b"x" * (4 * 2**20 + 1)),
        ("a.svg", SVG.replace(b"<rect", b'<image href="file:///etc/passwd"/><rect')),
        ("a.svg", b'<!DOCTYPE svg [<!ENTITY a "aaaa">]>' + SVG),
        ("a.svg", b"<!-- -->" * 200_000),
    ],
)
def test_what_is_no_logo_is_refused_by_name(qapp, tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    used, fault = usable_logo(str(tmp_path / name))
    assert name in fault
    assert used == ""
    assert name in usable_logo(str(tmp_path / "gone" / name))[1]


def test_a_logo_that_is_a_path_is_told_and_not_opened(window, view, tmp_path):
    private = png(tmp_path / "private.png")
    seller = replace(window.session.rig.quote.seller, logo=str(private))
    rig = window.session.rig
    window.session.start_rig(replace(rig, quote=replace(rig.quote, seller=seller)))
    assert view.form.logo_note.isVisibleTo(view.form)
    assert "not opened" in view.form.logo_note.text()
    view.form.logo.editingFinished.emit()
    assert window.session.rig.quote.seller.logo == str(private)


def test_a_picture_beyond_sense_is_refused(qapp, tmp_path):
    assert "million pixels" in usable_logo(str(png(tmp_path / "huge.png", 4100, 4100)))[1]


def test_costs_are_asked_and_reach_the_quote(window, view):
    fields = {
        widget.accessibleName(): widget
        for widget in view.form.findChildren(type(view.form.own_tax))
    }
    fields["Energy"].setValue(0.25)
    fields["Hours of use"].setValue(8)
    fields["Resale"].setValue(30)
    rig = window.session.rig
    assert (rig.site.energy_per_kwh.amount, rig.site.hours_per_day, rig.quote.resale_percent) == (
        0.25,
        8,
        30,
    )
    assert "Energy per year" in exports.exported(window.session, "json").decode()


def test_own_notes_are_kept_in_the_rig_and_stay_off_the_quote(window, view):
    notes = next(
        field
        for field in view.findChildren(QPlainTextEdit)
        if field.accessibleName() == "Private notes"
    )
    before = window.session.rig.notes
    assert notes.toPlainText() == before != ""
    notes.setPlainText("ask Eva for the rack key")
    assert window.session.rig.notes == "ask Eva for the rack key"
    text = export.markdown(
        quote_content(window.session.assessment, window.session.catalog, date(2026, 11, 21))
    )
    assert "Eva" not in text
    window.session.undo()
    assert notes.toPlainText() == before


def test_one_part_has_a_tax_of_its_own(window, view):
    view.form.own_tax.setValue(7)
    assert window.session.rig.items[0].tax_percent == 7
    view.form.own_tax.setValue(-1)
    assert window.session.rig.items[0].tax_percent is None


def test_costs_and_the_total_open_their_steps(qtbot, window, view):
    rig = window.session.rig
    price = Price(amount=80.0, currency="USD", day="2026-11-20", source="shop")
    sums = window.session.assessment.totals
    missing = (*sums.unpriced, *sums.foreign)
    window.session.edit(
        "Prices", *(Edit("set_price", {"uid": uid, "price": price}) for uid in missing)
    )
    tariff = Price(amount=0.25, currency=rig.currency, day="2026-11-20", source="bill")
    window.session.edit(
        "Site",
        Edit(
            "change_site", {"energy_per_kwh": tariff, "hours_per_day": 8.0, "hire_per_month": price}
        ),
    )
    names = [step.name for step in cost_steps(window.session.assessment, window.session.catalog)]
    assert "Three years" in names
    assert any("cheaper than" in name for name in names)
    assert {"Rent as entered", "Cheaper than renting after"} <= set(names)
    view.show_costs()
    qtbot.waitUntil(
        lambda: any(made.windowTitle() == "Costs" for made in view.findChildren(QDialog)),
        timeout=30_000,
    )
    qtbot.mouseClick(window.build._total, Qt.MouseButton.LeftButton)
    assert window.findChildren(QDialog)[-1].windowTitle() in ("Price", "Costs")
    assert any(made.windowTitle() == "Price" for made in window.findChildren(QDialog))


def test_the_bar_of_the_preview_never_comes_and_goes(qtbot, window, view):
    """It would change the width of the pages, and QPdfView lays out for ever at heights that they
    fit only beside the bar; trying it here would hang, so the policy is asked."""
    qtbot.waitUntil(lambda: view._view is not None and view._view.isVisible(), timeout=30_000)
    assert view._view.verticalScrollBarPolicy() == Qt.ScrollBarPolicy.ScrollBarAlwaysOn


def figure(view, words):
    """The middle of the first box of text with these words, in the preview, and the page it is
    on."""
    pages = view._pages
    for page in range(view._document.pageCount()):
        pages.box_at(page, QPointF(0, 0))
        for box in pages._boxes[page]:
            if words in pages.text_in(page, box):
                return page, box
    raise AssertionError(words)


def point_of(view, page, box):
    """The point of the view where a box of a page is, after scrolling it into sight."""
    margins, scale = view._view.documentMargins(), None
    top = margins.top()
    for each in range(page + 1):
        size = view._document.pagePointSize(each)
        scale = (view._view.viewport().width() - margins.left() - margins.right()) / size.width()
        if each < page:
            top += round(size.height() * scale) + view._view.pageSpacing()
    bar = view._view.verticalScrollBar()
    bar.setValue(round(top + box.top() * scale - 100))
    return QPoint(
        round(margins.left() + box.center().x() * scale),
        round(top + box.center().y() * scale - bar.value()),
    )


def test_a_figure_of_the_preview_opens_its_steps(qtbot, window, view):
    opens = {
        "Valid until": [],
        "$": ["Price"],
        "Memory on 2": ["Memory per GPU"],
        "Expected speed": ["Speed"],
        "BTU/h": ["Sustained load"],
    }
    settled_session(qtbot, window.session)
    qtbot.waitUntil(lambda: view.content is not None, timeout=20_000)
    settled_session(qtbot, window.session)
    shown = {}
    for words in opens:
        at = point_of(view, *figure(view, words))
        qtbot.mouseMove(view._view.viewport(), at)
        qtbot.mouseClick(view._view.viewport(), Qt.MouseButton.LeftButton, pos=at)
        dialogs = [each for each in window.findChildren(QDialog) if each.isVisible()]
        shown[words] = [each.windowTitle() for each in dialogs]
        for each in dialogs:
            each.close()
    assert shown == opens


def test_all_figures_of_the_quote_are_listed(qtbot, window, view):
    settled_session(qtbot, window.session)
    entries = figure_entries(window.session.assessment, window.session.catalog)
    words = [entry.words for entry in entries]
    assert words[:2] == ["Price", "Costs of years and rent"]
    assert sum("speed" in each for each in words) == len(window.session.rig.workloads)
    assert all(entry.make().steps for entry in entries if callable(entry.make))
    view.figures.setFocus()
    qtbot.keyClick(view.figures, Qt.Key.Key_Space)
    menu = next(each for each in view.findChildren(QMenu) if each.isVisible())
    qtbot.keyClick(menu, Qt.Key.Key_Down)
    qtbot.keyClick(menu, Qt.Key.Key_Return)
    assert [each.windowTitle() for each in window.findChildren(QDialog) if each.isVisible()] == [
        "Price"
    ]


def test_a_field_that_is_left_shows_its_beginning(qtbot, window, view):
    names = {field.accessibleName(): field for field in view.findChildren(QLineEdit)}
    window.activateWindow()
    field = names["Customer Address"]
    address = "221B Baker Street, a very long way down the road, London NW1 6XE"
    quote = window.session.rig.quote
    window.session.edit(
        "address",
        Edit(
            "set_quote",
            {"quote": replace(quote, customer=replace(quote.customer, address=address))},
        ),
    )
    field.setFocus()
    field.end(False)
    names["Customer Contact"].setFocus()
    assert field.text() == address
    assert field.cursorPosition() == 0


def test_what_a_seller_says_of_a_part_is_an_edit_each(qtbot, window, view):
    form, goods = view.form, view.form.goods
    uid = form.taxed.currentData()

    def said():
        return window.session.rig.item(uid).goods

    goods.number.setText("ZX-4711")
    goods.number.editingFinished.emit()
    goods.warranty.setValue(24)
    goods.cost.setValue(99.5)
    goods.condition.setCurrentIndex(goods.condition.findData("used"))
    goods.condition.activated.emit(goods.condition.currentIndex())
    assert said() == Goods(part_number="ZX-4711", condition="used", warranty_months=24, cost=99.5)
    goods.ean.setText("4006381333932")
    goods.ean.editingFinished.emit()
    assert said().ean == "" and "no EAN" in window.messages.text.text()
    goods.ean.setText("40-06381 333931")
    goods.ean.editingFinished.emit()
    assert said().ean == "4006381333931"
    window.session.undo()
    assert said().ean == ""
    form.taxed.setCurrentIndex(form.taxed.currentIndex() + 1)
    form.taxed.activated.emit(form.taxed.currentIndex())
    assert (goods.number.text(), goods.warranty.value(), goods.cost.value()) == ("", 0, 0.0)


@pytest.mark.parametrize(
    ("text", "taxes"),
    [
        ("", ()),
        ("PST 7", (Tax(name="PST", percent=7.0),)),
        (
            "PST 7 %; eco levy 2,5",
            (Tax(name="PST", percent=7.0), Tax(name="eco levy", percent=2.5)),
        ),
        ("7", None),
        ("PST", None),
        ("PST 101", None),
        ("PST nan", None),
    ],
)
def test_further_taxes_are_read_as_they_are_written(text, taxes):
    assert read_taxes(text) == taxes
    if taxes:
        assert read_taxes(taxes_text(taxes)) == taxes


def test_the_form_of_the_quote_is_chosen_and_printed(qtbot, window, view):
    settled_session(qtbot, window.session)
    qtbot.waitUntil(lambda: view.content is not None, timeout=20_000)
    view.form.shape.setCurrentIndex(view.form.shape.findData("private"))
    view.form.shape.activated.emit(view.form.shape.currentIndex())
    assert window.session.rig.quote.form == "private"
    settled_session(qtbot, window.session)
    qtbot.waitUntil(lambda: view.pages.text() == "1 page", timeout=20_000)
