from types import SimpleNamespace

import pyarrow as pa
import pytest

from shoal.data.untyped_cells import UNTYPED, cells_of
from shoal.engine.spark._schema import ddl_of, empty_batch, nearest_spark_schema
from shoal.errors import InvalidSetting


class Frame:
    """As much of a Spark frame as is asked."""

    dtypes = (
        ("age", "double"),
        ("cost", "decimal(10,2)"),
        ("name", "varchar(20)"),
        ("visits", "array<int>"),
        ("nothing", "void"),
    )
    schema = (SimpleNamespace(name="name", metadata=UNTYPED),)


def test_no_rows_come_in_the_kinds_that_tasks_get():
    schema = empty_batch(Frame(), ["cost", "age", "name", "visits", "nothing"]).schema
    kinds = schema.types
    assert [cells_of(field) for field in schema][1:3] == ["typed", "untyped"]
    assert pa.types.is_decimal(kinds[0])
    assert kinds[1:3] == [pa.float64(), pa.string()]
    assert pa.types.is_nested(kinds[3])
    assert kinds[4] == pa.null()


def test_whole_numbers_without_a_sign_get_the_next_wider_kind():
    schema = pa.schema([("bit", pa.uint8()), ("odd `name`", pa.string())])
    assert ddl_of(nearest_spark_schema(schema)) == "`bit` smallint, `odd ``name``` string"


def test_kinds_that_spark_does_not_have_are_refused_by_name():
    with pytest.raises(InvalidSetting, match="uint64"):
        nearest_spark_schema(pa.schema([("n", pa.uint64())]))
