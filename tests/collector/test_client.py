"""The client: what it draws, keeps, sends and refuses. Standard library alone."""

import email.utils
import json
import multiprocessing
import os
import socket
import stat
import subprocess
import sys
import threading
import time
from fractions import Fraction
from pathlib import Path

import pytest

from shoal.collector import client
from shoal.collector.client import Client, Limits, Notebook, Refused, WordStream

from .campaigns import PUBLIC_KEY, campaign_document, envelope_of

SHIPPED = Path(client.__file__).with_name("vectors.json")
INDEPENDENT = Path(__file__).with_name("independent_vectors.json")
FILES = [json.loads(path.read_text()) for path in (SHIPPED, INDEPENDENT)]
GRID = campaign_document()["rounds"][0]["question"]


class Server:
    """Answers requests from a table, and keeps what was posted."""

    def __init__(self, campaign=None, answers=(200,)):
        self.envelope = envelope_of("campaign", campaign or campaign_document())
        self.answers, self.bodies, self.documents = list(answers), [], {}
        self.versions, self.invitations = [1, 2], {}

    def __call__(self, url, body=None):
        path = url.split("127.0.0.1:1")[1]
        if path == "/v1/campaign":
            return 200, json.dumps(self.envelope).encode(), None
        if path == "/.well-known/shoal":
            return 200, json.dumps({"versions": self.versions}).encode(), None
        if path in self.documents:
            return 200, json.dumps(self.documents[path]).encode(), None
        if body is None:
            return 404, b"", None
        if path == "/v1/invitations":
            return self.invitations.get(body[20:], (200, b'{"used": false}', None))
        self.bodies.append(body)
        status = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return status, b"{}", None


def client_of(server, folder, **settings):
    settings = {"pause": lambda seconds: None, **settings}
    notebook = Notebook(folder / "notebook.json")
    return Client("http://127.0.0.1:1", PUBLIC_KEY, notebook, send=server, **settings)


@pytest.mark.parametrize("file", FILES, ids=["shipped", "independent"])
def test_every_vector_gives_its_report_and_reads_its_words(file):
    for vector in file["vectors"]:
        words = WordStream(bytes.fromhex(vector["random"]))
        client.check_question(vector["question"], client.exact(vector["question"]["epsilon"]))
        report = client.draw(vector["question"], vector["record"], words)
        assert (report, words.consumed) == (vector["report"], vector["consumed"])
        columns = len(vector["question"].get("columns", "1"))
        columns = columns if vector["question"]["mechanism"] == "residual_sign" else 1
        assert vector["codes"] == columns * client.codes_of(vector["question"]) > report


def test_every_lattice_vector_gives_its_report_and_reads_its_words():
    file = FILES[0]
    assert {len(vector["report"]) for vector in file["lattice"]} == {1, 2, 3, 7}
    for vector in file["lattice"]:
        words = WordStream(bytes.fromhex(vector["random"]))
        client.check_question(vector["question"], client.exact(vector["question"]["epsilon"]))
        report = client.draw(vector["question"], vector["record"], words)
        assert (report, words.consumed) == (vector["report"], vector["consumed"])
    batch, campaign = file["lattice_batch"], bytes.fromhex(file["key"]["campaign"])
    reports = [(bytes.fromhex(key), report) for key, report in batch["reports"]]
    assert client.batch_of(campaign, batch["round"], reports).hex() == batch["body"]


@pytest.mark.parametrize("file", FILES, ids=["shipped", "independent"])
def test_keys_rounds_thresholds_and_bytes_are_those_of_the_vectors(file):
    for epsilon, k, threshold in file["thresholds"]:
        assert client.keep_threshold(epsilon, k) == int(threshold)
    key, campaign = file["key"], bytes.fromhex(file["key"]["campaign"])
    own = client.key_of(bytes.fromhex(key["token"]), campaign)
    assert own.hex() == key["key"]
    assert client.round_of(campaign, own, key["shares"]) == key["round"]
    for other, number in file["rounds"]:
        assert client.round_of(campaign, bytes.fromhex(other), key["shares"]) == number
    for document, text, name in file["canonical"]:
        assert client.canonical(document).decode() == text
        assert client.identity("campaign", text.encode()).hex() == name


