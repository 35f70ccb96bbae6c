"""Two aggregators over the wire: two servers, two databases, one set of counts."""

import json
import os
import random
import time
from contextlib import ExitStack

import numpy as np
import pytest

from shoal.collector import _opened_sums as openings
from shoal.collector import client
from shoal.errors import InvalidSetting, TooFewRows
from shoal.privacy import Ledger
from shoal.randomness import Randomness

from .campaigns import SECRET, campaign_document
from .conftest import MISSING, free_port, serving

pytest.importorskip("fastapi", reason=f"fastapi is {MISSING}")
pytest.importorskip("cryptography", reason=f"cryptography is {MISSING}")

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from shoal.collector._campaign import Campaign, sign_document
from shoal.collector._databases import open_store
from shoal.collector._report_batches import BINARY, SHARES, who_of
from shoal.collector._server import create_app
from shoal.collector._storage import Arrival

OPERATOR = Ed25519PrivateKey.from_private_bytes(SECRET)
KEYS = [Ed25519PrivateKey.from_private_bytes(bytes([i]) * 32) for i in (1, 2)]
PLANTED = [0.123456789012345, 0.987654321098765]


def campaign_of(addresses=("http://127.0.0.1:1", "http://127.0.0.1:2"), cells=(4, 3), **changes):
    question = {
        "mechanism": "cell_shares",
        "epsilon": changes.get("epsilon", "2"),
        "columns": [["0.0", "1.0"], ["0.0", "1.0"]],
        "cells": list(cells),
    }
    both = [
        {"address": address, "key": key.public_key().public_bytes_raw().hex()}
        for address, key in zip(addresses, KEYS, strict=True)
    ]
    settings = {
        "setting": "two_aggregators",
        "aggregators": both,
        "n_least": 10,
        "rounds": [{"share": 2**32, "question": question}],
    }
    document = campaign_document(**settings | changes)
    envelope = sign_document("campaign", document, OPERATOR)
    return Campaign(envelope, document, client.identity("campaign", client.canonical(document)))


def stores_of(campaign, folder):
    return [
        open_store(f"sqlite:///{folder / name}.sqlite", campaign.id, campaign.envelope)
        for name in ("first", "second")
    ]


def fill(campaign, stores, cells, people=None):
    """Everybody's shares straight into both databases; returns their hashes."""
    size = int(np.prod(campaign.document["rounds"][0]["question"]["cells"]))
    whos = people or [who_of(os.urandom(16)) for _ in cells]
    seeds = [os.urandom(32) for _ in cells]
    pairs = zip(cells, seeds, strict=True)
    second = [client.tag_of(s) + client.share_of(cell, size, s) for cell, s in pairs]
    for store, shares in zip(stores, (seeds, second), strict=True):
        store.accept([Arrival(0, whos, shares=shares)], 0)
    return whos


def open_both(campaign, stores, **settings):
    pairs = list(zip(stores, KEYS, strict=True))
    lists = [openings.list_people(campaign, store, key) for store, key in pairs]
    return [
        openings.open_sums(campaign, store, key, other, **settings)
        for (store, key), other in zip(pairs, reversed(lists), strict=True)
    ]


class Wire:
    """Sends as a client does, and keeps every byte that left."""

    def __init__(self):
        self.bodies = []

    def __call__(self, url, body=None):
        self.bodies.append(body or b"")
        return client.http(url, body)


@pytest.mark.heavy
def test_people_take_part_at_two_servers_and_only_their_noisy_sum_comes_out(tmp_path):
    ports = [free_port() for _ in range(2)]
    addresses = [f"http://127.0.0.1:{port}" for port in ports]
    campaign, wire = campaign_of(addresses, epsilon="8"), Wire()
    stores = stores_of(campaign, tmp_path)
    records = [PLANTED] + [[0.1, 0.1]] * 14 + [[0.9, 0.9]] * 10
    limits = client.Limits("8", "8", "two_aggregators")
    with ExitStack() as stack:
        for place, (store, port) in enumerate(zip(stores, ports, strict=True)):
            app = create_app(campaign, store, reports_per_address=10**9, aggregator=place)
            stack.enter_context(serving(app, port))
        for number, record in enumerate(records):
            notebook = client.Notebook(tmp_path / f"notebook-{number}.json")
            person = client.Client(addresses[0], campaign.key, notebook, limits=limits, send=wire)
            assert person.take_part(record) == "sent"
            assert person.take_part([0.5, 0.5]) == "sent"  # the same report, not sent again
            (entry,) = json.loads((tmp_path / f"notebook-{number}.json").read_text())[
                "entries"
            ].values()
            assert entry["report"] == []  # both shares together are the cell
        assert client.http(f"{addresses[0]}/v1/opening")[0] == 404
        open_both(campaign, stores)
        time.sleep(1.1)  # documents are read anew once a second
        served = [json.loads(client.http(f"{at}/v1/opening")[1]) for at in addresses]
        page = client.http(addresses[0] + "/")[1].decode()
    opened = openings.add_openings(campaign, served)
    assert opened.people == 25
    assert np.all(abs(opened.counts - np.bincount([2] + [0] * 14 + [11] * 10, minlength=12)) < 8)
    assert "Together the two could read everything" in page
    assert "8-LDP" not in page
    everything = b"".join(wire.bodies)
    planted = [repr(x)[2:10].encode() for x in PLANTED] + [np.float64(x).tobytes() for x in PLANTED]
    assert not [part for part in planted if part in everything]
    assert len({body for body in wire.bodies if body}) == 2 * len(records)
    for store in stores:
        assert list(store.shares()) == []
        store.close()


