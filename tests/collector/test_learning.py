"""From people's records to groups and back, over the wire; the records never leave."""

import json
import os

import numpy as np
import pytest

from shoal.collector import client, learning
from shoal.errors import InvalidSetting, TooFewRows
from shoal.evaluate import normalised_inertia

from .campaigns import SECRET, campaign_document
from .conftest import MISSING, serving

pytest.importorskip("fastapi", reason=f"fastapi is {MISSING}")
pytest.importorskip("cryptography", reason=f"cryptography is {MISSING}")

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from shoal.collector._campaign import Campaign, sign_document
from shoal.collector._campaign_draft import first_question
from shoal.collector._databases import open_store
from shoal.collector._server import create_app
from shoal.collector._storage import Arrival

PRIVATE = Ed25519PrivateKey.from_private_bytes(SECRET)
MIDDLES = np.array([[0.2, 0.3], [0.7, 0.8], [0.75, 0.2]])


def people_of(n, seed=0):
    rng = np.random.default_rng(seed)
    return MIDDLES[rng.integers(0, 3, n)] + 0.05 * rng.standard_normal((n, 2))


def campaign_of(n, **changes):
    document = campaign_document(n_expected=n, n_clusters=3, **changes)
    shares = (2**31, 2**30, 2**30) if changes.get("rounds") == 3 else (2**32,)
    first = first_question(document | {"columns": document["columns"]}, "auto", shares[0])
    document["rounds"] = [{"share": shares[0], "question": first}] + [
        {"share": share, "question": "later"} for share in shares[1:]
    ]
    envelope = sign_document("campaign", document, PRIVATE)
    return Campaign(envelope, document, client.identity("campaign", client.canonical(document)))


def send_all(address, campaign, people, wire):
    """Draw everybody's report and send them in batches; keeps what went over the wire."""
    words, reports = client.WordStream(), []
    question = campaign.document["rounds"][0]["question"]
    for person in people.tolist():
        key = client.key_of(os.urandom(32), campaign.id)
        reports.append((key, client.draw(question, person, words)))
    for start in range(0, len(reports), 1_000):
        body = client.batch_of(campaign.id, 0, reports[start : start + 1_000])
        wire.append(body)
        assert client.http(address + "/v1/reports", body)[0] == 200


@pytest.mark.heavy
@pytest.mark.parametrize("n", [4_000, pytest.param(20_000, marks=pytest.mark.slow)])
def test_groups_learnt_over_the_wire_are_as_good_as_in_one_process(tmp_path, n):
    from shoal.cluster import LocalClusterer
    from shoal.mechanisms import LocalGrid
    from shoal.randomness import Randomness

    people, campaign, wire = people_of(n), campaign_of(n), []
    people[7] = [0.123456789012345, 0.987654321098765]  # planted, to look for on the wire
    store = open_store(f"sqlite:///{tmp_path / 'a.sqlite'}", campaign.id, campaign.envelope)
    with serving(create_app(campaign, store, reports_per_address=10**9)) as address:
        send_all(address, campaign, people, wire)
        reports = learning.reports_of(campaign, store)
        model = LocalClusterer(3, mechanism=reports.mechanism, random_state=1).fit(reports)
        errors = learning.center_errors(campaign, store, model.cluster_centers_, Randomness(2), 4)
        document = learning.model_document(
            campaign, model.cluster_centers_, model.units_, len(reports), "none", errors
        )
        store.publish("model", 0, sign_document("model", document, PRIVATE))
        person = client.Client(address, campaign.key, client.Notebook(tmp_path / "notebook.json"))
        labels = [person.label(middle) for middle in MIDDLES.tolist()]
        page = client.http(address + "/")[1].decode()
    assert " ± " in page
    assert np.all((errors > 0) & (errors < 0.1))
    assert sorted(labels) == [0, 1, 2]
    assert len(reports) == n
    here = LocalGrid(reports.mechanism.domain, epsilon=2.0, cells=reports.mechanism.cells)
    inner = LocalClusterer(3, mechanism=here, random_state=1).fit(
        here.release(people, Randomness(3).noise)
    )
    control = model.control(n, random_state=1)
    plain = np.array([people[_nearest(people, MIDDLES) == i].mean(axis=0) for i in range(3)])
    ratio = normalised_inertia(people, model.cluster_centers_, plain)
    assert ratio < 1.1 * normalised_inertia(people, inner.cluster_centers_, plain) + 0.05 * (
        n < 20_000
    )
    assert ratio < normalised_inertia(people, control.cluster_centers_, plain)
    planted = [repr(x)[2:10].encode() for x in people[7]] + [x.tobytes() for x in people[7]]
    assert not [part for part in planted for body in wire if part in body]


def _nearest(people, centers):
    return np.argmin(((people[:, None] - centers) ** 2).sum(axis=2), axis=1)


