import numpy as np
import pytest
from sklearn.cluster import KMeans

from shoal.cluster import PrivateKMeans, Refit, StandInRows, refit, unfitted
from shoal.domain import Box, Grid
from shoal.engine import Rows
from shoal.errors import InvalidSetting
from shoal.privacy import Ledger

BOX = Box.unit(1)
ROWS = np.array([[0.1], [0.2], [0.7], [0.9]])


def stand_in(n=1_000):
    return StandInRows(ROWS, n, BOX)


def test_each_row_counts_as_many_times_as_it_stands_for():
    assert stand_in().size() == 1_000
    assert stand_in().count(Grid(BOX, 2)).tolist() == [500, 500]
    (total,) = stand_in().sum(lambda block: (np.array([len(block)]),))
    assert total.tolist() == [1_000]


def test_sparse_counts_hold_occupied_cells_only():
    counts = stand_in().count(Grid(BOX, 10), sparse=True)
    assert counts.keys.tolist() == [1, 2, 7, 9]
    assert counts.counts.tolist() == [250] * 4


def test_they_are_rows_to_a_method_and_refuse_what_it_has_no_use_for():
    rows = stand_in()
    assert isinstance(rows, Rows)
    rows.on_progress(print)
    for verb in (
        lambda: rows.sizes(["x0"]),
        lambda: rows.map(len, ["x"]),
        lambda: rows.take(1, np.random.default_rng(0)),
    ):
        with pytest.raises(InvalidSetting, match="counts and sums only"):
            verb()


def test_an_unfitted_copy_has_neither_the_ledger_nor_the_noise_of_the_model():
    ledger = Ledger()
    model = PrivateKMeans(2, epsilon=1, domain=BOX, ledger=ledger, random_state=1)
    model.fit(np.repeat(ROWS, 100, axis=0))
    copy = unfitted(model, n_clusters=3)
    assert (copy.ledger, copy.random_state, copy.n_clusters) == (None, None, 3)
    assert not hasattr(copy, "cluster_centers_")
    assert (model.ledger, model.random_state) == (ledger, 1)


def test_any_estimator_has_an_unfitted_copy():
    assert unfitted(KMeans(2), random_state=5).random_state == 5


def test_rows_that_stand_for_themselves_give_the_fit_of_a_table():
    X = np.random.default_rng(0).normal([[0.3], [0.7]], 0.05, (2, 500)).reshape(-1, 1)
    X = np.clip(X, 0, 1)
    model = PrivateKMeans(2, epsilon=1, domain=BOX, random_state=3)
    of_table = unfitted(model, random_state=3).fit(X)
    again = refit(unfitted(model, random_state=3), StandInRows(X, len(X), BOX))
    np.testing.assert_array_equal(again.model.cluster_centers_, of_table.cluster_centers_)
    assert again.releases[0] == "rows inside and outside the bounds"


def test_a_made_up_table_is_fitted_as_any_table():
    again = refit(unfitted(KMeans(2, n_init=1), random_state=0), ROWS)
    assert isinstance(again, Refit)
    assert again.releases == ()
    assert again.model.cluster_centers_.shape == (2, 1)
