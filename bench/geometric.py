"""Exact geometric noise against NumPy's floating-point Laplace, from the same generator."""

from fractions import Fraction

import numpy as np
from measure import cpu_seconds, write

from shoal.domain import SparseCounts
from shoal.mechanisms import Geometric
from shoal.mechanisms.exact._discrete_laplace import geometric_law
from shoal.privacy import PureDP
from shoal.randomness import Randomness

DRAWS = 10_000_000


def dense(epsilon: str, noise: np.random.Generator) -> dict[str, object]:
    law = geometric_law(Fraction(epsilon))
    build = cpu_seconds(lambda: geometric_law.__wrapped__(Fraction(epsilon)).two_sided(1, noise))
    ours = cpu_seconds(lambda: law.two_sided(DRAWS, noise))
    theirs = cpu_seconds(lambda: noise.laplace(size=DRAWS))
    return {
        "case": f"dense, epsilon {epsilon}",
        "ns a draw": round(ours / DRAWS * 1e9, 1),
        "ns a Laplace": round(theirs / DRAWS * 1e9, 1),
        "ratio": round(ours / theirs, 2),
        "build ms": round(build * 1e3, 1),
    }


def sparse(noise: np.random.Generator) -> dict[str, object]:
    counts = SparseCounts(np.arange(1_000_000) * 10**12, np.full(1_000_000, 5), 2**60)
    mechanism = Geometric(PureDP(1), at_least=28)
    kept = mechanism.release(counts, noise).keys.size
    ours = cpu_seconds(lambda: mechanism.release(counts, noise), 3)
    theirs = cpu_seconds(lambda: noise.laplace(size=1_000_000 + kept), 3)
    return {
        "case": f"sparse, 1M occupied of 2^60, {kept} kept",
        "ns a draw": round(ours / (1_000_000 + kept) * 1e9, 1),
        "ns a Laplace": round(theirs / (1_000_000 + kept) * 1e9, 1),
        "ratio": round(ours / theirs, 2),
    }


def main() -> None:
    noise = Randomness().noise
    cases = [dense(epsilon, noise) for epsilon in ("5", "1", "0.1", "0.01", "0.001", "0.000001")]
    write("geometric", [*cases, sparse(noise)])


if __name__ == "__main__":
    main()
