import pickle
import subprocess
import sys

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from shoal.domain import Box, Categories, Schema
from shoal.domain._schema import schema_problems
from shoal.errors import InvalidDomain, UnknownBounds

FULL = """
version: 1
columns:
  age: {low: 0, high: 110}
  sex: {values: [F, M], other: bucket, weight: 2}
  visits: {low: 0, high: 20.5, weight: 0.5}
person: student
max_rows_per_person: 3
"""

AGE = {"low": 0, "high": 110}
GOOD = {"version": 1, "columns": {"age": AGE, "sex": {"values": ["F", "M"]}}}


@pytest.fixture
def schema(tmp_path):
    path = tmp_path / "schema.yaml"
    path.write_text(FULL)
    return Schema.load(path)


def test_a_file_says_what_is_public(schema):
    assert schema.columns == ("age", "sex", "visits")
    assert schema.box == Box(age=(0, 110), visits=(0, 20.5))
    assert schema.categories == {"sex": Categories(["F", "M"], other="bucket")}
    assert schema.weights == {"age": 1.0, "sex": 2.0, "visits": 0.5}
    assert (schema.person, schema.max_rows_per_person) == ("student", 3)


def test_a_schema_goes_to_a_dict_and_back(schema, tmp_path):
    assert Schema.of(schema.to_dict()) == schema
    (tmp_path / "again.yaml").write_text(yaml.safe_dump(schema.to_dict(), sort_keys=False))
    assert Schema.load(tmp_path / "again.yaml") == schema
    assert pickle.loads(pickle.dumps(schema)) == schema


def test_geo_makes_a_geographic_box_with_the_latitude_first():
    schema = Schema.of(
        {
            "version": 1,
            "columns": {"lon": {"low": -74, "high": -73}, "lat": {"low": 40, "high": 41}},
            "geo": {"latitude": "lat", "longitude": "lon"},
        }
    )
    assert schema.box == Box.geo(lat=(40, 41), lon=(-74, -73))
    assert schema.numbers == ("lat", "lon")
    assert Schema.of(schema.to_dict()) == schema


def test_a_schema_without_numbers_has_no_box():
    schema = Schema.of({"version": 1, "columns": {"sex": {"values": ["F", "M"]}}})
    assert schema.numbers == ()
    with pytest.raises(UnknownBounds):
        _ = schema.box


def test_a_bad_file_is_named_with_all_its_problems(tmp_path):
    path = tmp_path / "bad.yaml"
    path.write_text("version: 1\ncolumns: {age: {low: 3, high: 1}, sex: {vals: [F]}}\n")
    with pytest.raises(InvalidDomain, check=lambda error: error.reason == "file") as caught:
        Schema.load(path)
    message = str(caught.value)
    for part in ("bad.yaml has 3 problems", "columns.age", "columns.sex.vals", "'values'"):
        assert part in message


def test_an_empty_file_is_no_schema(tmp_path):
    (tmp_path / "empty.yaml").touch()
    with pytest.raises(
        InvalidDomain, match="not a mapping", check=lambda error: error.reason == "file"
    ):
        Schema.load(tmp_path / "empty.yaml")


