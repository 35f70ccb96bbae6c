import pyarrow as pa

from shoal.engine.named import plain_names, plainly_named


def test_columns_get_plain_names_and_categories_are_written_out():
    batch = pa.record_batch(
        {"age": [1, 2], "sex": pa.array(["F", "M"]).dictionary_encode(), "id": ["7.0", "NA"]}
    )
    named = plainly_named(batch, ["sex", "age"], "id")
    assert named.to_pydict() == {"c0": ["F", "M"], "c1": [1, 2], "owner": ["7", None]}
    assert named.schema.field("c0").type == pa.string()


def test_there_is_an_owner_only_where_one_is_asked_for():
    assert plain_names(["a"], None) == ["c0"]
