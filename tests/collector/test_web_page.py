"""A person takes part in a browser tab: Chromium, driven over a pipe."""

import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from shoal.collector import client

from .campaigns import campaign_document, envelope_of
from .conftest import MISSING, serving

pytest.importorskip("fastapi", reason=f"fastapi is {MISSING}")

from shoal.collector._campaign import Campaign
from shoal.collector._databases import open_store
from shoal.collector._server import create_app
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
    document = campaign_document(name="a <b>walk</b>")
    envelope = envelope_of("campaign", document)
    name = client.identity("campaign", client.canonical(document))
    campaign = Campaign(envelope, document, name)
    store = open_store(f"sqlite:///{tmp_path / 'a.sqlite'}", name, envelope)
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
    with serving(create_app(campaign, store, rate=1_000)) as address:
        yield address, store, campaign


@pytest.fixture
def browser(site, tmp_path):
    if CHROMIUM is None:
        pytest.skip("no chromium found; tools/browser.sh installs it")
    address, _, campaign = site
    tab = Tab(tmp_path / "profile", f"{address}/#key={campaign.key.hex()}")
    yield tab
    tab.close()


@pytest.mark.heavy
def test_a_person_reports_once_and_labels_herself_in_a_tab(site, browser):
    _, store, _ = site
    browser.until("document.getElementById('send')?.disabled === false")
    browser.run("document.querySelectorAll('#form input').forEach(e => { e.value = '0.9'; })")
    browser.run("document.querySelector('#form button').click()")
    text = browser.until("document.getElementById('answer').textContent")
    assert text.startswith("Your randomised report has arrived")
    browser.run("document.getElementById('answer').textContent = ''")
    browser.run("document.querySelector('#form button').click()")
    assert browser.until("document.getElementById('answer').textContent") == text
    assert store.count() == 1
    browser.run("document.getElementById('label').click()")
    browser.until("document.getElementById('answer').textContent.includes('group 2')")
    assert store.count() == 1


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
def test_the_page_escapes_what_the_operator_wrote(site):
    _, _, campaign = site
    page = render(campaign, None, 3)
    assert "a &lt;b&gt;walk&lt;/b&gt;" in page
    assert "<b>walk" not in page
    assert "No groups were published yet" in page
