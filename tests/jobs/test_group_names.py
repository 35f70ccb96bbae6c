import pytest

from shoal.errors import InvalidSetting
from shoal.jobs.group_names import check_names, is_model_folder, parse_names


def test_a_list_has_commas_and_a_file_has_lines(tmp_path):
    assert parse_names("young, old ,") == ["young", "old", ""]
    path = tmp_path / "titles.txt"
    path.write_text("Young, in towns\n\nOld\n", encoding="utf-8")
    assert parse_names(str(path)) == ["Young, in towns", "", "Old"]


def test_a_file_that_is_no_list_of_titles_is_refused_without_a_word_of_it(tmp_path):
    path = tmp_path / "rows.csv"
    for content in (b"secret,\xff\n", b"secret\n" * 200_000, b"secret" * 100):
        path.write_bytes(content)
        with pytest.raises(InvalidSetting, match=r"--names") as refused:
            parse_names(str(path))
        assert "secret" not in str(refused.value)


def test_there_is_one_title_for_each_group():
    assert check_names(["a", ""], 2) == ["a", ""]
    with pytest.raises(InvalidSetting, match="1 title for 2 groups"):
        check_names(["a"], 2)


def test_only_a_folder_with_a_model_is_one(tmp_path):
    assert not is_model_folder("-")
    assert not is_model_folder(str(tmp_path))
    (tmp_path / "model.json").write_text("{}")
    assert is_model_folder(str(tmp_path))
