"""Signatures of releases and of campaigns: who vouches for which bytes."""

import json

import pytest

from shoal.collector import Campaign, draft_campaign, make_key, read_key, sign_document
from shoal.errors import InvalidSetting
from shoal.privacy import MetricDP
from shoal.verify import document_folder, public_key_of, sign_folder, verify_folder

from .test_run import failures, rewritten

pytest.importorskip("cryptography")
FILES = {
    "seeded": "signature.json",
    "synopsis": "signature.json",
    "reports": "reports.parquet.signature.json",
    "table": "released.signature.json",
}


@pytest.fixture
def key(tmp_path):
    make_key(tmp_path / "publisher.key")
    return tmp_path / "publisher.key"


@pytest.mark.parametrize("name", FILES)
def test_a_signed_release_holds_under_its_key_and_no_other(copy_of, key, tmp_path, name):
    folder = copy_of(name)
    assert [path.name for path in sign_folder(folder, key)] == [FILES[name]]
    public = public_key_of(key)
    assert failures(folder, key=public) == []
    assert verify_folder(folder).releases[0].signed_by == public
    other = make_key(tmp_path / "other.key").hex()
    assert any(each.startswith("Signature: ") for each in failures(folder, key=other))


def test_a_release_without_a_signature_fails_only_if_a_key_is_given(releases, key):
    assert failures(releases / "kmeans") == []
    assert failures(releases / "kmeans", key=public_key_of(key)) == [
        "Signature: A key was given, and the release is not signed."
    ]


def test_a_mark_removed_from_every_file_is_caught_by_the_signature(copy_of, key):
    folder = copy_of("synopsis")
    path = folder / "synopsis.json"
    content = json.loads(path.read_text())
    marked = content["guarantee"] | {"simulation": True}
    rewritten(path, simulation=True, guarantee=marked)
    sign_folder(folder, key)
    assert failures(folder) == []
    rewritten(path, simulation=False, guarantee=content["guarantee"])
    found = failures(folder)
    assert "Simulation: The signature and the files do not say the same." in found
    assert "Signature: Another promise was signed." in found


def test_a_file_that_was_not_signed_is_caught(copy_of, key):
    folder = copy_of("kmeans")
    pages = [path for path in folder.iterdir() if path.name.startswith("report")]
    kept = {path: path.read_bytes() for path in pages}
    for path in pages:
        path.unlink()
    sign_folder(folder, key)
    for path, content in kept.items():
        path.write_bytes(content)
    assert any("Not as they were signed: report" in each for each in failures(folder))


def test_what_does_not_hold_is_not_signed(copy_of, key):
    folder = copy_of("synopsis")
    (folder / "cells.parquet").write_bytes(b"")
    with pytest.raises(InvalidSetting, match="does not hold"):
        sign_folder(folder, key)
    assert not (folder / "signature.json").exists()


def test_a_public_key_is_refused_unless_it_is_one(releases):
    with pytest.raises(InvalidSetting, match="no public key"):
        verify_folder(releases / "kmeans", key="abc")


CAMPAIGN = """
name: A walk
purpose: where people walk
operator: the town
contact: town@example.org
columns: [{name: x, low: 0, high: 1}, {name: y, low: 0, high: 1}]
epsilon: "2"
n_expected: 20000
n_clusters: 2
opens: 2020-01-01T00:00:00Z
closes: 2999-01-01T00:00:00Z
"""


@pytest.fixture
def campaign(tmp_path, key):
    """Return a function that signs a campaign and a model of it into a folder."""

    def made(epsilon="2", **changes):
        folder = tmp_path / "campaign"
        folder.mkdir(exist_ok=True)
        (tmp_path / "campaign.yaml").write_text(CAMPAIGN.replace('"2"', f'"{epsilon}"'))
        private, document = read_key(key), draft_campaign(tmp_path / "campaign.yaml")
        envelope = sign_document("campaign", document, private)
        (folder / "campaign.json").write_text(json.dumps(envelope))
        about = {"format": 1, "type": "model", "centers": [["0.5", "0.5"]]}
        about["campaign"] = Campaign.load(folder / "campaign.json").id.hex()
        model = sign_document("model", about | changes, private)
        (folder / "model.json").write_text(json.dumps(model))
        return folder

    return made


def test_the_documents_of_a_campaign_are_held_against_its_keys(campaign):
    folder = campaign()
    (release,) = verify_folder(folder).releases
    assert failures(folder) == []
    assert release.publisher == "the town"
    assert release.signed_by == Campaign.load(folder / "campaign.json").key.hex()
    assert failures(folder, key=release.signed_by) == []
    other = failures(folder, key="00" * 32)
    assert other == [
        "Signature: The campaign is signed by another key than the one that was given."
    ]
    assert release.guarantee.epsilon == 2


def test_a_campaign_on_a_lattice_is_not_said_to_hide_all_values_alike(tmp_path, key):
    near = 'level: "2"\nradius: "0.2"'
    (tmp_path / "near.yaml").write_text(CAMPAIGN.replace('epsilon: "2"', near))
    document = draft_campaign(tmp_path / "near.yaml")
    folder = tmp_path / "near"
    folder.mkdir()
    envelope = sign_document("campaign", document, read_key(key))
    (folder / "campaign.json").write_text(json.dumps(envelope))
    (release,) = verify_folder(folder).releases
    assert failures(folder) == []
    assert isinstance(release.guarantee, MetricDP)
    assert release.guarantee.epsilon == 10  # for each unit of distance


def test_a_campaign_alone_is_not_documented(campaign):
    folder = campaign()
    with pytest.raises(InvalidSetting, match="a campaign alone") as refused:
        document_folder(folder)
    assert "shoal learn reports.parquet" in str(refused.value)
    assert not (folder / "documents.json").exists()


def test_a_model_of_another_campaign_is_caught(campaign):
    folder = campaign(campaign="00" * 16)
    assert failures(folder) == ["Campaign: Not of this campaign, or signed by others: model.json."]


def test_a_campaign_changed_after_it_was_signed_is_caught(campaign):
    other = json.loads((campaign(epsilon="1") / "campaign.json").read_text())
    folder = campaign()
    signed = json.loads((folder / "campaign.json").read_text())
    signed["payload"] = other["payload"]
    (folder / "campaign.json").write_text(json.dumps(signed))
    assert any("not signed by the key it names" in each for each in failures(folder))
