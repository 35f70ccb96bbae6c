"""What is refused before any row is read."""

import numpy as np
import pytest

from shoal.cluster import WaveCluster
from shoal.cluster.wave import Density, Mass, Percentile, Persistence, PrivQT, PrivTHR
from shoal.cluster.wave._release_methods import Plain
from shoal.cluster.wave._settings import Settings, option_name
from shoal.domain import Box
from shoal.errors import (
    ConflictingSettings,
    DimensionMismatch,
    InvalidBudget,
    InvalidDomain,
    InvalidSetting,
    NotFinite,
    TooLarge,
    UnknownBounds,
)
from shoal.privacy import Ledger, Unprotected

PLAIN = Unprotected("Exact counts, to compare with.")

X = np.random.default_rng(0).random((50, 2))


def fit(**settings):
    return WaveCluster(**{"domain": Box.unit(2), "epsilon": 1, **settings}).fit(X)


def test_rows_without_public_bounds_are_refused():
    with pytest.raises(UnknownBounds):
        fit(domain=None)


@pytest.mark.parametrize("epsilon", [0, -1, np.inf, np.nan, "much", True])
def test_a_budget_that_is_none_is_refused(epsilon):
    with pytest.raises(InvalidBudget):
        fit(epsilon=epsilon)


@pytest.mark.parametrize(
    "wrong",
    [
        {"selector": Percentile(0)},
        {"selector": Percentile(1)},
        {"selector": Percentile("half")},
        {"selector": Percentile(None)},
        {"selector": Percentile(rule="vote")},
        {"selector": Percentile(context=2)},
        {"selector": Mass(1.5)},
        {"selector": Density(-1)},
        {"selector": Persistence(0)},
        {"selector": Persistence(smooth=-1)},
        {"selector": Persistence(smooth="much")},
        {"selector": Persistence},
        {"selector": PrivTHR()},
        {"variant": PrivTHR(1)},
        {"variant": PrivQT(noise="pink")},
        {"variant": Plain()},
        {"level": -1},
        {"level": 99},
        {"level": 14},
        {"level": 1.5},
        {"cells": 1},
        {"cells": 16, "level": 5},
        {"wavelet": "mexh"},
        {"n_public": 0},
        {"min_cells": 0},
        {"connectivity": "diagonal"},
        {"variant": "magic"},
        {"selector": "best"},
    ],
    ids=str,
)
def test_a_setting_outside_its_range_is_refused(wrong):
    with pytest.raises(InvalidSetting):
        fit(**wrong)


@pytest.mark.parametrize(
    "conflict",
    [
        {"selector": Percentile(context=True)},
        {"selector": Percentile(rule="posterior"), "level": 1, "wavelet": "db2"},
        {"selector": Percentile(rule="posterior"), "epsilon": None, "privacy": PLAIN},
        {"selector": Percentile(rule="posterior"), "variant": "baseline"},
        {"variant": "privqt", "selector": "persistence"},
        {"variant": PrivQT(), "selector": Persistence()},
        {"variant": "privthr", "epsilon": None, "privacy": PLAIN},
        {"cells": 2**13, "selector": "persistence"},
        {"cells": 2**13, "wavelet": "db2", "level": 1},
        {"cells": 2**13, "variant": "privqt"},
    ],
    ids=str,
)
def test_settings_that_do_not_go_together_are_refused(conflict):
    with pytest.raises(ConflictingSettings):
        fit(**conflict)


def test_rows_of_another_width_are_refused():
    with pytest.raises(DimensionMismatch):
        fit(domain=Box.unit(3))


@pytest.mark.parametrize("cells", [0, [4, 4, 4], "many", 2.5])
def test_cells_that_make_no_grid_are_refused(cells):
    with pytest.raises(InvalidDomain):
        fit(cells=cells)


def test_more_cells_than_can_be_numbered_are_refused():
    with pytest.raises(TooLarge, check=lambda error: error.reason == "cells"):
        fit(cells=2**32)


def test_more_columns_than_cells_can_be_numbered_are_refused_before_anything_is_paid():
    from shoal.privacy import Ledger

    ledger = Ledger()
    with pytest.raises(TooLarge, check=lambda error: error.reason == "cells"):
        WaveCluster(domain=Box.unit(30), epsilon=1, ledger=ledger).fit(np.zeros((3, 30)))
    assert ledger.totals() == []


@pytest.mark.filterwarnings("ignore::shoal.errors.NoGroupsDetected")
def test_full_neighbourhoods_of_many_columns_are_refused():
    many = np.zeros((3, 13))
    with pytest.raises(InvalidSetting, match="neighbours"):
        WaveCluster(domain=Box.unit(13), epsilon=1, cells=4, connectivity="full").fit(many)
    few = WaveCluster(domain=Box.unit(13), epsilon=1, cells=4, random_state=1)
    assert few.fit(many).n_clusters_ == 0


@pytest.mark.filterwarnings("ignore::shoal.errors.NoGroupsDetected")
def test_missing_numbers_are_refused_or_left_out():
    holes = X.copy()
    holes[3, 0] = np.nan
    with pytest.raises(NotFinite):
        WaveCluster(domain=Box.unit(2), epsilon=1).fit(holes)
    dropping = WaveCluster(domain=Box.unit(2), epsilon=1, nonfinite="drop", random_state=1)
    assert dropping.fit(holes).grid_


def test_nothing_is_written_for_what_is_refused():
    from shoal.privacy import Ledger

    ledger = Ledger()
    with pytest.raises(ConflictingSettings):
        fit(variant="privqt", selector="mass", ledger=ledger)
    assert ledger.totals() == []


@pytest.mark.parametrize(
    ("settings", "selector"),
    [
        ({"epsilon": None, "privacy": PLAIN}, "percentile"),
        ({}, "auto"),
        ({"variant": "privthr"}, "percentile"),
        ({"domain": Box.unit(5)}, "auto"),
        ({"domain": Box.unit(5), "cells": 6}, "density"),
        ({"domain": Box.unit(6)}, "density"),
        ({"domain": Box.unit(5), "epsilon": None, "privacy": PLAIN}, "percentile"),
    ],
    ids=str,
)
def test_the_selector_left_out_is_the_one_that_fits(settings, selector):
    model = WaveCluster(**{"domain": Box.unit(2), "epsilon": 1, **settings})
    assert option_name(Settings.of(model, model.domain).selector) == selector


def test_an_automatic_grid_of_four_columns_is_whole_and_not_too_large():
    for promise in ({"epsilon": 1}, {"privacy": PLAIN}):
        model = WaveCluster(domain=Box.unit(4), selector="auto", **promise)
        settings = Settings.of(model, model.domain)
        assert not settings.is_sparse
        assert settings.grid(model.domain, 10**9, 1.0).size <= 2**18


def test_automatic_cells_grow_with_rows_and_budget_between_bounds():
    model = WaveCluster(domain=Box.unit(2), epsilon=1, selector="persistence")
    settings = Settings.of(model, model.domain)
    sides = [settings.grid(model.domain, n, 1.0).shape[0] for n in (1, 10_000, 10**9)]
    assert sides == [12, 47, 256]
    assert settings.grid(model.domain, 10_000, 9.0).shape == (95, 95)  # as if 4


@pytest.mark.parametrize("wrong", [{"level": 14}, {"epsilon": 2000}], ids=str)
def test_what_no_grid_or_noise_can_be_made_of_is_refused_before_anything_is_spent(wrong):
    ledger = Ledger()
    with pytest.raises((InvalidSetting, InvalidBudget)):
        fit(**wrong, ledger=ledger)
    assert ledger.entries().num_rows == 0
