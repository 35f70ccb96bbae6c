"""Run a local mechanism over rows of any number: charged once, drawn a block at a time."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.domain import Box
from shoal.engine import Block, Mapped, Rows
from shoal.errors import InvalidSetting, RepeatedStream
from shoal.mechanisms import Reports
from shoal.mechanisms.local import Remap, as_reports
from shoal.mechanisms.local.laplace import needs_all_reports
from shoal.perturb._table_layout import MixtureShape, Names, Numbers, Shape, shape_of
from shoal.perturb.learnt_remap import LearntRemap
from shoal.perturb.report_draft import Draft
from shoal.privacy import Guarantee
from shoal.randomness import NoiseStream, Randomness, TaskNoise


@dataclass(frozen=True)
class Streamed:
    """A mechanism for whole tables: releases reports of all rows of ``rows_of(X, domain)``.

    Parameters
    ----------
    mechanism
        Randomises a row; its columns are the domain's.
    remap
        A remap: ``clamp``, ``snap`` and ``bayes_remap`` with a public prior move reports as they
        are drawn. ``bayes_remap("em")`` learns first, from at most 200,000 of the reports, drawn
        at random; all are stored until then.
    keep_order
        ``False``: reports come out in random order. ``True``: line i reports row i, and the
        place of a row may say what its report hides, as in a table sorted by income.
    draft
        Stores drawn blocks until the output is complete, so that a killed run goes on without a
        second report of anybody; on one machine only.

    Examples
    --------
    >>> import shoal
    >>> from shoal.privacy import Ledger
    >>> box = shoal.Box(age=(0, 110))
    >>> reports = Streamed(shoal.NDLaplace(0.1, domain=box))
    >>> page = Ledger().open(reports.guarantee, by="example")
    >>> rows = shoal.rows_of({"age": [31, 47]}, box)
    >>> drawn = page.release(reports, rows, shoal.Randomness(7).noise, of="reports")
    >>> [batch.num_rows for batch in drawn.batches()]
    [2]
    """

    mechanism: Any
    remap: Remap | None = None
    keep_order: bool = False
    draft: Draft | None = None

    @property
    def draft_run(self) -> str | None:
        """The run whose draft stores drawn blocks; None if lost reports must be paid again."""
        return None if self.draft is None else self.draft.run

    @property
    def guarantee(self) -> Guarantee:
        """The mechanism's guarantee: each row is reported once."""
        promise: Guarantee = self.mechanism.guarantee
        return promise

    def check(self, rows: Rows) -> None:
        """Refuse all that could fail later: a misfit of the domain, and odd rows, in a full pass.

        Parameters
        ----------
        rows
            The rows.
        """
        if isinstance(rows.domain, Box):
            self.mechanism.check(np.array([rows.domain.low, rows.domain.high]))
        check_remap(self.remap, self.mechanism, shape_of(self.mechanism), len(_names(rows)))
        self._mapped(rows, Randomness().noise)  # rows that flow past once cannot be
        rows.size()

    def release(self, rows: Rows, rng: np.random.Generator) -> "Drawn":
        """Return the reports, drawn as they are read; each block has its own noise stream.

        Parameters
        ----------
        rows
            The rows.
        rng
            The noise stream.
        """
        noise = rng if isinstance(rng, NoiseStream) else Randomness(rng).noise
        # A name of its own for every release: one taken twice would raise, and this is paid for.
        own = noise.child("reports", noise.bytes(16).hex())
        is_empty = rows.size() == 0
        shuffle = not (is_empty or self.keep_order)
        learner = None
        if needs_all_reports(self.remap) and not is_empty:
            learner = LearntRemap(self.remap, self.mechanism, own.child("sample"))
        return Drawn(self._mapped(rows, own), own if shuffle else None, learner)

    def _mapped(self, rows: Rows, noise: NoiseStream) -> Mapped:
        kernel = _Kernel(self, rows, noise.for_tasks())
        return rows.map(kernel, kernel.names)


