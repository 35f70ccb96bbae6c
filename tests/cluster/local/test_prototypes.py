"""Rounds about mixed records: everybody speaks once."""

import json

import numpy as np
import pyarrow as pa
import pytest

from shoal import evaluate
from shoal.cluster import KPrototypes, LocalPrototypes
from shoal.domain import Schema
from shoal.errors import InvalidBudget, InvalidDomain, InvalidSetting, NotAReport, TooFewRows
from shoal.mechanisms import Reports
from shoal.privacy import LocalDP
from shoal.randomness import Randomness

SCHEMA = Schema.of(
    {
        "version": 1,
        "columns": {
            "age": {"low": 0, "high": 100},
            "size": {"levels": ["small", "middle", "large"]},
            "level": {"values": ["basic", "middle", "higher"]},
            "city": {"values": ["N", "S", "E", "W"]},
        },
    }
)


def people(n=40_000, seed=0):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, n)
    stray = rng.random((3, n)) < 0.1

    def named(names, of, lost):
        return np.array(names)[np.where(lost, rng.integers(0, len(names), n), of)]

    return pa.table(
        {
            "age": np.clip(20 + 30 * group + rng.normal(0, 5, n), 0, 100),
            "size": named(["small", "middle", "large"], group, stray[0]),
            "level": named(["basic", "middle", "higher"], group, stray[1]),
            "city": named(["N", "S", "E", "W"], group, stray[2]),
        }
    )


def plan(**settings):
    usual = {"n_clusters": 3, "epsilon": 2, "n_expected": 40_000}
    return LocalPrototypes(SCHEMA, **(usual | settings))


@pytest.fixture(scope="module")
def table():
    return people()


@pytest.fixture(scope="module")
def states(table):
    state, made = plan(), []
    records = state.records(table)
    groups = state.groups(len(records), Randomness(3).noise)
    while state.mechanism is not None:
        reports = state.mechanism.release(records[groups == state.round], Randomness(4).noise)
        state = state.advance(reports, 7)
        made.append(state)
    return made


def test_everybody_is_in_one_round():
    groups = plan().groups(100_000, Randomness(1).noise)
    shares = np.bincount(groups, minlength=4) / 100_000
    assert np.abs(shares - [0.4, 0.2, 0.2, 0.2]).max() < 0.01  # over six standard errors


@pytest.mark.heavy
def test_all_rounds_together_have_one_report_for_each_person(monkeypatch, table):
    sent = []
    release = type(plan().mechanism).release

    def counted(mechanism, value, rng):
        sent.append(np.asarray(value))
        return release(mechanism, value, rng)

    monkeypatch.setattr(type(plan().mechanism), "release", counted)
    numbered = table.slice(0, 4_000).set_column(0, "age", pa.array(np.arange(4_000) / 40.0))
    plan(n_expected=4_000).simulate(numbered, random_state=1)
    assert len(sent) == 4
    ages = np.concatenate([records[:, 0] for records in sent])
    assert np.unique(ages).size == ages.size == 4_000


@pytest.mark.heavy
def test_the_groups_of_plain_prototypes_are_learnt(states, table):
    plain = KPrototypes(3, domain=SCHEMA, random_state=0).fit(table)
    scores = {
        line["score"]: line["value"]
        for line in evaluate.score(states[-1], table, against=plain).to_pylist()
    }
    assert scores["normalised_cost"] < 1.02
    assert scores["ari"] > 0.9
    assert sorted(states[-1].prototypes["level"].to_pylist()) == ["basic", "higher", "middle"]
    assert states[-1].prototypes["size"].type == pa.string()


def test_the_first_round_asks_for_pairs_only_if_people_are_enough():
    assert len(plan().mechanism.questions) == 6
    assert len(plan(n_expected=300, epsilon=1).mechanism.questions) == 4


@pytest.mark.heavy
def test_later_rounds_ask_about_published_prototypes(states):
    assert not plan().mechanism.prototypes
    for state in states[:3]:
        assert len(state.mechanism.prototypes) == 3
        assert len(state.mechanism.questions) == 4
    assert states[3].mechanism is None
    assert states[0].mechanism != states[1].mechanism


def test_the_promise_is_that_of_one_report(states):
    assert plan().guarantee == LocalDP(2)
    assert all(state.mechanism.guarantee == LocalDP(2) for state in [plan(), *states[:3]])


def test_reports_are_small_integers(table):
    state = plan()
    values = state.mechanism.release(state.records(table.slice(0, 500)), Randomness(1).noise).values
    assert values.dtype.kind == "i"
    assert values.shape == (500, 2)
    assert values.min() >= 0
    assert values.max() < 2**31


def test_a_state_takes_no_reports_but_its_own(states):
    stale = plan().mechanism.release(plan().records(people(50)), Randomness(1).noise)
    for state in states:
        with pytest.raises(NotAReport):
            state.advance(stale)
    with pytest.raises(NotAReport):
        plan().advance(Reports(np.array([[0, 0]]), plan(epsilon=1).mechanism))


def test_a_round_without_reports_leaves_the_groups_in_the_domain(states):
    nobody = np.empty((0, 4))
    state = states[0].advance(states[0].mechanism.release(nobody, Randomness(1).noise), 1)
    assert np.abs(state.prototype_lines[:, :2]).max() <= 1
    with pytest.raises(TooFewRows):
        plan().advance(plan().mechanism.release(nobody, Randomness(1).noise), 1)


@pytest.mark.heavy
@pytest.mark.parametrize("columns", [["age"], ["level"], ["age", "city"]])
def test_few_columns_of_either_kind_will_do(table, columns):
    schema = SCHEMA.select(columns)
    state = LocalPrototypes(schema, n_clusters=2, epsilon=2, n_expected=2_000)
    last = state.simulate(table.slice(0, 2_000), random_state=1)
    assert last.prototypes.column_names == columns
    assert set(last.predict(table.slice(0, 50)).tolist()) <= {0, 1}


def test_one_group_and_few_people_are_no_failure(table):
    state = plan(n_clusters=1, n_expected=30).simulate(table.slice(0, 30), random_state=1)
    assert state.prototypes.num_rows == 1


def test_a_state_can_be_written_and_read(states):
    for state in (plan(), states[1]):
        again = LocalPrototypes.of_dict(json.loads(json.dumps(state.to_dict())), SCHEMA)
        assert again.mechanism == state.mechanism
        assert again.round == state.round


@pytest.mark.heavy
def test_without_data_the_groups_are_worse(states, table):
    control = states[-1].control(random_state=1)
    rows = table.slice(0, 2_000)
    scores = {
        line["score"]: line
        for line in evaluate.score(states[-1], rows, control=control).to_pylist()
    }
    assert scores["normalised_cost"]["control"] > 1.5 * scores["normalised_cost"]["value"]


def test_scores_need_a_first_round(table):
    with pytest.raises(AttributeError):
        _ = plan()._prototypes


@pytest.mark.parametrize(
    ("wrong", "settings"),
    [
        (InvalidBudget, {"epsilon": 0}),
        (InvalidSetting, {"n_clusters": 0}),
        (InvalidSetting, {"n_expected": None}),
    ],
)
def test_settings_that_are_none_are_refused(wrong, settings):
    with pytest.raises(wrong):
        plan(**settings)


def test_a_domain_that_is_no_schema_is_refused():
    with pytest.raises(InvalidDomain):
        LocalPrototypes("students.yaml", n_clusters=2, epsilon=1, n_expected=10)
