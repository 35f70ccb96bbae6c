import threading
import time

import pytest

from shoal.engine.local import map_ahead


def test_results_come_in_order_whichever_is_done_first():
    def slow_first(i):
        time.sleep(0.02 if i == 0 else 0)
        return i

    assert list(map_ahead(slow_first, range(20), threads=4)) == list(range(20))


def test_two_blocks_are_worked_on_at_once():
    both = threading.Barrier(2, timeout=5)
    assert len(list(map_ahead(lambda _: both.wait(), range(4), threads=2))) == 4


def test_few_items_are_in_memory_however_slowly_results_are_taken():
    pulled = []

    def items():
        for i in range(100):
            pulled.append(i)
            yield i

    results = map_ahead(lambda i: i, items(), threads=2)
    next(results)
    time.sleep(0.02)
    assert len(pulled) <= 3
    results.close()


def test_an_error_in_the_work_comes_out():
    with pytest.raises(ZeroDivisionError):
        list(map_ahead(lambda i: 1 // (i - 3), range(10), threads=2))
