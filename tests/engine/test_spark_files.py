import pytest

from shoal.engine.spark_files import _Arrow, _Hadoop, files_of
from shoal.errors import CannotWrite


@pytest.mark.parametrize("kind", [files_of, _Hadoop, lambda session: _Arrow()])
def test_files_are_written_renamed_and_removed(spark, tmp_path, kind):
    files, uri = kind(spark), tmp_path.as_uri()
    files.make_private(f"{uri}/.part")
    assert (tmp_path / ".part").stat().st_mode & 0o077 == 0
    files.write(f"{uri}/.part/page", "grüezi", private=True)
    assert (tmp_path / ".part" / "page").stat().st_mode & 0o077 == 0
    assert not files.exists(f"{uri}/table")
    (tmp_path / "table").mkdir()
    (tmp_path / "table" / "old").touch()
    files.rename(f"{uri}/.part", f"{uri}/table")
    assert not (tmp_path / "table" / "old").exists()
    assert (tmp_path / "table" / "page").read_text(encoding="utf-8") == "grüezi"
    assert files.exists(f"{uri}/table")
    files.delete(f"{uri}/table")
    files.delete(f"{uri}/table")
    assert not files.exists(f"{uri}/table")


def test_a_place_a_connect_client_cannot_reach_is_named():
    with pytest.raises(CannotWrite, match="A nowhere path came"):
        _Arrow().exists("nowhere://a/b")
