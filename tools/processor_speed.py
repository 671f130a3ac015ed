"""Errors of the law of CPUs on its measured rows, each network held out: `python
tools/processor_speed.py`."""

import math
import statistics

from rigplanner.performance.host.steps import as_processors, cpu_file, predict_on_cpu
from rigplanner.rig.workload import Workload


def main() -> None:
    """Print a line for each stack: rows, median error, share of rows inside the interval."""
    known = cpu_file()
    for slug in known.stacks:
        misses, inside = [], []
        for row in (row for row in known.rows if row.stack == slug):
            work = Workload(model=row.model, task=row.task, batch_per_gpu=row.batch, stack=slug)
            host = as_processors(known.hosts[row.host])
            found = predict_on_cpu(work, host, None, left_out=row.model)
            misses.append(abs(math.log(found.value / row.samples_s)))
            inside.append(found.low <= row.samples_s <= found.high)
        print(
            f"{slug:8} {len(misses):3} rows, median error {statistics.median(misses):.1%}, "
            f"inside {statistics.mean(inside):.0%}"
        )


if __name__ == "__main__":
    main()
