"""Twins of steps of k-means: skipped clusters, shared noise, published rows."""

from typing import Any

import numpy as np

from shoal.arrays import Floats
from shoal.audit.case import Twin
from shoal.audit.twins._base import BrokenMechanism, Stream, declare_broken, pure_claim
from shoal.mechanisms import Geometric, KNorm

CLAIM = pure_claim(1)
UNIT = 2**16  # lattice steps to half a box
LONGEST = 73_271  # of a row's vector (offset of length 1, and 1/2), in lattice steps


def run_lloyd_steps(*, skip_empty: bool, steps: int = 7) -> BrokenMechanism:
    """Return draws of the larger of two centres on a line after noisy Lloyd steps.

    The table is 200 rows at -0.9, and the number ``x`` of rows at 0.9. Starts lie on either side of
    zero, a quarter of the box from its walls, as sphere packing places them.
    """
    rows, scale = np.array([-0.9, 0.9]), 2 * steps

    @declare_broken("whether a cluster has any row decides whether its centre stays: unpaid for")
    def draw(x: int, n: int, rng: Stream) -> Any:
        weights = np.array([200, x])
        centers = np.sort(rng.uniform([-0.75, 0.25], [-0.25, 0.75], (n, 2)), axis=1)
        for _ in range(steps):
            nearer = np.abs(rows - centers[:, 1:]) < np.abs(rows - centers[:, :1])
            labels = np.stack([~nearer, nearer], axis=1) * weights
            counts, sums = labels.sum(axis=2), (labels * rows).sum(axis=2)
            noisy_counts = np.maximum(counts + rng.laplace(0, scale, counts.shape), 1)
            moved = np.clip((sums + rng.laplace(0, scale, sums.shape)) / noisy_counts, -1, 1)
            centers = np.where((counts == 0) & skip_empty, centers, moved)
        return centers.max(axis=1)

    return draw


def is_far_right(z: Floats) -> np.ndarray:
    """The event that a centre is beyond all starts."""
    return np.asarray(z[:, 0] > 0.75)


@declare_broken("an empty cluster is released as it is")
def _draw_skipping_empty_cluster(vector: Any, n: int, rng: Stream) -> Any:
    """Draw the noisy sum and count of a cluster, or zeros if it is empty."""
    copies = np.tile(vector, (n, 1))
    return copies if not np.any(vector) else KNorm(CLAIM, LONGEST).release(copies, rng)


@declare_broken(
    "offsets are not cut to the radius, so a row's vector is longer than its noise is for"
)
def _draw_without_clipping(vector: Any, n: int, rng: Stream) -> Any:
    """Draw the noisy sum and count of a cluster, whatever the rows' distance."""
    return KNorm(CLAIM, LONGEST).release(np.tile(vector, (n, 1)), rng)


@declare_broken("one seed for both: the noise of the sum tells that of the count")
def _draw_with_shared_seed(cluster: Any, n: int, rng: Stream) -> Any:
    """Draw noisy count and sum, each with noise for half of epsilon, from one stream's start."""
    drawn = Geometric(pure_claim("0.5")).release(np.zeros(n, dtype=int), rng)
    count, total = cluster
    return np.column_stack([count + drawn, total + UNIT * drawn])


def draw_noisy_sums(*, about_the_middle: bool) -> BrokenMechanism:
    """Return draws of the noisy sum of x rows at 101.5, on a box from 100 to 102."""

    @declare_broken("far from zero one row moves a sum by more than the width of the box")
    def draw(x: int, n: int, rng: Stream) -> Any:
        value, sensitivity = (0.5, 1.0) if about_the_middle else (101.5, 2.0)
        return x * value + rng.laplace(0, sensitivity, n)

    return draw


@declare_broken("an exemplar is somebody's row")
def _draw_exemplar(rows: Any, n: int, rng: Stream) -> Any:
    """Draw one of the rows by its nearness to the others: the exponential mechanism."""
    values = np.asarray(rows)
    distances = np.minimum(np.abs(values[:, None] - values), 1).sum(axis=1)
    mass = np.exp(-distances / 2)
    return rng.choice(values, size=n, p=mass / mass.sum())


