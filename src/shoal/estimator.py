"""The base of every private estimator, and ``Spending``: rows, page, budget and noise as one thing.

``fit`` opens a page of the ledger and hands a ``Spending`` to ``spend``, where the method is.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from shoal.domain import Box, Partition, Schema, SparseCounts, View, ViewedCells
from shoal.engine import Rows, rows_of
from shoal.engine.rows import Kernel, Terms
from shoal.errors import (
    ConflictingSettings,
    InvalidBudget,
    InvalidDomain,
    InvalidSetting,
    UnknownBounds,
    UnreadableTable,
    quantity,
    setting,
    value_text,
)
from shoal.mechanisms import Geometric
from shoal.privacy import ApproxDP, Guarantee, Ledger, PureDP
from shoal.privacy.exact import exact_text, whole_number
from shoal.privacy.page import Mechanism, Page
from shoal.randomness import Randomness, Seed

__all__ = [
    "ROW_COUNT_SHARE",
    "WAVE_ROW_COUNT_SHARE",
    "PrivateEstimator",
    "Spending",
    "box_of",
    "entity_and_limit",
    "false_cell_level",
    "numeric_box",
    "promise_from_settings",
    "promise_of",
    "promise_to_settings",
]

# What the number of rows costs, unless it is public. WaveCluster only sizes its grid by it, and
# needs it less exactly than k-means, whose plan and sizes rest on it.
ROW_COUNT_SHARE = Fraction(3, 100)
WAVE_ROW_COUNT_SHARE = Fraction(1, 100)

Integers = NDArray[np.int64]


class PrivateEstimator(BaseEstimator, ABC):  # type: ignore[misc]
    """``fit`` opens a page of the ledger; ``spend`` does the work, also inside another method.

    A subclass names these parameters in its own ``__init__`` and writes ``spend``.

    Parameters
    ----------
    epsilon
        The budget of one ``fit``, short for ``privacy=PureDP(epsilon)``; the publisher's to defend.
    privacy
        The whole promise, where more than epsilon is to be said: ``PureDP(1,
        neighbours="replace-one")`` hides what a row says instead of whether it is there. Give one
        of the two.
    domain
        Public bounds, to which rows are moved: a box; or a schema of numbers, which may also say
        whose each row is and how many rows of a person are kept, which the promise then covers.
    n_public
        The number of rows, if it is known without them; never read it off the rows.
    nonfinite
        What NaN does: "refuse" the table, or "drop" the row.
    ledger
        Where the promise is written and added up; None keeps no record.
    random_state
        A seed makes the fit a simulation, marked as such; None draws real noise.
    """

    epsilon: Any = None
    privacy: Any = None
    domain: Box | Schema | None = None
    n_public: int | None = None
    nonfinite: Literal["refuse", "drop"] = "refuse"
    ledger: Ledger | None = None
    random_state: Seed = None
    _promises: ClassVar[tuple[type[Guarantee], ...]] = (PureDP,)

    @property
    def box(self) -> Box:
        """The public bounds of the columns."""
        return numeric_box(self.domain)

    def fit(self, X: Any, y: None = None) -> Self:
        """Read the rows, once paid for."""
        promise = self._promise()
        rows = self._rows(X)
        page = Ledger.of(self.ledger).open(
            promise, by=type(self).__name__, of=self._release_name(rows)
        )
        seed = page.compute_seed if self.random_state is None else None
        rng = Randomness(self.random_state, compute_seed=seed)
        self.spend(Spending(rows, page, page.budget, rng))
        self.guarantee_ = page.total()
        return self

    @abstractmethod
    def spend(self, spending: "Spending") -> Self:
        """Do the work of ``fit`` with what somebody else opened: his rows, page and budget."""

    def _promise(self) -> Any:
        """What one ``fit`` promises each person, with all the rows they may have."""
        promise = promise_of(self.epsilon, self.privacy)
        if not isinstance(promise, self._promises):
            kinds = " or ".join(kind.__name__ for kind in self._promises)
            raise InvalidSetting(
                setting("privacy")
                + f" must be {kinds} for {type(self).__name__}; got {value_text(promise)}.",
                f"E.g. privacy={self._promises[0].__name__}(1), or epsilon=1.0.",
            )
        return promise_for_people(promise, self.domain)

    def _release_name(self, rows: Rows) -> str | None:
        """What the ledger's entry says is released: settings and bounds only, no row is read.

        None leaves it to the first release.
        """
        return None

    def _rows(self, X: Any) -> Rows:
        entity, limit = entity_and_limit(self.domain)
        box = self.box  # refuses categories, whatever came
        domain = self.domain if isinstance(X, Rows) and X.domain == self.domain else box
        rows = rows_of(
            X,
            domain,
            nonfinite=self.nonfinite,
            entity=entity,
            max_rows_per_person=limit,
        )
        if (rows.terms.entity, rows.terms.max_rows_per_person) != (entity, limit):
            # Rows made elsewhere. With a limit, one row of a person may make room for another.
            raise InvalidSetting(
                "The rows are limited by another entity, or to another number of rows per "
                "person, than this promise covers.",
                "Give the same entity and max_rows_per_person in the schema that is the domain.",
            )
        if not rows.rereadable:
            raise UnreadableTable(
                "A record batch reader can be read only once, and a private fit reads the rows "
                "several times.",
                "Pass reader.read_all(), or the file it reads.",
            )
        return rows

    def _with_row_count(
        self, spending: "Spending", share: Fraction = ROW_COUNT_SHARE
    ) -> "Spending":
        """The same once the number of rows is known, less what that costs if it is not public.

        Parameters
        ----------
        spending
            Where the number may stand already.
        share
            Of its budget, where the number has to be released.
        """
        n_rows = spending.n_rows or self._known_size(spending)
        if n_rows is not None:
            return replace(spending, n_rows=n_rows)
        n_rows = spending.share(share).count_rows()
        return replace(spending.share(1 - share), n_rows=n_rows)

    def _known_size(self, spending: "Spending") -> int | None:
        """The number of rows, where it is public: told from outside, or equal on both sides."""
        if self.n_public is not None:
            n_rows = whole_number(self.n_public)
            if n_rows is None or n_rows < 1:
                raise InvalidSetting.of(
                    "n_public", "must be a whole number of 1 or more", 500, self.n_public
                )
            return n_rows
        promise, rows = spending.page.promise, spending.rows
        replaced = getattr(promise, "neighbours", None) == "replace-one"
        if replaced and _keeps_every_row(rows.terms):
            return max(1, rows.size())  # a constant of the mechanism: neighbours have as many rows
        return None


def promise_of(epsilon: Any, privacy: Any) -> Any:
    """The promise, where ``epsilon`` is short for ``PureDP(epsilon)``; one of the two is given.

    Examples
    --------
    >>> promise_of(1, None), promise_of(None, PureDP(2, neighbours="replace-one")).epsilon
    (PureDP(epsilon=1), Fraction(2, 1))
    """
    if privacy is None:
        if epsilon is None:
            raise InvalidBudget(
                "Neither "
                + setting("epsilon")
                + " nor privacy is given, so nothing would be promised.",
                "Give one of them, e.g. " + setting("epsilon", 1.0) + ", or privacy=PureDP(1).",
            )
        return PureDP(epsilon)
    if epsilon is not None:
        raise ConflictingSettings(
            "Both epsilon and privacy are given, and each is the whole promise.",
            "Leave epsilon out, e.g. privacy=PureDP(1).",
        )
    return privacy


def entity_and_limit(domain: Box | Schema | None) -> tuple[str | None, int | None]:
    """The column that tells people apart, and how many rows of each are kept; None without."""
    if not isinstance(domain, Schema):
        return None, None
    return domain.entity, domain.max_rows_per_person


def promise_for_people(promise: Any, domain: Box | Schema | None) -> Any:
    """A promise for all rows that the domain lets a person have."""
    limit = entity_and_limit(domain)[1] or 1
    rows = getattr(promise, "rows", limit)
    if rows not in (1, limit):
        raise ConflictingSettings(
            f"privacy covers {quantity(rows, 'row')} per person, but the domain keeps {limit}.",
            "Set it in one place: "
            + setting("max_rows_per_person")
            + " in the schema that is the domain.",
        )
    return replace(promise, rows=limit) if hasattr(promise, "rows") else promise


def numeric_box(domain: Box | Schema | None) -> Box:
    """The bounds of a domain of numbers alone."""
    if domain is None:
        raise UnknownBounds(
            "No public bounds are given.",
            "Give e.g. domain=Box(age=(0, 110)). Bounds read from the rows would not be private.",
        )
    if isinstance(domain, Box):
        return domain
    if not isinstance(domain, Schema):
        raise InvalidDomain(
            setting("domain") + f" must be a Box or a Schema; got {value_text(domain)}.",
            "Give the box of the numeric columns, e.g. Box(age=(0, 110)).",
        )
    if domain.categories or any(weight != 1 for weight in domain.weights.values()):
        raise InvalidDomain(
            "The domain is a schema with categories or weights; this method is for numbers that "
            "count by the width of their bounds.",
            "Give the box of the numeric columns, e.g. schema.box.",
        )
    return domain.box


def promise_to_settings(model: "PrivateEstimator") -> dict[str, Any]:
    """Who is protected, as saved models have it: flat, so that older folders still load."""
    promise, (entity, limit) = model._promise(), entity_and_limit(model.domain)
    return {
        "epsilon": exact_text(promise.epsilon) if hasattr(promise, "epsilon") else None,
        "delta": exact_text(promise.delta) if isinstance(promise, ApproxDP) else None,
        "neighbours": getattr(promise, "neighbours", "add-remove"),
        "entity": entity,
        "max_rows_per_person": limit,
    }


def promise_from_settings(
    settings: Mapping[str, Any], box: Box, guarantee: Guarantee | None = None
) -> dict[str, Any]:
    """Parameters from settings that hold a ``promise_to_settings``: the same, without its keys.

    Parameters
    ----------
    settings
        As they were written.
    box
        The bounds that were written beside them.
    guarantee
        What was promised, for a model that may have promised nothing.
    """
    rest = dict(settings)
    epsilon, delta = rest.pop("epsilon"), rest.pop("delta", None)
    neighbours = rest.pop("neighbours", "add-remove")
    entity, limit = rest.pop("entity", None), rest.pop("max_rows_per_person", None)
    if delta is not None:
        rest["privacy"] = ApproxDP(epsilon, delta, neighbours=neighbours)
    elif epsilon is None and guarantee is not None:
        rest["privacy"] = guarantee
    elif neighbours != "add-remove":
        rest["privacy"] = PureDP(epsilon, neighbours=neighbours)
    else:
        rest["epsilon"] = epsilon
    people = {"entity": entity, "max_rows_per_person": limit}
    return rest | {"domain": box if entity is None else Schema.of_box(box, **people)}


def _keeps_every_row(terms: Terms) -> bool:
    """Whether neighbours have as many rows kept: none is left out for its values."""
    return terms.entity is None and terms.nonfinite == "refuse" and terms.outside != "drop"


@dataclass(frozen=True, eq=False)
class Spending:
    """Rows, the page that pays for reading them, the budget that is left to pay, and the noise.

    Every method is handed one and releases through it; a part of a method gets a ``share``.

    Parameters
    ----------
    rows
        Whose rows.
    page
        The page of the ledger that pays.
    budget
        How much may be paid, for one row added or removed; ``Unprotected`` where nothing is.
    rng
        Noise, and draws that protect nothing.
    n_rows
        The number of rows, once it is public or released.
    view
        A public or released look at the rows, or None: then cells are cells of their box.
    """

    rows: Rows
    page: Page
    budget: Any
    rng: Randomness
    n_rows: int | None = None
    view: View | None = None

    @property
    def box(self) -> Box:
        """What cells are cells of: the box of the rows, or of the view."""
        return box_of(self.rows, self.view)

    @property
    def epsilon(self) -> float:
        """Of the budget."""
        return float(self.budget.epsilon)

    def share(self, fraction: Fraction, delta: Fraction | int = 0) -> "Spending":
        """The same for a part of the budget.

        Parameters
        ----------
        fraction
            Of the budget's epsilon.
        delta
            The fraction of its delta, where it has one.
        """
        epsilon = self.budget.epsilon * fraction
        if delta and isinstance(self.budget, ApproxDP):
            return replace(self, budget=ApproxDP(epsilon, self.budget.delta * delta))
        return replace(self, budget=PureDP(epsilon))

    def release(self, mechanism: Mechanism[Any, Any], value: Any, *, of: str) -> Any:
        """Add a mechanism's noise to a value, once the page has paid: see ``Page.release``."""
        return self.page.release(mechanism, value, self.rng.noise, of=of)

    def count_rows(self) -> int:
        """The noisy number of rows, for all of the budget; at least 1, so that it can divide."""
        counted, noise = np.array([self.rows.size()]), Geometric(self.budget)
        noisy = self.page.release(noise, counted, self.rng.noise, of="number of rows")
        return max(1, int(noisy[0]))

    def count(self, cells: Partition, *, of: str) -> Integers:
        """A noisy count of every cell, empty ones too, for all of the budget.

        Parameters
        ----------
        cells
            Of the ``box``; public, or made from what was released.
        of
            What this is, for the ledger.
        """
        counts, noise = self.exact_counts(cells), Geometric(self.budget)
        return self.page.release(noise, counts, self.rng.noise, of=of)  # [P2]

    def count_sparse(self, cells: Partition, *, of: str, most_false: int) -> SparseCounts:
        """The same for up to 2**62 cells: noisy counts from a level up that few empty cells reach.

        Parameters
        ----------
        cells
            Of the ``box``; public, or made from what was released.
        of
            What this is, for the ledger.
        most_false
            About how many empty cells may come through, at most; never over four a row.
        """
        assert self.n_rows is not None  # counted before the cells are
        level = false_cell_level(cells.size, self.budget, min(most_false, 4 * self.n_rows))  # [P3]
        counts = self.rows.count(self._in_view(cells), sparse=True)
        noise: Mechanism[SparseCounts, SparseCounts] = Geometric(self.budget, at_least=level)
        return self.page.release(noise, counts, self.rng.noise, of=of)  # [P4]

    def exact_counts(self, cells: Partition) -> Integers:
        """Rows in each cell, for a mechanism that is about to noise them: never to be released."""
        return self.rows.count(self._in_view(cells))  # [P1]

    def sum(self, kernel: Kernel) -> tuple[Integers, ...]:
        """A kernel's exact sums over all rows, for a mechanism that is about to noise them."""
        return self.rows.sum(kernel)

    def _in_view(self, cells: Partition) -> Partition:
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
