"""Killed at any moment, a run leaves nothing half done, and the same command ends the work.

SIGKILL and SIGTERM hit `cluster` (a file and standard input), `perturb` and `anonymize` at random
times and right before or after a chosen call that changes the disk. Then the command is run again.
"""

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

from shoal.jobs.reports._mechanism import Name
from shoal.privacy import Ledger

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")

# One process imports everything and forks for each run: a start takes milliseconds, not a second.
# In the child, calls that change the disk are counted, and one of them may be the last.
STARTER = """
import json, os, signal, sys, threading, time
import duckdb, numpy, pyarrow.csv, pyarrow.ipc, pyarrow.parquet, rich.text, sklearn.cluster, yaml
import shoal.cli._main, shoal.pages.groups, shoal.pages._write_page
import shoal.cluster, shoal.perturb.report_draft
import shoal.anonymize.release._run, shoal.pages.table, shoal.perturb.report_stream
import shoal.cluster.local.transcript
from shoal.cli.start import main
from shoal.privacy._entry_store import FileStore

count = 0


def counted(place, name, asked):
    work = getattr(place, name)
    def call(*arguments, **more):
        global count
        if threading.current_thread() is not threading.main_thread():
            return work(*arguments, **more)
        count += 1
        mine = count
        if mine == asked["event"] and asked["before"]:
            os.kill(os.getpid(), asked["signal"])
        result = work(*arguments, **more)
        if mine == asked["event"] and not asked["before"]:
            os.kill(os.getpid(), asked["signal"])
        return result
    setattr(place, name, call)


def watch(asked):
    for name in ("rename", "replace", "fsync", "mkdir", "rmdir", "unlink", "open", "symlink"):
        counted(os, name, asked)
    for name in ("append", "add_record", "forget_run"):
        counted(FileStore, name, asked)


for line in sys.stdin:
    asked = json.loads(line)
    child = os.fork()
    if child == 0:
        sys.argv = ["shoal", *asked["arguments"]]
        os.chdir(asked["folder"])
        given = os.open(asked["stdin"], os.O_RDONLY)
        out = os.open(asked["out"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(given, 0), os.dup2(out, 1), os.dup2(out, 2)
        sys.stdin = open(0)
        watch(asked)
        code = 0
        try:
            main()
        except SystemExit as error:
            code = error.code or 0
        except BaseException:
            import traceback
            traceback.print_exc()
            code = 99
        sys.stdout.flush()
        with open(asked["out"] + ".count", "w") as file:
            file.write(str(count))
        os._exit(code)
    if asked["seconds"]:
        time.sleep(asked["seconds"])
        try:
            os.kill(child, asked["signal"])
        except ProcessLookupError:
            pass
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
DOMAIN = "version: 1\ncolumns: {x: {low: 0, high: 1}, y: {low: 0, high: 1}}\n"
POLICY = """
version: 1
input: {path: people.csv}
privacy: {k: 5, person: who}
attributes:
  who: {role: identifier}
  city: {role: quasi, hierarchy: {tree: {"*": {north: [a, b], south: [c, d]}}}}
output: {path: out/table.csv}
"""
OUTSIDE = ["--epsilon", "1", "--domain", "box.yaml", "--ledger", "out/a.ledger"]
COMMANDS = {
    "cluster": ["cluster", "rows.csv", "-k", "2", *OUTSIDE, "-o", "out/model"],
    "cluster, stdin": ["cluster", "-", "-k", "2", *OUTSIDE, "-o", "out/model"],
    "cluster, curator": [
        *["cluster", "rows.csv", "-k", "2", *OUTSIDE, "-o", "out/model"],
        *["--curator", "out/mine.html"],
    ],
    "perturb": ["perturb", "rows.csv", *OUTSIDE, "-o", "out/noisy.csv"],
    "perturb, stdin": ["perturb", "-", *OUTSIDE, "-o", "out/noisy.parquet"],
    "anonymize": ["anonymize", "--policy", "people.yaml"],
    "anonymize apply": [
        *["anonymize", "apply", "--policy", "new.yaml", "--cut", "out/first.manifest.json"],
    ],
}
WIDE = """version: 1
columns: {x: {low: 0, high: 1}, y: {low: 0, high: 1}, z: {low: 0, high: 1}, v: {low: 0, high: 1},
  kind: {values: [a, b]}}
