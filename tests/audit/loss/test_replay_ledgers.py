import pickle

import numpy as np
import pytest

from shoal.audit.loss._replay_ledgers import Branch, ForcingLedger, RecordingLedger
from shoal.domain import SparseCounts
from shoal.errors import InvalidSetting, PromiseExceeded
from shoal.mechanisms import Choices, Exponential, Geometric, ScoredIntervals
from shoal.privacy import PureDP
from shoal.randomness import Randomness


def record(*releases, promise=None):
    """A ledger that recorded these (mechanism, value) pairs."""
    ledger = RecordingLedger()
    page = ledger.open(promise or PureDP(4), by="test")
    for mechanism, value in releases:
        page.release(mechanism, value, Randomness(1).noise, of="value")
    return ledger


def force(recorded, *releases, of="value"):
    ledger = ForcingLedger(recorded)
    page = ledger.open(PureDP(4), by="test")
    made = [page.release(*each, Randomness(2).noise, of=of) for each in releases]
    ledger.close()
    return ledger, made


def test_the_output_recorded_is_forced_and_its_loss_added_up():
    noise = Geometric(PureDP(1))
    recorded = record((noise, np.array([3, 4])))
    ledger, (output,) = force(recorded, (noise, np.array([3, 5])))
    assert output.tolist() == recorded.releases[0].output.tolist()
    (step,) = ledger.steps
    assert step.worst == 1
    assert step.loss == -step.reverse == noise.log_ratio(output, [3, 4], [3, 5])
    assert ledger.branches == []


def test_a_fit_cannot_change_what_was_recorded():
    noise, value = Geometric(PureDP(1)), np.array([3, 4])
    ledger = RecordingLedger()
    output = ledger.open(PureDP(1), by="test").release(noise, value, Randomness(1).noise, of="n")
    kept = ledger.releases[0].output.tolist()
    output[:] = value[:] = 99
    assert ledger.releases[0].value.tolist() == [3, 4]
    assert ledger.releases[0].output.tolist() == kept


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((Geometric(PureDP(1)), np.zeros(2, int)), (Geometric(PureDP(2)), np.zeros(2, int))),
        ((Geometric(PureDP(1)), np.zeros(2, int)), (Geometric(PureDP(1)), np.zeros(3, int))),
        ((Geometric(PureDP(1)), np.zeros(2, int)), (Exponential(PureDP(1)), Choices([1, 2]))),
        (
            (Geometric(PureDP(1), at_least=9), SparseCounts([1], [1], 9)),
            (Geometric(PureDP(1), at_least=9), SparseCounts([1], [1], 10)),
        ),
        ((Exponential(PureDP(1)), Choices([1, 2])), (Exponential(PureDP(1)), Choices([1, 2, 3]))),
        (
            (Exponential(PureDP(1)), Choices([1, 2], [1, 1])),
            (Exponential(PureDP(1)), Choices([1, 2], [1, 2])),
        ),
        (
            (Exponential(PureDP(1)), ScoredIntervals([0, 5], [1])),
            (Exponential(PureDP(1)), ScoredIntervals([0, 6], [1])),
        ),
    ],
)
def test_what_must_not_depend_on_the_rows_is_a_branch_if_it_differs(first, second):
    with pytest.raises(Branch, match="value"):
        force(record(first), second)


def test_edges_between_the_ends_may_depend_on_the_rows():
    pick = Exponential(PureDP(1))
    first, second = ScoredIntervals([0, 5, 9], [1, 2]), ScoredIntervals([0, 6, 7, 9], [1, 2, 2])
    assert force(record((pick, first)), (pick, second))[0].branches == []


def test_another_number_or_name_of_releases_is_a_branch():
    one = (Geometric(PureDP(1)), np.zeros(2, int))
    with pytest.raises(Branch, match="1 release more"):
        force(record(one), one, one)
    with pytest.raises(Branch, match="in place of value"):
        force(record(one), one, of="other")
    assert force(record(one, one), one)[0].branches == ["1 release fewer"]


def test_another_promise_is_a_branch():
    ledger = ForcingLedger(record(promise=PureDP(2)))
    with pytest.raises(Branch, match="promise"):
        ledger.open(PureDP(1), by="test")


@pytest.mark.parametrize("forced", [False, True])
def test_the_promise_binds_recorded_and_forced_pages_alike(forced):
    half = (Geometric(PureDP("0.6")), 3)
    recorded = record(half, half)
    page = (ForcingLedger(recorded) if forced else recorded).open(
        PureDP(4) if forced else PureDP(1), by="test"
    )
    if forced:
        page.promise = PureDP(1)
    page.release(*half, Randomness(1).noise, of="value")
    with pytest.raises(PromiseExceeded):
        page.release(*half, Randomness(1).noise, of="value")


def test_parts_of_disjoint_rows_are_recorded_by_name_and_forced():
    noise = Geometric(PureDP(1))

    def release(ledger, north):
        with ledger.open(PureDP(1), by="test").parallel(of="regions") as part:
            return [
                part(name).release(noise, count, Randomness(1).noise)
                for name, count in {"north": north, "south": 5}.items()
            ]

    recorded = RecordingLedger()
    made = release(recorded, 3)
    forcing = ForcingLedger(recorded)
    assert release(forcing, 4) == made
    assert [step.of for step in forcing.steps] == ["regions, str 'north'", "regions, str 'south'"]
    assert [step.worst for step in forcing.steps] == [1, 0]


def test_a_mechanism_without_a_law_is_refused_with_a_hint():
    class Mine:
        guarantee = PureDP(1)

        def release(self, value, rng):
            return value

    with pytest.raises(InvalidSetting, match="Mine") as refused:
        record((Mine(), 3))
    assert "log_ratio" in refused.value.hint


def test_what_was_recorded_cannot_be_pickled():
    with pytest.raises(InvalidSetting, match="cannot be saved"):
        pickle.dumps(record((Geometric(PureDP(1)), 3)).releases[0])
