"""Fit a method to data without information, for scores to be compared with."""

from typing import Any

import numpy as np
import pyarrow as pa

from shoal.cluster._simulate import refit, unfitted
from shoal.estimator import person_and_limit


def without_data(model: Any, *, random_state: int = 0) -> Any:
    """Fit the same method as if all people lay in the middle of the box.

    Where clusters lie in a row, labels by almost any centres agree with the true ones, so a score
    says something about a method only as far as it is above this model's. No row is read and no
    budget is spent.

    Parameters
    ----------
    model
        A fitted ``PrivateKMeans``, ``WaveCluster`` or ``LocalClusterer``. The number of people is
        the one it released.
    random_state
        The seed of its noise.

    Returns
    -------
    A fitted model of the same class.

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
    person, _ = person_and_limit(model.domain)
    if person is not None:
        people = people.append_column(person, pa.array(np.arange(n)))
    has_number = "n_clusters" in model.get_params(deep=False)
    chosen = {"n_clusters": model.n_clusters_} if has_number else {}
    return refit(unfitted(model, random_state=random_state, **chosen), people).model
