import numpy as np
import pytest
from sklearn.cluster import KMeans

from shoal import Box, Ledger, LocalClusterer, NDLaplace, PrivateKMeans, PureDP
from shoal.audit.membership._victim import Victim, as_rows
from shoal.errors import InvalidSetting, NotFinite, NotNumeric
from shoal.mechanisms import Restrict
from shoal.privacy import LocalDP, MetricDP
from shoal.randomness import Randomness

ROWS = np.random.default_rng(0).random((60, 2))


def test_each_model_has_noise_of_its_own_and_a_seed_repeats_it():
    victim = Victim.of(PrivateKMeans(2, epsilon=1, domain=Box.unit(2), random_state=5))
    first, again, other = (
        victim.fit_rows(ROWS, None, Randomness(seed)).cluster_centers_ for seed in (1, 1, 2)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_models_of_an_attack_write_in_no_ledger():
    ledger = Ledger(limit=PureDP(1))
    estimator = PrivateKMeans(2, epsilon=1, domain=Box.unit(2), ledger=ledger)
    Victim.of(estimator).fit_rows(ROWS, None, Randomness(1))
    assert ledger.entries().num_rows == 0


def test_a_local_clusterer_brings_its_mechanism_and_gets_reports():
    noise = NDLaplace(20, domain=Box.unit(2))
    victim = Victim.of(LocalClusterer(2, mechanism=noise, method="plain"))
    model = victim.fit_rows(ROWS, None, Randomness(1))
    assert model.n_reports_ == 60
    assert isinstance(victim.promise(model), MetricDP)


def test_a_mechanism_stands_between_rows_and_any_other_estimator():
    victim = Victim.of(KMeans(1, n_init=1), NDLaplace(1))
    assert not np.allclose(victim.fit_rows(ROWS, None, Randomness(1)).cluster_centers_,
                           ROWS.mean(axis=0), atol=1e-9)  # fmt: skip


def test_a_function_gets_rows_labels_and_randomness():
    seen = {}

    def fit(rows, labels, rng):
        seen.update(rows=rows, labels=labels, rng=rng)

    Victim.of(fit).fit_rows(ROWS, np.arange(60), Randomness(1))
    assert np.array_equal(seen["rows"], ROWS)
    assert seen["labels"][-1] == 59
    assert seen["rng"].noise.simulation


def test_distances_are_those_of_the_promise():
    noise = NDLaplace(1, domain=Box(x=(0, 10), y=(0, 2)), scale=(10, 2))
    pair = np.zeros((1, 2)), np.array([[6.0, 1.6]])
    attacked = Victim.of(KMeans(1), noise)
    assert attacked.farthest(noise.guarantee, *pair) == 1
    assert attacked.farthest(MetricDP(1), *pair) == pytest.approx(np.hypot(6, 1.6))
    assert attacked.farthest(MetricDP(1, unit="km"), *pair) is None
    assert attacked.farthest(LocalDP(1), *pair) is None


def test_a_restricted_mechanism_measures_as_its_noise_does():
    box = Box(x=(0, 8), y=(0, 8))
    made = Restrict(NDLaplace(1.0, domain=box, scale="box"))
    pair = np.zeros((2, 2)), np.array([[4.0, 0.0], [0.0, 0.0]])
    assert Victim.of(KMeans(1), made).farthest(made.guarantee, *pair) == 1


def test_what_cannot_be_fitted_is_refused():
    with pytest.raises(InvalidSetting):
        Victim.of(3)


@pytest.mark.parametrize(
    ("rows", "error"),
    [([["a"]], NotNumeric), ([1.0, 2.0], InvalidSetting), ([[np.nan]], NotFinite)],
)
def test_what_is_no_table_of_numbers_is_refused(rows, error):
    with pytest.raises(error):
        as_rows(rows)
