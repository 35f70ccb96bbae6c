import pytest
import yaml

from shoal.domain import Box, Schema
from shoal.errors import UnknownColumn
from shoal.jobs.drafts._codebook import CodebookEntry
from shoal.jobs.drafts._column_kinds import ColumnKind
from shoal.jobs.drafts._schema_draft import (
    columns_to_estimate,
    draft_of,
    draft_schema,
    name_ranges,
    next_command,
)

NUMBER, SOME, TEXT = ColumnKind(9, 0, 9), ColumnKind(9, 2, 7), ColumnKind(9, odd={"other text"})


def test_stated_columns_make_a_schema_and_the_others_are_comments():
    draft = draft_schema(["age", "income", "town", "email"], [NUMBER, NUMBER, TEXT, TEXT])
    schema = Schema.of(yaml.safe_load(draft.text))
    assert schema.columns == ("age",)
    assert "# income: {low: , high: }" in draft.text
    assert "# town: {values: [], other: bucket}" in draft.text
    assert "# email: left out" in draft.text
    assert [*columns_to_estimate(draft)] == ["income"]


def test_a_comment_that_is_completed_is_a_column():
    text = draft_schema(["age", "income"], [NUMBER, NUMBER]).text
    done = text.replace("# income: {low: , high: }", "income: {low: 0, high: 9}")
    assert Schema.of(yaml.safe_load(done)).columns == ("age", "income")


def test_a_codebook_beats_a_name_and_a_release_fills_the_rest():
    book = {"age": CodebookEntry(15, 19), "town": CodebookEntry(values=("York", "yes"))}
    released = Box(income=(0, 2.0**17))
    draft = draft_schema(["age", "income", "town"], [NUMBER, NUMBER, TEXT], book, released, "0.1")
    schema = Schema.of(yaml.safe_load(draft.text))
    assert schema.bounds == {"age": (15, 19), "income": (0, 131_072)}
    assert schema.categories["town"].values == ("York", "yes")
    assert "RELEASED from the rows with noise: 0.1" in draft.text


def test_people_are_told_apart_by_a_column_that_is_called_so_and_has_no_gap():
    names = ["Student ID", "age"]
    content = yaml.safe_load(draft_schema(names, [TEXT, NUMBER]).text)
    assert (content["person"], content["max_rows_per_person"]) == ("Student ID", 1)
    assert "Student ID" not in content["columns"]
    assert draft_schema(names, [SOME, NUMBER]).person is None
    assert draft_schema(names, [ColumnKind(9, 0, 9, is_float=True), NUMBER]).person is None


def test_latitude_and_longitude_alone_are_places():
    draft = draft_schema(["lon", "lat", "town"], [NUMBER, NUMBER, TEXT])
    assert Schema.of(yaml.safe_load(draft.text)).geo == ("lat", "lon")
    assert draft_schema(["lon", "lat", "age"], [NUMBER] * 3).geo is None


@pytest.mark.parametrize("name", ["a: b", "#x", "yes", "{x}", "ü", "'", "null"])
def test_any_name_of_a_column_survives(name):
    draft = draft_schema([name], [NUMBER], {name: CodebookEntry(0, 1)})
    assert Schema.of(yaml.safe_load(draft.text)).columns == (name,)
    assert yaml.safe_load(draft_schema([name], [NUMBER]).text)["columns"] is None


def test_the_next_command_says_what_the_draft_needs():
    draft = draft_schema(["age", "sex"], [SOME, TEXT], {"sex": CodebookEntry(values=("F",))})
    command = next_command(draft, "my table.csv", "d.yaml", "t.ledger")
    assert command == (
        "shoal cluster 'my table.csv' -k 4 --epsilon 1 --domain d.yaml --drop --ledger t.ledger"
    )


def test_a_completed_file_opens_again_with_its_open_columns():
    number, text = ColumnKind(rows=9, numbers=9), ColumnKind(rows=9, odd=frozenset({"other text"}))
    content = {
        "version": 1,
        "columns": {"age": {"low": 0, "high": 99}, "sex": {"values": ["F", "M"]}},
        "person": "who",
        "max_rows_per_person": 3,
    }
    schema = Schema.of(content)
    names = ["age", "income", "sex", "who", "email"]
    draft = draft_of(schema, names, [number, number, text, number, text])
    assert [column.name for column in draft.columns if column.is_open] == ["income"]
    assert [column.name for column in draft.columns if column.is_left_out] == ["email"]
    assert draft.columns[0].line() == "  age: {low: 0, high: 99}  # stated in the file\n"
    again = Schema.of(yaml.safe_load(draft.text))
    assert again.to_dict() == schema.to_dict()


def test_a_column_is_completed_and_opened_again():
    number = ColumnKind(rows=9, numbers=9)
    draft = draft_schema(["age", "income"], [number, number])
    stated = draft.with_entry("income", {"low": 0, "high": 9000}, "the form")
    assert stated.numbers == ("age", "income")
    assert "# REVIEW" not in stated.columns[1].line()
    assert stated.with_entry("income", None, "not known").columns[1].is_open
    with pytest.raises(UnknownColumn, match="height"):
        draft.with_entry("height", None, "")


def test_two_answers_are_stated_and_a_telephone_of_yes_and_no_names_nobody():
    flag = ColumnKind(99, 0, 99, two=frozenset({"0", "1"}))
    phone = ColumnKind(99, 3, odd={"other text"}, two=frozenset({"yes", "no"}))
    code = ColumnKind(99, odd={"other text"}, two=frozenset({"A191", "A192"}))
    draft = draft_schema(["Debtor", "telephone", "mobile"], [flag, phone, code])
    columns = yaml.safe_load(draft.text)["columns"]
    assert columns["Debtor"] == {"values": [0, 1]}
    assert columns["telephone"] == {"values": ["no", "yes"], "other": "bucket"}
    assert draft.columns[2].is_open
    assert "A191" not in draft.text
    assert "labels: [no, yes]" in draft.columns[0].why


def test_codes_and_levels_are_asked_for_as_such():
    names = ["Mother's occupation", "imd_band", "region", "income"]
    draft = draft_schema(names, [NUMBER, TEXT, TEXT, NUMBER])
    assert "# Mother's occupation: {values: [], labels: [], other: bucket}" in draft.text
    assert "# imd_band: {levels: []}" in draft.text
    assert "# region: {values: [], other: bucket}" in draft.text
    assert [*columns_to_estimate(draft)] == ["income"]


def test_numbered_columns_are_asked_about_once():
    names = [*(f"q{i}" for i in range(1, 29)), "q29x_total"]
    text = draft_schema(names, [NUMBER] * 29).text
    assert text.count("on which scale") == 1
    assert text.count("REVIEW: like q1\n") == 27
    assert name_ranges(names) == ["q1 to q28 (28)", "q29x_total"]


def test_a_codebook_names_codes():
    book = {"sex": CodebookEntry(values=("1", "2"), meanings={"1": "female", "2": "male"})}
    schema = Schema.of(yaml.safe_load(draft_schema(["sex"], [NUMBER], book).text))
    assert schema.value_text("sex", "2") == "male"
