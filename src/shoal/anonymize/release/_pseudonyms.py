"""Replace identifiers by pseudonyms that nobody can compute without the key."""

import hmac
import os
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.anonymize._policy import Attribute, Policy
from shoal.errors import KeyMissing

_LEAST_BYTES = 32


def keys_of(policy: Policy) -> dict[str, bytes]:
    """Read the key of each column that gets pseudonyms, from the environment or a private file."""
    hashed = {n: policy.attributes[n] for n in policy.names("identifier")}
    return {n: _key(policy, n, of) for n, of in hashed.items() if of.action == "hmac"}


def pseudonyms(name: str, values: Any, key: bytes) -> pa.Array:
    r"""HMAC-SHA-256 of the column's name, a zero byte and the value, as hexadecimal text.

    Unlike a plain hash, it cannot be inverted by trying all identifiers without the key. Nulls stay
    null. Use a new key for every release: with an old one, releases link.

    Parameters
    ----------
    values
        Its values as text, e.g. from ``shoal.data.encode.encode_owners``.
    key
        At least 32 random bytes.

    Examples
    --------
    >>> tokens = pseudonyms("id", pa.array(["7", None, "7"]), b"k" * 32)
    >>> tokens[0] == tokens[2], tokens[1].as_py(), len(tokens[0].as_py())
    (True, None, 64)
    """
    encoded = values.dictionary_encode()
    start = name.encode() + b"\0"
    tokens = [
        hmac.digest(key, start + value.encode(), "sha256").hex()
        for value in encoded.dictionary.to_pylist()
    ]
    return pa.array(tokens, pa.string()).take(encoded.indices)


def _key(policy: Policy, name: str, of: Attribute) -> bytes:
    if of.key_env is not None:
        where, key = f"the variable {of.key_env}", _from_environment(of.key_env)
    else:
        where, key = "its key file", _from_file(policy.path(str(of.key_file)), name)
    if len(key) < _LEAST_BYTES:
        raise KeyMissing(
            f"Column {name!r} needs a key of at least {_LEAST_BYTES} bytes; {where} has "
            f"{len(key)}.",
            'Make a new one for this release, e.g. python -c "import secrets; '
            'print(secrets.token_hex(32))".',
        )
    return key


def _from_environment(variable: str) -> bytes:
    return _decoded(os.environ.get(variable, "").encode())


def _from_file(path: Path, name: str) -> bytes:
    try:
        if os.name == "posix" and path.stat().st_mode & 0o077:
            raise KeyMissing(
                f"The key file of column {name!r} can be read by other users than its owner.",
                "Restrict it with chmod 600.",
            )
        return _decoded(path.read_bytes().strip())
    except OSError as error:
        raise KeyMissing(
            f"The key file of column {name!r} cannot be read: {error.strerror}.", "Check its path."
        ) from None


def _decoded(written: bytes) -> bytes:
    """Decode hexadecimal digits, two for each byte."""
    try:
        return bytes.fromhex(written.decode())
    except ValueError:
        return written
