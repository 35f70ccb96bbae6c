import pickle
import subprocess
import sys

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from shoal.domain import Box, Categories, Schema
from shoal.errors import InvalidSchema, UnknownBounds

FULL = """
version: 1
columns:
  age: {low: 0, high: 110}
  sex: {values: [F, M], other: bucket, weight: 2}
  visits: {low: 0, high: 20.5, weight: 0.5}
entity: student
max_rows_per_person: 3
"""


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
    assert (schema.entity, schema.max_rows_per_person) == ("student", 3)


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
    with pytest.raises(InvalidSchema) as caught:
        Schema.load(path)
    message = str(caught.value)
    for part in ("bad.yaml has 3 problems", "columns.age", "columns.sex.vals", "'values'"):
        assert part in message


def test_an_empty_file_is_no_schema(tmp_path):
    (tmp_path / "empty.yaml").touch()
    with pytest.raises(InvalidSchema, match="no mapping"):
        Schema.load(tmp_path / "empty.yaml")


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


@given(st.dictionaries(NAMES, BOUNDED | LISTED, min_size=1, max_size=5))
def test_any_good_schema_survives_the_round_trip(columns):
    schema = Schema.of({"version": 1, "columns": columns})
    assert schema.columns == tuple(columns)
    assert set(schema.bounds) | set(schema.categories) == set(columns)
    assert Schema.of(schema.to_dict()) == schema
