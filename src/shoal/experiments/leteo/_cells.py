"""What each cell of the LETEO experiments does: tables, run times, synopses, private k-means."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize import TopDownSpecialization
from shoal.arrays import Floats, nearest_centers
from shoal.cluster import PrivateKMeans
from shoal.data import blobs, dataset_names, load, students, students_schema
from shoal.domain import Box
from shoal.evaluate import center_errors, normalised_inertia, plain_centers
from shoal.experiments._cells import Cell, Row
from shoal.experiments.leteo._printed_gains import GAINS, specialize
from shoal.figures import CenterPanel, Figure, bars, center_maps
from shoal.synopsis import AdaptiveGrid, UniformGrid

TABLE_ROWS = (20_000, 50_000, 100_000)  # the report does not say how many its table has
K = 10  # the anonymity that the report asks for
SYSTEMS = {
    "school": ["primary", "secondary", "special"],
    "training": ["technical", "teacher training"],
}
STATES = {
    "capital": ["Alta"],
    "coast": ["Bahia", "Cerro", "Duna", "Quebra"],
    "west": ["Espino", "Faro", "Hondo", "Rincon"],
    "north": ["Grana", "Isla", "Jardin", "Molino", "Norte"],
    "centre": ["Lagos", "Olmo", "Palmar", "Sauce", "Tala"],
}
LEVELS = {"1 to 3": ["1", "2", "3"], "4 to 6": ["4", "5", "6"]}
TREES: dict[str, Any] = {
    "sex": ["F", "M"],
    "system": SYSTEMS,
    "level": LEVELS,
    "state": STATES,
    "region": ["capital", "centre", "coast", "north", "west"],
}
QUASI = tuple(TREES)
OTHER = ("sessions_per_week", "minutes_per_session", "maths_sessions_per_week")
COARSE_ROWS, PART_ROWS = (5, 10, 20), (2.5, 5, 10)  # c1 and c2
ALPHAS = (0.1, 0.25, 0.5, 0.75, 0.9)
PRINTED: dict[str, Any] = {"consistency": False, "negative": "zero"}
METHODS: dict[str, Callable[[], Any]] = {
    "DPLloyd": lambda: {"method": "lloyd"},
    "EUGkM": lambda: {"method": UniformGrid(negative="zero"), "refine": False},
    "hybrid": lambda: {"method": "hybrid"},
    "adaptive grid as printed": lambda: {"method": AdaptiveGrid(**PRINTED), "refine": False},
    "adaptive grid repaired": lambda: {"method": AdaptiveGrid(), "refine": False},
    "ours": lambda: {"method": "auto"},
}


def cells(quick: bool) -> list[Cell]:
    """Return all cells; those of sets that are not here are left out."""
    return [
        cell
        for cell in _planned(quick)
        if cell.settings.get("data") != "s1" or "s1" in dataset_names()
    ]


def _planned(quick: bool) -> Iterator[Cell]:
    rows = 5_000 if quick else 20_000
    yield from _tables((rows,) if quick else TABLE_ROWS)
    for gain in GAINS:
        yield Cell("gains", {"rows": rows, "gain": gain}, cost=3)
    for times in (1, 2, 5, 10) if quick else range(1, 11):
        yield Cell("times", {"rows": rows, "times": times, "runs": 3}, cost=times / 2)
    draws = 3 if quick else 10
    sets = ("students", "blobs 2-D") if quick else ("students", "blobs 2-D", "blobs 4-D", "s1")
    budgets = (0.1, 1.0) if quick else (0.1, 0.5, 1.0, 2.0)
    for data in sets:
        for epsilon in budgets:
            for alpha in ALPHAS:
                settings = {"data": data, "epsilon": epsilon, "alpha": alpha, "draws": draws}
                yield Cell("alpha", settings, draws / 5)
            for method in METHODS:
                settings = {"data": data, "epsilon": epsilon, "method": method, "draws": draws}
                yield Cell("methods", settings, draws / 3)
    for data in sets:
        for epsilon in budgets:
            for coarse_rows in COARSE_ROWS:
                for part_rows in PART_ROWS:
                    settings = {"data": data, "epsilon": epsilon, "draws": draws}
                    settings |= {"coarse_rows": coarse_rows, "part_rows": part_rows}
                    yield Cell("granularity", settings, draws / 5)
    yield Cell("pictures", {"epsilon": 1.0})


def _tables(numbers: tuple[int, ...]) -> Iterator[Cell]:
    for rows in numbers:
        for suppression in (0.0, 0.02):
            for score in ("leteo", "auto"):
                settings = {"rows": rows, "score": score, "suppression": suppression}
                yield Cell("tables", settings)


# Tables.


def hierarchies() -> dict[str, Any]:
    """Return the taxonomy of each column that others may know."""
    return {name: {"hierarchy": {"tree": {"*": tree}}} for name, tree in TREES.items()}


def students_table(rows: int, seed: int = 1) -> Any:
    """Return made-up students whose course level is text, as its taxonomy has it."""
    import pyarrow as pa

    table = students(rows, seed=seed)
    place = table.column_names.index("level")
    return table.set_column(place, "level", table["level"].cast(pa.string()))


def tables(rows: int, score: str, suppression: float) -> list[Row]:
    """Publish the students 10-anonymously, and see which columns keep their values."""
    table = students_table(rows)
    model = TopDownSpecialization(
        K,
        hierarchies=hierarchies(),
        sensitive=["income_quintile"],
        other=list(OTHER),
        suppression=suppression,
    )
    model.set_params(search__score=score, search__restarts=0).fit(table)
    sizes = Counter(zip(*(table[name].to_pylist() for name in QUASI), strict=True))
    row: Row = {
        "ncp": model.metrics_.ncp,
        "classes": model.metrics_.classes,
        "suppressed": model.metrics_.suppressed,
        "unique": sum(n == 1 for n in sizes.values()),
        "below_k": sum(n < K for n in sizes.values()),
        "combinations": len(sizes),
    }
    cut: Any = model.cut_  # of a global recoding: labels by column
    for name in QUASI:
        values = set(table[name].to_pylist())
        row[f"full_{name}"] = int(values <= set(cut[name]))
    return [row]


def gains(rows: int, gain: str) -> list[Row]:
    """Specialize by one of the report's gains, as printed or corrected."""
    table = students_table(rows)
    sizes = Counter(zip(*(table[name].to_pylist() for name in QUASI), strict=True))
    values = list(zip(*sizes, strict=True))
    columns = {name: (_paths(TREES[name]), values[place]) for place, name in enumerate(QUASI)}
    release = specialize(columns, np.array(list(sizes.values())), K, gain)
    return [{"ncp": release.ncp, "smallest": release.smallest, "splits": release.splits}]


