"""Steps towards noisy means: a radius, then one noisy vector a cluster."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from shoal.arrays import Floats, Integers
from shoal.cluster.group_sizes import CHANCE, NoiseSum
from shoal.cluster.kmeans._budget_plan import Step
from shoal.cluster.kmeans._kernels import (
    CANDIDATES,
    LATTICE,
    Cube,
    Nearest,
    RingSums,
    ViewedCube,
    clip_radius,
    ring_edges,
)
from shoal.domain import View
from shoal.estimator import Spending
from shoal.mechanisms import Gaussian, KNorm, NoisyBest

# Why these parts of the rows, and these charges: docs/decisions/private-kmeans.md.
MOST = Fraction(5, 8)  # of the rows
_HALVED_AXES = 4  # of a view: far groups that one small cluster has together lie apart in it
_FAR = 4  # times the radius to which offsets are cut
# What twice the reach must hold more: at least and at most of the rows, and in scales of noise. So
# many doublings are charged: half of the rows at most, or a radius of next to nothing would win.
_LEAST_MORE, _MOST_MORE, _MORE_SCALES = 0.01, 1 / 16, 4
_DOUBLINGS = 8
_BEYOND_LIKELY = 3  # times as much more is charged beyond what an earlier look held to be enough
_THRIFT = 1 / 8  # of the rows: what the guess must hold more than next to no radius


@dataclass(frozen=True, eq=False)
class Rings:
    """What a pass added up, about which centres: as sensitive as rows."""

    centers: Floats
    counts: Integers
    offsets: Integers
    reach: float
    parts: tuple[Integers, Integers] | None = None  # the same of some parts of each cluster

    @property
    def k(self) -> int:
        """How many clusters."""
        return len(self.centers)

    def scores(self, quantile: Fraction) -> Integers:
        """How near each candidate radius is to holding this part of a cluster's rows.

        In units of the quantile's denominator; a line a cluster.
        """
        outermost_first = self.counts.reshape(self.k, CANDIDATES, -1).sum(axis=2)
        within = np.cumsum(outermost_first[:, ::-1], axis=1)[:, ::-1]
        part, whole = quantile.numerator, quantile.denominator
        scores: Integers = -np.abs(whole * within - part * within[:, :1])  # [P1]
        return scores

    def rows_beyond(self) -> Integers:
        """How many rows lie beyond each ring's outer edge; a line a cluster."""
        beyond = np.cumsum(self.counts, axis=1) - self.counts
        return np.asarray(beyond)

    def together(self) -> "Rings":
        """The same rows as one cluster's: only how far they are from their centres."""
        middle, counts = self.centers[:1], self.counts.sum(axis=0, keepdims=True)
        return replace(self, centers=middle, counts=counts, offsets=self.offsets[:1], parts=None)

    def split(self, picks: Integers) -> tuple["Rings", Integers]:
        """Rows that lie far beyond the radius of their cluster, as clusters of their own.

        Returns
        -------
        tuple
            The clusters' near rows, then the far ones of each, by parts if there are any; and the
            candidate of each: the longest one for far rows, who may be anywhere.
        """
        picks = np.broadcast_to(picks, self.k)
        is_far = ring_edges(self.reach) > _FAR * clip_radius(picks, self.reach)[:, None]
        counts, offsets = self.parts or (self.counts, self.offsets)
        each = len(counts) // self.k
        far = np.repeat(is_far, each, axis=0)
        rings = Rings(  # [P6] a row is near or far
            np.concatenate([self.centers, np.repeat(self.centers, each, axis=0)]),
            np.concatenate([self.counts * ~is_far, counts * far]),
            np.concatenate([self.offsets * ~is_far[:, :, None], offsets * far[:, :, None]]),
            self.reach,
        )
        return rings, np.append(picks, np.zeros(len(counts), dtype=np.int64))

    def clipped(self, picks: Integers, unit: int) -> Integers:
        """A vector a cluster: offsets cut to its radius, over it, and ``unit`` for each row."""
        radii = clip_radius(picks, self.reach)
        lengths = np.maximum(ring_edges(self.reach), radii[:, None])
        sums = (self.offsets / lengths[:, :, None]).sum(axis=1)
        return np.column_stack([np.rint(sums).astype(np.int64), self.counts.sum(axis=1) * unit])


@dataclass(frozen=True, eq=False)
class Means:
    """Released: where the centres went, how many rows each has, how far noise moved each.

    Sizes are as they came out, below 0 where noise alone was counted; means divide by no less than
    two deviations of their noise.
    """

    centers: Floats
    sizes: Floats
    excess: Floats  # sizes less their noise's deviation; 0 where they drown in it
    errors: Floats
    noise: NoiseSum  # in each of the sizes

    def with_detected(self, n: int) -> "Means":
        """The first ``n``, and of the others those with more rows than noise alone would count."""
        is_clear = self.sizes > self.noise.reach(CHANCE / len(self.sizes))
        chosen = is_clear | (np.arange(len(is_clear)) < n)
        return replace(
            self,
            centers=self.centers[chosen],
            sizes=self.sizes[chosen],
            excess=self.excess[chosen],
            errors=self.errors[chosen],
        )


