"""The bound on shuffled sums: never below the exact value, and as tight as it was stated."""

import itertools
import math
from collections import defaultdict

import pytest

from shoal.collector._amplification import shuffled, shuffled_delta, shuffled_epsilon
from shoal.domain import Box
from shoal.errors import InvalidSetting
from shoal.mechanisms import LocalGrid, RandomizedResponse
from shoal.mechanisms.local.categories._local_hash import LocalHash
from shoal.mechanisms.local.categories._residual_sign import ResidualSign


class Hash:
    """A local hash of chosen buckets and digits, as exact laws."""

    def __init__(self, epsilon, g, t):
        self.ratio, self.g, self.t = math.exp(epsilon), g, t

    def law(self, x):
        g, law = self.g, {}
        for f in range(g**self.t):
            place = sum(f // g**i % g * (x // g**i % g) for i in range(self.t)) % g
            for z in range(g):
                law[f * g + z] = (
                    (self.ratio if z == place else 1) / (self.ratio + g - 1) / g**self.t
                )
        return law


def response_law(epsilon, k, x):
    ratio = math.exp(epsilon)
    return {y: (ratio if y == x else 1) / (ratio + k - 1) for y in range(k)}


def histograms(laws):
    """The exact law of the histogram of independent reports."""
    total = {(): 1.0}
    for law in laws:
        added = defaultdict(float)
        for histogram, chance in total.items():
            for code, own in law.items():
                added[tuple(sorted((*histogram, code)))] += chance * own
        total = added
    return total


def exact_delta(laws, n, epsilon):
    """The largest hockey-stick divergence over all data of the others."""
    worst = 0.0
    for others in itertools.combinations_with_replacement(range(len(laws)), n - 1):
        rest = [laws[x] for x in others]
        first, second = histograms([laws[0], *rest]), histograms([laws[1], *rest])
        gap = sum(max(p - math.exp(epsilon) * second[h], 0) for h, p in first.items())
        worst = max(worst, gap)
    return worst


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("local", [0.5, 1.0, 2.0])
def test_no_exact_value_of_randomised_response_is_above_the_bound(k, local):
    laws = [response_law(local, k, x) for x in range(k)]
    for n in (2, 3, 5, 8) if k == 2 else (2, 3, 5):
        for epsilon in (0.05, 0.2, 0.4 * local, 0.8 * local):
            bound = shuffled_delta(RandomizedResponse(local, k), n, epsilon)
            assert exact_delta(laws, n, epsilon) <= bound + 1e-12


@pytest.mark.parametrize(("g", "t", "size"), [(2, 2, 4), (3, 1, 3)])
def test_no_exact_value_of_local_hash_is_above_the_bound(g, t, size, monkeypatch):
    monkeypatch.setattr(LocalHash, "buckets", g)
    for local in (1.0, 2.0):
        laws = [Hash(local, g, t).law(x) for x in range(1, size)]  # code 0 has bucket 0 always
        laws = laws if g == 2 else [Hash(local, g, t).law(x) for x in range(size)]
        for n in (2, 3):
            for epsilon in (0.1, 0.5):
                bound = shuffled_delta(LocalHash(local, size), n, epsilon)
                assert exact_delta(laws, n, epsilon) <= bound + 1e-12


def test_the_bound_is_tight_where_there_is_nothing_to_reveal():
    laws = [response_law(1.0, 2, x) for x in range(2)]
    bound = shuffled_delta(RandomizedResponse(1.0, 2), 6, 0.3)
    assert bound <= 1.3 * exact_delta(laws, 6, 0.3)


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("mechanism", "values"),
    [
        (RandomizedResponse(1.0, 2), {10**3: 0.149, 10**4: 0.0432, 10**5: 0.0124}),
        (RandomizedResponse(2.0, 10), {10**3: 0.273, 10**4: 0.0798}),
        (LocalHash(1.0, 225), {10**3: 0.120, 10**4: 0.0348}),
        (LocalHash(4.0, 225), {10**3: 0.962, 10**4: 0.285}),
    ],
)
def test_epsilons_are_those_of_the_table(mechanism, values):
    for n, expected in values.items():
        assert shuffled_epsilon(mechanism, n, 1e-6) == pytest.approx(expected, rel=0.02)


@pytest.mark.slow
def test_a_million_people_match_the_table():
    epsilon = shuffled_epsilon(RandomizedResponse(1.0, 10), 10**6, 1e-6)
    assert epsilon == pytest.approx(0.0019, rel=0.03)


@pytest.mark.heavy
def test_more_people_and_more_delta_never_hurt_and_columns_do():
    grid = LocalGrid(Box.unit(2), epsilon=2.0, cells=10)
    sides = ResidualSign(Box.unit(2), [[0.2, 0.2], [0.7, 0.7]], 0.2, epsilon=2.0)
    values = [shuffled_epsilon(grid, n) for n in (50, 500, 5_000)]
    assert values == sorted(values, reverse=True)
    assert shuffled_epsilon(grid, 500, 1e-3) < shuffled_epsilon(grid, 500, 1e-9)
    assert shuffled_epsilon(sides, 500) > shuffled_epsilon(sides.oracle, 500)
    assert shuffled_epsilon(grid, 2) == 2.0  # nobody to hide among: the local promise


@pytest.mark.heavy
def test_the_promise_leaves_liars_out_and_large_epsilons_need_insistence():
    response = RandomizedResponse(1.0, 2)
    promise = shuffled(response, 1_000, liars=0.1)
    assert float(promise.epsilon) == shuffled_epsilon(response, 900)
    assert promise.neighbours == "replace-one"
    with pytest.raises(InvalidSetting, match="above 4"):
        shuffled(RandomizedResponse(5.0, 2), 1_000)
    with pytest.raises(InvalidSetting, match="liars"):
        shuffled(response, 1_000, liars=1)