def _paths(tree: Any) -> dict[str, list[str]]:
    if isinstance(tree, list):
        return {leaf: ["*", leaf] for leaf in tree}
    return {
        leaf: ["*", parent, leaf] if len(leaves) > 1 else ["*", leaf]
        for parent, leaves in tree.items()
        for leaf in leaves
    }


def times(rows: int, times: int, runs: int) -> list[Row]:
    """Take the CPU time of a whole run on a table made larger, as the report did."""
    import pyarrow as pa

    table = pa.concat_tables([students_table(rows, seed) for seed in range(1, times + 1)])
    out = []
    for draw in range(runs):
        model = TopDownSpecialization(
            K, hierarchies=hierarchies(), sensitive=["income_quintile"], other=list(OTHER)
        ).set_params(search__score="leteo", search__restarts=0)
        begin = time.process_time()
        model.fit_transform(table)
        out.append({"draw": draw, "seconds": time.process_time() - begin})
    return out


# Private k-means.


def clustered_table(name: str) -> tuple[Floats, Box, int]:
    """Return the rows of a set, their public box and the number of groups."""
    if name == "students":
        box = students_schema().box
        table = students(10_000, seed=1)
        return np.column_stack([np.asarray(table[c], float) for c in box.names]), box, 4
    if name == "s1":
        table = load("s1")
        X = np.column_stack([np.asarray(table[c], float) for c in ("x", "y")])
        return X, Box.of(["x", "y"], X.min(axis=0), X.max(axis=0)), 15
    d = int(name.split()[1][0])
    table = blobs(10_000, centers=10, d=d, sd=0.6, seed=1)
    columns = [f"x{i}" for i in range(d)]
    X = np.column_stack([np.asarray(table[c], float) for c in columns])
    return X, Box.of(columns, np.full(d, -13.0), np.full(d, 13.0)), 10


def _ratios(data: str, epsilon: float, draws: int, settings: Callable[[], Any]) -> list[Row]:
    X, box, k = clustered_table(data)
    plain = plain_centers(X, k)
    out = []
    for draw in range(draws):
        model = PrivateKMeans(k, epsilon=epsilon, domain=box, random_state=draw, **settings())
        centers = model.fit(X).cluster_centers_
        out.append({"draw": draw, "ratio": normalised_inertia(X, centers, plain)})
    return out


