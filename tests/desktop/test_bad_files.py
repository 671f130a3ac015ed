"""A file that cannot be read never blocks a start: it is set aside or left aside, and told."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rigplanner.catalog.imports.user_catalog import full_catalog
from rigplanner.desktop.document.preferences import (
    BROKEN,
    Preferences,
    PreferenceStore,
    begin,
    folder_of,
)

START = """
import sys
from rigplanner.desktop.panels.message_bar import MessageBar
from rigplanner.desktop.start import make_application, make_window
application = make_application()
window = make_window()
window.show()
application.processEvents()
window.session.tasks._pool.waitForDone(60_000)
application.processEvents()
bar = window.findChild(MessageBar)
print(window.session.catalog is not None, bar.text.text())
sys.stdout.flush()
import os; os._exit(0)
"""
NESTED = b'{"name": ' + b"[" * 90_000
HOSTILE = (
    b"",
    b"\0",
    b'{"name": "\xff\xfe"}',
    NESTED,
    b'{"catalog_folder": "a\\u0000b"}',
    b'{"recent": ["a\\u0000b", "file://%00", "\\ud83d\\ude00"]}',
    b'{"site": {"volts": 1e999}, "text_percent": 110}',
    b'{"language": {"a": [1]}, "geometry": "zz", "layout": "00ff"}',
)


@pytest.mark.parametrize("content", HOSTILE)
def test_preferences_are_read_or_set_aside(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "preferences.json"
    file.write_bytes(content)
    store = PreferenceStore(file)
    assert isinstance(store.now, Preferences)
    assert not store.fault or (tmp_path / BROKEN).read_bytes() == content
    assert full_catalog(folder_of(store.now.catalog_folder)).catalog.parts
    assert begin(store.now).currency


def test_what_can_be_read_of_preferences_stays(tmp_path: Path) -> None:
    (tmp_path / "p.json").write_bytes(b'{"theme": "dark", "price_days": "many", "name": "A"}')
    store = PreferenceStore(tmp_path / "p.json")
    assert (store.now.theme, store.now.name, store.now.price_days) == ("dark", "A", 30)
    assert "price_days" in store.fault


def test_preferences_too_large_to_be_any_are_set_aside(tmp_path: Path) -> None:
    with (tmp_path / "p.json").open("wb") as file:
        file.truncate(2**30)
    store = PreferenceStore(tmp_path / "p.json")
    assert store.now == Preferences() and store.fault
    assert (tmp_path / BROKEN).stat().st_size == 2**30


def test_a_file_whose_name_is_no_text_is_remembered(tmp_path: Path) -> None:
    path = Path(os.fsdecode(b"/caf\xe9/a.rig"))
    PreferenceStore(tmp_path / "p.json").remember_file(path)
    assert PreferenceStore(tmp_path / "p.json").now.recent == ("file:///caf%E9/a.rig",)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=60) | st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=8),
    lambda inner: st.dictionaries(st.sampled_from(Preferences.__struct_fields__), inner),
).map(lambda tree: json.dumps(tree).encode()))  # fmt: skip
def test_any_preferences_start(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "p.json").write_bytes(content)
    store = PreferenceStore(tmp_path / "p.json")
    assert isinstance(begin(store.now).currency, str)


@pytest.mark.usefixtures("warm_cache")
def test_a_window_starts_among_broken_files_and_tells_them(tmp_path: Path) -> None:
    places = {
        name: tmp_path / name for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")
    }
    config, data, state = (place / "rigplanner" for place in places.values())
    broken = {
        config / "preferences.json": b'{"name": "\xff"}',
        state / "journal" / "a.journal": b'{"document":"\xff\xfe","process":1}\n',
        data / "catalog" / "own.json": NESTED,
        data / "catalog" / "prices" / "shop.json": b'{"prices": "\xff"}',
        data / "catalog" / "rates.xml": b"<Cube",
        data / "measurements" / "mine.csv": b"a,b\n" + b"x" * 140_000,
    }
    for path, content in broken.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    environment = {**os.environ, **{name: str(place) for name, place in places.items()}}
    environment["QT_QPA_PLATFORM"] = "offscreen"
    done = subprocess.run(
        [sys.executable, "-c", START], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and done.stdout.startswith("True"), done.stderr
    for name in (BROKEN, "own.json", "shop.json", "rates.xml", "mine.csv"):
        assert name in done.stdout, name
    assert (config / BROKEN).exists() and (state / "journal" / "a.broken").exists()
