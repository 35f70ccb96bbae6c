"""A scikit-learn transformer that reports a table through a local mechanism."""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from shoal.arrays import Floats
from shoal.domain import Box
from shoal.engine import by_engine
from shoal.engine.table import FrameTable
from shoal.errors import DimensionMismatch, InvalidSetting, UnknownColumn, setting
from shoal.estimator import ReleasesWithLedger
from shoal.mechanisms import NDLaplace, Reports
from shoal.mechanisms.local import Remap, refuse_degrees
from shoal.perturb._distributed_frames import check_for_frame, rows_of_frame
from shoal.perturb._memo import Memo
from shoal.perturb._plain_values import settings_of
from shoal.perturb._table_layout import Names, Shape, shape_of
from shoal.perturb.report_stream import Streamed, check_remap, reports_name
from shoal.perturb.tables import check_token, frame_like, frame_of, names_of, tokens_of
from shoal.privacy import Budget, Guarantee, Ledger, LedgerOrPath, Unprotected
from shoal.privacy.ledger_page import Page
from shoal.randomness import Randomness, Seed


class Perturb(ReleasesWithLedger, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Report every row of a table through a local mechanism.

    A Spark frame is reported where its rows are, in a Spark frame.

    Guarantee
    ---------
    The mechanism's, for one report of one person: ``guarantee_``. Only perturbed columns come
    out; all others, the token of a person and the index of a pandas frame included, stay where
    they are. Each ``transform`` that draws is one entry in the ledger.

    Line i of the reports is line i of the table, as everywhere in scikit-learn. A table sorted by
    income then shows every rank, whatever the budget: shuffle the reports before they leave.

    Parameters
    ----------
    mechanism
        What randomises a row. Its domain names the columns, which are picked from a data frame by
        name; without one all columns are taken. Settings come from public knowledge: ``fit``
        learns nothing from the rows but how many columns there are and what they are called.
    remap
        What follows the reports at no cost: ``clamp(box)``, ``snap(box, nodes)``,
        ``bayes_remap()``. It never sees a row.
    memo
        ``"frozen"``: a person has one report, whatever their rows say later; a second row of
        theirs gets the first one's report, and repeating it costs nothing. It is remembered by
        this object; give a ``Memo("reports.memo")`` to remember it beyond the process. Rows
        with equal reports are seen to be one person's. ``"fresh"``: every row is drawn anew, and
        the ledger adds up.
    person
        The column of a data frame that holds an opaque token of the person; not on Spark. Left
        out, every row is a person of its own: whoever has two rows, or comes again, is reported
        again, and that adds up.
    ledger
        Where promises are written: a ``Ledger`` or the path of its file; a private one,
        ``ledger_``, if left out.
    random_state
        Leave it out for real noise. A seed makes a simulation, which protects nobody.

    Attributes
    ----------
    guarantee_
        What a person is promised for one report.
    ledger_
        The ledger in use.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> import shoal
    >>> noise = shoal.NDLaplace(1.0, domain=shoal.Box(x=(0, 9), y=(0, 9)))
    >>> perturb = Perturb(noise, person="who", random_state=7)
    >>> rows = {"who": ["ada", "bob", "ada"], "x": [1, 5, 2], "y": [1, 5, 2]}
    >>> import pyarrow as pa
    >>> reports = perturb.fit_transform(pa.table(rows))
    >>> reports.column_names, reports["x"][0] == reports["x"][2]
    (['x', 'y'], True)
    >>> perturb.transform(pa.table(rows)).equals(reports), len(perturb.ledger_.entries())
    (True, 1)
    """

    def __init__(
        self,
        mechanism: Any,
        remap: Remap | None = None,
        memo: str | Memo = "frozen",
        person: str | None = None,
        ledger: LedgerOrPath | None = None,
        random_state: Seed = None,
    ) -> None:
        self.mechanism = mechanism
        self.remap = remap
        self.memo = memo
        self.person = person
        self.ledger = ledger
        self.random_state = random_state

    def fit(self, X: Any, y: None = None) -> Self:
        """Check settings and rows, and learn the columns' names; spends nothing.

        Parameters
        ----------
        X
            A table of people: an array, a data frame or a Spark frame.
        y
            Ignored; scikit-learn's pipelines pass it.
        """
        noise = Randomness(self.random_state).noise
        shape = shape_of(self.mechanism)
        self._check_settings(noise.simulation)
        rows = by_engine(
            X,
            embedded=lambda X: self._read(X, shape, fitting=True),
            distributed=lambda table: self._read_names(table, shape),
        )
        check_remap(self.remap, self.mechanism, shape, len(rows.names))
        self._check_units(rows.names)
        self._noise = noise
        self._names = rows.names if rows.framed or shape.names else None
        # Both outlive a second fit, which must not make anybody report twice.
        self._memo = self.memo if isinstance(self.memo, Memo) else getattr(self, "_memo", Memo())
        given = Ledger.of(self.ledger, columns=rows.names)
        self.ledger_ = given if self.ledger is not None else getattr(self, "ledger_", given)
        self._fitted = self.get_params(deep=False)
        self.guarantee_ = self.mechanism.guarantee.simulated(noise.simulation)
        return self

    def transform(self, X: Any) -> Any:
        """Return the reports, one line a row, in a table of the same kind.

        Parameters
        ----------
        X
            A table with the columns it was fitted on.
        """
        check_is_fitted(self, "guarantee_")
        self._check_unchanged()
        shape = shape_of(self.mechanism)
        return by_engine(
            X,
            embedded=lambda X: self._report_in_memory(X, shape),
            distributed=lambda table: self._report_on_cluster(table, shape),
        )

    def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> NDArray[Any]:
        """Return the columns of the reports.

        Parameters
        ----------
        input_features
            The columns, where ``fit`` saw an array.
        """
        given = super().get_feature_names_out(input_features)
        names = tuple(given) if self._names is None else self._names
        return np.array(shape_of(self.mechanism).names_out(names), dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        return tags

    def _report_in_memory(self, X: Any, shape: Shape) -> Any:
        """Return reports in memory, in a table of the same kind."""
        rows = self._read(X, shape, fitting=False)
        reports = self._reports(shape, rows)
        if self.remap is not None and rows.n:
            reports = np.asarray(self.remap(Reports(reports, self.mechanism)).values)
        columns = dict(zip(shape.names_out(rows.names), shape.columns(reports), strict=True))
        if (kind := self._chosen_output()) != "default":
            return frame_of(columns, kind)  # scikit-learn would give columns X's own index
        return frame_like(X, columns) if rows.framed else np.column_stack(list(columns.values()))

    def _reports(self, shape: Shape, rows: "_ReadTable") -> Floats:
        if not rows.n:
            return np.empty((0, len(shape.names_out(rows.names))))
        if rows.tokens is None:
            return self._draw(shape, rows.value)
        if isinstance(self.memo, str) and self.memo == "fresh":
            return self._draw(shape, rows.value, times=max(Counter(rows.tokens).values()))
        return self._remembered(shape, rows.value, self._memo.hashed(rows.tokens))

    def _remembered(self, shape: Shape, value: Any, people: list[bytes]) -> Floats:
        """Return the report of each row's person, drawn for those who have none."""
        with self._memo.open(self._collection(shape)) as notes:
            reports = notes.find(dict.fromkeys(people))
            # Reversed, so that a person's first row is the one that stays in the mapping.
            first = {who: at for at, who in reversed([*enumerate(people)]) if who not in reports}
            if first:
                drawn = self._draw(shape, shape.some(value, list(first.values())))
                new = dict(zip(first, (line.tobytes() for line in drawn), strict=True))
                notes.add(new)
                reports |= new
        lines = np.frombuffer(b"".join(reports[who] for who in people))
        return lines.reshape(len(people), -1)

    def _draw(self, shape: Shape, value: Any, times: int = 1) -> Floats:
        """Draw reports: one promise, one entry in the ledger, one draw."""
        mechanism = shape.drawn if times == 1 else _Repeated(shape.drawn, times)
        page = self._open(mechanism.guarantee)
        return shape.matrix(page.release(mechanism, value, self._noise, of="reports"))

    def _open(self, promise: Guarantee) -> Page:
        """Open a page for one table of reports."""
        columns = self.n_features_in_ if self._names is None else len(self._names)
        return self.ledger_.open(promise, by=type(self).__name__, of=reports_name(columns))

    def _collection(self, shape: Shape) -> bytes:
        """Return a digest of mechanism and columns; simulations have another."""
        about = [list(self._names or ()), self.person]  # tokens of two columns are two people's
        facts = [settings_of(self.mechanism), *about, self.guarantee_.simulation]
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).digest()

    def _read(self, X: Any, shape: Shape, fitting: bool) -> "_ReadTable":
        """Read and check the mechanism's columns, and whose each row is."""
        available = names_of(X)
        if available is None and self.person is not None:
            raise InvalidSetting(
                f"An array has no column {self.person!r} with tokens of people.",
                "Pass a data frame.",
            )
        columns = (
            None if available is None else _reported_columns(available, shape.names, self.person)
        )
        value = shape.read(X, columns)
        shape.drawn.check(value)
        if fitting or available is None or shape.names is None:
            self._check_columns(X, fitting, framed=available is not None)
        names = columns or shape.names or tuple(f"x{i}" for i in range(self.n_features_in_))
        tokens = None if self.person is None else tokens_of(X, self.person)
        return _ReadTable(value, _length(value), names, columns is not None, tokens)

    def _read_names(self, table: FrameTable, shape: Shape) -> "_ReadTable":
        """Read the names of a frame's columns; its rows are checked on the cluster."""
        check_for_frame(self.person)
        domain = rows_of_frame(table, shape).domain
        names = domain.names if isinstance(domain, Box) else domain.columns
        self.n_features_in_, self.feature_names_in_ = len(names), np.array(names, dtype=object)
        return _ReadTable(None, 0, names, True, None)

    def _report_on_cluster(self, table: FrameTable, shape: Shape) -> Any:
        """Return a frame of reports, drawn by the workers before it is returned."""
        check_for_frame(self.person)
        reports = Streamed(self.mechanism, self.remap, keep_order=True)
        page = self._open(reports.guarantee)
        rows = rows_of_frame(table, shape)
        return page.release(reports, rows, self._noise, of="reports").frame()

    def _check_columns(self, X: Any, fitting: bool, framed: bool) -> None:
        try:
            table = X if framed else np.asanyarray(X)
            validate_data(self, table, reset=fitting, skip_check_array=True)
        except ValueError as error:  # its words name columns, never values
            kind = UnknownColumn if framed else DimensionMismatch
            raise kind(str(error).strip(), "Pass the columns it was fitted on.") from None

    def _check_settings(self, simulation: bool) -> None:
        if not isinstance(self.memo, Memo) and self.memo not in ("frozen", "fresh"):
            raise InvalidSetting(
                setting("memo") + " must be 'frozen', 'fresh' or a Memo.",
                "Choose one; 'frozen' costs least.",
            )
        if isinstance(self.mechanism.guarantee, Unprotected) and not simulation:
            raise InvalidSetting(
                f"The mechanism promises nothing: {self.mechanism.guarantee.reason}.",
                "Use one that does, or set "
                + setting("random_state", 7)
                + " to make this a simulation.",
            )

    def _check_units(self, names: Names) -> None:
        """Refuse degrees by the columns' names, where no box tells the unit."""
        laplace = self.mechanism
        if isinstance(laplace, NDLaplace) and laplace.domain is None and laplace.scale is None:
            refuse_degrees(names)

    def _check_unchanged(self) -> None:
        """Refuse settings changed since ``fit``: ``guarantee_`` is about those it saw."""
        now = self.get_params(deep=False)
        changed = [name for name, was in self._fitted.items() if not _is_same(was, now[name])]
        if changed:
            raise InvalidSetting(
                f"{', '.join(changed)} changed after fit.", "Call fit again, then transform."
            )

    def _chosen_output(self) -> str:
        """Return the kind of frame that ``set_output`` asked for, or "default"."""
        own: str | None = getattr(self, "_sklearn_output_config", {}).get("transform")
        return own or str(get_config()["transform_output"])


class _ReadTable(NamedTuple):
    """What was read of a table."""

    value: Any
    n: int
    names: Names
    framed: bool
    tokens: list[str] | None


@dataclass(frozen=True)
class _Repeated:
    """A mechanism for a table with up to ``times`` rows of one person: guarantees add up."""

    mechanism: Any
    times: int

    @property
    def guarantee(self) -> Guarantee:
        """``times`` the mechanism's guarantee."""
        one = self.mechanism.guarantee
        return one * self.times if isinstance(one, Budget) else one

    def check(self, value: Any) -> None:
        """Check as the mechanism does."""
        self.mechanism.check(value)

    def release(self, value: Any, rng: np.random.Generator) -> Any:
        """Release as the mechanism does."""
        return self.mechanism.release(value, rng)


def _is_same(was: Any, now: Any) -> bool:
    return was is now or bool(type(was) is type(now) and was == now)


def _reported_columns(available: Names, named: Names | None, person: str | None) -> Names:
    """Return the columns of a frame that are reported."""
    check_token(person, named or ())
    return named or tuple(name for name in available if name != person)


def _length(value: Any) -> int:
    return len(next(iter(value.values())) if isinstance(value, dict) else value)
