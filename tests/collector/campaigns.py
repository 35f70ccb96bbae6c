"""Campaigns for the tests, signed by a key that is no secret."""

import base64
import hashlib

import pytest

from shoal.collector import client

ed25519 = pytest.importorskip(
    "cryptography.hazmat.primitives.asymmetric.ed25519",
    reason="cryptography is not installed; pip install 'shoal[collector]'",
)

PRIVATE_KEY = ed25519.Ed25519PrivateKey.from_private_bytes(hashlib.sha256(b"tests").digest())
PUBLIC_KEY = PRIVATE_KEY.public_key().public_bytes_raw()


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
    signature = PRIVATE_KEY.sign(b"shoal.%s.1\n" % kind.encode() + payload)
    parts = {"payload": payload, "signature": signature, "key": PUBLIC_KEY}
    return {name: base64.b64encode(part).decode() for name, part in parts.items()}
