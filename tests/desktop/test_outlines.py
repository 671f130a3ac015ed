"""Outlines are drawn from measures, and only from them."""

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QImage, QPainter

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import GPU, KINDS
from rigplanner.desktop.parts.outline import outline_of, paint


def test_an_outline_has_the_part_s_own_proportions(catalog: Catalog) -> None:
    card = next(
        p for p in catalog.of_kind("gpu") if isinstance(p, GPU) and p.length_mm and p.height_mm
    )
    shape = outline_of(card)
    assert shape is not None
    assert (shape.width, shape.height) == (card.length_mm, card.height_mm)
    longer = outline_of(replace(card, length_mm=card.length_mm + 50))
    assert longer is not None
    assert longer.width == shape.width + 50
    assert outline_of(replace(card, length_mm=None)) is None
    assert outline_of(None) is None


@pytest.mark.parametrize("kind", KINDS)
def test_every_outline_stays_inside_its_part_and_its_area(
    kind: str, catalog: Catalog, qapp
) -> None:
    picture = QImage(120, 60, QImage.Format.Format_ARGB32)
    for part in catalog.of_kind(kind):
        shape = outline_of(part)
        if shape is None:
            continue
        assert shape.width > 0
        assert shape.height > 0
        for x, y, radius in shape.circles:
            assert radius > 0, part.id
            assert radius <= x + 1 <= shape.width + 2, part.id
            assert radius - 1 <= y <= shape.height - radius + 1, part.id
        picture.fill(QColor("white"))
        painter = QPainter(picture)
        paint(painter, shape, QRectF(10, 10, 100, 40), QColor("black"))
        painter.end()
        dark = [
            (x, y)
            for x in (2, 117)
            for y in range(60)
            if picture.pixelColor(x, y).lightness() < 128
        ]
        assert not dark, part.id
