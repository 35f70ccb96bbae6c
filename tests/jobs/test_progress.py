"""Progress: steps, parts and words, told to whatever sink there is."""

import json
import stat

from shoal.jobs._progress import Progress, ProgressFile
from shoal.privacy import Ledger, PureDP
from shoal.randomness import Randomness


class Clock:
    """A clock that stands still until it is moved."""

    now = 0.0

    def __call__(self):
        return self.now


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_rows_and_tasks_are_counted_beside_the_step():
    progress = Progress()
    progress.step("Reading rows")
    progress.count_rows(3)
    progress.count_rows(1_234)
    assert progress.state.text == "Reading rows: 1,234"
    progress.count_tasks(2, 5)
    assert progress.state.text == "Reading rows: 2 of 5 tasks"


def test_a_step_is_done_when_the_next_begins_and_never_by_its_parts():
    progress = Progress(steps=2)
    progress.step("First")
    progress.part("", 1.0)
    assert 0.9 < progress.state.done < 1
    progress.step("Second")
    assert progress.state.done == 1


def test_a_file_gets_a_line_for_each_step_and_ten_others_a_second(tmp_path):
    clock, path = Clock(), tmp_path / "progress"
    progress = Progress(ProgressFile(path, clock), steps=2)
    progress.step("First")
    for at in range(1000):
        clock.now = at / 1000
        progress.count_rows(at)
    progress.step("Second")
    lines = lines_of(path)
    assert lines[0] == {"step": "First", "text": "First", "share": 0.0}
    assert lines[-1] == {"step": "Second", "text": "Second", "share": 0.5}
    assert 8 <= len(lines) - 2 <= 10


def test_only_its_owner_can_read_the_file(tmp_path):
    Progress(ProgressFile(tmp_path / "progress")).step("First")
    assert stat.S_IMODE((tmp_path / "progress").stat().st_mode) == 0o600


def test_a_file_that_cannot_be_written_stops_nothing(tmp_path):
    progress = Progress(ProgressFile(tmp_path / "no folder" / "progress"))
    progress.step("First")
    progress.spend("1")
    assert progress.state.step == "First"


def test_what_is_spent_is_told_once_the_entry_is_written(tmp_path):
    progress, ledger = Progress(ProgressFile(tmp_path / "progress")), Ledger()
    ledger.on_entry = lambda made: progress.spend(str(made.epsilon))
    page = ledger.open(PureDP("0.5"), by="test")
    assert not (tmp_path / "progress").exists()

    class Silent:
        guarantee = PureDP("0.5")

        def release(self, value, rng):
            assert ledger.entries().num_rows == 1
            assert lines_of(tmp_path / "progress") == [{"spent": "1/2"}]
            return value

    page.release(Silent(), 1, Randomness(1).noise, of="a number")


def test_a_resumable_run_tells_of_its_entries_too(tmp_path):
    told, ledger = [], Ledger(tmp_path / "a.ledger")
    ledger.on_entry = told.append
    with ledger.resumable({"files": []}, by="test") as same:
        same._write(PureDP(1), PureDP(1), "test", "a number", None)
    assert told == [PureDP(1)]
