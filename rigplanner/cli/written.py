"""The file that a command was asked to write."""

import sys
from pathlib import Path

from rigplanner.cli.faults import InputFault
from rigplanner.whole_file import write_whole


def written(path: Path, content: bytes) -> None:
    """Write a file whole and say so. Raises InputFault when the disk refuses."""
    try:
        write_whole(path, content)
    except OSError as fault:
        raise InputFault(f"{path}: not written ({fault.strerror or fault}).") from fault
    print(f"Written: {path}", file=sys.stderr)
