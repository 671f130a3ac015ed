"""The verbs import and update, as a user types them."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import msgspec
import pytest

from rigplanner.catalog.imports.user_catalog import full_catalog, newest_rates, user_folder
from rigplanner.catalog.load import Family
from rigplanner.catalog.schema.parts import Accessory
from rigplanner.cli.main import main
from rigplanner.evidence import Source
from rigplanner.rig.files import read_rig

CARD = {
    "opendb_id": "3f2a9c10-0000-4000-8000-000000000001",
    "metadata": {"name": "ACME Storm RTX 4090"},
    "tdp": 450,
}
RATES = b"""<Envelope xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref"><Cube><Cube time="2026-11-20">
<Cube currency="USD" rate="1.25"/></Cube></Cube></Envelope>"""
FAMILY = Family(
    family="ACME",
    sources={"acme-user": Source(title="ACME", read="2026-11-21", trust="community")},
    parts=(
        Accessory(
            id="acme.cable.one",
            name="ACME One",
            vendor="ACME",
            type="cable",
            sources={"acme-user": ("*",)},
        ),
    ),
)


def _cards(folder: Path, **files: bytes) -> None:
    (folder / "GPU").mkdir()
    for name, content in files.items():
        (folder / "GPU" / f"{name}.json").write_bytes(content)


def _run(*words: str) -> int:
    return main(["catalog", *words])


def test_opendb_comes_in_and_can_be_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _cards(tmp_path, good=json.dumps(CARD).encode(), bad=b"{")
    assert _run("import", "opendb", str(tmp_path), "--dry-run") == 0
    assert not user_folder().exists()
    assert _run("import", "opendb", str(tmp_path)) == 0
    said = capsys.readouterr().out
    assert "bad.json is not JSON." in said
    assert "1 of 2 became parts" in said
    assert _run("show", "opendb.gpu.acme-storm-rtx-4090-3f2a9c10") == 0
    assert "[community, read " in capsys.readouterr().out


def test_a_csv_gives_prices_and_json_tells_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "shop.csv"
    path.write_text("model;eur\nRTX 3090;700\nFrobnicator;5\n", "utf-8")
    words = (
        "import",
        "csv",
        str(path),
        "--map",
        "model=name",
        "--map",
        "eur=price",
        "--currency",
        "EUR",
        "--day",
        "2026-11-20",
    )
    assert _run(*words, "--format", "json") == 0
    told = json.loads(capsys.readouterr().out)
    assert [refusal["reason"] for refusal in told["refused"]] == ["no-match"]
    prices = full_catalog().catalog.parts["nvidia.geforce.rtx-3090"].prices
    assert (prices[-1].amount, prices[-1].currency, prices[-1].day) == (700, "EUR", "2026-11-20")


def test_a_pasted_list_becomes_a_rig(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, rig = tmp_path / "list.md", tmp_path / "out.rig"
    path.write_text("**Video Card** | 2 x RTX 3090 | $700.00\n**Case** | Frobnicator\n", "utf-8")
    assert _run("import", "list", str(path), "-o", str(rig)) == 0
    assert "NO MATCH" in capsys.readouterr().out
    assert [item.part for item in read_rig(rig).items] == ["nvidia.geforce.rtx-3090"]
    assert "Frobnicator" in read_rig(rig).notes and read_rig(rig).exchange is not None


def test_own_parts_override(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_bytes(msgspec.json.encode(FAMILY))
    assert _run("import", "parts", str(path)) == 0
    assert full_catalog().catalog.get("acme.cable.one") is not None


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("import", "opendb", "nowhere"), "cannot be read"),
        (("import", "csv", "nowhere", "--day", "2026-11-21"), "cannot be read"),
        (("import", "csv", "nowhere", "--day", "soon"), "--day"),
        (("import", "opendb", "nowhere", "--day", "2026-11-21"), "no such file"),
        (("update", "http://catalog.example/file.json"), "only https"),
        (("update", "ftp://catalog.example/file.json"), "only https"),
        (("update", "https://catalog.example/x", "--timeout", "0"), "--timeout"),
    ],
)
def test_bad_input_is_one_sentence(
    words: tuple[str, ...], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(*words) == 2
    said = capsys.readouterr().err
    assert why in said
    assert said.count("\n") == 1


def test_a_name_is_no_path(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _cards(tmp_path, good=json.dumps(CARD).encode())
    assert _run("import", "opendb", str(tmp_path), "--name", "../../evil") == 2
    assert "--name" in capsys.readouterr().err


def test_a_broken_own_file_is_told_and_the_rest_works(capsys: pytest.CaptureFixture[str]) -> None:
    user_folder().mkdir(parents=True)
    (user_folder() / "broken.json").write_text("{")
    assert _run("list", "rtx", "3090", "--kind", "gpu") == 0
    said = capsys.readouterr()
    assert "Left aside" in said.err
    assert "nvidia.geforce.rtx-3090" in said.out


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        content = {
            "/family.json": msgspec.json.encode(FAMILY),
            "/rates.xml": RATES,
            "/hotel.json": b"<html>",
        }[self.path]
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    server = HTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_update_fetches_parts_and_rates(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("update", f"{address}/family.json") == 0
    assert full_catalog().catalog.get("acme.cable.one") is not None
    assert _run("update", "--rates", f"{address}/rates.xml") == 0
    assert "exchange rates of 2026-11-20" in capsys.readouterr().out
    rates = newest_rates()
    assert rates.rates["USD"] == 1.25


def test_update_keeps_what_is_good(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("update", f"{address}/hotel.json") == 2
    assert "not a catalog file" in capsys.readouterr().err
    assert not list(user_folder().rglob("*.json"))
