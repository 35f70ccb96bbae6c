import numpy as np
import pyarrow as pa
import pytest

from shoal.audit import replay
from shoal.audit.loss._replay_families import families, replay_family
from shoal.domain import Box, Schema
from shoal.mechanisms import Geometric
from shoal.privacy import Ledger, PureDP
from shoal.synopsis import PrivateBounds, widest_box
from shoal.synopsis._private_bounds import PowerCounts, power_edges

rng = np.random.default_rng(5)


def fitted(values, epsilon=1, seed=1, **settings):
    table = pa.table({"x": values})
    bounds = PrivateBounds(epsilon=epsilon, domain=widest_box(["x"]), random_state=seed, **settings)
    return bounds.fit(table)


@pytest.mark.parametrize(
    ("low", "high", "estimated"),
    [(18, 70, (16, 128)), (0, 1, (0, 1)), (-5, 5, (-8, 8)), (-90, -33, (-128, -32)), (0, 0, None)],
)
def test_bounds_are_the_powers_of_two_around_nearly_all_numbers(low, high, estimated):
    found = fitted(rng.uniform(low, high, 20_000)).bounds_["x"]
    assert found == (estimated or (0, 2.0**-20))


def test_a_few_rows_far_away_are_taken_for_noise():
    assert fitted([*rng.uniform(16, 60, 5_000), 1e12]).bounds_["x"] == (16, 64)


def test_with_too_few_rows_nothing_is_estimated():
    assert fitted([1.0, 2.0, 3.0], epsilon=0.01).bounds_ == {}


@pytest.mark.heavy
def test_empty_tables_are_taken_for_occupied_in_about_one_fit_of_twenty():
    seen = sum(bool(fitted(np.empty(0), seed=seed).bounds_) for seed in range(300))
    assert seen <= 25  # 15 on average at most; more than 25 happens in 1 of 150 such tests


def test_edges_come_from_the_domain_alone_and_every_number_has_a_bucket():
    edges = power_edges(-3, 40)
    assert (edges[0], edges[-1]) == (-3, 40)
    assert (np.diff(edges) > 0).all()
    assert 0 in edges
    block = type("Block", (), {"numbers": rng.uniform(-3, 40, (100, 1))})()
    assert PowerCounts((edges,))(block)[0].sum() == 100


def test_the_ledger_is_charged_once_with_the_whole_promise():
    ledger = Ledger()
    PrivateBounds(epsilon="0.1", domain=widest_box(["a", "b"]), ledger=ledger).fit(
        pa.table({"a": [1.0] * 9, "b": [2.0] * 9})
    )
    assert ledger.totals() == [PureDP("0.1")]
    assert ledger.entries().num_rows == 1


@pytest.mark.heavy
def test_a_schema_makes_it_a_promise_to_people():
    people = Schema.of_box(widest_box(["x"]), person="who", max_rows_per_person=4)
    model = PrivateBounds(epsilon=1, domain=people, random_state=1)
    model.fit(pa.table({"x": [5.0] * 400, "who": [str(i // 4) for i in range(400)]}))
    assert (model.guarantee_.epsilon, model.guarantee_.rows) == (1, 4)
    assert model.bounds_["x"] == (4, 8)


@pytest.mark.heavy
@pytest.mark.parametrize("name", [name for name in families if name.startswith("PrivateBounds")])
def test_a_replay_on_a_neighbour_loses_what_is_promised_and_no_more(name):
    seen = replay_family(families[name], 3, random_state=3)
    assert seen.verdict == "consistent", seen.faults
    assert seen.worst <= 1 + 1e-9


class OneColumnPaysForAll(PrivateBounds):
    """A twin that forgets that a row is counted once in each column."""

    def spend(self, spending):
        edges = [power_edges(*each) for each in np.transpose([spending.box.low, spending.box.high])]
        (counts,) = spending.sum(PowerCounts(tuple(edges)))
        self.noisy_counts_ = spending.release(Geometric(spending.budget), counts, of="counts")
        return self


def test_a_twin_of_sensitivity_one_is_caught():
    box = Box(x=(-1, 1), y=(-1, 1))
    table = rng.uniform(-1, 1, (20, 2))
    twin = OneColumnPaysForAll(epsilon=1, domain=box)
    assert replay(twin, table, table[1:]).verdict == "violated"
