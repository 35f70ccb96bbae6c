"""The result of a choice: the value, its curve, and the guarantee of what was read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from shoal.cluster.choose._cost_curve import CostCurve
from shoal.figures import Figure, count_curve
from shoal.privacy import Guarantee

Value = TypeVar("Value", int, float)


@dataclass(frozen=True)
class Choice(Generic[Value]):
    """A chosen setting, and the curve it was chosen on.

    Attributes
    ----------
    value
        The number of clusters, the radius, ...
    by
        The rule.
    curve
        The curve that the rule looked at, heights by places.
    guarantee
        The guarantee of the synopsis or of the reports; ``Unprotected`` if rows were read.
    settings
        The choice under scikit-learn's names: ``KMeans(**choice.settings)``.
    at
        The place on the curve.
    across
        The name of the curve's horizontal axis.
    upwards
        The name of its vertical axis.
    costs
        The cost of each number of clusters with the noise in it, where the rule "simulation" chose;
        else None.

    Examples
    --------
    >>> from shoal.privacy import PureDP
    >>> curve = {2: 9.0, 3: 1.0, 4: 0.9}
    >>> choice = Choice(3, "elbow", curve, PureDP(1), {"n_clusters": 3}, 3, "Clusters", "Inertia")
    >>> choice.plot().title
    '3 chosen by elbow'
    """

    value: Value
    by: str
    curve: Mapping[float, float]
    guarantee: Guarantee
    settings: Mapping[str, Any] = field(default_factory=dict)
    at: float = 0
    across: str = ""
    upwards: str = ""
    costs: CostCurve | None = None

    def plot(self) -> Figure:
        """Draw the curve, with the choice marked."""
        return count_curve(
            self.curve,
            chosen=self.at,
            value=self.upwards,
            title=f"{self.value:.4g} chosen by {self.by}",
            across=self.across,
            label=f"{self.value:.4g} chosen",
        )
