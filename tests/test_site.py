"""The pages of the site that are written from the catalog."""

import re

import pytest

from rigplanner.catalog.load import shipped_catalog
from rigplanner.catalog.schema.parts import GPU, System
from tools import site


@pytest.mark.parametrize("kind", [GPU, System])
def test_every_source_that_a_page_cites_is_listed_on_it(kind):
    catalog = shipped_catalog()
    for part in (part for part in catalog.parts.values() if isinstance(part, kind)):
        page = "\n".join(site.part_page(part, catalog.sources))
        cited = set()
        for line in page.splitlines():
            found = re.fullmatch(r"\| .* \| .* \| ([0-9, ]+) \|", line)
            cited |= set(found[1].split(", ")) if found else set()
        listed = set(re.findall(r"^(\d+)\. ", page, re.MULTILINE))
        assert cited <= listed, part.id
        assert len(listed) == len(part.sources), part.id


def test_text_of_the_catalog_cannot_leave_its_cell():
    assert site.cell("a|b <i>*x*</i>\n[y](z)") == r"a\|b \<i\>\*x\*\</i\> \[y\](z)"


def test_names_of_figures_carry_their_unit():
    assert site.words("tdp_w").endswith("W")
    assert site.plain({"type": "pcie8", "count": 2}) == "type pcie8, count 2"


def test_pages_of_the_site_lead_to_pages_of_the_site(tmp_path, monkeypatch):
    monkeypatch.setattr(site, "PAGES", tmp_path / "pages")
    site.copy_docs()
    made = ("gpus/", "systems/")
    for page in site.PAGES.rglob("*.md"):
        for link in re.findall(r"\]\(([^)#\s]+)", page.read_text("utf-8")):
            if not link.startswith(("http", "mailto:", *made)):
                assert (page.parent / link).exists(), f"{page.name}: {link}"
