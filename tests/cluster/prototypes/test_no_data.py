from shoal.cluster.prototypes._no_data import even_rows
from shoal.domain import Schema

SCHEMA = Schema.of(
    {
        "version": 1,
        "columns": {"x": {"low": 5, "high": 6}, "c": {"values": ["a", "b"]}},
        "entity": "id",
    }
)


def test_rows_are_spread_over_the_schema():
    rows = even_rows(SCHEMA, 400, 1)
    assert rows.column_names == ["x", "c", "id"]
    assert 5 <= min(rows["x"].to_pylist()) < max(rows["x"].to_pylist()) <= 6
    assert 150 < rows["c"].to_pylist().count("a") < 250
    assert len(set(rows["id"].to_pylist())) == 400