@pytest.mark.heavy
def test_importing_domain_imports_neither_pydantic_nor_yaml_nor_arrow():
    script = (
        "import sys, shoal.domain\n"
        "print([m for m in ('pydantic', 'yaml', 'pyarrow') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True)
    assert out.stdout.strip() == "[]"


NAMES = st.text(min_size=1, max_size=5)
BOUNDED = st.tuples(st.integers(-(10**6), 10**6), st.integers(1, 10**6)).map(
    lambda pair: {"low": pair[0], "high": pair[0] + pair[1]}
)
LISTED = st.lists(st.text(max_size=4), min_size=1, max_size=4, unique_by=str.strip).map(
    lambda values: {"values": values}
)


@pytest.mark.heavy
@given(st.dictionaries(NAMES, BOUNDED | LISTED, min_size=1, max_size=5))
def test_any_good_schema_survives_the_round_trip(columns):
    schema = Schema.of({"version": 1, "columns": columns})
    assert schema.columns == tuple(columns)
    assert set(schema.bounds) | set(schema.categories) == set(columns)
    assert Schema.of(schema.to_dict()) == schema


def _column(**keys):
    return {"version": 1, "columns": {"age": keys}}


def test_a_good_schema_has_no_findings():
    assert schema_problems(GOOD) == []


BAD = {
    "nothing": (None, "not a mapping"),
    "a list": ([1], "not a mapping"),
    "no version": ({"columns": {"age": AGE}}, "version is missing"),
    "another version": (GOOD | {"version": 2}, "version must be 1"),
    "a version as text": (GOOD | {"version": "1"}, "version must be 1"),
    "a truth value as version": (GOOD | {"version": True}, "version must be 1"),
    "no columns": ({"version": 1}, "columns is missing"),
    "empty columns": ({"version": 1, "columns": {}}, "columns is empty"),
    "columns as list": ({"version": 1, "columns": ["age"]}, "columns should be a mapping"),
    "an unknown key": (
        GOOD | {"persons": "id"},
        "persons is not a known key; did you mean 'person'",
    ),
    "epsilon": (GOOD | {"epsilon": 1}, "it has an unknown key; the keys are version"),
    "an unknown key in a column": (_column(lo=0, high=1), "did you mean 'low'"),
    "no bounds": (_column(), "columns.age has no low and high; give public bounds"),
    "no high": (_column(low=0), "columns.age has no high"),
    "a column without keys": ({"version": 1, "columns": {"age": None}}, "columns.age should be a"),
    "low above high": (_column(low=2, high=1), "columns.age needs two finite numbers"),
    "low equal to high": (_column(low=1, high=1), "low below high"),
    "infinite": (_column(low=0, high=float("inf")), "columns.age"),
    "not a number": (_column(low=float("nan"), high=1), "columns.age"),
    "text bounds": (_column(low="0", high=1), "columns.age.low"),
    "truth bounds": (_column(low=False, high=1), "columns.age.low"),
    "null bounds": (_column(low=None, high=1), "columns.age has no low"),
    "bounds and values": (_column(low=0, high=1, values=["x"]), "not both"),
    "no values": (_column(values=[]), "columns.age.values"),
    "null values": (_column(values=None), "columns.age.values"),
    "values as text": (_column(values="FM"), "columns.age.values"),
    "values twice": (_column(values=["F", "F"]), "'F' is listed more than once"),
    "truth values": (_column(values=[True, False]), "put them in quotes"),
    "null as value": (_column(values=["F", None]), "columns.age.values"),
    "another rule": (_column(values=["F"], other="keep"), "columns.age.other"),
    "other beside bounds": (_column(low=0, high=1, other="bucket"), "belongs to a column with"),
    "zero weight": (_column(low=0, high=1, weight=0), "columns.age.weight"),
    "huge weight": (_column(low=0, high=1, weight=1e308), "columns.age.weight"),
    "tiny weight": (_column(low=0, high=1, weight=1e-320), "columns.age.weight"),
    "text weight": (_column(low=0, high=1, weight="2"), "columns.age.weight"),
    "a name that is no text": ({"version": 1, "columns": {False: AGE}}, "put it in quotes"),
    "person as number": (GOOD | {"person": 3}, "person"),
    "no rows a person": (GOOD | {"person": "id", "max_rows_per_person": 0}, "max_rows_per_person"),
    "rows of nobody": (GOOD | {"max_rows_per_person": 3}, "needs person"),
    "geo of unknown": (GOOD | {"geo": {"latitude": "a", "longitude": "b"}}, "geo must name"),
    "geo misspelt": (GOOD | {"geo": {"latitud": "age"}}, "did you mean 'latitude'"),
    "geo as text": (GOOD | {"geo": "age"}, "geo should be a mapping"),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_problem_is_said_in_the_writers_own_keys(kind):
    content, expected = BAD[kind]
    assert any(expected in one for one in schema_problems(content)), schema_problems(content)


def test_all_problems_are_found_at_once():
    content = {
        "version": 3,
        "columns": {"age": {"low": 5, "high": 1}, "sex": {"valeus": ["F"]}, "x": {"low": "a"}},
        "persno": "id",
    }
    found = " ".join(schema_problems(content))
    for key in ("version", "columns.age", "columns.sex.valeus", "columns.x.low", "persno"):
        assert key in found


def _geo(latitude, longitude, **more):
    columns = {
        "lat": dict(zip(("low", "high"), latitude, strict=True)),
        "lon": dict(zip(("low", "high"), longitude, strict=True)),
        **more,
    }
    return {"version": 1, "columns": columns, "geo": {"latitude": "lat", "longitude": "lon"}}


def test_geo_takes_two_numeric_columns_on_earth():
    assert schema_problems(_geo((40, 41), (-74, -73), sex={"values": ["F"]})) == []
    assert "exactly the two" in schema_problems(_geo((40, 41), (-74, -73), age=AGE))[0]
    assert "latitude" in schema_problems(_geo((40, 91), (-74, -73)))[0]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda below: (
        st.lists(below, max_size=3)
        | st.dictionaries(
            st.sampled_from(["low", "high", "values", "other", "weight", "latitude", "longitude"])
            | st.text(max_size=2),
            below,
            max_size=3,
        )
    ),
    max_leaves=8,
)
CONTENT = st.fixed_dictionaries(
    {"version": st.just(1) | JSON, "columns": st.dictionaries(st.text(max_size=2), JSON) | JSON},
    optional={"person": JSON, "max_rows_per_person": JSON, "geo": JSON},
)


@pytest.mark.heavy
@given(CONTENT | JSON)
def test_any_content_is_found_wanting_or_makes_a_schema(content):
    if not schema_problems(content):
        schema = Schema.of(content)
        assert Schema.of(schema.to_dict()) == schema


ORDERED = {
    "version": 1,
    "columns": {
        "age": {"low": 0, "high": 110, "missing": "flag"},
        "level": {"levels": ["basic", "middle", "higher"], "missing": "middle"},
        "sex": {"values": ["F", "M"], "weight": 2},
    },
}


def test_levels_are_categories_in_their_order():
    schema = Schema.of(ORDERED)
    assert schema.ordered == ("level",)
    assert schema.categories["level"].values == ("basic", "middle", "higher")
    assert schema.categories["level"].other == "bucket"  # for what is missing
    assert schema.missing == {"age": "flag", "level": "middle"}
    assert schema.flagged == ("age",)
    assert Schema.of(schema.to_dict()) == schema


def test_some_columns_of_a_schema_are_a_schema():
    chosen = Schema.of(ORDERED | {"person": "id"}).select(["sex", "age"])
    assert chosen.columns == ("age", "sex")
    assert chosen.person == "id"
    assert chosen.weights["sex"] == 2


@pytest.mark.parametrize(
    ("column", "problem"),
    [
        ({"values": ["a", "b"], "levels": ["a", "b"]}, "give one of them"),
        ({"levels": ["a"]}, "two or more"),
        ({"levels": ["a", "b"], "other": "bucket"}, "levels have `missing`"),
        ({"values": ["a", "b"], "missing": "flag"}, "`other: bucket`"),
        ({"levels": ["a", "b"], "low": 0}, "not both"),
        ({"low": 0, "high": 1, "missing": "drop"}, "missing"),
        ({"low": 0, "high": 1, "weight": 0}, "weight"),
    ],
)
def test_levels_and_missing_that_make_no_sense_are_named(column, problem):
    with pytest.raises(InvalidDomain, match=problem):
        Schema.of({"version": 1, "columns": {"x": column}})


def test_columns_may_have_a_label_and_a_unit_for_pages():
    columns = {
        "stay": {"low": 0, "high": 9, "label": "Length of stay", "unit": "days"},
        "sex": {"values": ["F", "M"], "label": "Sex"},
    }
    schema = Schema.of({"version": 1, "columns": columns})
    assert (schema.labels, schema.units) == (
        {"stay": "Length of stay", "sex": "Sex"},
        {"stay": "days"},
    )
    assert Schema.of(schema.to_dict()) == schema
    assert schema.select(["sex"]).labels == {"sex": "Sex"}


@pytest.mark.parametrize("text", [3, "", "w" * 81, None])
def test_a_label_is_a_short_text(text):
    column = {"low": 0, "high": 9, "label": text}
    with pytest.raises(InvalidDomain, match="label"):
        Schema.of({"version": 1, "columns": {"stay": column}})


def test_texts_of_other_columns_are_left_out():
    schema = Schema.of_box(Box(age=(0, 9))).with_texts({"age": "Age", "sex": "Sex"}, {"sex": "-"})
    assert (schema.labels, schema.units) == ({"age": "Age"}, {})


def test_values_have_words_for_pages_that_come_back_from_plain_values():
    sex = {"values": [0, 1], "labels": ["female", "male"]}
    schema = Schema.of({"version": 1, "columns": {"sex": sex}})
    again = Schema.of(schema.to_dict())
    assert again == schema
    assert [again.value_text("sex", value) for value in (0, "1", "<other>")] == [
        "female",
        "male",
        "<other>",
    ]


@pytest.mark.parametrize(
    ("column", "problem"),
    [
        ({"values": [0, 1], "labels": ["female"]}, "a word for each of the 2 values"),
        ({"values": [0, 1], "labels": ["male", "male"]}, "names two values alike"),
        ({"low": 0, "high": 1, "labels": ["none"]}, "belongs to a column with values"),
    ],
)
def test_words_that_do_not_fit_the_values_are_refused(column, problem):
    with pytest.raises(InvalidDomain, match=problem):
        Schema.of({"version": 1, "columns": {"sex": column}})


def test_a_column_of_whole_numbers_is_marked_and_the_mark_is_kept():
    columns = {"age": {"low": 0, "high": 110, "whole": True}, "income": {"low": 0, "high": 9}}
    schema = Schema.of({"version": 1, "columns": columns})
    assert schema.whole == ("age",)
    assert Schema.of(schema.to_dict()) == schema
    assert schema.select(["income"]).whole == ()


def test_only_numbers_can_be_whole():
    columns = {"sex": {"values": ["F", "M"], "whole": True}}
    with pytest.raises(InvalidDomain, match=r"sex\.whole belongs to a column with bounds"):
        Schema.of({"version": 1, "columns": columns})
