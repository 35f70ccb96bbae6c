"""Cases of the private estimators: tables that differ by one row, placed where it shows most.

Tables are tiny and made up, so that thousands of fits are possible; for methods whose later steps
need many rows, the public number of rows is set high.

An adversary sees either what left the gate, or all fitted attributes.
"""

import copy
import dataclasses
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, cast

import numpy as np
from sklearn.base import BaseEstimator

from shoal.arrays import Floats
from shoal.audit._draws import Batched
from shoal.audit.case import Case
from shoal.cluster import unfitted
from shoal.cluster.group_sizes import ignore_no_groups_warning
from shoal.cluster.registry import REGISTRY
from shoal.data import source_of
from shoal.domain import Box, Grid, Schema, SparseCounts
from shoal.engine import Block, Terms
from shoal.engine.local import LocalRows
from shoal.errors import InvalidSetting
from shoal.estimator import Spending
from shoal.privacy import Guarantee, PureDP
from shoal.privacy.ledger_page import Page
from shoal.randomness import Randomness

LINE = Box(x=(-1, 1))
MIXED = Schema.of(
    {
        "version": 1,
        "columns": {"x": {"low": -1, "high": 1}, "kind": {"values": ["usual", "rare", "other"]}},
    }
)

_ENDS = 4  # a long part is shown by this many first and last numbers, and its sum
_NOTHING = -(10.0**6)  # where a part is shorter than others, or absent


def _column(*values: float) -> Floats:
    return np.array(values, dtype=np.float64).reshape(-1, 1)


PAIRS: dict[str, tuple[Floats, Floats]] = {  # a table, and the same with one more row
    "one row alone in a corner": (_column(*[-0.9] * 8), _column(*[-0.9] * 8, 1)),
    "one row alone in a cluster": (_column(*[-0.9] * 20), _column(*[-0.9] * 20, 0.99)),
    "one row more at the maximum": (_column(*[-0.9] * 4, 1), _column(*[-0.9] * 4, 1, 1)),
    "one row on a cell's border": (_column(*[-1] * 4), _column(*[-1] * 4, 0)),
    "one row twice": (_column(0.99), _column(0.99, 0.99)),
    "one row between two centres": (_column(-0.5, 0.5), _column(-0.5, 0.5, 0)),
    "nobody and one row": (np.empty((0, 1)), _column(-1)),
}


_EVERY_PAIR = ("PrivateKMeans, auto", "UniformGrid", "PrivTree", "WaveCluster, privthrem")
_FITS_AT_GATE = {False: 10_000, True: 2_000}  # with categories a fit takes longer
# All that is fitted follows from cells as it does with "auto".
_NOT_FITTED = ("PrivateKMeans, adaptive-grid", "PrivateKMeans, uniform-grid")


def _tables(model: Any, pair: str) -> tuple[Floats, Floats]:
    """Return the pair's tables, with as many columns as the model's domain has.

    With a category, the row of a pair that lies at 0 or above is of another kind than the others.
    """
    if model.domain is MIXED:
        first, second = (np.hstack([table, 2.0 * (table >= 0)]) for table in PAIRS[pair])
        return first, second
    without, more = (np.repeat(table, model.box.d, axis=1) for table in PAIRS[pair])
    return without, more


def _case_at_gate(model: Any, parts: int, pair: str, draws: int) -> Case:
    return Case(
        Batched(GateNumbers(model, parts)),
        _tables(model, pair),
        PureDP(model._promise().epsilon),
        draws=draws,
        about=f"{pair}; what left the gate",
    )


def _case_of_fit(model: Any, pair: str) -> Case:
    return Case(
        Batched(FittedNumbers(model, 26)),
        _tables(model, pair),
        PureDP(model._promise().epsilon),
        draws=1_000,
        about=f"{pair}; all that ends in an underscore",
    )


def make_cases() -> dict[str, Case]:
    """Build the cases: 10,000 fits at the gate; 1,000 on every pair and of all that is fitted."""
    cases = {}
    for entry in REGISTRY:
        domain = MIXED if entry.is_mixed else LINE
        fits = {name: (settings, pair) for name, (settings, pair) in entry.fits().items()}
        for variant, (settings, releases, pair) in entry.gates().items():
            name, model = entry.named(variant), entry.make(**{"domain": domain, **settings})
            cases[name] = _case_at_gate(model, releases, pair, _FITS_AT_GATE[entry.is_mixed])
            for other in PAIRS if name in _EVERY_PAIR else ():
                if other != pair:
                    cases[f"{name}, {other}"] = _case_at_gate(model, releases, other, 1_000)
            if not entry.is_mixed and name not in _NOT_FITTED:
                fits[variant] = settings, pair
        for variant, (settings, pair) in fits.items():
            model = entry.make(**{"domain": domain, **settings})
            cases[f"{entry.named(variant)}, fitted"] = _case_of_fit(model, pair)
    return cases


