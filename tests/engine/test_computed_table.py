import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from shoal.domain import Box
from shoal.engine import rows_of
from shoal.engine.local import LocalRows
from shoal.errors import AlreadyExists, DuplicateColumn, InvalidSetting, NotFinite, UnreadableTable
from shoal.randomness import Randomness

BOX = Box.unit(2)
X = np.random.default_rng(3).random((100, 2))


def doubled(block):
    return block.numbers * 2


def test_a_map_is_lazy_and_streams_what_the_kernel_makes():
    seen = []

    def kernel(block):
        seen.append(len(block))
        return doubled(block)

    mapped = rows_of(X, BOX).map(kernel, ["a", "b"])
    assert seen == []
    (batch,) = mapped.batches()
    np.testing.assert_array_equal(batch["b"].to_numpy(), X[:, 1] * 2)


def test_a_stream_that_flows_past_once_cannot_be_mapped_and_says_so_before_it_is_read():
    table = pa.table(list(X.T.copy()), names=list(BOX.names))
    rows = rows_of(table.to_reader(), BOX)
    with pytest.raises(UnreadableTable, match="read_all"):
        rows.map(doubled, ["a", "b"])
    assert rows.size() == 100


def test_a_map_is_written_whole(tmp_path):
    mapped = rows_of(X, BOX).map(doubled, ["a", "b"])
    path = mapped.write(tmp_path / "out.parquet")
    assert pq.read_table(path).column_names == ["a", "b"]
    assert pq.read_table(path).num_rows == 100
    with pytest.raises(AlreadyExists):
        mapped.write(path)


def test_columns_of_different_kinds_are_given_one_by_one(tmp_path):
    def kernel(block):
        return block.numbers[:, 0], (block.numbers[:, 0] > 0.5).astype(np.int32)

    path = rows_of(X, BOX).map(kernel, ["value", "high"]).write(tmp_path / "out.csv")
    assert str(pa_csv.read_csv(path).schema.field("high").type) == "int64"


def test_no_rows_make_a_file_with_the_right_columns(tmp_path):
    path = rows_of(np.empty((0, 2)), BOX).map(doubled, ["a", "b"]).write(tmp_path / "o.parquet")
    assert str(pq.read_schema(path).field("a").type) == "double"


def test_refused_rows_leave_no_file_and_no_batch(tmp_path):
    bad = np.vstack([X, [[0.5, np.nan]]])
    for size in (10, 1000):
        rows = LocalRows(rows_of(bad, BOX)._source, BOX, rows_of(bad, BOX).terms, block_rows=size)
        with pytest.raises(NotFinite):
            next(rows.map(doubled, ["a", "b"]).batches())
        with pytest.raises(NotFinite):
            rows.map(doubled, ["a", "b"]).write(tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []


def test_blocks_are_mapped_one_after_another_in_the_rows_order():
    rows = rows_of(X, BOX)
    small = LocalRows(rows._source, BOX, rows.terms, block_rows=7)

    def noisy(rng):
        return lambda block: block.numbers + rng.random(block.numbers.shape)

    one = [b["a"].to_numpy() for b in rows.map(noisy(np.random.default_rng(5)), "ab").batches()]
    many = [b["a"].to_numpy() for b in small.map(noisy(np.random.default_rng(5)), "ab").batches()]
    assert len(many) == 15
    np.testing.assert_array_equal(np.concatenate(one), np.concatenate(many))


@pytest.mark.parametrize(
    "kernel", [lambda b: b.numbers[:, :1], lambda b: b.numbers[1:], lambda b: ()]
)
def test_a_kernel_that_makes_other_rows_or_columns_is_refused(kernel):
    with pytest.raises(InvalidSetting):
        list(rows_of(X, BOX).map(kernel, ["a", "b"]).batches())


@pytest.mark.parametrize("names", [[], ["a", "a"]])
def test_names_that_are_missing_or_doubled_are_refused(names):
    with pytest.raises(DuplicateColumn):
        rows_of(X, BOX).map(doubled, names)


def test_rows_of_an_array_come_back_as_an_array_with_a_line_each():
    lines = rows_of(X, BOX).map(doubled, ["a", "b"]).like_input()
    np.testing.assert_array_equal(lines, X * 2)
    one = rows_of(X, BOX).map(lambda block: [np.arange(len(block))], ["place"])
    assert one.like_input().shape == (100, 1)
    places = one.like_input(squeeze=True)
    assert places.dtype == np.int64
    places[0] = 7  # whoever holds labels may change them
    assert rows_of(np.empty((0, 2)), BOX).map(doubled, ["a", "b"]).like_input().shape == (0, 2)


@pytest.mark.heavy
def test_all_lines_at_once_are_an_arrow_table_in_order_or_shuffled():
    mapped = rows_of(X, BOX).map(doubled, ["a", "b"])
    np.testing.assert_array_equal(mapped.frame()["a"].to_numpy(), X[:, 0] * 2)
    mixed = mapped.shuffled(Randomness(7).noise).frame()
    assert not mixed.equals(mapped.frame())
    assert mixed.sort_by("a").equals(mapped.frame().sort_by("a"))


def test_a_stored_table_is_computed_once_and_goes_with_its_block():
    seen = []

    def kernel(block):
        seen.append(len(block))
        return doubled(block)

    with rows_of(X, BOX).map(kernel, ["a", "b"]).stored() as path:
        for _ in range(2):
            np.testing.assert_array_equal(pq.read_table(path)["b"].to_numpy(), X[:, 1] * 2)
    assert sum(seen) == 100
    assert not path.exists()
