"""Reports under way: kept block by block, gone on with by the same run, and by no other."""

import numpy as np
import pytest

from shoal.domain import Box
from shoal.engine import Block, rows_of
from shoal.errors import CannotWrite, RunChanged
from shoal.perturb.report_draft import draft_of


def never():
    raise AssertionError("a block that was drawn is drawn again")


def columns(*values):
    return [np.array(values, dtype=np.float64), np.arange(len(values))]


def left_by_a_killed_run(output, work="a"):
    with draft_of(output, work) as draft:
        draft.begin(())
        draft.block(0, 2, lambda: columns(1.5, 2.5))
    return draft


def test_a_block_is_drawn_once_and_read_again(tmp_path):
    output = tmp_path / "noisy.csv"
    first = left_by_a_killed_run(output)
    with draft_of(output, "a") as draft:
        assert (draft.run, draft.selection_key) == (first.run, first.selection_key)
        draft.begin(())
        again = draft.block(0, 2, never)
        assert [column.tolist() for column in again] == [[1.5, 2.5], [0, 1]]
        assert draft.block(1, 1, lambda: columns(9.0))[0].tolist() == [9.0]
        draft.remove()
    assert list(tmp_path.iterdir()) == []


def test_only_its_owner_can_read_it(tmp_path):
    draft = left_by_a_killed_run(tmp_path / "noisy.csv")
    assert draft.folder.stat().st_mode & 0o777 == 0o700


def test_what_was_half_written_is_removed_before_anything_is_drawn(tmp_path):
    output = tmp_path / "noisy.csv"
    folder = left_by_a_killed_run(output).folder
    (folder / ".block-00000001.arrow.ab12.part").write_bytes(b"half")
    (folder / "output").mkdir()
    (folder / "output" / "noisy.csv").write_bytes(b"half")
    with draft_of(output, "a") as draft:
        draft.begin(())
        assert {path.name for path in draft.folder.iterdir()} == {
            "run.json",
            "block-00000000.arrow",
        }


def test_a_draft_of_other_work_is_removed_when_the_new_run_begins_and_not_before(tmp_path):
    output = tmp_path / "noisy.csv"
    first = left_by_a_killed_run(output)
    with draft_of(output, "b") as draft:
        assert draft.run != first.run
        assert (first.folder / "block-00000000.arrow").exists()
        draft.begin(())
        assert [path.name for path in draft.folder.iterdir()] == ["run.json"]


@pytest.mark.parametrize(
    "content", ["", "[]", '{"work": "a"}', '{"work": "a", "run": 1, "selection_key": "x"}']
)
def test_a_draft_that_cannot_be_read_is_not_gone_on_with(tmp_path, content):
    output = tmp_path / "noisy.csv"
    folder = left_by_a_killed_run(output).folder
    (folder / "run.json").write_text(content)
    with draft_of(output, "a") as draft:
        assert draft.is_new
        draft.begin(())
        assert [path.name for path in draft.folder.iterdir()] == ["run.json"]


def test_a_draft_that_is_half_removed_is_not_gone_on_with(tmp_path, monkeypatch):
    output = tmp_path / "noisy.csv"
    with draft_of(output, "a") as draft:
        draft.begin(())
        draft.block(0, 2, lambda: columns(1.5, 2.5))
        with monkeypatch.context() as dying:
            dying.setattr("shoal.perturb.report_draft.shutil.rmtree", lambda _: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                draft.remove()
    with draft_of(output, "a") as again:
        assert again.is_new
        again.begin(())
        again.remove()
    assert list(tmp_path.iterdir()) == []


def test_a_link_in_the_place_of_a_draft_is_not_followed(tmp_path):
    output, elsewhere = tmp_path / "noisy.csv", tmp_path / "elsewhere"
    folder = left_by_a_killed_run(output).folder
    folder.rename(elsewhere)
    folder.symlink_to(elsewhere)
    with draft_of(output, "a") as draft:
        assert draft.is_new
        draft.begin(())
        assert (elsewhere / "block-00000000.arrow").exists()
        assert not draft.folder.is_symlink()


def test_nothing_is_left_of_a_run_that_drew_nothing(tmp_path):
    with draft_of(tmp_path / "noisy.csv", "a"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_two_runs_do_not_write_one_output(tmp_path):
    output = tmp_path / "noisy.csv"
    with (
        draft_of(output, "a"),
        pytest.raises(CannotWrite, match="Another run"),
        draft_of(output, "a"),
    ):
        pass


def test_blocks_of_another_length_are_refused(tmp_path):
    output = tmp_path / "noisy.csv"
    left_by_a_killed_run(output)
    with draft_of(output, "a") as draft, pytest.raises(CannotWrite, match="do not fit"):
        draft.block(0, 3, never)


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(CannotWrite, match="folder"), draft_of(tmp_path / "no" / "noisy.csv", "a"):
        pass


BOX = Box(age=(0, 110))


def rows_of_ages(*ages):
    return rows_of({"age": np.array(ages, dtype=np.float64)}, BOX)


def block_of(*ages):
    return Block(np.array(ages, dtype=np.float64)[:, None], np.empty((len(ages), 0), np.int32))


def test_a_draft_goes_on_with_the_rows_it_began_with_and_no_others(tmp_path):
    output = tmp_path / "noisy.csv"
    with draft_of(output, "a") as draft:
        draft.begin(draft.digests_of(rows_of_ages(31, 47)))
    with draft_of(output, "a") as draft:
        assert draft.begin(draft.digests_of(rows_of_ages(31, 47))).digests == draft.digests
        for others in ((47, 31), (31,), (31, 47.5), (31, 47, 47)):
            with pytest.raises(RunChanged, match="not the one"):
                draft.begin(draft.digests_of(rows_of_ages(*others)))


def test_a_block_is_compared_by_its_number(tmp_path):
    with draft_of(tmp_path / "noisy.csv", "a") as new:
        draft = new.begin(
            [new.digest(block.numbers, block.codes) for block in (block_of(31), block_of(47))]
        )
        draft.check_unchanged(0, block_of(31))
        draft.check_unchanged(1, block_of(47))
        for number, block in ((0, block_of(47)), (1, block_of(31)), (2, block_of(31))):
            with pytest.raises(RunChanged):
                draft.check_unchanged(number, block)


def test_digests_of_equal_rows_differ_from_draft_to_draft(tmp_path):
    with draft_of(tmp_path / "a.csv", "a") as first, draft_of(tmp_path / "b.csv", "a") as second:
        ages = np.array([31.0, 47.0])
        assert first.digest(ages) == first.digest(ages)
        assert first.digest(ages) != second.digest(ages)
        assert first.digest(ages) != first.digest(ages[:1], ages[1:])
        assert first.digest(ages) != first.digest(ages[:, None])
