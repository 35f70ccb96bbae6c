"""Test whether reports show groups, by comparing with learners on data without groups.

A learner always finds as many groups as it is asked for, in noise too, and its own density flatters
them. So centres learnt from one half of the reports are scored on the density of the other half,
and so are centres that the same learner finds where there are no groups: everybody spread evenly,
or everybody at one point. Level and rates: docs/decisions/certain-groups.md.
"""

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from shoal.arrays import Floats
from shoal.cluster._simulate import refit, unfitted
from shoal.domain import Box
from shoal.mechanisms import Reports
from shoal.randomness import Randomness, Seed

# Measured in docs/decisions/certain-groups.md: a margin in deviations of what chance gains without
# groups, and the least such deviation, so that an inertia must be at least a tenth lower.
NEEDED_MARGIN = 1.5
_LEAST_SPREAD = 0.06
MOST_REPORTS = 2_000_000  # of more reports, a sample is used
RUNS = 4  # of the learner on each kind of data without groups
_NARROWEST = 0.01  # of the box's sides: groups closer than this count as one
Draw = Callable[[int], Floats]


@dataclass(frozen=True, eq=False)
class Evidence:
    """The result of the test: how far the groups stand out from data without groups.

    Attributes
    ----------
    is_certain
        Whether the centres fit the other half of the reports better than centres learnt from either
        kind of data without groups.
    margins
        For each kind of data without groups: the gain in log inertia on one half of the centres
        learnt from the other half over centres learnt without groups, the mean of both halves, in
        deviations of such a gain where there are no groups.
    needed
        The least margin for each kind.
    inertia_ratio
        The inertia of the best centres learnt without groups over that of the centres.
    """

    is_certain: bool
    margins: Mapping[str, float]
    needed: float
    inertia_ratio: float


def evidence_of(model: Any, reports: Reports, random_state: Seed = None) -> Evidence:
    """Test the groups of a model on the two halves of its reports.

    Parameters
    ----------
    model
        A ``LocalClusterer``, fitted to the reports or not.
    reports
        The reports that the model is fitted to, in memory; for a Spark frame, its sample.
    Returns
    -------
    The verdict and the figures behind it. Too few reports for two halves never show groups.
    """
    if len(reports.values) < 2 * max(model.n_clusters, 2):
        return Evidence(False, {}, NEEDED_MARGIN, 1.0)  # too few for two halves
    rng = Randomness(random_state)
    first, second = (_fit_half(model, half, rng) for half in _halves(reports, rng))
    n, mechanism = min(len(reports.values), MOST_REPORTS) // 2, first.model.mechanism
    margins, gains = {}, []
    for name, draw in _draws_without_groups([first, second], rng).items():
        made = [mechanism.release(draw(n), rng.noise) for _ in range(RUNS)]
        remapped = made if reports.remap is None else [reports.remap(each) for each in made]
        ungrouped = [_fit_half(model, each, rng) for each in remapped]
        gain = (first.gain(second, ungrouped) + second.gain(first, ungrouped)) / 2
        margins[name] = gain / _chance_gain(ungrouped)
        gains.append(gain)
    is_clear = all(margin > NEEDED_MARGIN for margin in margins.values())
    return Evidence(is_clear, margins, NEEDED_MARGIN, math.exp(min(gains)))


def _chance_gain(ungrouped: "list[_Half]") -> float:
    """Return the deviation of what one run without groups gains over others on a third one."""
    pairs = ((on, one) for on in ungrouped for one in ungrouped if one is not on)
    gains = [
        on.gain(one, [each for each in ungrouped if each is not on and each is not one])
        for on, one in pairs
    ]
    return max(math.sqrt(np.mean(np.square(gains))), _LEAST_SPREAD)


def _halves(reports: Reports, rng: Randomness) -> list[Reports]:
    order = rng.compute.permutation(len(reports.values))[:MOST_REPORTS]
    middle = len(order) // 2
    return [
        Reports(reports.values[part], reports.mechanism, reports.remap)
        for part in (order[:middle], order[middle:])
    ]


@dataclass(frozen=True, eq=False)
class _Half:
    """A model fitted to some of the reports, or to reports without groups."""

    model: Any

    def gain(self, other: "_Half", ungrouped: "list[_Half]") -> float:
        """Return how much better another model's centres fit this density than ungrouped ones."""
        usual = np.mean([self._log_inertia(each) for each in ungrouped])
        return float(usual) - self._log_inertia(other)

    def _log_inertia(self, other: "_Half") -> float:
        model, units = self.model, self.model.units_
        atoms, weights = model.density_.atoms / units, model.density_.weights
        nearest = np.full(len(atoms), np.inf)
        # One centre at a time, since a density may have a million atoms.
        for center in other.model.cluster_centers_ / units:
            np.minimum(nearest, ((atoms - center) ** 2).sum(axis=1), out=nearest)
        box = model.domain
        sides = np.ptp(atoms, axis=0) if box is None else (box.high - box.low) / units
        least = float(((_NARROWEST * sides) ** 2).sum())
        return math.log(float(weights @ nearest / weights.sum()) + least + 1e-12)


def _fit_half(model: Any, reports: Reports, rng: Randomness) -> _Half:
    copy = unfitted(model, random_state=rng.seed(), mechanism=reports.mechanism)
    # k-means warns if there are fewer distinct points than clusters, as with all at one point.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return _Half(refit(copy, reports).model)


def _draws_without_groups(halves: list[_Half], rng: Randomness) -> dict[str, Draw]:
    """Return functions that draw rows without groups: evenly over the box, or all at one point."""
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