def read_rings(
    spending: Spending,
    centers: Floats,
    labelled_by: Nearest | None = None,
    view: View | None = None,
    *,
    reach: float | None = None,
    in_parts: bool = False,
) -> Rings:
    """Add up the rows about each centre, in one pass.

    Parameters
    ----------
    centers
        In [-1, 1]^d.
    labelled_by
        Where a view shows the centres, if rows are to be labelled in it; else by the centres.
    reach
        The longest distance there can be; that of two corners if left out.
    in_parts
        Add up the rows of parts of each cluster too, by where they lie in the view.
    """
    nearest = Nearest(centers)  # on the lattice
    about = nearest.centers
    longest = 2 * math.sqrt(about.shape[1]) if reach is None else reach
    labelled_in = None if labelled_by is None or view is None else ViewedCube(view)
    halved = min(_HALVED_AXES, labelled_in.view.box.d) if labelled_in and in_parts else 0
    labels = labelled_by or nearest
    kernel = RingSums(Cube(spending.box), about, labels, longest, labelled_in, halved)
    in_each, offsets_in_each = spending.sum(kernel)
    counts, offsets = (
        each.reshape(len(about), -1, *each.shape[1:]).sum(axis=1)
        for each in (in_each, offsets_in_each)
    )
    return Rings(about, counts, offsets, longest, (in_each, offsets_in_each) if halved else None)


def take_step(
    spending: Spending,
    step: Step,
    rings: Rings,
    guess: float,
    errors: Floats | None = None,
    least: Floats | None = None,
) -> Means:
    """Draw radii that hold a part of the rows, then the noisy means within them.

    Parameters
    ----------
    guess, errors
        As in ``draw_radii``.
    least
        A released radius for each centre: how far rows of the cells that it stands for may lie
        from it. None where the centres are means of rows already.
    """
    radii = draw_radii(rings, spending, step, guess, errors)
    if least is not None:
        radii = np.minimum(radii, nearest_candidate(least, rings.reach))  # [P7] the larger radius
    if step.finds_far_rows:
        rings, radii = rings.split(radii)
    return move_to_means(rings, radii, spending.share(step.means), of=f"means of {step.name}")


def draw_radii(
    rings: Rings, spending: Spending, step: Step, guess: float, errors: Floats | None = None
) -> Integers:
    """Draw one radius for all clusters of a step, and from there one for each if it says so.

    Parameters
    ----------
    step
        Its share for radii: a quarter goes to the first, the rest to those of the clusters.
    errors
        How far noise moved each centre, after a step: rows may be as far. None: they may be
        anywhere.
    """
    share = step.radii if step.quantile is None else step.radii / 4
    together, half, of = rings.together(), Fraction(1, 2), f"radius of {step.name}"
    pick = pick_radii(together, spending.share(share), guess=guess, quantile=half, of=of)
    if step.quantile is None:
        return pick
    usual = candidate_radii(rings.reach)[pick]
    return pick_radii(
        rings,
        spending.share(step.radii - share),
        guess=usual if errors is None else np.hypot(usual, errors),
        trust=1.5 if errors is None else 3.0,
        quantile=step.quantile,
        of=f"radii of {step.name}",
    )


def pick_radii(
    rings: Rings,
    spending: Spending,
    *,
    guess: float | Floats,
    trust: float = 2.0,
    quantile: Fraction = MOST,
    thrift: bool = False,
    of: str,
) -> Integers:
    """Draw for each cluster a radius that holds about a part of its rows.

    Parameters
    ----------
    spending
        What pays for it, for all clusters together: a row is in one of them. The number of rows
        stands in it.
    trust
        Candidates weigh e^-trust less for each time they are twice or half as large as the guess.
    quantile
        The part. Where all rows lie between two candidates, more than half makes it the larger.
    thrift
        Rather take a radius that is smaller than the guess, if it holds nearly as many rows.
    Returns
    -------
    array
        The place of each radius among the candidates.
    """
    best = NoisyBest(spending.budget, max(quantile.numerator, (1 - quantile).numerator))  # [P2]
    times = candidate_radii(rings.reach) / np.reshape(guess, (-1, 1))
    public = trust * best.scale * np.abs(np.log2(times))
    if thrift:
        assert spending.n_rows is not None
        public += quantile.denominator * spending.n_rows * _THRIFT * np.minimum(times, 1)
    scores = rings.scores(quantile) - np.rint(public).astype(np.int64)
    picks: Integers = spending.release(best, scores, of=of)
    return picks


