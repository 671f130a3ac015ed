"""Where the shipped data lie: in the wheel under `rigplanner/data_files`, in a checkout beside the
package; of the catalog a newer edition that was fetched, signed and tried (`catalog update --data`)
goes first."""

import gzip
import os
from functools import cache
from pathlib import Path

PACKED = ".gz"
"""How the name of a file ends that the self-contained folder packs: families of parts become twelve
times as short."""
TRIED = "RIGPLANNER_DATA"
"""The environment's name of a folder whose `catalog` is read instead: a process that tries one."""


@cache
def data_path(folder: str) -> Path:
    """Return the folder `catalog` or `resources`; raise FileNotFoundError when the installation
    lacks it."""
    shipped = shipped_path(folder)
    return (newer_catalog(shipped) or shipped) if folder == "catalog" else shipped


def shipped_path(folder: str) -> Path:
    """Return the folder that came with the program; raise FileNotFoundError without one."""
    package = Path(__file__).resolve().parent
    for place in (package / "data_files" / folder, package.parent / folder):
        if place.is_dir():
            return place
    raise FileNotFoundError(
        f"The installation is incomplete: no folder '{folder}' beside {package}. Install RigPlanner"
        " again."
    )


def shipped_files(folder: Path, begin: str = "") -> list[Path]:
    """Return the JSON files of a folder whose names begin so, packed or not."""
    return sorted([*folder.glob(f"{begin}*.json"), *folder.glob(f"{begin}*.json{PACKED}")])


def read_shipped(path: Path) -> bytes:
    """Return what a shipped file holds, be it packed or not. Raises OSError."""
    packed = path if path.suffix == PACKED else path.with_name(path.name + PACKED)
    return path.read_bytes() if not packed.exists() else gzip.decompress(packed.read_bytes())


@cache
def font_bytes(name: str) -> bytes:
    """Return a shipped font, read once."""
    return read_shipped(data_path("resources") / "fonts" / name)


def editions_folder() -> Path:
    """Return where fetched editions of the data are kept; it need not exist."""
    import platformdirs

    return platformdirs.user_data_path("rigplanner", appauthor=False) / "editions"


def newer_catalog(shipped: Path) -> Path | None:
    """Return the catalog of the fetched edition in use, None where there is none or the program
    brought a newer one."""
    if tried := os.environ.get(TRIED):
        return Path(tried) / "catalog"
    folder = editions_folder()
    try:
        name = (folder / "current").read_text("ascii").strip()
        fetched = folder / name / "catalog"
        newer = edition(fetched) > edition(shipped)
    except (OSError, ValueError):
        return None
    return fetched if newer and name and Path(name).name == name else None


def edition(catalog: Path) -> tuple[int, ...]:
    """Return the edition of a catalog's folder, for example (2026, 11, 21). Raises OSError,
    ValueError."""
    return edition_of((catalog / "VERSION").read_text("ascii"))


def edition_of(text: str) -> tuple[int, ...]:
    """Return an edition as numbers that sort. Raises ValueError."""
    return tuple(int(number) for number in text.strip().split("."))


def sample_files() -> list[Path]:
    """Return the sample rigs that came with the program."""
    return sorted((data_path("resources") / "samples").glob("*.rig"))
