import pytest

from shoal.errors import UnreadableTable
from shoal.jobs.drafts._codebook import CodebookEntry, read_codebook

NAMES = ("age", "sex", "Hours per week", "score")


def read(tmp_path, text):
    path = tmp_path / "codebook.csv"
    path.write_text(text)
    return read_codebook(str(path), NAMES)


def test_bounds_and_values_are_read_under_the_usual_heads(tmp_path):
    words = {"1": "female", "2": "male"}
    entries = read(tmp_path, "Variable,Min,Max,Levels\nage,0,110,\nsex,,,1 = female; 2 = male\n")
    assert entries == {
        "age": CodebookEntry(0, 110),
        "sex": CodebookEntry(values=("1", "2"), meanings=words),
    }
    assert entries["age"].is_bounded


@pytest.mark.parametrize("text", ["0-20", "0 to 20", "[0, 20]", "0..20"])
def test_ranges_are_read_in_the_usual_spellings(tmp_path, text):
    assert read(tmp_path, f'name,range\nscore,"{text}"\n')["score"] == CodebookEntry(0, 20)


def test_several_lines_of_one_column_list_its_values(tmp_path):
    entries = read(tmp_path, "name,code,meaning\nsex,F,female\nsex,M,male\nsex,F,again\n")
    assert entries["sex"].values == ("F", "M")


def test_a_name_may_differ_by_blanks_and_capitals_and_others_are_passed_over(tmp_path):
    entries = read(tmp_path, "column,low,high\nhours_per_week,0,80\ntown,0,1\n")
    assert entries == {"Hours per week": CodebookEntry(0, 80)}


@pytest.mark.parametrize("text", ["a,b\n1,2\n", "name,label\nage,years\n", "name,low\ntown,1\n"])
def test_what_is_no_codebook_of_the_table_is_refused(tmp_path, text):
    with pytest.raises(UnreadableTable):
        read(tmp_path, text)


def test_bounds_the_wrong_way_round_are_no_bounds(tmp_path):
    assert not read(tmp_path, "name,low,high\nage,9,3\n")["age"].is_bounded


def test_codes_have_their_words_from_a_column_of_their_own_and_from_the_named_table(tmp_path):
    text = "set,column,code,meaning\na,sex,1,female\na,sex,2,male\nb,sex,F,f\nb,sex,M,m\n"
    (tmp_path / "codes.csv").write_text(text)
    (entry,) = read_codebook(str(tmp_path / "codes.csv"), ("sex",), "a").values()
    assert (entry.values, entry.words) == (("1", "2"), ("female", "male"))
    (both,) = read_codebook(str(tmp_path / "codes.csv"), ("sex",), "c").values()
    assert both.values == ("1", "2", "F", "M")


@pytest.mark.parametrize("meanings", [{"1": "x"}, {"1": "x", "2": "x"}, {}])
def test_words_that_are_missing_or_shared_are_left_out(meanings):
    assert CodebookEntry(values=("1", "2"), meanings=meanings).words == ()
