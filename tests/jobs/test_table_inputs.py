"""What verbs that read rows share."""

import io
import stat
import sys
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal.domain import Box, Schema
from shoal.errors import InvalidBudget, InvalidSetting, UnknownBounds
from shoal.jobs._table_inputs import (
    box_of,
    budget_of,
    chosen_columns,
    schema_of,
    split_commas,
    table_file,
)


def test_standard_input_waits_in_a_file_of_its_owner_alone_and_goes(monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"age\n31\n")))
    with table_file("-") as name:
        file = Path(name)
        assert file.read_bytes() == b"age\n31\n"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert not file.exists()


def test_a_path_is_itself():
    with table_file("rows.csv") as name:
        assert name == "rows.csv"


def test_a_budget_has_no_default():
    assert budget_of("0.5", "release") == "0.5"
    with pytest.raises(InvalidBudget, match="epsilon is missing") as caught:
        budget_of(None, "release")
    assert "one release" in caught.value.hint


def test_bounds_are_asked_for_not_read_from_the_rows():
    with pytest.raises(UnknownBounds, match="the public bounds, is missing") as caught:
        schema_of(None)
    assert "domain" in caught.value.hint


def test_columns_are_those_asked_for_once_each_or_all():
    assert chosen_columns(None, ("a", "b"), None) == ("a", "b")
    assert chosen_columns(" b, a,,b ", ("a", "b"), None) == ("b", "a")
    with pytest.raises(UnknownBounds, match=r"'c' of 2 columns is not in d\.yaml"):
        chosen_columns("a,c", ("a", "b"), Path("d.yaml"))
    assert split_commas("x , y") == ("x", "y")


AGE, SEX = {"low": 0, "high": 110}, {"values": ["F", "M"]}


def schema(**columns):
    return Schema.of({"version": 1, "columns": columns})


def test_numbers_are_taken_in_the_order_of_the_domain_or_as_asked():
    two = schema(age=AGE, visits=AGE)
    assert box_of(two, None, None).names == ("age", "visits")
    assert box_of(two, "visits,age", None).names == ("visits", "age")


def test_a_domain_with_categories_needs_its_numbers_chosen():
    mixed = schema(sex=SEX, age=AGE)
    for columns in (None, "age,sex", "sex"):
        with pytest.raises(InvalidSetting, match="'sex' holds categories") as caught:
            box_of(mixed, columns, None)
        assert "columns='age';" in caught.value.hint
    assert box_of(mixed, "age", None) == Box(age=(0, 110))


@pytest.mark.parametrize("columns", [None, "sex"])
def test_a_domain_of_categories_alone_has_no_columns_to_choose(columns):
    with pytest.raises(InvalidSetting, match="'sex' holds categories") as caught:
        box_of(schema(sex=SEX), columns, None)
    assert "low and high" in caught.value.hint


def test_a_map_beside_categories_is_chosen_whole():
    places = {"lat": {"low": 40, "high": 41}, "lon": {"low": -75, "high": -73}, "kind": SEX}
    geo = {"latitude": "lat", "longitude": "lon"}
    city = Schema.of({"version": 1, "columns": places, "geo": geo})
    with pytest.raises(InvalidSetting, match="'kind' holds categories"):
        box_of(city, None, None)
    assert box_of(city, "lat,lon", None) == city.box


def test_numbers_written_otherwise_are_for_text_alone(tmp_path):
    pq.write_table(pa.table({"age": [1]}), tmp_path / "t.parquet")
    with (
        pytest.raises(InvalidSetting, match="CSV"),
        table_file(str(tmp_path / "t.parquet"), "1.234,5"),
    ):
        pass
