"""``shoal collect tokens | enrol | revoke``: who may report, in one database and in a second."""

import stat
from pathlib import Path

import pytest

from shoal.collector import client
from shoal.collector._campaign import Campaign
from shoal.collector._databases import open_store
from shoal.collector._report_batches import who_of
from shoal.collector._storage import Arrival


def accepted(campaign, url, token, purpose="key", number=0):
    store = open_store(url, campaign.id, campaign.envelope, has_tokens=True)
    who = who_of(client.key_of(bytes.fromhex(token), campaign.id, purpose))
    (result,) = store.accept([Arrival(number, [who], [1])], 0)
    store.close()
    return result.accepted


@pytest.mark.heavy
def test_hashes_of_invitations_let_people_report_to_a_second_database(campaign, run):
    second = "sqlite:///second.sqlite"
    (token,) = run("tokens", "campaign.json", 1, "--hashes", "hashes.txt")["tokens"]
    assert accepted(campaign, second, token) == 0
    assert run("enrol", "campaign.json", "hashes.txt", "--db", second)["enrolled"] == 1
    assert accepted(campaign, second, token) == 1
    assert token not in Path("hashes.txt").read_text()
    assert stat.S_IMODE(Path("hashes.txt").stat().st_mode) == 0o600


@pytest.mark.heavy
def test_a_token_is_good_until_it_is_revoked(campaign, run):
    first, other = run("tokens", "campaign.json", 2)["tokens"]
    assert run("revoke", "campaign.json", first)["revoked"]
    assert accepted(campaign, "sqlite:///campaign.sqlite", first) == 0
    assert accepted(campaign, "sqlite:///campaign.sqlite", other) == 1
    assert not run("revoke", "campaign.json", other)["revoked"]  # it has reported


@pytest.mark.heavy
def test_an_invitation_is_revoked_by_its_line_of_hashes_without_its_token(campaign, run):
    first, other = run("tokens", "campaign.json", 2, "--hashes", "hashes.txt")["tokens"]
    lines = Path("hashes.txt").read_text().splitlines()
    assert run("revoke", "campaign.json", lines[0])["revoked"]
    assert accepted(campaign, "sqlite:///campaign.sqlite", first) == 0
    assert accepted(campaign, "sqlite:///campaign.sqlite", other) == 1
    for wrong in ("xyz", "", "abcd"):
        assert "no token" in run("revoke", "campaign.json", wrong)["message"]


@pytest.mark.heavy
def test_one_token_is_one_report_whether_or_not_labels_are_asked_for(campaign, run, yaml, tmp_path):
    (token,) = run("tokens", "campaign.json", 1)["tokens"]
    url = "sqlite:///campaign.sqlite"
    assert accepted(campaign, url, token, "label") == 0
    assert accepted(campaign, url, token) == 1
    (tmp_path / "labels.yaml").write_text(yaml + 'labels: {epsilon: "0.5"}\n')
    run("sign", "labels.yaml")
    labels, url = Campaign.load("labels.json"), "sqlite:///labels.sqlite"
    tokens = run("tokens", "labels.json", 2, "--db", url, "--hashes", "hashes.txt")["tokens"]
    run("enrol", "labels.json", "hashes.txt", "--db", "sqlite:///second.sqlite")
    for place in (url, "sqlite:///second.sqlite"):
        assert accepted(labels, place, tokens[0], "label") == 0
        assert accepted(labels, place, tokens[0], "key", client.LABEL_ROUND) == 0
        assert accepted(labels, place, tokens[0], "label", client.LABEL_ROUND) == 1
        assert accepted(labels, place, tokens[0]) == 1
    assert run("revoke", "labels.json", tokens[1], "--db", url)["revoked"]
    assert accepted(labels, url, tokens[1], "label", client.LABEL_ROUND) == 0


@pytest.mark.heavy
def test_a_file_without_hashes_is_refused(campaign, run, tmp_path):
    (tmp_path / "names.txt").write_text("Ada\n")
    for name in ("names.txt", "nothing.txt"):
        assert "no hashes" in run("enrol", "campaign.json", name)["message"]
