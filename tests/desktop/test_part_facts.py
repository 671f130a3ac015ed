"""What the window says of a part: its figures, where sources disagree, and what its maker does not
publish."""

from rigplanner.catalog.schema.parts import GPU, Cooler, Doubt, Rates
from rigplanner.desktop.parts.facts import facts_html
from rigplanner.evidence import Source

PAGE = {
    "maker-page": Source(
        title="Maker: page", url="https://example.invalid/x", read="2026-11-22", trust="vendor"
    )
}


def test_what_the_maker_leaves_out_names_its_page() -> None:
    cooler = Cooler(
        id="a.b.c",
        name="C",
        vendor="A",
        type="air",
        sockets=("AM5",),
        unpublished={"maker-page": ("rated_w", "fan_rpm")},
    )
    text = facts_html(cooler, PAGE)
    assert "not published by the maker" in text and "https://example.invalid/x" in text
    assert "The maker does not publish: fan rpm." in text and "Radiator" not in text


def test_disagreeing_sources_are_told_with_what_each_says() -> None:
    doubts = {
        "tdp_w": Doubt(
            state="conflict", values=("300 (maker)", "<b>350</b> (press)"), note="board"
        ),
        "l2_mib": Doubt(state="conflict", values=("4 (maker)", "8 (press)")),
        "cooling": Doubt(state="unverified"),
        "chip": Doubt(state="unverified"),
    }
    card = GPU(
        id="a.b.d",
        name="D",
        vendor="AMD",
        form_factor="pcie",
        tdp_w=300,
        cooling="open",
        dense_tflops=Rates(fp32=1.0),
        unsupported=("fp16",),
        doubts=doubts,
        sources={"maker-page": ("*",)},
    )
    text = facts_html(card, PAGE)
    assert (
        "sources disagree" in text
        and "300 (maker)  ·  &lt;b&gt;350&lt;/b&gt; (press)" in text
        and "board" in text
    )
    assert "L2 cache" in text and "4 (maker)  ·  8 (press)" in text
    assert "Not verified: chip." in text and "no matrix units" in text
