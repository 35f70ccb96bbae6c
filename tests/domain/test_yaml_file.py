import pytest

from shoal.domain.yaml_file import read_yaml
from shoal.errors import InvalidSchema


def _read(tmp_path, content):
    path = tmp_path / "domain.yaml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_yaml(path)


def test_yaml_and_json_are_read(tmp_path):
    assert _read(tmp_path, "a: 1\nb: [x, y]") == {"a": 1, "b": ["x", "y"]}
    assert _read(tmp_path, '{"a": 1}') == {"a": 1}
    assert _read(tmp_path, b"\xef\xbb\xbfa: 1") == {"a": 1}


BAD = {
    "a key given twice": ("a: 1\nb: 2\na: 3\n", "line 3.*'a' is given twice"),
    "a key given twice below": ("a: {b: 1, b: 2}", "'b' is given twice"),
    "a tab": ("a:\n\tb: 1", "line 2"),
    "an open bracket": ("a: [1, 2", "is no YAML"),
    "an object": ("a: !!python/object:os.system x", "is no YAML"),
    "a mapping as key": ("{a: 1}: 2", "is no YAML"),
    "other bytes": (b"\xff\xfe\x00a", "is no YAML"),
}


@pytest.mark.parametrize("kind", BAD)
def test_what_is_no_plain_yaml_is_refused_with_its_line(kind, tmp_path):
    content, message = BAD[kind]
    with pytest.raises(InvalidSchema, match=message):
        _read(tmp_path, content)


def test_anchors_and_merges_still_work(tmp_path):
    text = "base: &b {low: 0, high: 1}\nx: {<<: *b, high: 2}\n"
    assert _read(tmp_path, text)["x"] == {"low": 0, "high": 2}


@pytest.mark.parametrize("name", ["none.yaml", "."])
def test_a_file_that_cannot_be_read_is_named(name, tmp_path):
    with pytest.raises(InvalidSchema, match="cannot be read"):
        read_yaml(tmp_path / name)
