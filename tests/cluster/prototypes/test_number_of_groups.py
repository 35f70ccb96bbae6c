import numpy as np
import pytest

import shoal
from shoal import choose
from shoal.cluster import PrivateKPrototypes
from shoal.domain import Schema
from shoal.errors import InvalidSetting
from shoal.privacy import PureDP
from shoal.synopsis.mixed import MixedSynopsis

rng = np.random.default_rng(5)
LEVELS, PLACES = ("basic", "middle", "higher"), ("north", "south", "west")
SCHEMA = Schema.of(
    {
        "version": 1,
        "columns": {
            "age": {"low": 0, "high": 100},
            "level": {"values": list(LEVELS)},
            "place": {"values": list(PLACES)},
        },
    }
)


def people(n, groups=3):
    group = rng.integers(0, groups, n)
    mixed = np.where(rng.random(n) < 0.1, rng.integers(0, 3, n), group)
    return {
        "age": np.clip(rng.normal(20 + 30 * group, 5), 0, 100),
        "level": np.array(LEVELS)[mixed],
        "place": np.array(PLACES)[(mixed + 1) % 3],
    }


TABLE = people(4_000)


@pytest.fixture(scope="module")
def model():
    ledger = shoal.Ledger()
    settings = {"epsilon": 1, "domain": SCHEMA, "ledger": ledger, "random_state": 1}
    return PrivateKPrototypes(range(2, 6), **settings).fit(TABLE), ledger


@pytest.mark.heavy
def test_three_groups_are_chosen_at_no_cost(model):
    fitted, ledger = model
    assert fitted.n_clusters_ == 3 == fitted.cost_curve_.chosen
    assert ledger.totals() == [PureDP(1).simulated()]


def test_the_curve_is_kept_with_the_model(model, tmp_path):
    fitted, _ = model
    fitted.save(tmp_path / "groups")
    loaded = shoal.load_model(tmp_path / "groups")
    assert loaded.cost_curve_ == fitted.cost_curve_
    assert loaded.n_clusters == (2, 3, 4, 5)
    assert "cost_curve_" in fitted.to_result().released


@pytest.mark.heavy
def test_a_synopsis_of_a_mixed_table_chooses_too():
    synopsis = MixedSynopsis(epsilon=1, domain=SCHEMA, random_state=1).fit(TABLE)
    choice = choose.k(synopsis, among=[2, 3, 4])
    assert choice.value == 3
    assert choice.guarantee == synopsis.guarantee_
    assert all(low < high for low, high in choice.costs.band.values())


def test_other_rules_are_refused_for_a_mixed_table():
    synopsis = MixedSynopsis(epsilon=1, domain=SCHEMA, random_state=1).fit(people(300))
    with pytest.raises(InvalidSetting):
        choose.k(synopsis, by="elbow")


def test_a_single_number_has_no_curve():
    fitted = PrivateKPrototypes(2, epsilon=1, domain=SCHEMA, random_state=1).fit(people(300))
    assert fitted.cost_curve_ is None
    assert "cost_curve_" not in fitted.to_result().released


def test_a_table_of_nobody_chooses_some_number():
    fitted = PrivateKPrototypes([2, 3], epsilon=1, domain=SCHEMA, random_state=1).fit(people(0))
    assert fitted.n_clusters_ in (2, 3)
