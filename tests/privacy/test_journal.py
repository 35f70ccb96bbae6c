"""What a stopped run released is read again, by one process at a time, and only by the same run."""

import multiprocessing
import os
import signal
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from shoal.cluster import WaveCluster
from shoal.domain import Box, SparseCounts
from shoal.engine import rows_of
from shoal.errors import BudgetExceeded, InvalidSetting, PromiseExceeded, RunChanged
from shoal.mechanisms import Choices, Exponential, Geometric, NDLaplace, TreeCounts, TreeSplits
from shoal.perturb import Streamed
from shoal.privacy import Ledger, PureDP, Unprotected
from shoal.privacy._journal import pack_arrays, unpack_arrays
from shoal.randomness import Randomness

PLAIN = Unprotected("Exact counts, to compare with.")

WORK = {"table": "students", "k": 4}
COUNTS = np.array([10, 20, 30])


class Stop(Exception):
    """Stands for whatever ends a process."""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "t.ledger"


def stopped_run(path, releases, *, promise=1, work=WORK):
    """Make these releases, then stop before the end of the block; what was released."""
    return stopped(path, lambda ledger: released_by(ledger, releases, promise), work)


def stopped(path, do, work=WORK):
    """Do something in a run that does not come to its end."""
    out = None

    def run():
        nonlocal out
        with Ledger(path).resumable(work, by="test") as ledger:
            out = do(ledger)
            raise Stop

    with pytest.raises(Stop):
        run()
    return out


def released_by(ledger, releases, promise=1):
    page = ledger.open(PureDP(promise), by="test")
    noise = Randomness().noise
    return [page.release(mechanism, value, noise, of=of) for mechanism, value, of in releases]


def same(one, other):
    if isinstance(one, SparseCounts):
        return np.array_equal(one.keys, other.keys) and np.array_equal(one.counts, other.counts)
    if hasattr(one, "flags") and hasattr(one, "fanout"):
        return all(map(np.array_equal, one.flags, other.flags)) and one.fanout == other.fanout
    return type(one) is type(other) and np.array_equal(one, other)