def test_shares_labels_batches_and_spoilt_signatures_are_those_of_the_vectors():
    file = FILES[0]
    for one in file["ed25519"]:
        parts = [bytes.fromhex(one[name]) for name in ("public", "message", "signature")]
        assert client.verify(*parts) is one["valid"], one["name"]
    for one in file["shares"]:
        seed = bytes.fromhex(one["seed"])
        share = client.share_of(one["cell"], one["cells"], seed)
        assert share.hex() == one["share"]
        assert client.tag_of(seed).hex() == one["tag"]
        pairs = zip(words_of(share), words_of(client.pad_of(seed, one["cells"])), strict=True)
        assert [(a + b) % 2**64 for a, b in pairs] == [
            i == one["cell"] for i in range(one["cells"])
        ]
    shares = [(bytes.fromhex(k), bytes.fromhex(c)) for k, c in file["share_batch"]["shares"]]
    campaign = bytes.fromhex(file["key"]["campaign"])
    body = client.share_batch_of(campaign, file["share_batch"]["aggregator"], shares)
    assert body.hex() == file["share_batch"]["body"]
    for one in file["labels"]:
        assert client.label(one, one["record"], one) == one["label"]
    batch = file["batch"]
    reports = [(bytes.fromhex(key), report) for key, report in batch["reports"]]
    campaign = bytes.fromhex(file["key"]["campaign"])
    assert client.batch_of(campaign, batch["round"], reports).hex() == batch["body"]


def words_of(content):
    return [int.from_bytes(content[i : i + 8], "big") for i in range(0, len(content), 8)]


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("keep_threshold", lambda good: lambda e, k: good(e, k) + 1),
        ("keep_threshold", lambda good: lambda e, k: good(e, k) - 1),
    ],
)
def test_a_threshold_off_by_one_fails_the_vectors(name, broken, monkeypatch):
    monkeypatch.setattr(client, name, broken(getattr(client, name)))
    assert _wrong_vectors()


def test_other_bytes_orders_and_missing_rejections_fail_the_vectors(monkeypatch):
    word = WordStream.word
    with monkeypatch.context() as patch:
        patch.setattr(
            WordStream, "word", lambda self: int.from_bytes(word(self).to_bytes(8, "big"), "little")
        )
        assert _wrong_vectors()
    with monkeypatch.context() as patch:
        patch.setattr(WordStream, "below", lambda self, m: self.word() % m)
        assert _wrong_vectors()


def _wrong_vectors():
    wrong = 0
    for vector in FILES[0]["vectors"]:
        words = WordStream(bytes.fromhex(vector["random"]))
        report = client.draw(vector["question"], vector["record"], words)
        wrong += (report, words.consumed) != (vector["report"], vector["consumed"])
    return wrong


def test_the_threshold_never_exceeds_the_promise_in_whole_numbers():
    for a in (1, 3, 7, 10, 23, 37, 50, 100, 131, 200):
        for k in (2, 3, 4, 9, 17, 64, 144, 1000, 4096, 65536, 2**20, 2**24):
            epsilon = f"{a // 10}.{a % 10}"
            kept = client.keep_threshold(epsilon, k)
            total = term = 2**256
            for i in range(1, 400):
                term = term * a // (10 * i)
                total += term
            # p/q <= e^epsilon, with a lower bound of e^epsilon, and p >= q.
            assert kept * (k - 1) * 2**256 <= total * (2**64 - kept)
            assert kept * (k - 1) >= 2**64 - kept


