"""Batches as they come over the wire: read whole, or refused with a status."""

import base64
import json

import pytest

from shoal.collector._report_batches import BINARY, JSON, Batch, WireError, parse_batch, who_of
from shoal.collector.client import batch_of

CAMPAIGN = bytes(range(16))
KEYS = [bytes([i]) * 16 for i in range(3)]


def test_a_batch_comes_back_as_it_was_sent():
    body = batch_of(CAMPAIGN, 2, [(key, i) for i, key in enumerate(KEYS)])
    assert len(body) == 24 + 20 * 3
    assert parse_batch(body, BINARY, CAMPAIGN) == Batch(2, KEYS, [0, 1, 2])
    lines = [[base64.b64encode(key).decode(), i] for i, key in enumerate(KEYS)]
    document = {"campaign": CAMPAIGN.hex(), "round": 2, "reports": lines}
    body = json.dumps(document).encode()
    assert parse_batch(body, f"{JSON}; charset=utf-8", CAMPAIGN) == Batch(2, KEYS, [0, 1, 2])


def test_refusals_name_a_status_and_quote_nothing():
    body = batch_of(CAMPAIGN, 0, [(b"secretsecretsecr", 7)])
    for content, kind, status in [
        (body + b"x", BINARY, 400),
        (body, "text/html", 415),
        (body, JSON, 400),
        (b"SHR1" + bytes(16) + body[20:], BINARY, 404),
    ]:
        with pytest.raises(WireError) as error:
            parse_batch(content, kind, CAMPAIGN)
        assert error.value.status == status
        assert "secret" not in error.value.reason


def test_who_is_a_hash_of_the_key():
    assert len(who_of(KEYS[0])) == 16
    assert who_of(KEYS[0]) != KEYS[0]
    assert who_of(KEYS[0]) != who_of(KEYS[1])
