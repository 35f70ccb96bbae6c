"""What a label forest tells about membership: ``python bench/membership.py [--repeats 30]``.

The setting of the nD-Laplace thesis: two columns of the seeds and of the cardiotocography table,
labels by KMeans (k = 2) of the true rows, a forest of 60 trees on noisy rows, plain shadow models.
Each line is played twice from the same seed: asked for by the true record, and by the report, which
nobody outside holds. Means over games with standard errors in ``results/membership.csv``; beside
them, as ``expected``, an independent rerun of that thesis with its standard error.
"""

import argparse
import csv
import os
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before NumPy: CPU time, not waiting threads

import numpy as np
from measure import RESULTS, show
from sklearn.cluster import KMeans
from sklearn.ensemble import RandomForestClassifier
from sklearn.preprocessing import StandardScaler

import shoal
from shoal.audit import MembershipInference, membership_inference
from shoal.mechanisms import NDLaplace, Piecewise, Reports

DATA = Path(os.environ.get("SHOAL_DATA", "../shared/data"))
TABLES = {
    "seeds-2D": ("uci/seeds.csv", ["area", "perimeter"]),
    "heart-2D": ("uci/cardiotocography.csv", ["LB", "Min"]),
}
# table, mechanism, epsilon: the expected advantage, and twice its standard error
EXPECTED = {
    ("seeds-2D", "none", None): (0.019, 0.07),
    ("seeds-2D", "NDLaplace", 0.5): (0.003, 0.09),
    ("seeds-2D", "NDLaplace", 5): (0.032, 0.06),
    ("seeds-2D", "Piecewise a column", 0.5): (-0.016, 0.07),
    ("seeds-2D", "Piecewise a column", 9): (0.045, 0.05),
    ("heart-2D", "none", None): (0.029, 0.06),
    ("heart-2D", "NDLaplace", 0.5): (0.012, 0.02),
    ("heart-2D", "NDLaplace", 5): (0.080, 0.03),
    ("heart-2D", "Piecewise a column", 0.5): (0.000, 0.06),
    ("heart-2D", "Piecewise a column", 9): (0.030, 0.04),
}


@dataclass(frozen=True)
class PiecewiseAColumn:
    """Piecewise at the whole epsilon on every column, in a box read off the rows: no promise."""

    epsilon: float
    box: shoal.Box

    @property
    def guarantee(self) -> shoal.Unprotected:
        return shoal.Unprotected("every column spends epsilon, and the box is the rows' own")

    def release(self, rows: np.ndarray, rng: np.random.Generator) -> Reports:
        columns = [
            np.asarray(self._column(i).release(rows[:, [i]], rng)) for i in range(self.box.d)
        ]
        return Reports(np.hstack(columns), self)

    def _column(self, i: int) -> Piecewise:
        one = shoal.Box.of([self.box.names[i]], self.box.low[[i]], self.box.high[[i]])
        return Piecewise(self.epsilon, domain=one)


def rows_of(name: str) -> np.ndarray:
    path, columns = TABLES[name]
    with (DATA / path).open() as file:
        return np.array([[float(row[c]) for c in columns] for row in csv.DictReader(file)])


def mechanism_of(name: str, epsilon: float | None, rows: np.ndarray) -> object | None:
    if name == "NDLaplace":
        return NDLaplace(epsilon)
    box = shoal.Box.of(["x", "y"], rows.min(axis=0), rows.max(axis=0))
    return None if name == "none" else PiecewiseAColumn(epsilon, box)


def played(table: str, name: str, epsilon: float | None, query: str, repeats: int, seed: int
           ) -> MembershipInference:  # fmt: skip
    rows = rows_of(table)
    kmeans = KMeans(2, n_init=4, random_state=seed)
    return membership_inference(
        RandomForestClassifier(60),
        rows,
        labels=kmeans.fit_predict(StandardScaler().fit_transform(rows)),
        mechanism=mechanism_of(name, epsilon, rows),
        query=query if name != "none" else "true",
        shadow="plain",
        repeats=repeats,
        random_state=seed,
    )


def line(table: str, name: str, epsilon: float | None, repeats: int, seed: int) -> dict:
    true = played(table, name, epsilon, "true", repeats, seed)
    perturbed = played(table, name, epsilon, "perturbed", repeats, seed)
    expected, twice = EXPECTED[table, name, epsilon]
    return {
        "table": table,
        "mechanism": name,
        "epsilon": "" if epsilon is None else epsilon,
        "games": repeats,
        "TPR perturbed": f"{perturbed.tpr.mean:.3f}",
        "TPR true": f"{true.tpr.mean:.3f}",
        "FPR": f"{true.fpr.mean:.3f}",
        "advantage perturbed": f"{perturbed.advantage.mean:.3f}",
        "s.e. perturbed": f"{perturbed.advantage.standard_error:.3f}",
        "advantage true": f"{true.advantage.mean:.3f}",
        "s.e. true": f"{true.advantage.standard_error:.3f}",
        "expected": f"{expected:.3f}",
        "s.e. expected": f"{twice / 2:.3f}",
        "ceiling": str(true.ceiling),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    if not (DATA / "uci").is_dir():
        print("The data sets are not here: set SHOAL_DATA to their folder.")
        return
    lines = [line(*key, asked.repeats, asked.seed) for key in EXPECTED]
    with (RESULTS / "membership.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(lines[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
    show(lines)


if __name__ == "__main__":
    main()
