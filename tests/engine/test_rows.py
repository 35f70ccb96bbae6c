import pickle

import numpy as np
import pytest

from shoal.domain import Box
from shoal.engine import Block, Rows, rows_of
from shoal.engine.rows import Terms
from shoal.errors import InvalidSetting


def test_the_embedded_engine_is_rows():
    assert isinstance(rows_of(np.zeros((1, 1)), Box.unit(1)), Rows)


def test_a_block_is_as_long_as_its_rows_and_pickles():
    block = Block(np.zeros((3, 2)), np.zeros((3, 1), dtype=np.int32))
    assert len(pickle.loads(pickle.dumps(block))) == 3


@pytest.mark.parametrize(
    "terms",
    [
        {"outside": "wrap"},
        {"nonfinite": "clip"},
        {"max_rows_per_person": 2},
        {"entity": "id", "max_rows_per_person": 0},
        {"entity": "id", "max_rows_per_person": True},
        {"entity": "id", "max_rows_per_person": 1.5},
    ],
)
def test_terms_that_make_no_sense_are_refused_with_a_next_step(terms):
    with pytest.raises(InvalidSetting) as caught:
        Terms(**terms)
    assert caught.value.hint
