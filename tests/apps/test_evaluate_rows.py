from types import SimpleNamespace

import numpy as np
import pytest

from shoal.apps.evaluate_rows import held_of, names_of
from shoal.domain import Box
from shoal.errors import DimensionMismatch, NotFinite, TooFewRows, UnknownBounds

MODEL = SimpleNamespace(domain=Box(x=(0, 1), y=(0, 1)), n_features_in_=2)
BARE = SimpleNamespace(domain=None, n_features_in_=2)


def table(tmp_path, text):
    (tmp_path / "rows.csv").write_text(text)
    return str(tmp_path / "rows.csv")


def test_columns_are_the_boxs_unless_named():
    assert names_of(MODEL, None) == ("x", "y")
    assert names_of(MODEL, ["a", "b"]) == ("a", "b")
    assert names_of(BARE, ["a", "b"]) == ("a", "b")
    with pytest.raises(UnknownBounds, match="--columns"):
        names_of(BARE, None)
    with pytest.raises(DimensionMismatch):
        names_of(MODEL, ["a"])


def test_rows_keep_their_groups(tmp_path):
    source = table(tmp_path, "y,group,x\n1,b,0\n2,a,1\n3,,2\n4,b,3\n5,-1,4\n")
    held = held_of(MODEL, source, ("x", "y"), "group", 100, 0)
    assert held.rows.tolist() == [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]]
    assert held.labels.tolist() == [0, 1, -1, 0, -1]
    assert held.n_rows == 5


def test_a_sample_keeps_rows_and_groups_together(tmp_path):
    lines = "\n".join(f"{i},{i},{i % 7}" for i in range(1_000))
    held = held_of(MODEL, table(tmp_path, f"x,y,g\n{lines}\n"), ("x", "y"), "g", 50, 1)
    assert (len(held.rows), held.n_rows) == (50, 1_000)
    assert (held.rows[:, 0].astype(int) % 7 == held.labels).all()


def test_without_a_column_there_are_no_groups(tmp_path):
    held = held_of(MODEL, table(tmp_path, "x,y\n1,2\n3,4\n"), ("x", "y"), None, 10, 0)
    assert held.labels is None
    assert np.array_equal(held.rows, [[1, 2], [3, 4]])


def test_missing_numbers_and_too_few_rows_are_refused(tmp_path):
    with pytest.raises(NotFinite):
        held_of(MODEL, table(tmp_path, "x,y\n1,2\n3,\n"), ("x", "y"), None, 10, 0)
    with pytest.raises(TooFewRows):
        held_of(MODEL, table(tmp_path, "x,y\n1,2\n"), ("x", "y"), None, 10, 0)
