"""Choose how many groups a table of numbers and categories has, on what was released of it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.arrays import Floats, Integers
from shoal.cluster.choose._cost_curve import CostCurve
from shoal.cluster.choose._result import Choice
from shoal.cluster.choose._simulation import Gains, count_with_most_gain
from shoal.cluster.kmeans._settings import cluster_numbers
from shoal.cluster.prototypes._mixed_rows import MixedRows, Prototypes
from shoal.cluster.prototypes._search import find_prototypes, improve_prototypes
from shoal.synopsis.mixed import MixedSynopsis

# Fewer than a fit takes: many numbers are tried, and only costs are compared.
_ROWS = 2_000
_STARTS = 4
_SIMULATIONS = 3
_CANDIDATES = 5  # rows tried for one more prototype


def choose_groups(
    synopsis: MixedSynopsis, among: Sequence[int], rng: np.random.Generator
) -> Choice[int]:
    """Choose the number of groups on released tables, at no further cost.

    What one more group gains is compared with what it would gain if there were no more groups:
    rows are drawn in which columns are independent within each group, their tables get the noise of
    the release, and groups are sought in the same way.

    Parameters
    ----------
    rng
        Draws synthetic rows, starts and noise; nothing it draws protects anybody.
    """
    counts = cluster_numbers(among)
    rows = _synthetic(synopsis, rng)
    fits = list[CandidateGroups]()
    for count in counts:
        fits.append(_groups(rows, count, fits[-1] if fits else None, rng))
    gains, deviations = list[list[float]](), [0.0]
    for fit, more in zip(fits, counts[1:], strict=False):
        steps = [_simulated_gain(synopsis, fit, more, rng) for _ in range(_SIMULATIONS)]
        gains.append([np.log(before / after) for before, after in steps])
        deviations.append(float(np.log([before for before, _ in steps]).std(ddof=1)))
    costs = np.array([fit.cost for fit in fits])
    result = Gains(counts, costs, np.array(gains).reshape(-1, _SIMULATIONS))
    value = count_with_most_gain(result)
    spread = costs * np.sqrt(np.mean(np.square(deviations[1:] or deviations)))
    curve = CostCurve(
        counts, tuple(costs.tolist()), tuple(spread.tolist()), tuple(result.gaps.tolist()),
        value, "simulation",
    )  # fmt: skip
    return Choice(
        value, "simulation", dict(zip(counts, result.gaps.tolist(), strict=True)),
        synopsis.guarantee_, {"n_clusters": value}, value, "Number of clusters", "Gap",
        costs=curve,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class CandidateGroups:
    """Groups of rows, and the mean cost of a row.

    Parameters
    ----------
    cost
        The mean cost of a row to its prototype, never 0.
    """

    rows: MixedRows
    prototypes: Prototypes
    cost: float

    def draw(self, n: int, rng: np.random.Generator) -> MixedRows:
        """Draw rows in which columns are independent within each group.

        Numbers are Gaussian within a group, and stay in their bounds; categories have its shares.
        """
        labels = self.rows.labels(self.prototypes)
        sizes = np.bincount(labels, minlength=len(self.prototypes))
        groups = [np.flatnonzero(labels == group) for group in np.flatnonzero(sizes)]
        drawn = rng.multinomial(n, sizes[sizes > 0] / sizes.sum())
        parts = [self._draw_group(own, k, rng) for own, k in zip(groups, drawn, strict=True)]
        numbers, codes = (np.vstack(each) for each in zip(*parts, strict=True))
        return MixedRows(self.rows.columns, numbers, codes)

    def _draw_group(
        self, members: Integers, n: int, rng: np.random.Generator
    ) -> tuple[Floats, Integers]:
        own = self.rows.numbers[members]
        numbers = own.mean(axis=0) + own.std(axis=0) * rng.standard_normal((n, own.shape[1]))
        codes = self.rows.codes[members]
        places = rng.integers(len(members), size=(n, codes.shape[1]))
        return np.clip(numbers, -1, 1), np.take_along_axis(codes, places, axis=0)


def _groups(
    rows: MixedRows, count: int, fewer: CandidateGroups | None, rng: np.random.Generator
) -> CandidateGroups:
    """Return the best groups of several starts, one of them fewer groups and one more row."""
    best = _measured(rows, find_prototypes(rows, count, rng, _STARTS))
    if fewer is None:
        return best
    grown = _measured(rows, improve_prototypes(rows, _grow(rows, fewer.prototypes, count, rng)))
    return min(best, grown, key=lambda groups: groups.cost)


def _measured(rows: MixedRows, prototypes: Prototypes) -> CandidateGroups:
    cost = float(rows.costs(prototypes).min(axis=1).mean())
    return CandidateGroups(rows, prototypes, max(cost, 1e-9))


def _grow(
    rows: MixedRows, prototypes: Prototypes, count: int, rng: np.random.Generator
) -> Prototypes:
    """Add rows that take most cost off, of a few that are drawn by their cost."""
    while len(prototypes) < count:
        nearest = rows.costs(prototypes).min(axis=1)
        total = nearest.sum()
        drawn = rng.choice(len(rows), _CANDIDATES, p=nearest / total if total > 0 else None)
        tried = np.minimum(nearest[:, None], rows.costs(rows.prototypes_at(drawn)))
        prototypes = prototypes.joined(rows.prototypes_at(drawn[[tried.sum(axis=0).argmin()]]))
    return prototypes


def _simulated_gain(
    synopsis: MixedSynopsis, fit: CandidateGroups, more: int, rng: np.random.Generator
) -> tuple[float, float]:
    """Return the cost of as many groups as were drawn, and of more, in a simulated release."""
    n = max(_ROWS, min(synopsis.n_rows_, 10 * _ROWS))
    drawn = fit.draw(n, rng)
    again = synopsis.simulate(drawn.numbers, drawn.codes, rng)
    rows = _synthetic(again, rng)
    before = _measured(rows, improve_prototypes(rows, fit.prototypes))
    return before.cost, min(before.cost, _groups(rows, more, before, rng).cost)


def _synthetic(synopsis: MixedSynopsis, rng: np.random.Generator) -> MixedRows:
    return MixedRows(synopsis.columns, *synopsis.synthetic_rows(_ROWS, rng))
