"""Fresh processes in which several threads assess at once, for the first time."""

import os
import random
import sys
import threading
from pathlib import Path

from tools.campaign.figures import Failure, Figures


def first_assessments(count: int, seed: int, kept: Path | None) -> Figures:
    """Start `count` processes in which three threads assess a rig each."""
    from rigplanner.catalog.load import shipped_catalog
    from rigplanner.data import data_path
    from rigplanner.rig.files import read_rig
    from rigplanner.rules.assess import assess

    found, dice = Figures("first assessments"), random.Random(seed)
    catalog = shipped_catalog()
    paths = sorted((data_path("resources") / "samples").glob("*.rig"))
    for number in range(count):
        chosen = [dice.choice(paths) for _ in range(3)]
        process = os.fork()
        if not process:
            sys.setswitchinterval(dice.choice((1e-6, 0.0005, 0.005)))
            rigs = [read_rig(path) for path in chosen]
            threads = [
                threading.Thread(target=assess, args=(rig, catalog, "2026-11-23")) for rig in rigs
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            os._exit(0)
        status = os.waitpid(process, 0)[1]
        found.deeds += 1
        if status:
            found.failures.append(Failure(f"process {number} of seed {seed}", f"ended by {status}"))
    return found
