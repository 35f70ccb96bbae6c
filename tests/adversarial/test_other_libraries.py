"""Faults that shipped elsewhere, rebuilt small: our audit and our gate catch each, we have none.

Every twin is written from the description of a fault, not from anyone's code. What was measured
on the libraries themselves is in docs/why-not.md.
"""

import copy
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from sklearn.base import clone

from shoal.audit import lower_bound_of
from shoal.audit.twins import twins
from shoal.audit.twins._kmeans_steps import draw_noisy_sums, is_far_right, run_lloyd_steps
from shoal.audit.twins._ledger_sums import (
    Accountant,
    ChargingEstimator,
    budget_shares,
    spend_in_shares,
)
from shoal.cluster import PrivateKMeans
from shoal.domain import Box
from shoal.errors import PromiseExceeded
from shoal.privacy import Ledger, PureDP
from shoal.randomness import Randomness

LINE = Box(x=(-1, 1))
FEW = np.full((200, 1), -0.9)
ONE_MORE = np.vstack([FEW, [[0.9]]])


def test_skipping_empty_clusters_shows_who_is_alone():
    twin = twins["Lloyd that skips empty clusters"]
    without = twin.mechanism.draw(0, 4_000, Randomness(1).noise)
    assert not is_far_right(without[:, None]).any()  # no such centre can be, without the row
    assert twin.run(draws=4_000).verdict == "violated"


def test_noising_empty_clusters_too_mends_the_twin():
    mended = replace(
        twins["Lloyd that skips empty clusters"], mechanism=run_lloyd_steps(skip_empty=False)
    )
    assert mended.run(draws=20_000).verdict == "consistent"
    assert is_far_right(mended.mechanism.draw(0, 4_000, Randomness(1).noise)[:, None]).any()


@pytest.mark.parametrize("method", ["lloyd", pytest.param("auto", marks=pytest.mark.slow)])
def test_someone_alone_does_not_show_in_ours(method):
    """At most epsilon, but for one run in a million of this test (alpha)."""

    def largest(rows, seed):
        model = PrivateKMeans(
            2, epsilon=1.0, domain=LINE, method=method, clipping="accept", random_state=seed,
            n_public=200,
        )  # fmt: skip
        return model.fit(rows).cluster_centers_.max()

    without = np.array([largest(FEW, seed) for seed in range(1_000)])
    with_one = np.array([largest(ONE_MORE, seed) for seed in range(1_000, 2_000)])
    found = lower_bound_of(with_one, without, claim=PureDP(1), event=is_far_right, alpha=1e-6)
    assert found.verdict == "consistent"


def page_of_one():
    return Ledger().open(PureDP(1), by="twin")


@pytest.mark.parametrize("d", [5, 8, 10, 20, 100])
def test_a_split_the_wrong_way_round_is_refused_at_the_gate(d):
    count, axis = budget_shares(d, 2, swapped=True)
    assert 2 * (count + d * axis) > 1
    with pytest.raises(PromiseExceeded):
        spend_in_shares(page_of_one(), d, Randomness(1).noise, swapped=True)


@pytest.mark.parametrize("d", [1, 5, 10, 100])
def test_the_split_the_right_way_round_spends_the_promise_to_the_last_bit(d):
    assert spend_in_shares(page_of_one(), d, Randomness(1).noise, swapped=False) == 1


@pytest.mark.parametrize(("about_the_middle", "verdict"), [(False, "violated"),
                                                           (True, "consistent")])  # fmt: skip
def test_sums_far_from_zero_move_by_more_than_the_width_of_the_box(about_the_middle, verdict):
    twin = twins["sums with the width of the box as sensitivity"]
    form = draw_noisy_sums(about_the_middle=about_the_middle)
    assert replace(twin, mechanism=form).run(draws=20_000).verdict == verdict


def test_where_the_box_lies_changes_nothing_in_ours():
    """The boxes are whole numbers apart and rows lie on a lattice: shifting them is exact."""
    middles = np.array([[-0.5, -0.5], [0.5, -0.25], [0.0, 0.5]]).repeat(700, axis=0)
    rows = middles + np.round(np.random.default_rng(2).normal(0, 0.05, (2_100, 2)) * 2**20) / 2**20
    here, there = Box(a=(-1, 1), b=(-1, 1)), Box(a=(100, 102), b=(127, 129))
    shift = there.low - here.low
    for method in ("auto", "lloyd"):
        a, b = (
            PrivateKMeans(3, epsilon=1.0, domain=box, method=method, random_state=7).fit(X)
            for box, X in ((here, rows), (there, rows + shift))
        )
        moved = np.sort(a.cluster_centers_ + shift, axis=0)
        np.testing.assert_allclose(moved, np.sort(b.cluster_centers_, axis=0), atol=1e-6)


def test_an_accountant_that_is_copied_with_its_estimator_forgets_what_clones_spent():
    accountant = Accountant()
    for _ in range(3):
        clone(ChargingEstimator(accountant)).fit(FEW)
    assert accountant.spent == 0


@pytest.mark.filterwarnings("ignore::shoal.errors.NoGroupsDetected")
def test_three_clones_of_ours_pay_three_times():
    ledger = Ledger()
    model = PrivateKMeans(2, epsilon="0.1", domain=LINE, ledger=ledger, random_state=1)
    for copied in (clone(model), copy.deepcopy(model), clone(clone(model))):
        copied.fit(FEW)
    (total,) = ledger.totals()
    assert total.epsilon == Fraction(3, 10)
