"""A simulated page is no way round the ledger: real rows and real noise are refused."""

import pickle
import re
from pathlib import Path

import numpy as np
import pytest

from shoal.cluster import PrivateKMeans, StandInRows, WaveCluster
from shoal.domain import Box
from shoal.engine import rows_of
from shoal.errors import PageMisused, PromiseExceeded
from shoal.estimator import Spending
from shoal.mechanisms import Geometric
from shoal.privacy import Ledger, Page, PureDP
from shoal.randomness import Randomness
from shoal.synopsis import AdaptiveGrid, UniformGrid

SOURCE = Path(__file__).parents[2] / "src" / "shoal"
BOX = Box.unit(2)
PEOPLE = np.random.default_rng(0).random((200, 2))
MADE_UP = StandInRows(PEOPLE, 1_000, BOX)
PROMISE = PureDP(1)
ESTIMATORS = [PrivateKMeans, WaveCluster, AdaptiveGrid, UniformGrid]


def simulated(promise=PROMISE, rows=MADE_UP):
    return Page.simulated(promise, rows, Randomness(7).noise)


@pytest.mark.parametrize(
    "rows",
    [PEOPLE, rows_of(PEOPLE, BOX), {"x0": PEOPLE[:, 0]}, None],
    ids=["array", "Rows", "columns", "nothing"],
)
def test_real_rows_have_no_simulated_page(rows):
    with pytest.raises(PageMisused, match="made-up rows"):
        simulated(rows=rows)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("rows", [rows_of(PEOPLE, BOX), StandInRows(PEOPLE, 1_000, BOX)])
def test_no_method_runs_on_other_rows_than_the_page_was_made_for(estimator, rows):
    page, model = simulated(), estimator(epsilon=1, domain=BOX)
    with pytest.raises(PageMisused, match="made-up rows"):
        model.spend(Spending(rows, page, page.budget, Randomness(7)))
    assert page.releases == []


@pytest.mark.parametrize("rng", [Randomness().noise, np.random.default_rng(0)])
def test_neither_real_noise_nor_a_stream_of_unknown_origin_opens_one(rng):
    with pytest.raises(PageMisused, match="seeded stream"):
        Page.simulated(PureDP(1), MADE_UP, rng)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_no_method_draws_real_noise_on_one(estimator):
    page = simulated()
    with pytest.raises(PageMisused, match="seeded stream"):
        estimator(epsilon=1, domain=BOX).spend(Spending(MADE_UP, page, page.budget, Randomness()))
    assert page.releases == []


def test_parts_of_disjoint_rows_draw_no_real_noise_either():
    with simulated().parallel(of="regions") as part, pytest.raises(PageMisused, match="seeded"):
        part("north").release(Geometric(PureDP(1)), np.array([10]), Randomness().noise)


def test_it_draws_by_the_mechanisms_law_and_is_marked_as_a_simulation():
    page, noise = simulated(PureDP(1, rows=2)), Geometric(PureDP("1/2"))
    drawn = page.release(noise, np.array([10]), Randomness(3).noise, of="cells")
    assert drawn == noise.release(np.array([10]), Randomness(3).noise)
    assert page.releases == ["cells"]
    assert page.total() == PureDP(1, rows=2).simulated()


def test_its_promise_holds_as_that_of_any_page():
    page, noise = simulated(), Geometric(PureDP(1))
    page.release(noise, np.array([10]), Randomness(3).noise, of="cells")
    with pytest.raises(PromiseExceeded):
        page.release(noise, np.array([10]), Randomness(4).noise, of="cells")


def test_it_cannot_be_copied():
    with pytest.raises(PageMisused, match="copied"):
        pickle.dumps(simulated())


def test_a_page_of_a_ledger_takes_any_rows_and_writes_its_entry():
    ledger = Ledger()
    page = ledger.open(PureDP(1), by="test")
    assert not page.is_simulated
    page.check_rows(PEOPLE)
    page.release(Geometric(PureDP(1)), np.array([10]), Randomness(3).noise, of="cells")
    assert ledger.entries().num_rows == 1


def test_one_function_opens_simulated_pages():
    """Whoever simulates a fit calls ``refit``, so that there is one place to read."""
    callers = [
        str(path.relative_to(SOURCE))
        for path in sorted(SOURCE.rglob("*.py"))
        if re.search(r"(?<!>>> )Page\.simulated\(", path.read_text())
    ]
    assert callers == ["cluster/_simulate.py"]
