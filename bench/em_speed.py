"""How long learning from many reports takes: EM by convolution and by hand, moments, a remap."""

import numpy as np
from measure import cpu_seconds, write
from sklearn.cluster import KMeans

from shoal import Box, LocalClusterer, NDLaplace, Randomness, Reports
from shoal.cluster.local.methods._em import density_of
from shoal.mechanisms import bayes_remap
from shoal.mechanisms.local.laplace._prior import likeliest, likelihood_of

BOX = Box(x=(-1, 1), y=(-1, 1))
NOISE = NDLaplace(12.25, domain=BOX)  # a lattice of step 1/(2 epsilon) has 50 x 50 nodes
ROUNDS = 100
REMAPS = ((1, 10), (2, 10), (2, 40), (3, 8), (3, 12), (4, 8), (8, 20))  # columns, epsilon
BY_HAND = 10_000  # reports: 100 MB of likelihoods, so it runs anywhere


def reports(n: int) -> Reports:
    rng = np.random.default_rng(0)
    middles = rng.uniform(-0.8, 0.8, (5, 2))
    rows = BOX.clip(middles[rng.integers(5, size=n)] + 0.1 * rng.standard_normal((n, 2)))
    return NOISE.release(rows, Randomness(0).noise)


def nodes() -> np.ndarray:
    axis = np.linspace(-1, 1, 50)
    return np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)


def em_lines() -> list[dict[str, object]]:
    many = reports(100_000)
    found = density_of(many, Randomness(0))
    fast = cpu_seconds(lambda: density_of(many, Randomness(0)), repeats=3)
    some, atoms = many.values[:BY_HAND], nodes()
    slow = cpu_seconds(lambda: likeliest(likelihood_of(NOISE, some, atoms), ROUNDS, 0), repeats=1)
    told = {"rounds": ROUNDS}
    return [
        {"what": "EM by convolution", "reports": len(many), "atoms": len(found.atoms)}
        | told
        | {"cpu_seconds": round(fast, 2)},
        {"what": "EM by hand", "reports": BY_HAND, "atoms": len(atoms)}
        | told
        | {"cpu_seconds": round(slow, 2)},
    ]


def moment_lines() -> list[dict[str, object]]:
    many = reports(1_000_000)
    model = LocalClusterer(5, mechanism=NOISE, method="moments", random_state=0)
    ours = cpu_seconds(lambda: model.fit(many), repeats=3)
    plain = cpu_seconds(lambda: KMeans(5, n_init=1, random_state=0).fit(many.values), repeats=3)
    em = LocalClusterer(5, mechanism=NOISE, method="em", random_state=0)
    density = cpu_seconds(lambda: em.fit(many), repeats=1)
    seconds = {"moments": ours, "em": density, "scikit-learn's KMeans, one start": plain}
    return [
        {
            "what": name,
            "reports": len(many),
            "cpu_seconds": round(each, 2),
            "over_kmeans": round(each / plain, 2),
        }
        for name, each in seconds.items()
    ]


def remap_lines() -> list[dict[str, object]]:
    """``bayes_remap("em")`` of 100,000 reports: seconds, and squared distances to the rows."""
    lines = []
    for columns, epsilon in REMAPS:
        rng, box = np.random.default_rng(columns), Box.unit(columns)
        middles = rng.uniform(0.1, 0.9, (5, columns))
        noise = 0.05 * rng.standard_normal((100_000, columns))
        rows = box.clip(middles[rng.integers(5, size=len(noise))] + noise)
        drawn = NDLaplace(epsilon, domain=box).release(rows, Randomness(0).noise)
        moved = bayes_remap("em")(drawn)
        seconds = cpu_seconds(lambda drawn=drawn: bayes_remap("em")(drawn), repeats=1)
        far = {name: np.sum((each.values - rows) ** 2, axis=1).mean()
               for name, each in (("before", drawn), ("after", moved))}  # fmt: skip
        lines.append(
            {"what": f"bayes_remap, {columns} columns, epsilon {epsilon}", "reports": len(rows)}
            | {"cpu_seconds": round(seconds, 2)}
            | {name: round(float(value), 4) for name, value in far.items()}
        )
    return lines


if __name__ == "__main__":
    write("em-speed", em_lines() + moment_lines() + remap_lines())
