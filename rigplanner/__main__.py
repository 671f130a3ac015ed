"""`python -m rigplanner`."""

import sys

from rigplanner.cli.main import main

sys.exit(main())
