import numpy as np
import pytest

import shoal
from shoal.errors import InvalidSetting
from shoal.planning import what_if
from shoal.planning._what_if import FLATTERY

BOX = shoal.Box(age=(0, 100), visits=(0, 20))


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    rows = np.repeat([[20, 4], [50, 10], [80, 16]], 700, axis=0) + rng.normal(
        0, [3, 0.6], (2100, 2)
    )
    return shoal.PrivateKMeans(3, epsilon=1, domain=BOX, random_state=1).fit(rows)


@pytest.mark.heavy
def test_a_model_is_enough_for_a_plan(model):
    found = what_if(model, epsilons=[0.1, 5])
    poor, rich = found.curves["central"].bands
    assert found.n_clusters == 3
    assert abs(found.n_expected - 2_100) < 60
    assert rich.high < poor.high
    assert rich.high < 0.05
    assert found.flattery == FLATTERY


@pytest.mark.heavy
def test_the_same_release_gives_the_same_plan_after_saving(model, tmp_path):
    model.save(tmp_path / "model")
    loaded = shoal.load_model(tmp_path / "model")
    first, second = (what_if(each, epsilons=[1]) for each in (model, loaded))
    assert first.curves == second.curves


@pytest.mark.heavy
def test_nothing_is_spent(model, tmp_path):
    ledger = shoal.Ledger(tmp_path / "a.ledger", limit=shoal.PureDP(3))
    rows = np.tile([[20.0, 4.0], [80.0, 16.0]], (200, 1))
    paid = shoal.PrivateKMeans(2, epsilon=1, domain=BOX, ledger=ledger, random_state=1).fit(rows)
    before = ledger.entries().to_pylist()
    what_if(paid, epsilons=[1])
    assert ledger.entries().to_pylist() == before


def test_a_model_without_cells_is_as_wide_as_its_noise_tells():
    rows = np.tile([[20.0, 4.0], [80.0, 16.0]], (400, 1))
    model = shoal.PrivateKMeans(2, epsilon=2, domain=BOX, method="lloyd", random_state=1).fit(rows)
    found = what_if(model, epsilons=[2])
    assert found.curves["central"].bands[0].high < 0.3


@pytest.mark.heavy
def test_rows_of_a_person_share_the_budget(model):
    people = shoal.Schema.of_box(BOX, person="who", max_rows_per_person=4)
    spread = np.random.default_rng(1).normal(0, [5.0, 1.0], (800, 2))
    places = np.tile([[20.0, 4.0], [80.0, 16.0]], (400, 1)) + spread
    table = dict(zip(BOX.names, places.T, strict=True)) | {"who": np.arange(800)}

    def predicted(domain, seed):
        model = shoal.PrivateKMeans(2, epsilon=2, domain=domain, random_state=seed).fit(table)
        return what_if(model, epsilons=[2])

    # One release may happen to lie well: the middle of five.
    alone, shared = ([predicted(domain, seed) for seed in range(5)] for domain in (BOX, people))
    assert shared[0].rows_per_person == 4
    one, many = (
        np.median([plan.curves["central"].bands[0].high for plan in plans])
        for plans in (alone, shared)
    )
    assert many > 2 * one


def test_a_model_without_sizes_is_refused():
    with pytest.raises(InvalidSetting, match="released centres and sizes; got object"):
        what_if(object())
