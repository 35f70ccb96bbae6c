"""Groups of records with numbers and categories, in rounds of reports, each person in one of them.

    everybody ─┬─ 2 in 5: two columns ─► a tree of tables, synthetic records, prototypes: published
               ├─ 1 in 5: nearest prototype and one column ─► records bent, prototypes: published
               └─ the same twice more ─► prototypes

Each person is in one round, by a draw that does not look at records, and reports once.
"""

import itertools
import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from shoal.arrays import Floats, Integers
from shoal.cluster.local._mixed_report_tables import GroupAnswers, bend_records, tree_of_answers
from shoal.cluster.local._round_assignment import draw_rounds, reports_of_round
from shoal.cluster.prototypes._mixed_rows import (
    MixedRows,
    Prototypes,
    even_rows,
    every_row,
    hold_rows,
)
from shoal.cluster.prototypes._plain_comparison import ScoredPrototypes
from shoal.cluster.prototypes._search import find_prototypes
from shoal.domain import Schema
from shoal.errors import InvalidSetting
from shoal.mechanisms import Reports
from shoal.mechanisms.local.bounded import local_budget
from shoal.mechanisms.local.categories import PrototypeReport, cell_oracle
from shoal.privacy import LocalDP, Number, whole_number
from shoal.randomness import Randomness, Seed
from shoal.synopsis.mixed import MixedColumns, mixed_columns

# Of the people, by round. These, and what follows, were measured: docs/decisions/mixed-tables.md.
_SHARES = (0.4, 0.2, 0.2, 0.2)
_BINS = 8  # of a number in the first round
_SURE_PAIR = 0.02  # the largest standard error of a cell at which tables of pairs say enough
_SYNTHETIC, _STARTS = 6_000, 10
_REACH, _LEAST_REACH = 1.2, 0.05  # of the distance that 95 of 100 synthetic records keep