def alpha(data: str, epsilon: float, alpha: float, draws: int) -> list[Row]:
    """Cluster the printed synopsis with another share for its coarse level."""
    return _ratios(
        data,
        epsilon,
        draws,
        lambda: {"method": AdaptiveGrid(coarse_share=alpha, **PRINTED), "refine": False},
    )


def granularity(
    data: str, epsilon: float, coarse_rows: float, part_rows: float, draws: int
) -> list[Row]:
    """Cluster the printed synopsis with cells of other sizes.

    Parameters
    ----------
    coarse_rows
        c1 of the report: it makes coarse cells fewer.
    part_rows
        c2 of the report: it makes the parts of a coarse cell fewer.
    """
    made: dict[str, Any] = {"coarse_rows": coarse_rows, "part_rows": part_rows, **PRINTED}
    return _ratios(data, epsilon, draws, lambda: {"method": AdaptiveGrid(**made), "refine": False})


def methods(data: str, epsilon: float, method: str, draws: int) -> list[Row]:
    """Cluster with one of the methods; the ratio is inertia over k-means on the rows.

    Parameters
    ----------
    method
        One of ``METHODS``.
    """
    return _ratios(data, epsilon, draws, METHODS[method])


def pictures(epsilon: float) -> list[Row]:
    """Draw the report's three figures from releases, and count from one of them."""
    box = students_schema().box.select(OTHER[:2])
    table = students(10_000, seed=1).select(OTHER[:2])
    made = {
        "uniform": UniformGrid(epsilon=epsilon, domain=box, random_state=1).fit(table),
        "adaptive": AdaptiveGrid(epsilon=epsilon, domain=box, random_state=1, **PRINTED).fit(table),
    }
    X = np.column_stack([np.asarray(table[name], float) for name in OTHER[:2]])
    rows: list[Row] = [
        {"picture": "k-means", "figure": [_two_clusterings(X, box, epsilon).to_dict()]}
    ]
    rows += [{"picture": name, "figure": [grid.plot().to_dict()]} for name, grid in made.items()]
    points, weights = made["adaptive"].points()
    rows.append({"picture": "histogram", "figure": [_histogram(points, weights, box).to_dict()]})
    return [*rows, *_contingency(points, weights, X, box)]


def _two_clusterings(X: Floats, box: Box, epsilon: float) -> Figure:
    """Return k-means of two columns with three groups, plain and private side by side."""
    private = PrivateKMeans(3, epsilon=epsilon, domain=box, random_state=1).fit(X)
    plain = box.unscale(plain_centers(box.scale(X), 3))
    some = X[:2_000]
    off = center_errors(box.scale(plain), box.scale(private.cluster_centers_)).aee
    panels = [
        CenterPanel(
            title,
            points=some,
            groups=nearest_centers(box.scale(some), box.scale(centers)),
            centers=centers,
        )
        for title, centers in (
            ("k-means", plain),
            (f"private, epsilon {epsilon:g}", private.cluster_centers_),
        )
    ]
    return center_maps(
        panels,
        names=list(box.names),
        low=box.low,
        high=box.high,
        title="k-means with three groups, on the rows and privately",
        finding=f"Private centres are off by {100 * off:.1f} % of the box's sides on average.",
    )


def _histogram(points: Floats, weights: NDArray[Any], box: Box) -> Figure:
    """Return bars of the first column, added up from released cells."""
    low, high = float(box.low[0]), float(box.high[0])
    counts, edges = np.histogram(points[:, 0], bins=15, range=(low, high), weights=weights)
    title = "Histogram of the first column, from the synopsis"
    return bars(edges[:-1], edges[1:], counts, name=box.names[0], within=[low, high], title=title)


def _contingency(points: Floats, weights: NDArray[Any], X: Floats, box: Box) -> Iterator[Row]:
    """Compare a table of three by three parts of the box, from released cells and from the rows."""
    sides = list(zip(box.low, box.high, strict=True))
    released, *_ = np.histogramdd(points, bins=3, range=sides, weights=weights)
    true, *_ = np.histogramdd(X, bins=3, range=sides)
    for i, j in np.ndindex(3, 3):
        cell = f"{i + 1}, {j + 1}"
        yield {"picture": "contingency", "cell": cell, "released": float(released[i, j]),
               "true": float(true[i, j])}  # fmt: skip


PARTS: dict[str, Callable[..., list[Row]]] = {
    "tables": tables,
    "gains": gains,
    "times": times,
    "alpha": alpha,
    "granularity": granularity,
    "methods": methods,
    "pictures": pictures,
}
