"""An entry of the ledger names what was released, in words known before any row is read."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

from shoal.cluster import LocalClusterer, PrivateKMeans, WaveCluster
from shoal.domain import Box
from shoal.mechanisms import NDLaplace
from shoal.perturb import Perturb
from shoal.privacy import Ledger
from shoal.randomness import Randomness
from shoal.synopsis import AdaptiveGrid, PrivTree, UniformGrid

BOX = Box.unit(2)
FEW = np.array([[0.1, 0.9]])
MANY = np.random.default_rng(0).random((400, 2))

ESTIMATORS = {
    "4 groups": lambda **way: PrivateKMeans(4, **way),
    "2 to 5 groups": lambda **way: PrivateKMeans(range(2, 6), **way),
    "1 group": lambda **way: PrivateKMeans(1, method="lloyd", **way),
    "shapes on a grid": WaveCluster,
    "shapes on a grid of 16 x 16 cells": lambda **way: WaveCluster(cells=16, **way),
    "counts on a grid": UniformGrid,
    "counts on a grid of 8 x 4 cells": lambda **way: UniformGrid(cells=(8, 4), **way),
    "counts on an adaptive grid": AdaptiveGrid,
    "counts on a tree of cells": PrivTree,
}


@pytest.mark.filterwarnings("ignore::shoal.errors.NoGroupsDetected")
@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("table", [FEW, MANY], ids=["one row", "400 rows"])
def test_an_entry_names_the_release_whatever_the_rows(name, table):
    ledger = Ledger()
    model = ESTIMATORS[name](epsilon=1, domain=BOX, ledger=ledger, random_state=1).fit(table)
    check, entry = ledger.entries().to_pylist()
    assert check["what"] == "check of bounds"
    assert (entry["by"], entry["what"]) == (type(model).__name__, name)


@pytest.mark.parametrize("table", [FEW, MANY], ids=["one row", "400 rows"])
def test_an_entry_of_reports_says_of_how_many_columns(table):
    ledger = Ledger()
    Perturb(NDLaplace(1.0, domain=BOX), ledger=ledger, random_state=1).fit_transform(table)
    assert ledger.entries()["what"].to_pylist() == ["reports of 2 columns"]


def test_an_entry_of_answered_labels_says_among_how_many_groups():
    ledger = Ledger()
    mechanism = NDLaplace(4.0, domain=BOX)
    reports = mechanism.release(MANY, Randomness(1).noise)
    model = LocalClusterer(3, mechanism=mechanism, random_state=1).fit(reports)
    model.answer(FEW, 1, ledger=ledger, random_state=1)
    assert ledger.entries()["what"].to_pylist() == ["labels among 3 groups"]


def test_a_grid_of_many_columns_is_named_by_their_number():
    ledger = Ledger()
    X = np.zeros((5, 4))
    UniformGrid(epsilon=1, domain=Box.unit(4), cells=3, ledger=ledger, random_state=1).fit(X)
    names = ["check of bounds", "counts on a grid over 4 columns"]
    assert ledger.entries()["what"].to_pylist() == names


@pytest.mark.filterwarnings("ignore::shoal.errors.NoGroupsDetected")
@pytest.mark.parametrize("kind", [str, Path])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_path_as_the_ledger_is_paid_by_every_clone(name, kind, tmp_path):
    path = tmp_path / "table.ledger"
    model = ESTIMATORS[name](epsilon=1, domain=BOX, ledger=kind(path), random_state=1)
    clone(model.fit(FEW)).fit(FEW)
    assert [total.epsilon for total in Ledger(path).totals()] == [2]


def test_a_path_as_the_ledger_is_paid_by_reports(tmp_path):
    path = tmp_path / "table.ledger"
    perturb = Perturb(NDLaplace(1.0, domain=BOX), ledger=str(path), random_state=1)
    clone(perturb).fit_transform(FEW)
    assert len(Ledger(path).entries()) == 1
