import numpy as np
import pyarrow as pa
import pytest

from shoal import evaluate
from shoal.cluster import KPrototypes, PrivateKPrototypes, without_data
from shoal.cluster.prototypes._mixed_rows import Prototypes, hold_rows
from shoal.cluster.prototypes._profile_estimates import plain_profiles
from shoal.domain import Schema
from shoal.errors import DimensionMismatch, InvalidSetting

SCHEMA = Schema.of(
    {
        "version": 1,
        "columns": {
            "age": {"low": 0, "high": 100},
            "level": {"values": ["basic", "middle", "higher"], "weight": 2},
            "city": {"values": ["N", "S"]},
        },
    }
)
rng = np.random.default_rng(0)
GROUP = np.arange(1200) % 3
PEOPLE = pa.table(
    {
        "age": np.clip(15 + 35 * GROUP + rng.normal(0, 4, 1200), 0, 100),
        "level": np.array(["basic", "middle", "higher"])[GROUP],
        "city": np.array(["N", "S"])[rng.integers(0, 2, 1200)],
    }
)


@pytest.fixture(scope="module")
def model():
    return PrivateKPrototypes(3, epsilon=2, domain=SCHEMA, random_state=1).fit(PEOPLE)


def lines(table):
    return {line["score"]: line for line in table.to_pylist()}


@pytest.mark.heavy
def test_a_model_is_scored_beside_plain_and_no_data(model):
    scores = lines(evaluate.score(model, PEOPLE, control=[without_data(model, random_state=3)]))
    plain = KPrototypes(3, domain=SCHEMA, random_state=0).fit(PEOPLE)
    assert scores["normalised_cost"]["plain"] == 1
    assert scores["normalised_cost"]["value"] == pytest.approx(
        model.score(PEOPLE) / plain.score(PEOPLE), rel=1e-3
    )
    assert scores["normalised_cost"]["control"] > scores["normalised_cost"]["value"]
    assert scores["ami"]["plain"] == 1
    assert scores["gower_silhouette"]["value"] > scores["gower_silhouette"]["shuffled"]
    assert abs(scores["ari"]["shuffled"]) < 0.05


@pytest.mark.heavy
def test_true_groups_and_other_models_may_be_what_is_compared_with(model):
    scores = lines(evaluate.score(model, PEOPLE, against=GROUP))
    assert scores["ari"]["value"] > 0.4
    assert "normalised_cost" not in scores  # labels have no prototypes
    own = lines(evaluate.score(model, PEOPLE, against=model))
    assert own["ari"]["value"] == own["normalised_cost"]["value"] == 1


def test_plain_prototypes_can_be_scored_too():
    plain = KPrototypes(3, domain=SCHEMA, random_state=0).fit(PEOPLE)
    assert lines(evaluate.score(plain, PEOPLE))["normalised_cost"]["value"] == pytest.approx(
        1, abs=0.05
    )


@pytest.mark.heavy
def test_what_fits_no_row_is_refused(model):
    with pytest.raises(InvalidSetting):
        evaluate.score(model)
    with pytest.raises(DimensionMismatch):
        evaluate.score(model, PEOPLE, against=[0, 1])


def test_the_scores_can_be_drawn(model):
    assert evaluate.score_picture(evaluate.score(model, PEOPLE)).kind == "score_marks"


SIDES = Schema.of(
    {"version": 1, "columns": {"x": {"low": 0, "high": 1}, "c": {"values": ["a", "b", "c"]}}}
)


def two_sides():
    rng = np.random.default_rng(0)
    side = np.arange(200) % 2
    return {
        "x": np.clip(0.2 + 0.6 * side + rng.normal(0, 0.02, 200), 0, 1),
        "c": np.where(side, "b", "a"),
    }


def test_plain_prototypes_tell_two_groups_apart():
    model = KPrototypes(2, domain=SIDES, random_state=1).fit(two_sides())
    assert len(set(zip(model.labels_, np.arange(200) % 2, strict=True))) == 2
    assert np.array_equal(model.predict(two_sides()), model.labels_)
    assert model.cost_ == pytest.approx(-model.score(two_sides()))
    assert model.cost_ < 1


def test_plain_prototypes_promise_nothing():
    model = KPrototypes(2, domain=SIDES, random_state=1).fit(two_sides())
    assert "no noise" in str(model.guarantee_.reason)


def test_one_group_costs_most():
    one, two = (KPrototypes(k, domain=SIDES, random_state=1).fit(two_sides()).cost_ for k in (1, 2))
    assert one > 10 * two


def test_the_profile_of_plain_groups_is_that_of_their_rows():
    model, table = KPrototypes(2, domain=SIDES, random_state=1).fit(two_sides()), two_sides()
    in_first = model.labels_ == 0
    assert model.profiles_.means[0, 0] == pytest.approx(table["x"][in_first].mean(), abs=1e-4)
    assert model.profiles_.shares[0][0].sum() == pytest.approx(1)
    assert model.profiles_.everyone_shares[0].tolist() == pytest.approx([0.5, 0.5, 0])
    assert model.profiles_.sizes.tolist() == [100, 100]
    assert "for the holder of the rows only" in model.plot(group=2).alt


def test_a_plain_group_without_rows_has_the_profile_of_its_prototype():
    rows = hold_rows(two_sides(), SIDES)
    prototypes = Prototypes(np.array([[0.0], [0.5]]), np.array([[0], [2]]))
    profiles = plain_profiles(rows, np.zeros(200, dtype=np.int64), prototypes)
    assert profiles.sizes.tolist() == [200, 0]
    assert profiles.means[1, 0] == pytest.approx(0.75)
    assert profiles.shares[0][1].tolist() == [0, 0, 1]
