import os

import pytest

from shoal.anonymize import Policy, run_policy
from shoal.anonymize.release._result import check_paths, paths_of
from shoal.errors import AlreadyExists, CannotWrite, InvalidPolicy

ROWS = "sex\n" + "F\nM\n" * 4
SEX = {"role": "quasi", "hierarchy": {"tree": {"*": ["F", "M"]}}}


def policy(folder, source="in.csv", hierarchy=None, **output):
    content = {
        "version": 1,
        "input": {"path": source},
        "attributes": {"sex": {**SEX, "hierarchy": hierarchy or SEX["hierarchy"]}},
        "privacy": {"k": 2},
        "search": {"restarts": 0},
        "output": {"path": "out.csv", **output},
    }
    return Policy.of(content, folder)


def test_the_rows_are_never_replaced_by_their_release(tmp_path):
    (tmp_path / "in.csv").write_text(ROWS)
    os.symlink(tmp_path / "in.csv", tmp_path / "also.csv")
    for path in ("in.csv", "also.csv"):
        with pytest.raises(InvalidPolicy, match="read by this run"):
            run_policy(policy(tmp_path, path=path, overwrite=True))
    with pytest.raises(InvalidPolicy, match="read by this run"):
        run_policy(policy(tmp_path, "other.csv", path="in.csv"), str(tmp_path / "in.csv"))
    assert (tmp_path / "in.csv").read_text() == ROWS


def test_a_hierarchy_is_never_replaced(tmp_path):
    (tmp_path / "sex.csv").write_text("F;*\nM;*\n")
    asked = policy(tmp_path, hierarchy={"file": "sex.csv"}, mapping="sex.csv", overwrite=True)
    with pytest.raises(InvalidPolicy, match=r"sex\.csv is read"):
        check_paths(asked, None, with_pages=False, overwrite=True)


def test_a_release_does_not_join_the_rows_it_was_made_from(tmp_path):
    (tmp_path / "parts").mkdir()
    asked = policy(tmp_path, "parts", path="parts/out.parquet")
    with pytest.raises(InvalidPolicy, match="folder that is read"):
        check_paths(asked, tmp_path / "parts", with_pages=False, overwrite=False)


@pytest.mark.parametrize(
    "output",
    [
        {"mapping": "out.csv"},
        {"mapping": "m.json", "manifest": "m.json"},
        {"manifest": "told.json", "report": "told.html"},
    ],
)
def test_no_two_files_share_a_name(tmp_path, output):
    with pytest.raises(InvalidPolicy, match="two files"):
        check_paths(policy(tmp_path, **output), None, with_pages=True, overwrite=True)


def test_names_are_checked_before_any_row_is_read(tmp_path):
    with pytest.raises(CannotWrite, match="no folder"):
        run_policy(policy(tmp_path, path="nowhere/out.csv"))
    os.symlink(tmp_path / "gone", tmp_path / "out.manifest.json")
    with pytest.raises(AlreadyExists, match="manifest"):
        run_policy(policy(tmp_path))
    assert check_paths(policy(tmp_path), None, with_pages=True, overwrite=True) == paths_of(
        policy(tmp_path)
    )
