"""A case for the audit: a mechanism, two inputs, and what was said about them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from shoal.errors import InvalidSetting
from shoal.privacy import Guarantee
from shoal.randomness import Seed

if TYPE_CHECKING:
    from shoal.audit.finding import Finding

__all__ = ["Case", "Cases", "Twin"]


@dataclass(frozen=True, eq=False)
class Case:
    """What to audit and how, fixed before anything is drawn; ``run`` audits it.

    Parameters
    ----------
    mechanism
        For a lower bound: one of ours, or a function of an input, as of ``lower_bound``. For the
        other instruments a function ``(draws, rng)``: see ``instrument``.
    pair
        Two inputs the claim compares, made up for the purpose: no person's row.
    claim
        A guarantee or a number; ``None`` where nothing is promised.
    at_least
        What the instrument should find at the case's own number of draws; ``None`` for no such
        figure. A twin must exceed its claim, too.
    draws
        Outputs a side.
    score, event, delta
        As of ``lower_bound``. For the law, ``score`` is the distribution function claimed.
    instrument
        ``"lower bound"``; ``"ledger"``: the mechanism returns the sum handed to the gate, the claim
        is the promise; ``"brute force"``: it returns the largest sensitivity found, the claim is
        the one stated; ``"law"``: it returns values, held against ``score`` by Kolmogorov's test.
    about
        The pair, and what it is meant to show, in words.

    Examples
    --------
    >>> from shoal.mechanisms import Geometric
    >>> from shoal.privacy import PureDP
    >>> case = Case(Geometric(PureDP(1)), (5, 6), PureDP(1), about="counts 5 and 6")
    >>> case.run(draws=4_000).verdict
    'consistent'
    """

    mechanism: Any
    pair: tuple[Any, Any] | None
    claim: Guarantee | float | None
    at_least: float | None = None
    draws: int = 200_000
    score: Callable[..., Any] | None = None
    event: Callable[..., Any] | None = None
    delta: float = 0.0
    instrument: str = "lower bound"
    about: str = ""

    def run(
        self,
        *,
        draws: int | None = None,
        alpha: float = 0.01,
        random_state: Seed = 0,
        progress: Callable[[str, float], None] | None = None,
    ) -> "Finding":
        """Audit it; seeded, so that whatever is found is found again."""
        draws = self.draws if draws is None else draws
        if self.instrument == "lower bound":
            return self._bounded(draws, alpha, random_state, progress)
        from shoal.audit.measures import measures

        if self.instrument not in measures:
            raise InvalidSetting(
                f"There is no instrument {self.instrument!r}.",
                f"Choose 'lower bound', {', '.join(map(repr, measures))}.",
            )
        return measures[self.instrument](self, draws, alpha, random_state)

    def _bounded(
        self,
        draws: int,
        alpha: float,
        random_state: Seed,
        progress: Callable[[str, float], None] | None,
    ) -> "Finding":
        from shoal.audit.lower_bound import lower_bound

        return lower_bound(
            self.mechanism,
            self.pair,
            self.claim,
            draws=draws,
            alpha=alpha,
            delta=self.delta,
            score=self.score,
            event=self.event,
            random_state=random_state,
            progress=progress,
            constructed=self.about or True,
        )


class Twin(Case):
    """A broken form: its claim is what its authors stated, ``at_least`` what must be found.

    An audit that finds less has rotted, so the figure is part of the case.
    """


class Cases(Mapping[str, Case]):
    """Cases by name, made when first looked at.

    Parameters
    ----------
    make
        Makes them all.
    """

    def __init__(self, make: Callable[[], Mapping[str, Case]]) -> None:
        self._made = cache(make)

    def __getitem__(self, name: str) -> Case:
        return self._made()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._made())

    def __len__(self) -> int:
        return len(self._made())

    def __repr__(self) -> str:
        return f"<{len(self)} cases: {', '.join(map(repr, self))}>"
