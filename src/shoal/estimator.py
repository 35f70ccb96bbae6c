"""What every private estimator shares: rows in, one page, one guarantee out.

Where rows and noise meet: the noisy number of rows, and noisy counts of cells.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from shoal.domain import Box, Partition, SparseCounts, View, ViewedCells
from shoal.engine import Rows, rows_of
from shoal.engine.rows import Terms
from shoal.errors import InvalidSetting, UnknownBounds, UnreadableTable, setting
from shoal.mechanisms import Geometric
from shoal.privacy import Ledger, PureDP
from shoal.privacy.exact import whole_number
from shoal.privacy.page import Mechanism, Page
from shoal.randomness import Randomness, Seed

__all__ = [
    "ROWS_SHARE",
    "Counter",
    "Neighbours",
    "PrivateEstimator",
    "box_of",
    "false_cell_level",
    "noisy_size",
]

Neighbours = Literal["add-remove", "replace-one"]
ROWS_SHARE = Fraction(3, 100)  # what the number of rows costs, unless it is public

Integers = NDArray[np.int64]


class PrivateEstimator(BaseEstimator, ABC):  # type: ignore[misc]
    """``fit`` opens a page of the ledger; ``spend`` does the work, also inside another method.

    A subclass names these parameters in its own ``__init__`` and writes ``spend``.

    Parameters
    ----------
    epsilon, domain
        The budget of one ``fit``; public bounds, to which rows are moved.
    neighbours
        Whose presence is hidden: a row "add-remove"d, or its content, "replace-one".
    entity, max_rows_per_person
        The column that tells people apart, and how many rows of each are kept.
    n_public
        The number of rows, if it is known without them; never read it off the rows.
    nonfinite
        What NaN does: "refuse" the table, or "drop" the row.
    ledger, random_state
        Where the promise is written; a seed makes the fit a simulation.
    """

    epsilon: Any
    domain: Box | None
    neighbours: Neighbours = "add-remove"
    entity: str | None = None
    max_rows_per_person: int | None = None
    n_public: int | None = None
    nonfinite: Literal["refuse", "drop"] = "refuse"
    ledger: Ledger | None = None
    random_state: Seed = None

    def fit(self, X: Any, y: None = None) -> Self:
        """Read the rows, once paid for."""
        promise = self._promise()
        rows = self._rows(X)
        page = Ledger.of(self.ledger).open(
            promise, by=type(self).__name__, of=self._release_name(rows)
        )
        seed = page.compute_seed if self.random_state is None else None
        rng = Randomness(self.random_state, compute_seed=seed)
        self.spend(rows, page, page.budget, rng)
        self.guarantee_ = page.total()
        return self

    @abstractmethod
    def spend(self, rows: Rows, page: Page, budget: Any, rng: Randomness) -> Self:
        """Do the work of ``fit`` on somebody's page, for this share of its budget."""

    def _promise(self) -> Any:
        return PureDP(self.epsilon, neighbours=self.neighbours, rows=self.max_rows_per_person or 1)

    def _release_name(self, rows: Rows) -> str | None:
        """What the ledger's entry says is released: settings and bounds only, no row is read.

        None leaves it to the first release.
        """
        return None

    def _rows(self, X: Any) -> Rows:
        if self.domain is None:
            raise UnknownBounds(
                "No public bounds came with the rows.",
                "Give e.g. domain=Box(age=(0, 110)). Bounds read from the rows would not be "
                "private.",
            )
        rows = rows_of(
            X,
            self.domain,
            nonfinite=self.nonfinite,
            entity=self.entity,
            max_rows_per_person=self.max_rows_per_person,
        )
        if rows.terms.max_rows_per_person != self.max_rows_per_person:
            # Rows made elsewhere. With a limit, one row of a person may make room for another.
            raise InvalidSetting(
                "Rows came that keep another number of rows a person than this promise covers.",
                "Give the same "
                + setting("max_rows_per_person")
                + ", and "
                + setting("entity")
                + ", here.",
            )
        if not rows.rereadable:
            raise UnreadableTable(
                "A record batch reader flows past once, and a private fit reads its rows several "
                "times.",
                "Pass reader.read_all(), or the file it reads.",
            )
        return rows

    def _known_size(self, rows: Rows) -> int | None:
        """The number of rows, where it is public: told from outside, or equal on both sides."""
        if self.n_public is not None:
            told = whole_number(self.n_public)
            if told is None or told < 1:
                raise InvalidSetting.of("n_public", "is no whole number from 1 up", 500)
            return told
        if self.neighbours == "replace-one" and _keeps_every_row(rows.terms):
            return max(1, rows.size())  # a constant of the mechanism: neighbours have as many rows
        return None


