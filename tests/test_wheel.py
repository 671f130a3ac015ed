"""The built wheel works in a clean place outside the checkout."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    return next(folder.glob("*.whl"))


def test_the_wheel_holds_catalog_and_resources_and_their_licences(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert any(name.startswith("rigplanner/data_files/catalog/gpu/") for name in names)
    assert any(name.startswith("rigplanner/data_files/resources/samples/") for name in names)
    assert "rigplanner/data_files/catalog/LICENSE" in names
    assert "rigplanner/data_files/resources/LICENSES.md" in names


def test_the_installed_wheel_passes_its_self_test(wheel: Path, tmp_path: Path) -> None:
    """The clean environment sees this one's libraries by a path file, so that no network is needed,
    but not the checkout."""
    place = tmp_path / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    binaries = place / ("Scripts" if os.name == "nt" else "bin")
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    pip = [sys.executable, "-m", "pip", "--python", str(binaries / "python")]
    install = [*pip, "install", "--quiet", "--no-deps", "--no-index", "--no-compile", str(wheel)]
    subprocess.run(install, cwd=tmp_path, env=clean, check=True, capture_output=True)
    site = next((place / "lib").glob("python*")) / "site-packages"
    (site / "libraries.pth").write_text(
        next(path for path in sys.path if path.endswith("site-packages")) + "\n", "utf-8"
    )
    done = subprocess.run(
        [str(binaries / "rigplanner"), "self-test"],
        cwd=tmp_path,
        env=clean,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ok in" in done.stdout
    where = [str(binaries / "python"), "-c", "import rigplanner; print(rigplanner.__file__)"]
    assert (
        str(place)
        in subprocess.run(
            where, cwd=tmp_path, env=clean, capture_output=True, text=True, check=True
        ).stdout
    )