@pytest.mark.heavy
def test_importing_the_client_is_quick_and_needs_no_numpy(tmp_path):
    # Compiled once, whatever the environment says of bytecode: that is not what is measured.
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    environment = kept | {"PYTHONPYCACHEPREFIX": str(tmp_path)}
    code = (
        "import time; start = time.process_time(); import shoal.collector.client, sys;"
        "spent = time.process_time() - start;"
        "print(spent, *sorted({name.split('.')[0] for name in sys.modules}))"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env=environment,
        )
        for _ in range(5)
    ]
    names = runs[0].stdout.split()[1:]
    assert min(float(run.stdout.split()[0]) for run in runs) < 0.05
    outside = {"shoal"} | set(sys.stdlib_module_names)
    assert not {name for name in names if not name.startswith("_")} - outside - _SITE_HOOKS


_SITE_HOOKS = {"sitecustomize", "usercustomize", "distutils"}  # of the environment, not the client


def test_the_client_runs_as_a_copy_of_its_own(tmp_path):
    copy = tmp_path / "alone.py"
    copy.write_text(Path(client.__file__).read_text())
    code = "import alone; print(alone.keep_threshold('1', 3))"
    run = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip() == "10627480729818066791"


def test_a_report_is_drawn_once_written_down_and_sent_again_unchanged(tmp_path):
    server = Server(answers=[503, 0, 200])
    person = client_of(server, tmp_path)
    assert person.take_part([0.5, 0.5]) == "sent"
    assert len(server.bodies) == 3
    assert len(set(server.bodies)) == 1
    assert client_of(server, tmp_path).take_part([0.9, 0.1]) == "sent"
    assert len(server.bodies) == 3
    notebook = tmp_path / "notebook.json"
    assert stat.S_IMODE(notebook.stat().st_mode) == 0o600
    (entry,) = json.loads(notebook.read_text())["entries"].values()
    assert entry["sent"]
    assert int.from_bytes(server.bodies[0][-4:], "big") == entry["report"]


def test_a_server_that_asks_to_wait_is_waited_for_as_it_says_and_not_for_ever(tmp_path):
    date = email.utils.formatdate(time.time() + 100, usegmt=True)
    afters = [("7", 7, 10.5), (date, 90, 150), ("9" * 400, 300, 450), ("soon", 8, 12)]
    answers, pauses, server = iter(afters), [], Server()

    def send(url, body=None):
        if body is None or (after := next(answers, None)) is None:
            return server(url, body)
        return 408 if after[0] == "7" else 429, b"", after[0]

    assert client_of(send, tmp_path, pause=pauses.append).take_part([0.5, 0.5]) == "sent"
    for seconds, (_, least, most) in zip(pauses, afters, strict=True):
        assert least <= seconds <= most


def test_an_answer_that_is_not_http_is_no_answer():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        def answer():
            connection, _ = server.accept()
            connection.recv(1000)
            connection.sendall(b"BANANA\r\n\r\n")
            connection.close()

        thread = threading.Thread(target=answer)
        thread.start()
        assert client.http(f"http://127.0.0.1:{port}/v1/health") == (0, b"", None)
        thread.join()


def test_keys_and_tokens_are_taken_as_they_are_printed_and_damaged_ones_by_name(tmp_path):
    server = Server(campaign_document(enrolment="token"))
    notebook = Notebook(tmp_path / "notebook.json")
    settings = {"send": server, "pause": lambda seconds: None}
    token = "ab" * 32
    person = Client("http://127.0.0.1:1", PUBLIC_KEY.hex(), notebook, token=token, **settings)
    assert person.take_part([0.5, 0.5]) == "sent"
    _, name = client.open_envelope(server.envelope, "campaign", PUBLIC_KEY)
    assert server.bodies[0][24:40] == client.key_of(bytes.fromhex(token), name)
    for key, given in ((PUBLIC_KEY.hex()[:-1], None), (PUBLIC_KEY, "xyz"), (PUBLIC_KEY, b"short")):
        with pytest.raises(Refused, match="64 digits"):
            Client("http://127.0.0.1:1", key, notebook, token=given, **settings)


