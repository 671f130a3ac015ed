"""Parts that a list of words means."""

from rigplanner.catalog.find.find import index_of
from rigplanner.catalog.load import shipped_catalog
from rigplanner.planning.best.named import parts_named


def test_a_list_may_be_parted_as_chinese_is() -> None:
    catalog = shipped_catalog()
    index = index_of(catalog)
    asked = parts_named("2x RTX 3090, GTX 1080 Ti; RTX 4090", catalog, index)
    assert len(asked) == 3
    assert parts_named("2x RTX 3090，GTX 1080 Ti；RTX 4090", catalog, index) == asked
    assert parts_named("2x RTX 3090、GTX 1080 Ti、RTX 4090", catalog, index) == asked
