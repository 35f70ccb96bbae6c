"""Schemas as CSV on the Web: what is written is read again, and others' files are read."""

import json
from datetime import date

import pytest

from shoal.domain import Schema
from shoal.domain._csvw import CONTEXT, EO
from shoal.errors import InvalidDomain

EVERYTHING = {
    "version": 1,
    "columns": {
        "age in years": {"low": 0, "high": 110, "weight": 2.0, "label": "Age", "unit": "years"},
        "_income": {"low": -1.5, "high": 250_000.0, "missing": "flag", "simulation": True},
        "sex": {"values": ["F", "M/X"], "labels": ["female", "other"]},
        "sector": {"values": [1, 2, 3], "other": "bucket", "use": "describe"},
        "since": {"values": [date(2020, 1, 1), date(2021, 1, 1)]},
        "grade": {"levels": ["low", "middle", "high"], "missing": "middle"},
    },
    "person": "pupil",
    "max_rows_per_person": 3,
}


PLACES = {
    "version": 1,
    "columns": {"lat": {"low": 45.0, "high": 48.0}, "lon": {"low": 5.0, "high": 11.0}},
    "geo": {"latitude": "lat", "longitude": "lon"},
}


@pytest.mark.parametrize("content", [EVERYTHING, PLACES], ids=["everything", "places"])
def test_what_is_written_is_read_again_whole(content, tmp_path):
    schema = Schema.of(content)
    path = tmp_path / "table.csv-metadata.json"
    path.write_text(json.dumps(schema.to_csvw("table.csv")))
    assert Schema.load(path) == schema


def test_the_terms_are_those_of_csvw_and_csvw_eo():
    document = Schema.of(EVERYTHING).to_csvw()
    assert document["@context"] == CONTEXT == "http://www.w3.org/ns/csvw"
    assert document[f"{EO}privacyUnit"] == "pupil"
    assert document[f"{EO}maxContributions"] == 3
    columns = {column["titles"]: column for column in document["tableSchema"]["columns"]}
    assert columns["age in years"]["name"] == "age%20in%20years"
    assert "name" not in columns["_income"]  # CSVW keeps names with an underscore to itself
    assert columns["sex"]["datatype"] == {"base": "string", "format": "F|M\\/X"}
    assert columns["sector"][f"{EO}exhaustiveKeys"] is False
    assert columns["pupil"][f"{EO}privacyId"] is True
    standard = {"@context", "@type", "url", "tableSchema", "notes"}
    assert all(key in standard or key.startswith(EO) for key in document)


def test_a_file_in_the_short_names_of_csvw_eo_is_read():
    schema = Schema.of(
        {
            "@context": [CONTEXT, "csvw-eo-context.jsonld"],
            "@type": "Table",
            "privacyUnit": "penguin",
            "maxContributions": 3,
            "tableSchema": {
                "columns": [
                    {"name": "island", "datatype": "string", "keyValues": ["Biscoe", "Dream"]},
                    {"name": "mass", "datatype": "double", "minimum": 2700, "maximum": 6300},
                    {"name": "penguin", "datatype": "integer", "privacyId": True},
                ]
            },
        }
    )
    assert schema.columns == ("island", "mass")
    assert schema.bounds["mass"] == (2700, 6300)
    assert (schema.person, schema.max_rows_per_person) == ("penguin", 3)


def test_columns_without_bounds_are_named():
    columns = [{"name": "note", "datatype": "string"}]
    with pytest.raises(InvalidDomain, match=r"columns\.note has no low and high"):
        Schema.of({"@context": CONTEXT, "url": "a.csv", "tableSchema": {"columns": columns}})


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"tables": []}, "does not describe one table"),
        ({"tableSchema": "columns.json"}, "no columns under tableSchema"),
    ],
)
def test_metadata_of_no_one_table_are_refused(changed, message):
    with pytest.raises(InvalidDomain, match=message):
        Schema.of({"@context": CONTEXT, "url": "a.csv"} | changed)
