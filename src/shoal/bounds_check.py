"""Check public bounds against the rows, with noise, before anything is made of the rows.

Rows outside the bounds are moved to their edge. Where many are, what is found afterwards would be
the bounds. So the count of rows, which every method needs, is released as two: rows inside all
bounds, and rows that were moved. See ``bounds_check.proof.md`` and docs/decisions/bounds.md.
"""

import math
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, Literal, NamedTuple, Protocol, Self

import numpy as np

from shoal.arrays import Integers
from shoal.domain import Box
from shoal.engine import Block, Kernel, Rows
from shoal.errors import BoundsMissTheRows, quantity, setting
from shoal.mechanisms import Geometric, NoisyBest
from shoal.privacy import exact_text
from shoal.privacy.ledger_page import Mechanism, Page

__all__ = ["BoundsCheck", "Clipping", "MovedSide", "check_bounds", "missed_bounds_error"]

Clipping = Literal["stop", "accept"]
"""What becomes of a fit whose bounds many rows lie outside of: it stops, or goes on and says so."""

# Which shares, limits and numbers of names: docs/decisions/bounds.md.
MOVED_SHARE = Fraction(1, 100)
"""The share of the budget for the moved rows alone, where the number of rows is known."""
NAME_SHARE = Fraction(2, 100)
"""The share for the choice of one side of one column."""
SIDE_SHARE = Fraction(1, 100)
"""The share for the count of the rows beyond that side."""
_MOST_NAMES = 3
CHECK_ENTRY = "check of bounds"
SIDE_ENTRY = "which bound rows lie beyond"
_UNSAID = 0.05  # the share of the rows that may be moved without a word
_FALSE_ALARM = 1 / 1000
_WRONG_NAME = 0.05


class MovedSide(NamedTuple):
    """One side of one column beyond which rows lie.

    Parameters
    ----------
    column
        The column.
    end
        Which of its bounds.
    bound
        That bound.
    n_rows
        About how many rows lie beyond it; None where no count could be bought.
    """

    column: str
    end: Literal["low", "high"]
    bound: float
    n_rows: int | None

    def __str__(self) -> str:
        beyond = f"{'below' if self.end == 'low' else 'above'} {self.bound:,.12g}"
        if self.n_rows is None:
            return f"{self.column}: most likely, rows are {beyond}."
        return f"{self.column}: about {quantity(self.n_rows, 'row is', 'rows are')} {beyond}."


@dataclass(frozen=True)
class BoundsCheck:
    """What was released about the rows and their bounds.

    Parameters
    ----------
    n_rows
        About how many rows there are, or the public number.
    n_moved
        About how many of them lay outside the bounds of some column and were moved to the edge.
    is_alarm
        Whether they are clearly more than 5 in 100: so in at most 1 of 1,000 tables with fewer.
    sides
        Where they lie, those of the first name first; empty where that could not be told.

    Examples
    --------
    >>> print(BoundsCheck(1_000, 980, True, (MovedSide("grade", "high", 100.0, 970),)))
    About 98 in 100 rows lie outside the bounds and were moved to the edge.
    grade: about 970 rows are above 100.
    """

    n_rows: int
    n_moved: int
    is_alarm: bool
    sides: tuple[MovedSide, ...] = ()

    @property
    def share_text(self) -> str:
        """The share of moved rows in words."""
        in_hundred = round(100 * self.n_moved / self.n_rows)
        return "Nearly all rows" if in_hundred >= 100 else f"About {in_hundred} in 100 rows"

    @property
    def side_texts(self) -> list[str]:
        """Where the moved rows lie, a sentence for each side; or that it cannot be told."""
        unknown = "Which column it is cannot be told with this budget."
        return [str(side) for side in self.sides] or [unknown]

    def __str__(self) -> str:
        if not self.is_alarm:
            return "Noisy counts do not show that many rows lie outside the bounds."
        first = f"{self.share_text} lie outside the bounds and were moved to the edge."
        return "\n".join([first, *self.side_texts])

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return asdict(self) | {"sides": [side._asdict() for side in self.sides]}

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> Self:
        """Return it from what ``to_dict`` returned.

        Parameters
        ----------
        content
            The values by name.
        """
        sides = tuple(MovedSide(**side) for side in content["sides"])
        return cls(**{**content, "sides": sides})


class Paying(Protocol):
    """What pays for the check and reads the rows: ``shoal.estimator.Spending``."""

    @property
    def rows(self) -> Rows:
        """The rows."""

    @property
    def page(self) -> Page:
        """The page that pays."""

    @property
    def budget(self) -> Any:
        """What may be spent."""

    @property
    def epsilon(self) -> float:
        """Its epsilon."""

    def share(self, fraction: Fraction) -> "Paying":
        """Return the same with a part of the budget."""

    def entry(self, fraction: Fraction, *, of: str) -> AbstractContextManager[None]:
        """Charge what is released within to an entry of its own."""

    def release(self, mechanism: Mechanism[Any, Any], value: Any, *, of: str) -> Any:
        """Release a value."""

    def sum(self, kernel: Kernel) -> tuple[Integers, ...]:
        """Add up a kernel's arrays."""