class ArrayRows(LocalRows):
    """The rows of an array as one block, without threads, so that thousands of fits take seconds.

    Parameters
    ----------
    X
        The array; with a schema, its columns of categories hold codes and come last.
    """

    def __init__(self, X: Floats, domain: Box | Schema) -> None:
        box = domain if isinstance(domain, Box) else domain.box
        names = domain.names if isinstance(domain, Box) else domain.columns
        super().__init__(source_of(X, names), domain, Terms())
        numbers = X[:, : box.d]
        inside = box.clip(numbers)
        sides = np.sign(numbers - inside).astype(np.int8)
        self._block = Block(inside, X[:, box.d :].astype(np.int32), sides)

    def each(self, work: Any) -> Iterator[Any]:
        """Do the work of a pass on the one block."""
        assert self._block.sides is not None
        self._size = len(self._block)
        self._moved = int(np.count_nonzero(self._block.sides.any(axis=1)))
        yield work(self._block)


@dataclasses.dataclass(frozen=True)
class GateNumbers:
    """A draw for ``Batched``: what left the gate in each of many fits.

    A fit is stopped once its budget is spent: nothing more can leave, and all that follows is a
    function of what did. So thousands of fits are possible.
    """

    model: Any
    parts: int

    def __call__(self, table: Floats, n: int, rng: np.random.Generator) -> Floats:
        """Return one row for each fit."""
        rows, stream = ArrayRows(table, _domain_of(self.model)), Randomness(rng)
        return np.array([fixed_width_line(self._left(rows, stream), self.parts) for _ in range(n)])

    def _left(self, rows: ArrayRows, stream: Randomness) -> list[Any]:
        page = _StoppingPage(self.model._promise())
        try:
            model = copy.copy(self.model)
            model.clipping = "accept"  # else one in 1,000 fits stops, and there are thousands
            model.spend(Spending(rows, page, page.budget, stream))
        except _BudgetSpent:
            return page.left
        raise InvalidSetting(
            f"{type(self.model).__name__} spent less than it promised.", "Audit its fits instead."
        )


@dataclasses.dataclass(frozen=True)
class FittedNumbers:
    """A draw for ``Batched``: all fitted attributes of each of many models."""

    model: Any
    parts: int

    def __call__(self, table: Floats, n: int, rng: np.random.Generator) -> Floats:
        """Return one row for each fit."""
        rows = ArrayRows(table, _domain_of(self.model))
        model = unfitted(self.model, random_state=rng)  # every fit draws a key from it
        model.clipping = "accept"  # else one in 1,000 fits stops, and there are thousands
        with ignore_no_groups_warning():  # tables of a few rows are what an audit is made of
            return np.array(
                [fixed_width_line(list(_pieces(model.fit(rows))), self.parts) for _ in range(n)]
            )


def _domain_of(model: Any) -> Box | Schema:
    """Return the bounds of a model of numbers, or the schema of one of categories too."""
    return MIXED if model.domain is MIXED else cast("Box", model.box)


class _BudgetSpent(Exception):
    """Raised when nothing is left to spend, to end a fit."""


class _StoppingPage(Page):
    """A ledger page that stores what leaves it, and ends the fit once nothing more can."""

    def __init__(self, promise: Guarantee) -> None:
        super().__init__(promise, lambda made, needed, of, record: None)
        self.left: list[Any] = []

    def release(self, mechanism: Any, value: Any, rng: np.random.Generator, *, of: str) -> Any:
        """Release a value, as ``Page.release`` does."""
        out = super().release(mechanism, value, rng, of=of)
        self.left.extend(_pieces(out))
        if getattr(self.total(), "epsilon", None) == getattr(self.promise, "epsilon", None):
            raise _BudgetSpent
        return out


def fixed_width_line(pieces: list[Any], parts: int) -> Floats:
    """Return a row of fixed width: the length, sum, first and last numbers of each part."""
    line = np.full((parts, 2 + 2 * _ENDS), _NOTHING)
    for place, piece in zip(line, pieces[:parts], strict=False):
        numbers = np.ravel(np.asarray(piece, dtype=np.float64))
        ends = numbers if numbers.size <= 2 * _ENDS else [*numbers[:_ENDS], *numbers[-_ENDS:]]
        place[: 2 + len(ends)] = [numbers.size, numbers.sum(), *ends]
    return line.ravel()


def _pieces(thing: Any) -> Iterator[Any]:
    """Yield the arrays and numbers of a released or fitted thing, always in one order."""
    if thing is None or isinstance(thing, Guarantee | Grid | Box | str):
        return  # settings, or what follows from them
    if isinstance(thing, np.ndarray) and thing.dtype.kind in "OU":
        return  # names of columns, which are public
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
            f"The audit cannot read a {type(thing).__name__}.",
            "Add a reader for it: every attribute that ends in an underscore is published.",
        )


def _sequence(things: Any) -> Iterator[Any]:
    """Yield numbers together, such as flags of a tree's depths, and other things one by one."""
    arrays = [np.ravel(each) for each in things if isinstance(each, np.ndarray | int | float)]
    if len(arrays) == len(things):
        yield np.concatenate([np.zeros(0), *arrays])
    else:
        for each in things:
            yield from _pieces(each)
