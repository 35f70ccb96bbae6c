"""How often the number of groups is right, on sets that no rule was tuned on.

The sets were named here before any of them was run: 24 made-up ones (seeds 200 to 215 of the
generator that other seeds of were tuned on, and 8 of a skewed kind that was not), two plain
Gaussians in 8 and in 16 columns, the made-up students, and two public sets with a thousand rows or
more (if SHOAL_DATA holds them). Each is seen at epsilon 1 through an ``AdaptiveGrid`` and through
the cells of a ``PrivateKMeans``, among 2 to 12 groups or twice as many as there are. *No data*: the
same rule on as many rows that are spread evenly.

A second list, named before any of it was run as well: 44 made-up sets, seeds 500 to 531 and,
skewed, 600 to 611, in the proportions of columns that the generator draws. Seeds 1000 to 1109 were
tuned on since the first list.

    python bench/number_of_groups.py           # prints as it goes
    python bench/number_of_groups.py --second  # through PrivateKMeans alone
"""

import argparse
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from measure import write

import shoal
from shoal import choose

MADE_UP, SKEWED = range(200, 216), range(300, 308)
SECOND, SECOND_SKEWED = range(500, 532), range(600, 612)
PUBLIC = {"s1": 15, "d31": 31}
EPSILON = 1


@dataclass(frozen=True)
class Set:
    """Rows in groups: name, how many groups, the rows."""

    name: str
    k: int
    rows: np.ndarray

    @property
    def box(self) -> shoal.Box:
        """Bounds a publisher might state: round numbers a little beyond nearly all rows."""
        low, high = np.quantile(self.rows, [0.001, 0.999], axis=0)
        step = (high - low) / 10
        low, high = np.floor(low / step - 0.5) * step, np.ceil(high / step + 0.5) * step
        return shoal.Box.of([f"x{i}" for i in range(self.rows.shape[1])], low, high)

    @property
    def among(self) -> range:
        return range(2, max(12, 2 * self.k) + 1)


def sets() -> Iterator[Set]:
    yield from (made_up(seed) for seed in MADE_UP)
    yield from (made_up(seed, skewed=True) for seed in SKEWED)
    for d in (8, 16):
        rng = np.random.default_rng([400, d])
        away = np.where(rng.random((5_000, 1)) < 0.5, 2.0, -2.0) / np.sqrt(d)
        yield Set(f"two Gaussians, {d} columns", 2, away + rng.normal(0, 1, (5_000, d)))
    students = shoal.students(10_000, seed=5)
    names = ("sessions_per_week", "minutes_per_session")
    yield Set("students", 4, np.column_stack([students[name] for name in names]))
    for name, k in PUBLIC.items() if os.environ.get("SHOAL_DATA") else ():
        table = shoal.data.load(name)
        yield Set(name, k, np.column_stack([table[c].to_numpy() for c in ("x", "y")]))


def second_sets() -> Iterator[Set]:
    yield from (made_up(seed) for seed in SECOND)
    yield from (made_up(seed, skewed=True) for seed in SECOND_SKEWED)


def made_up(seed: int, *, skewed: bool = False) -> Set:
    """Groups of a kind, number, spread, distance and size that the seed decides."""
    rng = np.random.default_rng([79, seed])
    d = int(rng.choice([2, 2, 2, 2, 3, 4, 5, 8, 8, 16]))
    k = int(rng.choice([2, 2, 3, 4, 5, 6, 8, 10, 12, 15] if d <= 3 else [2, 2, 3, 4, 5, 6, 8]))
    n = int(rng.choice([1_000, 2_000, 5_000, 20_000]))
    apart = float(rng.choice([2.8, 3.4, 4, 5]))  # deviations between the nearest two groups
    kind = "skewed" if skewed else str(rng.choice(["round"] * 3 + ["even", "heavy", "oblong"]))
    unequal = rng.random() < 0.4
    places = [rng.normal(0, 1, (k, d)) / np.sqrt(1 + d / 4) for _ in range(12)]
    centers = max(places, key=_nearest)
    nearest = _nearest(centers)
    shares = rng.dirichlet(np.full(k, 2.0)) * 0.8 + 0.2 / k if unequal else np.full(k, 1 / k)
    labels = rng.choice(k, n, p=shares)
    widths = rng.uniform(0.6, 1.1, k)[labels][:, None] if rng.random() < 0.5 else 1.0
    rows = centers[labels] + nearest / apart * widths * _shape(kind, labels, n, d, rng)
    return Set(f"{seed} {kind}: {k} in {d} columns, {n} rows", k, rows)


