"""The campaign: `python -m tools.campaign [PART ...]` prints figures and ends with 1 when a promise
broke."""

import argparse
import sys
from pathlib import Path

from tools.campaign.figures import Figures, timed, written
from tools.campaign.parts import PARTS


def main() -> int:
    """Run the parts that are named, else all."""
    parser = argparse.ArgumentParser(prog="tools.campaign", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--share", type=float, default=1.0, help="of the full size (default: 1)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kept", type=Path, default=Path("out/campaign"))
    args = parser.parse_args()
    figures: list[Figures] = []
    for name in args.parts or PARTS:
        part, size = PARTS[name]
        count = max(1, round(size * args.share))
        made = timed(lambda part=part, count=count: part(count, args.seed, args.kept))
        figures.append(made)
        print(made.line(), flush=True)
        for failure in made.failures[:20]:
            print(f"  {failure.deed}: {failure.came} {failure.kept}", flush=True)
    args.kept.mkdir(parents=True, exist_ok=True)
    written(figures, args.kept / "figures.json")
    return 1 if any(each.failures for each in figures) else 0


if __name__ == "__main__":
    sys.exit(main())
