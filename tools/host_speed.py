"""The errors of the law of hosts on measured rows, each source held out, and its fitted constants.

python tools/host_speed.py [--rows]
"""

from __future__ import annotations

import argparse
import math
import sys

import msgspec
import numpy as np

from rigplanner.performance.host.constants import host_constants
from rigplanner.performance.host.judge import fitted, held_out, judged_rows


def main() -> int:
    """Print medians, tails and how many answers lie in the interval."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", action="store_true", help="print each setup too")
    asked = parser.parse_args()
    rows, known = judged_rows(), host_constants()
    setups = held_out(rows, known, 8)
    offs = np.array(list(setups.values()))
    errors = np.abs(np.exp(offs) - 1)
    inside = np.mean(np.abs(offs) <= math.log(known.spread))
    write = sys.stdout.write
    write(f"decoding: {len(rows)} rows, {len(setups)} setups, median {np.median(errors):.1%}, ")
    write(f"90th percentile {np.quantile(errors, 0.9):.1%}, in the interval {inside:.0%}\n")
    prompts = [item for item in rows if item.row.prefill]
    told = np.log([item.prefill(known) / (item.row.prefill or 1.0) for item in prompts])
    wide = np.mean(np.abs(told) <= math.log(known.prompt_spread))
    middle = np.median(np.abs(np.exp(told) - 1))
    write(f"prompts: {len(prompts)} rows, median {middle:.1%}, in the interval {wide:.0%}\n")
    if asked.rows:
        for setup, off in sorted(setups.items(), key=lambda item: item[1]):
            write(f"{math.exp(off):6.2f}  {' '.join(setup)}\n")
    constants = fitted(rows, known, 1500)
    write(msgspec.json.format(msgspec.json.encode(constants), indent=1).decode() + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
