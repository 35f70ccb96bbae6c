"""How a budget is divided among the steps, from public and released numbers alone."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from shoal.cluster.prototypes.measure import group_blocks
from shoal.synopsis.mixed.columns import MixedColumns

# Shares of the budget and the strength from which on a step pays: measured on four tables, see
# docs/decisions/mixed-tables.md.
_SMALL_GROUPS_FROM, _MOVE_FROM, _PROFILE_FROM = 9.0, 10.0, 4.0
SMALL_GROUPS_EACH = 3


@dataclass(frozen=True)
class Plan:
    """The share of each step; 0 for one that is left out.

    Parameters
    ----------
    level
        2, 1, 0, or "weak": how much is measured on the rows besides the model.
    model
        The tree of tables.
    small_groups
        The histograms of three small groups for each wanted one.
    move
        One step towards measured means and modes.
    profile
        The last release, of the groups as they stay.
    """

    level: int | str
    model: Fraction
    small_groups: Fraction
    move: Fraction
    profile: Fraction

    @property
    def sizes_only(self) -> bool:
        """Whether the profile has the sizes of groups alone."""
        return self.level == "weak"


def make_plan(columns: MixedColumns, n_rows: int, epsilon: float, k: int, spare: Fraction) -> Plan:
    """Return the plan for so many rows.

    Parameters
    ----------
    spare
        The share that counting rows did not cost; it goes to the model.
    """
    noise = float(np.sqrt(np.mean(group_blocks(columns).deviations(1.0) ** 2)))

    def strength(groups: int, share: float) -> float:
        """A mean group over the noise of one count."""
        return n_rows * epsilon * share / (groups * noise)

    if k > 1 and strength(SMALL_GROUPS_EACH * k, 0.20) >= _SMALL_GROUPS_FROM:
        return Plan(2, _percent(30) + spare, _percent(20), _percent(23), _percent(25))
    if k > 1 and strength(k, 0.15) >= _MOVE_FROM:
        return Plan(1, _percent(58) + spare, _percent(0), _percent(15), _percent(25))
    if strength(k, 0.25) >= _PROFILE_FROM:
        return Plan(0, _percent(73) + spare, _percent(0), _percent(0), _percent(25))
    return Plan("weak", _percent(88) + spare, _percent(0), _percent(0), _percent(10))


def _percent(number: int) -> Fraction:
    return Fraction(number, 100)
