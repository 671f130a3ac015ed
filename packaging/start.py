"""The entry of the self-contained folder."""

import multiprocessing
import sys

from rigplanner.cli.main import main

if __name__ == "__main__":
    multiprocessing.freeze_support()
    if sys.argv[1:2] == ["-c"]:  # the program asks itself, as it would ask Python, whether Qt draws
        exec(sys.argv[2])
        sys.exit()
    sys.exit(main())
