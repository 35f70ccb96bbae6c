"""Rows without information over a schema, for scores to be compared with."""

from typing import Any

import numpy as np
import pyarrow as pa

from shoal.domain import Schema


def even_rows(domain: Any, n: int, seed: int = 0) -> pa.Table:
    """Return rows spread evenly over bounds and categories, one column apart from the others."""
    assert isinstance(domain, Schema)
    rng = np.random.default_rng(seed)
    made: dict[str, Any] = {}
    for name in domain.columns:
        if name in domain.bounds:
            made[name] = pa.array(rng.uniform(*domain.bounds[name], size=n))
        else:
            listed = domain.categories[name].values
            made[name] = pa.array([str(listed[i]) for i in rng.integers(len(listed), size=n)])
    if domain.entity is not None:
        made[domain.entity] = pa.array(np.arange(n))
    return pa.table(made)
