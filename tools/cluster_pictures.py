"""Draw the pictures of "Publish cluster centres": true, plain, and private at three budgets.

The students are made up, so their true counts may be shown; those of people never are.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans

import shoal
from shoal.apps.cluster_groups import Groups
from shoal.apps.cluster_maps import PARTS, maps
from shoal.figures import Figure, cell_map

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
BOX = shoal.Box(sessions_per_week=(0, 30), minutes_per_session=(0, 120))
STUDENTS = shoal.students(10_000, seed=1)
BUDGETS = ("0.01", "0.1", "1")


def main() -> None:
    """All five."""
    counts = shoal.rows_of(STUDENTS, BOX).count(shoal.Grid(BOX, PARTS))
    true = {"names": BOX.names, "low": BOX.low, "high": BOX.high}
    cells = counts.reshape(PARTS, PARTS)
    _keep("true", cell_map(cells, title="Made-up students, true counts", **true))
    plain = cell_map(cells, title="Plain k-means on them", centers=_plain(), **true)
    _keep("plain", plain)
    for epsilon in BUDGETS:
        model = shoal.PrivateKMeans(4, epsilon=epsilon, domain=BOX, random_state=1)
        (figure,) = maps(Groups(model.fit(STUDENTS)))
        _keep(epsilon, replace(figure, title=f"Private k-means at epsilon {epsilon}"))


def _plain() -> np.ndarray:
    rows = np.column_stack([STUDENTS[name] for name in BOX.names])
    scaled = BOX.scale(BOX.clip(rows), -1, 1)
    kmeans = KMeans(4, n_init=10, random_state=1).fit(scaled)
    return BOX.unscale(kmeans.cluster_centers_, -1, 1)


def _keep(name: str, figure: Figure) -> None:
    (PICTURES / f"cluster-{name}.svg").write_text(figure.svg())


if __name__ == "__main__":
    main()
