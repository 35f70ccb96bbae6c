"""What one row can do to the coefficients: by formula, and by trying every cell."""

import numpy as np
import pytest
import pywt

from shoal.cluster.wave._transform import FINE, Transform
from shoal.errors import InvalidSetting

WAVELETS = ["haar", "db2", "sym4", "bior2.2"]
# Largest L1 change of the level-L subband for one row, two columns, mode "zero".
KNOWN = {
    ("db2", 1): 0.93, ("db2", 2): 0.60, ("db2", 3): 0.34,
    ("sym4", 1): 0.93, ("sym4", 2): 0.53, ("sym4", 3): 0.28,
    ("bior2.2", 1): 2.0, ("bior2.2", 2): 2.25, ("bior2.2", 3): 2.0,
}  # fmt: skip


def every_impulse(transform: Transform) -> np.ndarray:
    """What a row in each cell does, one line a cell."""
    impulses = np.eye(int(np.prod(transform.shape)), dtype=np.int64)
    return np.array([transform(one.reshape(transform.shape)).ravel() for one in impulses])


@pytest.mark.parametrize("wavelet", WAVELETS)
@pytest.mark.parametrize("level", [1, 2, 3])
@pytest.mark.parametrize("shape", [(16, 8), (13, 9), (11,)])
def test_sensitivities_are_those_of_brute_force(wavelet, level, shape):
    transform = Transform(shape, level, wavelet)
    moved = every_impulse(transform)
    assert transform.sensitivity == np.abs(moved).sum(axis=1).max()
    assert transform.touched == np.count_nonzero(moved, axis=1).max()
    # Rows far from an edge see the whole filter: the largest spread is over whole blocks.
    spread = np.sqrt((moved.astype(float) ** 2).sum(axis=0)).max()
    assert transform.spread == pytest.approx(spread, rel=1e-9)


@pytest.mark.parametrize(("wavelet", "level"), KNOWN)
def test_sensitivities_are_those_of_the_unrounded_filter(wavelet, level):
    transform = Transform((64, 64), level, wavelet)
    assert transform.sensitivity * transform.unit == pytest.approx(KNOWN[wavelet, level], abs=0.01)
    assert transform.on_subband == (wavelet != "bior2.2")


@pytest.mark.parametrize("wavelet", WAVELETS[1:])
def test_coefficients_are_those_of_pywavelets(wavelet):
    counts = np.random.default_rng(3).integers(0, 50, (16, 24))
    theirs = pywt.dwt2(pywt.dwt2(counts, wavelet, mode="zero")[0], wavelet, mode="zero")[0]
    transform = Transform(counts.shape, 2, wavelet)
    np.testing.assert_allclose(
        transform(counts) * transform.unit, theirs, atol=0.01 * counts.max(), rtol=0.01
    )


def test_haar_coefficients_are_block_sums():
    counts = np.random.default_rng(4).integers(0, 50, (16, 24))
    theirs = pywt.dwt2(counts, "haar", mode="zero")[0]
    np.testing.assert_allclose(Transform(counts.shape, 1)(counts), 2 * theirs)


def test_an_odd_axis_loses_no_row():
    counts = np.random.default_rng(5).integers(0, 50, (13, 7, 5))
    transform = Transform(counts.shape, 2)
    assert transform.shape_out == (4, 2, 2) == transform(counts).shape
    assert transform(counts).sum() == counts.sum()


def test_empty_cells_make_coefficients_of_exactly_zero():
    assert not Transform((12, 12), 2, "bior2.2")(np.zeros((12, 12), dtype=np.int64)).any()


def test_counts_beyond_memory_do_not_wrap_around():
    transform = Transform((8, 8), 1, "bior2.2")
    huge = np.zeros((8, 8), dtype=np.int64)
    huge[4, 4] = 2**62
    assert np.abs(transform(huge)).max() < 2**62


@pytest.mark.parametrize("wavelet", WAVELETS)
def test_a_coefficient_answers_for_its_share_of_cells_in_order(wavelet):
    transform = Transform((64,), 2, wavelet)
    places = transform.places(0)
    assert (np.diff(places) >= 0).all()
    answered = np.bincount(places)[np.unique(places)][2:-2]
    assert set(answered) == {4}  # a level of 2 halves the grid twice


@pytest.mark.parametrize("wavelet", WAVELETS)
def test_a_cell_looks_up_the_coefficient_it_adds_most_to(wavelet):
    transform = Transform((32,), 1, wavelet)
    for cell in range(4, 28):
        impulse = np.zeros(32, dtype=np.int64)
        impulse[cell] = 1
        answer = transform(impulse)
        assert answer[transform.places(0)[cell]] == answer.max() > 0


@pytest.mark.parametrize("name", ["no-such", "morl", "haar "])
def test_what_is_no_discrete_wavelet_is_refused(name):
    with pytest.raises(InvalidSetting, match="wavelet"):
        Transform((8, 8), 1, name)(np.zeros((8, 8), dtype=np.int64))


def test_filters_are_rounded_to_a_lattice():
    (matrix,) = Transform((16,), 1, "db2").matrices
    assert matrix.dtype == np.int64
    assert (
        np.abs(matrix / FINE - pywt.dwt(np.eye(16), "db2", "zero", axis=0)[0]).max() <= 0.5 / FINE
    )
