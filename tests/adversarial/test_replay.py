"""The exact loss of whole fits is within the claim, over many pairs of neighbouring tables.

Nothing here is a test of chance: losses are computed, for the pairs and paths that the seeds name.
`make test` replays each family on a few pairs, which takes less than a minute of CPU in all; `make
slow` on 200.
"""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from shoal.audit import replay
from shoal.audit.loss._mixed_twins import SCHEMA
from shoal.audit.loss._replay_families import families, replay_family
from shoal.cluster import PrivateKMeans, PrivateKPrototypes, WaveCluster
from shoal.domain import Box, FarGrid, ZoomedGrid
from shoal.estimator import person_and_limit
from shoal.privacy import ApproxDP
from shoal.synopsis import AdaptiveGrid, PrivTree, UniformGrid

OF_PEOPLE = {name for name, model in families.items() if person_and_limit(model.domain)[0]}
LINE = Box(x=(0, 1))
SMALL = {
    "UniformGrid": UniformGrid(epsilon=1, domain=LINE, cells=7),
    "AdaptiveGrid": AdaptiveGrid(epsilon=1, domain=LINE),
    "PrivTree": PrivTree(epsilon=1, domain=LINE),
    "PrivateKMeans": PrivateKMeans(2, epsilon=1, domain=LINE, n_public=2000),
}
EIGHT = {"domain": Box.unit(8), "nonfinite": "drop", "n_public": 40}
MORE = {  # other paths of families, not in the table of the audit's page
    "PrivateKMeans, part of the box": PrivateKMeans(
        2, epsilon=1, domain=Box.unit(2), nonfinite="drop", n_public=800
    ),
    "PrivateKMeans, halves of six columns": PrivateKMeans(
        3, epsilon=1, domain=Box.unit(6), nonfinite="drop", n_public=60
    ),
    "PrivateKMeans, one mean": PrivateKMeans(3, epsilon=1, **EIGHT),
    "PrivateKMeans, one mean with a delta": PrivateKMeans(
        3, privacy=ApproxDP(1, Fraction(1, 10**6)), **EIGHT
    ),
    "WaveCluster, four columns": WaveCluster(epsilon=1, domain=Box.unit(4), nonfinite="drop"),
    "PrivateKPrototypes, choice of k": PrivateKPrototypes(
        range(1, 3), epsilon=1, domain=SCHEMA, n_init=2, n_synthetic=200, n_public=1000
    ),
}


def check(seen):
    assert seen.verdict == "consistent", seen.faults
    assert seen.loss <= seen.epsilon + 1e-9 or seen.delta_claim
    assert seen.worst <= seen.epsilon + 1e-9
    assert seen.delta <= seen.delta_claim


@pytest.mark.parametrize("name", families)
def test_some_pairs_lose_no_more_than_is_claimed(name):
    check(replay_family(families[name], 3 if name in OF_PEOPLE else 9, random_state=1))


@pytest.mark.parametrize("name", MORE)
def test_other_paths_lose_no_more_than_is_claimed(name):
    check(replay_family(MORE[name], 2 if "Prototypes" in name else 9, random_state=1))


FAR = {
    "in the view": 0.401,
    "on its border": None,
    "beyond it": 0.55,
    "between two shells": 0.0,
    "on a face of the box": 1.0,
    "at a corner": -1.0,
}


@pytest.mark.parametrize("d", [1, 2, 3, 5])
@pytest.mark.parametrize("where", FAR)
def test_a_row_beyond_a_small_view_loses_no_more_than_is_claimed(d, where, monkeypatch):
    """Most rows in a hundredth of the box: cells are fine about them, and wide elsewhere."""
    zooms = []
    counted = ZoomedGrid.locate

    def recorded(self, X):
        zooms.append(self)
        return counted(self, X)

    monkeypatch.setattr(ZoomedGrid, "locate", recorded)
    box = Box.of([f"x{i}" for i in range(d)], [-1.0] * d, [1.0] * d)
    table = 0.4 + 0.01 * np.random.default_rng(d).uniform(-1, 1, (3_000, d))
    model = PrivateKMeans(3, epsilon=1, domain=box, n_public=3_000)
    place = FAR[where]
    if place is None:
        replay(model, table, table, random_state=3)
        place = zooms[0].view.place(np.ones((1, d)))[0]
    row = np.where(np.arange(d) < max(1, d // 2), place, 0.4)
    seen = replay(model, table, np.vstack([table, row]), random_state=3)
    assert seen.verdict == "consistent", str(seen)
    assert seen.worst <= 1 + 1e-9
    assert any(zoom.shells for zoom in zooms)


@pytest.mark.parametrize("d", [6, 14])
@pytest.mark.parametrize("place", [-0.3, 0.0, 1.0, -1.0])
def test_a_row_far_beyond_a_view_of_many_columns_loses_no_more_than_is_claimed(
    d, place, monkeypatch
):
    counted, keys = FarGrid.keys, list[int]()

    def recorded(self, X):
        found = counted(self, X)
        keys.append(int(found.max(initial=0) >= self.grid.size))
        return found

    monkeypatch.setattr(FarGrid, "keys", recorded)
    box = Box.of([f"x{i}" for i in range(d)], [-1.0] * d, [1.0] * d)
    table = 0.4 + 0.01 * np.random.default_rng(d).uniform(-1, 1, (8_000, d))
    row = np.where(np.arange(d) < d // 2, place, 0.4)
    model = PrivateKMeans(3, epsilon=1, domain=box, n_public=8_000)
    seen = replay(model, table, np.vstack([table, row]), random_state=3)
    assert seen.verdict == "consistent", str(seen)
    assert seen.worst <= 1 + 1e-9
    assert any(keys)


@pytest.mark.slow
@pytest.mark.parametrize("name", families)
def test_two_hundred_pairs_lose_no_more_than_is_claimed(name):
    check(replay_family(families[name], 200, search=0 if name in OF_PEOPLE else 40))


@pytest.mark.parametrize("name", SMALL)
@settings(
    max_examples=8, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
@given(
    table=arrays(
        np.float64, st.tuples(st.integers(0, 30), st.just(1)), elements=st.floats(-0.1, 1.1)
    ),
    row=st.floats(-1e9, 1e9),
)
def test_tables_of_any_shape_lose_no_more_than_is_claimed(name, table, row):
    seen = replay(SMALL[name], table, np.vstack([table, [[row]]]))
    assert seen.verdict == "consistent", str(seen)


def test_most_families_show_all_of_their_budget():
    """If they did not, the pairs would be too tame to see a fault of a few per cent."""
    some = ["UniformGrid", "AdaptiveGrid", "WaveCluster", "PrivateKMeans, lloyd"]
    for name in some:
        assert replay_family(families[name], 9).worst > 0.999, name
