"""What a stopped run released is read again, by one process at a time, and only by the same run."""

import multiprocessing
import os
import signal

import numpy as np
import pytest

from shoal.domain import SparseCounts
from shoal.errors import BudgetExceeded, PromiseExceeded, RunChanged
from shoal.mechanisms import Choices, Exponential, Geometric, TreeCounts, TreeSplits
from shoal.privacy import Ledger, PureDP
from shoal.privacy.journal import packed, unpacked
from shoal.randomness import Randomness

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


def test_parts_of_disjoint_rows_are_read_again_too(path):
    def both(ledger):
        page = ledger.open(PureDP(1), by="test")
        with page.parallel(of="regions") as part:
            noise = Randomness().noise
            return [part(name).release(Geometric(PureDP(1)), COUNTS, noise) for name in ("n", "s")]

    first = stopped(path, both)
    with Ledger(path).resumable(WORK, by="test") as ledger:
        assert all(map(np.array_equal, first, both(ledger)))
    assert len(Ledger(path).entries()) == 1


def test_a_large_value_is_kept_in_several_parts(path, monkeypatch):
    monkeypatch.setattr("shoal.privacy.store._PART_BYTES", 100)
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
    again = unpacked(packed(arrays))
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
