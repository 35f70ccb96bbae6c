import numpy as np
import pytest

from shoal import Box, PrivateKMeans, UniformGrid, WaveCluster
from shoal.audit.membership._victim import summary_of

ROWS = np.random.default_rng(0).random((300, 2))
RECORD = ROWS[:1]
MODELS = {
    "lloyd": PrivateKMeans(3, epsilon=1, domain=Box.unit(2), method="lloyd"),
    "auto": PrivateKMeans(3, epsilon=1, domain=Box.unit(2)),
    "grid": UniformGrid(epsilon=1, domain=Box.unit(2), cells=8),
    "wave": WaveCluster(domain=Box.unit(2), epsilon=1),
}


@pytest.mark.filterwarnings("ignore::shoal.errors.NoGroupsDetected")  # rows spread evenly
@pytest.mark.parametrize("name", sorted(MODELS))
def test_a_line_has_the_same_length_whatever_the_noise(name):
    lines = []
    for seed in range(3):
        model = MODELS[name].set_params(random_state=seed).fit(ROWS[: 300 - 50 * seed])
        lines.append(summary_of(model, RECORD))
    assert len({line.shape for line in lines}) == 1
    assert all(np.isfinite(line).all() for line in lines)
    assert not np.array_equal(lines[0], lines[1])


def test_centres_come_nearest_first():
    class Centres:
        cluster_centers_ = np.array([[3.0, 4.0], [0.0, 1.0]])
        cluster_sizes_ = np.array([7.0, 8.0])

    line = summary_of(Centres(), np.zeros((1, 2)))
    assert line[:8].tolist() == [1, 8, 0, 1, 25, 7, 3, 4]


def test_a_cell_nobody_kept_shows_nothing():
    grid = UniformGrid(epsilon=50, domain=Box.unit(2), cells=4, random_state=0).fit(ROWS * 0.2)
    line = summary_of(grid, np.array([[0.9, 0.9]]))
    assert line[:2].tolist() == [0, 0]
