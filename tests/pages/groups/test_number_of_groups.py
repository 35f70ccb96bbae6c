import numpy as np
import pytest

from shoal.cluster import PrivateKMeans, WaveCluster
from shoal.domain import Box
from shoal.pages.groups._number_of_groups import count_reason as reason_of
from shoal.planning import describe
from shoal.planning.description import MOST_TRIED

BOX = Box(age=(0, 100), visits=(0, 20))


def rows(n=900):
    near = np.array([[15, 4], [50, 16], [85, 4]])[np.arange(n) % 3]
    return BOX.clip(near + np.random.default_rng(0).normal(0, 1, (n, 2)))


def count_reason(model, n_groups):
    return reason_of(describe(model).curve, n_groups, getattr(model, "n_clusters", None))


@pytest.fixture(scope="module")
def model():
    return PrivateKMeans(range(2, 7), epsilon=4, domain=BOX, random_state=1).fit(rows())


@pytest.mark.heavy
def test_the_spread_left_falls_as_groups_are_added(model):
    reason = count_reason(model, 3)
    heights = dict(map(tuple, reason.figure.data["points"]))
    assert heights[2] == pytest.approx(100)
    assert heights[4] < heights[3] < heights[2]
    assert reason.figure.data["chosen"] == 3
    low, high = next(ends for place, *ends in reason.figure.data["band"] if place == 3)
    assert low <= heights[3] <= high
    assert "95 of 100" in " ".join(reason.lines)


@pytest.mark.heavy
def test_a_number_that_was_given_is_shown_beside_one_group():
    given = PrivateKMeans(3, epsilon=4, domain=BOX, random_state=1).fit(rows())
    heights = dict(map(tuple, count_reason(given, 3).figure.data["points"]))
    assert heights[1] == pytest.approx(100)
    assert "band" not in count_reason(given, 3).figure.data


@pytest.mark.heavy
def test_it_says_who_chose_the_number(model):
    assert "picked by rule among 2 to 6" in count_reason(model, 3).lines[-1]
    given = PrivateKMeans(3, epsilon=4, domain=BOX, random_state=1).fit(rows())
    assert count_reason(given, 3).lines[-1].startswith("3 was given")


def test_it_spends_nothing_and_reads_no_row(model):
    before = model.guarantee_
    count_reason(model, 3)
    assert model.guarantee_ == before


def test_without_cells_there_is_no_curve():
    waves = WaveCluster(epsilon=1, domain=BOX, random_state=1).fit(rows())
    assert count_reason(waves, 3) is None


@pytest.mark.parametrize("n_groups", [1, MOST_TRIED + 1])
def test_a_number_beyond_the_curve_has_none(model, n_groups):
    assert count_reason(model, n_groups) is None
