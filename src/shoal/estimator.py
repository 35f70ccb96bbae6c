"""The base class of every private estimator, and ``Spending``, the budget handed to its method.

``fit`` opens a page of the ledger and hands a ``Spending`` to ``spend``, where the method is.
"""

import html
import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import estimator_html_repr

from shoal.arrays import Integers
from shoal.bounds_check import BoundsCheck, Clipping, check_bounds, missed_bounds_error
from shoal.documents import rename_old_keys
from shoal.domain import Box, Partition, Schema, SparseCounts, View, ViewedCells
from shoal.engine import Kernel, Rows, Terms, is_rows, rows_of
from shoal.errors import (
    BoundsMissTheRows,
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
from shoal.privacy import (
    ApproxDP,
    GaussianShare,
    Guarantee,
    Ledger,
    LedgerOrPath,
    PureDP,
    account_of,
    exact_text,
    whole_number,
)
from shoal.privacy.default_ledger import ProcessSumLink, note_clone, unnoted_clones
from shoal.privacy.ledger_page import Mechanism, Page
from shoal.randomness import Randomness, Seed

__all__ = [
    "MIXED_ROW_COUNT_SHARE",
    "ROW_COUNT_SHARE",
    "WAVE_ROW_COUNT_SHARE",
    "NotebookDisplay",
    "PrivateEstimator",
    "RowCount",
    "Spending",
    "box_of",
    "false_cell_level",
    "numeric_box",
    "person_and_limit",
    "promise_from_settings",
    "promise_of",
    "promise_to_settings",
]

# The share of the budget that the row count costs, unless it is public. WaveCluster only sizes its
# grid by it and needs it less exactly than k-means, whose plan and sizes rest on it. See
# docs/decisions/synopses.md, and docs/decisions/mixed-tables.md for numbers with categories.
ROW_COUNT_SHARE = Fraction(3, 100)
"""The share of the budget that counting the rows costs."""
WAVE_ROW_COUNT_SHARE = Fraction(1, 100)
"""The same of ``WaveCluster``."""
MIXED_ROW_COUNT_SHARE = Fraction(2, 100)
"""The same of tables with categories."""

_FOR_THE_HOLDER = {
    "labels_": "Call predict(X) for the labels of rows that you hold.",
    "inertia_": "Call -score(X) for the inertia on rows that you hold.",
}


class NotebookDisplay:
    """Mixin that shows an estimator in a notebook with its promise, and without a warning."""

    def __dir__(self) -> list[str]:
        # scikit-learn asks hasattr of every name, which computes intervals, at the cost of fits.
        return list(object.__dir__(self))

    def _get_fitted_attr_html(self, doc_link: str = "") -> str:
        """Return nothing: scikit-learn would read every attribute, and compute those not read."""
        return ""

    def _html_repr(self) -> str:
        with warnings.catch_warnings():
            # Our docstrings have a section on the guarantee, which scikit-learn does not know.
            warnings.filterwarnings("ignore", "Unknown section")
            shown = str(estimator_html_repr(self))
        promise = getattr(self, "guarantee_", None)
        return shown if promise is None else f"{shown}<p>{html.escape(str(promise))}</p>"


class ReleasesWithLedger(NotebookDisplay):
    """Mixin of estimators whose releases a ledger pays; without one, the process adds them up."""

    ledger: LedgerOrPath | None
    random_state: Seed

    def __sklearn_clone__(self) -> Any:
        """Clone the estimator; a second clone may be one of a search, which warns."""
        if self.random_state is None:
            note_clone(self, self.ledger)
        # A synopsis that is one of its settings is cloned along and releases nothing by itself.
        with unnoted_clones():
            return super().__sklearn_clone__()  # type: ignore[misc]

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()  # type: ignore[assignment]
        is_to_fit = self.ledger is None and not hasattr(self, "guarantee_")
        return {**state, "_sum_link": ProcessSumLink()} if is_to_fit else state

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Unpickling the link was all it is for.
        own = {name: value for name, value in state.items() if name != "_sum_link"}
        super().__setstate__(own)  # type: ignore[misc]


class PrivateEstimator(ReleasesWithLedger, BaseEstimator, ABC):  # type: ignore[misc]
    """Base class of private estimators: ``fit`` opens a ledger page, ``spend`` runs the method.

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
    clipping
        What becomes of a fit whose bounds many rows lie outside of: "stop", with an error, once
        that is paid for; or "accept", and ``bounds_check_`` says so.
    n_public
        The number of rows, if it is known without them; never read it off the rows.
    nonfinite
        What NaN does: "refuse" the table, or "drop" the row.
    ledger
        Where the promise is written and added up: a ``Ledger`` or the path of its file; None keeps
        no record.
    random_state
        A seed makes the fit a simulation, marked as such; None draws real noise.
    """

    epsilon: Any = None
    privacy: Any = None
    domain: Box | Schema | None = None
    clipping: Clipping = "stop"
    n_public: int | None = None
    nonfinite: Literal["refuse", "drop"] = "refuse"
    ledger: LedgerOrPath | None = None
    random_state: Seed = None
    bounds_check_: BoundsCheck | None = None
    _promises: ClassVar[tuple[type[Guarantee], ...]] = (PureDP,)

    @property
    def box(self) -> Box:
        """The public bounds of the numeric columns."""
        return numeric_box(self.domain)

    def fit(self, X: Any, y: None = None) -> Self:
        """Fit the model on the rows and charge the ledger with the whole promise.

        Parameters
        ----------
        X
            The rows: an array, a data frame, an Arrow table, a file's path, a Spark frame or
            ``Rows``.
        y
            Ignored; scikit-learn's pipelines pass it.

        Returns
        -------
            The estimator itself, with ``guarantee_`` set to what its releases promise together.

        Raises
        ------
        BudgetExceeded
            If the ledger's limit does not allow this promise; no row is read then.
        BoundsMissTheRows
            If many rows lie outside the bounds; a small part of the promise is spent then.
        """
        if self.clipping not in ("stop", "accept"):
            raise InvalidSetting.of("clipping", "must be 'stop' or 'accept'", "stop", self.clipping)
        # Settings are refused before rows are touched: an error must not depend on a row.
        promise = self._promise()
        rows = self._rows(X)
        names = rows.domain.names if isinstance(rows.domain, Box) else rows.domain.columns
        ledger = Ledger.of(self.ledger, columns=names)
        page = ledger.open(promise, by=type(self).__name__, of=self._release_name(rows))
        # A resumed run must compute the same steps between its releases; a simulation has its own
        # seed.
        seed = page.compute_seed if self.random_state is None else None
        rng = Randomness(self.random_state, compute_seed=seed)
        self.__dict__.pop("bounds_check_", None)  # that of an earlier fit: this one may make none
        try:
            self.spend(Spending(rows, page, page.budget, rng))
        except BoundsMissTheRows as error:
            left = _left_text(ledger, promise)
            raise (error.noted(left) if left else error) from None
        self.n_features_in_, self.feature_names_in_ = len(names), np.array(names, dtype=object)
        self.guarantee_ = page.total()
        return self

    if not TYPE_CHECKING:  # type checkers know which attributes there are

        def __getattr__(self, name: str) -> Any:
            """Say why what depends on single rows is not an attribute, and what to call instead."""
            kind = type(self).__name__
            if hasattr(type(self), name):  # a property that raised: in its own words
                return object.__getattribute__(self, name)
            if name in _FOR_THE_HOLDER:
                raise AttributeError(
                    f"{kind} has no {name}: it would tell of single rows, and everything that "
                    f"ends in an underscore may be published. {_FOR_THE_HOLDER[name]}"
                )
            raise AttributeError(f"{kind!r} object has no attribute {name!r}")

    @abstractmethod
    def spend(self, spending: "Spending") -> Self:
        """Run the method on rows, a ledger page and a budget that the caller opened.

        Parameters
        ----------
        spending
            What the method may read and spend. ``fit`` passes the whole budget; another method that
            uses this one passes a share of its own.

        Returns
        -------
            The estimator itself, without ``guarantee_``: the caller knows what was promised.
        """

    def _promise(self) -> Any:
        """Return what one ``fit`` promises each person, for all the rows they may have."""
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
        """Return the ledger's text for this release, from settings and bounds alone.

        None leaves it to the first release.
        """
        return None

    def _rows(self, X: Any) -> Rows:
        person, limit = person_and_limit(self.domain)
        rows = rows_of(
            X,
            self._row_domain(X),
            nonfinite=self.nonfinite,
            person=person,
            max_rows_per_person=limit,
        )
        if (rows.terms.person, rows.terms.max_rows_per_person) != (person, limit):
            # Rows made elsewhere. With a limit, one row of a person may make room for another.
            raise InvalidSetting(
                "The rows are limited by another person column, or to another number of rows per "
                "person, than this promise covers.",
                "Give the same person and max_rows_per_person in the schema that is the domain.",
            )
        if not rows.rereadable:
            raise UnreadableTable(
                "A record batch reader can be read only once, and a private fit reads the rows "
                "several times.",
                "Pass reader.read_all(), or the file it reads.",
            )
        return rows

    def _row_domain(self, X: Any) -> Box | Schema:
        """Return the domain that rows are read for: the box of the numbers."""
        # The domain itself is kept where rows were made for it: they would be refused for another.
        box = self.box  # refuses categories, whatever came
        made_for_domain = is_rows(X) and X.domain == self.domain
        return self.domain if made_for_domain and self.domain is not None else box

    def _count_rows(self, spending: "Spending", share: Fraction = ROW_COUNT_SHARE) -> "RowCount":
        """Count the rows inside and outside the bounds with this share of the budget.

        Stops where too many are outside, unless that is accepted.
        """
        # A method inside another inherits the count: it is paid for once.
        if spending.n_rows:
            return RowCount(spending.n_rows, 0.0)
        known, part, domain = (
            self._known_size(spending),
            spending.share(share),
            spending.rows.domain,
        )
        if isinstance(domain, Schema) and not domain.bounds:  # of categories no row is moved
            if known is not None:
                return RowCount(known, None)
            return RowCount(part.count_rows(), part.epsilon, share)
        check, cost = check_bounds(spending, box_of(spending.rows, None), share, known)
        if check.is_alarm and self.clipping == "stop":
            raise missed_bounds_error(check, spending.page)
        self.bounds_check_ = check
        return RowCount(check.n_rows, part.epsilon if known is None else None, cost, noises=2)

    def _known_size(self, spending: "Spending") -> int | None:
        """Return the number of rows if it is public, else None."""
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


@dataclass(frozen=True)
class RowCount:
    """The number of rows that a method works with, and the noise in it.

    Parameters
    ----------
    value
        The number, 1 or more.
    epsilon
        The step of its two-sided geometric noise. None for a public number, which has no noise; 0
        where a method around this one released it, with noise that is not known here.
    cost
        The fraction of the budget that paid for it.
    noises
        How many such noises are in it: it may be a sum of counts.
    """

    value: int
    epsilon: float | None
    cost: Fraction = Fraction(0)
    noises: int = 1


def unfitted_copy(estimator: Any) -> Any:
    """Clone an estimator for a step inside a method: unlike those of a search, it is not noted."""
    with unnoted_clones():
        return clone(estimator)


def promise_of(epsilon: Any, privacy: Any) -> Any:
    """Return the promise that ``epsilon`` or ``privacy`` states; exactly one must be given.

    Parameters
    ----------
    epsilon
        A budget, short for ``PureDP(epsilon)``, or None.
    privacy
        A whole guarantee, or None.

    Raises
    ------
    InvalidBudget
        If neither is given.
    ConflictingSettings
        If both are given.

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


def person_and_limit(domain: Box | Schema | None) -> tuple[str | None, int | None]:
    """Return a schema's person column and its limit of rows a person; None where not set.

    Parameters
    ----------
    domain
        A schema; a box or None has neither.
    """
    if not isinstance(domain, Schema):
        return None, None
    return domain.person, domain.max_rows_per_person


def promise_for_people(promise: Any, domain: Box | Schema | None) -> Any:
    """Extend a promise about one row to all rows that the domain lets a person have.

    Bounds that were estimated with seeded noise make it a simulation: they are not public.

    Parameters
    ----------
    promise
        What was promised about one row, or already about as many rows as the domain allows.
    domain
        The schema that limits the rows a person may have; a box allows one.

    Raises
    ------
    ConflictingSettings
        If the promise covers another number of rows than the domain allows.
    """
    limit = person_and_limit(domain)[1] or 1
    rows = getattr(promise, "rows", limit)
    if rows not in (1, limit):
        raise ConflictingSettings(
            f"privacy covers {quantity(rows, 'row')} per person, but the domain keeps {limit}.",
            "Set it in one place: "
            + setting("max_rows_per_person")
            + " in the schema that is the domain.",
        )
    promise = replace(promise, rows=limit) if hasattr(promise, "rows") else promise
    return promise.simulated(domain is not None and domain.simulation)


def numeric_box(domain: Box | Schema | None) -> Box:
    """Return the bounds of a domain that has only numeric columns.

    Parameters
    ----------
    domain
        A box, or a schema without categories and weights.

    Raises
    ------
    UnknownBounds
        If there is no domain.
    InvalidDomain
        If it has categories or weights, or is no domain.
    """
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
    """Return a model's promise as flat settings, the form in which saved models keep it.

    Parameters
    ----------
    model
        The estimator whose promise is written down.
    """
    promise, (person, limit) = model._promise(), person_and_limit(model.domain)
    return {
        "epsilon": exact_text(promise.epsilon) if hasattr(promise, "epsilon") else None,
        "delta": exact_text(promise.delta) if isinstance(promise, ApproxDP) else None,
        "neighbours": getattr(promise, "neighbours", "add-remove"),
        "person": person,
        "max_rows_per_person": limit,
    }


def promise_from_settings(
    settings: Mapping[str, Any], box: Box, guarantee: Guarantee | None = None
) -> dict[str, Any]:
    """Turn saved settings back into an estimator's parameters: ``promise_to_settings`` undone.

    Parameters
    ----------
    settings
        The saved settings, with the keys of ``promise_to_settings`` among them.
    box
        The bounds that were saved beside them.
    guarantee
        The saved guarantee, used for a model that promised nothing (no epsilon).
    """
    # A copy: the caller's settings stay as they were read.
    rest = rename_old_keys(settings)
    epsilon, delta = rest.pop("epsilon"), rest.pop("delta", None)
    neighbours = rest.pop("neighbours", "add-remove")
    person, limit = rest.pop("person", None), rest.pop("max_rows_per_person", None)
    if delta is not None:
        rest["privacy"] = ApproxDP(epsilon, delta, neighbours=neighbours)
    elif epsilon is None and guarantee is not None:
        rest["privacy"] = guarantee
    elif neighbours != "add-remove":
        rest["privacy"] = PureDP(epsilon, neighbours=neighbours)
    else:
        rest["epsilon"] = epsilon
    people = {"person": person, "max_rows_per_person": limit}
    return rest | {"domain": box if person is None else Schema.of_box(box, **people)}


def _left_text(ledger: Ledger, promise: Any) -> str:
    """Return what the ledger's limit still allows; empty without a limit."""
    left = [each for each in account_of(ledger).left if each.limit.kind == promise.kind]
    if not left:
        return ""
    return f"The ledger's limit allows epsilon {exact_text(left[0].epsilon)} more."


def _keeps_every_row(terms: Terms) -> bool:
    """Whether these terms admit every row, so that replace-one neighbours have equal sizes."""
    return terms.person is None and terms.nonfinite == "refuse" and terms.outside != "drop"


@dataclass(frozen=True, eq=False)
class Spending:
    """What a private method works with: rows, the ledger page that pays, a budget, and noise.

    Every method is handed one and releases through it; a part of a method gets a ``share``.

    Parameters
    ----------
    rows
        The rows to read.
    page
        The ledger page that pays for each release.
    budget
        The most that may be spent, for one row added or removed; ``Unprotected`` where nothing is
        promised.
    rng
        The noise stream, and the compute stream for draws that protect nothing.
    n_rows
        The number of rows, once it is public or released.
    view
        A public or released projection of the rows; None counts cells of their own box.
    gaussian
        The budget that Gaussian releases of the page share by their variances, once it is fixed.
    """

    rows: Rows
    page: Page
    budget: Any
    rng: Randomness
    n_rows: int | None = None
    view: View | None = None
    gaussian: ApproxDP | None = None

    def __post_init__(self) -> None:
        self.page.check_rows(self.rows)

    @property
    def box(self) -> Box:
        """The box that cells divide: the view's if there is one, else that of the rows."""
        return box_of(self.rows, self.view)

    @property
    def epsilon(self) -> float:
        """The budget's epsilon as a float."""
        return float(self.budget.epsilon)

    def share(self, fraction: Fraction, delta: Fraction | int = 0) -> "Spending":
        """Return the same with a fraction of the budget.

        Parameters
        ----------
        fraction
            The fraction of the budget's epsilon.
        delta
            The fraction of its delta; 0 makes the share a ``PureDP``.
        """
        epsilon = self.budget.epsilon * fraction
        # A share without delta is pure: it can pay for geometric noise.
        if delta and isinstance(self.budget, ApproxDP):
            share: Any = ApproxDP(epsilon, self.budget.delta * delta)
        else:
            share = PureDP(epsilon)
        return replace(self, budget=share.simulated(self.budget.simulation))

    def entry(self, fraction: Fraction, *, of: str) -> AbstractContextManager[None]:
        """Charge what is released within to an entry of the ledger of its own: ``Page.entry``.

        Parameters
        ----------
        fraction
            The fraction of this budget.
        of
            What it is, for the ledger.
        """
        budget = self.page.budget
        whole = getattr(budget, "epsilon", None)
        part = fraction if whole is None else fraction * self.budget.epsilon / whole
        return self.page.entry(part, of=of)

    def with_gaussian(self, fraction: Fraction) -> "Spending":
        """Return the same, with a budget that all Gaussian releases of the page share.

        Parameters
        ----------
        fraction
            What they cost together, of the budget's epsilon; they have all of its delta.
        """
        shared = self.share(fraction, delta=1).budget
        return replace(self, gaussian=shared if isinstance(shared, ApproxDP) else None)

    @property
    def gaussian_share(self) -> GaussianShare:
        """What this budget is of the one that Gaussian releases share, by its epsilon."""
        assert self.gaussian is not None
        return GaussianShare.of(self.gaussian, self.budget.epsilon / self.gaussian.epsilon)

    @property
    def gaussian_left(self) -> Fraction:
        """What Gaussian releases have not taken yet of the budget they share, of this epsilon."""
        assert self.gaussian is not None
        left: Fraction = self.page.gaussian_left * self.gaussian.epsilon / self.budget.epsilon
        return left

    def after(self, count: RowCount) -> "Spending":
        """Return what is left once the rows were counted, with their number set."""
        # A budget that paid nothing keeps its delta.
        rest = self.share(1 - count.cost) if count.cost else self
        return replace(rest, n_rows=count.value)

    def release(self, mechanism: Mechanism[Any, Any], value: Any, *, of: str) -> Any:
        """Release a value with a mechanism's noise, paid by the page: see ``Page.release``.

        Parameters
        ----------
        mechanism
            Adds the noise and says what it promises.
        value
            The exact value, read from the rows.
        of
            What this is, for the ledger.
        """
        return self.page.release(mechanism, value, self.rng.noise, of=of)

    def count_rows(self) -> int:
        """Release the noisy number of rows with the whole budget; at least 1, so it can divide."""
        # The mechanism takes arrays; a count below 1 could not divide.
        counted, noise = np.array([self.rows.size()]), Geometric(self.budget)
        noisy = self.page.release(noise, counted, self.rng.noise, of="number of rows")
        return max(1, int(noisy[0]))

    def count(self, cells: Partition, *, of: str) -> Integers:
        """Release a noisy count of every cell, empty ones too, with the whole budget.

        Parameters
        ----------
        cells
            Cells of ``box``; public, or made from what was released.
        of
            What this is, for the ledger.
        """
        counts, noise = self.exact_counts(cells), Geometric(self.budget)
        return self.page.release(noise, counts, self.rng.noise, of=of)  # [P2]

    def count_sparse(self, cells: Partition, *, of: str, most_false: int) -> SparseCounts:
        """Release the noisy counts that reach a threshold, among up to 2**62 cells.

        Parameters
        ----------
        cells
            Cells of ``box``; public, or made from what was released.
        of
            What this is, for the ledger.
        most_false
            About how many empty cells may reach the threshold, at most; never over four a row.

        Returns
        -------
            Keys and noisy counts of the cells that reached it, empty cells that did so by noise
            included.
        """
        assert self.n_rows is not None  # counted before the cells are
        level = false_cell_level(cells.size, self.budget, min(most_false, 4 * self.n_rows))  # [P3]
        counts = self.rows.count(self._in_view(cells), sparse=True)
        noise: Mechanism[SparseCounts, SparseCounts] = Geometric(self.budget, at_least=level)
        return self.page.release(noise, counts, self.rng.noise, of=of)  # [P4]

    def exact_counts(self, cells: Partition) -> Integers:
        """Count the rows in each cell, for a mechanism to noise; never to be released as it is.

        Parameters
        ----------
        cells
            Cells of ``box``.
        """
        return self.rows.count(self._in_view(cells))  # [P1]

    def sum(self, kernel: Kernel) -> tuple[Integers, ...]:
        """Add up a kernel's arrays over all rows, for a mechanism to noise.

        Parameters
        ----------
        kernel
            Computes a tuple of whole-number arrays from a block of rows.
        """
        return self.rows.sum(kernel)

    def _in_view(self, cells: Partition) -> Partition:
        """Return a partition of the rows themselves: rows are projected before they are counted."""
        return cells if self.view is None else ViewedCells(self.view, cells)


def box_of(rows: Rows, view: View | None) -> Box:
    """Return the box whose cells are counted: the view's, or that of the rows' numeric columns.

    Parameters
    ----------
    rows
        The rows.
    view
        A projection of them, or None.
    """
    if view is not None:
        return view.box
    return rows.domain if isinstance(rows.domain, Box) else rows.domain.box


def false_cell_level(cells: int, budget: PureDP, most_false: int) -> int:
    r"""Return the threshold that about ``most_false`` empty cells reach by noise alone.

    An empty cell reaches t with probability :math:`a^t / (1 + a)`, :math:`a = e^{-\varepsilon}`.

    Parameters
    ----------
    cells
        The number of cells.
    budget
        What the counts cost; its epsilon sets the noise.
    most_false
        How many empty cells may reach it, on average.

    Examples
    --------
    >>> false_cell_level(10**12, PureDP(1), most_false=4000)
    20
    """
    step = float(budget.epsilon)
    # From a^t / (1 + a) cells = most_false, solved for t in units of 1/epsilon.
    scales = math.log(cells) - math.log1p(math.exp(-step)) - math.log(most_false)
    return max(1, math.ceil(scales / step))