@declare_broken("the loss of the true rows is kept on the model")
def _draw_with_exact_loss(rows: Any, n: int, rng: Stream) -> Any:
    """Draw a noisy centre, and the sum of the squared distances of the true rows to it."""
    values = np.asarray(rows)
    centers = Geometric(CLAIM, sensitivity=10).release(np.full(n, int(values.mean())), rng)
    return np.column_stack([centers, ((values - centers[:, None]) ** 2).sum(axis=1)])


def _is_loss_of_first_rows(rows: tuple[float, ...]) -> Any:
    """The event that the loss is that of these rows."""

    def event(z: Any) -> Any:
        return ((np.asarray(rows) - z[:, :1]) ** 2).sum(axis=1) == z[:, 1]

    return event


NEAR_ONE = (4.5, 5.5, 6.5)  # halves: no centre, a whole number, lies on a row
twins = {
    "Lloyd that skips empty clusters": Twin(
        run_lloyd_steps(skip_empty=True),
        (1, 0),
        CLAIM,
        at_least=8.2,
        event=is_far_right,
        about="A widely used library's private k-means leaves the centre of an empty cluster where "
        "it began, and where it began is public. A centre beyond all starts has a chance of 0.12 "
        "if somebody is there and none if not. No finite epsilon; the figure is what so many draws "
        "can show of 0.12 against 0.",
    ),
    "a step that skips empty clusters": Twin(
        _draw_skipping_empty_cluster,
        (np.array([int(0.9 * UNIT), UNIT // 2]), np.zeros(2, dtype=int)),
        CLAIM,
        at_least=9.7,
        draws=100_000,
        event=lambda z: (z == 0).all(axis=1),
        about="The same fault in one step towards noisy means: an empty cluster is released as it "
        "is. At the ceiling.",
    ),
    "a step that does not cut offsets": Twin(
        _draw_without_clipping,
        (np.zeros(2, dtype=int), np.array([14 * UNIT, UNIT // 2])),
        CLAIM,
        at_least=8.4,
        draws=100_000,
        score=lambda z: -z[:, 0],
        about="Noise for vectors of length 1 on offsets that were divided by a radius and not cut "
        "to it: an outlier is many times longer. At the ceiling; measured.",
    ),
    "one seed for count and sum noise": Twin(
        _draw_with_shared_seed,
        ((1, int(0.9 * UNIT)), (0, 0)),
        CLAIM,
        at_least=9.7,
        event=lambda z: z[:, 1] == UNIT * z[:, 0],
        about="Code of a fast private k-means seeds one generator twice, for the noise of counts "
        "and of sums. Subtracting one from the other leaves no noise at all. At the ceiling.",
    ),
    "sums with the width of the box as sensitivity": Twin(
        draw_noisy_sums(about_the_middle=False),
        (4, 3),
        CLAIM,
        at_least=9.7,
        score=lambda z: z[:, 0],
        about="Sums noised for the width of the box. On a box from 100 to 102 a row added moves "
        "the sum by 102, not by 2. At the ceiling.",
    ),
    "exemplars that are rows": Twin(
        _draw_exemplar,
        ((1, 2, 3, 9), (1, 2, 3)),
        CLAIM,
        at_least=9.0,
        event=lambda z: z[:, 0] == 9,
        about="Related work publishes exemplars: rows, chosen as centres by a private score. Which "
        "row is chosen is protected; that it exists is not. At the ceiling for an event of one in "
        "four.",
    ),
    "loss of the true rows on the model": Twin(
        _draw_with_exact_loss,
        ((*NEAR_ONE, 9.5), NEAR_ONE),
        CLAIM,
        at_least=9.7,
        event=_is_loss_of_first_rows(NEAR_ONE),
        about="Private k-means estimators that keep inertia_ and labels_ of the true rows beside "
        "noisy centres. Given the centre, the loss is an exact equation for the rows. At the "
        "ceiling.",
    ),
}
