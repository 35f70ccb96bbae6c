import hashlib
import hmac
import os

import pyarrow as pa
import pytest

from shoal.anonymize import Policy
from shoal.anonymize.release._pseudonyms import keys_of, pseudonyms
from shoal.errors import KeyMissing


def policy(tmp_path=".", **how):
    quasi = {"role": "quasi", "hierarchy": {"tree": {"*": ["F", "M"]}}}
    content = {"sex": quasi, "id": {"role": "identifier", "action": "hmac", **how}}
    return Policy.of({"version": 1, "attributes": content, "privacy": {"k": 2}}, tmp_path)


def test_a_pseudonym_is_the_hmac_of_name_zero_and_value():
    key = bytes(range(32))
    wanted = hmac.new(key, b"id\x00" + "é7".encode(), hashlib.sha256).hexdigest()
    assert pseudonyms("id", pa.array(["é7", None]), key).to_pylist() == [wanted, None]


def test_columns_with_one_key_do_not_link():
    key = bytes(range(32))
    assert pseudonyms("a", pa.array(["7"]), key)[0] != pseudonyms("b", pa.array(["7"]), key)[0]


def test_a_key_comes_from_the_environment_as_text_or_hexadecimal(monkeypatch):
    monkeypatch.setenv("RELEASE_KEY", "00ff" * 16)
    assert keys_of(policy(key_env="RELEASE_KEY")) == {"id": b"\x00\xff" * 16}
    monkeypatch.setenv("RELEASE_KEY", "x" * 40)
    assert keys_of(policy(key_env="RELEASE_KEY")) == {"id": b"x" * 40}


@pytest.mark.parametrize("value", [None, "", "short", "ab" * 31])
def test_a_missing_or_short_key_is_refused_and_not_quoted(monkeypatch, value):
    monkeypatch.delenv("RELEASE_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("RELEASE_KEY", value)
    with pytest.raises(KeyMissing) as caught:
        keys_of(policy(key_env="RELEASE_KEY"))
    assert not value or value not in str(caught.value)


@pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX's")
def test_a_key_file_must_be_the_owners_alone(tmp_path):
    (tmp_path / "key").write_bytes(b"k" * 32)
    (tmp_path / "key").chmod(0o644)
    with pytest.raises(KeyMissing, match="chmod 600"):
        keys_of(policy(tmp_path, key_file="key"))
    (tmp_path / "key").chmod(0o600)
    assert keys_of(policy(tmp_path, key_file="key")) == {"id": b"k" * 32}
    with pytest.raises(KeyMissing, match="cannot be read"):
        keys_of(policy(tmp_path, key_file="none"))
