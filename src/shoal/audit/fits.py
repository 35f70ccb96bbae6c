"""Fits of private estimators as an adversary sees them: what left the gate, what was kept."""

import copy
import dataclasses
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from shoal.cluster.totals import told_elsewhere
from shoal.data import source_of
from shoal.domain import Box, Grid, SparseCounts
from shoal.engine import Block
from shoal.engine.local import LocalRows
from shoal.engine.rows import Terms
from shoal.errors import InvalidSetting
from shoal.privacy import Guarantee, Ledger
from shoal.privacy.page import Page
from shoal.randomness import Randomness

__all__ = ["FittedNumbers", "GateNumbers", "RowsAtHand"]

Numbers = NDArray[np.float64]
_ENDS = 4  # of a long part its first and last numbers are told, and its sum
_NOTHING = -(10.0**6)  # where a part is shorter than others, or absent


class RowsAtHand(LocalRows):
    """Rows of an array as one block, without threads: thousands of fits take seconds."""

    def __init__(self, X: Numbers, domain: Box) -> None:
        super().__init__(source_of(X, domain.names), domain, Terms())
        self._block = Block(domain.clip(X), np.empty((len(X), 0), dtype=np.int32))

    def each(self, work: Any) -> Iterator[Any]:
        """The work of a pass, done on the one block."""
        self._size = len(self._block)
        yield work(self._block)


@dataclasses.dataclass(frozen=True)
class GateNumbers:
    """What left the gate in each of many fits; draws for ``Batched``.

    A fit is stopped once its promise is spent to the last bit: nothing more can leave, and what
    would follow is a function of what did. So thousands of fits can be afforded.

    Parameters
    ----------
    model
        A private estimator, not fitted.
    parts
        How many releases are told.
    """

    model: Any
    parts: int

    def __call__(self, table: Numbers, n: int, rng: np.random.Generator) -> Numbers:
        """One line a fit."""
        rows, stream = RowsAtHand(table, self.model.domain), Randomness(rng)
        return np.array([told(self._left(rows, stream), self.parts) for _ in range(n)])

    def _left(self, rows: RowsAtHand, stream: Randomness) -> list[Any]:
        page = Ledger().open(self.model._promise(), by="audit")
        gate = _Gate(page)
        try:
            copy.copy(self.model).spend(rows, cast("Page", gate), page.budget, stream)
        except _Spent:
            return gate.left
        raise InvalidSetting(
            f"{type(self.model).__name__} spent less than it promised.", "Audit its fits instead."
        )


@dataclasses.dataclass(frozen=True)
class FittedNumbers:
    """All that ends in an underscore on each of many fitted models; draws for ``Batched``.

    Parameters
    ----------
    model
        A private estimator, not fitted.
    parts
        How many arrays and numbers are told.
    """

    model: Any
    parts: int

    def __call__(self, table: Numbers, n: int, rng: np.random.Generator) -> Numbers:
        """One line a fit."""
        rows = RowsAtHand(table, self.model.domain)
        model = clone(self.model).set_params(random_state=rng)  # every fit draws a key from it
        with told_elsewhere():  # tables of a few rows are what an audit is made of
            return np.array([told(list(_pieces(model.fit(rows))), self.parts) for _ in range(n)])


class _Spent(Exception):
    """Nothing is left to spend: whatever follows is a function of what left."""


class _Gate:
    """A page that keeps what leaves it, and ends the fit once nothing more can."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self.left: list[Any] = []

    def release(self, *arguments: Any, **named: Any) -> Any:
        """As ``Page.release``."""
        out = self._page.release(*arguments, **named)
        self.left.extend(_pieces(out))
        total, promise = self._page.total(), self._page.promise
        if getattr(total, "epsilon", None) == getattr(promise, "epsilon", None):
            raise _Spent
        return out


def told(pieces: list[Any], parts: int) -> Numbers:
    """A line of fixed width: of each part its length, sum, first and last numbers."""
    line = np.full((parts, 2 + 2 * _ENDS), _NOTHING)
    for place, piece in zip(line, pieces[:parts], strict=False):
        numbers = np.ravel(np.asarray(piece, dtype=np.float64))
        ends = numbers if numbers.size <= 2 * _ENDS else [*numbers[:_ENDS], *numbers[-_ENDS:]]
        place[: 2 + len(ends)] = [numbers.size, numbers.sum(), *ends]
    return line.ravel()


def _pieces(thing: Any) -> Iterator[Any]:
    """The arrays and numbers a released or fitted thing is made of, always in one order."""
    if thing is None or isinstance(thing, Guarantee | Grid | Box | str):
        return  # settings, or what follows from them
    if isinstance(thing, SparseCounts):
        yield thing.dense() if thing.size <= 64 else thing.counts
    elif isinstance(thing, BaseEstimator):
        for name in sorted(vars(thing)):
            if name.endswith("_") and not name.startswith("_"):
                yield from _pieces(getattr(thing, name))
    elif dataclasses.is_dataclass(thing):
        for field in dataclasses.fields(thing):
            yield from _pieces(getattr(thing, field.name))
    elif isinstance(thing, list | tuple):
        yield from _sequence(thing)
    elif isinstance(thing, bool | int | float | Fraction | np.generic | np.ndarray):
        yield thing
    else:
        raise InvalidSetting(
            f"A {type(thing).__name__} was released or fitted, and nothing says how to read it.",
            "Teach the audit to: whatever ends in an underscore is published.",
        )


def _sequence(things: Any) -> Iterator[Any]:
    """Numbers together, as flags of a tree's depths are; other things one by one."""
    arrays = [np.ravel(each) for each in things if isinstance(each, np.ndarray | int | float)]
    if len(arrays) == len(things):
        yield np.concatenate([np.zeros(0), *arrays])
    else:
        for each in things:
            yield from _pieces(each)
