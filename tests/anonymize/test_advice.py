from dataclasses import replace

import numpy as np
import pytest

from shoal.anonymize._frequency_table import count_combinations
from shoal.anonymize._policy import Policy
from shoal.anonymize.advice import advise
from shoal.anonymize.search._run_search import run_search
from shoal.anonymize.search_problem import KEPT_CUT


def study(table, k=5, suppression=0.0, **search):
    tree = {"*": {"low": ["0", "1", "2"], "high": ["3", "4", "5"]}}
    quasi = {name: {"role": "quasi", "hierarchy": {"tree": tree}} for name in table}
    policy = Policy.of(
        {
            "version": 1,
            "privacy": {"k": k, "suppression": suppression},
            "attributes": quasi,
            "search": search,
        }
    )
    problem = count_combinations(policy, table).problem
    return policy, problem, run_search(policy, problem)


def blocked(rows=600):
    """Most rows share three values of each column; few of each other value block a split."""
    rng = np.random.default_rng(0)
    low, high = rng.integers(0, 3, (rows, 3)), rng.integers(3, 6, (rows, 3))
    cells = np.where(rng.random((rows, 3)) < 0.02, high, low)
    return {name: cells[:, i].astype(str).tolist() for i, name in enumerate("xyz")}


@pytest.mark.heavy
def test_advice_names_columns_that_say_nothing_and_what_loses_less():
    policy, problem, outcome = study(blocked())
    advice = advise(policy, problem, outcome)
    texts, lines = [each.text for each in advice], [each.line for each in advice]
    assert "'z' is published as '*' throughout, so it says nothing." in texts
    assert {"recoding: local", "suppression: 0.05"} <= set(lines)


@pytest.mark.heavy
def test_what_is_advised_is_reached_by_the_line_that_is_given():
    policy, problem, outcome = study(blocked())
    advice = {each.line: each for each in advise(policy, problem, outcome)}
    for line, settings in {
        "recoding: local": {"recoding": "local"},
        "suppression: 0.05": {"suppression": 0.05},
    }.items():
        reached = study(blocked(), **settings)[2].metrics.ncp
        said = float(advice[line].text.split("would be ")[1].split(" or less")[0])
        assert reached <= said + 0.0005
        assert reached < outcome.metrics.ncp


@pytest.mark.heavy
def test_a_huge_group_is_named_with_its_size():
    table = {"x": ["0"] * 900 + ["3"] * 300}
    policy, problem, outcome = study(table, k=5)
    texts = [each.text for each in advise(policy, problem, outcome)]
    assert any("900 rows, 75 %" in text for text in texts)


@pytest.mark.heavy
def test_a_good_release_a_kept_cut_and_local_recoding_get_no_other_settings():
    fine = {"x": ["0", "3"] * 40}
    assert advise(*study(fine)) == []
    policy, problem, outcome = study(blocked())
    assert advise(policy, problem, replace(outcome, method=KEPT_CUT)) == []
    assert [each for each in advise(*study(blocked(), recoding="local")) if each.line] == []


@pytest.mark.heavy
def test_large_tables_are_not_searched_again(monkeypatch):
    monkeypatch.setattr("shoal.anonymize.advice._MOST_CELLS", 1)
    assert [each for each in advise(*study(blocked())) if each.line] == []