def test_a_report_is_on_disk_before_it_is_sent(tmp_path):
    def send(url, body=None):
        if body is not None:
            pages = json.loads((tmp_path / "notebook.json").read_text())
            assert all("report" in entry for entry in pages["entries"].values())
        return server(url, body)

    server = Server()
    assert client_of(send, tmp_path).take_part([0.1, 0.2]) == "sent"
    assert len(server.bodies) == 1


def _take_part(folder, results):
    server = Server()
    client_of(server, Path(folder)).take_part([0.5, 0.5])
    results.put([body.hex() for body in server.bodies])


@pytest.mark.heavy
def test_two_processes_with_one_notebook_send_one_report(tmp_path):
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    workers = [context.Process(target=_take_part, args=(str(tmp_path), results)) for _ in range(4)]
    for worker in workers:
        worker.start()
    bodies = {body for _ in workers for body in results.get(timeout=60)}
    for worker in workers:
        worker.join()
    assert len(bodies) == 1


TOKENS = [bytes([i]) * 32 for i in range(9)]


def invited(server, token, status=200, used=False):
    """Let the server of a test answer for an invitation."""
    _, name = client.open_envelope(server.envelope, "campaign", PUBLIC_KEY)
    answer = json.dumps({"used": used}).encode()
    server.invitations[client.key_of(token, name)] = (status, answer, None)


def test_a_missing_or_wrong_token_costs_nothing_and_the_right_one_is_taken_after_it(tmp_path):
    server = Server(campaign_document(enrolment="token"))
    invited(server, TOKENS[0], 401)
    invited(server, TOKENS[1])
    invited(server, TOKENS[2], used=True)
    for token, text in ((None, "your own invitation"), (TOKENS[0], "does not know"),
                        (TOKENS[2], "used before")):  # fmt: skip
        with pytest.raises(Refused, match=text):
            client_of(server, tmp_path, token=token).take_part([0.5, 0.5])
    assert not server.bodies
    limits = Limits(ceiling="2")
    person = client_of(server, tmp_path, token=TOKENS[1], limits=limits)
    assert person.take_part([0.5, 0.5]) == "sent"
    assert client_of(server, tmp_path).take_part([0.5, 0.5]) == "sent"  # it is remembered


@pytest.mark.parametrize(
    ("answer", "result"),
    [
        ((0, b"", None), "unreachable"),
        ((404, b"", None), "unreachable"),
        ((503, b"", "5"), "unreachable"),
        ((200, b"<html>", None), "unreachable"),
        ((200, b"[]", None), "unreachable"),
        ((200, b'{"used": 0}', None), "unreachable"),
        ((410, b"", None), "closed"),
    ],
)
def test_nothing_is_drawn_before_the_server_says_that_an_invitation_is_good(
    tmp_path, answer, result
):
    server = Server(campaign_document(enrolment="token"))
    _, name = client.open_envelope(server.envelope, "campaign", PUBLIC_KEY)
    server.invitations[client.key_of(TOKENS[0], name)] = answer
    person = client_of(server, tmp_path, token=TOKENS[0])
    assert person.take_part([0.5, 0.5]) == result
    assert not server.bodies
    with person.notebook.pages() as pages:
        assert not pages["entries"]


def test_a_report_that_a_server_took_and_refused_stays_charged(tmp_path):
    server = Server(campaign_document(enrolment="token"), answers=[401])
    for token in TOKENS[:2]:  # a server that calls invitations good, and lies
        with pytest.raises(Refused, match="does not know"):
            client_of(server, tmp_path, token=token, limits=Limits("4")).take_part([0.5, 0.5])
    assert len(server.bodies) == 2
    server.answers = [200]
    for limits, text in ((Limits("5"), "one campaign"), (Limits("6", ceiling="5"), "in all")):
        with pytest.raises(Refused, match=text):
            client_of(server, tmp_path, token=TOKENS[2], limits=limits).take_part([0, 0])
    assert len(server.bodies) == 2
    person = client_of(server, tmp_path, token=TOKENS[2], limits=Limits("6"))
    assert person.take_part([0.5, 0.5]) == "sent"


