"""The quote: what stands on it, any text prints, equal input gives equal bytes."""

import io
import itertools
import os
import re
import struct
import zlib
from datetime import date
from pathlib import Path

import pytest
from msgspec.structs import replace
from pypdf import PdfReader

from rigplanner.catalog.find.find import index_of
from rigplanner.catalog.load import Catalog
from rigplanner.report.paper.sheet import MARGIN
from rigplanner.report.quote.content import quote_content
from rigplanner.report.quote.export import FORMATS, export
from rigplanner.report.quote.logo import carried, logo_fault, logo_flowable, logo_name
from rigplanner.report.quote.machine import links_text
from rigplanner.report.quote.pdf import quote_pdf, render
from rigplanner.report.words.speed import leading_anchors
from rigplanner.report.words.workloads import LIFT_WORDS
from rigplanner.rig.document import Party, QuoteDetails, Rig
from rigplanner.rig.edits import waive
from rigplanner.rig.files import read_rig, write_rig
from rigplanner.rig.from_text.from_words import read_wish, rig_from_wishes
from rigplanner.rules.assess import assess

DAY = date(2026, 11, 21)
HOSTILE = "<b>&amp; </para> %s {x} ../../etc \u202e繁體中文 Žluťoučký kůň 🚀\x07"


def _sample(samples: list[Path], stem: str) -> Rig:
    return read_rig(next(path for path in samples if path.stem == stem))


def _text(pdf: bytes) -> str:
    return "\n".join(page.extract_text() for page in PdfReader(io.BytesIO(pdf)).pages)


@pytest.fixture(scope="module")
def deskmini(samples: list[Path]) -> Rig:
    return _sample(samples, "deskmini-gtx-1070")


def test_the_quote_states_parts_prices_dates_and_sums(deskmini: Rig, catalog: Catalog) -> None:
    text = _text(quote_pdf(assess(deskmini, catalog), catalog, DAY)).replace("\u202f", " ")
    assert "NT$22,500" in text
    assert "7 Oct 2017" in text
    assert "Total" in text
    assert "page 1 of" in text
    assert "What was not checked" in text


def test_the_classic_prices_sum_up(deskmini: Rig, catalog: Catalog) -> None:
    amounts = {item.price.amount * item.quantity for item in deskmini.items if item.price}
    assert {13900.0, 22500.0, 2150.0, 4400.0, 3450.0, 2588.0} <= amounts
    assert assess(deskmini, catalog).totals.subtotal == sum(
        i.price.amount * i.quantity for i in deskmini.items if i.price
    )


def test_every_sample_prints_and_prints_the_same_again(
    samples: list[Path], catalog: Catalog
) -> None:
    for path, paper in zip(samples, itertools.cycle(("A4", "Letter")), strict=False):
        assessment = assess(read_rig(path), catalog)
        printed = quote_pdf(assessment, catalog, DAY, paper)
        assert len(PdfReader(io.BytesIO(printed)).pages) >= 2
        assert printed == quote_pdf(assessment, catalog, DAY, paper)


def test_fonts_are_embedded_and_metadata_set(deskmini: Rig, catalog: Catalog) -> None:
    reader = PdfReader(io.BytesIO(quote_pdf(assess(deskmini, catalog), catalog, DAY)))
    assert deskmini.name in str(reader.metadata.title if reader.metadata else "")
    fonts = {
        font.get_object()["/BaseFont"]
        for page in reader.pages
        for font in page["/Resources"]["/Font"].values()
    }  # type: ignore[index]
    assert any("NotoSans" in str(name) for name in fonts)


def test_any_text_in_any_field_prints(deskmini: Rig, catalog: Catalog) -> None:
    party = Party(
        name=HOSTILE,
        address=f"{HOSTILE}\n{HOSTILE}",
        contact=HOSTILE,
        email=HOSTILE,
        phone=HOSTILE,
        tax_id=HOSTILE,
        logo=HOSTILE,
    )
    details = QuoteDetails(
        number=HOSTILE,
        date="not a day",
        seller=party,
        customer=party,
        terms=HOSTILE * 40,
        remarks=HOSTILE * 40,
    )
    items = tuple(replace(item, note=HOSTILE * 30) for item in deskmini.items)
    settings = replace(deskmini.settings, bios={HOSTILE: HOSTILE}, software={HOSTILE: HOSTILE * 30})
    rig = replace(
        deskmini,
        name=HOSTILE + "x" * 10_000,
        quote=details,
        items=items,
        notes=HOSTILE,
        settings=settings,
    )
    text = _text(quote_pdf(assess(rig, catalog), catalog, DAY))
    assert "繁體中文" in text
    assert "Žluťoučký" in text
    assert "</para>" in text


