import pytest

from shoal.engine.spark_java import check_java
from shoal.errors import JavaMissing


def a_java(folder, words):
    program = folder / "bin" / "java"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho '{words}' >&2\n")
    program.chmod(0o755)
    return str(folder)


@pytest.mark.parametrize("words", ['openjdk version "17.0.15"', 'java version "21"', "who knows"])
def test_a_new_java_or_one_that_does_not_say_is_taken(tmp_path, monkeypatch, words):
    monkeypatch.setenv("JAVA_HOME", a_java(tmp_path, words))
    check_java()


@pytest.mark.parametrize(
    ("words", "told"), [('java version "1.8.0_392"', "Java 8"), ('version "11.0.2"', "Java 11")]
)
def test_an_old_java_is_refused_by_its_version(tmp_path, monkeypatch, words, told):
    monkeypatch.setenv("JAVA_HOME", a_java(tmp_path, words))
    with pytest.raises(JavaMissing, match=told) as caught:
        check_java()
    assert caught.value.exit_code == 4


def test_no_java_at_all_is_told(tmp_path, monkeypatch):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(JavaMissing, match="there is none"):
        check_java()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "gone"))
    with pytest.raises(JavaMissing, match="there is none"):
        check_java()
