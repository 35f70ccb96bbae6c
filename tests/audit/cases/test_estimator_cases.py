"""The cases of the estimators cover every method, and their pairs are neighbours.

Fits as an adversary sees them.
"""

import numpy as np
import pytest

from shoal.audit.cases._estimator_cases import (
    PAIRS,
    ArrayRows,
    FittedNumbers,
    GateNumbers,
    fixed_width_line,
)
from shoal.audit.cases._estimators import estimators
from shoal.cluster import PrivateKMeans, WaveCluster
from shoal.cluster.kmeans._settings import Method as KMeansMethod
from shoal.cluster.registry import REGISTRY
from shoal.cluster.wave._grouping import SELECTORS
from shoal.cluster.wave._release_methods import METHODS
from shoal.domain import Box
from shoal.engine import rows_of
from shoal.errors import InvalidSetting
from shoal.privacy import PureDP
from shoal.synopsis import UniformGrid

LINE = Box(x=(-1, 1))
TABLE = np.array([[-0.9], [-0.2], [0.4], [1.5]])


@pytest.mark.parametrize("name", PAIRS)
def test_a_pair_differs_by_one_row(name):
    without, more = PAIRS[name]
    assert len(more) == len(without) + 1
    assert np.array_equal(more[:-1], without)


def test_every_method_of_every_estimator_has_a_case():
    for method in KMeansMethod.__args__:
        assert f"PrivateKMeans, {method}" in estimators
    for method in METHODS:
        assert f"WaveCluster, {method}" in estimators
    for selector in set(SELECTORS) - {"auto"}:  # which is what "block" takes
        assert f"WaveCluster, {selector}, fitted" in estimators
    for synopsis in ("UniformGrid", "AdaptiveGrid", "PrivTree"):
        assert {synopsis, f"{synopsis}, fitted"} <= set(estimators)
    assert {"MixedSynopsis", "PrivateKPrototypes, its steps"} <= set(estimators)


@pytest.mark.parametrize("name", estimators)
def test_a_case_is_held_against_what_its_estimator_promises(name):
    case = estimators[name]
    assert case.claim == PureDP(1)
    assert len(case.pair[1]) == len(case.pair[0]) + 1
    assert case.draws >= 1_000


@pytest.mark.parametrize(("name", "releases"), [("auto, its steps", 9), ("hybrid, its step", 4)])
def test_cases_of_steps_take_them(name, releases):
    case = estimators[f"PrivateKMeans, {name}, fitted"]
    gate = GateNumbers(case.mechanism.draw.model, 9)
    lengths = gate(case.pair[1], 1, np.random.default_rng(1)).reshape(9, -1)[:, 0]
    assert np.count_nonzero(lengths > 0) == releases


@pytest.mark.parametrize(
    ("name", "releases"),
    [
        ("MixedSynopsis", 2),
        ("MixedSynopsis, with a pair", 4),
        ("PrivateKPrototypes, few rows", 3),
        ("PrivateKPrototypes, its steps", 7),
    ],
)
def test_cases_of_mixed_tables_show_every_release(name, releases):
    case = estimators[name]
    width = case.mechanism.draw.parts
    for table in case.pair:
        lengths = case.mechanism.draw(table, 1, np.random.default_rng(1)).reshape(width, -1)[:, 0]
        assert np.count_nonzero(lengths > 0) == releases <= width


def test_what_leaves_the_gate_is_audited_on_ten_thousand_fits():
    for entry in (each for each in REGISTRY if not each.is_mixed):
        assert {estimators[entry.named(name)].draws for name in entry.gates()} <= {10_000}


def test_rows_at_hand_are_the_rows_that_an_engine_reads():
    grid = UniformGrid(epsilon=1, domain=LINE, cells=4, random_state=3)
    counts = [grid.fit(rows).cells_.noisy_count for rows in (ArrayRows(TABLE, LINE), TABLE)]
    assert np.array_equal(*counts)
    assert ArrayRows(TABLE, LINE).size() == rows_of(TABLE, LINE).size()


def test_what_leaves_the_gate_is_told_release_by_release():
    draw = GateNumbers(UniformGrid(epsilon=1, domain=LINE, cells=4), parts=2)
    lines = draw(TABLE, 400, np.random.default_rng(1)).reshape(400, 2, -1)
    assert (lines[:, 0, 0] == 2).all()  # rows inside and outside the bounds
    assert (lines[:, 1, 0] == 4).all()  # four cells
    assert np.array_equal(lines[:, 1, 1], lines[:, 1, 2:6].sum(axis=1))
    assert abs(np.median(lines[:, 1, 2]) - 1) <= 1


def test_a_fit_is_stopped_when_its_promise_is_spent(monkeypatch):
    monkeypatch.setattr("shoal.cluster.kmeans._estimator.PrivateKMeans._keep", None)
    draw = GateNumbers(PrivateKMeans(2, epsilon=1, domain=LINE, method="uniform-grid"), parts=2)
    assert draw(TABLE, 3, np.random.default_rng(1)).shape == (3, 20)


def test_a_method_that_spends_less_than_it_promised_is_named(monkeypatch):
    monkeypatch.setattr(UniformGrid, "spend", lambda self, *_: self)
    draw = GateNumbers(UniformGrid(epsilon=1, domain=LINE), parts=1)
    with pytest.raises(InvalidSetting, match="less than it promised"):
        draw(TABLE, 1, np.random.default_rng(1))


def test_all_that_ends_in_an_underscore_is_told():
    model = WaveCluster(domain=LINE, epsilon=1, cells=4, min_cells=1)
    lines = FittedNumbers(model, parts=14)(TABLE, 3, np.random.default_rng(1))
    assert lines.shape == (3, 140)
    assert len({line.tobytes() for line in lines}) == 3  # fits are not repeated


def test_what_nobody_can_read_is_refused(monkeypatch):
    fit = UniformGrid.fit

    def with_a_secret(self, X, y=None):
        fit(self, X)
        self.secret_ = {"rows": 4}
        return self

    monkeypatch.setattr(UniformGrid, "fit", with_a_secret)
    with pytest.raises(InvalidSetting, match="dict"):
        FittedNumbers(UniformGrid(epsilon=1, domain=LINE), 9)(TABLE, 1, np.random.default_rng(1))


def test_long_parts_are_told_by_their_ends_and_their_sum():
    line = fixed_width_line([np.arange(20), 5], parts=3).reshape(3, 10)
    assert line[0].tolist() == [20, 190, 0, 1, 2, 3, 16, 17, 18, 19]
    assert line[1, :3].tolist() == [1, 5, 5]
    assert (line[2] == line[1, -1]).all()