def test_a_part_with_any_name_prints_in_tables_and_pictures(
    samples: list[Path], catalog: Catalog
) -> None:
    assessment = assess(_sample(samples, "dual-rtx-3090"), catalog)
    pieces = tuple(
        replace(piece, part=replace(piece.part, name=HOSTILE * 20))
        for piece in assessment.machine.pieces
    )
    gpus = tuple(
        replace(gpu, gpu=replace(gpu.gpu, name=HOSTILE)) for gpu in assessment.machine.gpus
    )
    quote = quote_content(
        replace(assessment, machine=replace(assessment.machine, pieces=pieces, gpus=gpus)),
        catalog,
        DAY,
    )
    assert "繁體中文" in _text(render(quote))


def test_an_empty_rig_prints(catalog: Catalog) -> None:
    assert "no prices" not in _text(quote_pdf(assess(Rig(), catalog), catalog, DAY))


def test_a_waived_finding_stays_on_the_quote_with_its_reason(
    deskmini: Rig, catalog: Catalog
) -> None:
    code = next(f.code for f in assess(deskmini, catalog).report.findings if f.severity == "error")
    rig = waive(deskmini, code, "measured with a meter", "Eva")
    quote = quote_content(assess(rig, catalog), catalog, DAY)
    assert "measured with a meter" in next(f.waived for f in quote.waived if f.code == code)
    assert "measured with a meter" in _text(quote_pdf(assess(rig, catalog), catalog, DAY))


def test_ignored_rules_are_listed_as_not_checked(deskmini: Rig, catalog: Catalog) -> None:
    code = assess(deskmini, catalog).report.ran[0]
    quote = quote_content(assess(replace(deskmini, ignored=(code,)), catalog), catalog, DAY)
    assert any(code in text and "ignored" in text for text in quote.unchecked)


@pytest.mark.parametrize("form", sorted(FORMATS))
def test_exports_hold_every_part(deskmini: Rig, catalog: Catalog, form: str) -> None:
    text = export(quote_content(assess(deskmini, catalog), catalog, DAY), form)
    assert "gtx-1070" in text.casefold().replace(" ", "-")
    assert "22" in text


def test_a_spreadsheet_takes_no_cell_for_a_formula(deskmini: Rig, catalog: Catalog) -> None:
    quote = quote_content(assess(deskmini, catalog), catalog, DAY)
    line = replace(quote.lines[0], name="=cmd|' /C calc'!A0")
    text = export(replace(quote, lines=(line,)), "csv")
    assert "\n1,'=cmd" in text or "'=cmd" in text
    assert ",=cmd" not in text


def test_every_font_in_the_file_is_embedded(deskmini: Rig, catalog: Catalog) -> None:
    reader = PdfReader(io.BytesIO(quote_pdf(assess(deskmini, catalog), catalog, DAY)))
    for page in reader.pages:
        for font in page["/Resources"]["/Font"].values():  # type: ignore[index]
            assert "/FontFile2" in font.get_object()["/FontDescriptor"], font.get_object()[
                "/BaseFont"
            ]


def test_the_outline_names_the_sections(deskmini: Rig, catalog: Catalog) -> None:
    titles = [
        entry.title
        for entry in PdfReader(
            io.BytesIO(quote_pdf(assess(deskmini, catalog), catalog, DAY))
        ).outline
    ]  # type: ignore[union-attr]
    assert titles[0] == "Parts"
    assert {"The machine", "Findings", "What was not checked"} <= set(titles)


@pytest.mark.parametrize("paper", ["A4", "Letter"])
def test_the_footer_keeps_to_one_line_however_long_the_seller(
    deskmini: Rig, catalog: Catalog, paper: str
) -> None:
    rig = replace(deskmini, quote=replace(deskmini.quote, seller=Party(name="W" * 120)))
    page = PdfReader(io.BytesIO(quote_pdf(assess(rig, catalog), catalog, DAY, paper))).pages[0]
    feet: list[float] = []
    page.extract_text(
        visitor_text=lambda text, cm, tm, *_: feet.append(tm[5] + cm[5]) if "WWW" in text else None
    )
    assert len([height for height in feet if height < 2 * MARGIN]) == 1


def test_a_file_that_a_rig_names_is_not_opened(
    deskmini: Rig, catalog: Catalog, tmp_path: Path
) -> None:
    """A stranger's rig must not print the reader's pictures, nor reach a server by a path."""
    (tmp_path / "private.png").write_bytes(_png(40, 20))
    for path in (tmp_path / "private.png", tmp_path, Path("//host/share/x.png")):
        rig = replace(
            deskmini, quote=replace(deskmini.quote, seller=Party(name="Shop", logo=str(path)))
        )
        first = PdfReader(io.BytesIO(quote_pdf(assess(rig, catalog), catalog, DAY))).pages[0]
        assert len(first.images) == 0
        assert "not opened" in logo_fault(str(path))


EPS = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 100 50\n%%EndComments\nshowpage\n%%EOF\n"


