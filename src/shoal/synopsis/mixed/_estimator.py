"""A private summary of a table with numbers and categories: a tree of noisy tables."""

import itertools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
import pyarrow as pa
from sklearn.utils.validation import check_is_fitted

from shoal.arrays import Floats, Integers
from shoal.bounds_check import Clipping
from shoal.domain import Schema
from shoal.engine import Rows
from shoal.errors import InvalidSetting, UnknownCategory, UnknownColumn
from shoal.estimator import MIXED_ROW_COUNT_SHARE, PrivateEstimator, Spending
from shoal.mechanisms import Choices, Exponential, Geometric
from shoal.privacy import LedgerOrPath, PureDP
from shoal.randomness import Seed
from shoal.synopsis.mixed._block_release import Blocks
from shoal.synopsis.mixed._columns import LATTICE, MixedColumns, mixed_columns
from shoal.synopsis.mixed._pair_counts import ExactCounts, pair_counts
from shoal.synopsis.mixed._tree_model import TreeModel, consistent_model

# How the budget of a model is divided, and from how many rows on a pair is worth its table:
# measured, see docs/decisions/mixed-tables.md.
_ROWS_PER_PAIR = 25
_CHOICE, _TABLES = Fraction(8, 10), Fraction(22, 10)
_PENALTY = 0.5  # of a table's expected noise, taken off its score
_SCORE_STEPS = (
    256  # scores are whole numbers of 1/256 rows, so that a row moves them by 256 exactly
)
_FEWEST_BINS, _MOST_BINS = 4, 32
_ONE_WAY_NOISE = 2.0  # times a table's deviation, as the shares above divide the budget


class MixedEstimator(PrivateEstimator):
    """Base of private estimators whose domain is a schema of numbers and categories."""

    @property
    def columns(self) -> MixedColumns:
        """The columns of the schema that tell rows apart."""
        return mixed_columns(self.domain)

    def _row_domain(self, X: Any) -> Any:
        _ = self.columns  # refuses what is no schema, before a row is read
        return self.domain


@dataclass(frozen=True, eq=False)
class PairTable:
    """The table of two columns.

    Parameters
    ----------
    deviation
        The standard deviation of a count's noise as it was released; None if it was not.
    modelled
        Whether the pair was not released itself but follows from pairs that were.
    """

    columns: tuple[str, str]
    labels: tuple[tuple[str, ...], tuple[str, ...]]
    counts: Floats
    deviation: float | None
    modelled: bool

    def to_arrow(self) -> pa.Table:
        """Return the table with a line for each bin of the first column."""
        first, second = self.labels
        counts = {label: self.counts[:, j] for j, label in enumerate(second)}
        return pa.table({self.columns[0]: pa.array(first)} | counts)