def test_a_refused_report_that_is_taken_later_is_its_own_persons_alone(tmp_path):
    server = Server(campaign_document(enrolment="token"), answers=[401])
    with pytest.raises(Refused, match="does not know"):
        client_of(server, tmp_path, token=TOKENS[0]).take_part([0.5, 0.5])
    server.answers = [200]
    with pytest.raises(Refused, match="one campaign"):
        client_of(server, tmp_path, token=TOKENS[1]).take_part([0.5, 0.5])
    assert client_of(server, tmp_path, token=TOKENS[0]).take_part([0.5, 0.5]) == "sent"
    assert client_of(server, tmp_path, token=TOKENS[1]).take_part([0.5, 0.5]) == "sent"


def test_people_who_share_a_notebook_report_for_themselves_and_pay_for_themselves(tmp_path):
    server = Server(campaign_document(enrolment="token"))
    for token in TOKENS:
        person = client_of(server, tmp_path, token=token, limits=Limits(ceiling="2"))
        assert person.take_part([0.5, 0.5]) == "sent"
    assert len({body[24:40] for body in server.bodies}) == len(TOKENS)
    with pytest.raises(Refused, match="your own invitation"):
        client_of(server, tmp_path).take_part([0.5, 0.5])
    # In another campaign the same person may be any of them, who spent 2.
    other = Server(campaign_document(name="another walk"))
    with pytest.raises(Refused, match="in all"):
        client_of(other, tmp_path, limits=Limits(ceiling="3")).take_part([0.5, 0.5])
    person = client_of(other, tmp_path, limits=Limits(ceiling="4"))
    assert person.take_part([0.5, 0.5]) == "sent"
    person.notebook.start_as_another_person()
    assert person.take_part([0.5, 0.5]) == "sent"
    assert len({body[24:40] for body in other.bodies}) == 2


def test_a_notebook_of_the_first_version_goes_on_and_forgets_what_only_waited(tmp_path):
    server = Server()
    _, name = client.open_envelope(server.envelope, "campaign", PUBLIC_KEY)
    token = "ab" * 32
    entry = {"name": "a walk", "epsilon": "2", "token": token, "sent": True, "report": 7}
    waiting = {"name": "b", "epsilon": "6", "token": token, "sent": False}
    asked = {
        name.hex(): entry,
        f"{name.hex()}/label": {**entry, "epsilon": "0.5"},
        "0" * 32: waiting,
    }
    pages = {"version": 1, "token": token, "asked": asked}
    (tmp_path / "notebook.json").write_text(json.dumps(pages))
    assert client_of(server, tmp_path).take_part([0.5, 0.5]) == "sent"
    assert not server.bodies
    pages = json.loads((tmp_path / "notebook.json").read_text())
    key = client.key_of(bytes.fromhex(token), name).hex()
    assert pages["version"] == 2
    assert {*pages["entries"]} == {f"{name.hex()}/{key}", f"{name.hex()}/{key}/label"}


def test_the_notebook_stops_at_the_ceiling_and_adds_exactly(tmp_path):
    for i in range(3):
        document = campaign_document(name=f"walk {i}", epsilon="0.1")
        person = client_of(Server(document), tmp_path, limits=Limits(ceiling="0.3"))
        assert person.take_part([0.5, 0.5]) == "sent"
    server = Server(campaign_document(name="walk 4", epsilon="0.000000001"))
    with pytest.raises(Refused, match="more than you allow in all"):
        client_of(server, tmp_path, limits=Limits(ceiling="0.3")).take_part([0.5, 0.5])
    assert not server.bodies


@pytest.mark.parametrize(
    ("content", "mode"), [("", 0o600), ("{", 0o600), ('{"version": 3}', 0o600), ("[]", 0o600)]
)
def test_a_damaged_notebook_is_refused_and_not_begun_anew(tmp_path, content, mode):
    notebook = tmp_path / "notebook.json"
    notebook.write_text(content)
    server = Server()
    with pytest.raises(Refused, match="damaged"):
        client_of(server, tmp_path).take_part([0.5, 0.5])
    assert notebook.read_text() == content
    assert not server.bodies


