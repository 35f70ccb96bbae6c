"""Signatures, keys, and a signed campaign as it is loaded."""

import base64
import json
import stat

import pytest

from shoal.collector import client
from shoal.errors import AlreadyExists, InvalidSetting

from .campaigns import PUBLIC_KEY, SECRET, campaign_document, sign
from .conftest import MISSING

pytest.importorskip("cryptography", reason=f"cryptography is {MISSING}")

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from shoal.collector._campaign import Campaign, make_key, read_key, sign_document


def document():
    return campaign_document(enrolment="token")


def test_signatures_are_those_that_the_client_and_the_tests_make(tmp_path):
    private = Ed25519PrivateKey.from_private_bytes(SECRET)
    assert private.public_key().public_bytes_raw() == PUBLIC_KEY
    message = b"a message"
    assert private.sign(message) == sign(message)
    assert client.verify(PUBLIC_KEY, message, private.sign(message))


def test_a_key_is_secret_and_is_not_written_over(tmp_path):
    path = tmp_path / "operator.key"
    public = make_key(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(AlreadyExists):
        make_key(path)
    assert read_key(path).public_key().public_bytes_raw() == public
    path.write_text("no key")
    with pytest.raises(InvalidSetting):
        read_key(path)


def test_a_signed_campaign_is_loaded_and_a_changed_one_is_not(tmp_path):
    make_key(tmp_path / "operator.key")
    private = read_key(tmp_path / "operator.key")
    path = tmp_path / "campaign.json"
    envelope = sign_document("campaign", document(), private)
    path.write_text(json.dumps(envelope))
    campaign = Campaign.load(path)
    assert campaign.names == ["x", "y"]
    assert campaign.has_tokens
    payload = base64.b64decode(envelope["payload"]).replace(b'"epsilon":"2"', b'"epsilon":"1"')
    path.write_text(json.dumps({**envelope, "payload": base64.b64encode(payload).decode()}))
    with pytest.raises(InvalidSetting):
        Campaign.load(path)
    path.write_text("{}")
    with pytest.raises(InvalidSetting):
        Campaign.load(path)
