import pytest

from shoal.engine.spark._files import (
    _ArrowFiles,
    _HadoopFiles,
    digest_of,
    files_of,
    hidden_name_beside,
    is_at_or_below,
    uri_of,
)
from shoal.errors import CannotWrite


@pytest.mark.parametrize("kind", [files_of, _HadoopFiles, lambda session: _ArrowFiles()])
def test_files_are_written_renamed_and_removed(spark, tmp_path, kind):
    tmp_path = tmp_path / "a 100%25 folder"  # as it stands: Hadoop decodes nothing in a name
    files, uri = kind(spark), f"file://{tmp_path}"
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
    with pytest.raises(CannotWrite, match="a nowhere path"):
        _ArrowFiles().exists("nowhere://a/b")


@pytest.mark.parametrize("kind", [files_of, _HadoopFiles, lambda session: _ArrowFiles()])
def test_folders_are_copied_there_and_back(spark, tmp_path, kind):
    files, uri = kind(spark), tmp_path.as_uri()
    near, back = (tmp_path / f"{name} für 50%" for name in ("near", "back"))
    (near / "below").mkdir(parents=True)
    (near / "below" / "cells").write_bytes(bytes(range(256)))
    (near / "about").write_text("above")
    (tmp_path / "far").mkdir()
    files.upload(near, f"{uri}/far/model")
    files.download(f"{uri}/far/model", back)
    assert (back / "below" / "cells").read_bytes() == bytes(range(256))
    assert (back / "about").read_text() == "above"


def test_the_digest_of_a_folder_is_that_of_its_files_in_any_order(spark, tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    for folder, names in (("a", ("1", "2")), ("b", ("2", "1"))):
        for name, content in zip(names, ("x", "y"), strict=True):
            (tmp_path / folder / name).write_text(content)
    one, other = (digest_of(spark, (tmp_path / folder).as_uri()) for folder in "ab")
    (tmp_path / "b" / "1").write_text("z")
    assert one == other != digest_of(spark, (tmp_path / "b").as_uri())


def test_a_path_without_a_scheme_is_on_this_machine(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert uri_of("rows.csv") == f"file://{tmp_path}/rows.csv"
    assert uri_of("s3a://bucket/rows") == "s3a://bucket/rows"
    assert hidden_name_beside("hdfs://names/a/b").startswith("hdfs://names/a/.shoal-")
    assert hidden_name_beside("b/").startswith(".shoal-")


@pytest.mark.parametrize(
    ("file", "uri"),
    [
        ("hdfs://names:8020/visits/part-0", "hdfs:///visits"),
        ("hdfs://names:8020/visits/part-0", "hdfs://names/visits/"),
        ("file:/data/my%20rows.csv", "file:///data/my rows.csv"),
        ("file:///data/100%25.csv", "file:/data/100%.csv"),
    ],
)
def test_a_place_is_known_by_all_its_names(file, uri):
    assert is_at_or_below(file, uri)


def test_other_places_are_told_apart(tmp_path):
    assert not is_at_or_below("s3a://mine/visits", "s3a://yours/visits")
    assert not is_at_or_below("file:/data/visits-2025", "file:///data/visits")
    assert not is_at_or_below("hdfs://names/visits", "viewfs://names/visits")
    (tmp_path / "visits").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "visits")
    assert is_at_or_below(f"file:{tmp_path}/link/part-0", f"file://{tmp_path}/visits")
