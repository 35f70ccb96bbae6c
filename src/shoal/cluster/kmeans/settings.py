"""What can be told wrong about the settings of private k-means before a row is read."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from shoal.cluster.kmeans.weighted import Clusterer
from shoal.domain import Box
from shoal.domain.view import MOST_AXES
from shoal.engine.spark.availability import spark_part
from shoal.errors import InvalidBudget, InvalidDomain, InvalidSetting, Text, TooLarge, setting
from shoal.privacy import ApproxDP
from shoal.privacy.exact import whole_number
from shoal.synopsis.weights import Negative, check_negative

__all__ = [
    "METHODS",
    "CellSettings",
    "Method",
    "check_clusterer",
    "check_delta",
    "check_settings",
    "counts_of",
]

Method = Literal["auto", "adaptive-grid", "uniform-grid", "privtree", "lloyd", "hybrid"]
METHODS = ("auto", "adaptive-grid", "uniform-grid", "privtree", "lloyd", "hybrid")
WITH_OWN_STEPS = ("lloyd", "hybrid")
_LEAST_DELTA = Fraction(1, 10**95)  # steps divide it, and Gaussian noise goes down to 1e-100


@dataclass(frozen=True)
class CellSettings:
    """How the cells are made, and whether steps may follow."""

    method: Method = "auto"
    refine: bool = True
    consistency: bool = True
    negative: Negative = "norm-cut"
    spark_kmeans: Clusterer = "sklearn"


def counts_of(n_clusters: int | Sequence[int]) -> tuple[int, ...]:
    """The numbers of clusters asked for, rising.

    Examples
    --------
    >>> counts_of(8), counts_of(range(2, 5))
    ((8,), (2, 3, 4))
    """
    listed = n_clusters if isinstance(n_clusters, range | list | tuple) else [n_clusters]
    counts = [whole_number(one) for one in listed]
    if not counts or any(count is None or count < 1 for count in counts):
        raise InvalidSetting(
            setting("n_clusters") + " is neither a whole number from 1 up nor several of them.",
            "E.g. "
            + setting("n_clusters", 8)
            + ", or "
            + setting("n_clusters", range(2, 21))
            + " to choose among.",
        )
    return tuple(sorted({int(count) for count in counts if count is not None}))


def check_settings(model: Any, domain: object) -> None:
    """Refuse what cannot work, whatever the rows."""
    counts = counts_of(model.n_clusters)
    if model.method not in METHODS:
        raise InvalidSetting.of("method", f"is none of {', '.join(map(repr, METHODS))}", "auto")
    check_negative(model.negative)
    check_clusterer(model.spark_kmeans)
    _check_domain(domain)
    own_steps = model.method in WITH_OWN_STEPS
    if own_steps and len(counts) > 1:
        raise InvalidSetting(
            setting("method", model.method) + " came with several numbers of clusters.",
            "Give one, or "
            + setting("method", "auto")
            + ", which chooses among them on its cells.",
        )
    if model.delta is not None and (own_steps or not model.refine):
        raise InvalidSetting(
            setting("delta")
            + " came, and nothing would use it: it buys Gaussian noise for refining steps.",
            "Leave it out, or use " + _refining(own_steps) + ".",
        )


def _refining(own_steps: bool) -> Text:
    return setting("method", "auto") if own_steps else setting("refine", True)


def check_clusterer(spark_kmeans: object) -> None:
    """Refuse a k-means that is not there, before anything is paid for."""
    if spark_kmeans not in ("sklearn", "mllib"):
        raise InvalidSetting(
            setting("spark_kmeans") + " is neither 'sklearn' nor 'mllib'.",
            "Leave it out: scikit-learn's finds better centres, on this machine.",
        )
    if spark_kmeans == "mllib":
        spark_part().active_session()


def check_delta(budget: object) -> None:
    """Refuse, before anything is paid for, a budget that no Gaussian step could keep."""
    if isinstance(budget, ApproxDP) and not (
        budget.epsilon <= 100 and budget.delta >= _LEAST_DELTA
    ):
        raise InvalidBudget(
            "With a delta, "
            + setting("epsilon")
            + " goes up to 100 and delta down to 1e-95, for one row.",
            "Choose another "
            + setting("delta")
            + " or "
            + setting("epsilon")
            + ", or leave delta out.",
        )


def _check_domain(domain: object) -> None:
    if not isinstance(domain, Box):
        raise InvalidDomain(
            f"A {type(domain).__name__} came as domain; k-means is for numbers.",
            "Give the box of the numeric columns, e.g. schema.box.",
        )
    if domain.d > MOST_AXES:
        raise TooLarge(
            f"A box of {domain.d} columns came; private k-means takes {MOST_AXES} at most.",
            "Choose the columns that matter, e.g. box.select([...]).",
            reason="columns",
        )
