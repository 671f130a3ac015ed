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
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)], cwd=ROOT, check=True, capture_output=True
    )
    return next(folder.glob("*.whl"))


def test_the_wheel_holds_catalog_and_resources_and_their_licences(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert any(name.startswith("rigplanner/data_files/catalog/gpu/") for name in names)
    assert any(name.startswith("rigplanner/data_files/resources/samples/") for name in names)
    assert "rigplanner/data_files/catalog/LICENSE" in names
    assert "rigplanner/data_files/resources/LICENSES.md" in names


def test_the_installed_wheel_passes_its_self_test(wheel: Path, tmp_path: Path) -> None:
    """The clean environment sees this one's libraries by a path file, so that no network is needed, but not the checkout."""
    place = tmp_path / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    site = next((place / "lib").glob("python*")) / "site-packages"
    libraries = next(path for path in sys.path if path.endswith("site-packages"))
    zipfile.ZipFile(wheel).extractall(site)
    run_it = "sys.argv[1:] = ['self-test']; from rigplanner.cli.main import main; sys.exit(main())"
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = _run(place, f"import sys; sys.path.append({libraries!r}); {run_it}", tmp_path, clean)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ok in" in done.stdout
    assert str(place) in _run(place, "import rigplanner; print(rigplanner.__file__)", tmp_path, clean).stdout


def _run(place: Path, code: str, folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    python = str(place / "bin" / "python")
    return subprocess.run([python, "-c", code], cwd=folder, env=environment, capture_output=True, text=True, check=False)
