"""What another budget would do, from a release that was made: rows are drawn about its groups."""

from collections.abc import Sequence
from typing import Any

from shoal.arrays import Floats
from shoal.domain import Box
from shoal.errors import InvalidSetting
from shoal.estimator import person_and_limit
from shoal.planning._plan import (
    Flattery,
    Plan,
    Progress,
    check_trust,
    check_within,
    curves_of,
)
from shoal.planning._trial_fits import TrialTable, rows_to_make
from shoal.randomness import Randomness

_TABLES = 4
# Measured by bench/plan.py: docs/decisions/plan.md.
FLATTERY = Flattery(1.0, 0.03, 3.2, 20)


def what_if(
    model: Any,
    *,
    epsilons: Sequence[float] | None = None,
    trust: str = "central",
    within: float = 0.05,
    random_state: int = 0,
    progress: Progress | None = None,
) -> Plan:
    """Predict the error at other budgets from a released model; nothing more is spent.

    Rows are drawn as for the model's intervals: from its cells and about its centres, as wide as
    cells and noise tell. They are fitted by the usual method. A table that is drawn from a release
    is smoother than the one behind it, so errors come out too small for some: ``Plan.flattery`` is
    by how much, as measured.

    Parameters
    ----------
    model
        A fitted ``PrivateKMeans``, or one that was loaded.
    epsilons
        The budgets to try; None for the usual ones.
    trust
        "central", "local" or "both".
    within
        The wanted error of nine in ten coordinates, as a share of the range.
    random_state
        The seed of rows and fits.
    progress
        Called with what is being done and how far it is, from 0 to 1.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal import PrivateKMeans
    >>> rows = np.random.default_rng(0).normal([[0.3], [0.7]], 0.05, (2, 500)).reshape(-1, 1)
    >>> model = PrivateKMeans(2, epsilon=1, domain=Box.unit(1), random_state=7).fit(rows)
    >>> found = what_if(model, epsilons=[0.5, 2])
    >>> found.n_clusters, [band.epsilon for band in found.curves["central"].bands]
    (2, [0.5, 2.0])
    """
    check_trust(trust)
    check_within(within)
    box, share = _box_of(model), getattr(model.guarantee_, "steps", 1)
    n, centers = max(int(model.n_rows_), 1), box.scale(model.cluster_centers_)

    def trials(name: str) -> dict[str, list[TrialTable]]:
        tables = _tables(model, rows_to_make(n, box.d, name), random_state)
        return {"as released": [TrialTable(rows, n, centers) for rows in tables]}

    curves, skipped = curves_of(
        trials, box.d, n, epsilons, trust, within, share, random_state, progress
    )
    limit = person_and_limit(model.domain)[1] or 1
    box = box.simulated(model.guarantee_.simulation)
    return Plan(len(centers), box, n, limit, None, within, curves, skipped, flattery=FLATTERY)


def _box_of(model: Any) -> Box:
    box = getattr(model, "box", None)
    if box is None or not hasattr(model, "cluster_sizes_"):
        raise InvalidSetting(
            f"A what-if needs a model with released centres and sizes; got {type(model).__name__}.",
            "Use a fitted PrivateKMeans, or plan from public facts alone.",
        )
    return box  # type: ignore[no-any-return]


def _tables(model: Any, n: int, seed: int) -> list[Floats]:
    """Tables of so many rows drawn about the released centres, in the unit box."""
    from shoal.cluster.kmeans import released_rows

    rng = Randomness(seed)
    rows = released_rows(model, rng)
    return [(1 + rows.draw(n, rng.compute)) / 2 for _ in range(_TABLES)]
