"""Draw the pictures of "Publish cluster centres": private at three budgets, plain, and true.

The students are made up, so their true counts may be shown; those of people never are.
"""

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans

import shoal
from shoal.cluster.figures import MAP_PARTS
from shoal.figures import Figure, true_cell_map
from shoal.pages.groups import KMeansGroups

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
BOX = shoal.Box(sessions_per_week=(0, 30), minutes_per_session=(0, 120))
STUDENTS = shoal.students(10_000, seed=1)
BUDGETS = ("0.01", "0.1", "1")


def main() -> None:
    """All five."""
    for name, figure in true_pictures().items():
        _keep(name, figure)
    for epsilon in BUDGETS:
        model = shoal.PrivateKMeans(4, epsilon=epsilon, domain=BOX, random_state=1)
        (figure,) = KMeansGroups(model.fit(STUDENTS)).maps()
        title = f"Private k-means at epsilon {epsilon}"
        _keep(f"cluster-{epsilon}", replace(figure, title=title))


def true_pictures() -> dict[str, Figure]:
    """Those of true counts, by file name: labelled so, for comparison."""
    cells = shoal.domain.Grid(BOX, MAP_PARTS)
    counts = shoal.rows_of(STUDENTS, BOX).count(cells).reshape(MAP_PARTS, MAP_PARTS)
    draw = partial(true_cell_map, counts, names=BOX.names, low=BOX.low, high=BOX.high)
    plain = draw(title="Plain k-means on true counts of made-up students", centers=_plain())
    return {"cluster-true": draw(title="Made-up students, true counts"), "cluster-plain": plain}


def _plain() -> np.ndarray:
    rows = np.column_stack([STUDENTS[name] for name in BOX.names])
    scaled = BOX.scale(BOX.clip(rows), -1, 1)
    kmeans = KMeans(4, n_init=10, random_state=1).fit(scaled)
    return BOX.unscale(kmeans.cluster_centers_, -1, 1)


def _keep(name: str, figure: Figure) -> None:
    (PICTURES / f"{name}.svg").write_text(figure.svg())


if __name__ == "__main__":
    main()
