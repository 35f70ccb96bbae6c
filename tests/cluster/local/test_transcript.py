import json
from dataclasses import replace

import numpy as np
import pytest

from shoal.cluster import LocalPrototypes, LocalRounds
from shoal.cluster.local.transcript import (
    COLUMNS,
    FEWEST_PEOPLE,
    AllRounds,
    hold_records,
    learn_groups,
)
from shoal.data import students, students_schema
from shoal.domain import Box, Schema
from shoal.engine import rows_of
from shoal.errors import NotAReport, TooFewRows
from shoal.perturb.report_draft import Draft, draft_of
from shoal.privacy import Ledger, LocalDP
from shoal.randomness import Randomness

N = 2_000
MIDDLES = np.array([[0.2, 0.3, 0.2], [0.7, 0.8, 0.6]])


@pytest.fixture(scope="module")
def numbers():
    rng = np.random.default_rng(0)
    first = LocalRounds(Box.unit(3), n_clusters=2, epsilon=4.0, n_expected=N)
    people = np.clip(MIDDLES[np.arange(N) % 2] + 0.03 * rng.standard_normal((N, 3)), 0, 1)
    return AllRounds(first, seed=7), people


@pytest.fixture(scope="module")
def mixed():
    schema = replace(students_schema(), person=None, max_rows_per_person=None)
    first = LocalPrototypes(schema, n_clusters=2, epsilon=4.0, n_expected=N)
    return AllRounds(first, seed=7), first.records(students(N))


@pytest.fixture(params=["numbers", "mixed"])
def rounds(request):
    return request.getfixturevalue(request.param)


@pytest.mark.heavy
def test_everybody_reports_once(rounds, monkeypatch):
    every, records = rounds
    marked = records.copy()
    marked[:, 0] = np.linspace(*np.sort(records[:, 0])[[0, -1]], N)  # a value of one's own
    released = []
    for kind in {type(every.first.mechanism), type(learn_mechanism(every, records))}:
        draw = kind.release

        def watched(self, own, rng, draw=draw):
            released.extend(own[:, 0].tolist())
            return draw(self, own, rng)

        monkeypatch.setattr(kind, "release", watched)
    transcript = every.release(marked, Randomness(1).noise)
    assert len(transcript.reports) == N
    assert transcript.reports.shape[1] == len(COLUMNS)
    assert sorted(released) == sorted(marked[:, 0].tolist())


def learn_mechanism(every, records):
    """The mechanism of the second round."""
    mechanism = every.first.mechanism
    return every.first.advance(mechanism.release(records, Randomness(3).noise), 1).mechanism


