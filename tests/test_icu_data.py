"""The data of ICU in the self-contained folder: less of it, and each item that stays as it was."""

from pathlib import Path

import PySide6
import pytest

from tools.icu_data import ALIGNED, COUNT, ENTRY, HEAD, NAME_AT, items_of, kept, packed, slimmed

LIBRARIES = sorted(Path(PySide6.__file__).parent.glob("Qt/lib/libicudata.so.*"))


@pytest.mark.parametrize(
    ("name", "stays"),
    [
        ("coll/root.res", True),
        ("coll/zh.res", True),
        ("coll/zh_Hant_TW.res", True),
        ("coll/ko.res", False),
        ("coll/ucadata.icu", True),
        ("nfkc.nrm", True),
        ("root.res", True),
        ("res_index.res", True),
        ("likelySubtags.res", True),
        ("cs.res", False),
        ("zh_Hant_TW.res", False),
        ("zone/cs.res", False),
        ("curr/pool.res", False),
        ("ibm-943_P15A-2003.cnv", False),
    ],
)
def test_what_tells_the_order_of_letters_stays(name: str, stays: bool) -> None:
    assert kept(f"icudt73l/{name}") == stays


def test_data_of_another_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="ICU"):
        items_of(bytes(200))


@pytest.mark.skipif(not LIBRARIES, reason="Qt comes without ICU here")
def test_what_stays_is_as_it_was_and_aligned() -> None:
    whole = LIBRARIES[0].read_bytes()
    data = whole[whole.find(b"CmnD") - NAME_AT :]
    size, _ = HEAD.unpack_from(data)
    items, slim = items_of(data), slimmed(data)
    left = items_of(slim)
    assert len(slim) < len(data) / 5
    assert list(left) == sorted(name for name in items if kept(name))
    assert all(item.startswith(items[name]) for name, item in left.items())
    (count,) = COUNT.unpack_from(slim, size)
    places = [ENTRY.unpack_from(slim, size + 4 + at * ENTRY.size)[1] for at in range(count)]
    assert all(place % ALIGNED == 0 for place in places)
    assert items_of(packed(data[:size], left)) == left
