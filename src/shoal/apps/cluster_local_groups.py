"""The groups learnt from reports, as pages and terminals tell of them, beside those of no data."""

from functools import cached_property
from typing import TYPE_CHECKING, Any

from shoal.apps.cluster_local_reports import Heard

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from shoal.cluster.local.evidence import Evidence

__all__ = ["Groups"]

_POINTS = 20_000  # drawn of the density, to compare by
_LARGEST_RATIO = 2.0


class Groups:
    """Centres and about how many belong to each; and what the same learner finds without data.

    All of it is computed from reports, so it is as public as they are. Group i is label i - 1 of
    ``predict``.

    Parameters
    ----------
    model, control
        What was learnt, and the same where everybody reports the middle of the box.
    heard, evidence
        The reports it was learnt from, and whether they tell of groups; None if that was not tried.
    """

    def __init__(
        self, model: Any, control: Any, heard: Heard, evidence: "Evidence | None" = None
    ) -> None:
        self.model, self.control, self.heard = model, control, heard
        self.evidence = evidence
        self.names: tuple[str, ...] = heard.box.names
        self.box = heard.box
        self.centers: NDArray[np.float64] = model.cluster_centers_
        self.k = len(self.centers)

    @cached_property
    def sizes(self) -> list[int]:
        """About how many reports belong to each group: its share of the density; all add up."""
        import numpy as np

        from shoal.cluster.totals import whole_shares

        density = self.model.density_
        labels = self.model.predict(density.atoms)
        shares = np.bincount(labels, weights=density.weights, minlength=self.k)
        return whole_shares(shares * (self.heard.total / shares.sum()), self.heard.total)

    @cached_property
    def agreement(self) -> float:
        """How far labels by the control's centres agree with those by the centres found (AMI)."""
        from shoal.evaluate import ami

        return float(ami(self.model.predict(self._drawn), self.control.predict(self._drawn)))

    @cached_property
    def ratio(self) -> float:
        """The inertia that the control's centres leave on the density, over that of those found."""
        from shoal.evaluate import normalised_inertia

        units = self.model.units_
        centers = self.control.cluster_centers_ / units
        return float(normalised_inertia(self._drawn / units, centers, self.centers / units))

    @property
    def used(self) -> int:
        """How many reports it was learnt from."""
        return int(self.model.n_used_)

    @property
    def without(self) -> int:
        """How many reported the middle of the box in the control."""
        return int(self.control.n_reports_)

    @property
    def unit(self) -> str:
        """What is counted: people where each was reported once, else reports."""
        return "reports" if self.heard.protects == "a row" else "people"

    @property
    def may_be_noise(self) -> bool | None:
        """Whether noise alone would look like these groups; None if that was not tried."""
        return None if self.evidence is None else not self.evidence.told

    @property
    def needed(self) -> int | None:
        """How many people the rule of thumb asks for, where there is one, to be twice plain's."""
        from shoal.cluster import LocalClusterer
        from shoal.mechanisms import LocalGrid

        mechanism = self.model.mechanism
        if not isinstance(mechanism, LocalGrid) or self.box.d > 4:
            return None
        return LocalClusterer.needs(
            _LARGEST_RATIO, n_clusters=self.k, d=self.box.d, epsilon=mechanism.epsilon
        )

    @cached_property
    def _drawn(self) -> "NDArray[np.float64]":
        """Points of the density, drawn by weight; always the same ones."""
        import numpy as np

        density = self.model.density_
        chances = density.weights / density.weights.sum()
        at = np.random.default_rng(0).choice(len(density.atoms), _POINTS, p=chances)
        return np.asarray(density.atoms[at])
