"""Whether reports tell of groups: what one half taught is tried on the other, and beside no groups.

A learner always finds as many groups as it is asked for, in noise too, and its own density flatters
them. So centres learnt from one half of the reports are scored on the density of the other half,
and so are centres that the same learner finds where there are no groups: everybody spread evenly,
or everybody at one point. Level and rates: docs/decisions/groups-told.md.
"""

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from shoal.domain import Box
from shoal.domain.box import Matrix
from shoal.mechanisms.local.reports import Reports
from shoal.randomness import Randomness, Seed

__all__ = ["Evidence", "evidence_of"]

NEEDED = 1.5  # deviations of what no groups gain by chance; see docs/decisions/groups-told.md
MOST = 2_000_000  # reports that are tried; of more a sample
RUNS = 4  # of the learner without groups, of each kind
_NARROWEST = 0.01  # of the box's sides: groups closer than this are one
_LEAST_SPREAD = 0.06  # of a gain, so that an inertia must at least be a tenth lower
Draw = Callable[[int], Matrix]


@dataclass(frozen=True, eq=False)
class Evidence:
    """How far the groups stand out of what the same learner makes of no groups.

    Attributes
    ----------
    told
        Whether centres fit the half they have not seen better than every kind of no groups does.
    margins
        For each kind of no groups: the logarithm of the inertia that its centres leave on a half,
        over that of the centres learnt from the other half; the mean of both halves, in deviations
        of what such a gain is where there are no groups.
    needed
        What each margin must reach.
    inertia_ratio
        The inertia that the best of the kinds leaves, over that of the centres.
    """

    told: bool
    margins: Mapping[str, float]
    needed: float
    inertia_ratio: float


def evidence_of(model: Any, reports: Reports, random_state: Seed = None) -> Evidence:
    """Fit both halves of the reports, and the same learner on made-up reports of no groups.

    Parameters
    ----------
    model
        A ``LocalClusterer``, fitted to the reports or not.
    reports
        Those it was, or will be, fitted to, in memory: of a Spark frame the sample that is here.
    random_state
        Of the halves, the made-up reports and the restarts.
    """
    if len(reports.values) < 2 * max(model.n_clusters, 2):
        return Evidence(False, {}, NEEDED, 1.0)  # too few for two halves
    rng = Randomness(random_state)
    first, second = (_learnt(model, half, rng) for half in _halves(reports, rng))
    n, mechanism = min(len(reports.values), MOST) // 2, first.model.mechanism
    margins, gains = {}, []
    for name, draw in _no_groups([first, second], rng).items():
        made = [mechanism.release(draw(n), rng.noise) for _ in range(RUNS)]
        treated = made if reports.remap is None else [reports.remap(each) for each in made]
        nothing = [_learnt(model, each, rng) for each in treated]
        gain = (first.gain(second, nothing) + second.gain(first, nothing)) / 2
        margins[name] = gain / _usual_gain(nothing)
        gains.append(gain)
    is_clear = all(margin > NEEDED for margin in margins.values())
    return Evidence(is_clear, margins, NEEDED, math.exp(min(gains)))


def _usual_gain(nothing: "list[_Half]") -> float:
    """The deviation of what one run without groups gains over others on the density of a third."""
    pairs = ((on, one) for on in nothing for one in nothing if one is not on)
    gains = [
        on.gain(one, [each for each in nothing if each is not on and each is not one])
        for on, one in pairs
    ]
    return max(math.sqrt(np.mean(np.square(gains))), _LEAST_SPREAD)


def _halves(reports: Reports, rng: Randomness) -> list[Reports]:
    order = rng.compute.permutation(len(reports.values))[:MOST]
    middle = len(order) // 2
    return [
        Reports(reports.values[part], reports.mechanism, reports.remap)
        for part in (order[:middle], order[middle:])
    ]


@dataclass(frozen=True, eq=False)
class _Half:
    """What a learner made of some reports."""

    model: Any

    def gain(self, other: "_Half", nothing: "list[_Half]") -> float:
        """How far another's centres fit this density better than those of no groups, in logs."""
        usual = np.mean([self._log_inertia(each) for each in nothing])
        return float(usual) - self._log_inertia(other)

    def _log_inertia(self, other: "_Half") -> float:
        model, units = self.model, self.model.units_
        atoms, weights = model.density_.atoms / units, model.density_.weights
        nearest = np.full(len(atoms), np.inf)
        for center in other.model.cluster_centers_ / units:  # densities may have a million atoms
            np.minimum(nearest, ((atoms - center) ** 2).sum(axis=1), out=nearest)
        box = model.domain
        sides = np.ptp(atoms, axis=0) if box is None else (box.high - box.low) / units
        least = float(((_NARROWEST * sides) ** 2).sum())
        return math.log(float(weights @ nearest / weights.sum()) + least + 1e-12)


def _learnt(model: Any, reports: Reports, rng: Randomness) -> _Half:
    again = clone(model).set_params(random_state=rng.seed(), progress=None)
    with warnings.catch_warnings():  # one point has fewer places than groups were asked for
        warnings.simplefilter("ignore", ConvergenceWarning)
        return _Half(again.fit(reports))


def _no_groups(halves: list[_Half], rng: Randomness) -> dict[str, Draw]:
    """Rows without groups, by kind: over the box, or over what was learnt where there is none."""
    atoms = np.concatenate([half.model.density_.atoms for half in halves])
    shares = [half.model.density_.weights / half.model.density_.weights.sum() for half in halves]
    weights = np.concatenate(shares) / len(shares)
    mean = weights @ atoms
    box: Box | None = halves[0].model.domain
    low, high = (atoms.min(axis=0), atoms.max(axis=0)) if box is None else (box.low, box.high)
    draw = rng.compute
    return {
        "spread evenly": lambda n: draw.uniform(low, high, (n, len(mean))),
        "at one point": lambda n: np.tile(np.clip(mean, low, high), (n, 1)),
    }