def _keeps_every_row(terms: Terms) -> bool:
    """Whether neighbours have as many rows kept: none is left out for its values."""
    return terms.entity is None and terms.nonfinite == "refuse" and terms.outside != "drop"


def noisy_size(rows: Rows, page: Page, budget: PureDP, rng: np.random.Generator) -> int:
    """How many rows there are, at this cost; at least 1, so that it can divide."""
    counted = np.array([rows.size()])
    return max(1, int(page.release(Geometric(budget), counted, rng, of="number of rows")[0]))


@dataclass(frozen=True, eq=False)
class Counter:
    """Counts rows by cell on a page of the ledger, one pass and one release at a time.

    Parameters
    ----------
    rows, page, rng
        Whose rows, where they are paid for, with which noise.
    n_rows
        The number of rows, public or released.
    view
        A public or released look at the rows, or None: then cells are cells of their box.
    """

    rows: Rows
    page: Page
    rng: Randomness
    n_rows: int
    view: View | None = None

    @property
    def box(self) -> Box:
        """What the cells are cells of."""
        return box_of(self.rows, self.view)

    def noisy(self, cells: Partition, budget: PureDP, *, of: str) -> Integers:
        """A noisy count of every cell, empty ones too."""
        counts = self.exact(cells)
        return self.page.release(Geometric(budget), counts, self.rng.noise, of=of)  # [P2]

    def exact(self, cells: Partition) -> Integers:
        """Rows in each cell, for a mechanism that is about to noise them: never to be released."""
        return self.rows.count(self._seen(cells))  # [P1]

    def noisy_sparse(
        self, cells: Partition, budget: PureDP, *, of: str, most_false: int
    ) -> SparseCounts:
        """The same, keeping noisy counts from a level up that few empty cells reach.

        Parameters
        ----------
        cells, budget, of
            As in ``noisy``; there may be up to 2**62 cells.
        most_false
            About how many empty cells may come through, at most; never over four a row.
        """
        level = false_cell_level(cells.size, budget, min(most_false, 4 * self.n_rows))  # [P3]
        counts = self.rows.count(self._seen(cells), sparse=True)
        noise: Mechanism[SparseCounts, SparseCounts] = Geometric(budget, at_least=level)
        return self.page.release(noise, counts, self.rng.noise, of=of)  # [P4]

    def _seen(self, cells: Partition) -> Partition:
        return cells if self.view is None else ViewedCells(self.view, cells)


def box_of(rows: Rows, view: View | None) -> Box:
    """The box whose cells are counted: the view's, or that of the rows' numbers."""
    if view is not None:
        return view.box
    return rows.domain if isinstance(rows.domain, Box) else rows.domain.box


def false_cell_level(cells: int, budget: PureDP, most_false: int) -> int:
    r"""The least noisy count kept, so that about ``most_false`` empty cells reach it at most.

    An empty cell reaches t with probability :math:`a^t / (1 + a)`, :math:`a = e^{-\varepsilon}`.

    Examples
    --------
    >>> false_cell_level(10**12, PureDP(1), most_false=4000)
    20
    """
    step = float(budget.epsilon)
    scales = math.log(cells) - math.log1p(math.exp(-step)) - math.log(most_false)
    return max(1, math.ceil(scales / step))
