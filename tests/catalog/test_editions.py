"""Newer data, apart from the program: believed by their signature, tried, taken whole or not."""

import functools
import hashlib
import http.server
import io
import shutil
import stat
import threading
import zipfile

import msgspec
import pytest
from nacl.signing import SigningKey

from rigplanner import data
from rigplanner.catalog.imports import editions
from rigplanner.catalog.load import CatalogFault
from rigplanner.cli.main import main
from rigplanner.data import data_path
from tools.sign_edition import sign

KEY = SigningKey(bytes(range(32)))
NEWER = "2099.01.01"


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        """Say nothing."""


@pytest.fixture
def published(tmp_path, monkeypatch):
    """A folder with a signed edition of 2099, served on this machine: (folder, place)."""
    catalog = tmp_path / "made" / "catalog"
    catalog.mkdir(parents=True)
    for file in ("VERSION", "LICENSE"):
        shutil.copy(data.shipped_path("catalog") / file, catalog)
    (catalog / "VERSION").write_text(NEWER)
    folder = tmp_path / "published"
    sign(KEY, catalog, folder)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    served = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(_Quiet, directory=folder)
    )
    thread = threading.Thread(target=served.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    place = editions.Place(
        index=f"http://127.0.0.1:{served.server_address[1]}/index.json",
        public_key=KEY.verify_key.encode().hex(),
    )
    data_path.cache_clear()
    yield folder, place
    served.shutdown()
    served.server_close()
    thread.join()
    data_path.cache_clear()


def _works(_folder):
    return ""


def test_a_signed_edition_is_taken_and_given_back(published, tmp_path):
    _, place = published
    index = editions.look(place, tmp_path / "cache")
    assert (index.edition, editions.newer(index)) == (NEWER, True)
    folder = editions.take(index, place.index, tries=_works)
    data_path.cache_clear()
    assert data_path("catalog") == folder / "catalog"
    assert (data_path("catalog") / "VERSION").read_text() == NEWER
    assert editions.take_back()
    data_path.cache_clear()
    assert data_path("catalog") == data.shipped_path("catalog")
    assert not editions.take_back()


def test_data_that_do_not_work_change_nothing(published, tmp_path):
    _, place = published
    index = editions.look(place, tmp_path / "cache")
    with pytest.raises(editions.EditionFault, match="were not taken: FAILED"):
        editions.take(index, place.index)  # two files are no catalog: the real trial says so
    assert data_path("catalog") == data.shipped_path("catalog")
    assert list(data.editions_folder().iterdir()) == []


@pytest.mark.parametrize("changed", ["index.json", "index.json.sig", "other key"])
def test_what_is_not_signed_by_the_key_is_not_believed(published, tmp_path, changed):
    folder, place = published
    if changed == "other key":
        other = SigningKey(bytes(32)).verify_key.encode().hex()
        place = msgspec.structs.replace(place, public_key=other)
    else:
        text = (folder / changed).read_text()
        (folder / changed).write_text(text.replace("9", "8", 1) if "9" in text else "0" * 128)
    with pytest.raises(editions.EditionFault, match="signature"):
        editions.look(place, tmp_path / "cache")


def test_another_archive_than_the_signed_one_is_refused(published, tmp_path):
    folder, place = published
    index = editions.look(place, tmp_path / "cache")
    archive = folder / index.archive
    archive.write_bytes(archive.read_bytes() + b" ")
    with pytest.raises(editions.EditionFault, match="checksum"):
        editions.take(index, place.index, tries=_works)
    assert data_path("catalog") == data.shipped_path("catalog")


def _zip(*entries):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as made:
        for name, mode in entries:
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            made.writestr(info, "x")
    return content.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        _zip(("catalog/../../x", 0)),
        _zip(("/etc/x", 0)),
        _zip(("other/x", 0)),
        _zip(("catalog\\x", 0)),
        _zip(("catalog/x", stat.S_IFLNK | 0o777)),
        b"no archive",
        _zip(("catalog/x", 0))[:-9],
    ],
)
def test_hostile_archives_write_nothing(tmp_path, content):
    with pytest.raises(CatalogFault):
        editions.unpack(content, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_what_a_program_cannot_read_or_has_already_is_refused(published, tmp_path):
    _, place = published
    index = editions.look(place, tmp_path / "cache")
    newer_program = msgspec.structs.replace(index, least_program="99.0.0")
    with pytest.raises(editions.EditionFault, match=r"need RigPlanner 99\.0\.0"):
        editions.take(newer_program, place.index, tries=_works)
    old = msgspec.structs.replace(index, edition="2020.01.01")
    with pytest.raises(editions.EditionFault, match="not newer"):
        editions.take(old, place.index, tries=_works)


def test_the_signature_is_that_of_the_standard():
    """RFC 8032, section 7.1, test 2."""
    key = "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"
    signature = (
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
        "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
    )
    assert editions.believed(b"\x72", signature, key)
    assert not editions.believed(b"\x73", signature, key)


def test_the_command_says_why_it_takes_nothing(published, capsys):
    _, place = published
    assert main(["catalog", "update", "--data"]) == 2
    assert "names no address" in capsys.readouterr().err
    assert main(["catalog", "update", "--data", place.index]) == 2
    assert "no key" in capsys.readouterr().err
    assert main(["catalog", "update", "--back"]) == 0


def test_the_command_looks_and_takes_nothing(published, capsys, monkeypatch):
    _, place = published
    monkeypatch.setattr(editions, "shipped_place", lambda: place)
    assert main(["catalog", "update", "--data", "--look"]) == 0
    assert f"Data of {NEWER} are there" in capsys.readouterr().out
    assert not data.editions_folder().exists()


def test_equal_data_make_equal_archives(tmp_path):
    catalog = tmp_path / "catalog"
    catalog.mkdir()
    (catalog / "VERSION").write_text(NEWER)
    digests = set()
    for place in ("one", "two"):
        sign(KEY, catalog, tmp_path / place)
        archive = tmp_path / place / f"data-{NEWER}.zip"
        digests.add(hashlib.sha256(archive.read_bytes()).hexdigest())
    assert len(digests) == 1
