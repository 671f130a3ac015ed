"""Fields that findings name have words."""

from rigplanner.catalog.load import Catalog
from rigplanner.report.words.fields import FIELD_WORDS
from rigplanner.rules.core.rests import DECIDING


def test_every_disputed_field_has_words(catalog: Catalog) -> None:
    disputed = {
        field
        for part in catalog.parts.values()
        for field, doubt in part.doubts.items()
        if doubt.state == "conflict" and field.rpartition(".")[2] not in FIELD_WORDS
    }
    assert disputed == set()


def test_every_deciding_figure_has_words() -> None:
    fields = {name for kinds in DECIDING.values() for names in kinds.values() for name in names}
    assert {name for name in fields if name.rpartition(".")[2] not in FIELD_WORDS} == set()
