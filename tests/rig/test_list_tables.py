"""Tables as people publish them: the heading says which column holds what."""

import pytest

from rigplanner.catalog.find.find import index_of
from rigplanner.catalog.load import shipped_catalog
from rigplanner.rig.from_text.list_tables import Columns, columns_of, is_label, kind_of_label
from rigplanner.rig.from_text.parts_list import read_parts_list

SHIPPED = index_of(shipped_catalog())
DAY = "2026-11-21"


def read(text: str) -> list[tuple[str | None, int, str | None, float | None]]:
    return [
        (
            entry.kind,
            entry.wish.quantity,
            entry.wish.parts[0].id if entry.wish.parts else None,
            entry.price and entry.price.amount,
        )
        for entry in read_parts_list(text, SHIPPED, DAY)
    ]


def test_a_numbered_bill_with_quantities_and_sums() -> None:
    text = """| # | Component | Product | Qty | Unit Price | Line Total | Source |
|---|-----------|---------|-----|-----------|------------|--------|
| 1 | GPU | RTX PRO 6000 Blackwell Workstation Edition, 96 GB GDDR7, PCIe 5.0 x16 | 2 | $9,499.99 | $18,999.98 | Shop |
| 2 | CPU | AMD Threadripper PRO 7975WX, 32C/64T, sTR5 | 1 | $3,799.99 | $3,799.99 | Shop |
| 5 | NVMe Boot | Samsung 9100 PRO 2 TB, PCIe 5.0 x4 | 1 | $459.95 | $459.95 | Shop |
| | | **Total** | | | $23,259.92 | |"""
    assert read(text) == [
        ("gpu", 2, "nvidia.rtx-pro.6000-blackwell-workstation", 9499.99),
        ("cpu", 1, "amd.threadripper-pro.7975wx", 3799.99),
        ("storage", 1, "samsung.ssd-9100-pro.2-tb", 459.95),
    ]


def test_a_price_of_several_is_left_out_where_nothing_says_that_it_is_the_price_of_one() -> None:
    rows = (
        "|---|---|---|---|\n| GPU | RTX 4090 | 4 | $7,200 |\n| PSU | Corsair AX1600i | 1 | $599 |"
    )
    text = f"| Component | Model | Qty | Price |\n{rows}"
    assert read(text) == [
        ("gpu", 4, "nvidia.geforce.rtx-4090", None),
        ("psu", 1, "corsair.axi.ax1600i", 599.0),
    ]
    assert read(text.replace("Price", "Unit price"))[0][3] == 7200.0
    assert read(text.replace("Price", "Total"))[0][3] == 1800.0


def test_a_table_without_a_heading_counts_in_its_third_cell() -> None:
    assert read(
        "| **GPU** | RTX 4090 24GB | 4 | $7,200 |\n| **PSU Primary** | EVGA SuperNOVA 1600 T2 | 1 |"
        " $599 |"
    ) == [
        ("gpu", 4, "nvidia.geforce.rtx-4090", None),
        ("psu", 1, "evga.supernova.1600-t2", 599.0),
    ]


def test_french_headings_spaces_in_prices_and_a_count_in_the_words() -> None:
    text = """| Pièce | Référence | Prix d'achat, novembre 2025 |
|---|---|---:|
| Processeur | AMD Ryzen Threadripper PRO 9955WX | 1 580 € |
| Cartes graphiques | 3 x ASRock Radeon AI PRO R9700 32 Go | 3 350 € |"""
    assert read(text) == [
        ("cpu", 1, "amd.threadripper-pro.9955wx", 1580.0),
        ("gpu", 3, "asrock.creator.r9700-creator", None),
    ]


def test_html_as_the_site_writes_it_today() -> None:
    def row(kind: str, item: str, price: str) -> str:
        cells = (
            ("type", kind),
            ("item", f'<a href="https://example.invalid/x">{item}</a>'),
            ("price", price),
        )
        return (
            "<tr>"
            + "".join(f'\n <td class="pcpp-part-list-{name}">{text}</td>' for name, text in cells)
            + "\n</tr>\n"
        )

    text = (
        "<table"
        ' class="pcpp-part-list">\n<thead><tr>\n<th>Type</th>\n<th>Item</th>\n<th>Price</th>\n</tr></thead>\n'
        + row(
            "Video Card",
            "Asus ROG STRIX GAMING OC GeForce RTX 4090 24 GB Video Card",
            "$3499.95 @ Shop",
        )
        + row(
            "Case Fan",
            "Corsair iCUE LINK QX120 RGB Starter Kit 63.1 CFM 120 mm Fans 3-Pack",
            "$109.99 @ Shop",
        )
        + "<tr>\n<td></td>\n<td"
        ' class="pcpp-part-list-total">Total</td>\n<td>$6822.76</td>\n</tr></table>'
    )
    assert read(text) == [
        ("gpu", 1, "asus.rog-strix.rtx-4090-oc", 3499.95),
        (None, 1, "corsair.fans.icue-link-qx120-rgb-fan", 109.99),
    ]


