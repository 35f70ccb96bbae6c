from fractions import Fraction

import pytest
from sklearn.base import clone

from shoal.audit.loss._replay_families import replay_family
from shoal.audit.loss._twins import SharedGaussian, twins
from shoal.privacy import ApproxDP

VERDICTS = {
    "swapped split": ("violated", "sums can lose"),
    "vector noise for half the sensitivity": ("violated", "sums can lose 2 of its own 1"),
    "Gaussian noise for half the sensitivity": ("violated", "moves by 2 times its sensitivity"),
    "Gaussian parts that sum to two": ("violated", "steps together move by 1.4"),
    "the root of the root of a Gaussian part": ("violated", "steps together move by 1.6"),
    "Gaussian parts for half the sensitivity": ("violated", "moves by 2 times its sensitivity"),
    "a row in two cells, noised for one": ("violated", "can lose 2 of its own 1"),
    "empty clusters skipped": ("broken", "another shape"),
    "bounds from the rows": ("violated", "cell counts can lose"),
    "rounds by the rows": ("broken", "1 release more"),
    "limit of rows a person ignored": ("violated", "cell counts can lose"),
    "key of a person's rows from the table": ("violated", "cell counts can lose"),
    "exact number of rows kept": ("broken", "n_rows_ depends on the rows"),
    "exact number of rows for a public one": ("broken", "another shape"),
    "labels kept": ("broken", "labels_ depends on the rows"),
    "warning about the rows": ("broken", "warnings differ"),
    "one charge for all histograms of a mixed table": ("violated", "columns can lose"),
    "true labels of a mixed table kept": ("broken", "labels_ depends on the rows"),
    "rounds of a mixed table uncounted": ("violated", "sizes of groups can lose"),
    "an empty group of a mixed table skipped": ("broken", "another shape"),
    "categories from the rows": ("broken", "another shape"),
    "weights from the rows": ("broken", "weight_ depends on the rows"),
    "pairs scored by true counts": ("violated", "pair can lose"),
    "bins by the exact number of rows": ("broken", "another shape"),
    "offsets of numbers not cut": ("violated", "groups, part"),
}


@pytest.mark.parametrize("name", twins)
def test_every_twin_is_caught_by_the_fault_it_has(name):
    seen = replay_family(twins[name], 12)
    verdict, fault = VERDICTS[name]
    assert seen.verdict == verdict
    assert any(fault in each for each in seen.faults), seen.faults


def test_gaussian_parts_without_a_slip_are_consistent():
    privacy = ApproxDP(Fraction(1), Fraction(1, 10**6))
    seen = replay_family(SharedGaussian(epsilon=None, privacy=privacy), 12)
    assert seen.verdict == "consistent", seen.faults
    assert 0.9e-6 < seen.delta <= 1e-6  # a row at a corner loses nearly all there is


@pytest.mark.filterwarnings("ignore:There are few rows")
def test_the_gate_alone_sees_none_of_them():
    """Each fits without an error: what mechanisms received adds up to the promise."""
    from shoal.audit.loss._neighbours import neighbour_pairs
    from shoal.audit.loss._replay import _with_known_key

    for model in twins.values():
        pair = list(neighbour_pairs(model, 3))[2]
        fitted = clone(model).set_params(random_state=1).fit(_with_known_key(model, pair.table))
        assert fitted.guarantee_.epsilon <= 1