"""
REPORTED = dict.fromkeys(Name, "x,y") | {
    Name.spherical_laplace: "x,y,z",
    Name.square_wave: "x",
    Name.staircase: "x",
    Name.randomized_response: "kind",
    Name.unary_encoding: "kind",
    Name.mixed: "x,kind",
    Name.rounds: "x,y",
    Name.auto: "x,y,z,v",  # rounds too
}


def reports_of(mechanism, columns, *more):
    """The words that report these columns of the wide table."""
    words = ["perturb", "wide.csv", "--mechanism", mechanism, "--columns", columns]
    words += ["--epsilon", "1", "--domain", "wide.yaml", "--ledger", "out/a.ledger"]
    groups = ["-k", "2"] if mechanism in (Name.rounds, Name.auto) else []
    return [*words, *groups, "-o", "out/noisy.csv", *more]


MECHANISMS = {f"perturb, {name}": reports_of(name, each) for name, each in REPORTED.items()} | {
    "perturb, rounds of mixed records": reports_of(Name.rounds, "x,kind"),
    "perturb, rounds of people": reports_of(Name.rounds, "x,y", "--person", "who"),
    "perturb, people": reports_of(Name.nd_laplace, "x,y", "--person", "who"),
}
MAIN_FILES = ("model", "noisy.csv", "noisy.parquet", "table.csv")


class Runs:
    """Starts commands in a folder, and stops some of them."""

    def __init__(self, temporary):
        self.folder = Path()
        self._starter = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", STARTER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "TMPDIR": str(temporary)},
            text=True,
        )

    def run(self, arguments, *, sign=signal.SIGKILL, seconds=0.0, event=0, before=False):
        """The exit code, negative if a signal ended it."""
        asked = {"arguments": arguments, "signal": int(sign), "seconds": seconds, "event": event}
        files = {name: str(self.folder / name) for name in ("stdin", "out.txt")}
        places = {"folder": str(self.folder), "stdin": files["stdin"], "out": files["out.txt"]}
        self._starter.stdin.write(json.dumps({**asked, "before": before, **places}) + "\n")
        self._starter.stdin.flush()
        return int(self._starter.stdout.readline())

    @property
    def output(self):
        return (self.folder / "out.txt").read_text()

    @property
    def count(self):
        return int((self.folder / "out.txt.count").read_text())

    def end(self):
        self._starter.communicate()


@pytest.fixture(scope="module")
def temporary(tmp_path_factory):
    return tmp_path_factory.mktemp("temporary")


@pytest.fixture(scope="module")
def runs(temporary):
    started = Runs(temporary)
    yield started
    started.end()


def prepare(folder, runs):
    """The inputs, and the first release that `apply` adds to."""
    rng = np.random.default_rng(3)
    points = np.clip(rng.normal(0.5, 0.1, (3000, 2)) + rng.choice([-0.2, 0.2], (3000, 1)), 0, 1)
    (folder / "out").mkdir(parents=True)
    pa_csv.write_csv(pa.table({"x": points[:, 0], "y": points[:, 1]}), folder / "rows.csv")
    content = dict(zip("xyzv", np.tile(points, 2).T, strict=True))
    content |= {"kind": np.where(points[:, 0] < 0.5, "a", "b"), "who": np.arange(3000) // 2}
    pa_csv.write_csv(pa.table(content), folder / "wide.csv")
    (folder / "wide.yaml").write_text(WIDE)
    for name, start in (("people", 0), ("old", 1000)):
        who = np.arange(start, start + 400)
        cities = np.array(list("abcd"))[rng.integers(4, size=400)]
        pa_csv.write_csv(pa.table({"who": who, "city": cities}), folder / f"{name}.csv")
    (folder / "stdin").write_bytes((folder / "rows.csv").read_bytes())
    (folder / "box.yaml").write_text(DOMAIN)
    (folder / "people.yaml").write_text(POLICY)
    register = "output: {path: out/table.csv, people: out/first.people.curator}"
    (folder / "new.yaml").write_text(POLICY.replace("output: {path: out/table.csv}", register))
    old = POLICY.replace("people.csv", "old.csv").replace("out/table.csv", "out/first.csv")
    (folder / "old.yaml").write_text(old)
    runs.folder = folder
    assert runs.run(["anonymize", "--policy", "old.yaml"]) == 0, runs.output


@pytest.fixture(scope="module")
def template(tmp_path_factory, runs):
    folder = tmp_path_factory.mktemp("template") / "work"
    prepare(folder, runs)
    return folder


def entries_in(folder):
    """How many entries an undisturbed run leaves: of the check of the bounds, and of all else."""
    ledger = folder / "a.ledger"
    return Ledger(ledger).entries().num_rows if ledger.exists() else 0


class Kills:
    """Kills commands, runs them again, and counts what should never be."""

    def __init__(self, runs, template, place, temporary):
        self.runs, self.template, self.place, self.temporary = runs, template, place, temporary
        self.commands = COMMANDS
        self.counts = Counter()
        self.problems = []
        self._known = {}
        self._entries = {}
        self._number = 0

    def known(self, name):
        """What an undisturbed run leaves, how long it takes, how often it touches the disk."""
        if name not in self._known:
            folder, began = self._fresh(), time.monotonic()
            assert self.runs.run(self.commands[name]) == 0, self.runs.output
            took = time.monotonic() - began
            self._known[name] = listing(folder / "out"), self.runs.count, took
            self._entries[name] = entries_in(folder / "out")
        return self._known[name]

    def kill(self, name, sign, *, event=0, before=False, seconds=0.0):
        """One kill, and the same command again."""
        expected, _, _ = self.known(name)
        folder = self._fresh()
        how = {"sign": sign, "event": event, "before": before, "seconds": seconds}
        first = self.runs.run(self.commands[name], **how)
        self._check(first in (0, -int(sign), 128 + int(sign)), "told otherwise", name, how)
        self.counts["kills"] += first != 0
        whole = has_whole_output(name, folder / "out")
        self._check(whole is not None, "half outputs", name, how)
        again = self.runs.run(self.commands[name])
        refused = again != 0 and not (whole and "already" in self.runs.output)
        self._check(not refused, "refused reruns", name, how)
        self.counts["whole before the kill"] += again != 0 and not refused
        self.counts["resumed"] += "not paid for again" in " ".join(self.runs.output.split())
        self._check(has_whole_output(name, folder / "out"), "half outputs", name, how)
        left = [*(listing(folder / "out") ^ expected), *listing(self.temporary)]
        self._check(not left, "files left", name, {**how, "left": left})
        if (folder / "out" / "a.ledger").exists():
            ledger = Ledger(folder / "out" / "a.ledger")
            entries = ledger.entries().num_rows
            paid = entries == self._entries[name]
            self._check(paid, "budgets lost", name, {**how, "entries": entries})
            self._check(not ledger.unfinished(), "runs left in the ledger", name, how)

    def _check(self, fine, what, name, how):
        self.counts[what] += not fine
        if not fine:
            self.problems.append((what, name, how, self.runs.output[-400:]))

    def _fresh(self):
        self._number += 1
        folder = self.place / str(self._number)
        subprocess.run(["cp", "-a", str(self.template), str(folder)], check=True)
        self.runs.folder = folder
        return folder


def listing(folder):
    """Names of all files below, SQLite's own beside the ledger left out."""
    names = {str(path.relative_to(folder)) for path in folder.rglob("*")}
    return {name for name in names if not name.endswith(("-wal", "-shm"))}


