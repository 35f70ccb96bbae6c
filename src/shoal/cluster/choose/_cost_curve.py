"""The cost of each number of clusters, with the noise to expect in it: what a page draws."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from shoal.figures import Figure, count_curve

_WITHIN = 1.96  # deviations that noise moves a cost by at most, in 95 of 100 releases


@dataclass(frozen=True)
class CostCurve:
    """The cost of each number of clusters that was tried, and which was chosen.

    Everything in it follows from what was released, so it may be published with the release.

    Parameters
    ----------
    counts
        The numbers of clusters, rising.
    costs
        The mean cost of a row with each: squared distances in half sides of the box, or the mixed
        cost of a table with categories. Estimates, as they are computed from what was released.
    deviations
        What the noise of the release moves each cost by, as a standard deviation. Empty where that
        is not known.
    gaps
        How much better each number is than plain groups would make it look: the height by which it
        was chosen. Empty where another rule chose.
    chosen
        The number that was chosen.
    by
        The rule that chose it.

    Examples
    --------
    >>> curve = CostCurve((1, 2, 3), (0.9, 0.2, 0.19), (0.01, 0.01, 0.01), (), 2, "elbow")
    >>> [round(end, 4) for end in curve.band[2]]
    [0.1804, 0.2196]
    >>> CostCurve.of(curve.to_dict()) == curve
    True
    """

    counts: tuple[int, ...]
    costs: tuple[float, ...]
    deviations: tuple[float, ...]
    gaps: tuple[float, ...]
    chosen: int
    by: str

    @property
    def cost(self) -> dict[int, float]:
        """The cost of each number of clusters."""
        return dict(zip(self.counts, self.costs, strict=True))

    @property
    def band(self) -> dict[int, tuple[float, float]]:
        """The ends of what noise makes of each cost in 95 of 100 releases."""
        ends = {}
        for count, cost, deviation in zip(self.counts, self.costs, self.deviations, strict=True):
            reach = _WITHIN * deviation
            ends[count] = (max(cost - reach, 0.0), cost + reach)
        return ends

    def plot(self) -> Figure:
        """Draw the costs, with the choice marked."""
        return count_curve(
            self.cost,
            chosen=self.chosen,
            value="Cost of a row",
            title=f"{self.chosen} chosen by {self.by}",
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, which ``CostCurve.of`` takes."""
        plain = asdict(self)
        return {name: list(v) if isinstance(v, tuple) else v for name, v in plain.items()}

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> "CostCurve":
        """Rebuild a curve from ``to_dict``.

        Parameters
        ----------
        values
            What ``to_dict`` returned.
        """
        lists = {name: tuple(values[name]) for name in ("counts", "costs", "deviations", "gaps")}
        return cls(**lists, chosen=int(values["chosen"]), by=str(values["by"]))
