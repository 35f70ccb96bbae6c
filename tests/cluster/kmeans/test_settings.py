import numpy as np
import pytest

from shoal.cluster import PrivateKMeans
from shoal.cluster.kmeans._settings import check_settings, cluster_numbers
from shoal.domain import Box, Schema
from shoal.errors import BadInput, InvalidBudget, InvalidDomain, InvalidSetting, TooLarge
from shoal.privacy import ApproxDP, Ledger
from shoal.synopsis import AdaptiveGrid, PrivTree, UniformGrid


def model(n_clusters=3, **settings):
    return PrivateKMeans(n_clusters, epsilon=1, domain=Box.unit(2), **settings)


def test_numbers_of_clusters_rise_and_differ():
    assert cluster_numbers([5, 2, 2]) == (2, 5)


@pytest.mark.parametrize("n_clusters", [0, -1, 2.5, True, None, "3", [], [2, 0], range(0)])
def test_what_is_no_number_of_clusters_is_refused(n_clusters):
    with pytest.raises(InvalidSetting):
        cluster_numbers(n_clusters)


@pytest.mark.parametrize(
    "settings",
    [
        {"method": "k-means"},
        {"method": None},
        {"method": UniformGrid},
        {"method": "lloyd", "n_clusters": range(2, 5)},
        {"method": "hybrid", "n_clusters": (2, 3)},
        {"privacy": ApproxDP(1, 1e-6), "method": "lloyd"},
        {"privacy": ApproxDP(1, 1e-6), "refine": False},
    ],
)
def test_settings_that_cannot_work_are_refused(settings):
    with pytest.raises(InvalidSetting):
        check_settings(model(**settings), Box.unit(2))


def test_more_than_256_columns_are_too_many():
    check_settings(model(), Box.unit(256))
    with pytest.raises(TooLarge, check=lambda error: error.reason == "columns"):
        check_settings(model(), Box.unit(257))


def test_categories_are_no_numbers():
    schema = Schema.of({"version": 1, "columns": {"x": {"values": ["a", "b"]}}})
    with pytest.raises(InvalidDomain, match="box"):
        check_settings(model(), schema)


@pytest.mark.parametrize(("epsilon", "delta"), [(1, 0), (1, 1e-99), (101, 1e-6)])
def test_a_delta_that_no_step_can_use_costs_nothing(epsilon, delta):
    ledger = Ledger()
    settings = {"privacy": ApproxDP(epsilon, delta), "domain": Box.unit(8), "random_state": 7}
    with pytest.raises(InvalidBudget):
        PrivateKMeans(2, ledger=ledger, **settings).fit(np.zeros((50, 8)))
    assert ledger.entries().num_rows == 0


@pytest.mark.parametrize(
    "method",
    [
        AdaptiveGrid(negative="bogus"),
        UniformGrid(cells=(4, 4, 4)),
        UniformGrid(cells=100_000),
        PrivTree(max_cells=-1),
        AdaptiveGrid(nonfinite="drop"),
    ],
    ids=str,
)
def test_a_synopsis_with_wrong_settings_is_refused_before_anything_is_paid(method):
    ledger = Ledger()
    with pytest.raises(BadInput):
        PrivateKMeans(2, epsilon=1, domain=Box.unit(2), method=method, ledger=ledger).fit(
            np.zeros((50, 2))
        )
    assert ledger.entries().num_rows == 0
