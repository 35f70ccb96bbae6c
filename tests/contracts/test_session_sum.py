"""Without a ledger, a process says what its releases promise together; searches are noticed."""

import copy
import json
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import shoal
from shoal import ApproxDP, Box, Ledger, LocalGrid, Perturb, PrivateKMeans, PureDP, UniformGrid
from shoal.errors import ChoiceNotCovered, NoGroupsDetected, PromisesAddUp
from shoal.privacy import default_ledger

BOX = Box.unit(2)
ROWS = np.random.default_rng(1).random((500, 2))
ABOUT_SUMS = (PromisesAddUp, ChoiceNotCovered)


def grid(**settings):
    return UniformGrid(**{"epsilon": 1, "domain": BOX, "cells": 4} | settings)


@pytest.fixture
def heard():
    """What was warned of since the test began, as pairs of class and text."""

    class Heard(list):
        def of(self, kind):
            return [str(each.message) for each in self if each.category is kind]

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore", NoGroupsDetected)
        for kind in ABOUT_SUMS:
            warnings.simplefilter("always", kind)
        messages = Heard()
        # Recorded where it happens, so that a test may look in between.
        warnings.showwarning = lambda message, category, *place: messages.append(
            warnings.WarningMessage(message, category, *place[:2])
        )
        yield messages
        assert caught == []


def test_a_second_release_says_what_both_promise_and_how_to_pass_a_ledger(heard):
    first = grid().fit(ROWS)
    assert heard == []
    second = grid(epsilon=2).fit(ROWS)
    (text,) = heard.of(PromisesAddUp)
    assert "if they are about the same people" in text
    assert "PureDP(epsilon=3)" in text
    assert "ledger=shoal.Ledger(" in text
    assert first.guarantee_ == PureDP(1)
    assert second.guarantee_ == PureDP(2)


def test_it_is_said_once_for_a_set_of_columns_and_a_kind_of_promise(heard):
    for _ in range(4):
        grid().fit(ROWS)
    assert len(heard.of(PromisesAddUp)) == 1
    grid(domain=Box(a=(0, 1), b=(0, 1))).fit(ROWS)
    grid(domain=Box(b=(0, 1), a=(0, 1))).fit(ROWS[:, ::-1])
    assert len(heard.of(PromisesAddUp)) == 2
    grid(epsilon=None, privacy=PureDP(1, neighbours="replace-one")).fit(ROWS)
    assert len(heard.of(PromisesAddUp)) == 3
    assert (
        "PureDP(epsilon=6) and PureDP(epsilon=1, neighbours=replace-one)"
        in heard[-1].message.args[0]
    )


def test_the_line_that_is_named_is_the_callers(heard):
    grid().fit(ROWS)
    grid().fit(ROWS)
    assert [each.filename for each in heard] == [__file__]


def test_a_ledger_of_ones_own_counts_for_itself(heard):
    ledger = Ledger()
    for _ in range(3):
        grid(ledger=ledger).fit(ROWS)
    assert ledger.totals() == [PureDP(3)]
    grid().fit(ROWS)
    assert heard == []


def test_simulations_and_what_promises_nothing_do_not_count(heard):
    for seed in range(3):
        grid(random_state=seed).fit(ROWS)
    for _ in range(2):
        shoal.WaveCluster(privacy=shoal.Unprotected("as a control"), domain=BOX).fit(ROWS)
    grid().fit(ROWS)
    assert heard == []


def test_what_follows_from_one_fit_does_not_count(heard, tmp_path):
    """Intervals, controls, other budgets, choices of k, attacks and pages simulate."""
    from shoal.audit import replay
    from shoal.cluster._without_data import without_data
    from shoal.planning import plan, what_if

    model = PrivateKMeans(2, epsilon=5, domain=BOX).fit(ROWS)
    assert model.intervals_ is not None
    assert without_data(model).guarantee_.simulation
    assert without_data(model).guarantee_.simulation
    what_if(model, epsilons=[1.0])
    plan(2, domain=BOX, n_expected=300, epsilons=[1.0])
    shoal.choose.k(model.synopsis_, among=range(2, 4))
    replay(grid(), ROWS, ROWS[1:], runs=3)
    shoal.report(model, tmp_path / "page.html")
    assert heard == []


def test_reports_of_a_table_count_each_time_they_are_drawn(heard):
    mechanism = LocalGrid(BOX, epsilon=1, cells=4)
    reporting = Perturb(mechanism).fit(ROWS)
    reporting.transform(ROWS)
    assert heard == []
    reporting.transform(ROWS)
    (text,) = heard.of(PromisesAddUp)
    assert "LocalDP(epsilon=2)" in text


def test_where_warnings_are_errors_nothing_is_released_the_second_time(heard):
    grid().fit(ROWS)
    warnings.simplefilter("error", PromisesAddUp)
    for _ in range(2):
        with pytest.raises(PromisesAddUp):
            grid().fit(ROWS)
    assert default_ledger._process.ledger.totals() == [PureDP(1)]


def test_deltas_that_add_up_to_one_are_said_at_every_release_and_stop_none(heard):
    for dear in (ApproxDP(1, 0.6), ApproxDP(1, 0.6), ApproxDP(1, 0.1)):
        page = Ledger.of(None, columns=["x"]).open(dear, by="test")
        page.release(
            shoal.mechanisms.Gaussian(dear, 1.0), np.zeros(2, dtype=int), noise(), of="sums"
        )
    first, second = heard.of(PromisesAddUp)
    assert "they promise nothing: their deltas add up to 1 or more" in first
    assert "2 without a ledger" in first
    assert "3 without a ledger" in second


