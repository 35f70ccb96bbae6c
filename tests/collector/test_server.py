"""The server over real requests on this machine: what it takes, answers and refuses."""

import base64
import contextlib
import hashlib
import http.client
import json
import os
import re
import socket
import threading
import time
from pathlib import Path

import pytest

from shoal.collector import client

from .campaigns import campaign_document, envelope_of
from .conftest import MISSING, serving

pytest.importorskip("fastapi", reason=f"fastapi is {MISSING}")
pytest.importorskip("uvicorn", reason=f"uvicorn is {MISSING}")

from shoal.collector import _server as module
from shoal.collector import _server_state as service
from shoal.collector._campaign import Campaign
from shoal.collector._databases import open_store
from shoal.collector._report_batches import BINARY, INVITATION, who_of
from shoal.collector._server import create_app
from shoal.collector._storage import Arrival, Unavailable

ADMIN = "the admin's own token"


def campaign_of(**changes):
    document = campaign_document(**changes)
    envelope = envelope_of("campaign", document)
    return Campaign(envelope, document, client.identity("campaign", client.canonical(document)))


class Site:
    """A running server and how to ask it."""

    def __init__(self, address, campaign, store):
        self.address, self.campaign, self.store = address, campaign, store
        self.port = int(address.rsplit(":", 1)[1])

    def ask(self, path, body=None, kind=BINARY, headers=None, method=None):
        """The status, headers and document of one answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        method = method or ("GET" if body is None else "POST")
        given = {"Content-Type": kind, **(headers or {})} if body is not None else headers or {}
        connection.request(method, path, body, given)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        with contextlib.suppress(ValueError):
            content = json.loads(content)
        return answer.status, answer.headers, content

    def post(self, reports, number=0, **settings):
        body = client.batch_of(settings.pop("campaign", self.campaign.id), number, reports)
        return self.ask("/v1/reports", body, **settings)


@contextlib.contextmanager
def site_of(url, reports_per_address=10**9, **changes):
    campaign = campaign_of(**changes)
    store = open_store(url, campaign.id, campaign.envelope, has_tokens=campaign.has_tokens)
    admin = hashlib.sha256(ADMIN.encode()).digest()
    with serving(
        create_app(campaign, store, reports_per_address=reports_per_address, admin=admin)
    ) as address:
        yield Site(address, campaign, store)


@pytest.fixture
def site(tmp_path):
    with site_of(f"sqlite:///{tmp_path / 'campaign.sqlite'}") as site:
        yield site


def keys(n):
    return [os.urandom(16) for _ in range(n)]


@pytest.mark.heavy
def test_reports_are_acknowledged_after_they_are_in_the_database(database):
    with site_of(database) as site:
        reports = [(key, i % 9) for i, key in enumerate(keys(200))]
        assert site.post(reports)[::2] == (200, {"accepted": 200, "repeated": 0})
        assert site.store.count() == 200
        assert site.post(reports)[::2] == (200, {"accepted": 0, "repeated": 200})
        assert sum(site.store.sums(0).values()) == 200


@pytest.mark.heavy
def test_a_person_takes_part_over_the_wire_and_again_is_counted_once(site, tmp_path):
    notebook = client.Notebook(tmp_path / "notebook.json")
    person = client.Client(site.address, site.campaign.key, notebook)
    assert person.take_part([0.123456789, 0.987654321]) == "sent"
    assert person.take_part([0.5, 0.5]) == "sent"
    assert site.store.count() == 1


@pytest.mark.heavy
def test_single_reports_that_come_together_share_a_transaction(site):
    statuses = []

    def send():
        statuses.append(site.post([(os.urandom(16), 3)])[0])

    threads = [threading.Thread(target=send) for _ in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses == [200] * 40
    assert site.store.sums(0) == {3: 40}
    assert site.store.part_count() < 40


@pytest.mark.heavy
def test_reports_as_json_count_too(site):
    (key,) = keys(1)
    line = [base64.b64encode(key).decode(), 5]
    document = {"campaign": site.campaign.id.hex(), "round": 0, "reports": [line]}
    body = json.dumps(document).encode()
    assert site.ask("/v1/reports", body, "application/json")[::2] == (
        200,
        {"accepted": 1, "repeated": 0},
    )
    assert site.store.sums(0) == {5: 1}


@pytest.mark.heavy
def test_only_enrolled_keys_report_and_wrong_ones_bar_nobody_else(tmp_path):
    url = f"sqlite:///{tmp_path / 'a.sqlite'}"
    with site_of(url, enrolment="token") as site:
        (good, revoked, other), bad = keys(3), keys(25)
        site.store.enrol([who_of(good), who_of(revoked), who_of(other)])
        site.store.revoke(who_of(revoked))
        assert site.post([(good, 1)])[0] == 200
        assert site.post([(revoked, 1)])[0] == 401
        assert site.post([(good, 1), (bad[0], 1)])[0] == 401
        assert {site.post([(key, 1)])[0] for key in bad} == {401}
        assert site.ask("/")[0] == 200  # the same address
        assert site.post([(other, 1)])[0] == 200
        assert site.store.sums(0) == {1: 2}
        statuses = [site.post([(good, 1)])[0] for _ in range(25)]
        assert (statuses[0], statuses[-1]) == (200, 429)  # one token has its own limit


@pytest.mark.heavy
def test_strangers_do_not_make_a_server_forget_how_often_a_key_came(tmp_path, monkeypatch):
    monkeypatch.setattr(service, "_REMEMBERED", 5)
    with site_of(f"sqlite:///{tmp_path / 'a.sqlite'}", enrolment="token") as site:
        (good,), strangers = keys(1), keys(12)
        site.store.enrol([who_of(good)])
        assert [site.post([(good, 1)])[0] for _ in range(21)][-1] == 429
        assert {site.post([(key, 1)])[0] for key in strangers} == {401}
        assert {site.post([(key, 1), (good, 1)])[0] for key in strangers} == {401}
        assert site.post([(good, 1)])[0] == 429
        assert site.post([(good, 1), (strangers[0], 1)])[0] == 429  # nor does it by itself


@pytest.mark.heavy
def test_a_device_may_ask_whether_its_invitation_is_good_and_used(tmp_path):
    with site_of(f"sqlite:///{tmp_path / 'a.sqlite'}", enrolment="token") as site:
        (good, unknown), name = keys(2), site.campaign.id
        site.store.enrol([who_of(good)])

        def ask(content):
            return site.ask("/v1/invitations", content)[::2]

        assert ask(client.invitation_of(name, good)) == (200, {"used": False})
        assert ask(client.invitation_of(name, unknown))[0] == 401
        assert ask(client.invitation_of(os.urandom(16), good))[0] == 404
        assert ask(b"SHI1")[0] == 400
        assert site.store.count() == 0
        assert site.post([(good, 1)])[0] == 200
        assert ask(client.invitation_of(name, good)) == (200, {"used": True})


@pytest.mark.heavy
def test_an_open_campaign_limits_reports_of_an_address_and_not_its_page_views(tmp_path):
    with site_of(f"sqlite:///{tmp_path / 'a.sqlite'}", reports_per_address=40) as site:
        people = keys(40)
        assert site.post([(key, 1) for key in keys(41)])[0] == 413  # never allowed
        assert site.post([(key, 1) for key in people[:30]])[0] == 200
        assert site.post([(key, 1) for key in people[:10]])[0] == 200  # repeated: not counted again
        assert site.post([(key, 1) for key in people[30:]])[0] == 200
        status, headers, _ = site.post([(os.urandom(16), 1)])
        assert status == 429
        assert 1 <= int(headers["Retry-After"]) <= 91
        assert {site.ask(path)[0] for path in ("/", "/client.js", "/v1/campaign") * 30} == {200}
        # Nobody is trusted to say that a request comes from elsewhere.
        forwarded = {"X-Forwarded-For": "203.0.113.7"}
        assert site.post([(os.urandom(16), 1)], headers=forwarded)[0] == 429
        assert site.store.sums(0) == {1: 40}


@pytest.mark.heavy
def test_a_trusted_proxy_says_where_a_report_comes_from_and_no_other_does(tmp_path):
    campaign = campaign_of()
    store = open_store(f"sqlite:///{tmp_path / 'a.sqlite'}", campaign.id, campaign.envelope)
    app = create_app(campaign, store, reports_per_address=1)
    with serving(app, trusted_proxies=["127.0.0.0/8"]) as address:
        site = Site(address, campaign, store)

        def post(origin):
            return site.post([(os.urandom(16), 1)], headers={"X-Forwarded-For": origin})[0]

        assert [post(origin) for origin in ("192.0.2.1", "192.0.2.2", "192.0.2.1")] == [
            200,
            200,
            429,
        ]
        # Only what the proxy itself added counts, and an IPv6 network is one address.
        assert post("192.0.2.9, 192.0.2.1") == 429
        assert [post("2001:db8::1"), post("2001:db8::2")] == [200, 429]


@pytest.mark.heavy
def test_three_hundred_people_behind_one_address_get_the_page_and_are_all_counted(tmp_path):
    with site_of(f"sqlite:///{tmp_path / 'a.sqlite'}", reports_per_address=300) as site:
        statuses = []

        def visit():
            for path in ("/", "/client.js", "/page.js", "/page.css", "/v1/campaign"):
                statuses.append(site.ask(path)[0])
            statuses.append(site.post([(os.urandom(16), 1)])[0])

        people = [threading.Thread(target=visit) for _ in range(300)]
        for person in people:
            person.start()
        for person in people:
            person.join()
        assert set(statuses) == {200}
        assert site.store.count() == 300


@pytest.mark.heavy
def test_a_full_queue_answers_429_and_loses_nothing(site, monkeypatch):
    monkeypatch.setattr(service, "MOST_WAITING", 50)
    status, headers, _ = site.post([(key, 1) for key in keys(51)])
    assert status == 429
    assert int(headers["Retry-After"]) >= 1
    assert site.post([(key, 1) for key in keys(50)])[0] == 200
    assert site.store.sums(0) == {1: 50}


@pytest.mark.heavy
def test_a_database_that_fails_answers_503_and_counts_nothing(site, monkeypatch):
    def fail(*_):
        raise Unavailable("full")

    reports = [(key, 1) for key in keys(3)]
    with monkeypatch.context() as patch:
        patch.setattr(site.store, "accept", fail)
        status, headers, content = site.post(reports)
        assert status == 503
        assert headers["Retry-After"] == "5"
        assert "database" in content["error"]
    assert site.store.sums(0) == {}
    assert site.post(reports)[2] == {"accepted": 3, "repeated": 0}


@pytest.mark.heavy
def test_a_full_disk_answers_503_and_counts_nothing(site):
    # The limit stands for a disk that is full: SQLite meets both in the same place.
    def fill():  # a connection that failed is opened anew, without the limit
        pages = site.store._connection.execute("PRAGMA page_count").fetchone()[0]
        site.store._connection.execute(f"PRAGMA max_page_count = {pages}")

    fill()
    assert site.ask("/v1/health")[0] == 503  # before any report met it
    assert site.ask("/v1/live")[0] == 200
    site.store.part_count()
    fill()
    assert site.post([(key, 1) for key in keys(5_000)])[0] == 503
    assert site.store.count() == 0
    assert site.store.sums(0) == {}
    assert site.ask("/v1/health")[0] == 200


@pytest.mark.heavy
def test_a_read_only_database_answers_503_and_counts_nothing(database):
    statement = {
        "sqlite": "PRAGMA query_only = ON",
        "postgresql": "SET default_transaction_read_only = on",
    }[database.partition(":")[0]]
    with site_of(database) as site:
        reports = [(key, 1) for key in keys(3)]
        site.store._connection.execute(statement)
        assert site.post(reports)[0] == 503
        site.store.close()  # the next transaction opens a connection that may write
        assert site.store.sums(0) == {}
        assert site.post(reports)[2] == {"accepted": 3, "repeated": 0}


@pytest.mark.heavy
def test_only_people_of_a_round_report_in_it_and_only_while_it_is_open(tmp_path, monkeypatch):
    question = campaign_document()["rounds"][0]["question"]
    rounds = [{"share": 2**31, "question": question}, {"share": 2**31, "question": "later"}]
    with site_of(f"sqlite:///{tmp_path / 'a.sqlite'}", rounds=rounds) as site:
        groups = {0: [], 1: []}
        for key in keys(40):
            groups[client.round_of(site.campaign.id, key, site.campaign.shares)].append(key)
        assert site.post([(key, 1) for key in groups[0]])[0] == 200
        assert site.post([(key, 1) for key in groups[1]])[0] == 409  # another round's people
        assert site.post([(key, 1) for key in groups[1]], 1)[0] == 409  # no question yet
        document = {
            "format": 1,
            "type": "round",
            "campaign": site.campaign.id.hex(),
            "round": 1,
            "question": question,
            "before": site.store.close_round(0),
        }
        site.store.publish("round", 1, envelope_of("round", document))
        time.sleep(1.1)  # documents are read anew once a second
        assert site.ask("/v1/round/1")[0] == 200
        verify, checks = client.verify, []
        monkeypatch.setattr(client, "verify", lambda *parts: checks.append(1) or verify(*parts))
        for key in groups[1]:
            assert site.post([(key, 1)], 1)[0] == 200
        assert len(checks) == 1  # once a document, not at every request
        assert site.post([(groups[0][0], 1)])[0] == 410  # closed


@pytest.mark.heavy
def test_a_campaign_that_is_over_answers_410_and_one_to_come_409(tmp_path):
    over = {"opens": "2020-01-01T00:00:00Z", "closes": "2020-01-02T00:00:00Z"}
    ahead = {"opens": "2998-01-01T00:00:00Z"}
    for name, dates, status in (("a", over, 410), ("b", ahead, 409)):
        with site_of(f"sqlite:///{tmp_path / name}.sqlite", **dates) as site:
            assert site.post([(os.urandom(16), 1)])[0] == status
            assert site.store.count() == 0


@pytest.mark.heavy
def test_labels_are_taken_only_where_the_campaign_pays_for_them(tmp_path, site):
    assert site.post([(os.urandom(16), 1)], client.LABEL_ROUND)[0] == 409
    url = f"sqlite:///{tmp_path / 'labels.sqlite'}"
    with site_of(url, labels={"epsilon": "0.5"}) as other:
        assert other.post([(os.urandom(16), 1)], client.LABEL_ROUND)[0] == 200
        assert other.post([(os.urandom(16), 2)], client.LABEL_ROUND)[0] == 422  # of 2 groups
        assert other.store.sums(client.LABEL_ROUND) == {1: 1}


@pytest.mark.heavy
def test_the_admin_needs_the_admin_token(site):
    path = "/v1/admin/close/0"
    assert site.ask(path, b"")[0] == 401
    for wrong in ("Bearer wrong", ADMIN, f"Basic {ADMIN}", f"{ADMIN} {ADMIN}"):
        assert site.ask(path, b"", headers={"Authorization": wrong})[0] == 401
    right = {"Authorization": f"Bearer {ADMIN}"}
    assert site.ask(path, b"", headers=right)[0] == 200
    assert site.ask("/v1/admin/close/7", b"", headers=right)[0] == 404
    assert site.ask(f"/v1/admin/revoke/{'0' * 32}", b"", headers=right)[2] == {"revoked": False}
    assert site.ask("/v1/admin/revoke/xyz", b"", headers=right)[0] == 400
    assert site.post([(os.urandom(16), 1)])[0] == 410


@pytest.mark.heavy
def test_versions_are_named_and_others_refused_with_the_list(site):
    status, _, content = site.ask("/.well-known/shoal")
    assert (status, content["versions"]) == (200, [1])
    assert content["campaigns"] == [site.campaign.id.hex()]
    status, _, content = site.ask("/v2/campaign")
    assert (status, content["versions"]) == (406, [1])
    assert site.ask("/v1/nothing")[0] == 404


@pytest.mark.heavy
def test_the_page_and_the_openapi_document_are_served(site):
    status, headers, page = site.ask("/")
    assert status == 200
    assert b"a walk" in page
    assert b"46 in 100" in page
    assert b"2-LDP" not in page
    assert "script-src 'self'" in headers["Content-Security-Policy"]
    assert site.ask("/client.js")[0] == 200
    paths = site.ask("/openapi.json")[2]["paths"]
    assert {"/v1/reports", "/v1/campaign", "/v1/model", "/v1/health", "/v1/metrics"} <= {*paths}
    assert site.ask("/v1/health")[2] == {"people": 0}
    site.post([(os.urandom(16), 1)])
    metrics = site.ask("/v1/metrics")[2].decode()
    assert "shoal_status_200" in metrics
    assert "shoal_database_failing 0" in metrics
    assert 'shoal_post_seconds_bucket{le="+Inf"} 1' in metrics
    assert "shoal_post_seconds_count 1" in metrics


@pytest.mark.heavy
def test_ids_are_deleted_by_themselves_when_they_are_due(tmp_path):
    over = {"opens": "2020-01-01T00:00:00Z", "closes": "2020-01-02T00:00:00Z"}
    for days, left in ((1, 0), (10**6, 3)):
        campaign = campaign_of(**over)
        url = f"sqlite:///{tmp_path / f'{days}.sqlite'}"
        store = open_store(url, campaign.id, campaign.envelope)
        whos = keys(3)
        store.accept([Arrival(0, whos, [1, 1, 2])], 0)
        with serving(create_app(campaign, store, keep_ids_days=days)) as address:
            until = time.monotonic() + 10
            while sum(map(store.has_reported, whos)) != left and time.monotonic() < until:
                time.sleep(0.05)
            assert sum(map(store.has_reported, whos)) == left
            assert client.http(f"{address}/v1/health")[0] == 200
            assert store.sums(0) == {1: 2, 2: 1}


def test_nothing_of_the_server_writes_a_log():
    """What is not logged cannot leak: no logger and no print beside keys, reports, addresses."""
    folder = Path(module.__file__).parent
    for file in folder.glob("*.py"):
        text = file.read_text()
        assert not re.search(
            r"^\s*(import logging|from logging|print\()|getLogger|warnings", text, re.M
        )
    assert "access_log=False" in (folder / "_server.py").read_text()


def hostile_bodies(campaign):
    """Bodies that must not be counted, and what they are answered."""
    key, other = os.urandom(16), os.urandom(16)
    good = client.batch_of(campaign, 0, [(key, 1)])
    codes = 7**4
    line = [base64.b64encode(key).decode(), 1]
    document = {"campaign": campaign.hex(), "round": 0, "reports": [line]}
    ways = {
        "empty": (b"", BINARY, 400),
        "count 0": (good[:21] + bytes(3), BINARY, 400),
        "count large": (good[:21] + b"\xff\xff\xff" + good[24:], BINARY, 400),
        "count and length": (good[:23] + b"\x02" + good[24:], BINARY, 400),
        "cut": (good[:-1], BINARY, 400),
        "long": (good + b"x", BINARY, 400),
        "magic": (b"SHR2" + good[4:], BINARY, 400),
        "other campaign": (client.batch_of(other, 0, [(key, 1)]), BINARY, 404),
        "round": (client.batch_of(campaign, 9, [(key, 1)]), BINARY, 409),
        "report of codes": (client.batch_of(campaign, 0, [(key, codes)]), BINARY, 422),
        "largest report": (client.batch_of(campaign, 0, [(key, 2**32 - 1)]), BINARY, 422),
        "one bad of two": (client.batch_of(campaign, 0, [(key, 1), (other, codes)]), BINARY, 422),
        "key twice": (client.batch_of(campaign, 0, [(key, 1), (key, 2)]), BINARY, 400),
        "wrong type": (good, "text/plain", 415),
        "no type": (good, "", 415),
        "binary as json": (good, "application/json", 400),
        "too long": (bytes(2**20 + 1), BINARY, 413),
    }
    texts = {
        "nan": '{"campaign": NaN}',
        "huge number": "1" * 100_000,
        "infinite": '{"round": 1e400}',
        "deep": "[" * 10_000,
        "bom": "\ufeff{}",
        "surrogate": '{"\\ud800": 1}',
        "null": "null",
        "list": "[]",
        "text": '"x"',
        "cut": '{"campaign"',
        "twice": '{"round": 0, "round": 0}',
    }
    for name, text in texts.items():
        ways[f"json {name}"] = (text.encode(), "application/json", 400)
    changes = {
        "float": {"reports": [[line[0], 1.0]]},
        "true": {"reports": [[line[0], True]]},
        "digits": {"reports": [[line[0], "7"]]},
        "negative": {"reports": [[line[0], -1]]},
        "large": {"reports": [[line[0], 2**32]]},
        "no reports": {"reports": []},
        "spaces": {"reports": [[" " + line[0], 1]]},
        "alphabet": {"reports": [["-_" * 11 + "==", 1]]},
        "round true": {"round": True},
        "round 256": {"round": 256},
        "field": {"more": 1},
        "object": {"reports": {"0": line}},
        "three": {"reports": [[*line, 1]]},
    }
    for name, change in changes.items():
        ways[f"json {name}"] = (json.dumps(document | change).encode(), "application/json", 400)
    return ways


@pytest.mark.heavy
def test_hostile_bodies_are_refused_by_name_and_nothing_is_counted(site, capfd):
    for name, (body, kind, status) in hostile_bodies(site.campaign.id).items():
        answer, _, content = site.ask("/v1/reports", body, kind)
        assert answer == status, name
        assert set(content) == {"error"}, name
    assert site.store.count() == 0
    assert site.store.sums(0) == {}
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.heavy
def test_a_compressed_a_slow_and_a_broken_body_are_refused(site, monkeypatch, capfd):
    body = client.batch_of(site.campaign.id, 0, [(os.urandom(16), 1)])
    assert site.ask("/v1/reports", body, headers={"Content-Encoding": "gzip"})[0] == 415
    monkeypatch.setattr(module, "_BODY_SECONDS", 0.5)
    head = (
        f"POST /v1/reports HTTP/1.1\r\nHost: x\r\nContent-Type: {BINARY}\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    ).encode()
    with socket.create_connection(("127.0.0.1", site.port), timeout=10) as slow:
        slow.sendall(head + body[:5])
        assert b"408" in slow.recv(1000).split(b"\r\n")[0]
    for _ in range(5):  # gone in the middle
        with socket.create_connection(("127.0.0.1", site.port), timeout=10) as broken:
            broken.sendall(head + body[:5])
    assert site.ask("/v1/health")[0] == 200
    assert site.store.count() == 0
    assert "Traceback" not in capfd.readouterr().err


def fuzz(site, n, seed=1, report=7**4 + 5):
    """Send n requests with flipped, cut and joined bytes; return the statuses.

    The report is an impossible one of the campaign.
    """
    import random

    draw = random.Random(seed)
    # A flipped byte may make a good batch of these.
    close = {"key twice", "one bad of two", "json float", "json negative"}
    bodies = {k: v for k, v in hostile_bodies(site.campaign.id).items() if k not in close}
    ways = [(body, kind) for body, kind, _ in bodies.values() if len(body) < 5_000]
    good = client.batch_of(site.campaign.id, 0, [(os.urandom(16), report)])
    statuses = []
    connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=30)
    for _ in range(n):
        body, kind = draw.choice([*ways, (good, BINARY)])
        body = bytearray(body)
        for _ in range(draw.randrange(4)):
            if body:
                body[draw.randrange(len(body))] = draw.randrange(256)
        if draw.random() < 0.2:
            body = body[: draw.randrange(len(body) + 1)] + body
        # The report of the good batch is impossible, so no flip but in it can make it count.
        if bytes(body[:20]) == good[:20] and len(body) == len(good):
            body[40:] = good[40:]
        path = draw.choice(["/v1/reports"] * 8 + ["/v1/round/x", "/v1/admin/close/0", "/v1/%ff"])
        connection.request("POST", path, bytes(body), {"Content-Type": kind})
        answer = connection.getresponse()
        answer.read()
        statuses.append(answer.status)
    connection.close()
    return statuses


@pytest.mark.heavy
@pytest.mark.parametrize("n", [600, pytest.param(10_000, marks=pytest.mark.slow)])
def test_mangled_requests_never_end_in_500_nor_are_counted(site, n, capfd):
    statuses = fuzz(site, n)
    assert not {status for status in statuses if status < 400 or status >= 500}
    assert site.store.count() == 0
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.slow
def test_requests_that_the_openapi_document_suggests_never_end_in_500(site):
    schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
    from hypothesis import HealthCheck, given, settings

    schema = schemathesis.openapi.from_url(f"{site.address}/openapi.json")
    schemathesis.serializer.alias(INVITATION, "application/octet-stream")
    count = 0
    for operation in schema.get_all_operations():
        strategy = operation.ok().as_strategy()

        @settings(max_examples=100, suppress_health_check=list(HealthCheck))
        @given(case=strategy)
        def run(case):
            nonlocal count
            count += 1
            assert case.call().status_code < 500

        run()
    assert count > 300
    assert site.store.count() == 0


@pytest.mark.heavy
@pytest.mark.parametrize("n", [300, pytest.param(10_000, marks=pytest.mark.slow)])
def test_mangled_places_never_end_in_500_nor_are_counted(tmp_path, n, capfd):
    question = {
        "mechanism": "nd_laplace",
        "epsilon": "1",
        "columns": [["0", "10"], ["0", "10"]],
        "radius": "1",
        "unit": "km",
        "units": ["1.0", "1.0"],
        "step_bits": 20,
    }
    rounds = [{"share": 2**32, "question": question}]
    with site_of(f"sqlite:///{tmp_path / 'a.sqlite'}", rounds=rounds, epsilon="1") as site:
        statuses = fuzz(site, n, report=[2**53, 0])
        assert not {status for status in statuses if status < 400 or status >= 500}
        assert site.store.count() == 0
    assert "Traceback" not in capfd.readouterr().err
