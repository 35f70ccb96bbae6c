"""A person takes part in a browser tab: Chromium, driven over a pipe."""

import http.client
import json
import os
import re
import shutil
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from shoal.collector import client

from .campaigns import campaign_document, envelope_of
from .conftest import MISSING, free_port, serving

pytest.importorskip("fastapi", reason=f"fastapi is {MISSING}")

from fastapi import FastAPI

from shoal.collector import _web_page
from shoal.collector._aggregators import words_of_seed, words_of_share
from shoal.collector._campaign import Campaign
from shoal.collector._databases import open_store
from shoal.collector._report_batches import who_of
from shoal.collector._server import create_app, create_site
from shoal.collector._web_page import render

HERE = Path(__file__).parent
SOURCE = Path(client.__file__)
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--remote-debugging-pipe",
]


class Tab:
    """One tab of a browser, asked over the two pipes that Chromium reads and writes."""

    def __init__(self, profile, address):
        ask, self._ask = os.pipe()
        self._answers, answer = os.pipe()
        command = ["bash", "-c", f'exec "$0" "$@" 3<&{ask} 4>&{answer}', CHROMIUM, *FLAGS]
        self._process = subprocess.Popen(
            [*command, f"--user-data-dir={profile}", "about:blank"],
            pass_fds=(ask, answer),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(ask)
        os.close(answer)
        self._buffer, self._number = b"", 0
        target = self._send("Target.createTarget", url=address)["targetId"]
        attached = self._send("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]

    def _send(self, method, session=None, **settings):
        self._number += 1
        message = {"id": self._number, "method": method, "params": settings}
        message |= {"sessionId": session} if session else {}
        os.write(self._ask, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self._buffer:
                self._buffer += os.read(self._answers, 65_536)
            text, self._buffer = self._buffer.split(b"\0", 1)
            answer = json.loads(text)
            if answer.get("id") == self._number:
                return answer["result"]

    def run(self, script):
        """The value of a script in the page, once it has one."""
        settings = {"expression": script, "awaitPromise": True, "returnByValue": True}
        result = self._send("Runtime.evaluate", self._session, **settings)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def until(self, script, seconds=30):
        end = time.monotonic() + seconds
        while not (value := self.run(script)):
            assert time.monotonic() < end, f"nothing came of {script}"
            time.sleep(0.1)
        return value

    def close(self):
        self._process.terminate()
        self._process.wait(20)
        os.close(self._ask)
        os.close(self._answers)


@pytest.fixture
def site(tmp_path):
    with site_of(tmp_path) as site:
        yield site


@contextmanager
def site_of(folder, **changes):
    """A campaign that is served: its address, database and document."""
    document = campaign_document(name="a <b>walk</b>", **changes)
    envelope = envelope_of("campaign", document)
    name = client.identity("campaign", client.canonical(document))
    campaign = Campaign(envelope, document, name)
    url = f"sqlite:///{folder / 'a.sqlite'}"
    store = open_store(url, name, envelope, has_tokens=campaign.has_tokens)
    model = {
        "format": 1,
        "type": "model",
        "campaign": name.hex(),
        "centers": [["0.2", "0.2"], ["0.8", "0.8"]],
        "units": ["1.0", "1.0"],
        "n_reports": 10,
        "guarantee": "2-LDP",
        "control": "None was tried.",
    }
    store.publish("model", 0, envelope_of("model", model))
    with serving(create_app(campaign, store, reports_per_address=10**9)) as address:
        yield address, store, campaign


@pytest.fixture
def browser(site, tmp_path):
    address, _, campaign = site
    with tab_of(tmp_path, f"{address}/#key={campaign.key.hex()}") as tab:
        yield tab


@contextmanager
def tab_of(folder, address):
    """A tab of a new browser, or of one whose profile is there."""
    if CHROMIUM is None:
        pytest.skip("no chromium found; tools/browser.sh installs it")
    tab = Tab(folder / "profile", address)
    try:
        yield tab
    finally:
        tab.close()


def take_part(tab, value="0.9"):
    """Enter a record and send; the sentence that the page answers with."""
    tab.until("document.getElementById('send')?.disabled === false")
    tab.run("document.getElementById('answer').textContent = ''")
    tab.run(f"document.querySelectorAll('#form input').forEach(e => {{ e.value = '{value}'; }})")
    tab.run("document.getElementById('send').click()")
    return tab.until("document.getElementById('answer').textContent")


def open_link(tab, link):
    """Open another invitation in the same tab, and wait for the page to begin anew."""
    tab.run(f"window.isOld = true; location.hash = '{link}'")
    tab.until("!window.isOld && document.getElementById('send')?.disabled === false")


def invite(store, campaign, n):
    """The parts of so many invitations that follow the #."""
    tokens = [bytes([i + 1]) * 32 for i in range(n)]
    store.enrol([who_of(client.key_of(token, campaign.id)) for token in tokens])
    return [f"#key={campaign.key.hex()}&token={token.hex()}" for token in tokens]


@pytest.mark.heavy
def test_a_person_reports_once_and_labels_herself_in_a_tab(site, browser):
    _, store, _ = site
    text = take_part(browser)
    assert text.startswith("Your randomised report has arrived")
    assert browser.run("document.getElementById('send').disabled")
    browser.run("document.getElementById('form').requestSubmit()")  # a submission all the same
    browser.run("window.isOld = true; location.reload()")
    ready = "!window.isOld && document.getElementById('form')?.dataset.ready"
    browser.until(ready)
    assert browser.run("document.getElementById('answer').textContent") == text
    assert store.count() == 1
    browser.run("document.querySelectorAll('#form input').forEach(e => { e.value = '0.9'; })")
    browser.run("document.getElementById('label').click()")
    browser.until("document.getElementById('answer').textContent.includes('group 2')")
    assert store.count() == 1


@pytest.mark.heavy
def test_a_missing_or_wrong_invitation_does_not_bar_a_browser_from_the_right_one(tmp_path):
    with site_of(tmp_path, enrolment="token") as (address, store, campaign):
        (right,) = invite(store, campaign, 1)
        key = f"#key={campaign.key.hex()}"
        with tab_of(tmp_path, f"{address}/{key}") as tab:
            assert "your own invitation" in take_part(tab)
            for link in (f"{key}&token={'f' * 64}", right):
                open_link(tab, link)
                text = take_part(tab)
                assert ("arrived" if link == right else "does not know") in text
        assert store.count() == 1


@pytest.mark.heavy
def test_pupils_who_share_a_browser_are_all_counted_and_see_nothing_of_each_other(tmp_path):
    with site_of(tmp_path, enrolment="token") as (address, store, campaign):
        links = invite(store, campaign, 3)
        with tab_of(tmp_path, f"{address}/{links[0]}") as tab:
            assert "arrived" in take_part(tab)
            assert tab.run("document.querySelector('#form input').value") == ""
            for link in links[1:]:
                open_link(tab, link)
                assert not tab.run("document.getElementById('others').hidden")
                assert tab.run("document.getElementById('answer').textContent") == ""
                assert "arrived" in take_part(tab)
        assert store.count() == 3


@pytest.mark.heavy
def test_a_tab_shows_ones_group_after_the_campaign_has_closed(tmp_path):
    with site_of(tmp_path, closes="2020-01-02T00:00:00Z") as (address, store, campaign):
        with tab_of(tmp_path, f"{address}/#key={campaign.key.hex()}") as tab:
            tab.until("document.getElementById('form')?.dataset.ready")
            tab.run("document.querySelectorAll('#form input').forEach(e => { e.value = '0.9'; })")
            tab.run("document.getElementById('label').click()")
            tab.until("document.getElementById('answer').textContent.includes('group 2')")
            assert tab.run("document.getElementById('send').disabled")
        assert store.count() == 0


@pytest.mark.heavy
@pytest.mark.parametrize(
    "changes",
    [{"epsilon": "9"}, {"setting": "shuffled", "delta": "0.000001", "n_least": 9}],
    ids=["epsilon", "setting"],
)
def test_more_than_is_usual_is_sent_only_with_consent_in_words(tmp_path, changes):
    with site_of(tmp_path, **changes) as (address, store, campaign):
        link = f"{address}/#key={campaign.key.hex()}&limit=20"
        with tab_of(tmp_path, link) as tab:
            tab.until("document.getElementById('form')?.dataset.ready")
            text = tab.run("document.getElementById('consent-text').textContent")
            assert ("over 99 in 100" if "epsilon" in changes else "trust the server") in text
            assert tab.run("document.getElementById('send').disabled")
            tab.run("document.getElementById('agree').click()")
            assert "arrived" in take_part(tab)
        assert store.count() == 1


@pytest.mark.heavy
def test_a_number_out_of_bounds_is_refused_in_words_and_not_sent(site, browser):
    _, store, _ = site
    browser.until("document.getElementById('send')?.disabled === false")
    browser.run("document.querySelectorAll('#form input').forEach(e => { e.value = '99'; })")
    browser.run("document.getElementById('send').click()")
    assert not browser.run("document.getElementById('form').checkValidity()")
    browser.run("document.getElementById('form').noValidate = true")  # a browser that lets it pass
    assert take_part(browser, "99") == "x must be a number from 0 to 1."
    assert store.count() == 0


@pytest.mark.heavy
def test_the_page_speaks_to_people_and_keeps_keys_behind_check_it(site, browser):
    browser.until("document.getElementById('form')?.dataset.ready")
    shown = browser.run("document.querySelector('main').innerText + document.title")
    assert "at most 46 in 100" in shown
    assert "About 2,900 are needed" in shown
    assert not re.search(r"LDP|[0-9a-f]{32}|20000|T00:00:00Z|epsilon", shown)
    assert browser.run("document.querySelector('time').textContent").count("Z") == 0
    assert browser.run("document.querySelectorAll('svg.fig').length") == 2
    browser.run("document.querySelectorAll('details').forEach(e => { e.open = true; })")
    assert site[2].key.hex() in browser.run("document.getElementById('check').innerText")


@pytest.mark.heavy
def test_in_an_open_campaign_someone_else_says_so_and_is_counted(site, browser):
    _, store, _ = site
    assert "arrived" in take_part(browser)
    browser.until("!document.getElementById('another').hidden")
    browser.run("document.getElementById('another').click()")
    browser.until("!document.getElementById('others').hidden")
    assert browser.run("document.getElementById('answer').textContent") == ""
    assert "arrived" in take_part(browser)
    assert store.count() == 2


@pytest.mark.heavy
def test_the_twin_passes_every_vector_in_chromium(browser):
    browser.until("document.getElementById('send')?.disabled === false")
    code = (HERE / "vectors.mjs").read_text()
    code = code.replace('import * as twin from "TWIN";', "").replace("export ", "")
    for path in (SOURCE.with_name("vectors.json"), HERE / "independent_vectors.json"):
        script = (
            '(async () => { const twin = await import("/client.js");'
            f"{code}; return await failures({path.read_text()}); }})()"
        )
        result = browser.run(script)
        assert result["bad"] == []
        assert result["count"] > 390


@pytest.mark.heavy
def test_the_page_is_made_once_while_nothing_changes(site, monkeypatch):
    address, store, _ = site
    made = []
    monkeypatch.setattr(_web_page, "render", lambda *parts: made.append(parts) or render(*parts))
    for _ in range(5):
        assert client.http(address + "/")[0] == 200
    assert len(made) == 1
    store.publish("model", 0, store.documents()["model", 0] | {"key": ""})
    time.sleep(1.1)  # documents are read anew once a second
    assert client.http(address + "/")[0] == 200
    assert len(made) == 2


@pytest.mark.heavy
def test_the_page_escapes_what_the_operator_wrote(site):
    _, _, campaign = site
    page = render(campaign, None, 1_203)
    assert "1,203</strong> people have reported" in page
    assert "a &lt;b&gt;walk&lt;/b&gt;" in page
    assert "<b>walk" not in page
    assert "No groups were published yet" in page


@pytest.mark.heavy
def test_campaigns_of_one_server_share_a_browsers_notebook_and_its_ceiling(tmp_path):
    stores, apps, campaign = [], {}, None
    for number in range(5):
        document = campaign_document(name=f"walk {number}")
        envelope = envelope_of("campaign", document)
        name = client.identity("campaign", client.canonical(document))
        stores.append(open_store(str(tmp_path / f"{number}.sqlite"), name, envelope))
        campaign = Campaign(envelope, document, name)
        apps[f"walk-{number}"] = create_app(campaign, stores[-1])
    with serving(create_site(apps)) as address:
        assert client.http(f"{address}/v1/health")[0] == 200
        assert client.http(f"{address}/walk-1/v1/campaign")[0] == 200
        texts = []
        for number in range(5):  # of 2 each, where 8 is the ceiling
            link = f"{address}/walk-{number}/#key={campaign.key.hex()}"
            with tab_of(tmp_path, link) as tab:
                texts.append(take_part(tab))
        assert all("arrived" in text for text in texts[:4])
        assert "more than you allow in all" in texts[4]
        assert [store.count() for store in stores] == [1, 1, 1, 1, 0]


@pytest.mark.heavy
def test_a_class_of_thirty_at_two_browsers_behind_one_address_is_counted_once_each(tmp_path):
    with site_of(tmp_path, enrolment="token") as (address, store, campaign):
        links = invite(store, campaign, 30)
        (tmp_path / "a").mkdir()
        (tmp_path / "b").mkdir()
        with (
            tab_of(tmp_path / "a", f"{address}/{links[0]}") as first,
            tab_of(tmp_path / "b", f"{address}/{links[1]}") as second,
        ):
            for number, link in enumerate(links):
                tab = (first, second)[number % 2]
                if number > 1:
                    open_link(tab, link)
                assert "arrived" in take_part(tab)
        assert store.count() == 30
        assert sum(store.sums(0).values()) == 30


@contextmanager
def two_sites(folder, **changes):
    """Both aggregators of a campaign, each with a server at an address of its own."""
    ports = [free_port() for _ in range(2)]
    addresses = [f"http://127.0.0.1:{port}" for port in ports]
    both = [{"address": a, "key": k * 64} for a, k in zip(addresses, "ab", strict=True)]
    question = {
        "mechanism": "cell_shares",
        "epsilon": "2",
        "columns": [["0.0", "1.0"], ["0.0", "1.0"]],
        "cells": [4, 3],
    }
    document = campaign_document(
        setting="two_aggregators",
        aggregators=both,
        n_least=10,
        rounds=[{"share": 2**32, "question": question}],
        **changes,
    )
    envelope = envelope_of("campaign", document)
    campaign = Campaign(envelope, document, client.identity("campaign", client.canonical(document)))
    stores = [
        open_store(str(folder / name), campaign.id, envelope, has_tokens=campaign.has_tokens)
        for name in ("first.sqlite", "second.sqlite")
    ]
    apps = [create_app(campaign, store, aggregator=i) for i, store in enumerate(stores)]
    with serving(apps[0], ports[0]), serving(apps[1], ports[1]):
        yield addresses, stores, campaign


def opened_cells(stores):
    """The counts of cells that the shares of both databases add up to, without noise."""
    first, second = (dict(store.shares()) for store in stores)
    assert first.keys() == second.keys()
    total = np.zeros(12, dtype=np.uint64)
    for who, seed in first.items():
        assert second[who][:16] == client.tag_of(seed)
        total += words_of_seed(seed, 12) + words_of_share(second[who][16:])
    return total.tolist()


@pytest.mark.heavy
@pytest.mark.parametrize("place", [0, 1], ids=["first-page", "second-page"])
def test_a_tab_sends_one_share_to_each_of_two_aggregators_with_consent(tmp_path, place):
    with two_sites(tmp_path) as (addresses, stores, campaign):
        with tab_of(tmp_path, f"{addresses[place]}/#key={campaign.key.hex()}") as tab:
            tab.until("document.getElementById('form')?.dataset.ready")
            text = tab.run("document.getElementById('consent-text').textContent")
            assert all(address.removeprefix("http://") in text for address in addresses)
            assert f"comes from {addresses[place].removeprefix('http://')}" in text
            assert tab.run("document.getElementById('send').disabled")
            tab.run("document.getElementById('agree').click()")
            assert "Both parts of your answer have arrived" in take_part(tab, "0.9")
            kept = tab.run(
                "import('/client.js').then(({ Notebook }) => new Notebook().change((pages) =>"
                "  JSON.stringify(Object.values(pages.entries).map((one) => one.report))))"
            )
            assert kept == "[[]]"  # both shares together are the answer: nothing stays
        assert opened_cells(stores) == [0] * 11 + [1]  # 0.9, 0.9 lies in the last of 4 x 3


@pytest.mark.heavy
def test_invited_people_who_share_a_browser_are_each_counted_at_both_aggregators(tmp_path):
    with two_sites(tmp_path, enrolment="token") as (addresses, stores, campaign):
        links, _ = [invite(store, campaign, 3) for store in stores]
        with tab_of(tmp_path, f"{addresses[0]}/{links[0]}") as tab:
            for number, link in enumerate(links):
                if number:
                    tab.run(f"window.isOld = true; location.hash = '{link}'")
                tab.until("!window.isOld && document.getElementById('form')?.dataset.ready")
                tab.run("document.getElementById('agree').click()")
                assert "arrived" in take_part(tab, "0.1")
        assert opened_cells(stores) == [3] + [0] * 11


@pytest.mark.heavy
def test_only_a_tab_of_the_other_aggregator_may_send_shares_and_read_nothing_else(tmp_path):
    post = (
        "fetch('{}', {{method: 'POST', body: 'x', "
        "headers: {{'Content-Type': 'application/vnd.shoal.shares'}}}})"
        ".then((answer) => answer.status, () => 'blocked')"
    )
    with two_sites(tmp_path) as (addresses, stores, campaign):
        shares = [f"{address}/v1/shares" for address in addresses]
        with tab_of(tmp_path, f"{addresses[0]}/#key={campaign.key.hex()}") as tab:
            tab.until("document.getElementById('form')?.dataset.ready")
            assert tab.run(post.format(shares[1])) == 400  # read, and refused for what it is
            ask = "fetch('{}').then((answer) => answer.status, () => 'blocked')"
            assert tab.run(ask.format(f"{addresses[1]}/v1/campaign")) == "blocked"
            assert tab.run(ask.format(f"{addresses[0]}/v1/campaign")) == 200
        (tmp_path / "stranger").mkdir()
        with tab_of(tmp_path / "stranger", "about:blank") as tab:  # without a policy of its own
            assert [tab.run(post.format(url)) for url in shares] == ["blocked"] * 2
        for path in ("/", "/v1/campaign", "/v1/opening", "/v1/invitations", "/v1/health"):
            server = http.client.HTTPConnection(addresses[1].removeprefix("http://"))
            server.request("GET", path)
            headers = server.getresponse().headers
            server.close()
            assert "Content-Security-Policy" in headers
            assert not any(name.lower().startswith("access-control") for name in headers)
        assert [list(store.shares()) for store in stores] == [[], []]


@pytest.mark.heavy
def test_the_right_to_send_shares_follows_a_campaign_under_its_path(tmp_path):
    both = [
        {"address": "https://First.example.org:443/walk", "key": "a" * 64},
        {"address": "https://second.example.org:8443/a;b/", "key": "b" * 64},
    ]
    document = campaign_document(setting="two_aggregators", aggregators=both, n_least=10)
    envelope = envelope_of("campaign", document)
    campaign = Campaign(envelope, document, b"c" * 16)
    found = []
    for place in (0, 1):
        store = open_store(str(tmp_path / f"{place}.sqlite"), campaign.id, envelope)
        app = create_app(campaign, store, aggregator=place)
        with serving(create_site({"walk": app, "sleep": FastAPI()})) as address:
            server = http.client.HTTPConnection(address.removeprefix("http://"))
            server.request("OPTIONS", "/walk/v1/shares")
            answer = server.getresponse()
            assert answer.status == 204
            assert answer.headers["Access-Control-Allow-Methods"] == "POST"
            policy = answer.headers["Content-Security-Policy"].split("; ")
            found.append((answer.headers["Access-Control-Allow-Origin"], policy[3]))
            server.close()
    assert found == [
        (
            "https://second.example.org:8443",
            "connect-src 'self' https://second.example.org:8443/a%3Bb/v1/shares",
        ),
        (
            "https://first.example.org",
            "connect-src 'self' https://first.example.org/walk/v1/shares",
        ),
    ]
