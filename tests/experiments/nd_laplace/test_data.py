import numpy as np
import pytest

from shoal.experiments.nd_laplace._data import data_named, is_here


@pytest.mark.parametrize("name", ["blobs-50-2d", "blobs-200-5d", "circle", "line", "skewed"])
def test_made_tables_are_here_and_the_same_each_time(name):
    assert is_here(name)
    again = data_named.__wrapped__(name)
    assert np.array_equal(again.rows, data_named(name).rows)
    assert again.rows.shape[1] == len(again.columns)


def test_files_are_here_only_with_their_folder(monkeypatch):
    monkeypatch.delenv("SHOAL_DATA", raising=False)
    assert not is_here("seeds-2d")
    assert not is_here("heart-nd")


def test_a_box_that_is_given_is_the_box():
    data = data_named("line")
    assert data.box.contains(data.rows).all()