class _Kernel:
    """A kernel that reports the rows of a block with the noise of its position."""

    def __init__(self, reports: Streamed, rows: Rows, noise: TaskNoise) -> None:
        self.shape = shape_of(reports.mechanism)
        self.names = self.shape.names_out(_names(rows))
        self._reports = reports
        self._domain = rows.domain
        self._noise = noise

    def at(self, *place: object) -> Callable[[Block], list[NDArray[Any]]]:
        """Return the function that reports the block at this position."""
        return partial(self._reported, place=place)

    def _reported(self, block: Block, place: tuple[object, ...]) -> list[NDArray[Any]]:
        if not len(block):
            return self.shape.columns(np.empty((0, len(self.names))))
        draft = self._reports.draft
        if draft is None:
            return self._drawn(block, place)
        number = cast("int", place[0])
        draft.check_unchanged(number, block)  # [P6]
        return list(draft.block(number, len(block), lambda: self._drawn(block, place)))  # [P5]

    def _drawn(self, block: Block, place: tuple[object, ...]) -> list[NDArray[Any]]:
        noise = self._noise.stream("block", *place)  # [P1]
        matrix = self.shape.matrix(self.shape.drawn.release(self._value(block), noise))  # [P2]
        remap = self._reports.remap
        if remap is not None and not needs_all_reports(remap):
            matrix = remap(Reports(matrix, self._reports.mechanism)).values
        return self.shape.columns(matrix)

    def _value(self, block: Block) -> Any:
        if isinstance(self._domain, Box):
            return block.numbers
        named = dict(zip(self._domain.numbers, block.numbers.T, strict=True))
        codes = block.codes[:, : len(self._domain.categories)]  # marks of missing numbers follow
        named |= dict(zip(self._domain.categories, codes.T, strict=True))
        return named if isinstance(self.shape, MixtureShape) else block.codes[:, 0]


class Drawn:
    """Reports that can be read once: a second reading would be second reports, not paid for.

    Parameters
    ----------
    order
        Draws the order of the reports, if they are shuffled.
    learner
        Moves the reports by what all of them say, if they are to be moved so.
    """

    def __init__(
        self,
        mapped: Mapped,
        order: NoiseStream | None = None,
        learner: LearntRemap | None = None,
    ) -> None:
        self._mapped: Mapped | None = mapped
        self._order = order
        self._learner = learner

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Draw the reports, a batch at a time; shuffled, all are drawn before the first."""
        return _batches_of(self._take())

    def write(self, path: str | Path, overwrite: bool = False) -> Path:
        """Draw the reports and write them, whole or not at all, where the rows are."""
        with self._take() as reports:
            return reports.write(path, overwrite)

    def frame(self) -> Any:
        """Draw all reports: an Arrow table, or a frame that is computed before this returns."""
        with self._take() as reports:
            return reports.frame()  # [P3]

    def _take(self) -> AbstractContextManager[Mapped]:
        """Return the table of reports; refuse a second time."""
        mapped, self._mapped = self._mapped, None  # [P4]
        if mapped is None:
            raise RepeatedStream(
                "These reports were already taken.", "Keep what was written: reusing it is free."
            )
        drawn = mapped if self._order is None else mapped.shuffled(self._order.child("order"))
        return nullcontext(drawn) if self._learner is None else self._learner.moved(drawn)


def _batches_of(reports: AbstractContextManager[Mapped]) -> Iterator[pa.RecordBatch]:
    with reports as table:
        yield from table.batches()


def reports_name(columns: int) -> str:
    """Describe a table of reports for the ledger.

    Examples
    --------
    >>> reports_name(1), reports_name(3)
    ('reports of 1 column', 'reports of 3 columns')
    """
    return f"reports of {columns} {'column' if columns == 1 else 'columns'}"


def _names(rows: Rows) -> Names:
    domain = rows.domain
    return domain.names if isinstance(domain, Box) else domain.columns


def check_remap(remap: Remap | None, mechanism: Any, shape: Shape, width: int) -> None:
    """Try a remap on a public point, so that it cannot fail once the budget is spent."""
    if remap is None:
        return
    if not isinstance(shape, Numbers):
        raise InvalidSetting(
            "A remap does not apply to reports of categories or cells.",
            "Leave it out: remaps move numbers only.",
        )
    if needs_all_reports(remap) and shape.box is None:
        raise InvalidSetting(
            "The remap learns where records lie, so the mechanism needs a domain.",
            "Give the mechanism one, e.g. NDLaplace(1.0, domain=Box(...)); or give the remap a "
            "public prior.",
        )
    # The middle of the box, or zero: a public point, so trying it tells nothing.
    point = np.zeros((1, width))
    if shape.box is not None:
        point += (shape.box.low + shape.box.high) / 2
    as_reports(remap(Reports(point, mechanism)))
