"""The mechanisms that the thesis compares: as it wrote them, and in forms that keep a promise."""

from collections.abc import Callable

import numpy as np

from shoal.arrays import Floats
from shoal.audit.twins import (
    FlawedAngles2D,
    FlawedAngles3D,
    FlawedAnglesND,
    FlawedGridRemap,
    FlawedOptimalRemap,
    FlawedPiecewise,
)
from shoal.domain import Box, Grid
from shoal.errors import InvalidDomain, TooLarge
from shoal.experiments.nd_laplace._data import Data
from shoal.mechanisms import (
    Hybrid,
    NDLaplace,
    Piecewise,
    Prior,
    Reports,
    Restrict,
    bayes_remap,
    clamp,
    snap,
)
from shoal.randomness import Randomness

NODES = 12  # of a grid remap along each axis, as in the thesis' code
PRIOR_NODES = 24  # of the public grid that stands in for a learnt prior where that is too fine

# What each promises, and the one sentence why not, in the words of the page.
GUARANTEES = {
    "laplace": "MetricDP: epsilon for each raw unit of distance",
    "laplace-truncated": "nothing: grid and box come from the rows (algorithms 3 and 4)",
    "laplace-optimal-truncated": "nothing: ball and weights lie around the true row (algorithm 5)",
    "piecewise": "nothing: epsilon on every column, bounds from the rows",
    "published angles": "nothing: angles drawn wrongly, as in the published code",
    "clamp": "MetricDP: moved to the nearest point of a public box, free",
    "snap": f"MetricDP: moved to {NODES} public nodes an axis, free",
    "bayes": "MetricDP: moved to the mean of a learnt posterior, free",
    "restrict": "MetricDP: redrawn until inside, noise at half of epsilon",
    "restrict at full noise": "MetricDP of 2 epsilon: redrawn until inside, noise at epsilon",
    "piecewise on records": "LocalDP: epsilon for the whole record, public bounds",
    "hybrid on records": "LocalDP: epsilon for the whole record, public bounds",
}
AS_WRITTEN = (
    "laplace", "laplace-truncated", "laplace-optimal-truncated", "piecewise", "published angles"
)  # fmt: skip
OURS = ("clamp", "snap", "bayes", "restrict", "restrict at full noise", "piecewise on records")


def mechanism_of(name: str, epsilon: float, d: int, box: Box | None = None) -> object:
    """Return a mechanism by its name on the page, for rows of ``d`` columns.

    Parameters
    ----------
    name
        One of ``GUARANTEES`` that is a mechanism by itself, not a remap of reports.
    epsilon
        The budget in raw units, or of a record.
    """
    angles = {2: FlawedAngles2D, 3: FlawedAngles3D}.get(d, FlawedAnglesND)
    made: dict[str, Callable[[], object]] = {
        "laplace": lambda: NDLaplace(epsilon, domain=box),
        "laplace-truncated": lambda: FlawedGridRemap(epsilon, NODES),
        "laplace-optimal-truncated": lambda: FlawedOptimalRemap(epsilon, NODES),
        "piecewise": lambda: FlawedPiecewise(epsilon),
        "published angles": lambda: angles(epsilon),
        "restrict": lambda: Restrict(NDLaplace(epsilon), box),
        "restrict at full noise": lambda: Restrict(NDLaplace(epsilon), box, calibrate=False),
        "piecewise on records": lambda: Piecewise(epsilon, domain=box),
        "hybrid on records": lambda: Hybrid(epsilon, domain=box),
    }
    return made[name]()


def reports_of(name: str, data: Data, epsilon: float, seed: int) -> Floats | None:
    """Return the table as a mechanism sends it; None if it refuses this epsilon.

    Parameters
    ----------
    name
        One of ``GUARANTEES``.
    """
    remap = name in ("clamp", "snap", "bayes")
    d = data.rows.shape[1]
    try:
        mechanism = mechanism_of("laplace" if remap else name, epsilon, d, data.box)
    except InvalidDomain:  # a box in which too few reports would land
        return None
    reports: Reports = mechanism.release(data.rows, Randomness(seed).noise)  # type: ignore[attr-defined]
    return np.asarray((_remapped(name, reports, data) if remap else reports).values)


def _remapped(name: str, reports: Reports, data: Data) -> Reports:
    if name == "clamp":
        return clamp(data.box)(reports)
    if name == "snap":
        return snap(data.box, NODES)(reports)
    try:
        return bayes_remap("em")(reports)
    except TooLarge:  # the lattice of a learnt prior would be too fine
        return bayes_remap(_public_prior(data.box))(reports)


def _public_prior(box: Box) -> Prior:
    atoms = Grid(box, PRIOR_NODES).centers()
    return Prior(atoms, np.full(len(atoms), 1 / len(atoms)))