def pick_reach(rings: Rings, spending: Spending, *, likely: float | None = None, of: str) -> float:
    """Draw the radius beyond which hardly any row lies, for all rows as one cluster.

    Rows beyond a radius are counted against it, and the radius itself: one twice as large must
    hold some rows more, so many that noise seldom makes them up.

    Parameters
    ----------
    likely
        A released radius beyond which hardly any row should lie: longer ones are charged more.
    """
    assert spending.n_rows is not None
    best, n_rows = NoisyBest(spending.budget, 1, one_way=True), spending.n_rows
    more = min(max(_LEAST_MORE * n_rows, _MORE_SCALES * best.scale), _MOST_MORE * n_rows)
    edges = ring_edges(rings.reach)
    doublings = np.maximum(np.log2(edges / edges[0]) + _DOUBLINGS, 0)
    if likely is not None:
        doublings += _BEYOND_LIKELY * np.maximum(np.log2(edges / likely), 0)
    public = np.rint(more * doublings).astype(np.int64)
    scores = -rings.rows_beyond() - public  # [P5]
    return float(edges[spending.release(best, scores, of=of)[0]])


def move_to_means(
    rings: Rings, picks: Integers, spending: Spending, *, entry: Fraction = Fraction(1, 2), of: str
) -> Means:
    """Move each centre to the noisy mean of its rows, as far as it stands out of the noise.

    Parameters
    ----------
    spending
        What pays for it, and for Gaussian noise where the page has a budget for that.
    entry
        What a row adds to its cluster's size, while its offset adds a length of 1 at most.
    """
    unit, d = int(LATTICE * entry), rings.centers.shape[1]
    noise = _noise(spending, longest_move(d, unit))  # [P3]
    picks = np.broadcast_to(picks, rings.k)
    noisy = spending.release(noise, rings.clipped(picks, unit), of=of)  # [P4] empty ones too
    moved = _moved(rings, noisy, noise.deviation(d + 1), clip_radius(picks, rings.reach), unit)
    return Means(*moved, _in_sizes(noise, d + 1).times(1 / unit))


def longest_move(d: int, unit: int) -> int:
    """The most one row moves a released vector, in steps of the lattice, rounded up.

    Its offset has length 1 at most and its entry adds ``unit``; rounding a sum to whole steps
    moves the two sides apart by one more along each axis, and floats by less than another one.

    Examples
    --------
    >>> longest_move(4, 2**15)
    73277
    """
    return math.isqrt(LATTICE**2 + unit**2) + 1 + math.isqrt(4 * d) + 1


def candidate_radii(reach: float) -> Floats:
    """The radii among which one is drawn, largest first."""
    return reach * 2.0 ** (-np.arange(CANDIDATES) / 2)


def nearest_candidate(radii: Floats, reach: float) -> Integers:
    """The place among the candidates of the one nearest to each radius, by their ratio.

    Examples
    --------
    >>> nearest_candidate(np.array([0.0, 1.0, 3.0]), reach=2.0).tolist()
    [23, 2, 0]
    """
    shortest = candidate_radii(reach)[-1]
    places = np.rint(2 * np.log2(reach / np.clip(radii, shortest, reach)))
    nearest: Integers = places.astype(np.int64)
    return nearest


def _noise(spending: Spending, sensitivity: int) -> KNorm | Gaussian:
    """The noise that a share pays for: Gaussian where the page has a budget for it."""
    if spending.gaussian is None:
        return KNorm(spending.budget, sensitivity)
    return Gaussian(spending.gaussian_share, sensitivity)  # [P7]


def _in_sizes(noise: KNorm | Gaussian, axes: int) -> NoiseSum:
    """The law of one coordinate of the noise."""
    if isinstance(noise, Gaussian):
        return NoiseSum.normal(noise.deviation(axes))
    return NoiseSum.k_norm(float(noise.scale), axes)


def _moved(
    rings: Rings, noisy: Integers, deviation: float, radii: Floats, unit: int
) -> tuple[Floats, Floats, Floats, Floats]:
    """Centres moved by the noisy means, shrunk towards where they were (James and Stein)."""
    least = 2 * deviation / unit  # two standard deviations of a size
    counted = noisy[:, -1] / unit
    sizes = np.maximum(counted, least)
    scale = radii / LATTICE / sizes
    offsets = scale[:, None] * noisy[:, :-1]
    variances = offsets.shape[1] * (scale * deviation) ** 2
    squares = np.maximum((offsets**2).sum(axis=1), np.finfo(float).tiny)
    shrunk = np.maximum(0, 1 - variances / squares)
    moved = np.clip(rings.centers + shrunk[:, None] * offsets, -1, 1)
    by_sizes = squares * (deviation / unit / sizes) ** 2  # a size that is off stretches the offset
    excess = np.where(counted > least, counted - least / 2, 0)
    return moved, counted, excess, np.sqrt(variances + by_sizes)
