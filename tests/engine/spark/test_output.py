import pytest

from shoal.engine.spark._output import folder_output
from shoal.errors import AlreadyExists, CannotWrite, InvalidSetting


@pytest.fixture
def frame(spark, tmp_path):
    spark.range(5).write.parquet(str(tmp_path / "rows.parquet"))
    return spark.read.parquet(str(tmp_path / "rows.parquet"))


def put(frame, path, text="{}", **settings):
    with folder_output(frame, str(path), ".json", settings.get("overwrite", False)) as place:
        frame.write.parquet(place.made)
        digest = place.digest()
        place.finish(text)
    return digest


def test_a_table_and_the_text_beside_it_get_their_names_together(frame, tmp_path):
    path = tmp_path / "noisy.parquet"
    assert len(put(frame, path)) == 64
    assert (tmp_path / "noisy.parquet.json").read_text() == "{}"
    assert not list(tmp_path.glob(".shoal-*"))
    with pytest.raises(AlreadyExists):
        put(frame, path)
    put(frame, path, "new", overwrite=True)
    assert (tmp_path / "noisy.parquet.json").read_text() == "new"


def half_written(frame, path):
    with folder_output(frame, str(path), ".json", overwrite=False) as place:
        frame.write.parquet(place.made)
        raise ZeroDivisionError


def test_what_is_not_finished_leaves_nothing_behind(frame, tmp_path):
    with pytest.raises(ZeroDivisionError):
        half_written(frame, tmp_path / "noisy.parquet")
    assert {file.name for file in tmp_path.iterdir()} == {"rows.parquet"}


def test_neither_the_table_itself_nor_a_pattern_is_written_to(frame, tmp_path):
    with pytest.raises(InvalidSetting, match="overwrite the table"):
        put(frame, tmp_path / "rows.parquet", overwrite=True)
    with pytest.raises(CannotWrite, match="pattern"):
        put(frame, tmp_path / "noisy[1].parquet")