@dataclass(frozen=True, eq=False)
class LocalPrototypes(ScoredPrototypes):
    """The state of a collection in four rounds: what to ask next, and the prototypes so far.

    Guarantee
    ---------
    ``LocalDP(epsilon)`` for everybody: each person reports in one round, at the whole epsilon. See
    ``prototypes.proof.md``.

    Parameters
    ----------
    domain
        A schema: bounds of numbers, lists of categories, weights. Never read it off the records.
    n_clusters
        The number of groups.
    epsilon
        The promise of one report; at most 20.
    n_expected
        The number of people who will report, all rounds together.

    Attributes
    ----------
    round
        The number of this round, from 0.
    synthetic
        Made-up rows like those that reports so far describe; None before the first round is over.
    prototype_lines
        The prototypes so far as lines of numbers; None before the first round is over.
    reach
        How far a row's offset from its prototype is measured in each round of means.
    mechanism
        The mechanism of this round; ``None`` after the last.
    prototypes
        The mean of each number and the mode of each category, a line for each group, in the
        columns' own units; ``None`` before the first round is over.

    Examples
    --------
    The server's side, with reports as they come in:

    >>> schema = Schema.of({"version": 1, "columns": {
    ...     "age": {"low": 0, "high": 100}, "level": {"values": ["basic", "middle", "higher"]}}})
    >>> people = {"age": [20.0] * 9000 + [70.0] * 9000, "level": ["basic", "higher"] * 9000}
    >>> state = LocalPrototypes(schema, n_clusters=2, epsilon=3.0, n_expected=18_000)
    >>> records = state.records(people)  # each on its own client
    >>> groups = state.groups(len(records), Randomness(1).noise)
    >>> while state.mechanism is not None:
    ...     own = records[groups == state.round]
    ...     state = state.advance(state.mechanism.release(own, Randomness(2).noise), random_state=7)
    >>> sorted(state.prototypes["age"].to_numpy().round(-1).tolist())
    [20.0, 70.0]
    """

    domain: Schema
    _: KW_ONLY
    n_clusters: int
    epsilon: Number
    n_expected: int
    round: int = 0
    synthetic: MixedRows | None = None
    prototype_lines: Floats | None = None
    reach: tuple[float, ...] = ()
    n_rounds: ClassVar[int] = len(_SHARES)

    def __post_init__(self) -> None:
        for name in ("n_clusters", "n_expected"):
            if (whole_number(getattr(self, name)) or 0) < 1:
                raise InvalidSetting.of(
                    name, "must be a whole number of 1 or more", 5, getattr(self, name)
                )
        _ = self.columns, self.mechanism

    @cached_property
    def columns(self) -> MixedColumns:
        """The columns of the schema that tell records apart."""
        return mixed_columns(self.domain)

    @property
    def guarantee(self) -> LocalDP:
        """The promise of one report, which is all that anybody sends."""
        return LocalDP(local_budget(self.epsilon)).simulated(self.domain.simulation)

    @property
    def _prototypes(self) -> Prototypes:  # type: ignore[override]
        if self.prototype_lines is None:
            raise AttributeError("_prototypes")  # not fitted yet, as scores see it
        p = len(self.columns.numbers)
        return Prototypes(self.prototype_lines[:, :p], self.prototype_lines[:, p:].astype(np.int64))

    @property
    def mechanism(self) -> PrototypeReport | None:
        """The mechanism of this round; None after the last."""
        if self.round == len(_SHARES):
            return None
        sizes = (0,) * len(self.columns.numbers) + tuple(c.size for c in self.columns.categories)
        weights = (*self.columns.number_weights, *self.columns.category_weights)
        bins = tuple(column.size(_BINS) for column in self.columns.numbers)
        exact = self.guarantee.epsilon  # however it was written, mechanisms are the same
        common = PrototypeReport(
            sizes, self._questions(bins), bins, tuple(map(float, weights)), epsilon=exact
        )
        if self.prototype_lines is None:
            return common
        return replace(
            common,
            questions=_each_column(self.columns.d),
            prototypes=tuple(map(tuple, self.prototype_lines.tolist())),
            reach=self.reach,
        )  # [P2]

    @property
    def prototypes(self) -> pa.Table | None:
        """The prototypes in the columns' own units; None before the first round is over."""
        if self.prototype_lines is None:
            return None
        made: dict[str, Any] = {}
        for i, number in enumerate(self.columns.numbers):
            values = number.unscaled(self._prototypes.numbers[:, i])
            levels = [number.levels[round(v)] for v in values.tolist()] if number.levels else values
            made[number.name] = pa.array(levels)
        for i, column in enumerate(self.columns.categories):
            codes = self._prototypes.codes[:, i]
            made[column.name] = pa.array([column.labels[code] for code in codes])
        return pa.table(made)

    def records(self, X: Any) -> Floats:
        """Return records as the mechanism takes them, each on its own client.

        Parameters
        ----------
        X
            A table with the schema's columns.

        Returns
        -------
        A line each: numbers scaled to [-1, 1], then codes.
        """
        held = hold_rows(X, every_row(self.domain))
        return np.hstack([held.numbers, held.codes])

    def groups(self, n: int, rng: np.random.Generator) -> Integers:
        """Draw in which round each of ``n`` people reports, without looking at records.

        Parameters
        ----------
        n
            The number of people.
        rng
            The source of the draw.
        """
        return draw_rounds(n, _SHARES, rng)  # [P1]

    def advance(self, reports: Reports, random_state: Seed = None) -> "LocalPrototypes":
        """Return the next state, from all reports of this round.

        Parameters
        ----------
        reports
            Reports made by ``mechanism``; in a later round there may be none.
        random_state
            The seed of synthetic records and of the search among them.

        Raises
        ------
        NotAReport
            If the reports were made by another mechanism.
        TooFewRows
            If the first round has no reports.
        """
        own, mechanism = reports_of_round(reports, self.mechanism, self.round)
        rng = Randomness(random_state).compute
        records = self._learn(mechanism, own, rng)  # [P3]
        prototypes = find_prototypes(records, self.n_clusters, rng, _STARTS)
        lines = np.hstack([prototypes.numbers, prototypes.codes])
        reach = _reach(records, prototypes)
        return replace(
            self, round=self.round + 1, synthetic=records, prototype_lines=lines, reach=reach
        )

    def _learn(
        self, mechanism: PrototypeReport, reports: Reports, rng: np.random.Generator
    ) -> MixedRows:
        """Return synthetic records that agree with what was reported."""
        if self.synthetic is None:
            model = tree_of_answers(mechanism, reports)
            drawn, p = model.sample(max(_SYNTHETIC, self.n_clusters), rng), len(mechanism.bins)
            numbers = _inside_bins(drawn[:, :p], self.columns, mechanism.bins, rng)
            return MixedRows(self.columns, numbers, drawn[:, p:])
        if not len(reports):
            return self.synthetic
        answers = GroupAnswers.of(mechanism, reports)
        return bend_records(self.synthetic, self._prototypes, answers, rng)

    def simulate(self, rows: Any, random_state: Seed = None) -> "LocalPrototypes":
        """Run all rounds over a table held in one place, to try settings; return the last state.

        Parameters
        ----------
        rows
            One row for each person. A holder of all rows needs no local promise; see
            ``PrivateKPrototypes``.
        random_state
            The seed of groups, noise and search.
        """
        records, rng, state = self.records(rows), Randomness(random_state), self
        groups = state.groups(len(records), rng.noise)
        while (mechanism := state.mechanism) is not None:
            reports = mechanism.release(records[groups == state.round], rng.noise)
            state = state.advance(reports, rng.seed())
        return state

    def control(self, *, random_state: int = 0) -> "LocalPrototypes":
        """Return the same collection among people spread evenly over the domain.

        Parameters
        ----------
        random_state
            The seed of people, noise and search.
        """
        first = replace(self, round=0, synthetic=None, prototype_lines=None, reach=())
        people = even_rows(every_row(self.domain), self.n_expected, random_state)
        return first.simulate(people, random_state)

    def predict(self, X: Any) -> Integers:
        """Return the nearest prototype of each record; run it on the client and keep the label.

        Parameters
        ----------
        X
            The client's own records.
        """
        return hold_rows(X, every_row(self.domain)).labels(self._prototypes)

    def to_dict(self) -> dict[str, Any]:
        """Return the state as plain values, for JSON; all of it is made of reports."""
        made: dict[str, Any] = {
            "n_clusters": self.n_clusters,
            "epsilon": str(self.guarantee.epsilon),
            "n_expected": self.n_expected,
            "round": self.round,
        }
        if self.synthetic is not None and self.prototype_lines is not None:
            made["prototypes"] = self.prototype_lines.tolist()
            made["reach"] = list(self.reach)
            made["synthetic_numbers"] = self.synthetic.numbers.tolist()
            made["synthetic_codes"] = self.synthetic.codes.tolist()
        return made

    @classmethod
    def of_dict(cls, content: Mapping[str, Any], domain: Schema) -> "LocalPrototypes":
        """Return the state that ``to_dict`` wrote.

        Parameters
        ----------
        content
            What ``to_dict`` returned.
        domain
            The schema.
        """
        settings = {name: content[name] for name in ("n_clusters", "epsilon", "n_expected")}
        state = cls(domain, **settings)
        if "prototypes" not in content:
            return state
        numbers = np.array(content["synthetic_numbers"], dtype=np.float64)
        codes = np.array(content["synthetic_codes"], dtype=np.int64)
        n = len(content["synthetic_numbers"])
        held = MixedRows(state.columns, numbers.reshape(n, -1), codes.reshape(n, -1))
        lines = np.array(content["prototypes"], dtype=np.float64)
        p = len(state.columns.numbers)
        reach = content.get("reach")  # older states have it in their records alone
        reach = reach or _reach(held, Prototypes(lines[:, :p], lines[:, p:].astype(np.int64)))
        return replace(
            state,
            round=content["round"],
            synthetic=held,
            prototype_lines=lines,
            reach=tuple(reach),
        )

    def _questions(self, bins: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
        """Return all pairs of columns if enough people will answer each; else single columns."""
        d = self.columns.d
        pairs = tuple(itertools.combinations(range(d), 2))
        if not pairs:
            return _each_column(d)
        sizes = (*bins, *(column.size for column in self.columns.categories))
        largest = math.prod(sorted(sizes)[-2:])
        people = max(1.0, _SHARES[0] * self.n_expected / len(pairs))
        error = math.sqrt(cell_oracle(self.epsilon, largest).variance() / people)
        return pairs if error <= _SURE_PAIR else _each_column(d)


def _reach(records: MixedRows, prototypes: Prototypes) -> tuple[float, ...]:
    """Return how far from prototypes numbers are told apart, by synthetic records."""
    apart = np.abs(records.numbers - prototypes.numbers[records.labels(prototypes)])
    if not apart.shape[1]:
        return ()
    return tuple(np.maximum(_REACH * np.quantile(apart, 0.95, axis=0), _LEAST_REACH).tolist())


def _each_column(d: int) -> tuple[tuple[int, ...], ...]:
    return tuple((column,) for column in range(d))


def _inside_bins(
    drawn: Integers, columns: MixedColumns, bins: tuple[int, ...], rng: np.random.Generator
) -> Floats:
    """Return numbers of [-1, 1]: evenly within their bins, or levels themselves."""
    numbers = np.empty(drawn.shape)
    for i, column in enumerate(columns.numbers):
        if column.levels:
            numbers[:, i] = -1 + 2 * drawn[:, i] / (len(column.levels) - 1)
        else:
            numbers[:, i] = -1 + 2 * (drawn[:, i] + rng.random(len(drawn))) / bins[i]
    return numbers
