"""The released check of the bounds: its alarm, its names, and what it loses."""

from fractions import Fraction

import numpy as np
import pytest

from shoal import bounds_check
from shoal.audit import replay
from shoal.bounds_check import BoundsCheck, MovedSide, MovedSides, _count_limit, _two_count_limit
from shoal.cluster import PrivateKMeans
from shoal.domain import Box, Schema
from shoal.engine import Block, rows_of
from shoal.errors import BoundsMissTheRows
from shoal.privacy import ApproxDP, Ledger, PureDP
from shoal.synopsis import UniformGrid

RATES = (0.001, 0.03, 0.3, 1.0, 5.0, 30.0)
NARROW = Box(x=(0, 1), y=(0, 1))


def pmf(rate):
    reach = int(np.ceil(40 / rate)) + 2
    z = np.abs(np.arange(-reach, reach + 1))
    return np.exp(-rate * z) * np.tanh(rate / 2), reach


@pytest.mark.parametrize("rate", RATES)
def test_two_counts_exceed_their_limit_by_noise_in_at_most_one_of_1000_tables(rate):
    law, reach = pmf(rate)
    # 0.95 G - 0.05 G' passes t for every G' below (0.95 G - t) / 0.05: both laws are summed.
    g = np.arange(-reach, reach + 1)
    below = np.concatenate([[0.0], np.cumsum(law)])
    highest = np.ceil((0.95 * g - _two_count_limit(rate)) / 0.05 - 1e-9) - 1
    place = np.clip(highest + reach + 1, 0, 2 * reach + 1).astype(int)
    assert (law * below[place]).sum() <= 1 / 1000


@pytest.mark.parametrize("rate", RATES)
def test_one_count_exceeds_its_limit_by_noise_in_at_most_one_of_1000_tables(rate):
    law, reach = pmf(rate)
    assert law[np.arange(-reach, reach + 1) > _count_limit(rate)].sum() <= 1 / 1000


def test_sides_are_counted_by_column_the_low_bounds_first():
    sides = np.array([[-1, 0], [1, 1], [0, 1]], dtype=np.int8)
    block = Block(np.zeros((3, 2)), np.empty((3, 0), np.int32), sides)
    assert MovedSides(2)(block)[0].tolist() == [1, 0, 1, 2]
    assert MovedSides(2)(Block(block.numbers, block.codes))[0].tolist() == [0] * 4


def test_a_check_comes_back_from_its_document():
    check = BoundsCheck(100, 90, True, (MovedSide("x", "low", 0.5, None),))
    assert BoundsCheck.of(check.to_dict()) == check
    assert "most likely, rows are below 0.5" in str(check)
    assert "cannot be told" in str(BoundsCheck(100, 90, True))


def test_a_table_too_small_for_an_alarm_is_not_said_to_fit_its_bounds():
    grid = UniformGrid(epsilon=1, domain=NARROW, random_state=3).fit(far_rows(150))
    assert not grid.bounds_check_.is_alarm
    assert str(grid.bounds_check_) == (
        "Noisy counts do not show that many rows lie outside the bounds."
    )


def far_rows(n=3000, share=1.0):
    rng = np.random.default_rng(5)
    X = rng.uniform(0.1, 0.9, (n, 2))
    X[: int(share * n), 1] += 5
    return X


def stopped(X=None, domain=NARROW, **settings):
    with pytest.raises(BoundsMissTheRows) as caught:
        UniformGrid(domain=domain, random_state=3, **{"epsilon": 1, **settings}).fit(
            far_rows() if X is None else X
        )
    return caught.value


def test_the_error_names_the_column_the_rows_and_what_is_left():
    error = stopped()
    (side,) = error.sides
    assert (side["column"], side["end"], side["bound"]) == ("y", "high", 1.0)
    assert abs(side["n_rows"] - 3000) < 700
    assert abs(error.n_rows - 3000) < 600
    assert abs(error.n_moved - 3000) < 400
    assert (error.spent, error.left) == ("0.09", "0.91")
    assert "y: about" in str(error)
    assert "clipping='accept'" in str(error)


def test_a_limit_of_the_ledger_is_told_of():
    ledger = Ledger(limit=PureDP(2))
    assert "allows epsilon 1.91 more" in str(stopped(ledger=ledger))
    assert ledger.totals()[0].epsilon == Fraction("0.09")


def test_few_moved_rows_are_told_of_without_a_count():
    error = stopped(far_rows(500))
    assert error.sides[0]["n_rows"] is None
    assert (error.spent, error.left) == ("0.05", "0.95")


def test_without_a_column_that_can_be_told_none_is_named(monkeypatch):
    monkeypatch.setattr(bounds_check, "_WRONG_NAME", 1e-30)
    error = stopped(far_rows(500))
    assert error.sides == ()
    assert error.spent == "0.03"
    assert "cannot be told" in error.message