HALF = PureDP("0.5")
TREE = TreeCounts(lambda splits: np.full(splits.width, 40), max_depth=3)
KINDS = {
    "array": (Geometric(HALF), COUNTS),
    "number": (Geometric(HALF), 7),
    "sparse": (Geometric(HALF, at_least=9), SparseCounts(np.array([3]), np.array([400]), 10**6)),
    "choice": (Exponential(HALF), Choices([0, 1, 2])),
    "tree": (TreeSplits(HALF), TREE),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_output_is_read_again_as_it_was(path, kind):
    releases = [(*KINDS[kind], "a"), (*KINDS[kind], "b")]
    first = stopped_run(path, releases)
    with Ledger(path).resumable(WORK, by="test") as ledger:
        assert ledger.run.resumed
        again = released_by(ledger, releases)
    assert all(map(same, first, again))
    assert len(Ledger(path).entries()) == 1


def test_what_was_not_released_yet_is_drawn_on_the_same_payment(path):
    one = (Geometric(HALF), COUNTS, "a")
    (first,) = stopped_run(path, [one])
    assert str(Ledger(path).totals()[0].epsilon) == "1"
    with Ledger(path).resumable(WORK, by="test") as ledger:
        again, new = released_by(ledger, [one, (Geometric(HALF), COUNTS * 1000, "b")])
    assert np.array_equal(first, again)
    assert np.abs(new - COUNTS * 1000).max() < 200
    assert len(Ledger(path).entries()) == 1


def test_recorded_releases_are_held_against_the_promise_all_the_same(path):
    one = (Geometric(HALF), COUNTS, "a")
    stopped_run(path, [one, one])
    with Ledger(path).resumable(WORK, by="test") as ledger, pytest.raises(PromiseExceeded):
        released_by(ledger, [one, one, one])


def test_a_run_that_ended_well_is_forgotten_and_the_next_pays(path):
    one = (Geometric(HALF), COUNTS, "a")
    for _ in range(2):
        with Ledger(path).resumable(WORK, by="test") as ledger:
            assert not ledger.run.resumed
            released_by(ledger, [one])
    assert len(Ledger(path).entries()) == 2
    assert Ledger(path).unfinished() == []


def test_other_work_is_another_run(path):
    one = (Geometric(HALF), COUNTS, "a")
    stopped_run(path, [one])
    with Ledger(path).resumable(WORK | {"k": 5}, by="test") as ledger:
        assert not ledger.run.resumed
        released_by(ledger, [one])
    assert len(Ledger(path).entries()) == 2
    assert [by for _, by in Ledger(path).unfinished()] == ["test"]


def test_a_run_that_asks_for_something_else_is_refused_once_and_then_pays(path):
    stopped_run(path, [(Geometric(HALF), COUNTS, "a")])
    other = (Geometric(PureDP("0.25")), COUNTS, "a")
    with pytest.raises(RunChanged), Ledger(path).resumable(WORK, by="test") as ledger:
        released_by(ledger, [other])
    with Ledger(path).resumable(WORK, by="test") as ledger:
        assert not ledger.run.resumed
        released_by(ledger, [other])
    assert len(Ledger(path).entries()) == 2


def test_a_run_refused_by_the_limit_keeps_nothing(path):
    Ledger(path, limit=PureDP(1))
    one = (Geometric(PureDP(1)), COUNTS, "a")
    with Ledger(path).resumable(WORK, by="first") as ledger:
        released_by(ledger, [one])
    with pytest.raises(BudgetExceeded), Ledger(path).resumable(WORK, by="second") as ledger:
        released_by(ledger, [one])
    assert len(Ledger(path).entries()) == 1
    assert Ledger(path).unfinished() == []


def test_simulations_are_not_kept(path):
    def seeded(ledger):
        page = ledger.open(PureDP(1), by="test")
        return page.release(Geometric(PureDP(1)), COUNTS, Randomness(7).noise, of="a")

    stopped(path, seeded)
    assert len(Ledger(path).entries()) == 1
    assert Ledger(path).unfinished() == []


def test_a_ledger_without_a_file_keeps_nothing_and_works(path):
    with Ledger().resumable(WORK, by="test") as ledger:
        assert ledger.run is None
        released_by(ledger, [(Geometric(HALF), COUNTS, "a")])
    assert Ledger().unfinished() == []


def test_the_compute_stream_is_the_same_and_the_noise_is_not(path):
    one = (Geometric(HALF), COUNTS, "a")

    def seed_of(ledger):
        released_by(ledger, [one])
        return ledger.open(PureDP(1), by="test").compute_seed

    seeds = [stopped(path, seed_of), stopped(path, seed_of)]
    assert seeds[0] == seeds[1]
    first, second = (Randomness(compute_seed=seed) for seed in seeds)
    assert first.compute.random() == second.compute.random()
    assert first.noise.bytes(16) != second.noise.bytes(16)


def hold(path, ready, go_on):
    with Ledger(path).resumable(WORK, by="held") as ledger:
        released_by(ledger, [(Geometric(HALF), COUNTS, "a")])
        ready.set()
        go_on.wait(60)
        os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.heavy
def test_a_run_that_a_living_process_works_on_is_not_taken_from_it(path):
    Ledger(path)
    spawn = multiprocessing.get_context("spawn")
    ready, go_on = spawn.Event(), spawn.Event()
    other = spawn.Process(target=hold, args=(path, ready, go_on))
    other.start()
    assert ready.wait(60)
    with Ledger(path).resumable(WORK, by="test") as ledger:
        assert not ledger.run.resumed
        released_by(ledger, [(Geometric(HALF), COUNTS, "a")])
    assert len(Ledger(path).entries()) == 2
    go_on.set()
    other.join(60)
    with Ledger(path).resumable(WORK, by="test") as ledger:
        assert ledger.run.resumed
        released_by(ledger, [(Geometric(HALF), COUNTS, "a")])
    assert len(Ledger(path).entries()) == 2
    assert [file.name for file in path.parent.iterdir()] == ["t.ledger"]


def test_parts_of_disjoint_rows_are_refused_in_a_run(path):
    with Ledger(path).resumable(WORK, by="test") as ledger:
        page = ledger.open(PureDP(1), by="test")
        with pytest.raises(InvalidSetting, match="resumed"), page.parallel(of="regions"):
            pass


@pytest.mark.heavy
def test_a_run_that_paid_all_the_limit_allows_goes_on(path):
    Ledger(path, limit=PureDP(1))
    one = (Geometric(HALF), COUNTS, "a")
    (first,) = stopped_run(path, [one])
    with Ledger(path).resumable(WORK, by="test") as ledger:
        again, _ = released_by(ledger, [one, one])
    assert np.array_equal(first, again)


def test_a_payment_serves_no_larger_promise(path):
    one = (Geometric(HALF), COUNTS, "a")
    stopped_run(path, [one])
    with pytest.raises(RunChanged), Ledger(path).resumable(WORK, by="test") as ledger:
        released_by(ledger, [one], promise=100)
    assert [str(total) for total in Ledger(path).totals()] == ["PureDP(epsilon=1)"]


def test_each_page_of_a_run_is_paid_for(path):
    one = (Geometric(HALF), COUNTS, "a")
    stopped(path, lambda ledger: [released_by(ledger, [one]), released_by(ledger, [one])])
    assert len(Ledger(path).entries()) == 2
    stopped(path, lambda ledger: [released_by(ledger, [one]) for _ in range(3)])
    assert len(Ledger(path).entries()) == 3


@pytest.mark.heavy
def test_reports_without_a_draft_of_the_run_are_not_drawn_again_unpaid(path):
    box = Box(age=(0, 110))
    reports = Streamed(NDLaplace("0.1", domain=box))
    rows = rows_of({"age": [31.0, 47.0]}, box)

    def drawn(ledger):
        page = ledger.open(reports.guarantee, by="test")
        return list(page.release(reports, rows, Randomness().noise, of="reports").batches())

    stopped(path, drawn)
    with pytest.raises(RunChanged), Ledger(path).resumable(WORK, by="test") as ledger:
        drawn(ledger)
    assert len(Ledger(path).entries()) == 1


def test_a_tree_is_paid_for_before_it_reads_rows(path):
    paid = []

    def counts_of(splits):
        paid.append(len(Ledger(path).entries()))
        return np.full(splits.width, 40)

    tree = (TreeSplits(HALF), TreeCounts(counts_of, max_depth=3), "a")
    stopped_run(path, [tree])
    assert set(paid) == {1}


def test_a_tree_that_was_cut_short_is_paid_for_again(path):
    def counts_of(splits):
        if splits.depth == 1:
            raise Stop
        return np.full(splits.width, 400)

    tree = (TreeSplits(HALF), TreeCounts(counts_of, max_depth=3), "a")
    with pytest.raises(Stop), Ledger(path).resumable(WORK, by="test") as ledger:
        released_by(ledger, [tree])
    with pytest.raises(RunChanged), Ledger(path).resumable(WORK, by="test") as ledger:
        released_by(ledger, [tree])
    with Ledger(path).resumable(WORK, by="test") as ledger:
        assert not ledger.run.resumed


def test_pages_that_promise_nothing_keep_nothing(path):
    def exact(ledger):
        model = WaveCluster(privacy=PLAIN, domain=Box.unit(2), cells=8, ledger=ledger)
        return model.fit(np.repeat([[0.2, 0.2], [0.8, 0.8]], 50, axis=0))

    stopped(path, exact)
    assert Ledger(path).unfinished() == []


def test_threads_of_one_run_release_one_after_the_other(path):
    with Ledger(path).resumable(WORK, by="test") as ledger:
        page = ledger.open(PureDP(1), by="test")
        share, noise = Geometric(PureDP("0.1")), Randomness().noise
        with ThreadPoolExecutor(4) as pool:
            work = [pool.submit(page.release, share, COUNTS, noise, of="a") for _ in range(8)]
            assert len([each.result() for each in work]) == 8
    assert len(Ledger(path).entries()) == 1


def test_a_page_of_a_run_that_ended_releases_nothing(path):
    with Ledger(path).resumable(WORK, by="test") as ledger:
        page = ledger.open(PureDP(1), by="test")
    with pytest.raises(InvalidSetting, match="ended"):
        page.release(Geometric(HALF), COUNTS, Randomness().noise, of="a")


def test_locks_of_processes_that_died_early_are_swept(path):
    Ledger(path)
    (path.parent / ".t.ledger.run-abc.lock").touch()
    with Ledger(path).resumable(WORK, by="test"):
        pass
    assert [file.name for file in path.parent.iterdir()] == ["t.ledger"]


def test_a_large_value_is_kept_in_several_parts(path, monkeypatch):
    monkeypatch.setattr("shoal.privacy._entry_store._PART_BYTES", 100)
    many = (Geometric(HALF), np.arange(1000), "a")
    (first,) = stopped_run(path, [many])
    with Ledger(path).resumable(WORK, by="test") as ledger:
        (again,) = released_by(ledger, [many])
    assert np.array_equal(first, again)


@pytest.mark.parametrize(
    "arrays",
    [
        [],
        [np.array(5)],
        [np.zeros((0, 3))],
        [np.array([True, False]), np.arange(4, dtype=np.int32)],
    ],
)
def test_arrays_come_back_as_they_were(arrays):
    again = unpack_arrays(pack_arrays(arrays))
    assert [(a.dtype, a.shape, a.tolist()) for a in again] == [
        (a.dtype, a.shape, a.tolist()) for a in arrays
    ]


def test_a_mechanism_whose_output_cannot_be_kept_is_paid_for_again(path):
    class Odd:
        guarantee = HALF

        def release(self, value, rng):
            return {"noisy": int(rng.integers(9))}

    stopped_run(path, [(Odd(), 1, "a")])
    with pytest.raises(RunChanged), Ledger(path).resumable(WORK, by="test") as ledger:
        released_by(ledger, [(Odd(), 1, "a")])
    assert Ledger(path).unfinished() == []


def test_a_run_that_is_going_is_not_listed_as_stopped(path):
    with Ledger(path).resumable(WORK, by="test") as ledger:
        released_by(ledger, [(Geometric(HALF), COUNTS, "a")])
        assert Ledger(path).unfinished() == []
    stopped_run(path, [(Geometric(HALF), COUNTS, "a")])
    assert [by for _, by in Ledger(path).unfinished()] == ["test"]


def test_sparse_counts_are_paid_for_before_they_are_drawn(path):
    assert Geometric(HALF, at_least=9).pays_first
    assert not Geometric(HALF).pays_first
