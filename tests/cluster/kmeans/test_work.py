from fractions import Fraction

from shoal.cluster.kmeans.work import Work
from shoal.domain import Box
from shoal.engine import rows_of
from shoal.privacy import ApproxDP, Ledger, PureDP
from shoal.randomness import Randomness


def work(promise):
    page = Ledger().open(promise, by="test")
    rows = rows_of([[0.5]], Box.unit(1))
    return Work(rows, page, Randomness(1), page.budget, 1, Fraction(1))


def test_shares_of_a_pure_budget_are_pure():
    one = work(PureDP(2))
    assert one.pure(Fraction(1, 4)) == PureDP(Fraction(1, 2))
    assert one.step(Fraction(1, 4), of=Fraction(1, 2)) == PureDP(Fraction(1, 2))


def test_steps_divide_the_whole_delta_between_them():
    one = work(ApproxDP(2, 1e-6))
    assert one.pure(Fraction(1, 4)) == PureDP(Fraction(1, 2))
    steps = [one.step(share, of=Fraction(1, 2)) for share in (Fraction(1, 8), Fraction(3, 8))]
    assert steps[0] + steps[1] == ApproxDP(1, 1e-6)