def test_a_side_whose_count_is_noise_is_not_named():
    # Forty sides with a fortieth of the rows each: the first may be any of them.
    X = np.full((2000, 20), 0.5)
    X[np.arange(2000), np.arange(2000) % 20] = np.where(np.arange(2000) % 40 < 20, 7, -7)
    assert stopped(X, Box.unit(20)).sides == ()


@pytest.mark.parametrize("n_public", [None, 3000])
def test_few_moved_rows_are_no_alarm(n_public):
    X = far_rows(3000, 0.04)
    fits = [
        UniformGrid(epsilon=1, domain=NARROW, n_public=n_public, random_state=seed).fit(X)
        for seed in range(20)
    ]
    assert not any(fit.bounds_check_.is_alarm for fit in fits)


def test_a_public_number_pays_one_percent_for_the_moved_rows_alone():
    ledger = Ledger()
    grid = UniformGrid(epsilon=1, domain=Box.unit(2), n_public=500, ledger=ledger, random_state=1)
    grid.fit(far_rows(500, 0))
    assert ledger.entries()["epsilon"].to_pylist() == ["0.01", "0.99"]
    assert grid.n_rows_ == 500


def test_a_delta_stays_with_what_follows_the_check():
    ledger, promise = Ledger(), ApproxDP(1, "1e-6")
    PrivateKMeans(2, privacy=promise, domain=Box.unit(20), ledger=ledger, random_state=1).fit(
        np.random.default_rng(1).uniform(size=(500, 20))
    )
    entries = ledger.entries()["guarantee"].to_pylist()
    assert entries[0].startswith("ApproxDP(epsilon=0.03, delta=0")
    assert ledger.totals() == [promise.simulated()]


FORMS = {
    "rows": {},
    "rows replaced": {"privacy": PureDP(40, neighbours="replace-one")},
    "a public number": {"n_public": 300},
    "people": {"domain": Schema.of_box(NARROW, person="who", max_rows_per_person=2)},
}


def table_and_neighbour(form, rng):
    X = rng.uniform(-1, 1.4, (3 * int(rng.integers(50, 100)), 2))
    who = np.arange(len(X)) // 3
    cut = len(X) - 3 if form == "people" else len(X) - 1
    other = X[:cut]
    if form == "rows replaced":
        other = np.vstack([other, rng.uniform(-3, 3, 2)])
    tables = []
    for rows in (X, other):
        names = {"x": rows[:, 0], "y": rows[:, 1]}
        tables.append(names | {"who": who[: len(rows)]} if form == "people" else names)
    return tables


@pytest.mark.parametrize("clipping", ["stop", "accept"])
@pytest.mark.parametrize("form", FORMS)
def test_a_fit_whose_bounds_miss_the_rows_loses_no_more_than_is_promised(form, clipping):
    settings = {"domain": NARROW, "cells": 3, "clipping": clipping, **FORMS[form]}
    if "privacy" not in settings:
        settings["epsilon"] = 40
    rng = np.random.default_rng([len(form), len(clipping)])
    names = 0
    for seed in range(4):
        seen = replay(
            UniformGrid(**settings), *table_and_neighbour(form, rng), runs=2, random_state=seed
        )
        assert seen.verdict == "consistent", seen.faults
        assert seen.worst <= 40 + 1e-9
        names += sum("side" in step.of for each in seen.passes for step in each.steps)
    assert names  # the alarm was raised, and sides were named


class ExactNames(UniformGrid):
    """A twin whose names are the sides with the most rows, exactly counted."""

    def _count_rows(self, spending, share=Fraction(3, 100)):
        (exact,) = spending.sum(MovedSides(2))
        self.worst_side_ = int(exact.argmax())
        return super()._count_rows(spending, share)


def test_a_twin_that_names_sides_by_exact_counts_is_caught():
    table = np.array([[2.0, 0.5]] * 2 + [[0.5, 2.0]] * 3)  # one row decides which side has more
    neighbour = np.array([[2.0, 0.5]] * 2 + [[0.5, 2.0]])
    twin = ExactNames(epsilon=1, domain=NARROW, cells=2, clipping="accept")
    seen = replay(twin, table[:4], neighbour)
    assert seen.verdict == "consistent"  # equal sides, and the first of them is named
    assert replay(twin, table, table[:4]).verdict == "broken"


def test_rows_that_a_limit_leaves_out_are_not_counted_as_moved():
    who = [str(i // 5) for i in range(40)]
    table = {"x": np.linspace(-1, 2, 40), "y": np.full(40, 0.5), "who": who}
    free = rows_of(table, NARROW)
    assert free.moved() == 26 == free.tally.outside
    limited = rows_of(table, NARROW, person="who", max_rows_per_person=2)
    (sides,) = limited.sum(MovedSides(2))
    assert limited.size() == 16
    assert 0 < limited.moved() == sides.sum() <= 16