def hostile_shares(campaign):
    """Bodies that the first aggregator must not keep, their type and the answer."""
    key, seed = os.urandom(16), os.urandom(32)
    good = client.share_batch_of(campaign.id, 0, [(key, seed)])
    share = client.tag_of(seed) + client.share_of(1, 12, seed)
    both = [(key, seed), (key, seed)]
    return {
        "for the other": (client.share_batch_of(campaign.id, 1, [(key, seed)]), SHARES, 409),
        "no such aggregator": (client.share_batch_of(campaign.id, 2, [(key, seed)]), SHARES, 409),
        "the other's share": (client.share_batch_of(campaign.id, 0, [(key, share)]), SHARES, 400),
        "a word short": (client.share_batch_of(campaign.id, 0, [(key, seed[:24])]), SHARES, 400),
        "twice": (client.share_batch_of(campaign.id, 0, both), SHARES, 400),
        "another campaign": (client.share_batch_of(bytes(16), 0, [(key, seed)]), SHARES, 404),
        "count": (good[:23] + b"\x02" + good[24:], SHARES, 400),
        "cut": (good[:-1], SHARES, 400),
        "a batch of reports": (client.batch_of(campaign.id, 0, [(key, 1)]), SHARES, 400),
        "empty": (b"", SHARES, 400),
        "another type": (good, BINARY, 415),
        "too long": (bytes(2**20 + 1), SHARES, 413),
    }


def mangled(ways, n, seed=1):
    """Hostile bodies with some bytes changed; now and then one becomes well formed."""
    draw = random.Random(seed)
    bodies = [body for body, _, _ in ways.values() if 0 < len(body) < 5_000]
    for _ in range(n):
        body = bytearray(draw.choice(bodies))
        for _ in range(3):
            body[draw.randrange(len(body))] = draw.randrange(256)
        yield bytes(body)


def ask(address, path, body, kind):
    import urllib.error
    import urllib.request

    request = urllib.request.Request(address + path, body, {"Content-Type": kind})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


@pytest.mark.heavy
def test_hostile_shares_are_refused_and_nothing_is_kept(tmp_path, capfd):
    campaign = campaign_of()
    store, other = stores_of(campaign, tmp_path)
    with serving(create_app(campaign, store, reports_per_address=10**9, aggregator=0)) as address:
        for name, (body, kind, status) in hostile_shares(campaign).items():
            assert ask(address, "/v1/shares", body, kind) == status, name
        report = client.batch_of(campaign.id, 0, [(os.urandom(16), 1)])
        assert ask(address, "/v1/reports", report, BINARY) == 404  # no reports in this setting
        assert list(store.shares()) == []
        assert store.count() == 0
        for body in mangled(hostile_shares(campaign), 150):
            assert ask(address, "/v1/shares", body, SHARES) < 500
    assert all(len(content) == 32 for _, content in store.shares())
    assert "Traceback" not in capfd.readouterr().err
    other.close()


@pytest.mark.heavy
def test_a_person_who_does_not_allow_two_aggregators_sends_nothing(tmp_path):
    campaign, wire = campaign_of(), Wire()
    store, other = stores_of(campaign, tmp_path)
    with serving(create_app(campaign, store, reports_per_address=10**9, aggregator=0)) as address:
        notebook = client.Notebook(tmp_path / "notebook.json")
        person = client.Client(address, campaign.key, notebook, send=wire)
        with pytest.raises(client.Refused, match="weaker"):
            person.take_part([0.5, 0.5])
    assert not any(wire.bodies)
    assert not (tmp_path / "notebook.json").exists()
    other.close()


