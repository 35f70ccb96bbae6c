"""Our audit turned on WaveCluster, with broken twins it must catch. alpha = 1e-6, seeds fixed."""

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from shoal.audit import lower_bound_of
from shoal.audit.twins import twins
from shoal.audit.twins._thresholds import (
    SYM4,
    counts_with_one_row,
    draw_empty_coefficients,
    mirrored_sensitivity,
)
from shoal.cluster.wave._release_methods import release_sparse, threshold_scores
from shoal.cluster.wave._transform import Transform
from shoal.domain import Box, SparseCounts
from shoal.engine import rows_of
from shoal.estimator import Spending
from shoal.mechanisms import Exponential
from shoal.privacy import Ledger, PureDP
from shoal.randomness import Randomness

ALPHA = 1e-6
HALF = Fraction(1, 2)


def audited(release, first, second, claim=1.0, draws=2_000):
    """Bound from one release a draw."""
    noise = Randomness(41).noise
    A, B = ([release(value, noise) for _ in range(draws)] for value in (first, second))
    return lower_bound_of(A, B, claim=claim, alpha=ALPHA)


# PrivTHREM's threshold. Coefficients are in lattice steps; the range is public here.

TOP = 64


def corrected(values, rng):
    scores = threshold_scores(np.array(values), HALF, TOP)
    return Exponential(PureDP(1)).release(scores, rng)


# One row moves one coefficient; on the lattice by many steps at once.
PAIRS = [([9, 5, 4], [10, 5, 4]), ([9, 5, 4], [60, 5, 4]), ([0, 30, 29], [62, 30, 29])]


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_the_corrected_threshold_certifies_no_more_than_epsilon(pair):
    assert audited(corrected, *pair).verdict == "consistent"


@pytest.mark.parametrize(
    "name",
    [
        "PrivTHREM up to the true maximum, epsilon 0.3",
        "PrivTHREM up to the true maximum, epsilon 1",
        "PrivTHREM without interval lengths",
        "threshold averaged over ten draws",
        "empty coefficients charged as one",
        "Haar with mirrored edges",
        "cells listed in the order drawn",
        "box from the rows",
    ],
)
def test_twins_are_caught(name):
    assert twins[name].run(draws=40_000).verdict == "violated"


def test_a_threshold_drawn_once_costs_what_is_charged():
    twin = twins["threshold averaged over ten draws"]
    assert replace(twin, mechanism=lambda draws, rng: 0.3).run().verdict == "consistent"


# PrivTHR's number of empty coefficients.


def test_the_number_of_empty_coefficients_charged_in_full_certifies_no_more_than_epsilon():
    one, _ = counts_with_one_row()
    moved = np.count_nonzero(SYM4(one) > 0)
    assert 1 < moved <= SYM4.touched
    twin = twins["empty coefficients charged as one"]
    honest = replace(twin, mechanism=draw_empty_coefficients(SYM4.touched))
    assert honest.run(draws=40_000).verdict == "consistent"


# Mirrored edges: the last cell of an odd axis is counted twice. Ours are padded with zeros.


@pytest.mark.parametrize("cells", [4, 5])
def test_one_row_moves_haar_coefficients_by_one_whatever_the_edge(cells):
    moved = [np.abs(Transform((cells,), 1)(impulse)).sum() for impulse in np.eye(cells, dtype=int)]
    assert max(moved) == 1
    assert mirrored_sensitivity(0, None, cells=4) == pytest.approx(2**-0.5)
    assert mirrored_sensitivity(0, None, cells=5) == pytest.approx(2**0.5)


# Sparse cells.

HERE = SparseCounts(np.array([15]), np.array([1]), 16)
NOBODY = SparseCounts(np.zeros(0, int), np.zeros(0, int), 16)


def first_key(out: SparseCounts) -> int:
    return int(out.keys[0]) if out.keys.size else -1


def sparse(counts, rng):
    page = Ledger.of(None).open(PureDP(1), by="test")
    nobody = rows_of(np.zeros((0, 1)), Box.unit(1))  # the counts are given
    spending = Spending(nobody, page, page.budget, SimpleNamespace(noise=rng), n_rows=16)
    return release_sparse(spending, counts)


def test_sparse_cells_in_key_order_certify_no_more_than_epsilon():
    assert audited(lambda c, rng: first_key(sparse(c, rng)), HERE, NOBODY).verdict == "consistent"
