"""The collect script, and captures of the machine that RigPlanner runs on."""

import shutil
import subprocess
import tempfile
from pathlib import Path

from rigplanner.asbuilt.captures import Capture, CaptureFault, read_capture
from rigplanner.data import data_path

PATIENCE_S = 180.0
"""Seconds that the script may take: some programs wait for cards that no longer answer."""


class CollectFault(RuntimeError):
    """This machine cannot be read; the text says why."""


def collect_script() -> str:
    """Return the script of standard shell that collects captures on any Linux machine."""
    return (data_path("resources") / "acceptance" / "collect.sh").read_text("utf-8")


def collect_here(folder: Path | None = None) -> Capture:
    """Return the captures of this machine, kept in `folder` where one is named. Raises CollectFault
    where there is no shell or nothing is understood."""
    shell = shutil.which("sh")
    if shell is None:
        raise CollectFault("There is no shell 'sh' here: collect on the Linux machine, use --from.")
    if folder is not None:
        return _collected(shell, folder)
    with tempfile.TemporaryDirectory() as place:
        return _collected(shell, Path(place) / "capture")


def _collected(shell: str, folder: Path) -> Capture:
    try:
        subprocess.run(
            [shell, "-s", "--", str(folder)],
            input=collect_script(),
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        return read_capture(folder)
    except (OSError, subprocess.TimeoutExpired, CaptureFault) as fault:
        raise CollectFault(f"This machine could not be read ({fault}).") from fault
