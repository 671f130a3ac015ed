"""Where the shipped data lie: in the wheel under `rigplanner/data_files`, in a checkout beside the
package."""

from functools import cache
from pathlib import Path


@cache
def data_path(folder: str) -> Path:
    """Return the folder `catalog` or `resources`; raise FileNotFoundError when the installation
    lacks it."""
    package = Path(__file__).resolve().parent
    for place in (package / "data_files" / folder, package.parent / folder):
        if place.is_dir():
            return place
    raise FileNotFoundError(
        f"The installation is incomplete: no folder '{folder}' beside {package}. Install RigPlanner"
        " again."
    )


def sample_files() -> list[Path]:
    """Return the sample rigs that came with the program."""
    return sorted((data_path("resources") / "samples").glob("*.rig"))