@pytest.mark.parametrize("mark", ["> ", "# ", "- ", "• ", ""])
def test_quoted_commented_and_bulleted_lines(mark: str) -> None:
    text = (
        f"{mark}CPU: AMD Ryzen 5 9600X 3.9 GHz 6-Core Processor  ($212.79 @ Shop)\n{mark}Total:"
        " $212.79"
    )
    assert read(text) == [("cpu", 1, "amd.ryzen.5-9600x", 212.79)]


def test_what_the_site_does_not_sell_is_read_from_its_custom_lines() -> None:
    text = (
        "Custom: RTX PRO 6000 Blackwell Workstation Edition ($9499.00 @ Shop)\nCustom:  ($220.00)"
    )
    assert read(text) == [(None, 1, "nvidia.rtx-pro.6000-blackwell-workstation", 9499.0)]


def test_a_range_is_no_price_and_a_label_alone_no_part() -> None:
    assert read(
        "- **GPUs**:\n  - 4x RTX 3090 24GB ($650-$900 each)\nGPU: 2x RTX 5090 (32GB each)"
    ) == [
        (None, 4, "nvidia.geforce.rtx-3090", None),
        ("gpu", 2, "nvidia.geforce.rtx-5090", None),
    ]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("GPUs", "gpu"),
        ("PSU Primary", "psu"),
        ("Storage (OS)", "storage"),
        ("**Carte mère**", "motherboard"),
        ("Case Fan", None),
    ],
)
def test_labels(text: str, kind: str | None) -> None:
    assert is_label(text) and kind_of_label(text) == kind


@pytest.mark.parametrize("text", ["GPU 3090", "Power Mac", "RTX 5090", "Board of directors", ""])
def test_what_is_no_label(text: str) -> None:
    assert not is_label(text)


def test_headings_are_told_from_rows() -> None:
    assert columns_of(["Type", "Item", "Price"]) == Columns(name=1, kind=0, price=2)
    assert columns_of(["Part", "Price"]) == Columns(name=0, price=1)
    assert columns_of(["CPU", "AMD Ryzen 9 5950X", "$549.00"]) is None
    assert columns_of(["2", "RTX 3090"]) is None


def test_a_heading_tells_the_currency_of_its_prices() -> None:
    head = "| Component | Specs | Price (CHF) |\n|---|---|---:|\n"
    table = (
        head + "| **🎮 GPU** | RTX 5090 (32 GB) | 2,224 |\n| Misc | Cables, thermal paste | 50 |"
    )
    card, rest = read_parts_list(table, SHIPPED, "2026-02-17")
    assert (card.kind, card.wish.parts[0].id) == ("gpu", "nvidia.geforce.rtx-5090")
    assert card.price is not None
    assert (card.price.amount, card.price.currency) == (2224.0, "CHF")
    assert rest.wish.parts == ()
    assert columns_of(["Part", "Price (¥)"]) == Columns(name=0, price=1)


def test_modules_are_counted_before_their_maker() -> None:
    (entry,) = read_parts_list("8x Kingston 64GB DDR5-5600 ECC RDIMM", SHIPPED, "2026-02-17")
    assert entry.wish.quantity == 8


def test_a_count_beyond_sense_is_no_single_piece() -> None:
    assert read("99999999999999 x RTX 5090\n2 x RTX 5090") == [
        (None, 1, None, None),
        (None, 2, "nvidia.geforce.rtx-5090", None),
    ]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("Corsair RM1000x (2024) 1000 W 80+ Gold", "corsair.rmx.rm1000x-2024"),
        ("Corsair RM1000x (2021) 1000 W 80+ Gold", "corsair.rmx.rm1000x-2021"),
        ("Corsair RM850e (2025) 850 W", "corsair.rme.rm850e-2025"),
        ("Corsair RM850e (2023) 850 W", "corsair.rme.rm850e"),
        ("Corsair RM750x (2018)", "corsair.rmx.rmx-rm750x-2018"),
        ("Corsair RM750x (2015)", "corsair.rmx.rmx-rm750x-2015-first-version"),
        ("Corsair RM750x (2013)", None),
        ("Lian Li O11 Dynamic EVO (2022)", "lian-li.o11.o11-dynamic-evo"),
        ("Corsair RM1000x (2024) ✅ **PURCHASED**", "corsair.rmx.rm1000x-2024"),
    ],
)
def test_a_year_after_a_name_is_the_year_of_the_model(text: str, part: str | None) -> None:
    assert [found for _, _, found, _ in read(f"- {text}\n")] == [part]
