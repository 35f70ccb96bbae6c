"""What reports of mixed records say, without the noise of an oracle where that can be left out."""

import numpy as np
import pytest

from shoal.cluster.local._mixed_report_tables import GroupAnswers, bend_records, tree_of_answers
from shoal.cluster.prototypes._mixed_rows import MixedRows, Prototypes
from shoal.domain import Schema
from shoal.mechanisms.local.categories._prototype_report import PrototypeReport
from shoal.randomness import Randomness
from shoal.synopsis.mixed._columns import mixed_columns

COLUMNS = mixed_columns(
    Schema.of(
        {
            "version": 1,
            "columns": {
                "age": {"low": -1, "high": 1},
                "level": {"values": [*"abc"]},
                "city": {"values": [*"NS"]},
            },
        }
    )
)
rng = np.random.default_rng(0)
GROUP = rng.integers(0, 2, 30_000)
RECORDS = np.column_stack([GROUP - 0.5, 2 * GROUP, rng.integers(0, 2, 30_000)]).astype(float)


def first(questions):
    return PrototypeReport((0, 3, 2), questions, (4,), epsilon=4)


def test_pairs_that_depend_are_joined_and_others_hardly():
    mechanism = first(((0, 1), (0, 2), (1, 2)))
    model = tree_of_answers(mechanism, mechanism.release(RECORDS, Randomness(1).noise))
    assert model.edges[0] == (0, 1)
    alone = np.outer(model.shares(0), model.shares(2))
    assert np.abs(model.table(0, 2) / model.total - alone).max() < 0.02
    np.testing.assert_allclose(model.shares(1), [0.5, 0, 0.5], atol=0.03)
    table = model.table(0, 1) / model.total
    assert table[1, 0] > 0.45
    assert table[1, 2] < 0.03


def test_single_columns_make_a_model_without_dependence():
    mechanism = first(((0,), (1,), (2,)))
    model = tree_of_answers(mechanism, mechanism.release(RECORDS, Randomness(1).noise))
    assert model.edges == ()
    np.testing.assert_allclose(model.shares(2), [0.5, 0.5], atol=0.03)


def even_records(n=4_000):
    draw = np.random.default_rng(1)
    codes = np.column_stack([draw.integers(0, 3, n), draw.integers(0, 2, n)])
    return MixedRows(COLUMNS, draw.uniform(-1, 1, (n, 1)), codes)


def asked(epsilon=8):
    lines = ((-0.4, 0.0, 0.0), (0.4, 2.0, 1.0))
    return PrototypeReport(
        (0, 3, 2), ((0,), (1,), (2,)), prototypes=lines, reach=(0.5,), epsilon=epsilon
    )


def test_synthetic_records_are_bent_to_the_answers():
    mechanism = asked()
    answers = GroupAnswers.of(mechanism, mechanism.release(RECORDS, Randomness(2).noise))
    assert answers.shares.sum() == pytest.approx(1, abs=0.05)
    prototypes = Prototypes(np.array([[-0.4], [0.4]]), np.array([[0, 0], [2, 1]]))
    bent = bend_records(even_records(), prototypes, answers, np.random.default_rng(3))
    labels = bent.labels(prototypes)
    for group, (age, level) in enumerate([(-0.5, 0), (0.5, 2)]):
        members = labels == group
        assert (bent.codes[members, 0] == level).mean() > 0.85
        assert bent.numbers[members, 0].mean() == pytest.approx(age, abs=0.15)


def test_answers_that_are_noise_leave_the_records_as_they_are():
    mechanism = asked(epsilon=0.01)
    answers = GroupAnswers.of(mechanism, mechanism.release(RECORDS[:60], Randomness(2).noise))
    prototypes = Prototypes(np.array([[-0.4], [0.4]]), np.array([[0, 0], [2, 1]]))
    before = even_records()
    after = bend_records(before, prototypes, answers, np.random.default_rng(3))
    shares = [np.bincount(each.codes[:, 0], minlength=3) / len(each) for each in (before, after)]
    assert np.abs(shares[0] - shares[1]).max() < 0.35
    assert np.abs(after.numbers).max() <= 1