def noise():
    return shoal.Randomness().noise


def test_threads_lose_no_release(heard):
    threads = [threading.Thread(target=lambda: grid().fit(ROWS)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert default_ledger._process.ledger.totals() == [PureDP(8)]
    assert len(heard.of(PromisesAddUp)) == 1


def test_a_forked_process_adds_to_the_sum_of_its_parent(heard):
    grid().fit(ROWS)
    child = multiprocessing.get_context("fork").Process(target=lambda: grid().fit(ROWS))
    child.start()
    child.join()
    assert child.exitcode == 0
    grid().fit(ROWS)
    assert "PureDP(epsilon=3)" in heard.of(PromisesAddUp)[0]


def test_a_sum_whose_file_is_gone_is_begun_again(heard):
    grid().fit(ROWS)
    os.unlink(default_ledger._process.ledger._share())
    grid().fit(ROWS)
    assert default_ledger._process.ledger.totals() == [PureDP(1)]


def test_a_search_says_that_a_choice_by_score_has_no_epsilon(heard):
    model = PrivateKMeans(2, epsilon=1, domain=BOX)
    search = GridSearchCV(model, {"n_clusters": [2, 3]}, cv=2).fit(ROWS)
    (about_choice,) = heard.of(ChoiceNotCovered)
    assert "`score` on the rows is covered by no epsilon at all" in about_choice
    assert len(heard.of(PromisesAddUp)) == 1
    assert search.best_estimator_.guarantee_ == PureDP(1)
    assert default_ledger._process.ledger.totals() == [PureDP(5)]


def test_a_search_with_a_ledger_pays_for_each_fit_and_hears_of_the_choice(heard):
    ledger = Ledger()
    model = PrivateKMeans(2, epsilon=1, domain=BOX, ledger=ledger)
    cross_val_score(make_pipeline(FunctionTransformer(), model), ROWS, cv=3)
    assert ledger.totals() == [PureDP(3)]
    (text,) = heard.of(ChoiceNotCovered)
    assert "which the ledger pays" in text
    assert heard.of(PromisesAddUp) == []


def test_a_search_on_simulations_is_silent(heard):
    model = PrivateKMeans(2, epsilon=1, domain=BOX, method=UniformGrid(), random_state=1)
    GridSearchCV(model, {"n_clusters": [2, 3]}, cv=2).fit(ROWS)
    assert heard == []


def test_one_clone_is_no_search(heard):
    model = grid()
    clone(model)
    clone(clone(clone(model)))
    assert len(heard.of(ChoiceNotCovered)) == 1  # of the first, cloned twice
    copy.deepcopy(grid()).fit(ROWS)
    assert len(heard) == 1


SEARCH = """
import json, sys, warnings
import numpy as np
from sklearn.model_selection import GridSearchCV, cross_val_score
import shoal

def main():
    rows = np.random.default_rng(1).random((300, 2))
    model = shoal.PrivateKMeans(2, epsilon=1, domain=shoal.Box.unit(2))
    said = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cross_val_score(model, rows, cv=3, n_jobs=2)
        said.append([(each.category.__name__, str(each.message)) for each in caught])
        caught.clear()
        GridSearchCV(model, {"n_clusters": [2, 3]}, cv=2, n_jobs=2).fit(rows)
        said.append([(each.category.__name__, str(each.message)) for each in caught])
    print(json.dumps(said))

if __name__ == "__main__":
    main()
"""


def test_a_search_in_two_worker_processes_is_noticed_by_the_one_that_called_it(tmp_path):
    script = tmp_path / "search.py"
    script.write_text(SEARCH)
    ran = subprocess.run([sys.executable, script], check=True, capture_output=True, text=True)
    validated, searched = json.loads(ran.stdout.splitlines()[-1])
    assert [kind for kind, _ in validated if kind == "ChoiceNotCovered"] == ["ChoiceNotCovered"]
    assert [kind for kind, _ in searched if kind == "ChoiceNotCovered"] == ["ChoiceNotCovered"]
    (text,) = [text for kind, text in searched if kind == "PromisesAddUp"]
    assert "make 8 without a ledger" in text  # three folds, two by two, and the best once more
    assert "PureDP(epsilon=8)" in text


def test_a_pickled_estimator_is_itself_in_a_process_that_knows_no_sum(tmp_path):
    file = tmp_path / "model.pickle"
    file.write_bytes(pickle.dumps(grid()))
    os.unlink(default_ledger._process.ledger.path)
    code = (
        "import pickle, sys; m = pickle.load(open(sys.argv[1], 'rb')); "
        "print(sorted(vars(m)), m.fit([[0.5, 0.5]]).guarantee_)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, file], check=True, capture_output=True, text=True
    )
    assert "_sum_link" not in ran.stdout
    assert ran.stdout.endswith("PureDP(epsilon=1)\n")


def test_a_fitted_estimator_carries_no_link():
    fitted = grid().fit(ROWS)
    assert b"_sum_link" not in pickle.dumps(fitted)
    assert b"_sum_link" in pickle.dumps(grid())