@pytest.mark.heavy
def test_three_rounds_are_closed_one_by_one_and_end_in_centres(tmp_path):
    n = 6_000
    people = people_of(n, seed=1)
    campaign = campaign_of(n, rounds=3)
    store = open_store(f"sqlite:///{tmp_path / 'a.sqlite'}", campaign.id, campaign.envelope)
    keys = [os.urandom(16) for _ in range(n)]
    rounds = [client.round_of(campaign.id, key, campaign.shares) for key in keys]
    words, centers = client.WordStream(), None
    for number in range(3):
        question = learning._question_in(campaign, store, number)
        client.check_question(question, client.exact("2"))
        own = [i for i in range(n) if rounds[i] == number]
        codes = [client.draw(question, people[i].tolist(), words) for i in own]
        store.accept([Arrival(number, [keys[i] for i in own], codes)], 0)
        centers, _ = learning.advance(campaign, store, number, PRIVATE, seed=1)
    assert ("round", 2) in store.documents()
    assert store.accept([Arrival(2, [os.urandom(16)], [0])], 0)[0].problem == "closed"
    store.close()
    nearest = [min(np.linalg.norm(centers - middle, axis=1)) for middle in MIDDLES]
    assert max(nearest) < 0.1


@pytest.mark.heavy
@pytest.mark.parametrize("robust", [False, True])
def test_a_robust_first_round_cuts_the_cell_that_liars_chose(tmp_path, robust):
    campaign = campaign_of(6_000, rounds=3)
    store = open_store(f"sqlite:///{tmp_path / 'a.sqlite'}", campaign.id, campaign.envelope)
    question = campaign.document["rounds"][0]["question"]
    words, sure = client.WordStream(), question | {"epsilon": "20"}  # hardly ever randomised
    codes = [client.draw(question, one, words) for one in people_of(3_000, seed=1).tolist()]
    codes += [client.draw(sure, [0.999, 0.999], words) for _ in range(600)]
    store.accept([Arrival(0, [os.urandom(16) for _ in codes], codes)], 0)
    centers, capped = learning.advance(campaign, store, 0, PRIVATE, seed=1, robust=robust)
    store.close()
    nearest = max(min(np.linalg.norm(centers - middle, axis=1)) for middle in MIDDLES)
    if robust:
        assert int(np.argmax(capped.cut)) == len(capped.cut) - 1  # the last corner
        assert capped.amount > 600
        assert nearest < 0.1
    else:
        assert capped is None
        assert nearest > 0.1


def test_a_round_without_reports_is_not_closed(tmp_path):
    campaign = campaign_of(2_000, rounds=3)
    store = open_store(f"sqlite:///{tmp_path / 'a.sqlite'}", campaign.id, campaign.envelope)
    with pytest.raises(TooFewRows, match="No report"):
        learning.advance(campaign, store, 0, PRIVATE, seed=1)
    assert store.accept([Arrival(0, [os.urandom(16)], [0])], 0)[0].accepted == 1
    store.close()


def test_shares_of_categories_come_with_their_errors(tmp_path):
    document = campaign_document()
    del document["columns"]
    document["categories"] = ["bus", "bike", "foot"]
    oracle = {"name": "randomized_response", "size": 3}
    question = {"mechanism": "category", "epsilon": "2", "oracle": oracle}
    document["rounds"] = [{"share": 2**32, "question": question}]
    envelope = sign_document("campaign", document, PRIVATE)
    name = client.identity("campaign", client.canonical(document))
    campaign = Campaign(envelope, document, name)
    store = open_store(f"sqlite:///{tmp_path / 'a.sqlite'}", campaign.id, campaign.envelope)
    words = client.WordStream()
    codes = [client.draw(question, i % 10 // 6, words) for i in range(3_000)]
    store.accept([Arrival(0, [os.urandom(16) for _ in codes], codes)], 0)
    shares = learning.shares_of(campaign, store)
    store.close()
    for (_, share, error), true in zip(shares, (0.6, 0.4, 0.0), strict=True):
        assert abs(share - true) < 5 * error


def test_exported_reports_are_what_shoal_learn_reads(tmp_path):
    from shoal.jobs.reports._load_reports import load_reports

    campaign = campaign_of(2_000)
    store = open_store(f"sqlite:///{tmp_path / 'a.sqlite'}", campaign.id, campaign.envelope)
    words = client.WordStream()
    question = campaign.document["rounds"][0]["question"]
    codes = [client.draw(question, row, words) for row in people_of(500).tolist()]
    store.accept([Arrival(0, [os.urandom(16) for _ in codes], codes)], 0)
    path = learning.export_reports(campaign, store, tmp_path)
    store.close()
    loaded = load_reports(str(path), np.random.default_rng(0), lambda n: None)
    assert sorted(loaded.reports.values.tolist()) == sorted(codes)
    assert loaded.guarantee.epsilon == 2
    assert json.loads(path.with_name("reports.parquet.json").read_text())["order"] == "shuffled"


def test_an_open_campaign_releases_no_shuffled_sums_whatever_its_fakes_add_up_to(tmp_path):
    document = campaign_document(setting="shuffled", delta="0.000001", n_least=50)
    envelope = sign_document("campaign", document, PRIVATE)
    name = client.identity("campaign", client.canonical(document))
    campaign = Campaign(envelope, document, name)  # signed before such a campaign was refused
    store = open_store(f"sqlite:///{tmp_path / 'a.sqlite'}", campaign.id, campaign.envelope)
    store.accept([Arrival(0, [os.urandom(16) for _ in range(50)], [1] * 50)], 0)
    with pytest.raises(InvalidSetting, match="many times"):
        learning.prepare_release(campaign, store)
    assert store.accept([Arrival(0, [os.urandom(16)], [1])], 0)[0].accepted == 1  # not closed
    store.close()
