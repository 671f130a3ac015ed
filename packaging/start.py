"""The entry of the self-contained folder."""

import multiprocessing
import sys

from rigplanner.cli.main import main

if __name__ == "__main__":
    multiprocessing.freeze_support()
    sys.exit(main())
