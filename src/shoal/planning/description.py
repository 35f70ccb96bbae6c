"""Everything a page says that takes fits to compute, from a released model alone: computed once."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shoal.cluster.choose import CostCurve
from shoal.cluster.intervals import Intervals
from shoal.errors import InvalidBudget, InvalidSetting, NotPublishable, ShoalError
from shoal.planning._plan import Plan
from shoal.planning._what_if import what_if
from shoal.privacy import PureDP, Unprotected

SCHEMA = "shoal.description/1"
# Budgets that a what-if tries, over that of the release.
_TIMES = (0.25, 1.0, 4.0)
# Numbers of groups on a curve; each is a run of k-means over the released cells.
_LEAST_TRIED, MOST_TRIED = 8, 20


@dataclass(frozen=True, eq=False)
class Description:
    """What can be computed from a released model at no cost, beyond what it released.

    Parameters
    ----------
    intervals
        Those of centres, sizes and the total, as ``model.intervals_``; None where a release has
        none, or brings its own.
    what_if
        The errors at a quarter, once and four times the budget; None for promises other than pure
        differential privacy, and where no group can be distinguished from noise.
    curve
        The cost of other numbers of groups; None where no cells or reports tell it.

    Examples
    --------
    >>> Description(None, None, None).to_dict()["schema"]
    'shoal.description/1'
    """

    intervals: Intervals | None
    what_if: Plan | None
    curve: CostCurve | None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, in the form in which a model's folder keeps them."""
        return {
            "schema": SCHEMA,
            "intervals": self.intervals and self.intervals.to_dict(),
            "what_if": self.what_if and self.what_if.to_dict(),
            "curve": self.curve and self.curve.to_dict(),
        }


def describe(model: Any) -> Description:
    """Return what a model's page says beyond its release: intervals, what-if, the curve over k.

    It takes a model and no rows: everything is computed from what was released, with seeds made of
    it, so it costs nothing and a model that was loaded gives the same. It takes some dozen fits of
    made-up rows the first time, and is kept with the model: ``save`` writes it, and pages and
    ``intervals_`` read it.

    Parameters
    ----------
    model
        A fitted model of ``shoal.cluster`` that can be saved, or one that was loaded.

    Raises
    ------
    NotPublishable
        If the model promises nothing: what it holds may be as exact as the rows.
    InvalidSetting
        If it is no fitted model.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal import Box, PrivateKMeans
    >>> rows = np.random.default_rng(0).normal([[0.3], [0.7]], 0.05, (2, 500)).reshape(-1, 1)
    >>> model = PrivateKMeans(2, epsilon=1, domain=Box.unit(1), random_state=7).fit(rows)
    >>> description = describe(model)
    >>> description.intervals is model.intervals_, description.curve.counts[:3]
    (True, (1, 2, 3))
    >>> [band.epsilon for band in description.what_if.curves["central"].bands]
    [0.25, 1.0, 4.0]
    """
    _check_describable(model)
    values = model._compute_once("description", lambda: _computed(model).to_dict())
    return _description_of(model, values)


def _check_describable(model: Any) -> None:
    if not hasattr(model, "_compute_once") or not hasattr(model, "guarantee_"):
        raise InvalidSetting(
            f"There is no description of a {type(model).__name__}.",
            "Give a fitted PrivateKMeans, PrivateKPrototypes, WaveCluster or LocalClusterer, or "
            "one that load_model returned.",
        )
    if isinstance(model.guarantee_, Unprotected):
        raise NotPublishable(
            "This model promises nothing, so what follows from it may be as exact as the rows.",
            "Fit it with a promise, e.g. epsilon=1.",
        )


def _computed(model: Any) -> Description:
    return Description(_intervals(model), _what_if(model), _curve(model))


def _description_of(model: Any, values: Mapping[str, Any]) -> Description:
    """Return the description that plain values hold; its intervals are the model's own."""
    tried, curve = values["what_if"], values["curve"]
    return Description(
        None if values["intervals"] is None else model.intervals_,
        None if tried is None else Plan.of(tried, model.box),
        None if curve is None else CostCurve.of(curve),
    )


def _intervals(model: Any) -> Intervals | None:
    # Centres of noisy reports as they are have none: nothing was learnt of the records.
    if getattr(model, "method_", None) == "plain":
        return None
    intervals = getattr(model, "intervals_", None)
    return intervals if isinstance(intervals, Intervals) else None


def _what_if(model: Any) -> Plan | None:
    from shoal.cluster import PrivateKMeans

    promise = model.guarantee_
    # Budgets with a delta, and those of reports, follow other laws.
    if not isinstance(model, PrivateKMeans) or not isinstance(promise, PureDP):
        return None
    if not model.is_certain_.any():
        return None
    try:
        return what_if(model, epsilons=[times * float(promise.epsilon) for times in _TIMES])
    except InvalidBudget:
        # Four times a large budget, on few made-up rows, is beyond what noise can be drawn for; a
        # release that is paid for must not end here.
        return None


def _number_of_groups(model: Any) -> int:
    centers = getattr(model, "cluster_centers_", None)
    return int(model.n_clusters_) if centers is None else len(centers)


def _curve(model: Any) -> CostCurve | None:
    """Return the curve that a choice was made by, or one of the inertia of released cells."""
    from shoal.cluster import choose
    from shoal.synopsis import Synopsis

    chosen_by: CostCurve | None = getattr(model, "cost_curve_", None)
    if chosen_by is not None:
        return chosen_by
    synopsis, n_groups = getattr(model, "synopsis_", None), _number_of_groups(model)
    source = synopsis if isinstance(synopsis, Synopsis) else model
    if (source is model and not hasattr(model, "density_")) or not 2 <= n_groups <= MOST_TRIED:
        return None
    among = range(1, min(max(_LEAST_TRIED, n_groups + 4), MOST_TRIED) + 1)
    try:
        inertia = choose.k(source, by="elbow", among=among, random_state=0).curve
    except ShoalError:
        # Fewer cells than groups: then there is no curve to show.
        return None
    counts = tuple(int(count) for count in inertia)
    return CostCurve(counts, tuple(map(float, inertia.values())), (), (), n_groups, "elbow")