def test_who_is_missing_or_mismatched_at_one_aggregator_is_left_out_at_both(tmp_path):
    campaign = campaign_of(epsilon="8")
    stores = stores_of(campaign, tmp_path)
    fill(campaign, stores, [1] * 20 + [5] * 10)
    alone = [who_of(os.urandom(16)) for _ in range(2)]
    stores[0].accept([Arrival(0, alone[:1], shares=[os.urandom(32)])], 0)
    other = client.tag_of(bytes(32)) + client.share_of(2, 12, bytes(32))
    stores[1].accept([Arrival(0, alone[1:], shares=[other])], 0)
    twice = who_of(b"a device that was restored")  # its two shares come from two draws
    stores[0].accept([Arrival(0, [twice], shares=[os.urandom(32)])], 0)
    stores[1].accept([Arrival(0, [twice], shares=[other])], 0)
    opened = openings.add_openings(campaign, open_both(campaign, stores))
    assert opened.people == 30
    assert np.all(abs(opened.counts - np.bincount([1] * 20 + [5] * 10, minlength=12)) < 8)


def test_an_opening_is_drawn_once_and_stays_the_same_bytes(tmp_path):
    campaign, ledger = campaign_of(epsilon="0.5"), Ledger()
    stores = stores_of(campaign, tmp_path)
    fill(campaign, stores, [0] * 30)
    first = open_both(campaign, stores, ledger=ledger)
    assert open_both(campaign, stores, ledger=ledger) == first
    entries = ledger.entries().to_pylist()
    assert len(entries) == 2  # one for each aggregator, none for the repetition
    (late,) = stores[0].accept([Arrival(0, [os.urandom(16)], shares=[os.urandom(32)])], 0)
    assert late.problem == "closed"


@pytest.mark.heavy
def test_too_few_people_other_keys_and_other_lists_open_nothing(tmp_path):
    campaign = campaign_of()
    stores = stores_of(campaign, tmp_path)
    fill(campaign, stores, [0] * 9)
    with pytest.raises(TooFewRows, match="10 are needed"):
        open_both(campaign, stores)
    with pytest.raises(InvalidSetting, match="neither"):
        openings.list_people(campaign, stores[0], OPERATOR)
    own = openings.list_people(campaign, stores[0], KEYS[0])
    with pytest.raises(InvalidSetting, match="aggregator 2 signed"):
        openings.open_sums(campaign, stores[0], KEYS[0], own)
    other = openings.list_people(campaign_of(name="another"), stores[1], KEYS[1])
    with pytest.raises(InvalidSetting, match="aggregator 2 signed"):
        openings.open_sums(campaign, stores[0], KEYS[0], other)
    assert stores[0].documents().get(("opening", 0)) is None


@pytest.mark.heavy
def test_openings_of_other_people_or_in_the_wrong_order_are_not_added(tmp_path):
    campaign = campaign_of()
    results = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        stores = stores_of(campaign, tmp_path / name)
        fill(campaign, stores, [0] * 12)
        results.append(open_both(campaign, stores))
    with pytest.raises(InvalidSetting, match="different people"):
        openings.add_openings(campaign, [results[0][0], results[1][1]])
    with pytest.raises(InvalidSetting, match="aggregator 1 signed"):
        openings.add_openings(campaign, results[0][::-1])
    with pytest.raises(InvalidSetting, match="aggregator 1 signed"):
        openings.add_openings(campaign, [{}, {}])


@pytest.mark.slow
def test_groups_from_two_aggregators_are_nearly_those_of_the_people(tmp_path):
    campaign = campaign_of(cells=(16, 16), epsilon="1")
    stores, rng = stores_of(campaign, tmp_path), np.random.default_rng(0)
    middles = np.array([[0.2, 0.3], [0.7, 0.8]])
    people = np.clip(middles[rng.integers(0, 2, 2_000)] + rng.normal(0, 0.05, (2_000, 2)), 0, 1)
    bounds = [(0.0, 1.0)] * 2
    fill(campaign, stores, [client.cell_of(row, bounds, [16, 16]) for row in people.tolist()])
    opened = openings.add_openings(campaign, open_both(campaign, stores))
    centers, errors = openings.centers_of_openings(campaign, opened, Randomness(1), runs=3)
    assert np.all(abs(centers[np.argsort(centers[:, 0])] - middles) < 0.02)
    assert np.all((errors > 0) & (errors < 0.02))
