"""Killed in the middle and started again: every acknowledged report is there, and exactly once."""

import hashlib
import http.client
import json
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter

import pytest

from shoal.collector import client

from .campaigns import campaign_document, envelope_of
from .conftest import MISSING, free_port

pytest.importorskip("fastapi", reason=f"fastapi is {MISSING}")

from shoal.collector._campaign import Campaign
from shoal.collector._databases import open_store

SERVE = """
import json, sys
from shoal.collector._campaign import Campaign
from shoal.collector._server import create_app, serve
from shoal.collector._databases import open_store
campaign = Campaign.load(sys.argv[1])
store = open_store(sys.argv[2], campaign.id, campaign.envelope)
serve(create_app(campaign, store, reports_per_address=10**9), "127.0.0.1", int(sys.argv[3]))
"""


def start(folder, url, port):
    command = [sys.executable, "-c", SERVE, str(folder / "campaign.json"), url, str(port)]
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(command, stderr=log)
    until = time.monotonic() + 300
    while time.monotonic() < until:
        if client.http(f"http://127.0.0.1:{port}/v1/health")[0] == 200:
            return process
        time.sleep(0.05)
    raise AssertionError("the server did not start")


def key_of(i):
    return hashlib.sha256(b"person %d" % i).digest()[:16]


def code_of(i):
    return i * 2_654_435_761 % 7**4