class MixedSynopsis(MixedEstimator):
    r"""A tree of noisy two-way tables, from which tables, counts and synthetic rows are made.

    Guarantee
    ---------
    :math:`\varepsilon`-DP when a row is added or removed, or as ``privacy`` and the schema say.
    Whatever is made of the released counts costs nothing more. See ``estimator.proof.md``.

    Parameters
    ----------
    epsilon
        The budget of one ``fit``, short for ``privacy=PureDP(epsilon)``.
    privacy
        The whole promise, where more than epsilon is to be said. Give one of the two.
    domain
        A schema: bounds of numbers, lists of categories and levels, whose each row is.
    target
        A column that the others are to explain, named without looking at the rows: its pairs are
        released before any others. For synthetic rows from which a model of it is to be learnt.
    clipping, n_public, nonfinite, ledger, random_state
        As for every private estimator: see ``shoal.synopsis.PrivateEstimator``.

    Attributes
    ----------
    n_rows_
        The noisy or public number of rows.
    bins_
        How many bins each number has.
    pairs_
        The pairs of columns whose tables were released.
    model_
        The counts after they were made consistent.
    noisy_one_ways_, noisy_tables_
        The counts as they were released.
    one_way_deviations_, table_deviation_
        The standard deviation of the noise in a count of each column, and of a table.
    guarantee_
        What was promised to each person.

    Examples
    --------
    >>> schema = Schema.of({"version": 1, "columns": {
    ...     "age": {"low": 0, "high": 100}, "level": {"values": ["basic", "higher"]}}})
    >>> people = {"age": [20.0] * 500 + [60.0] * 500, "level": ["basic"] * 500 + ["higher"] * 500}
    >>> synopsis = MixedSynopsis(epsilon=2, domain=schema, random_state=7).fit(people)
    >>> synopsis.table("age", "level").modelled
    False
    >>> abs(synopsis.count(age=(0, 50), level="basic") - 500) < 30
    True
    >>> synopsis.sample(3).column_names
    ['age', 'level']

    References
    ----------
    McKenna, Miklau, Sheldon, Winning the NIST contest: a scalable and general approach to
    differentially private synthetic data, 2021 (the tree of tables, there with Gaussian noise).
    """

    def __init__(
        self,
        *,
        epsilon: Any = None,
        privacy: PureDP | None = None,
        domain: Schema | None = None,
        target: str | None = None,
        clipping: Clipping = "stop",
        n_public: int | None = None,
        nonfinite: Literal["refuse", "drop"] = "refuse",
        ledger: LedgerOrPath | None = None,
        random_state: Seed = None,
    ) -> None:
        self.epsilon = epsilon
        self.privacy = privacy
        self.domain = domain
        self.target = target
        self.clipping = clipping
        self.n_public = n_public
        self.nonfinite = nonfinite
        self.ledger = ledger
        self.random_state = random_state

    def _row_domain(self, X: Any) -> Any:
        if self.target is not None:
            self._column(self.target)  # refuses an unknown name, before a row is read
        return super()._row_domain(X)

    def spend(self, spending: Spending) -> Self:
        """Count every column and pair in one pass, then release a tree of them."""
        counts = read_counts(spending, self.columns)
        row_count = self._count_rows(spending, MIXED_ROW_COUNT_SHARE)
        return self.spend_counts(spending.after(row_count), counts)

    def spend_counts(self, spending: Spending, exact: ExactCounts) -> Self:
        """Release a tree of tables of counts that were read before.

        Parameters
        ----------
        spending
            The budget, with the number of rows set.
        exact
            The exact counts of its rows.
        """
        assert spending.n_rows is not None
        columns, n_rows, epsilon = exact.columns, spending.n_rows, spending.epsilon
        # 1. How fine, and how many pairs: read off the released number of rows alone.
        self.n_rows_, self.bins_ = n_rows, min(exact.bins, _bins_for(n_rows, epsilon))  # [P1]
        exact = exact.coarsened(self.bins_)
        edges = min(columns.d - 1, math.floor(n_rows * epsilon / (_ROWS_PER_PAIR * columns.d)))
        edges = min(edges, _longest_forest(exact.tables, columns.d))
        whole = columns.d + edges * (_CHOICE + _TABLES)
        # 2. One-way counts of all columns at once.
        for_one_ways = spending.share(Fraction(columns.d) / whole)
        blocks = Blocks(columns.sizes(self.bins_), (1,) * columns.d)
        flat = blocks.release(for_one_ways, np.concatenate(exact.one_ways), of="columns")  # [P2]
        one_ways = _split(flat.astype(np.float64), columns.sizes(self.bins_))
        deviations = _split(blocks.deviations(for_one_ways.epsilon), columns.sizes(self.bins_))
        variances = [float(each[0] ** 2) for each in deviations]
        self.one_way_deviations_ = tuple(float(each[0]) for each in deviations)
        self.noisy_one_ways_ = tuple(one_ways)
        # 3. Pairs, one after the other, by how far their table is from independence.
        alone = consistent_model(
            one_ways, variances, (), (), 1.0, self._total_and_variance(spending)
        )
        self.pairs_ = tuple(self._choose_pairs(spending, exact, alone, edges, whole))  # [P3]
        # 4. Their tables.
        tables, table_variance = self._release_tables(spending, exact, edges, whole)  # [P4]
        self.noisy_tables_ = tuple(tables)
        self.table_deviation_ = math.sqrt(table_variance)
        # 5. One model that agrees with itself.
        self.model_ = consistent_model(
            one_ways, variances, self.pairs_, tables, table_variance,
            self._total_and_variance(spending),
        )  # fmt: skip
        self.n_features_in_ = columns.d
        return self

    def _choose_pairs(
        self, spending: Spending, exact: ExactCounts, alone: TreeModel, edges: int, whole: Fraction
    ) -> list[tuple[int, int]]:
        """Draw pairs that join two trees, the more dependent the likelier."""
        if not edges:
            return []
        each = spending.share(_CHOICE / whole)
        noise = float(Fraction(edges) / (spending.budget.epsilon * _TABLES * edges / whole))
        scores = {
            pair: _dependence(table, alone, pair)
            - round(_PENALTY * noise * table.size * _SCORE_STEPS)
            for pair, table in exact.tables.items()
        }
        chosen: list[tuple[int, int]] = []
        trees = list(range(exact.columns.d))
        for number in range(edges):
            joining = self._candidates([p for p in scores if trees[p[0]] != trees[p[1]]])
            choices = Choices(np.array([scores[pair] for pair in joining], dtype=np.int64))
            drawn = each.release(
                Exponential(each.budget, _SCORE_STEPS), choices, of=f"pair {number + 1} of {edges}"
            )
            first, second = joining[drawn]
            chosen.append((first, second))
            trees = [trees[first] if tree == trees[second] else tree for tree in trees]
        return chosen

    def _candidates(self, joining: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return the pairs of the target while there are any, else all of these."""
        if self.target is None:
            return joining
        target = self._column(self.target)
        return [pair for pair in joining if target in pair] or joining

    def _release_tables(
        self, spending: Spending, exact: ExactCounts, edges: int, whole: Fraction
    ) -> tuple[list[Floats], float]:
        """Release the tables of the chosen pairs; a row is in one cell of each."""
        if not self.pairs_:
            return [], 1.0
        share = spending.share(edges * _TABLES / whole)
        noise = Geometric(share.budget, len(self.pairs_))
        exact_tables = [exact.tables[pair] for pair in self.pairs_]
        flat = np.concatenate([table.ravel() for table in exact_tables])
        noisy = share.release(noise, flat, of="tables of pairs").astype(np.float64)
        parts = _split(noisy, [table.size for table in exact_tables])
        tables = [p.reshape(t.shape) for p, t in zip(parts, exact_tables, strict=True)]
        return tables, noise.variance

    def _total_and_variance(self, spending: Spending) -> tuple[float, float]:
        """Return the number of rows and what its noise is worth beside the counts."""
        assert spending.n_rows is not None
        # A count that was released elsewhere is not weighed in: its noise is not known here.
        return float(spending.n_rows), 0.0 if self.n_public is not None else math.inf

    # What a reader does with it.

    def table(self, first: str, second: str) -> PairTable:
        """Return how many rows have each combination of two columns.

        Parameters
        ----------
        first
            The column of the table's rows.
        second
            That of its columns.
        """
        check_is_fitted(self)
        i, j = self._column(first), self._column(second)
        if i == j:
            raise InvalidSetting("A table needs two different columns.", "Name another one.")
        measured = (i, j) in self.pairs_ or (j, i) in self.pairs_
        return PairTable(
            (first, second),
            (self._labels(i), self._labels(j)),
            self.model_.table(i, j),
            self.table_deviation_ if measured else None,
            not measured,
        )

    def count(self, **conditions: Any) -> float:
        """Return about how many rows meet all conditions, by the model.

        Parameters
        ----------
        conditions
            By column: a range ``(low, high)`` of a number, a category or level, or a list of them.

        Examples
        --------
        See the class.
        """
        check_is_fitted(self)
        masks = [np.ones(counts.size) for counts in self.model_.one_ways]
        for name, condition in conditions.items():
            column = self._column(name)
            masks[column] = self._mask(column, condition)
        return self.model_.total * self.model_.probability(masks)

    def sample(self, n: int, rng: Any = None) -> pa.Table:
        """Return synthetic rows with the schema's columns, in their own units.

        Parameters
        ----------
        n
            How many rows.
        rng
            A seed or generator; these draws protect nothing, and cost nothing.
        """
        check_is_fitted(self)
        wholes, codes = self.synthetic_rows(n, np.random.default_rng(rng))
        return _arrow_rows(self.columns, wholes, codes)

    def synthetic_rows(self, n: int, rng: np.random.Generator) -> tuple[Floats, Integers]:
        """Return synthetic rows as methods see them: numbers of [-1, 1], and codes.

        Parameters
        ----------
        n
            How many rows.
        rng
            A generator.
        """
        drawn, columns = self.model_.sample(n, rng), self.columns
        numbers = np.empty((n, len(columns.numbers)))
        for i, column in enumerate(columns.numbers):
            if column.levels:
                numbers[:, i] = -1 + 2 * drawn[:, i] / (len(column.levels) - 1)
            else:
                numbers[:, i] = -1 + 2 * (drawn[:, i] + rng.random(n)) / self.bins_
        return numbers, drawn[:, len(columns.numbers) :]

    def simulate(self, numbers: Floats, codes: Integers, rng: np.random.Generator) -> Self:
        """Return a synopsis of other rows, as if they had been released like these.

        The same pairs are counted, with noise as large. For made-up rows: it protects nobody.

        Parameters
        ----------
        numbers
            Made-up rows: numbers of [-1, 1].
        codes
            Their categories.
        rng
            Draws the noise.
        """
        check_is_fitted(self)
        columns, sizes = self.columns, self.columns.sizes(self.bins_)
        binned = [
            column.bins_of(np.trunc(numbers[:, i] * LATTICE).astype(np.int64), self.bins_)
            for i, column in enumerate(columns.numbers)
        ] + [codes[:, i] for i in range(len(columns.categories))]
        times = self.n_rows_ / max(1, len(numbers))
        one_ways = [
            np.bincount(own, minlength=size) * times + _laplace(deviation, (size,), rng)
            for own, size, deviation in zip(binned, sizes, self.one_way_deviations_, strict=True)
        ]
        tables = [
            np.histogram2d(binned[i], binned[j], bins=(range(sizes[i] + 1), range(sizes[j] + 1)))[0]
            * times + _laplace(self.table_deviation_, (sizes[i], sizes[j]), rng)
            for i, j in self.pairs_
        ]  # fmt: skip
        assert isinstance(self.domain, Schema)
        other = type(self)(domain=self.domain)
        other.n_rows_, other.bins_, other.pairs_ = self.n_rows_, self.bins_, self.pairs_
        other.model_ = consistent_model(
            one_ways, np.square(self.one_way_deviations_).tolist(), self.pairs_, tables,
            self.table_deviation_**2, (float(self.n_rows_), math.inf),
        )  # fmt: skip
        other.n_features_in_ = columns.d
        return other

    def _column(self, name: str) -> int:
        names = self.columns.names
        if name not in names:
            raise UnknownColumn(
                f"There is no column {name!r}.", f"The columns are {', '.join(names)}."
            )
        return names.index(name)

    def _labels(self, column: int) -> tuple[str, ...]:
        numbers = self.columns.numbers
        if column >= len(numbers):
            return tuple(
                str(each) for each in self.columns.categories[column - len(numbers)].labels
            )
        number = numbers[column]
        if number.levels:
            return tuple(str(each) for each in number.levels)
        edges = number.unscaled(np.linspace(-1, 1, self.bins_ + 1))
        return tuple(f"{low:g} to {high:g}" for low, high in itertools.pairwise(edges))

    def _mask(self, column: int, condition: Any) -> Floats:
        """Return the part of each bin that meets a condition."""
        numbers = self.columns.numbers
        if column < len(numbers) and not numbers[column].levels:
            return _covered(numbers[column], self.bins_, condition)
        wanted = condition if isinstance(condition, list | tuple | set) else [condition]
        labels = self._labels(column)
        unknown = [each for each in wanted if str(each) not in labels]
        if unknown:
            raise UnknownCategory(
                f"{len(unknown)} of {len(wanted)} values are not in the public list of "
                f"{self.columns.names[column]!r}.",
                f"They are {', '.join(labels[:20])}.",
            )
        return np.array([label in {str(each) for each in wanted} for label in labels], dtype=float)

    # How it is kept.

    def to_dict(self) -> dict[str, Any]:
        """Return what was released as plain values, for JSON."""
        check_is_fitted(self)
        return {
            "n_rows": self.n_rows_,
            "bins": self.bins_,
            "pairs": [list(pair) for pair in self.pairs_],
            "table_deviation": self.table_deviation_,
            "one_way_deviations": list(self.one_way_deviations_),
            "noisy_one_ways": [counts.tolist() for counts in self.noisy_one_ways_],
            "noisy_tables": [table.tolist() for table in self.noisy_tables_],
            "one_ways": [counts.tolist() for counts in self.model_.one_ways],
            "tables": [table.tolist() for table in self.model_.tables],
        }

    @classmethod
    def of_dict(cls, content: Mapping[str, Any], domain: Schema, **settings: Any) -> Self:
        """Return a fitted synopsis from ``to_dict``.

        Parameters
        ----------
        content
            What ``to_dict`` returned.
        domain
            The schema.
        settings
            Other parameters.
        """
        synopsis = cls(domain=domain, **settings)
        synopsis.n_rows_, synopsis.bins_ = int(content["n_rows"]), int(content["bins"])
        synopsis.pairs_ = tuple((int(i), int(j)) for i, j in content["pairs"])
        synopsis.table_deviation_ = float(content["table_deviation"])
        # Older versions did not write it: columns have about twice the noise of tables.
        usual = [_ONE_WAY_NOISE * synopsis.table_deviation_] * len(content["one_ways"])
        synopsis.one_way_deviations_ = tuple(content.get("one_way_deviations", usual))
        synopsis.noisy_one_ways_ = _arrays(content["noisy_one_ways"])
        synopsis.noisy_tables_ = _arrays(content["noisy_tables"])
        synopsis.model_ = TreeModel(
            _arrays(content["one_ways"]), synopsis.pairs_, _arrays(content["tables"])
        )
        synopsis.n_features_in_ = len(synopsis.model_.one_ways)
        return synopsis

    def save(self, folder: str | Path, overwrite: bool = False) -> Path:
        """Keep it in a folder: ``MixedSynopsis.load`` takes it back.

        Parameters
        ----------
        folder
            Where to.
        overwrite
            Whether a synopsis that is there may be replaced.
        """
        from shoal.synopsis.mixed._folder import save_synopsis

        check_is_fitted(self)
        return save_synopsis(self, folder, overwrite)

    @classmethod
    def load(cls, folder: str | Path) -> "MixedSynopsis":
        """Return a synopsis from the folder it was saved to.

        Parameters
        ----------
        folder
            What ``save`` wrote.
        """
        from shoal.synopsis.mixed._folder import load_synopsis

        return load_synopsis(folder)

    def _release_name(self, rows: Rows) -> str:
        return f"tables of {self.columns.d} columns"


def read_counts(spending: Spending, columns: MixedColumns) -> ExactCounts:
    """Count every column and pair in one pass, for mechanisms to noise.

    Parameters
    ----------
    spending
        Its rows are read.
    columns
        The columns.
    """
    kernel = pair_counts(columns)
    return kernel.unpacked(spending.sum(kernel)[0])


def _laplace(deviation: float, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
    return rng.laplace(0, deviation / math.sqrt(2), shape)


def _bins_for(n_rows: int, epsilon: float) -> int:
    """Return the number of bins for so many rows: the power of two below."""
    wanted = min(max((n_rows * epsilon / 2) ** (1 / 3), _FEWEST_BINS), _MOST_BINS)
    return int(2 ** math.floor(math.log2(wanted)))


def _longest_forest(pairs: Iterable[tuple[int, int]], d: int) -> int:
    """Return how many of these pairs can be chosen without a cycle: a fact of the schema."""
    trees, edges = list(range(d)), 0
    for first, second in pairs:
        if trees[first] != trees[second]:
            trees = [trees[first] if tree == trees[second] else tree for tree in trees]
            edges += 1
    return edges


def _dependence(table: Integers, alone: TreeModel, pair: tuple[int, int]) -> int:
    """Return how far a table is from independence, in whole steps: a row moves it by 256."""
    product = np.outer(alone.one_ways[pair[0]], alone.shares(pair[1]))
    expected = np.rint(product * _SCORE_STEPS).astype(np.int64)  # released, so free to round
    return int(np.abs(table * _SCORE_STEPS - expected).sum())


def _split(flat: Any, sizes: Any) -> list[Any]:
    return np.split(flat, np.cumsum(sizes)[:-1])


def _arrays(lists: Any) -> tuple[Floats, ...]:
    return tuple(np.asarray(each, dtype=np.float64) for each in lists)


def _covered(column: Any, bins: int, condition: Any) -> Floats:
    """Return how much of each bin a range covers."""
    try:
        low, high = (float(end) for end in condition)
    except (TypeError, ValueError):
        low, high = math.nan, math.nan
    if not low <= high:
        raise InvalidSetting(
            f"A condition on {column.name!r} must be a range of two numbers, low before high.",
            f"E.g. {column.name}=({column.low:g}, {column.high:g}).",
        )
    edges = column.unscaled(np.linspace(-1, 1, bins + 1))
    within = np.minimum(edges[1:], high) - np.maximum(edges[:-1], low)
    return np.asarray(np.clip(within / np.diff(edges), 0.0, 1.0))


def _arrow_rows(columns: MixedColumns, numbers: Floats, codes: Integers) -> pa.Table:
    """Return rows in the columns' own units; what is marked as missing is null."""
    absent = {
        c.name.removesuffix(" missing"): codes[:, i] == 1
        for i, c in enumerate(columns.categories)
        if c.name.endswith(" missing")
    }
    made: dict[str, Any] = {}
    for i, number in enumerate(columns.numbers):
        values = number.unscaled(np.trunc(numbers[:, i] * LATTICE) / LATTICE)
        labels: Any = values
        if number.levels:
            labels = [number.levels[place] for place in np.rint(values).astype(int)]
        made[number.name] = pa.array(labels, mask=absent.get(number.name))
    for i, column in enumerate(columns.categories):
        if column.name.removesuffix(" missing") not in absent:
            made[column.name] = pa.array([column.labels[code] for code in codes[:, i]])
    return pa.table(made)
