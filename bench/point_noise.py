"""WaveCluster on points that each carry their own noise: ``python bench/point_noise.py``.

Mean cluster dissimilarity to plain WaveCluster on the same grid, over the sets of the published
comparison, beside noise on the blocks at the same epsilon. The promises differ: reports hide a
record from whoever collects them, blocks hide a row from whoever reads the release.
"""

import argparse
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from clustering.shapes import Compared, compared
from measure import show, write

from shoal import NDLaplace, Perturb, WaveCluster
from shoal.cluster.wave import Percentile
from shoal.domain import Box
from shoal.evaluate import cluster_dissimilarity
from shoal.mechanisms import Piecewise
from shoal.privacy import Unprotected

PLAIN = Unprotected("Exact counts, to compare with.")

EPSILONS = (1, 2, 4, 8, 16)
REPORTS: dict[str, Callable[[float, Box], Any]] = {
    # Within a box no two records are more than its diagonal apart, 2 sqrt(d) half-sides.
    "Laplace": lambda epsilon, box: NDLaplace(
        epsilon / (2 * math.sqrt(box.d)), scale="box", domain=box
    ),
    "Piecewise": lambda epsilon, box: Piecewise(epsilon, domain=box),
}


def _apart(each: Compared, found: WaveCluster, rows: Any) -> float:
    true = WaveCluster(**_common(each), privacy=PLAIN).fit(each.shape.rows).cell_labels_
    return cluster_dissimilarity(true, found.fit(rows).cell_labels_)


def _common(each: Compared) -> dict[str, Any]:
    return {
        "domain": each.shape.box,
        "cells": each.cells,
        "level": 1,
        "selector": Percentile(each.p),
        "min_cells": 1,
    }


def _of_reports(each: Compared, mechanism: Any, seed: int) -> float:
    perturb = Perturb(mechanism, memo="fresh", random_state=seed)
    return _apart(
        each,
        WaveCluster(**_common(each), privacy=PLAIN),
        np.asarray(perturb.fit_transform(each.shape.rows)),
    )


def _of_blocks(each: Compared, epsilon: float, seed: int) -> float:
    model = WaveCluster(**_common(each), epsilon=epsilon, random_state=seed)
    return _apart(each, model, each.shape.rows)


def _line(epsilon: float, draws: int) -> dict[str, Any]:
    scores = {
        name: [
            _of_reports(each, make(epsilon, each.shape.box), seed)
            for each in compared()
            for seed in range(draws)
        ]
        for name, make in REPORTS.items()
    }
    scores["block"] = [
        _of_blocks(each, epsilon, seed) for each in compared() for seed in range(draws)
    ]
    return {"epsilon": epsilon} | {name: round(float(np.mean(s)), 2) for name, s in scores.items()}


def main() -> None:
    """One table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one draw; not kept")
    quick = parser.parse_args().quick
    rows = [_line(epsilon, 1 if quick else 5) for epsilon in EPSILONS]
    if quick:
        show(rows)
    else:
        write("point-noise", rows)


if __name__ == "__main__":
    main()
