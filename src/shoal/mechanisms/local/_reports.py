"""Reports: randomised values, the mechanism that made them, and remaps applied since."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from shoal.errors import NotAReport
from shoal.privacy import Guarantee, Mechanism
from shoal.privacy.notebook_html import promise_sentences, summary_html

# A map made of public things: free, since it never sees a row.
Remap = Callable[["Reports"], "Reports"]


@dataclass(frozen=True, eq=False)
class Reports:
    """Randomised values, one line a person, in the units of the rows.

    Parameters
    ----------
    values
        What was sent; ``np.asarray(reports)`` is the same array. It is kept read-only.
    mechanism
        What made them, so whoever learns from them knows the law of their noise.
    remap
        What was done to them afterwards, if anything. Learners that rely on the law of the noise
        want reports without one.
    simulation
        Whether their noise was seeded: whoever has the seed can take it off again. Of values that
        were randomised elsewhere, as whoever wraps them knows.

    Examples
    --------
    >>> from shoal.mechanisms import PlanarLaplace
    >>> reports = Reports(np.array([[0.5, 2.0], [1.0, 1.5]]), PlanarLaplace(1.0))
    >>> len(reports), np.asarray(reports).shape, reports.mechanism.epsilon
    (2, (2, 2), 1.0)
    """

    values: NDArray[Any]
    mechanism: Mechanism[Any, Any]
    remap: Remap | None = None
    simulation: bool = False

    @classmethod
    def drawn(
        cls, values: NDArray[Any], mechanism: Mechanism[Any, Any], rng: np.random.Generator
    ) -> Self:
        """Wrap values a mechanism has just drawn, marked as a simulation if ``rng`` is seeded.

        Parameters
        ----------
        values
            What was drawn.
        mechanism
            What drew it.
        rng
            The stream it was drawn from.
        """
        return cls(values, mechanism, simulation=bool(getattr(rng, "simulation", True)))

    @property
    def guarantee(self) -> Guarantee:
        """What the mechanism promises, and whether this was a simulation."""
        promised: Guarantee = self.mechanism.guarantee
        # A remap is free as long as its bounds are public.
        return promised.simulated(self.simulation or _has_simulated_bounds(self.remap))

    def __post_init__(self) -> None:
        # A view: the caller's own array stays writable.
        values = np.asarray(self.values).view()
        values.setflags(write=False)
        object.__setattr__(self, "values", values)

    def __len__(self) -> int:
        return len(self.values)

    def _repr_html_(self) -> str:
        """Return how many reports there are, what made them and what they promise."""
        columns = 1 if self.values.ndim < 2 else self.values.shape[1]
        facts = {"Reports": f"{len(self):,}", "Numbers in each": columns}
        facts |= {"Made by": self.mechanism}
        if self.remap is not None:
            facts |= {"Then": self.remap}
        return summary_html("Reports", facts, promise_sentences(self.guarantee))

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.values, dtype=dtype, copy=copy)


def _has_simulated_bounds(remap: Remap | None) -> bool:
    return bool(getattr(getattr(remap, "domain", None), "simulation", False))


def as_reports(value: object) -> Reports:
    """Return the value if it is ``Reports``; refuse rows and bare arrays.

    Parameters
    ----------
    value
        What came.
    """
    if isinstance(value, Reports):
        return value
    raise NotAReport(
        f"Expected reports; got a {type(value).__name__}. True rows must never be passed here.",
        "Pass what mechanism.release(rows, rng) returned, or wrap values that were randomised "
        "elsewhere: Reports(values, mechanism).",
    )


def as_raw_reports(value: object) -> Reports:
    """Return reports to which no remap was applied; refuse others.

    Parameters
    ----------
    value
        What came.
    """
    reports = as_reports(value)
    if reports.remap is None:
        return reports
    raise NotAReport(
        f"These reports went through {type(reports.remap).__name__}, which changed the "
        "distribution of their noise.",
        "Keep the reports as they were released, and pass those.",
    )