def has_whole_output(name, out):
    """Whether the output is there: None if its main file is, and something that belongs to it not.

    As long as the main file has no name there is no output, whatever else may lie there.
    """
    mains = [path for path in out.iterdir() if path.name in MAIN_FILES]
    if not mains:
        return False
    return True if is_whole(name, mains[0]) else None


def verb_of(name):
    return name.replace(",", " ").split()[0]


def is_whole(name, main):
    """Whether all that belongs to a main file is beside it, and is of it."""
    if verb_of(name) == "cluster":
        files = {"model.json", "report.html", "report.json", "centers.csv"}
        curator = "curator" not in name or main.with_name("mine.html").exists()
        return curator and files <= {path.name for path in main.iterdir()}
    about = "noisy.csv.json" if main.name == "noisy.csv" else "noisy.parquet.json"
    if verb_of(name) == "anonymize":
        about = "table.manifest.json"
        beside = {f"table.{ending}" for ending in ("mapping.csv", "report.html", "report.json")}
        if not beside <= {path.name for path in main.parent.iterdir()}:
            return False
    document = json.loads(main.with_name(about).read_text())
    digest = hashlib.sha256(main.read_bytes()).hexdigest()
    return digest in json.dumps(document)


@pytest.fixture
def kills(runs, template, tmp_path, temporary):
    return Kills(runs, template, tmp_path, temporary)


