"""Remap a table of reports by what all of them say: learn a prior from a sample, then move each."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.arrays import Floats
from shoal.engine import Block, Mapped, rows_of, unbounded_box
from shoal.mechanisms import Reports
from shoal.mechanisms.local import Remap
from shoal.mechanisms.local.laplace import with_learnt_prior

SAMPLE = 200_000  # reports that a prior is learnt from: docs/decisions/remaps.md


@dataclass(frozen=True, eq=False)
class LearntRemap:
    """A remap such as ``bayes_remap("em")``, for tables of any size and on either engine.

    Parameters
    ----------
    remap
        Learns from at most 200,000 reports, drawn at random; then each report is moved by itself.
    """

    remap: Remap
    mechanism: Any
    rng: np.random.Generator

    @contextmanager
    def moved(self, drawn: Mapped) -> Iterator[Mapped]:
        """Draw the reports once, store them, and yield the table of where they are moved to.

        Parameters
        ----------
        drawn
            The table of reports, not drawn yet; it has at least one line.
        """
        with drawn.stored() as table:
            reports = rows_of(table, unbounded_box(drawn.names))
            sample = Reports(reports.take(SAMPLE, self.rng), self.mechanism)
            one_by_one = with_learnt_prior(self.remap, sample)
            yield reports.map(_Moved(one_by_one, self.mechanism), drawn.names)


@dataclass(frozen=True, eq=False)
class _Moved:
    """A kernel that remaps reports one by one."""

    remap: Remap
    mechanism: Any

    def __call__(self, block: Block) -> Floats:
        """Return as many columns as came."""
        if not len(block):
            return block.numbers
        return self.remap(Reports(block.numbers, self.mechanism)).values
