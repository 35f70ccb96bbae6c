"""Campaigns for the tests, signed by a key that is no secret."""

import base64
import hashlib

from shoal.collector import client

SECRET = hashlib.sha256(b"tests").digest()


def _encode(point):
    x, y, z, _ = point
    inverse = pow(z, -1, client._P)
    x, y = x * inverse % client._P, y * inverse % client._P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def sign(message, secret=SECRET):
    """Sign as RFC 8032 says, so that tests of the client need no other package."""
    digest = hashlib.sha512(secret).digest()
    scalar = int.from_bytes(digest[:32], "little") & (2**254 - 8) | 2**254
    public = _encode(client._times(scalar, client._BASE))
    nonce = int.from_bytes(hashlib.sha512(digest[32:] + message).digest(), "little") % client._L
    first = _encode(client._times(nonce, client._BASE))
    h = int.from_bytes(hashlib.sha512(first + public + message).digest(), "little")
    return first + ((nonce + h * scalar) % client._L).to_bytes(32, "little")


_DIGEST = hashlib.sha512(SECRET).digest()
_SCALAR = int.from_bytes(_DIGEST[:32], "little") & (2**254 - 8) | 2**254
PUBLIC_KEY = _encode(client._times(_SCALAR, client._BASE))


def campaign_document(**changes):
    epsilon = changes.get("epsilon", "2")
    question = {
        "mechanism": "local_grid",
        "epsilon": epsilon,
        "columns": [["0.0", "1.0"], ["0.0", "1.0"]],
        "cells": [15, 15],
        "oracle": {"name": "local_hash", "buckets": 7, "digits": 3, "size": 225},
    }
    return {
        "format": 1,
        "type": "campaign",
        "name": "a walk",
        "purpose": "where people walk",
        "operator": "the town",
        "contact": "town@example.org",
        "columns": [
            {"name": "x", "low": "0.0", "high": "1.0", "unit": ""},
            {"name": "y", "low": "0.0", "high": "1.0", "unit": ""},
        ],
        "epsilon": epsilon,
        "n_expected": 20_000,
        "n_clusters": 2,
        "rounds": [{"share": 2**32, "question": question}],
        "opens": "2020-01-01T00:00:00Z",
        "closes": "2999-01-01T00:00:00Z",
        "epoch_seconds": 3600,
        "setting": "local",
        "enrolment": "open",
        "addresses": [],
        **changes,
    }


def envelope_of(kind, document=None, payload=None):
    payload = client.canonical(document) if payload is None else payload
    signature = sign(b"shoal.%s.1\n" % kind.encode() + payload)
    parts = {"payload": payload, "signature": signature, "key": PUBLIC_KEY}
    return {name: base64.b64encode(part).decode() for name, part in parts.items()}
