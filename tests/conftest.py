"""No display, no network, no home directory: what every test stands on."""

import gc
import os
import socket
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import pytest
from hypothesis import settings

from rigplanner.catalog.load import Catalog, shipped_catalog
from rigplanner.data import data_path

settings.register_profile("rigplanner", deadline=None)
settings.load_profile("rigplanner")

# Tests start the program some sixty times: each module is compiled once, whatever the shell says.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


def pytest_collection_finish() -> None:
    """The catalog and the tests themselves live to the end: the collector need not look at them,
    nor after each 700 objects at what is new."""
    gc.freeze()
    gc.set_threshold(50_000)


_HOMES = count()


@pytest.fixture(autouse=True)
def _own_directories(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path_factory.getbasetemp() / f"home-{next(_HOMES)}"
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(home / name.lower()))


@pytest.fixture(autouse=True, scope="session")
def _no_network() -> Iterator[None]:
    connect = socket.socket.connect

    def local_only(self: socket.socket, address: object) -> None:
        if (
            self.family in (socket.AF_INET, socket.AF_INET6)
            and isinstance(address, tuple)
            and address[0] not in ("127.0.0.1", "::1", "localhost")
        ):
            raise OSError(f"a test reached for the network: {address}")
        connect(self, address)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", local_only)
        yield


@pytest.fixture(autouse=True, scope="session")
def _no_wait_for_disks() -> Iterator[None]:
    """What is written shall be on the disk when the power goes, which it does in no test: one that
    asks whether it was seen to puts a function of its own in this place."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda handle: None)
        yield


@pytest.fixture(scope="session")
def _one_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.getbasetemp()
    return (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "cache"


@pytest.fixture
def warm_cache(_one_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs that tests start, in either process of a run, read the binary copies of the catalog
    and of the measured rows that the first of them made."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(_one_cache))


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    """The shipped catalog."""
    return shipped_catalog()


@pytest.fixture(scope="session")
def samples() -> list[Path]:
    """The shipped sample rigs."""
    return sorted((data_path("resources") / "samples").glob("*.rig"))
