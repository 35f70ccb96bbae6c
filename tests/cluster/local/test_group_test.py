import numpy as np
import pytest

from shoal.cluster import LocalClusterer
from shoal.domain import Box
from shoal.mechanisms import LocalGrid, NDLaplace
from shoal.randomness import Randomness

BOX = Box.unit(2)
PLACES = np.array([[0.2, 0.2], [0.8, 0.3], [0.5, 0.8]])


def rows(kind, n):
    rng = np.random.default_rng(1)
    return {
        "groups": np.clip(rng.normal(PLACES[np.arange(n) % 3], 0.05), 0, 1),
        "spread evenly": rng.uniform(0, 1, (n, 2)),
        "at one point": np.tile([0.3, 0.6], (n, 1)),
    }[kind]


def evidence(kind, mechanism, seed=1, n=1_500):
    reports = mechanism.release(rows(kind, n), Randomness(seed).noise)
    method = "em" if isinstance(mechanism, NDLaplace) else "auto"  # the fastest
    model = LocalClusterer(3, mechanism=reports.mechanism, method=method, random_state=seed)
    return model.evidence(reports, random_state=seed)


LAPLACE = NDLaplace(10.0, domain=BOX)
GRID = LocalGrid(BOX, epsilon=4.0, n_expected=1_500)


@pytest.mark.heavy
@pytest.mark.parametrize("mechanism", [LAPLACE, GRID], ids=["laplace", "grid"])
def test_clear_groups_are_told(mechanism):
    found = evidence("groups", mechanism)
    assert found.is_certain
    assert min(found.margins.values()) > found.needed
    assert found.inertia_ratio > 1.5


@pytest.mark.heavy
@pytest.mark.parametrize("kind", ["spread evenly", "at one point"])
def test_people_without_groups_are_not(kind):
    assert not evidence(kind, LAPLACE).is_certain


@pytest.mark.heavy
def test_noise_that_drowns_clear_groups_leaves_none_to_tell():
    assert not evidence("groups", NDLaplace(0.3, domain=BOX)).is_certain


def test_too_few_reports_for_two_halves_tell_nothing():
    reports = LAPLACE.release(PLACES, Randomness(1).noise)
    model = LocalClusterer(3, mechanism=LAPLACE, random_state=1)
    assert not model.evidence(reports).is_certain


@pytest.mark.heavy
def test_a_seed_repeats_the_verdict():
    one, other = (evidence("groups", LAPLACE, n=200) for _ in range(2))
    assert one.margins == other.margins