def test_no_picture_starts_another_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pillow hands EPS to Ghostscript; only the decoders of PNG and JPEG see a logo."""
    trap = tmp_path / "gs"
    trap.write_text(f"#!/bin/sh\necho called >> {tmp_path}/log\n")
    trap.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    for kind, content in (("png", EPS), ("jpeg", EPS), ("png", b"GIF89a" + bytes(60))):
        text = carried(content, kind, "a.png")
        assert logo_fault(text) == "a.png: not a picture."
        assert logo_flowable(text) is None
        unnamed = text.replace(";name=a.png", "")
        assert logo_fault(unnamed) == "Logo: not a picture."
        assert logo_flowable(unnamed) is None
    assert not (tmp_path / "log").exists()


def test_a_picture_that_ends_in_the_middle_is_no_logo() -> None:
    whole = _png(400, 200)
    assert logo_fault(carried(whole, "png", "a.png")) == ""
    assert "not a picture" in logo_fault(carried(whole[: len(whole) // 2], "png", "a.png"))


def test_a_picture_of_too_many_pixels_is_refused_before_it_is_decoded() -> None:
    ihdr = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 0, 0, 0, 0)
    chunk = b"IHDR" + ihdr
    bomb = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + chunk
    bomb += struct.pack(">I", zlib.crc32(chunk)) + _png(4, 4)[33:]
    assert "16 million pixels" in logo_fault(carried(bomb, "png", "a.png"))


def test_a_logo_travels_inside_the_rig(deskmini: Rig, catalog: Catalog, tmp_path: Path) -> None:
    logo = carried(_png(40, 20), "png", "our; logo, new.png")
    rig = replace(deskmini, quote=replace(deskmini.quote, seller=Party(name="Shop", logo=logo)))
    write_rig(rig, tmp_path / "a.rig", catalog)
    again = read_rig(tmp_path / "a.rig").quote.seller.logo
    assert (logo_name(again), logo_fault(again)) == ("our; logo, new.png", "")
    assert (
        len(PdfReader(io.BytesIO(quote_pdf(assess(rig, catalog), catalog, DAY))).pages[0].images)
        == 1
    )


@pytest.mark.parametrize(
    "text",
    [
        "data:image/png;name=a.png;base64,????",
        "data:image/png;name=a.png;base64,aGVsbG8=",
        "data:text/html,x",
        "\0.png",
    ],
)
def test_what_is_carried_and_no_picture_is_refused(text: str) -> None:
    assert logo_fault(text)
    assert logo_flowable(text) is None


def _png(width: int, height: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    rows = b"".join(b"\x00" + b"\x10\x60\x90" * width for _ in range(height))
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


def test_letters_of_the_topology_are_explained(samples: list[Path], catalog: Catalog) -> None:
    links = quote_content(assess(_sample(samples, "dgx-1-v100"), catalog), catalog, DAY).links
    assert "NV2 (2 NVLinks)" in links
    assert "SYS (between CPUs)" in links
    assert "Joined by direct links: GPU 0+1+2+3+4+5+6+7." in links
    assert "all-reduce" not in links
    assert quote_content(assess(_sample(samples, "gtx-1080-ti"), catalog), catalog, DAY).links == ""


def test_the_quote_says_what_leaving_a_bridged_pair_costs(catalog: Catalog) -> None:
    wishes = ("4x RTX A6000", "2x NVLink bridge A-series 2-slot", "EPYC 7443P", "ROMED8-2T")
    index = index_of(catalog)
    machine = assess(
        rig_from_wishes("islands", [read_wish(wish, index) for wish in wishes]), catalog
    ).machine
    assert [len(island) for island in machine.islands] == [2, 2]
    rates = re.search(
        r"runs at (\d+)\u202fGB/s inside an island and at (\d+)\u202fGB/s over all",
        links_text(machine),
    )
    assert rates and int(rates[1]) > 1.9 * int(rates[2])


def test_what_limits_a_workload_is_said_in_words(deskmini: Rig, catalog: Catalog) -> None:
    text = _text(quote_pdf(assess(deskmini, catalog), catalog, DAY))
    assert (
        "limited by arithmetic of the GPU" in text
        or "limited by memory bandwidth of the GPU" in text
    )
    assert any(words.split(",")[0] in text for words in LIFT_WORDS.values())


def test_a_speed_rests_on_one_line_for_buyers_and_on_all_measurements_inside(
    deskmini: Rig, catalog: Catalog
) -> None:
    assessment = assess(deskmini, catalog)
    anchors = [anchor for job in assessment.jobs for anchor in leading_anchors(job.speed)]
    inside = " ".join(_text(quote_pdf(assessment, catalog, DAY, form="internal")).split())
    assert anchors and all(anchor.source.split("/")[0] in inside for anchor in anchors)
    assert inside.count("rigplanner performance FILE.rig --steps") == 1
    for form in ("dealer", "private"):
        told = " ".join(_text(quote_pdf(assessment, catalog, DAY, form=form)).split())
        assert told.count("Rests on ") == len(assessment.jobs)
        assert "--steps" not in told and "(weight" not in told
