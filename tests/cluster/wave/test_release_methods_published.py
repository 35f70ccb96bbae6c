import numpy as np
import pytest

from shoal.cluster.wave import PrivQT, PrivTHR, PrivTHREM, WaveCluster
from shoal.domain import Box
from shoal.privacy import PureDP

BOX = Box.unit(2)


def blobs(n: int = 4000) -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.vstack([rng.normal(c, 0.05, (n // 2, 2)) for c in (0.25, 0.75)])


@pytest.mark.filterwarnings("ignore::shoal.errors.NoGroupsDetected")
@pytest.mark.parametrize("variant", ["block", "privqt", "privthr", "privthrem", "baseline"])
@pytest.mark.parametrize("wavelet", ["haar", "bior2.2"])
def test_every_method_spends_exactly_its_promise(variant, wavelet):
    model = WaveCluster(
        domain=BOX, epsilon=0.7, variant=variant, cells=16, level=1, wavelet=wavelet, random_state=1
    ).fit(blobs())
    assert model.guarantee_ == PureDP(0.7).simulated()


@pytest.mark.parametrize("variant", ["block", "privthr", "privthrem", "baseline"])
def test_two_clear_blobs_are_found_by_every_method_that_settles(variant):
    model = WaveCluster(
        domain=BOX, epsilon=4, variant=variant, cells=32, level=1, random_state=2
    ).fit(blobs())
    centre = model.predict([[0.25, 0.25], [0.75, 0.75], [0.25, 0.75]])
    assert centre[0] != centre[1]
    assert min(centre[:2]) >= 0
    assert centre[2] == -1


@pytest.mark.parametrize("variant", [PrivQT, PrivTHR, PrivTHREM])
def test_laplace_noise_is_on_steps_of_a_thousandth_and_geometric_on_rows(variant):
    def counts(noise):
        return (
            WaveCluster(
                domain=BOX, epsilon=1, variant=variant(noise=noise), cells=16, random_state=3
            )
            .fit(blobs())
            .noisy_counts_
        )

    fine = counts("laplace")
    assert (fine * 1024 == np.rint(fine * 1024)).all()
    assert (fine != np.rint(fine)).any()
    whole = counts("geometric")
    assert (whole == np.rint(whole)).all()


@pytest.mark.filterwarnings("ignore::shoal.errors.NoGroupsDetected")
def test_the_noise_of_cells_has_the_variance_of_laplace():
    nobody = np.zeros((0, 2))
    model = WaveCluster(domain=BOX, epsilon=0.5, variant="privqt", cells=128, random_state=4)
    assert model.fit(nobody).noisy_counts_.var() == pytest.approx(2 / 0.5**2, rel=0.06)


def test_the_baseline_clusters_points_that_are_nobody():
    model = WaveCluster(domain=BOX, epsilon=1, variant="baseline", cells=16, random_state=5)
    found = model.fit(blobs())
    assert found.noisy_counts_.dtype == np.int64
    assert found.noisy_counts_.sum() == pytest.approx(4000, rel=0.1)


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore::shoal.errors.NoGroupsDetected")
def test_synthetic_points_stay_few_when_noise_asks_for_more_than_memory_holds(monkeypatch):
    monkeypatch.setattr("shoal.cluster.wave._release_methods._MOST_POINTS", 1000)
    model = WaveCluster(
        domain=Box.unit(2), epsilon=1e-6, variant="baseline", cells=8, random_state=1
    ).fit(np.zeros((0, 2)))
    counts = model.noisy_counts_
    stands_for = np.gcd.reduce(counts.ravel())
    assert counts.sum() / stands_for == 1000
    assert stands_for > 1000  # rows a point
