import numpy as np
import pytest

from shoal.domain import Schema
from shoal.errors import InvalidDomain, InvalidSetting, UnknownCategory, UnknownColumn
from shoal.privacy import Ledger, PureDP
from shoal.synopsis import MixedSynopsis

SCHEMA = Schema.of(
    {
        "version": 1,
        "columns": {
            "age": {"low": 0, "high": 100, "missing": "flag"},
            "grade": {"levels": ["low", "middle", "high"]},
            "level": {"values": ["basic", "higher"]},
            "town": {"values": ["a", "b", "c"]},
        },
    }
)


def people(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    older = rng.random(n) < 0.5
    age = np.where(older, rng.uniform(50, 90, n), rng.uniform(10, 40, n))
    level = np.where(older ^ (rng.random(n) < 0.1), "higher", "basic")
    grade = np.array(["low", "middle", "high"])[np.clip(older + rng.integers(0, 2, n), 0, 2)]
    town = rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1])
    known = [None if i % 100 == 0 else float(x) for i, x in enumerate(age)]
    return {"age": known, "grade": grade, "level": level, "town": town}


def fitted(n=3000, epsilon=2, seed=3, **settings):
    model = MixedSynopsis(epsilon=epsilon, domain=SCHEMA, random_state=seed, **settings)
    return model.fit(people(n))


def test_the_promise_is_kept_and_paid_once():
    ledger = Ledger()
    made = fitted(ledger=ledger)
    assert made.guarantee_ == PureDP(2, simulation=True)
    assert ledger.entries()["epsilon"].to_pylist() == ["0.04", "1.96"]


@pytest.mark.parametrize("n", [0, 1, 30, 3000])
@pytest.mark.parametrize("n_public", [None, 5000])
def test_any_number_of_rows_is_fitted_at_the_whole_budget(n, n_public):
    made = fitted(n, epsilon=1, n_public=n_public)
    assert made.guarantee_.epsilon == 1
    assert made.model_.total >= 1


def test_dependent_columns_are_measured_together():
    made = fitted()
    table = made.table("age", "level")
    assert not table.modelled
    assert table.deviation > 0
    older = table.counts[np.linspace(0, 100, made.bins_ + 1)[:-1] >= 50].sum(axis=0)
    assert older[1] > 5 * older[0]
    assert table.to_arrow().column_names == ["age", "basic", "higher"]


def test_a_pair_that_was_not_released_is_marked_as_modelled():
    made = fitted()
    modelled = [
        made.table(a, b)
        for a in made.columns.names
        for b in made.columns.names
        if a < b and made.table(a, b).modelled
    ]
    assert modelled
    assert all(table.deviation is None for table in modelled)


def test_a_target_is_measured_with_every_other_column():
    made = fitted(target="town")
    place = made.columns.names.index("town")
    assert len(made.pairs_) == made.columns.d - 1
    assert all(place in pair for pair in made.pairs_)
    assert any(place not in pair for pair in fitted().pairs_)


def test_pairs_left_after_those_of_a_target_join_the_rest():
    made = MixedSynopsis(domain=SCHEMA, target="town")
    place = made.columns.names.index("town")
    of_target, of_others = (0, place), (0, 1)
    assert made._candidates([of_others, of_target]) == [of_target]
    assert made._candidates([of_others]) == [of_others]


def test_an_unknown_target_is_refused_before_anything_is_spent():
    ledger = Ledger()
    with pytest.raises(UnknownColumn, match="'height'"):
        fitted(100, target="height", ledger=ledger)
    assert not ledger.entries()


def test_counts_under_conditions_are_near_the_truth():
    rows, made = people(), fitted()
    true = sum(
        a is not None and a < 50 and b == "basic"
        for a, b in zip(rows["age"], rows["level"], strict=True)
    )
    assert abs(made.count(age=(0, 50), level="basic") - true) < 150
    assert made.count() == pytest.approx(made.model_.total)
    assert made.count(town=["a", "b", "c"]) == pytest.approx(made.model_.total)


def test_synthetic_rows_have_the_columns_and_values_of_the_schema():
    rows = fitted().sample(500, rng=1)
    assert rows.column_names == list(SCHEMA.columns)
    assert set(rows["town"].to_pylist()) <= {"a", "b", "c"}
    assert set(rows["grade"].to_pylist()) <= {"low", "middle", "high"}
    assert rows["age"].null_count <= 50
    assert min(v for v in rows["age"].to_pylist() if v is not None) >= 0
    assert rows.equals(fitted().sample(500, rng=1))


def test_synthetic_rows_are_rows_of_the_schema():
    again = MixedSynopsis(epsilon=1, domain=SCHEMA, random_state=1).fit(fitted().sample(200, rng=1))
    assert again.n_rows_ > 100


def test_unknown_columns_and_values_are_refused():
    made = fitted(100)
    with pytest.raises(UnknownColumn, match="'height'"):
        made.table("height", "age")
    with pytest.raises(InvalidSetting, match="two different"):
        made.table("age", "age")
    with pytest.raises(UnknownCategory, match="'town'"):
        made.count(town="z")
    with pytest.raises(InvalidSetting, match="range"):
        made.count(age=5)


def test_numbers_alone_and_a_single_column_are_fine():
    one = Schema.of({"version": 1, "columns": {"sex": {"values": ["F", "M"]}}})
    made = MixedSynopsis(epsilon=1, domain=one, random_state=1).fit(
        {"sex": ["F"] * 90 + ["M"] * 10}
    )
    assert made.pairs_ == ()
    assert made.count(sex="F") > 70


def test_a_box_is_no_domain_of_it():
    from shoal.domain import Box

    with pytest.raises(InvalidDomain, match="Schema"):
        MixedSynopsis(epsilon=1, domain=Box(x=(0, 1))).fit(np.zeros((3, 1)))


def test_measured_cells_are_within_their_noise():
    """Released cells of two columns of categories, after consistency, over four seeds."""
    columns = {
        "level": SCHEMA.to_dict()["columns"]["level"],
        "town": SCHEMA.to_dict()["columns"]["town"],
    }
    schema, rows = Schema.of({"version": 1, "columns": columns}), people(5000)
    true = np.array([
        [np.sum((rows["level"] == a) & (rows["town"] == b)) for b in ("a", "b", "c")]
        for a in ("basic", "higher")
    ])  # fmt: skip
    for seed in range(4):
        made = MixedSynopsis(epsilon=1, domain=schema, random_state=seed).fit(rows)
        table = made.table("level", "town")
        assert np.abs(table.counts - true).mean() <= 1.5 * table.deviation


def test_a_simulated_release_of_its_own_rows_is_like_the_release():
    made = MixedSynopsis(epsilon=1, domain=SCHEMA, random_state=1).fit(people(4000))
    rng = np.random.default_rng(2)
    again = made.simulate(*made.synthetic_rows(4000, rng), rng)
    assert again.pairs_ == made.pairs_
    for one, other in zip(made.model_.one_ways, again.model_.one_ways, strict=True):
        assert np.abs(one - other).max() < 8 * max(made.one_way_deviations_)


def test_a_synopsis_of_an_older_version_knows_its_noise_about():
    made = MixedSynopsis(epsilon=1, domain=SCHEMA, random_state=1).fit(people(4000))
    content = {k: v for k, v in made.to_dict().items() if k != "one_way_deviations"}
    older = MixedSynopsis.of_dict(content, SCHEMA)
    assert older.one_way_deviations_[0] < 3 * made.one_way_deviations_[0]
    assert made.one_way_deviations_[0] < 3 * older.one_way_deviations_[0]