CHANGES = {
    "unknown field": {"more": 1},
    "unknown version": {"format": 2},
    "too much": {"epsilon": "2.1"},
    "closed": {"closes": "2020-01-01T00:00:00Z", "opens": "2019-01-01T00:00:00Z"},
    "not yet open": {"opens": "2999-01-01T00:00:00Z", "closes": "2999-02-01T00:00:00Z"},
    "no setting": {"setting": ["local"]},
    "weaker": {"setting": "shuffled", "delta": "0.000001", "n_least": 1000},
    "central": {"setting": "central"},
    "shares": {"rounds": [{"share": 2**32 - 1, "question": GRID}]},
    "no rounds": {"rounds": []},
    "aggregators": {"setting": "two_aggregators", "n_least": 1, "aggregators": []},
    "delta": {"delta": "0.000001"},
    "bounds": {
        "rounds": [{"share": 2**32, "question": {**GRID, "columns": [["0", "0"], ["0", "1"]]}}]
    },
    "infinite": {
        "rounds": [{"share": 2**32, "question": {**GRID, "columns": [["0", "1e999"], ["0", "1"]]}}]
    },
    "cells": {"rounds": [{"share": 2**32, "question": {**GRID, "cells": [15, 14]}}]},
    "no cells": {"rounds": [{"share": 2**32, "question": {**GRID, "cells": [0, 15]}}]},
    "mechanism": {"rounds": [{"share": 2**32, "question": {**GRID, "mechanism": "none"}}]},
    "other price": {"rounds": [{"share": 2**32, "question": {**GRID, "epsilon": "1.5"}}]},
    "prime": {
        "rounds": [
            {"share": 2**32, "question": {**GRID, "oracle": {**GRID["oracle"], "buckets": 4}}}
        ]
    },
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_campaign_that_breaks_a_rule_is_refused_and_nothing_is_sent(name, tmp_path):
    server = Server({**campaign_document(), **CHANGES[name]})
    with pytest.raises(Refused):
        client_of(server, tmp_path).take_part([0.5, 0.5])
    assert not server.bodies
    assert not (tmp_path / "notebook.json").exists()


@pytest.mark.parametrize(
    "epsilon",
    ["1e1", "+1", "01", "1.", ".5", "１", "-0", "0", "20.000000000001", "", "1 ", 1, None],
)
def test_an_epsilon_that_is_not_a_plain_decimal_is_refused(epsilon):
    with pytest.raises(Refused):
        client.exact(epsilon)


def test_both_spellings_of_one_are_the_same_epsilon():
    assert client.exact("1") == client.exact("1.0") == Fraction(1)


def _changed(envelope, **parts):
    return {**envelope, **parts}


@pytest.mark.heavy
def test_an_envelope_of_another_kind_key_or_writing_is_refused():
    good = envelope_of("campaign", campaign_document())
    client.open_envelope(good, "campaign", PUBLIC_KEY)
    spaced = json.dumps(campaign_document(), sort_keys=True).encode()
    bad = {
        "kind": envelope_of("round", campaign_document()),
        "field": _changed(good, more=""),
        "alphabet": _changed(good, payload=good["payload"].replace("e", "-", 1)),
        "space": _changed(good, payload=" " + good["payload"]),
        "writing": envelope_of("campaign", payload=spaced),
        "null": envelope_of("campaign", payload=b"null"),
        "deep": envelope_of("campaign", payload=b"[" * 10_000),
        "number": envelope_of("campaign", payload=b'{"a":1.5}'),
        "nan": envelope_of("campaign", payload=b'{"a":NaN}'),
        "twice": envelope_of("campaign", payload=b'{"a":1,"a":1}'),
        "text": "x",
        "list": [],
    }
    for envelope in bad.values():
        with pytest.raises(Refused):
            client.open_envelope(envelope, "campaign", PUBLIC_KEY)
    with pytest.raises(Refused):
        client.open_envelope(good, "campaign", bytes(32))


def test_a_document_that_has_a_name_twice_is_refused(tmp_path):
    server = Server()

    def send(url, body=None):
        status, content, after = server(url, body)
        if url.endswith("/v1/campaign"):
            content = content.replace(b'{"payload"', b'{"payload": "", "payload"')
        return status, content, after

    with pytest.raises(Refused, match="twice"):
        client_of(send, tmp_path).take_part([0.5, 0.5])


def test_a_server_that_speaks_other_versions_is_refused(tmp_path):
    server = Server()
    for versions in ([2], [], None, "1"):
        server.versions = versions
        with pytest.raises(Refused, match="another version"):
            client_of(server, tmp_path).take_part([0.5, 0.5])
    assert not server.bodies


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")
def test_a_notebook_of_another_user_is_refused(tmp_path):
    assert client_of(Server(), tmp_path).take_part([0.5, 0.5]) == "sent"
    os.chown(tmp_path / "notebook.json", 65534, 65534)
    with pytest.raises(Refused, match="somebody else"):
        client_of(Server(), tmp_path).take_part([0.5, 0.5])


def test_a_second_campaign_under_one_name_is_refused(tmp_path):
    assert client_of(Server(), tmp_path).take_part([0.5, 0.5]) == "sent"
    server = Server(campaign_document(purpose="another"))
    with pytest.raises(Refused, match="Another campaign of this name"):
        client_of(server, tmp_path).take_part([0.5, 0.5])


def test_a_record_of_the_wrong_width_is_refused_before_a_word_is_read(tmp_path):
    words = WordStream(bytes(64))
    with pytest.raises(ValueError, match="2 numbers"):
        client.draw(GRID, [0.5], words)
    assert words.consumed == 0
    with pytest.raises(ValueError, match="2 numbers"):
        client_of(Server(), tmp_path).take_part([0.5])
    assert not (tmp_path / "notebook.json").exists()  # nothing was charged


def test_the_number_of_words_does_not_depend_on_the_record():
    for question in (GRID, FILES[0]["vectors"][-1]["question"]):
        for random in (bytes(64), os.urandom(64)):
            counts = set()
            for record in ([0.0, 0.0], [1.0, 1.0], [None, True], [0.3, 1e308]):
                words = WordStream(random)
                client.draw(question, record, words)
                counts.add(words.consumed)
            assert len(counts) == 1


def test_an_address_without_tls_is_refused_unless_it_is_this_machine():
    for address in ("http://example.org/", "http://127.0.0.1.example.org/", "ftp://127.0.0.1/",
                    "http://localhost:@example.org/", "https://me@example.org/"):  # fmt: skip
        with pytest.raises(Refused, match="TLS"):
            client.http(address)


def test_a_person_labels_herself_and_sends_nothing(tmp_path):
    server = Server()
    _, name = client.open_envelope(server.envelope, "campaign", PUBLIC_KEY)
    server.documents["/v1/model"] = envelope_of("model", model_document(name.hex()))
    assert client_of(server, tmp_path).label([0.9, 0.8]) == 1
    assert client_of(server, tmp_path).label([None, 0.1]) == 0
    assert not server.bodies
    with pytest.raises(Refused, match="does not ask for labels"):
        client_of(server, tmp_path).send_label([0.9, 0.8])
    server.documents["/v1/model"] = envelope_of("model", model_document("0" * 32))
    with pytest.raises(Refused, match="another's"):
        client_of(server, tmp_path).label([0.9, 0.8])


def test_groups_published_after_the_close_label_people_and_take_no_report(tmp_path):
    over = {"opens": "2019-01-01T00:00:00Z", "closes": "2020-01-01T00:00:00Z"}
    server = Server(campaign_document(**over))
    _, name = client.open_envelope(server.envelope, "campaign", PUBLIC_KEY)
    server.documents["/v1/model"] = envelope_of("model", model_document(name.hex()))
    assert client_of(server, tmp_path).label([0.9, 0.8]) == 1
    with pytest.raises(Refused, match="not open now"):
        client_of(server, tmp_path).take_part([0.9, 0.8])


def test_a_label_is_sent_once_randomised_and_charged(tmp_path):
    server = Server(campaign_document(labels={"epsilon": "0.5"}))
    _, name = client.open_envelope(server.envelope, "campaign", PUBLIC_KEY)
    server.documents["/v1/model"] = envelope_of("model", model_document(name.hex()))
    with pytest.raises(Refused, match="costs more than you allow"):
        client_of(server, tmp_path).send_label([0.9, 0.8])
    person = client_of(server, tmp_path, limits=client.Limits("2.5"))
    assert person.take_part([0.9, 0.8]) == "sent"
    assert person.send_label([0.9, 0.8]) == "sent"
    assert person.send_label([0.1, 0.1]) == "sent"
    assert len(set(server.bodies[1:])) == 1
    assert server.bodies[1][20] == client.LABEL_ROUND
    pages = json.loads((tmp_path / "notebook.json").read_text())
    assert sum(Fraction(entry["epsilon"]) for entry in pages["entries"].values()) == Fraction(5, 2)
    assert server.bodies[0][24:40] != server.bodies[1][24:40]  # two keys: two tables of people


def model_document(campaign):
    return {
        "format": 1,
        "type": "model",
        "campaign": campaign,
        "centers": [["0.2", "0.2"], ["0.8", "0.8"]],
        "units": ["1.0", "1.0"],
        "n_reports": 100,
        "guarantee": "2-LDP",
        "control": "0.5",
    }


def test_a_later_round_waits_for_its_question(tmp_path):
    later = [{"share": 1, "question": GRID}, {"share": 2**32 - 1, "question": "later"}]
    server = Server(campaign_document(rounds=later))
    person = client_of(server, tmp_path)
    assert person.take_part([0.5, 0.5]) == "wait"
    assert not server.bodies
    pages = json.loads((tmp_path / "notebook.json").read_text())
    assert not pages["entries"]  # nothing was drawn, so nothing is charged
    _, name = client.open_envelope(server.envelope, "campaign", PUBLIC_KEY)
    question = {
        "mechanism": "residual_sign",
        "epsilon": "2",
        "columns": GRID["columns"],
        "centers": [["0.2", "0.3"], ["0.7", "0.5"]],
        "reach": "0.25",
        "oracle": {"name": "randomized_response", "size": 4},
    }
    document = {
        "format": 1,
        "type": "round",
        "campaign": name.hex(),
        "round": 1,
        "question": question,
        "before": "0" * 64,
    }
    cells = {"mechanism": "cell_shares", "epsilon": "2", "columns": GRID["columns"],
             "cells": [4, 4]}  # fmt: skip
    server.documents["/v1/round/1"] = envelope_of("round", {**document, "question": cells})
    with pytest.raises(Refused, match="does not fit"):
        person.take_part([0.5, 0.5])
    for before in ("", "0" * 63, 7):
        server.documents["/v1/round/1"] = envelope_of("round", {**document, "before": before})
        with pytest.raises(Refused, match="learnt from"):
            person.take_part([0.5, 0.5])
    server.documents["/v1/round/1"] = envelope_of("round", document)
    assert person.take_part([0.5, 0.5]) == "sent"
    assert server.bodies[0][20] == 1


def test_drawing_and_verifying_are_quick():
    words = WordStream()
    client.draw(GRID, [0.5, 0.5], words)
    start = time.process_time()
    for _ in range(500):
        client.draw(GRID, [0.5, 0.5], words)
    assert (time.process_time() - start) / 500 < 1e-4
    envelope = envelope_of("campaign", campaign_document())
    start = time.process_time()
    client.open_envelope(envelope, "campaign", PUBLIC_KEY)
    assert time.process_time() - start < 0.05
