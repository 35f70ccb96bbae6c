"""Cluster four and more columns in three rounds of reports, each person in one of them.

    everybody ─┬─ half: the cell of a coarse grid ─► centres and spare ones, published
               ├─ a quarter: nearest of them and a side of it ─► the best, moved, published
               └─ a quarter: the same once more, looked at from nearer ─► centres

A cluster over many cells hides in their noise, and is missed by the first round now and then. Spare
centres where counts are left unexplained gather its people in the second, all in one number.
Each person is in one round, by a draw that does not look at rows, and reports once.
"""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from shoal.arrays import Floats, Integers
from shoal.cluster.kmeans._weighted_kmeans import weighted_centers
from shoal.cluster.local._round_assignment import draw_rounds, reports_of_round
from shoal.cluster.local.methods import _grid as grid
from shoal.cluster.local.methods._gaussian_groups import fit_from_many_starts, unexplained_places
from shoal.domain import Box
from shoal.errors import InvalidSetting
from shoal.mechanisms import LocalGrid, Reports
from shoal.mechanisms.local import records_of
from shoal.mechanisms.local.categories import ResidualSign
from shoal.privacy import LocalDP, Number, whole_number
from shoal.randomness import Randomness, Seed

ROUNDS_FROM = 4  # columns from which rounds beat one report: docs/decisions/local-auto.md
_SHARES = (0.5, 0.25, 0.25)  # of the people, by round
_REACHES = (1.0, 0.5)  # of a cell's side: how far centres of cells may be off
_SURE = 3  # standard errors from which on a centre is taken to have people
_RUNS = 10


@dataclass(frozen=True)
class LocalRounds:
    """The state of a collection in three rounds: what to ask next, and the centres so far.

    Guarantee
    ---------
    ``LocalDP(epsilon)`` for everybody: each person reports in one round, at the whole epsilon. See
    ``rounds.proof.md``.

    Parameters
    ----------
    domain
        Public bounds.
    n_clusters
        The number of clusters.
    epsilon
        The promise of one report.
    n_expected
        The number of people who will report, all rounds together.
    cells
        Along each axis in the first round: ``"auto"`` as of ``LocalGrid``, for half the people.

    Attributes
    ----------
    round
        The number of this round, from 0.
    mechanism
        The mechanism of this round; ``None`` after the last.
    cluster_centers
        As they are known after each round, in raw units; ``None`` before the first.
    centers
        As they are published: after the first round with spare ones, half as many again.

    Examples
    --------
    The server's side, with reports as they come in:

    >>> rng = np.random.default_rng(0)
    >>> middles = np.array([[0.2, 0.3, 0.2], [0.7, 0.8, 0.6]])
    >>> people = middles[rng.integers(0, 2, 40_000)] + 0.03 * rng.standard_normal((40_000, 3))
    >>> rounds = LocalRounds(Box.unit(3), n_clusters=2, epsilon=2.0, n_expected=len(people))
    >>> groups = rounds.groups(len(people), Randomness(1).noise)
    >>> while rounds.mechanism is not None:
    ...     own = people[groups == rounds.round]  # each on its own client
    ...     reports = rounds.mechanism.release(own, Randomness(rounds.round).noise)
    ...     rounds = rounds.advance(reports, random_state=7)
    >>> error = abs(np.sort(rounds.cluster_centers, axis=0) - middles).max()
    >>> bool(error < 0.02)
    True
    """

    domain: Box
    _: KW_ONLY
    n_clusters: int
    epsilon: Number
    n_expected: int
    cells: Any = "auto"
    round: int = 0
    centers: tuple[tuple[float, ...], ...] | None = None
    n_rounds: ClassVar[int] = len(_SHARES)

    def __post_init__(self) -> None:
        for name in ("n_clusters", "n_expected"):
            if (whole_number(getattr(self, name)) or 0) < 1:
                raise InvalidSetting.of(
                    name, "must be a whole number of 1 or more", 5, getattr(self, name)
                )
        _ = self.first

    @property
    def guarantee(self) -> LocalDP:
        """The promise of one report, which is all that anybody sends."""
        return self.first.guarantee

    @property
    def first(self) -> LocalGrid:
        """The mechanism of the first round."""
        people = max(1, round(_SHARES[0] * self.n_expected))
        return LocalGrid(
            self.domain,
            epsilon=self.epsilon,
            cells=self.cells,
            n_expected=people,
            n_clusters=self.n_clusters,
        )

    @property
    def mechanism(self) -> LocalGrid | ResidualSign | None:
        """The mechanism of this round; None after the last."""
        if self.round == len(_SHARES):
            return None
        if self.centers is None:
            return self.first
        reach = _REACHES[self.round - 1] * 2 / max(self.first.grid.shape)
        return ResidualSign(self.domain, self.centers, reach, epsilon=self.epsilon)  # [P2]

    @property
    def cluster_centers(self) -> Floats | None:
        """The centres so far, in raw units, without spare ones; None before the first round."""
        return None if self.centers is None else np.array(self.centers[: self.n_clusters])

    def groups(self, n: int, rng: np.random.Generator) -> Integers:
        """Draw in which round each of ``n`` people reports, without looking at rows.

        Parameters
        ----------
        n
            The number of people.
        rng
            The source of the draw.
        """
        return draw_rounds(n, _SHARES, rng)  # [P1]

    def advance(
        self,
        reports: Reports,
        random_state: Seed = None,
        *,
        adjust: Callable[[Floats, tuple[int, ...], float], Floats] | None = None,
    ) -> "LocalRounds":
        """Return the next state, from all reports of this round.

        Parameters
        ----------
        reports
            Reports made by ``mechanism``. If there are none, the centres stay where they are.
        random_state
            The seed of the starts of the first round and of the choice after the second.
        adjust
            Given the counts of the first round's cells, the grid's shape and the deviation of the
            noise, returns the counts to learn from, e.g. without what liars add. None takes them as
            they are; later rounds do not use it.

        Raises
        ------
        NotAReport
            If the reports were made by another mechanism.
        """
        mechanism: LocalGrid | ResidualSign
        own, mechanism = reports_of_round(reports, self.mechanism, self.round)
        rng = Randomness(random_state)
        if isinstance(mechanism, LocalGrid):
            scaled = _candidates(own, self.n_clusters, rng, adjust)  # [P3]
        else:
            scaled = _move_centers(mechanism, own, self.n_clusters, rng)  # [P3]
        centers = self.domain.unscale(np.clip(scaled, -1, 1), -1)
        return replace(self, round=self.round + 1, centers=tuple(map(tuple, centers.tolist())))

    def simulate(self, rows: ArrayLike, random_state: Seed = None) -> "LocalRounds":
        """Run all rounds over a table held in one place, to try settings; return the last state.

        Parameters
        ----------
        rows
            One row for each person. A holder of all rows needs no local promise; see
            ``PrivateKMeans``.
        random_state
            The seed of groups, noise and starts.
        """
        people = records_of(rows, self.domain, clip=True)
        rng, state = Randomness(random_state), self
        groups = state.groups(len(people), rng.noise)
        while (mechanism := state.mechanism) is not None:
            reports = mechanism.release(people[groups == state.round], rng.noise)
            state = state.advance(reports, rng.seed())
        return state


