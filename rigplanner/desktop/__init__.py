"""What do people see? Qt lives here and nowhere else."""

import ctypes
import sys

if sys.version_info < (3, 12) and sys.implementation.name == "cpython":
    # PySide6 6.12 gives back references to None, True and False that it never took: one to None
    # each time an empty QVariant or
    # layout item becomes None, one to True each time a signal is emitted (seen in sys.getrefcount).
    # Python 3.12 made these
    # three immortal; before, the interpreter dies after some thousand such calls. So they are made
    # as good as immortal here.
    for _constant in (None, True, False):
        ctypes.c_ssize_t.from_address(id(_constant)).value += 1 << 40
