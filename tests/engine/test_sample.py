import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.engine.sample import Sample
from shoal.errors import InvalidSetting


def sample_of(rows, n, seed, cuts=()):
    sample = Sample(n, np.random.default_rng(seed))
    for block in np.split(rows, sorted(cuts)):
        sample.add(block)
    return sample.rows(rows.shape[1])


@pytest.mark.heavy
@given(
    st.integers(0, 60),
    st.integers(0, 70),
    st.lists(st.integers(0, 60), max_size=6),
    st.integers(0, 9),
)
def test_a_sample_has_distinct_rows_and_does_not_depend_on_blocks(size, n, cuts, seed):
    rows = np.arange(float(size))[:, None]
    cut = sample_of(rows, n, seed, cuts)
    assert len(cut) == min(n, size)
    assert len(np.unique(cut)) == len(cut)
    np.testing.assert_array_equal(cut, sample_of(rows, n, seed))


@pytest.mark.heavy
def test_every_row_is_as_likely_as_every_other():
    # 4,000 samples of 3 out of 10: each row 1,200 +- 29; 5 standard deviations, false alarm 1e-5.
    rng, rows = np.random.default_rng(11), np.arange(10.0)[:, None]
    seen = np.zeros(10)
    for _ in range(4_000):
        sample = Sample(3, rng)
        for block in np.split(rows, 5):
            sample.add(block)
        seen[sample.rows(1)[:, 0].astype(int)] += 1
    assert np.all(np.abs(seen - 1_200) < 5 * 29)


def test_no_rows_give_an_empty_sample_of_the_right_width():
    assert Sample(5, np.random.default_rng(0)).rows(width=3).shape == (0, 3)


@pytest.mark.parametrize("n", [-1, 2.5, True])
def test_a_sample_size_that_is_none_is_refused(n):
    with pytest.raises(InvalidSetting):
        Sample(n, np.random.default_rng(0))
