"""Draw the pictures of "Find groups of any shape": five test sets at three budgets.

The sets are points in the plane that are nobody's, read from SHOAL_DATA (aggregation, t4.8k, birch1
and spiral; moons are made up). Only what was released is drawn: cells by group, and one tree.
"""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
from sklearn.datasets import make_moons

os.environ.setdefault("SHOAL_DATA", str(Path(__file__).parents[2] / "shared" / "data"))

import shoal
from shoal.figures import Figure

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
BUDGETS = ("0.1", "0.5", "2")
BOXES = {  # round numbers, stated without the points
    "aggregation": shoal.Box(x=(0, 40), y=(0, 32)),
    "t4.8k": shoal.Box(x=(0, 650), y=(0, 330)),
    "birch1": shoal.Box(x=(0, 1_000_000), y=(0, 1_000_000)),
    "moons": shoal.Box(x=(-1.5, 2.5), y=(-1, 1.5)),
    "spiral": shoal.Box(x=(0, 35), y=(0, 35)),
}


def main() -> None:
    """Fifteen maps, and one with its tree."""
    for name, box in BOXES.items():
        points = _points(name)
        for epsilon in BUDGETS:
            model = shoal.WaveCluster(domain=box, epsilon=epsilon, random_state=1).fit(points)
            figure = replace(model.plot(), title=f"{name} at epsilon {epsilon}")
            _keep(f"{name.replace('.', '-')}-{epsilon}", _without_tree(figure))
            print(name, epsilon, model.grid_.shape, model.n_clusters_, "groups")
            if (name, epsilon) == ("t4.8k", "2"):
                _keep("tree", figure)


def _points(name: str) -> np.ndarray:
    if name == "moons":
        return make_moons(10_000, noise=0.05, random_state=0)[0]
    table = shoal.data.load(name)
    return np.column_stack([table["x"], table["y"]])


def _without_tree(figure: Figure) -> Figure:
    return replace(figure, data={**figure.data, "branches": []})


def _keep(name: str, figure: Figure) -> None:
    (PICTURES / f"shapes-{name}.svg").write_text(figure.svg())


if __name__ == "__main__":
    main()
