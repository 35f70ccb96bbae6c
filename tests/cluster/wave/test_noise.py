import math

import numpy as np
import pytest

from shoal.cluster.wave._noise import NoiseLaw
from shoal.mechanisms import Geometric
from shoal.privacy import PureDP

AT = np.arange(-400, 401)


def test_it_is_the_law_of_the_mechanism():
    law = NoiseLaw(0.5)
    assert law.variance == pytest.approx(Geometric(PureDP(0.5)).variance)
    assert law.mass(AT).sum() == pytest.approx(1)
    assert (law.mass(AT) * AT**2).sum() == pytest.approx(law.variance)


@pytest.mark.parametrize("fold", [2, 4, 16])
def test_a_sum_of_noises_has_their_convolution(fold):
    law, one = NoiseLaw(0.7, fold), NoiseLaw(0.7).mass(np.arange(-60, 61))
    exact = one
    for _ in range(fold - 1):
        exact = np.convolve(exact, one)
    reach = (exact.size - 1) // 2
    np.testing.assert_allclose(law.mass(np.arange(-reach, reach + 1))[reach - 40 : reach + 41],
                               exact[reach - 40 : reach + 41], rtol=1e-6, atol=1e-14)  # fmt: skip
    assert law.variance == pytest.approx(fold * NoiseLaw(0.7).variance)


@pytest.mark.parametrize("fold", [1, 4])
def test_tails_far_out_are_never_zero(fold):
    far = NoiseLaw(1.0, fold).mass(np.array([300, 500]))
    assert (far > 0).all()


def test_half_of_what_is_not_zero_is_above():
    law = NoiseLaw(1.0)
    a = math.exp(-1)
    assert law.above_zero == pytest.approx(a / (1 + a))
    assert NoiseLaw(1.0, 4).above_zero == pytest.approx(
        NoiseLaw(1.0, 4).mass(np.arange(1, 400)).sum()
    )


@pytest.mark.parametrize("fold", [1, 4])
def test_the_height_reached_by_chance_is_reached_so_often(fold):
    law = NoiseLaw(0.5, fold)
    height = math.ceil(law.height_reached(1e-4))
    assert law.mass(np.arange(height, 3000)).sum() <= 1e-4
    assert law.mass(np.arange(height - 1, 3000)).sum() > 1e-4


@pytest.mark.parametrize("fold", [4, 4096])
def test_the_sum_of_very_wide_noises_is_tabled_in_strides(fold):
    law = NoiseLaw(1e-6, fold)
    at = law._stride * np.arange(-law._table.size + 1, law._table.size)
    masses = law._stride * law.mass(at)
    assert law._table.size < 2**17
    assert masses.sum() == pytest.approx(1)
    assert (masses * at.astype(float) ** 2).sum() == pytest.approx(law.variance)
    height = law.height_reached(1e-3)
    assert masses[at >= height].sum() == pytest.approx(1e-3, rel=0.02)


@pytest.mark.parametrize("step", [1e-6, 0.5, 40.0])
def test_a_variance_tells_the_step(step):
    assert NoiseLaw.of_variance(NoiseLaw(step).variance).step == pytest.approx(step)


def test_next_to_no_noise_has_a_law_too():
    assert NoiseLaw.of_variance(0.0).height_reached(1e-9) < 1