def chosen_moments(kills, number, rng):
    """So many kills, spread over the commands: half at a chosen call, half at a random time."""
    names = list(kills.commands)
    while kills.counts["kills"] < number:
        name = names[kills.counts["tries"] % len(names)]
        kills.counts["tries"] += 1
        sign = rng.choice([signal.SIGKILL, signal.SIGTERM])
        if not kills.counts["tries"] % 20:
            print(dict(kills.counts), flush=True)
        if rng.random() < 0.5:
            event = rng.randint(1, kills.known(name)[1])
            kills.kill(name, sign, event=event, before=rng.random() < 0.5)
        else:
            kills.kill(name, sign, seconds=rng.uniform(0.01, kills.known(name)[2]))


NEVER = ("half outputs", "refused reruns", "files left", "budgets lost", "runs left in the ledger")


def test_a_dozen_kills_leave_nothing_half_done(kills):
    chosen_moments(kills, 12, random.Random(4))
    assert {what: kills.counts[what] for what in NEVER} == dict.fromkeys(NEVER, 0), kills.problems


@pytest.mark.slow
def test_two_hundred_kills_leave_nothing_half_done(kills):
    chosen_moments(kills, 200, random.Random(5))
    print(dict(kills.counts))
    assert {what: kills.counts[what] for what in NEVER} == dict.fromkeys(NEVER, 0), kills.problems


@pytest.mark.slow
@pytest.mark.parametrize("name", list(COMMANDS))
def test_a_kill_at_every_single_call_leaves_nothing_half_done(kills, name):
    for event in range(1, kills.known(name)[1] + 1):
        kills.kill(name, signal.SIGKILL, event=event)
    print(name, dict(kills.counts))
    assert {what: kills.counts[what] for what in NEVER} == dict.fromkeys(NEVER, 0), kills.problems


def kill_after_payment(kills, name, rng):
    """Kill a run at random calls until one hit it after it had paid, and the rerun went on."""
    kills.commands = MECHANISMS
    _, calls, _ = kills.known(name)
    resumed = kills.counts["resumed"]
    for _ in range(12):
        kills.kill(name, signal.SIGKILL, event=rng.randint(calls // 2, calls))
        if kills.counts["resumed"] > resumed:
            return
    raise AssertionError(f"{name} was never stopped after it had paid")


@pytest.mark.parametrize("name", ["rounds", "rounds of mixed records", "rounds of people", "auto"])
def test_rounds_killed_after_they_paid_go_on_without_a_second_payment(kills, name):
    kill_after_payment(kills, f"perturb, {name}", random.Random(6))
    assert {what: kills.counts[what] for what in NEVER} == dict.fromkeys(NEVER, 0), kills.problems


@pytest.mark.slow
def test_sixty_kills_over_every_mechanism_cost_one_payment_each(kills):
    kills.commands = MECHANISMS
    chosen_moments(kills, 60, random.Random(7))
    for name in MECHANISMS:
        kill_after_payment(kills, name, random.Random(8))
    print(dict(kills.counts))
    assert {what: kills.counts[what] for what in NEVER} == dict.fromkeys(NEVER, 0), kills.problems
