import pytest

from shoal.errors import InvalidSetting
from shoal.jobs._group_names import check_names, is_model_folder, parse_names


def test_a_list_has_commas_and_a_file_has_lines(tmp_path):
    assert parse_names("young, old ,") == ["young", "old", ""]
    path = tmp_path / "titles.txt"
    path.write_text("Young, in towns\n\nOld\n", encoding="utf-8")
    assert parse_names(str(path)) == ["Young, in towns", "", "Old"]


def test_a_file_that_is_no_list_of_titles_is_refused_without_a_word_of_it(tmp_path):
    path = tmp_path / "rows.csv"
    for content in (b"secret,\xff\n", b"secret\n" * 200_000, b"secret" * 100):
        path.write_bytes(content)
        with pytest.raises(InvalidSetting, match=r"names") as refused:
            parse_names(str(path))
        assert "secret" not in str(refused.value)


def test_there_is_one_title_for_each_group():
    assert check_names(["a", ""], 2) == ["a", ""]
    with pytest.raises(InvalidSetting, match="1 title for 2 groups"):
        check_names(["a"], 2)


def test_titles_after_their_numbers_may_come_in_any_order_and_leave_groups_out():
    assert check_names(["3: old: and wise", "", "1:young"], 3) == ["young", "", "old: and wise"]
    for wrong in (["0: a"], ["4: a"], ["1: a", "1: b"]):
        with pytest.raises(InvalidSetting, match="each number from 1 to 3"):
            check_names(wrong, 3)


def test_a_list_in_which_only_some_begin_with_numbers_is_a_list_of_titles():
    assert check_names(["18: the old", "young"], 2) == ["18: the old", "young"]


def test_only_a_folder_with_a_model_is_one(tmp_path):
    assert not is_model_folder("-")
    assert not is_model_folder(str(tmp_path))
    (tmp_path / "model.json").write_text("{}")
    assert is_model_folder(str(tmp_path))
