from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from shoal.engine._computed_table import shuffle_lines
from shoal.errors import NotFinite
from shoal.randomness import Randomness


def lines(batches, seed=1):
    return pa.Table.from_batches(shuffle_lines(batches, Randomness(seed).noise))


@pytest.mark.heavy
def test_every_order_is_as_likely():
    batches = [pa.record_batch({"x": [1]}), pa.record_batch({"x": [2, 3]})]
    noise = Randomness(1).noise
    drawn = (shuffle_lines(batches, noise.child(i)) for i in range(120))
    orders = Counter(tuple(pa.Table.from_batches(d)["x"].to_pylist()) for d in drawn)
    assert len(orders) == 6
    assert min(orders.values()) > 5  # 20 of each on average


def test_lines_stay_whole_and_columns_keep_name_and_kind():
    table = pa.table({'a "b", c': np.arange(50.0), "key": [f"{i}" for i in range(50)],
                      "bit": np.arange(50, dtype=np.uint8)})  # fmt: skip
    mixed = lines(table.to_batches(max_chunksize=7))
    assert mixed.schema == table.schema
    assert mixed.sort_by("bit").equals(table)
    assert not mixed.equals(table)


def test_what_the_batches_raise_comes_out_as_it_is():
    def failing():
        yield pa.record_batch({"x": [1.0]})
        raise NotFinite("1 of 2 rows.", "Fill it.")

    with pytest.raises(NotFinite, match="1 of 2"):
        lines(failing())


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_a_stop_is_a_stop_and_no_fault_of_the_disk(stop):
    def stopping():
        yield pa.record_batch({"x": [1.0]})
        raise stop

    with pytest.raises(stop):
        lines(stopping())