def check_bounds(
    spending: Paying, box: Box, share: Fraction, n_public: int | None = None
) -> tuple[BoundsCheck, Fraction]:
    """Release how many rows lie outside the bounds; if many do, on which sides.

    Parameters
    ----------
    spending
        The rows and the whole budget.
    box
        The bounds.
    share
        The share of the budget for the two counts.
    n_public
        The number of rows if it is known: then the moved rows alone are counted, for 1 %.

    Returns
    -------
        The check, and the fraction of the budget that it cost.
    """
    # 1. Two counts, of disjoint rows; or one, where the number of rows is known.
    cost = share if n_public is None else MOVED_SHARE
    part, moved = spending.share(cost), spending.rows.moved()
    noise, rate = Geometric(part.budget), part.epsilon  # [P1]
    with spending.entry(cost, of=CHECK_ENTRY):
        if n_public is None:
            exact = np.array([spending.rows.size() - moved, moved])
            inside, outside = part.release(noise, exact, of="rows inside and outside the bounds")
            n_rows = max(1, int(inside + outside))
            excess = (1 - _UNSAID) * outside - _UNSAID * inside
            limit = _two_count_limit(rate)
        else:
            (outside,) = part.release(noise, np.array([moved]), of="rows outside the bounds")
            n_rows, excess = n_public, outside - _UNSAID * n_public
            limit = _count_limit(rate)
    # 2. Released numbers alone decide. Made-up rows lie inside: a fit of them never stops.
    is_alarm = bool(excess > limit) and not spending.page.is_simulated  # [P2]
    check = BoundsCheck(n_rows, int(np.clip(outside, 0, n_rows)), is_alarm)
    if not is_alarm:
        return check, cost
    # 3. Which sides they lie beyond, one after the other.
    sides, paid = _name_sides(spending, box, check)
    return BoundsCheck(check.n_rows, check.n_moved, True, tuple(sides)), cost + paid


def missed_bounds_error(check: BoundsCheck, page: Page) -> BoundsMissTheRows:
    """Return the error that stops a fit whose bounds miss the rows.

    Parameters
    ----------
    check
        What was released.
    page
        The page that paid for it.
    """
    spent, whole = page.total(), page.promise
    epsilon, left = (exact_text(each) for each in (spent.epsilon, whole.epsilon - spent.epsilon))  # type: ignore[attr-defined]
    which = " ".join(check.side_texts)
    return BoundsMissTheRows(
        f"{check.share_text} lie outside the bounds: what is found would be the bounds. {which}",
        f"Spent: epsilon {epsilon} of {exact_text(whole.epsilon)}. Correct the bounds and fit "  # type: ignore[attr-defined]
        f"again, at epsilon {left} to stay within the same total; or go on with "
        + setting("clipping", "accept")
        + ": the result then says how many rows were moved.",
        n_rows=check.n_rows,
        n_moved=check.n_moved,
        sides=tuple(side._asdict() for side in check.sides),
        spent=epsilon,
        left=left,
    )


def _name_sides(spending: Paying, box: Box, check: BoundsCheck) -> tuple[list[MovedSide], Fraction]:
    """Choose the sides with the most rows beyond them, up to three; return what that cost."""
    name, count = spending.share(NAME_SHARE), spending.share(SIDE_SHARE)
    best, noise = NoisyBest(name.budget, 1, one_way=True), Geometric(count.budget)  # [P3]
    if check.n_moved * name.epsilon < math.log(2 * box.d / _WRONG_NAME):
        return [], Fraction(0)
    limit = _count_limit(count.epsilon)
    is_counted = check.n_moved > limit  # else no side's count could pass
    cost = NAME_SHARE + (SIDE_SHARE if is_counted else 0)
    (exact,) = spending.sum(MovedSides(box.d))
    left, sides, paid = list(range(2 * box.d)), list[MovedSide](), Fraction(0)
    while left and len(sides) < _MOST_NAMES:
        with spending.entry(cost, of=SIDE_ENTRY):
            (place,) = name.release(best, exact[None, left], of="side with the most moved rows")
            side, paid = left.pop(int(place)), paid + cost  # [P4]
            if is_counted:
                (n_rows,) = count.release(noise, exact[[side]], of="rows beyond this side")
        if not is_counted:
            return [_side(box, side, None)], paid
        if n_rows <= limit:
            break
        sides.append(_side(box, side, min(int(n_rows), check.n_rows)))
    return sides, paid


def _side(box: Box, side: int, n_rows: int | None) -> MovedSide:
    """Return a side by its number: the low bounds of all columns come first."""
    column, is_high = side % box.d, side >= box.d
    bounds = box.high if is_high else box.low
    end: Literal["low", "high"] = "high" if is_high else "low"
    return MovedSide(box.names[column], end, float(bounds[column]), n_rows)


@dataclass(frozen=True)
class MovedSides:
    """A kernel that counts the rows moved up in each column, then those moved down.

    Parameters
    ----------
    d
        The number of columns.
    """

    d: int

    def __call__(self, block: Block) -> tuple[Integers, ...]:
        """Return the counts of a block of rows."""
        if block.sides is None:
            return (np.zeros(2 * self.d, dtype=np.int64),)
        ends = [(block.sides == end).sum(axis=0, dtype=np.int64) for end in (-1, 1)]
        return (np.concatenate(ends),)


def _two_count_limit(rate: float) -> float:
    r"""Return what :math:`(1 - q) out - q in` exceeds by noise in one of 1,000 tables.

    Of two Laplace noises of scales a = (1 - q) / rate and b = q / rate the tail is
    :math:`(a^2 e^{-t/a} - b^2 e^{-t/b}) / (2 (a^2 - b^2))`, whose second part is far below any
    float's last digit here. One more row covers that counts are whole.
    """
    a, b = (1 - _UNSAID) / rate, _UNSAID / rate
    return a * math.log(a**2 / (2 * (a**2 - b**2) * _FALSE_ALARM)) + 1


def _count_limit(rate: float) -> float:
    r"""Return what two-sided geometric noise exceeds in at most one of 1,000 draws."""
    return -math.log(_FALSE_ALARM * (1 + math.exp(-rate))) / rate + 1