def _nearest(centers: np.ndarray) -> float:
    apart = np.sqrt(((centers[:, None] - centers) ** 2).sum(axis=2))
    return float(apart[np.triu_indices(len(centers), 1)].min())


def _shape(kind: str, labels: np.ndarray, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    if kind == "even":
        return rng.uniform(-1.6, 1.6, (n, d))
    if kind == "heavy":
        return 0.7 * rng.standard_t(4, (n, d))
    if kind == "skewed":
        return (rng.gamma(2, 1, (n, d)) - 2) / np.sqrt(2)
    normal = rng.normal(size=(n, d))
    if kind == "round":
        return normal
    turns = np.stack([
        np.linalg.qr(rng.normal(size=(d, d)))[0] * rng.uniform(0.4, 1.1, d)
        for _ in range(labels.max() + 1)
    ])  # fmt: skip
    return np.einsum("nij,nj->ni", turns[labels], normal)


def numbers(one: Set) -> dict[str, int]:
    """The number that each rule chooses."""
    settings = {"epsilon": EPSILON, "domain": one.box, "random_state": 1}
    grid = shoal.AdaptiveGrid(**settings).fit(one.rows)
    cells = shoal.PrivateKMeans(one.among, **settings).fit(one.rows).synopsis_
    even = np.random.default_rng(0).uniform(one.box.low, one.box.high, one.rows.shape)
    nothing = shoal.AdaptiveGrid(**settings).fit(even)
    some = one.rows[:: max(1, len(one.rows) // 2_000)]
    chosen = {"rows, elbow": choose.k(some, by="elbow", among=one.among).value}
    for name, synopsis in (("grid", grid), ("k-means", cells)):
        for by in ("elbow", "simulation"):
            chosen[f"{name}, {by}"] = choose.k(synopsis, by=by, among=one.among).value
    chosen["no data, simulation"] = choose.k(nothing, by="simulation", among=one.among).value
    return chosen


def second_numbers(one: Set) -> dict[str, int]:
    """The number that each rule chooses from the cells of a ``PrivateKMeans``."""
    model = shoal.PrivateKMeans(one.among, epsilon=EPSILON, domain=one.box, random_state=1)
    cells = model.fit(one.rows).synopsis_
    rules = {f"k-means, {by}": by for by in ("elbow", "simulation")}
    return {name: choose.k(cells, by=by, among=one.among).value for name, by in rules.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--second", action="store_true", help="the second list")
    second = parser.parse_args().second
    numbers_of, name = (second_numbers, "-second") if second else (numbers, "")
    results, start = [], time.process_time()
    for one in second_sets() if second else sets():
        results.append((one.k, numbers_of(one)))
        print(f"{one.name:45s} {one.k:3d}", *results[-1][1].values(), flush=True)
    rows = []
    for rule in results[0][1]:
        off = np.array([abs(k - chosen[rule]) for k, chosen in results])
        share = {"exact": round(float((off == 0).mean()), 2)}
        rows.append({"read off, rule": rule, "sets": len(off)} | share)
        rows[-1]["within one"] = round(float((off <= 1).mean()), 2)
    print(f"{time.process_time() - start:.0f} CPU seconds")
    write(f"number-of-groups{name}", rows)


if __name__ == "__main__":
    main()
