"""What can be told wrong about the settings of private k-means before a row is read."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from shoal.cluster.kmeans._budget_plan import FEW_AXES, MOST_CELLS
from shoal.domain import Box
from shoal.domain.view import MOST_AXES
from shoal.engine.mllib_kmeans import check_session
from shoal.errors import (
    ConflictingSettings,
    InvalidBudget,
    InvalidSetting,
    Text,
    TooLarge,
    quantity,
    setting,
    value_text,
)
from shoal.estimator import numeric_box, unfitted_copy
from shoal.privacy import ApproxDP, whole_number
from shoal.synopsis import AdaptiveGrid, PrivTree, Synopsis, UniformGrid

Method = Literal["auto", "adaptive-grid", "uniform-grid", "privtree", "lloyd", "hybrid"]
METHODS = ("auto", "adaptive-grid", "uniform-grid", "privtree", "lloyd", "hybrid")
WITH_OWN_STEPS = ("lloyd", "hybrid")
SYNOPSES: dict[str, type[Synopsis]] = {
    "adaptive-grid": AdaptiveGrid,
    "uniform-grid": UniformGrid,
    "privtree": PrivTree,
}
_NOT_OF_A_METHOD = (
    "epsilon",
    "privacy",
    "domain",
    "clipping",
    "n_public",
    "nonfinite",
    "ledger",
    "random_state",
)
_LEAST_DELTA = Fraction(1, 10**95)  # steps divide it, and Gaussian noise goes down to 1e-100


def cluster_numbers(n_clusters: int | Sequence[int]) -> tuple[int, ...]:
    """The numbers of clusters asked for, rising.

    Examples
    --------
    >>> cluster_numbers(8), cluster_numbers(range(2, 5))
    ((8,), (2, 3, 4))
    """
    listed = n_clusters if isinstance(n_clusters, range | list | tuple) else [n_clusters]
    counts = [whole_number(one) for one in listed]
    if not counts or any(count is None or count < 1 for count in counts):
        raise InvalidSetting(
            setting("n_clusters") + " must be a whole number of 1 or more, or several of them; "
            f"got {value_text(n_clusters)}.",
            "E.g. "
            + setting("n_clusters", 8)
            + ", or "
            + setting("n_clusters", range(2, 21))
            + " to choose among.",
        )
    return tuple(sorted({int(count) for count in counts if count is not None}))


def check_settings(model: Any, domain: Any) -> None:
    """Refuse what cannot work, whatever the rows."""
    counts = cluster_numbers(model.n_clusters)
    _check_domain(domain)
    check_method(model.method, domain)
    check_clusterer(model.spark_kmeans)
    if model.init is not None:
        _check_init(model, counts, numeric_box(domain).d)
    own_steps = model.method in WITH_OWN_STEPS
    if own_steps and len(counts) > 1:
        raise InvalidSetting(
            setting("method", model.method) + " takes a single number of clusters.",
            "Give one, or "
            + setting("method", "auto")
            + ", which chooses among them on its cells.",
        )
    if isinstance(model.privacy, ApproxDP) and (own_steps or not model.refine):
        raise InvalidSetting(
            "The privacy promise has a "
            + setting("delta")
            + ", and nothing would use it: it buys Gaussian noise for refining steps.",
            "Leave it out, or use " + _with_steps(own_steps) + ".",
        )


def _check_init(model: Any, counts: Sequence[int], d: int) -> None:
    """Refuse public rows that no start can be made of, and settings that would not use them."""
    if model.method != "auto" or not model.refine or len(counts) > 1:
        raise ConflictingSettings(
            setting("init")
            + " is for one number of clusters, and needs "
            + setting("method", "auto")
            + " and "
            + setting("refine", True)
            + ".",
            "Leave it out, or leave the others at that.",
        )
    try:
        rows = np.asarray(model.init, dtype=np.float64)
    except (TypeError, ValueError):
        rows = np.empty(0)
    if rows.ndim != 2 or rows.shape[1] != d or len(rows) < counts[0] or not np.isfinite(rows).all():
        raise InvalidSetting(
            setting("init")
            + f" must be {counts[0]} or more public rows of {quantity(d, 'finite number')}.",
            "Give an array with the columns of the domain, in its order.",
        )


def check_method(method: object, domain: Any) -> None:
    """Refuse a method there is not, a synopsis with a promise of its own, and wrong settings."""
    if type(method) in SYNOPSES.values():
        usual: Any = type(method)()
        if any(getattr(method, name) != getattr(usual, name) for name in _NOT_OF_A_METHOD):
            raise ConflictingSettings(
                "The synopsis given as method has its own promise, bounds, ledger or seed.",
                "Give these to PrivateKMeans, e.g. method=AdaptiveGrid(consistency=False).",
            )
        synopsis_of_method(method)._check_settings(numeric_box(domain))
    elif isinstance(method, Synopsis):
        raise InvalidSetting(
            setting("method") + f" is a {type(method).__name__}, which cannot be saved.",
            "Give an AdaptiveGrid, a UniformGrid or a PrivTree.",
        )
    elif method not in METHODS:
        raise InvalidSetting.of(
            "method",
            f"must be a synopsis or one of {', '.join(map(repr, METHODS))}",
            "auto",
            method,
        )


def _with_steps(own_steps: bool) -> Text:
    return setting("method", "auto") if own_steps else setting("refine", True)


def synopsis_of_method(method: Any) -> Synopsis:
    """The synopsis a method counts cells with, not fitted: a copy of the one that was given."""
    if isinstance(method, Synopsis):
        return unfitted_copy(method)  # type: ignore[no-any-return]
    return SYNOPSES[method]()


def method_to_settings(method: Any) -> dict[str, Any]:
    """A method as saved models have it: flat, so that older folders still load."""
    if not isinstance(method, Synopsis):
        return {"method": method, "consistency": True, "negative": "norm-cut"}
    params = {name: v for name, v in method._settings_of_cells().items() if name != "negative"}
    usual = type(method)()._settings_of_cells()
    written = {
        "method": next(name for name, kind in SYNOPSES.items() if type(method) is kind),
        "consistency": params.pop("consistency", True),
        "negative": method.negative,
    }
    own = {name: value for name, value in params.items() if value != usual[name]}
    return written | ({"method_settings": own} if own else {})


def method_from_settings(settings: Mapping[str, Any], box: Box) -> dict[str, Any]:
    """Parameters from settings that hold a ``method_to_settings``: the same, without its keys.

    Older versions had settings of the cells with "auto" and "hybrid" too. Up to five columns
    "auto" is such a grid; beyond, and for "hybrid", they are left out.
    """
    rest = dict(settings)
    method, consistency = rest.pop("method", "auto"), rest.pop("consistency", True)
    own = {"negative": rest.pop("negative", "norm-cut"), **rest.pop("method_settings", {})}
    if method == "auto" and box.d <= FEW_AXES:
        own["max_cells"] = MOST_CELLS
    elif method not in SYNOPSES:
        return rest | {"method": method}
    if (consistency, own["negative"], len(own)) == (True, "norm-cut", 1 + (method == "auto")):
        return rest | {"method": method}
    kind = SYNOPSES.get(method, AdaptiveGrid)
    flat = {"consistency": consistency} if kind is AdaptiveGrid else {}
    return rest | {"method": kind(**flat, **own)}


def check_clusterer(spark_kmeans: object) -> None:
    """Refuse a k-means that is not there, before anything is paid for."""
    if spark_kmeans not in ("sklearn", "mllib"):
        raise InvalidSetting(
            setting("spark_kmeans") + " must be 'sklearn' or 'mllib'.",
            "Leave it out: scikit-learn, on this machine, finds better centres.",
        )
    if spark_kmeans == "mllib":
        check_session()


def check_delta(budget: object) -> None:
    """Refuse, before anything is paid for, a budget that no Gaussian step could keep."""
    if isinstance(budget, ApproxDP) and not (
        budget.epsilon <= 100 and budget.delta >= _LEAST_DELTA
    ):
        raise InvalidBudget(
            "With a delta, epsilon must be at most 100 and delta at least 1e-95, for one row.",
            "Choose another "
            + setting("delta")
            + " or "
            + setting("epsilon")
            + ", or leave delta out.",
        )


def _check_domain(domain: Any) -> None:
    box = numeric_box(domain)
    if box.d > MOST_AXES:
        raise TooLarge(
            f"Private k-means takes at most {MOST_AXES} columns; the box has {box.d}.",
            "Choose the columns that matter, e.g. box.select([...]).",
            reason="columns",
        )
