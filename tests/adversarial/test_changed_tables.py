"""A table that changes under `shoal perturb`, unseen by size and time, gets no second report."""

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from shoal.cli._main import app
from shoal.engine.local import LocalRows
from shoal.perturb.report_draft import Draft
from shoal.privacy import Ledger

N, BLOCK = 1600, 100
DOMAIN = """version: 1
columns: {a: {low: 0, high: 1}, b: {low: 0, high: 1}, kind: {values: [x, y]}}
"""
NUMBERS = ["--columns", "a,b"]
MECHANISMS = {
    "nd-laplace": NUMBERS,
    "nd-laplace, in order": [*NUMBERS, "--keep-order"],
    "nd-laplace, people": [*NUMBERS, "--person", "who"],
    "nd-laplace, bayes": [*NUMBERS, "--remap", "bayes"],
    "local-grid": [*NUMBERS, "--mechanism", "local-grid"],
    "mixed": ["--mechanism", "mixed"],
    "rounds": [*NUMBERS, "--mechanism", "rounds", "-k", "2"],
    "rounds, people": [*NUMBERS, "--mechanism", "rounds", "-k", "2", "--person", "who"],
    "rounds, mixed records": ["--mechanism", "rounds", "-k", "2"],
}
PLAIN = {"compression": "none", "use_dictionary": False, "row_group_size": BLOCK}
STRAIGHT = np.arange(N)
# Those who were reported first come last now.
TURNED = STRAIGHT[::-1]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SHOAL_THREADS", "1")
    monkeypatch.setitem(LocalRows.__init__.__kwdefaults__, "block_rows", BLOCK)
    (tmp_path / "domain.yaml").write_text(DOMAIN)
    return tmp_path


def write_people(order):
    """Write the same people in this order; return what a look at the file's facts tells."""
    rng = np.random.default_rng(0)
    kinds = np.array(["x", "y"])[rng.integers(2, size=N)]
    content = {"a": rng.random(N), "b": rng.random(N), "kind": kinds}
    table = pa.table({name: each[order] for name, each in content.items()} | {"who": STRAIGHT})
    pq.write_table(table, "t.parquet", **PLAIN)
    os.utime("t.parquet", ns=(10**18, 10**18))
    facts = os.stat("t.parquet")
    return facts.st_size, facts.st_mtime_ns


def perturb(mechanism, *words):
    common = ["t.parquet", "--epsilon", "9", "--domain", "domain.yaml", "--ledger", "a.ledger"]
    words = [*common, "-o", "noisy.csv", *MECHANISMS[mechanism], *words]
    return CliRunner().invoke(app, ["perturb", *words])


def stop_after(monkeypatch, blocks, then):
    """Do something once so many blocks are in the draft."""
    store, stored = Draft.block, []

    def counted(self, *arguments):
        columns = store(self, *arguments)
        stored.append(columns)
        if len(stored) == blocks:
            then()
        return columns

    monkeypatch.setattr(Draft, "block", counted)


def interrupt():
    raise KeyboardInterrupt


def entries():
    return Ledger("a.ledger").entries().num_rows


def reports_left():
    return [path.name for path in Path().glob(".noisy.csv*") if not path.name.endswith(".lock")]


@pytest.mark.parametrize("mechanism", list(MECHANISMS))
def test_a_run_stopped_on_another_table_is_refused_and_the_next_one_pays(mechanism, monkeypatch):
    facts = write_people(STRAIGHT)
    with monkeypatch.context() as patched:
        stop_after(patched, 3, interrupt)
        assert perturb(mechanism).exit_code == 130
    assert (entries(), len(reports_left())) == (1, 2)
    assert write_people(TURNED) == facts
    again = perturb(mechanism)
    text = " ".join(again.output.split())
    assert again.exit_code not in (0, 70), text
    assert "RunChanged" in text
    assert "spends a budget of its own" in text
    assert "pays for nothing twice" not in text
    assert entries() == 1
    assert not Path("noisy.csv").exists()
    assert reports_left() == []
    assert Ledger("a.ledger").unfinished() == []
    assert perturb(mechanism).exit_code == 0
    assert entries() == 2


@pytest.mark.parametrize("mechanism", list(MECHANISMS))
def test_a_run_stopped_on_the_same_table_goes_on(mechanism, monkeypatch):
    write_people(STRAIGHT)
    with monkeypatch.context() as patched:
        stop_after(patched, 3, interrupt)
        assert perturb(mechanism).exit_code == 130
    again = perturb(mechanism)
    assert again.exit_code == 0, again.output
    assert "not paid for again" in " ".join(again.output.split())
    assert entries() == 1
    assert reports_left() == []


# Rounds hold all records in memory before the first report, and limited rows lie in a file.
@pytest.mark.parametrize("mechanism", ["nd-laplace", "nd-laplace, bayes", "local-grid", "mixed"])
def test_a_table_that_changes_while_it_is_reported_ends_the_run(mechanism, monkeypatch):
    write_people(STRAIGHT)
    stop_after(monkeypatch, 2, lambda: write_people(TURNED))
    made = perturb(mechanism)
    assert made.exit_code not in (0, 70)
    assert "RunChanged" in made.output
    assert not Path("noisy.csv").exists()
    assert reports_left() == []