def test_the_order_within_a_round_is_not_the_table_s():
    first = LocalPrototypes(
        Schema.of({"version": 1, "columns": {"sick": {"values": ["no", "yes"]}}}),
        n_clusters=1,
        epsilon=20,  # hardly any noise
        n_expected=N,
    )
    sick = np.sort(np.arange(N) % 2)[:, None].astype(float)  # a sorted table
    reports = AllRounds(first, 7).release(sick, Randomness(2).noise).reports
    answers = reports[reports[:, 0] == 0, 2]
    assert 0.3 < answers[: len(answers) // 2].mean() < 0.7


@pytest.mark.heavy
def test_groups_come_again_from_the_transcript_alone(rounds):
    every, records = rounds
    transcript = every.release(records, Randomness(1).noise)
    as_written = replace(transcript, questions=json.loads(json.dumps(transcript.questions)))
    once, again = learn_groups(transcript), learn_groups(as_written)
    assert once.state.round == once.state.n_rounds
    assert np.array_equal(once.shares, again.shares)
    assert abs(once.shares.sum() - 1) < 0.2
    assert 0 < once.share_error < 0.2


@pytest.mark.heavy
def test_centres_of_clear_groups_are_found(numbers):
    every, people = numbers
    learnt = learn_groups(every.release(people, Randomness(1).noise))
    assert np.abs(np.sort(learnt.state.cluster_centers, axis=0) - MIDDLES).max() < 0.1
    assert np.abs(learnt.shares - 0.5).max() < 5 * learnt.share_error


@pytest.mark.heavy
def test_the_whole_run_is_one_entry_of_the_ledger(numbers):
    every, people = numbers
    ledger = Ledger()
    page = ledger.open(every.guarantee, by="example")
    page.release(every, people, Randomness(1).noise, of="reports")
    assert ledger.entries().num_rows == 1
    assert page.total() == LocalDP(4).simulated(True)


def test_too_few_people_are_refused_before_anything_is_drawn(numbers):
    every, people = numbers
    page = Ledger().open(every.guarantee, by="example")
    with pytest.raises(TooFewRows, match=str(FEWEST_PEOPLE)):
        page.release(every, people[: FEWEST_PEOPLE - 1], Randomness(1).noise, of="reports")


@pytest.mark.heavy
def test_other_questions_and_answers_are_refused(rounds):
    every, records = rounds
    made = every.release(records, Randomness(1).noise)
    for column, value in ((0, 9), (1, 99), (2, 10**9), (2, -1)):
        reports = made.reports.copy()
        reports[0, column] = value
        with pytest.raises(NotAReport):
            learn_groups(replace(made, reports=reports))
    with pytest.raises(NotAReport, match="all rounds"):
        learn_groups(replace(made, questions=made.questions[:-1]))
    changed = [made.questions[0] | {"epsilon": "9"}, *made.questions[1:]]
    with pytest.raises(NotAReport, match="Round 0 asked otherwise"):
        learn_groups(replace(made, questions=changed))


def test_records_are_held_as_mechanisms_take_them():
    box = Box.unit(2)
    assert hold_records(rows_of(np.array([[0.1, 0.2], [0.3, 0.4]]), box)).tolist() == [
        [0.1, 0.2],
        [0.3, 0.4],
    ]
    schema = replace(students_schema(), person=None, max_rows_per_person=None)
    first = LocalPrototypes(schema, n_clusters=2, epsilon=4.0, n_expected=50)
    held = hold_records(rows_of(students(50), schema))
    assert np.array_equal(held, first.records(students(50)))


class Killed(BaseException):
    pass


def test_rounds_stopped_after_every_step_draw_everybody_once(rounds, tmp_path, monkeypatch):
    every, records = rounds
    store, reported, kept = Draft.block, [], {}

    def stopped(self, number, lines, draw):
        def watched():
            columns = draw()
            reported.append(number)
            kept[number] = [column.copy() for column in columns]
            return columns

        columns = store(self, number, lines, watched)
        if len(reported) == steps:
            raise Killed
        return columns

    monkeypatch.setattr(Draft, "block", stopped)
    transcript, steps = None, 0
    while transcript is None:
        steps = len(reported) + 1
        with draft_of(tmp_path / "noisy.csv", "work") as new:
            draft = new.begin([new.digest(records)])
            try:
                transcript = replace(every, draft=draft).release(records, Randomness().noise)
            except Killed:
                continue
    rounds_run = len(transcript.questions)
    assert reported == list(range(2 * rounds_run + 1))
    assert len(transcript.reports) == N
    for number in range(rounds_run):
        own = transcript.reports[transcript.reports[:, 0] == number, 1:]
        assert np.array_equal(own, np.column_stack(kept[2 * number + 2]))
    assert learn_groups(transcript).state.mechanism is None


def test_a_question_that_was_asked_stays_as_it_was(rounds, tmp_path, monkeypatch):
    every, records = rounds
    store, asked = Draft.block, []

    def stopped(self, number, lines, draw):
        columns = store(self, number, lines, draw)
        if number == 3:  # the second question
            asked.append(json.loads(columns[0].tobytes()))
            raise Killed
        return columns

    with draft_of(tmp_path / "noisy.csv", "work") as new:
        draft = new.begin([new.digest(records)])
        first = replace(every, draft=draft)
        with monkeypatch.context() as patched:
            patched.setattr(Draft, "block", stopped)
            with pytest.raises(Killed):
                first.release(records, Randomness().noise)
        # Another seed of the learner stands for another machine's rounding.
        other = replace(first, seed=99).release(records, Randomness().noise)
    assert other.questions[1] == asked[0]
