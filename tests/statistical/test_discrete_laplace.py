"""The noise has the law its proof names. False-alarm rate of each test: 1e-6, seeds fixed."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from shoal.mechanisms.exact._discrete_laplace import geometric_law, skip_law
from shoal.mechanisms.exact._whole_numbers import FARTHEST
from shoal.randomness import Randomness

ALARM = 1e-6
N = 1_000_000


def two_sided_cells(a: float, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Values -m .. m and the exact mass of each, tails in the outermost, each expecting >= 20."""
    m = max(1, int(math.log(n * (1 - a) / (1 + a) / 20) / -math.log(a)))
    values = np.arange(-m, m + 1)
    mass = (1 - a) / (1 + a) * a ** np.abs(values)
    mass[[0, -1]] = a**m / (1 + a)
    return values, mass


def chi_square(observed: np.ndarray, mass: np.ndarray, cells: int = 200) -> float:
    """p-value, neighbouring values pooled into at most ``cells`` groups."""
    groups = np.minimum((np.cumsum(mass) * cells).astype(int), cells - 1)
    expected = np.bincount(groups, mass) * observed.sum()
    seen = np.bincount(groups, observed)
    keep = expected > 5
    return stats.chisquare(
        seen[keep], expected[keep] * seen[keep].sum() / expected[keep].sum()
    ).pvalue


@pytest.mark.parametrize("epsilon", ["0.01", "0.1", "1", "5"])
def test_two_sided_noise_has_the_exact_law(epsilon):
    a = math.exp(-float(epsilon))
    drawn = geometric_law(Fraction(epsilon)).two_sided(N, Randomness(11).noise)
    values, mass = two_sided_cells(a, N)
    clipped = np.clip(drawn, values[0], values[-1]) - values[0]
    assert chi_square(np.bincount(clipped, minlength=values.size), mass) > ALARM


@pytest.mark.parametrize("step", ["0.007", "1/1024", "1e-5", "1e-9"])
def test_small_steps_through_several_tables_have_the_law_too(step):
    """1 - e^(-step G) is uniform to within the step; and sizes do not depend on the sign."""
    law = geometric_law(Fraction(step))
    drawn = law.two_sided(N, Randomness(12).noise)
    sizes = np.where(drawn < 0, ~drawn, drawn)
    b, cells = float(Fraction(step)), 100
    edges = np.ceil(-np.log1p(-np.arange(1, cells) / cells) / b)  # first G of each cell but one
    mass = np.diff(np.concatenate([[0], -np.expm1(-b * edges), [1]]))
    place = np.searchsorted(edges, sizes, side="right")
    for part in (place, place[drawn < 0], place[drawn >= 0]):
        assert stats.chisquare(np.bincount(part, minlength=cells), mass * part.size).pvalue > ALARM
    minus = math.exp(-b) / (1 + math.exp(-b))
    assert stats.binomtest(int((drawn < 0).sum()), N, minus).pvalue > ALARM


@pytest.mark.parametrize("step", ["1/1024", "1e-9"])
def test_low_bits_have_the_law_of_their_place(step):
    drawn = geometric_law(Fraction(step)).one_sided(N, Randomness(13).noise)
    b = float(Fraction(step))
    for bit in range(8):
        one = math.exp(-b * 2**bit) / (1 + math.exp(-b * 2**bit))
        assert stats.binomtest(int(((drawn >> bit) & 1).sum()), N, one).pvalue > ALARM


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_it_agrees_with_opendp(epsilon):
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    theirs = np.array(dp.m.make_geometric(*space, scale=1 / epsilon)([0] * 100_000))
    ours = geometric_law(Fraction(str(epsilon))).two_sided(100_000, Randomness(14).noise)
    top = int(6 / epsilon)
    table = [
        np.bincount(np.clip(x, -top, top) + top, minlength=2 * top + 1) for x in (ours, theirs)
    ]
    table = np.array(table)[:, np.sum(table, axis=0) > 10]
    assert stats.chi2_contingency(table).pvalue > ALARM / 2  # theirs has no seed


def test_neighbouring_draws_are_independent():
    drawn = geometric_law(Fraction(1)).two_sided(N, Randomness(15).noise)
    table = np.zeros((5, 5))
    np.add.at(table, (np.clip(drawn[:-1], -2, 2) + 2, np.clip(drawn[1:], -2, 2) + 2), 1)
    assert stats.chi2_contingency(table).pvalue > ALARM


def test_gaps_between_false_cells_have_their_law():
    """p = a^tau/(1 + a): the gap is 0 with probability p, and its mean is (1 - p)/p."""
    a, tau = math.exp(-0.5), 8
    p = a**tau / (1 + a)
    gaps = skip_law(Fraction(1, 2), tau).one_sided(N, Randomness(16).noise)
    assert stats.binomtest(int((gaps == 0).sum()), N, p).pvalue > ALARM
    standard_error = math.sqrt(1 - p) / p / math.sqrt(N)
    assert abs(gaps.mean() - (1 - p) / p) < stats.norm.isf(ALARM / 2) * standard_error


def test_what_lies_beyond_two_to_the_62_is_given_as_that():
    assert set(skip_law(Fraction(1), 500).one_sided(64, Randomness(17).noise)) == {FARTHEST}
