"""Made-up tables like one that nobody has opened: round groups in the unit box, or a cloud.

How far groups stand apart is the one thing about a table that its bounds do not tell, so tables
are made in several shapes, from clear groups to a single cloud without gaps.
"""

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Floats
from shoal.errors import InvalidSetting

# Standard deviation of a group over the distance to the next: docs/decisions/plan.md.
_SPREADS: dict[str, float] = {"clear": 0.1, "near": 0.2, "touching": 0.35}
_CLOUD = "no gaps"
SHAPES = (*_SPREADS, _CLOUD)
_CLOUD_SPREADS = (0.05, 0.2)  # of a cloud along each of its axes, in shares of a side
_MARGIN = 0.1  # no centre lies nearer to a bound than this share of a side
_CANDIDATES = 20  # places tried for each centre, of which the one farthest from others is taken
_EVENNESS = 3.0  # of the sizes: Dirichlet's parameter, the largest of 5 groups is 36 % on average


@dataclass(frozen=True, eq=False)
class MadeUp:
    """A made-up table in the unit box.

    Parameters
    ----------
    centers
        Where its groups were put; of a cloud, some of its rows.
    """

    rows: Floats
    centers: Floats


def draw_table(n: int, d: int, k: int, shape: str, rng: np.random.Generator) -> MadeUp:
    """Draw a table of round groups with different sizes, or of a cloud without gaps.

    Parameters
    ----------
    shape
        One of ``SHAPES``.
    Examples
    --------
    >>> table = draw_table(500, 2, 3, "clear", np.random.default_rng(0))
    >>> table.rows.shape, table.centers.shape
    ((500, 2), (3, 2))
    """
    if shape == _CLOUD:
        rows = _draw_cloud(n, d, rng)
        return MadeUp(rows, rows[:k])
    if shape not in _SPREADS:
        raise InvalidSetting.of("shape", f"must be one of {', '.join(SHAPES)}", "near", shape)
    centers = place_centers(k, d, rng)
    spread = _SPREADS[shape] * spacing_of(centers) / np.sqrt(max(d / 2, 1))
    return MadeUp(rows_about(centers, rng.dirichlet([_EVENNESS] * k), spread, n, rng), centers)


def _draw_cloud(n: int, d: int, rng: np.random.Generator) -> Floats:
    """A normal cloud about the middle of the box, its axes unequal and turned at random."""
    spreads = rng.uniform(*_CLOUD_SPREADS, d)
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
    return np.asarray(np.clip(0.5 + (rng.standard_normal((n, d)) * spreads) @ turn, 0, 1))


def place_centers(k: int, d: int, rng: np.random.Generator) -> Floats:
    """Place centres apart from each other: each is the farthest of a few random places."""
    centers = np.empty((k, d))
    for i in range(k):
        places = rng.uniform(_MARGIN, 1 - _MARGIN, (_CANDIDATES, d))
        gaps = np.linalg.norm(places[:, None] - centers[None, :i], axis=2)
        centers[i] = places[gaps.min(axis=1).argmax() if i else 0]
    return centers


def spacing_of(centers: Floats) -> float:
    """Return the median distance from a centre to the next; a half for a single one."""
    if len(centers) < 2:
        return 0.5
    gaps = np.linalg.norm(centers[:, None] - centers[None], axis=2)
    np.fill_diagonal(gaps, np.inf)
    return float(np.median(gaps.min(axis=1)))


def rows_about(
    centers: Floats, shares: Floats, spread: float | Floats, n: int, rng: np.random.Generator
) -> Floats:
    """Draw rows normally about centres, moved into the unit box.

    Parameters
    ----------
    spread
        Standard deviation of all columns, or one line for each centre.
    """
    group = rng.choice(len(centers), n, p=shares)
    deviations = np.broadcast_to(spread, centers.shape)[group]
    return np.clip(centers[group] + deviations * rng.standard_normal((n, centers.shape[1])), 0, 1)
