"""The author's file, its signature, and what no client would take."""

import base64
import json
import stat

import pytest

from shoal.collector import client
from shoal.errors import AlreadyExists, InvalidSetting

from .campaigns import PUBLIC_KEY, SECRET, sign
from .conftest import MISSING

pytest.importorskip("cryptography", reason=f"cryptography is {MISSING}")

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from shoal.collector.campaign import (
    Campaign,
    draft_campaign,
    make_key,
    mechanism_of,
    read_key,
    sign_document,
)

YAML = """
name: a walk
purpose: Where people walk.
operator: The town
contact: town@example.org
columns:
  - {name: x, low: 0, high: 1, unit: km}
  - {name: y, low: -3.5, high: 110}
epsilon: "1"
n_expected: 20000
n_clusters: 5
opens: 2026-11-01T00:00:00Z
closes: 2027-11-01T00:00:00Z
"""


def draft(tmp_path, text=YAML):
    path = tmp_path / "campaign.yaml"
    path.write_text(text)
    return draft_campaign(path)


def test_grid_and_oracle_are_chosen_by_the_author(tmp_path):
    document = draft(tmp_path)
    (only,) = document["rounds"]
    question = only["question"]
    assert question["cells"] == [15, 15]
    assert question["columns"] == [["0.0", "1.0"], ["-3.5", "110.0"]]
    assert question["oracle"] == {"name": "local_hash", "buckets": 3, "digits": 5, "size": 225}
    mechanism = mechanism_of(question, ["x", "y"])
    assert mechanism.domain.names == ("x", "y")
    assert document["enrolment"] == "token"


def test_three_rounds_and_categories(tmp_path):
    rounds = draft(tmp_path, YAML + "rounds: 3\n")["rounds"]
    assert [one["share"] for one in rounds] == [2**31, 2**30, 2**30]
    assert [one["question"] for one in rounds[1:]] == ["later", "later"]
    start, end = YAML.index("columns"), YAML.index("epsilon")
    document = draft(tmp_path, YAML[:start] + "categories: [bus, bike, foot]\n" + YAML[end:])
    assert document["categories"] == ["bus", "bike", "foot"]
    assert document["rounds"][0]["question"]["oracle"]["size"] == 3


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("name: a walk", "title: a walk"),
        ('epsilon: "1"', 'epsilon: "1e1"'),
        ('epsilon: "1"', "epsilon: 21"),
        ('epsilon: "1"', "epsilon: -1"),
        ("low: 0, high: 1", "low: 1, high: 1"),
        ("low: 0, high: 1", "low: 0, high: .inf"),
        ("low: 0, high: 1", "low: a, high: 1"),
        ("n_clusters: 5", "n_clusters: 0"),
        ("n_clusters: 5", "n_clusters: five"),
        ("closes: 2027-11-01T00:00:00Z", "closes: tomorrow"),
        ("closes: 2027-11-01T00:00:00Z", "closes: 2020-11-01T00:00:00Z"),
        ("purpose: Where people walk.", "purpose: " + "x" * 201),
        ("contact: town@example.org", "contact: t\nsetting: central"),
        ("contact: town@example.org", "contact: t\nrounds: 2"),
        ("contact: town@example.org", "contact: t\nenrolment: none"),
    ],
)
def test_what_no_client_would_take_is_refused_at_once(tmp_path, old, new):
    assert old in YAML
    with pytest.raises((InvalidSetting, ValueError)):
        draft(tmp_path, YAML.replace(old, new))


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
    envelope = sign_document("campaign", draft(tmp_path), private)
    path.write_text(json.dumps(envelope))
    campaign = Campaign.load(path)
    assert campaign.names == ["x", "y"]
    assert campaign.has_tokens
    payload = base64.b64decode(envelope["payload"]).replace(b'"epsilon":"1"', b'"epsilon":"2"')
    path.write_text(json.dumps({**envelope, "payload": base64.b64encode(payload).decode()}))
    with pytest.raises(InvalidSetting):
        Campaign.load(path)
    path.write_text("{}")
    with pytest.raises(InvalidSetting):
        Campaign.load(path)
