import pickle

import numpy as np
import pytest

from shoal.cluster.intervals._refits import SimulatedPage, StandInRows
from shoal.domain import Box, Grid
from shoal.engine import Rows
from shoal.errors import InvalidSetting
from shoal.mechanisms import Geometric
from shoal.privacy import PureDP
from shoal.randomness import Randomness

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


def test_the_page_draws_by_the_mechanisms_law_and_keeps_names_only():
    page, noise = SimulatedPage(PureDP(1, rows=2)), Geometric(PureDP("1/2"))
    drawn = page.release(noise, np.array([10]), Randomness(3).noise, of="cells")
    assert drawn == noise.release(np.array([10]), Randomness(3).noise)
    assert page.names == ["cells"]
    assert page.budget == PureDP("1/2")
    assert page.total() == page.promise


def test_the_page_draws_no_real_noise_and_cannot_be_copied():
    page = SimulatedPage(PureDP(1))
    with pytest.raises(InvalidSetting, match="seeded"):
        page.release(Geometric(PureDP(1)), np.array([10]), Randomness().noise, of="cells")
    with pytest.raises(InvalidSetting):
        pickle.dumps(page)
