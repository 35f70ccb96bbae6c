"""What a method finds without data: the line every score is to be read beside."""

from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.base import clone

from shoal.cluster.totals import ignore_no_groups_warning
from shoal.estimator import entity_and_limit

__all__ = ["without_data"]


def without_data(model: Any, *, random_state: int = 0) -> Any:
    """The same method with the same settings, as if all its people lay in the middle of the box.

    Labels by almost any centres agree with the true ones where clusters lie in a row, so a score
    says something about a method only as far as it is above this model's. It reads no row and is
    charged to nobody.

    Parameters
    ----------
    model
        Fitted: ``PrivateKMeans``, ``WaveCluster`` or ``LocalClusterer``. As many people are
        taken as it released.
    random_state
        Of its noise.

    Examples
    --------
    >>> from shoal.cluster import PrivateKMeans
    >>> from shoal.domain import Box
    >>> X = np.repeat([[0.1, 0.1], [0.9, 0.1]], 500, axis=0)
    >>> model = PrivateKMeans(2, epsilon=1, domain=Box.unit(2), random_state=7).fit(X)
    >>> without_data(model).cluster_centers_.shape
    (2, 2)
    """
    if hasattr(model, "control"):
        return model.control(random_state=random_state)
    box = model.box
    n = max(int(model.n_rows_ or 0), 1)
    middle = dict(zip(box.names, (box.low + box.high) / 2, strict=True))
    people = pa.table({name: np.full(n, place) for name, place in middle.items()})
    entity, _ = entity_and_limit(model.domain)
    if entity is not None:
        people = people.append_column(entity, pa.array(np.arange(n)))
    with ignore_no_groups_warning():  # that nothing can be told is what it is for
        return _again(model, random_state).fit(people)


def _again(model: Any, random_state: int) -> Any:
    """The model before its fit, with the number of clusters that was chosen and no ledger."""
    again = clone(model).set_params(ledger=None, random_state=random_state)
    if "n_clusters" in again.get_params():
        again.set_params(n_clusters=model.n_clusters_)
    return again
