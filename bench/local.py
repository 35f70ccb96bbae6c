"""How fast local mechanisms are, as ratios within one run: ``python bench/local.py``.

Each line holds ``NDLaplace.release`` in place (checks, noise, lattice) against what is measured
beside it with the same generator: a ``standard_normal`` fill of the same size, the least any such
noise could cost; the same ``release`` called once a record; and the shortest loop over records,
which checks nothing. CPU time, the best of several runs; written to ``bench/results/local.json``.
"""

import json
import math
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from shoal import Box, NDLaplace, Randomness

RESULTS = Path(__file__).parent / "results"
ROWS, LOOPED = 1_000_000, 5_000
AT_MOST = {2: 2.6, 10: 1.5}  # times a fill
AT_LEAST = 300  # times faster than a call a record


def seconds(task: Callable[[], object], repeats: int = 7) -> float:
    """CPU seconds of the fastest run: other work on the machine only ever adds."""
    taken = []
    for _ in range(repeats):
        start = time.process_time()
        task()
        taken.append(time.process_time() - start)
    return min(taken)


def record_by_record(rows: np.ndarray, epsilon: float, rng: np.random.Generator) -> list:
    """The bare loop: a radius, a direction and a sum for one record after the other."""
    reports = []
    step = 2.0 ** math.floor(math.log2(2**-20 / epsilon))
    for row in rows:
        direction = rng.standard_normal(row.size)
        direction /= np.linalg.norm(direction)
        noise = rng.gamma(row.size, 1 / epsilon) * direction
        reports.append(step * (np.rint(row / step) + np.rint(noise / step)))
    return reports


def nd_laplace(d: int) -> dict[str, float]:
    """Nanoseconds a row, and ratios, for d columns."""
    rng = Randomness().noise
    mechanism = NDLaplace(1.0, bounds=Box.unit(d))
    raw = NDLaplace(1.0, lattice=None)
    seeded = Randomness(1).noise
    rows = Randomness(0).compute.random((ROWS, d))
    table = rows.copy()

    def in_place() -> None:
        table[...] = rows  # a second run on noisy rows would be refused: they leave the box
        mechanism.release(table, rng, out=table)

    fill = seconds(lambda: rng.standard_normal(out=table))
    copy = seconds(lambda: np.copyto(table, rows))
    release = seconds(in_place) - copy
    without_lattice = seconds(lambda: raw.release(table, seeded, out=table))
    few = rows[:LOOPED]
    calls = seconds(lambda: [mechanism.release(row, rng) for row in few], repeats=3) / LOOPED
    loop = seconds(lambda: record_by_record(few, 1.0, rng), repeats=3) / LOOPED
    return {
        "d": d,
        "fill_ns_per_row": fill / ROWS * 1e9,
        "release_ns_per_row": release / ROWS * 1e9,
        "call_a_record_ns": calls * 1e9,
        "bare_loop_ns_per_row": loop * 1e9,
        "release_over_fill": release / fill,
        "without_lattice_over_fill": without_lattice / fill,
        "call_a_record_over_release": calls * ROWS / release,
        "bare_loop_over_release": loop * ROWS / release,
    }


def run() -> list[dict[str, float]]:
    """Measure, print and write."""
    results = [nd_laplace(d) for d in AT_MOST]
    for line in results:
        d = int(line["d"])
        print(
            f"NDLaplace 1M x {d}: {line['release_over_fill']:.2f} fills (at most {AT_MOST[d]}), "
            f"{line['without_lattice_over_fill']:.2f} without checks and lattice; "
            f"{line['call_a_record_over_release']:.0f} times a call a record (at least "
            f"{AT_LEAST}), {line['bare_loop_over_release']:.0f} times a bare loop"
        )
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "local.json").write_text(json.dumps(results, indent=2) + "\n")
    return results


if __name__ == "__main__":
    run()
