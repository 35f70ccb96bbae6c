import json
from pathlib import Path

import numpy as np
import pytest

from shoal.documents import (
    DEEPEST,
    has_own_digest,
    json_text,
    parse_json,
    read_yaml,
    with_digest,
)
from shoal.errors import InvalidDomain


def _read(tmp_path, content):
    path = tmp_path / "domain.yaml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_yaml(path)


def test_yaml_and_json_are_read(tmp_path):
    assert _read(tmp_path, "a: 1\nb: [x, y]") == {"a": 1, "b": ["x", "y"]}
    assert _read(tmp_path, '{"a": 1}') == {"a": 1}
    assert _read(tmp_path, b"\xef\xbb\xbfa: 1") == {"a": 1}


BAD = {
    "a key given twice": ("a: 1\nb: 2\na: 3\n", "line 3.*a key is given twice"),
    "a key given twice below": ("a: {b: 1, b: 2}", "a key is given twice"),
    "a tab": ("a:\n\tb: 1", "line 2"),
    "an open bracket": ("a: [1, 2", "is not (valid )?YAML"),
    "an object": ("a: !!python/object:os.system x", "is not (valid )?YAML"),
    "a mapping as key": ("{a: 1}: 2", "is not (valid )?YAML"),
    "other bytes": (b"\xff\xfe\x00a", "is not (valid )?YAML"),
}


@pytest.mark.parametrize("kind", BAD)
def test_what_is_no_plain_yaml_is_refused_with_its_line(kind, tmp_path):
    content, message = BAD[kind]
    with pytest.raises(InvalidDomain, match=message, check=lambda error: error.reason == "file"):
        _read(tmp_path, content)


def test_anchors_and_merges_still_work(tmp_path):
    text = "base: &b {low: 0, high: 1}\nx: {<<: *b, high: 2}\n"
    assert _read(tmp_path, text)["x"] == {"low": 0, "high": 2}


@pytest.mark.parametrize("name", ["none.yaml", "."])
def test_a_file_that_cannot_be_read_is_named(name, tmp_path):
    with pytest.raises(
        InvalidDomain, match="cannot be read", check=lambda error: error.reason == "file"
    ):
        read_yaml(tmp_path / name)


def nested(levels):
    return "[" * levels + "]" * levels


@pytest.mark.heavy
@pytest.mark.parametrize("levels", [DEEPEST + 1, 900, 100_000])
def test_what_nests_too_deeply_is_refused_by_name(levels, tmp_path):
    with pytest.raises(
        InvalidDomain,
        match=f"nested more than {DEEPEST} levels",
        check=lambda error: error.reason == "file",
    ):
        _read(tmp_path, nested(levels))
    with pytest.raises(ValueError, match=f"nested more than {DEEPEST} levels"):
        parse_json(nested(levels))


def test_what_nests_deeply_enough_is_read(tmp_path):
    assert parse_json(nested(DEEPEST)) == _read(tmp_path, nested(DEEPEST))


def test_a_few_lines_that_stand_for_billions_of_values_are_refused(tmp_path):
    lines = ["a0: &a0 [x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12)]
    with pytest.raises(
        InvalidDomain,
        match=r"aliases expand to more than 1,000,000 values",
        check=lambda error: error.reason == "file",
    ):
        _read(tmp_path, "\n".join(lines))


def test_an_alias_of_what_it_lies_in_is_refused(tmp_path):
    with pytest.raises(
        InvalidDomain,
        match="an alias refers to the value that contains it",
        check=lambda error: error.reason == "file",
    ):
        _read(tmp_path, "a: &a {b: *a}")


UNUSABLE = {
    "a day that is none": "a: 2001-99-99",
    "a tagged number": "a: !!int CANARY",
    "a tagged truth": "a: !!bool CANARY",
    "a tagged time": "a: !!timestamp CANARY",
    "too many digits": "a: " + "9" * 6_000,
    "too large a number": "a: " + "9" * 400,
    "half a character": '"\\ud800": 1',
    "an alias of nothing": "a: *CANARY",
    "a tag": "a: !x'CANARY' 1",
    "a name twice": "CANARY: 1\nCANARY: 2",
    "an escape": '"\\qCANARY"',
}


@pytest.mark.parametrize("kind", UNUSABLE)
def test_what_cannot_be_used_is_refused_without_a_word_of_it(kind, tmp_path):
    with pytest.raises(InvalidDomain, check=lambda error: error.reason == "file") as caught:
        _read(tmp_path, UNUSABLE[kind])
    assert "CANARY" not in str(caught.value)
    assert "99" not in caught.value.message.replace(str(tmp_path), "")


@pytest.mark.parametrize("text", ['{"CANARY"', "9" * 6_000, "9" * 400, '["\\ud800"]', ""])
def test_json_that_cannot_be_used_is_a_value_error_without_a_word_of_it(text):
    with pytest.raises(ValueError, match=r"^it ") as caught:
        parse_json(text)
    assert "CANARY" not in str(caught.value)


def test_a_tab_is_named(tmp_path):
    with pytest.raises(
        InvalidDomain,
        match=r"'\\t' that cannot start any token",
        check=lambda error: error.reason == "file",
    ):
        _read(tmp_path, "a:\n\tb: 1")


def test_values_are_made_plain_before_they_are_written():
    values = {"a": np.float64("inf"), "b": (np.int64(3), np.bool_(False)), 4: {"c": Path("d")}}
    assert json.loads(json_text(values)) == {"a": None, "b": [3, False], "4": {"c": "d"}}
    assert json_text({"name": "Ørsted"}) == '{\n "name": "Ørsted"\n}\n'


def test_a_document_knows_whether_it_is_as_it_was_written():
    written = with_digest({"epsilon": "1", "cells": (3, 4), "mean": float("nan"), "at": 0.1})
    again = parse_json(json.dumps(written))
    assert has_own_digest(again) is True
    assert has_own_digest({**again, "epsilon": "2"}) is False
    assert has_own_digest({**again, "more": 1}) is False
    assert has_own_digest({"epsilon": "1"}) is None
