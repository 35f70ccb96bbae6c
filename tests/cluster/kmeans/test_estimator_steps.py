import numpy as np
import pytest

from shoal.cluster.kmeans import PrivateKMeans
from shoal.domain import Box
from shoal.engine import rows_of
from shoal.errors import NoGroupsDetected
from shoal.estimator import Spending
from shoal.privacy import Ledger, PureDP
from shoal.randomness import Randomness


def released(d, epsilon, n=4_000, k=3, mean=0.5, sd=0.1, **settings):
    """What was released, in order."""
    X = np.clip(np.random.default_rng(1).normal(mean, sd, (n, d)), 0, 1)
    page = Ledger().open(PureDP(epsilon), by="test")
    names, release = [], page.release
    page.release = lambda *args, of: names.append(of) or release(*args, of=of)
    model = PrivateKMeans(k, epsilon=epsilon, domain=Box.unit(d), n_public=n, **settings)
    model.spend(Spending(rows_of(X, Box.unit(d)), page, page.budget, Randomness(1)))
    assert page.total().epsilon == PureDP(epsilon).epsilon
    assert model.cluster_centers_.shape == (k, d)
    return names


GRID = ["coarse cell counts", "fine cell counts"]
LOCATION = ["radius of all rows", "mean of all rows", "spread of all rows"]
SIDES = [*LOCATION, "rows beyond a view"]  # where there are as many axes as columns
REACH = [*LOCATION[:2], "reach of all rows"]  # in few columns
PART = ["part of the box with the rows"]  # where rows are some hundred
STEP = ["radius of clusters, step 1", "means of clusters, step 1"]
SMALL = ["radius of small clusters", "means of small clusters"]


def own(step):
    """A step with a radius for each cluster."""
    radius, means = step
    return [radius, radius.replace("radius", "radii"), means]


def second(step):
    return [name.replace("1", "2") for name in step]


def test_few_columns_take_a_grid_and_a_step():
    assert released(2, 0.4) == [*PART, *GRID, *STEP]


def test_many_rows_in_few_columns_are_located_and_take_two_steps_with_own_radii():
    assert released(2, 2) == [*REACH, *GRID, *own(STEP), *own(second(STEP))]


def test_three_columns_take_a_second_step_before_there_are_radii_for_each_cluster():
    assert released(3, 0.4, k=2) == [*PART, *GRID, *STEP, *second(STEP)]


def test_a_small_budget_goes_to_cells_alone():
    assert released(2, 0.05) == GRID
    assert released(2, 0.01) == ["cell counts"]
    assert released(2, 0.4, refine=False) == [*PART, *GRID]


def test_few_rows_in_six_columns_take_halves_and_a_step():
    assert released(6, 1, n=70) == ["cell counts", *STEP]


def test_rows_in_a_small_part_of_a_wide_box_are_located_twice():
    assert released(2, 2, mean=0.9, sd=0.001)[:6] == [*REACH, *REACH]


def test_a_small_part_of_a_wide_box_passes_through_small_clusters_from_three_columns_on():
    names = released(4, 1, mean=0.9, sd=0.01)
    assert names[-8:] == [*GRID, *SMALL, *STEP, *second(STEP)]


@pytest.mark.heavy
def test_many_columns_are_located_and_pass_through_small_clusters():
    assert released(8, 1) == [*SIDES, "cell counts", *SMALL, *STEP]
    assert released(8, 4) == [
        *SIDES,
        "cell counts",
        *SMALL,
        *own(STEP),
        *own(second(STEP)),
    ]
    assert released(8, 4, refine=False) == [*SIDES, "cell counts"]


@pytest.mark.heavy
def test_more_columns_than_axes_take_two_steps():
    assert released(40, 1) == [*LOCATION, "cell counts", *SMALL, *STEP, *second(STEP)]


def test_few_rows_refine_fewer_centres_and_are_completed_by_cells():
    assert released(16, 0.3, n=500, k=10) == [*LOCATION, "cell counts", *STEP]


def test_rows_so_few_that_their_middle_drowns_take_one_mean():
    assert released(16, 0.1, n=500, k=10) == LOCATION[:2]
    assert released(16, 0.1, n=500, k=1) == LOCATION[:2]
    assert "cell counts" in released(16, 0.1, n=500, k=10, refine=False)
    assert released(16, 0.02, n=500, k=10) == LOCATION[:2]


def test_about_one_mean_all_rows_are_counted_and_no_group_is():
    X = np.clip(np.random.default_rng(1).normal(0.7, 0.1, (500, 16)), 0, 1)
    model = PrivateKMeans(4, epsilon=0.15, domain=Box.unit(16), n_public=500, random_state=2)
    with pytest.warns(NoGroupsDetected):
        model.fit(X)
    assert model.synopsis_ is None
    assert not model.is_certain_.any()
    assert model.cluster_sizes_.sum() == pytest.approx(model.n_rows_)
    assert np.linalg.norm(model.cluster_centers_[0] - 0.7) < np.linalg.norm(np.full(16, 0.2))
    away = np.linalg.norm(model.cluster_centers_[1:] - model.cluster_centers_[0], axis=1)
    assert (away > 0.1).all()


@pytest.mark.parametrize("method", ["uniform-grid", "privtree"])
def test_explicit_cells_take_a_step_too(method):
    assert released(2, 0.4, method=method)[-2:] == STEP