def _candidates(
    reports: Reports,
    k: int,
    rng: Randomness,
    adjust: Callable[[Floats, tuple[int, ...], float], Floats] | None,
) -> Floats:
    """Return centres from counts of cells, and spare ones, scaled so that half a side is 1."""
    mechanism = grid.grid_of(reports)
    box = mechanism.domain
    cells = grid.cells_of(reports, (box.high - box.low) / 2)
    if adjust is not None:
        counts = adjust(cells.counts, mechanism.grid.shape, cells.deviation)
        cells = replace(cells, counts=counts)
    fits = fit_from_many_starts(cells, k, rng.compute)
    centers = weighted_centers(*grid.density_of(cells, fits), k, rng, _RUNS)
    best = min(fits, key=lambda fit: fit.cost)
    return np.vstack([centers, unexplained_places(cells, best, (k + 1) // 2, rng.compute)])


def _move_centers(mechanism: ResidualSign, reports: Reports, k: int, rng: Randomness) -> Floats:
    """Move published centres to their people; of more than ``k``, keep those that fit best."""
    box, centers = mechanism.domain, np.array(mechanism.centers)
    if not len(reports):
        return box.scale(centers[:k], -1, 1)
    moved = box.scale(box.clip(centers + mechanism.shifts(reports)), -1, 1)
    people = mechanism.shares(reports)
    sure = people.value > _SURE * people.standard_error
    if np.count_nonzero(sure) <= k:
        return moved[np.sort(np.argsort(-people.value, kind="stable")[:k])]
    return weighted_centers(moved[sure], people.value[sure], k, rng, _RUNS)
