"""What a command may end with."""

import traceback
from pathlib import Path

FINE, FINDINGS, BAD_INPUT = 0, 1, 2
INTERRUPTED = 130
"""What a shell says of a program that Ctrl-C ended."""


class InputFault(Exception):
    """Bad input from the user: the text is one sentence that says which file, which field, what to
    do."""


def own_fault(fault: BaseException) -> str:
    """Return one sentence on an error that nobody foresaw, with where it arose: enough for a
    report, not a traceback."""
    frames = [
        frame
        for frame in traceback.extract_tb(fault.__traceback__)
        if "rigplanner" in Path(frame.filename).parts
    ]
    place = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return (
        f"a fault of RigPlanner, please report it ({type(fault).__name__}{place}:"
        f" {str(fault)[:200]})."
    )
