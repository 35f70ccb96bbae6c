from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from shoal.cli.inputs._evaluation_rows import column_names, draw_evaluation_rows
from shoal.domain import Box
from shoal.errors import (
    DimensionMismatch,
    NotFinite,
    NotNumeric,
    TooFewRows,
    UnknownBounds,
    UnknownColumn,
)

MODEL = SimpleNamespace(domain=Box(x=(0, 1), y=(0, 1)), n_features_in_=2)
BARE = SimpleNamespace(domain=None, n_features_in_=2)


def table(tmp_path, text):
    (tmp_path / "rows.csv").write_text(text)
    return str(tmp_path / "rows.csv")


def test_columns_are_the_boxs_unless_named():
    assert column_names(MODEL, None) == ("x", "y")
    assert column_names(MODEL, ["a", "b"]) == ("a", "b")
    assert column_names(BARE, ["a", "b"]) == ("a", "b")
    with pytest.raises(UnknownBounds, match="--columns"):
        column_names(BARE, None)
    with pytest.raises(DimensionMismatch):
        column_names(MODEL, ["a"])


def test_rows_keep_their_groups(tmp_path):
    source = table(tmp_path, "y,group,x\n1,b,0\n2,a,1\n3,,2\n4,b,3\n5,-1,4\n")
    held = draw_evaluation_rows(MODEL, source, ("x", "y"), "group", 100, 0)
    assert held.rows.tolist() == [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]]
    assert held.labels.tolist() == [0, 1, -1, 0, -1]
    assert held.n_rows == 5


def test_a_sample_keeps_rows_and_groups_together(tmp_path):
    lines = "\n".join(f"{i},{i},{i % 7}" for i in range(1_000))
    held = draw_evaluation_rows(MODEL, table(tmp_path, f"x,y,g\n{lines}\n"), ("x", "y"), "g", 50, 1)
    assert (len(held.rows), held.n_rows) == (50, 1_000)
    assert (held.rows[:, 0].astype(int) % 7 == held.labels).all()


def test_without_a_column_there_are_no_groups(tmp_path):
    held = draw_evaluation_rows(MODEL, table(tmp_path, "x,y\n1,2\n3,4\n"), ("x", "y"), None, 10, 0)
    assert held.labels is None
    assert np.array_equal(held.rows, [[1, 2], [3, 4]])


def test_missing_numbers_and_too_few_rows_are_refused(tmp_path):
    with pytest.raises(NotFinite):
        draw_evaluation_rows(MODEL, table(tmp_path, "x,y\n1,2\n3,\n"), ("x", "y"), None, 10, 0)
    with pytest.raises(TooFewRows):
        draw_evaluation_rows(MODEL, table(tmp_path, "x,y\n1,2\n"), ("x", "y"), None, 10, 0)


@pytest.mark.heavy
def test_rows_of_a_cluster_are_those_of_the_same_table_here(spark, tmp_path):
    names, lines = ("the.x", "y"), [(i / 8, -i, "ab"[i % 2] if i % 3 else None) for i in range(60)]
    columns = dict(zip((*names, "group"), zip(*lines, strict=True), strict=True))
    frame = spark.createDataFrame(pa.table(columns)).repartition(3)
    held = draw_evaluation_rows(MODEL, frame, names, "group", 100, 0)
    text = "\n".join(f"{x},{y},{group or ''}" for x, y, group in lines)
    here = draw_evaluation_rows(
        MODEL, table(tmp_path, f"the.x,y,group\n{text}\n"), names, "group", 100, 0
    )
    order, words = np.argsort(held.rows[:, 0]), {-1: -1}
    for there, own in zip(held.labels[order], here.labels, strict=True):
        assert words.setdefault(there, own) == own  # groups are numbered as they come
    assert np.array_equal(held.rows[order], here.rows)
    assert (held.n_rows, len(words)) == (here.n_rows, 3)


@pytest.mark.heavy
def test_only_a_sample_leaves_the_cluster_drawn_alike_from_all_of_it(spark):
    frame = spark.range(0, 3_000, 1, 4).selectExpr("id AS x", "-id AS y", "id % 7 AS g")
    held = draw_evaluation_rows(MODEL, frame, ("x", "y"), "g", 500, 1)
    assert (held.rows.shape, held.n_rows) == ((500, 2), 3_000)
    assert len(np.unique(held.rows[:, 0])) == 500
    pairs = np.unique(np.column_stack([held.rows[:, 0] % 7, held.labels]), axis=0)
    assert len(pairs) == 7  # rows and groups have stayed together
    shares = np.bincount(held.rows[:, 0].astype(int) // 750, minlength=4)
    assert (abs(shares - 125) < 50).all()  # sd 9: five of them
    assert np.array_equal(
        held.rows, draw_evaluation_rows(MODEL, frame, ("x", "y"), "g", 500, 1).rows
    )


@pytest.mark.heavy
def test_a_cluster_refuses_what_is_refused_here(spark, tmp_path):
    from shoal.engine.spark._session import read_table

    def raised(kind, text, labels=None):
        path = table(tmp_path, text)
        frame = read_table(spark, path)
        said = []
        for source in (path, frame):
            with pytest.raises(kind) as error:
                draw_evaluation_rows(MODEL, source, ("x", "y"), labels, 10, 0)
            said.append(str(error.value))
        assert said[0] == said[1]

    raised(NotFinite, "x,y\n1,2\n3,\n")
    raised(NotNumeric, "x,y\n1,2\n3,secret\n")
    raised(TooFewRows, "x,y\n1,2\n")
    raised(UnknownColumn, "x,z\n1,2\n3,4\n")
    raised(UnknownColumn, "x,y\n1,2\n3,4\n", labels="group")