def bodies_of(campaign, numbers, shares):
    """The batches of some people: their reports by round, and a label of every tenth."""
    rounds = {}
    for i in numbers:
        number = client.round_of(campaign, key_of(i), shares)
        rounds.setdefault(number, []).append((key_of(i), code_of(i)))
        if i % 10 == 0:
            key = hashlib.sha256(b"label %d" % i).digest()[:16]
            rounds.setdefault(client.LABEL_ROUND, []).append((key, i // 10 % 2))
    return [client.batch_of(campaign, number, reports) for number, reports in rounds.items()]


def send(campaign, port, numbers, size, results, killed=None, kills=0, shares=(2**32,)):
    """One client process: sends batches until each is acknowledged, some of them twice.

    With kills to come it runs ahead of them by a part at most, so that each meets some traffic.
    """
    draw, acknowledged = random.Random(numbers[0]), []
    for start_at in range(0, len(numbers), size):
        while killed is not None and killed.value < start_at * (kills + 1) // len(numbers):
            time.sleep(0.01)
        part = numbers[start_at : start_at + size]
        for body in bodies_of(campaign, part, shares):
            for _ in range(1 + (draw.random() < 0.1)):
                while _post(port, body) != 200:
                    time.sleep(0.05)
        acknowledged.append(len(part))
    results.put(sum(acknowledged))


def _post(port, body):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        headers = {"Content-Type": "application/vnd.shoal.reports"}
        connection.request("POST", "/v1/reports", body, headers)
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return 0
    finally:
        connection.close()


def run(folder, url, n, kills, workers, size=1_000):
    """Send n reports from several processes while the server is killed and started again."""
    question = campaign_document()["rounds"][0]["question"]
    rounds = [{"share": share, "question": question} for share in (3 * 2**30, 2**30)]
    document = campaign_document(rounds=rounds, labels={"epsilon": "0.5"})
    envelope = envelope_of("campaign", document)
    (folder / "campaign.json").write_text(json.dumps(envelope))
    campaign, port = Campaign.load(folder / "campaign.json"), free_port()
    server = start(folder, url, port)
    context = multiprocessing.get_context("fork")
    results, killed = context.Queue(), context.Value("i", 0)
    jobs = [
        context.Process(
            target=send,
            args=(
                campaign.id,
                port,
                range(i, n, workers),
                size,
                results,
                killed,
                kills,
                campaign.shares,
            ),
        )
        for i in range(workers)
    ]
    for job in jobs:
        job.start()
    store = open_store(url, campaign.id, campaign.envelope)
    try:
        while any(job.is_alive() for job in jobs):
            due = (2 * killed.value + 1) * n // (2 * kills + 2)  # in the middle of each part
            if killed.value < kills and store.count() >= due:
                os.kill(server.pid, signal.SIGKILL)
                server.wait()
                killed.value += 1
                server = start(folder, url, port)
            time.sleep(0.02)
        acknowledged = sum(results.get(timeout=60) for _ in jobs)
        for job in jobs:
            job.join()
    finally:
        os.kill(server.pid, signal.SIGKILL)
        server.wait()
    sums = {number: store.sums(number) for number in (0, 1, client.LABEL_ROUND)}
    count = store.count()
    store.close()
    assert "Traceback" not in (folder / "log").read_text()
    return campaign, acknowledged, killed.value, sums, count


def check(folder, url, n, kills, workers):
    campaign, acknowledged, killed, sums, count = run(folder, url, n, kills, workers)
    assert (acknowledged, killed) == (n, kills)
    assert count == n
    expected = {0: Counter(), 1: Counter()}
    for i in range(n):
        expected[client.round_of(campaign.id, key_of(i), campaign.shares)][code_of(i)] += 1
    assert sums[0] == expected[0]
    assert sums[1] == expected[1]
    assert sums[client.LABEL_ROUND] == Counter(i // 10 % 2 for i in range(0, n, 10))


@pytest.mark.heavy
def test_acknowledged_reports_survive_kills_and_count_once(database, tmp_path):
    check(tmp_path, database, n=24_000, kills=2, workers=2)


@pytest.mark.slow
def test_a_million_reports_of_eight_clients_survive_ten_kills(database, tmp_path):
    check(tmp_path, database, n=1_000_000, kills=10, workers=8)


class RawInserts:
    """Inserts of ids alone, one flushed transaction each time, into a table beside the store's."""

    def __init__(self, url):
        self.is_sqlite = url.startswith("sqlite")
        if self.is_sqlite:
            import sqlite3

            path = url.removeprefix("sqlite:///") + ".raw"
            self.connection = sqlite3.connect(path, isolation_level=None)
            self.connection.execute("PRAGMA journal_mode = WAL")
            self.connection.execute("PRAGMA synchronous = FULL")
            self.connection.execute("CREATE TABLE raw (who BLOB PRIMARY KEY) WITHOUT ROWID")
        else:
            import psycopg

            self.connection = psycopg.connect(url, autocommit=True)
            self.connection.execute("CREATE TABLE raw (who bytea PRIMARY KEY)")

    def insert(self, whos):
        self.connection.execute("BEGIN")
        if self.is_sqlite:
            rows = [(who,) for who in sorted(whos)]
            self.connection.executemany("INSERT INTO raw VALUES (?)", rows)
        else:
            insert = "INSERT INTO raw SELECT unnest(%s::bytea[])"
            self.connection.execute(insert, (sorted(whos),))
        self.connection.execute("COMMIT")


@pytest.mark.slow
def test_accepting_is_at_least_three_fifths_as_fast_as_raw_inserts(database):
    from shoal.collector._storage import Arrival

    n, clock = 200_000, time.perf_counter
    store, raw = open_store(database, b"c" * 16, {}), RawInserts(database)
    spent = {"accept": 0.0, "raw": 0.0}
    codes = [i * 7 % 2401 for i in range(1_000)]
    for _ in range(0, n, 1_000):  # in turns, so that a busy machine slows both
        whos = [os.urandom(16) for _ in range(1_000)]
        begin = clock()
        raw.insert(whos)
        middle = clock()
        store.accept([Arrival(0, whos, codes)], 0)
        spent["raw"] += middle - begin
        spent["accept"] += clock() - middle
    store.close()
    raw.connection.close()
    ratio = spent["raw"] / spent["accept"]
    print(f"\naccept over raw inserts: {ratio:.2f}, {n / spent['accept']:.0f} reports a second")
    assert ratio >= 0.6


@pytest.mark.slow
def test_single_reports_under_load_and_memory_are_stated(tmp_path):
    """Batches from two processes, and meanwhile single reports: their p99, and memory."""
    document = campaign_document(labels={"epsilon": "0.5"})  # which every tenth sends
    (tmp_path / "campaign.json").write_text(json.dumps(envelope_of("campaign", document)))
    campaign, port = Campaign.load(tmp_path / "campaign.json"), free_port()
    url = f"sqlite:///{tmp_path / 'a.sqlite'}"
    server = start(tmp_path, url, port)
    context = multiprocessing.get_context("fork")
    results, n = context.Queue(), 200_000
    jobs = [
        context.Process(target=send, args=(campaign.id, port, range(i, n, 2), 1_000, results))
        for i in range(2)
    ]
    for job in jobs:
        job.start()
    seconds, memory = [], []
    drain = threading.Thread(target=lambda: [results.get() for _ in jobs])
    drain.start()
    while any(job.is_alive() for job in jobs):
        body = client.batch_of(campaign.id, 0, [(os.urandom(16), 1)])
        begin = time.perf_counter()
        assert _post(port, body) == 200
        seconds.append(time.perf_counter() - begin)
        memory.append(_resident(server.pid))
    drain.join()
    os.kill(server.pid, signal.SIGKILL)
    server.wait()
    seconds.sort()
    p99 = seconds[int(0.99 * len(seconds))]
    early, late = memory[len(memory) // 4], memory[-1]
    print(f"\np99 of {len(seconds)} single reports: {p99:.3f} s; memory {early} -> {late} MB")
    assert late < early + 50


def _send_at_a_rate(campaign, port, rate, seconds, results):
    """Single reports at their moments, whether or not earlier ones were answered."""
    from concurrent.futures import ThreadPoolExecutor

    begin = time.perf_counter() + 0.5
    moments = [begin + i / rate for i in range(rate * seconds)]

    def one(moment):
        body = client.batch_of(campaign, 0, [(os.urandom(16), 1)])
        time.sleep(max(0, moment - time.perf_counter()))
        assert _post(port, body) == 200
        return time.perf_counter() - moment

    with ThreadPoolExecutor(64) as pool:
        results.put(list(pool.map(one, moments)))


@pytest.mark.slow
def test_single_reports_at_two_hundred_a_second_take_less_than_a_quarter_of_a_second(
    database, tmp_path
):
    (tmp_path / "campaign.json").write_text(
        json.dumps(envelope_of("campaign", campaign_document()))
    )
    campaign, port = Campaign.load(tmp_path / "campaign.json"), free_port()
    server = start(tmp_path, database, port)
    results = multiprocessing.get_context("fork").Queue()
    job = multiprocessing.get_context("fork").Process(
        target=_send_at_a_rate, args=(campaign.id, port, 200, 20, results)
    )
    job.start()
    seconds = sorted(results.get(timeout=120))
    job.join()
    cpu = _cpu_seconds(server.pid) / len(seconds)
    os.kill(server.pid, signal.SIGKILL)
    server.wait()
    median, p99 = seconds[len(seconds) // 2], seconds[int(0.99 * len(seconds))]
    load = os.getloadavg()[0]
    print(f"\nat 200 a second: median {median:.3f} s, p99 {p99:.3f} s; load {load:.1f}", end="; ")
    print(f"{1e3 * cpu:.2f} ms of CPU a report")
    if load < 2 * (os.cpu_count() or 1):
        assert p99 < 0.25


def _cpu_seconds(pid):
    with open(f"/proc/{pid}/stat") as status:
        user, system = status.read().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def _resident(pid):
    with open(f"/proc/{pid}/status") as status:
        line = next(line for line in status if line.startswith("VmRSS"))
    return int(line.split()[1]) // 1024
