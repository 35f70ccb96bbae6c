"""What mechanisms receive on a page, and the budget that its Gaussian releases share.

See ``gaussian_share.proof.md``.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Self, cast

from shoal.errors import IncomparableGuarantees, InvalidBudget, PromiseExceeded
from shoal.privacy._exact_numbers import Number, exact, exact_text
from shoal.privacy.guarantees import ApproxDP, Budget, Guarantee, PureDP, Unprotected


@dataclass(frozen=True, repr=False)
class GaussianShare(Guarantee):
    r"""One Gaussian release's part of an ``ApproxDP`` budget that several share by their variances.

    Gaussian releases one after the other are together one Gaussian release. So they divide one
    (epsilon, delta) by 1 / variance, instead of adding an epsilon and a delta each. A page charges
    the whole of it at the first part, and refuses parts that add up to more than 1. A part is no
    promise by itself: no page can be opened for one.

    Guarantee
    ---------
    All parts on a page keep :math:`(\varepsilon, \delta)`-DP together, for one row added or
    removed, with pure releases between them whose epsilons add. See ``gaussian_share.proof.md``.

    Parameters
    ----------
    epsilon
        What all parts keep together, for one row added or removed.
    delta
        The same, above 0.
    fraction
        The part of this release, above 0 and at most 1: its noise has the variance that the whole
        budget would need, over this fraction.

    Examples
    --------
    >>> budget = ApproxDP(1, 1e-6)
    >>> third = GaussianShare.of(budget, Fraction(1, 3))
    >>> third.whole == budget, (third + third).fraction
    (True, Fraction(2, 3))
    """

    _amounts: ClassVar[tuple[str, ...]] = ("fraction",)
    epsilon: Fraction
    delta: Fraction
    fraction: Fraction

    def __post_init__(self) -> None:
        whole = ApproxDP(self.epsilon, self.delta)
        fraction = exact(self.fraction)
        if fraction is None or not 0 < fraction <= 1 or not whole.delta:
            raise InvalidBudget(
                "A Gaussian release takes a fraction above 0 and at most 1 of a budget that has a "
                "delta.",
                "E.g. GaussianShare.of(ApproxDP(1, 1e-6), Fraction(1, 3)).",
            )
        for name, value in (("epsilon", whole.epsilon), ("delta", whole.delta)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "fraction", fraction)

    @classmethod
    def of(cls, budget: ApproxDP, fraction: Number) -> "GaussianShare":
        """Return a part of a budget for one row added or removed.

        Parameters
        ----------
        budget
            What all parts keep together.
        fraction
            The part of one release.
        """
        if not isinstance(budget, ApproxDP) or budget.steps > 1:
            raise InvalidBudget(
                f"Gaussian releases share an ApproxDP for one row added or removed; got {budget}.",
                "Give a share of page.budget, or promise.per_row().",
            )
        part = cast("Fraction", fraction)  # read exactly, and refused, by __post_init__
        return cls(budget.epsilon, budget.delta, part, simulation=budget.simulation)

    @property
    def whole(self) -> ApproxDP:
        """What all parts keep together."""
        return ApproxDP(self.epsilon, self.delta, simulation=self.simulation)

    def __add__(self, other: object) -> Self:
        """Return two parts of one budget as one part."""
        if not isinstance(other, Guarantee):
            return NotImplemented
        if not isinstance(other, GaussianShare) or self.kind != other.kind:
            raise self._incomparable(other)
        fraction = self.fraction + other.fraction
        return replace(self, fraction=fraction, simulation=self.simulation or other.simulation)


@dataclass(frozen=True)
class PageTotal:
    """What mechanisms received on a page so far.

    Parameters
    ----------
    total
        All of it; None on a page whose promise does not add up, and before the first release.
    gaussian
        What is taken of the one budget that Gaussian releases share by their variances.
    """

    total: Budget | None = None
    gaussian: GaussianShare | None = None

    def after(self, more: Guarantee, budget: Guarantee) -> "PageTotal":
        """Return what will have been spent after a release; refuse if that is too much."""
        if isinstance(more, GaussianShare):
            return self._after_part(more, budget)
        if self.gaussian is not None and isinstance(more, ApproxDP) and more.delta:  # [P4]
            raise PromiseExceeded(
                f"Gaussian releases of this page share {self.gaussian.whole}; this one has a "
                "delta of its own.",
                "Give it a part of the budget that they share, or release it before the first.",
            )
        return replace(self, total=_total_after(self.total, more, budget))

    def _after_part(self, part: GaussianShare, budget: Guarantee) -> "PageTotal":
        """Charge the budget that Gaussian releases share at its first part, then count parts."""
        if self.gaussian is None:
            return PageTotal(_total_after(self.total, part.whole, budget), part)  # [P1]
        if part.kind != self.gaussian.kind:  # [P2]
            raise PromiseExceeded(
                f"Gaussian releases of this page share {self.gaussian.whole}; this one is part of "
                f"{part.whole}.",
                "Give all of them parts of one budget, fixed before the first.",
            )
        if self.gaussian.fraction + part.fraction > 1:  # [P3]
            raise PromiseExceeded(
                f"Gaussian releases took {exact_text(self.gaussian.fraction)} of "
                f"{self.gaussian.whole}; this one takes {exact_text(part.fraction)} more.",
                "This is a fault in the method: its fractions must sum to at most 1.",
            )
        return replace(self, gaussian=self.gaussian + part)


def _total_after(total: Budget | None, more: Guarantee, budget: Guarantee) -> Budget | None:
    """Return the total after a release of ``more``; refuse if that is too much."""
    if isinstance(budget, ApproxDP) and isinstance(more, PureDP):
        more = more.as_approx()
    check_kind(more, budget)
    if not isinstance(budget, Budget):
        return None
    after = cast("Budget", more) if total is None else total + more
    if not after.within(budget):
        raise PromiseExceeded(
            f"The page promised {budget}; with this release the mechanisms would use {after}.",
            "This is a fault in the method: its shares must sum to page.budget.",
        )
    return after


def check_kind(more: Guarantee, budget: Guarantee) -> None:
    """Refuse a release of another kind than the page's budget."""
    same = more.kind == budget.kind if isinstance(budget, Budget) else more == budget
    if not same and not isinstance(budget, Unprotected):
        raise IncomparableGuarantees(
            f"A mechanism of {more} cannot release on a page of {budget}.",
            "Give the mechanism a share of page.budget.",
        )
