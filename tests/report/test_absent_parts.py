"""What is not judged for want of a part is said: in the quote and at the command line."""

from datetime import date
from pathlib import Path

from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.cli.commands.check import check_lines
from rigplanner.report.quote.content import quote_content
from rigplanner.report.words.machine import absent_texts
from rigplanner.rig.document import Rig
from rigplanner.rig.files import read_rig
from rigplanner.rules.assess import assess

DAY = date(2026, 11, 21)


def _sample(samples: list[Path], stem: str) -> Rig:
    return read_rig(next(path for path in samples if path.stem == stem))


def test_a_rig_without_case_and_cooler_says_what_was_not_judged(
    samples: list[Path], catalog: Catalog
) -> None:
    whole = _sample(samples, "gtx-1080-ti")
    assert absent_texts(assess(whole, catalog).machine) == []
    bare = replace(
        whole, items=tuple(item for item in whole.items if item.uid not in ("chassis", "cooler"))
    )
    found = assess(bare, catalog)
    texts = absent_texts(found.machine)
    assert [text.partition(":")[0] for text in texts] == [
        "No case chosen",
        "No cooler is chosen",
    ]
    assert set(texts) <= set(quote_content(found, catalog, DAY).unchecked)
    assert set(texts) <= set(check_lines(found, catalog))
    caseless = replace(whole, items=tuple(item for item in whole.items if item.uid != "chassis"))
    assert len(absent_texts(assess(caseless, catalog).machine)) == 1


def test_a_whole_system_lacks_nothing(samples: list[Path], catalog: Catalog) -> None:
    assert absent_texts(assess(_sample(samples, "titan-x-server"), catalog).machine) == []
    assert absent_texts(assess(Rig(), catalog).machine) == []
