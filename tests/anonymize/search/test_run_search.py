import numpy as np
import pytest

from shoal.anonymize.search._run_search import search_portfolio
from shoal.anonymize.search._top_down import specialise
from shoal.anonymize.search_problem import problem_of
from shoal.domain import Taxonomy
from shoal.errors import InvalidSetting

TREE = Taxonomy.nested("*", {"a": {"b": ["0", "1"], "c": ["2", "3"]}, "d": ["4", "5"]})


def table(seed=0, **asked):
    rng = np.random.default_rng(seed)
    codes = np.minimum(rng.integers(0, 6, (300, 4)), rng.integers(0, 6, (300, 4)))
    trees = dict.fromkeys("wxyz", TREE)
    return problem_of(trees, codes, k=5, **{"suppression": 0.05, **asked})


@pytest.mark.heavy
def test_the_same_seed_gives_the_same_cut_and_no_run_is_better():
    one, other = (
        search_portfolio(table(), restarts=8, seed=4),
        search_portfolio(table(), restarts=8, seed=4),
    )
    assert one.cut == other.cut
    assert one.compared == 12
    for score in ("sq", "ncp", "ncp-rows", "ncp-bits"):
        assert one.metrics.ncp <= specialise(table(), score=score).metrics.ncp


def test_without_restarts_there_is_one_plain_run_of_the_score():
    only = search_portfolio(table(), score="leteo", restarts=0)
    assert only.compared == 1
    assert only.cut == specialise(table(), score="leteo").cut


@pytest.mark.heavy
def test_large_tables_get_fewer_runs_unless_told_how_many(monkeypatch):
    assert search_portfolio(table()).compared == 36
    monkeypatch.setattr("shoal.anonymize.search._run_search._WORK", 6.5 * table().codes.size ** 1.5)
    few = search_portfolio(table())
    assert few.compared == 6
    assert "6 of 36 searches" in few.curator_notes[-1]
    asked = search_portfolio(table(), restarts=32)
    assert (asked.compared, asked.curator_notes) == (36, ())
    monkeypatch.setattr("shoal.anonymize.search._run_search._WORK", 1)
    assert search_portfolio(table()).cut == specialise(table()).cut


@pytest.mark.heavy
@pytest.mark.parametrize(("objective", "sign"), [("dm", 1), ("aecs", 1), ("entropy", -1)])
def test_the_objective_decides(objective, sign):
    best = sign * getattr(
        search_portfolio(table(), objective=objective, restarts=12).metrics, objective
    )
    by_ncp = sign * getattr(search_portfolio(table(), restarts=12).metrics, objective)
    assert best <= by_ncp


def test_progress_is_told_after_every_run():
    told = []
    search_portfolio(
        table(), score="leteo", restarts=2, progress=lambda done, of: told.append((done, of))
    )
    assert told == [(i, 7) for i in range(1, 8)]


@pytest.mark.parametrize("asked", [{"objective": "speed"}, {"restarts": -1}])
def test_settings_that_make_no_sense_are_refused(asked):
    with pytest.raises(InvalidSetting):
        search_portfolio(table(), **asked)


@pytest.mark.heavy
def test_made_adults_at_ten_are_no_worse_than_one_search(made_adult):
    problem = made_adult(k=10, suppression=0.05)
    outcome = search_portfolio(problem, restarts=2)
    assert outcome.metrics.ncp <= specialise(problem).metrics.ncp
    assert outcome.metrics.ncp <= 0.35907  # as measured
    assert outcome.metrics.smallest >= 10


@pytest.mark.heavy
def test_adult_at_ten_reaches_the_best_figures_known(adult):
    for suppression, ncp in [(0.02, 0.39095), (0.05, 0.32265)]:
        outcome = search_portfolio(adult(k=10, suppression=suppression))
        assert outcome.metrics.ncp <= ncp
        assert outcome.metrics.smallest >= 10
