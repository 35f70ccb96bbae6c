"""How fast local mechanisms are, as ratios within one run: ``python bench/local.py``.

Each line holds ``NDLaplace.release`` in place (checks, noise, lattice) against what is measured
beside it with the same generator: a ``standard_normal`` fill of the same size, the least any such
noise could cost; the same ``release`` called once a record; and the shortest loop over records,
which checks nothing. CPU time, the best of several turns; written to ``bench/results/local.json``.
"""

import math
import time
from collections.abc import Callable

import numpy as np
from measure import write

from shoal import Box, NDLaplace, Randomness

ROWS, LOOPED, TURNS = 1_000_000, 2_000, 7
AT_MOST = {2: 2.6, 10: 1.5}  # times a fill
AT_LEAST = 300  # times faster than a call a record


def seconds_of(tasks: dict[str, Callable[[], object]], prepare: Callable[[], object]) -> dict:
    """CPU seconds of each task's fastest turn; tasks take turns, so that they meet like times."""
    best = dict.fromkeys(tasks, math.inf)
    for _ in range(TURNS):
        for name, task in tasks.items():
            prepare()
            start = time.process_time()
            task()
            best[name] = min(best[name], time.process_time() - start)
    return best


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


def nd_laplace(d: int) -> dict[str, object]:
    """Nanoseconds a row, and ratios, for d columns."""
    rng, seeded = Randomness().noise, Randomness(1).noise
    box = Box.unit(d)
    mechanism, raw = NDLaplace(1.0, domain=box), NDLaplace(1.0, domain=box, lattice=None)
    rows = Randomness(0).compute.random((ROWS, d))
    table, few = rows.copy(), rows[:LOOPED]
    taken = seconds_of(
        {
            "fill": lambda: rng.standard_normal(out=table),
            "release": lambda: mechanism.release(table, rng, out=table),
            "without_lattice": lambda: raw.release(table, seeded, out=table),
            "call_a_record": lambda: [mechanism.release(row, rng) for row in few],
            "bare_loop": lambda: record_by_record(few, 1.0, rng),
        },
        prepare=lambda: np.copyto(table, rows),
    )
    counts = dict.fromkeys(taken, ROWS) | {"call_a_record": LOOPED, "bare_loop": LOOPED}
    each = {name: spent / counts[name] * 1e9 for name, spent in taken.items()}
    return {
        "case": f"NDLaplace 1M x {d}",
        "ns a row": round(each["release"], 1),
        "over a fill": round(each["release"] / each["fill"], 2),
        "at most": AT_MOST[d],
        "over a fill without lattice": round(each["without_lattice"] / each["fill"], 2),
        "a call a record over it": round(each["call_a_record"] / each["release"]),
        "at least": AT_LEAST,
        "a bare loop over it": round(each["bare_loop"] / each["release"]),
    }


if __name__ == "__main__":
    write("local", [nd_laplace(d) for d in AT_MOST])
