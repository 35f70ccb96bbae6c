"""Every console block of README.md and of the pages runs as printed, in an empty folder.

The blocks of a page run one after another, with its files (blocks with a title). What cannot run
here is named below, with the reason.
"""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from shoal.cli._main import app

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r'^```(\w+)(?: title="([\w.]+)")?\n(.*?)^```$', re.DOTALL | re.MULTILINE)
# Beginnings of commands that are not run, by page, and why.
EXCUSED = {
    "README.md": {"make ": "the project's own, which runs this test"},
    "docs/quickstart.md": {"make ": "the project's own, which runs this test"},
    "docs/architecture.md": {"shoal cluster in.csv": "in.csv stands for any table"},
    "docs/guides/audit.md": {
        "shoal audit --python mine": "mine.py is the function printed above it",
        "python3 -m venv": "installs what others publish",
        "theirs/bin": "installs what others publish",
        "python held.py": "needs the environment that the lines before make",
    },
    "docs/guides/audit-estimator.md": {
        "shoal audit --python mine": "mine.py is the model printed above it"
    },
    "docs/guides/collect.md": {"": "starts a server and waits for people's devices"},
    "docs/guides/run-a-collector.md": {"": "starts a server and waits for people's devices"},
    "docs/guides/data.md": {
        "shoal data fetch": "reads from the network",
        "SHOAL_DATA=data": "reads what the line before fetched",
    },
    "docs/guides/hand-over-a-table.md": {
        "shoal anonymize apply": "next.yaml is next month's policy"
    },
    "docs/guides/on-your-cluster.md": {"": "needs Spark and a cluster"},
    "docs/officer-story.md": {
        "sed -i": "puts in paths of a cluster",
        "shoal anonymize --policy programme.yaml --engine": "needs a cluster",
        "shoal anonymize check $place": "needs a cluster",
        "shoal cluster $place": "needs a cluster",
    },
}
AFTER_PYTHON = {"docs/guides/ledger.md"}  # whose commands look at what its Python left
QUICK = {"README.md", "docs/guides/cluster.md", "docs/guides/data.md", "docs/guides/perturb.md"}


def page_name(page):
    return str(page.relative_to(ROOT))


def commands(block):
    """The lines behind a prompt, those that go on joined."""
    whole = block.replace("\\\n", " ")
    return [line[2:] for line in whole.splitlines() if line.startswith("$ ")]


def reason_of(page, command):
    starts = EXCUSED.get(page, {})
    return next((why for start, why in starts.items() if command.startswith(start)), None)


def run(command):
    """Run a command of ours in this process, which is quicker; any other in a shell."""
    words = shlex.split(command, comments=True)
    if words[0] == "shoal":
        done = CliRunner().invoke(app, words[1:])
        return done.exit_code, done.output
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


WITH_CONSOLE = [page for page in PAGES if "```console" in page.read_text()]
CASES = [
    pytest.param(page, marks=[] if page_name(page) in QUICK else [pytest.mark.slow])
    for page in WITH_CONSOLE
]


@pytest.mark.heavy
@pytest.mark.parametrize("page", CASES, ids=page_name)
def test_the_commands_of_a_page_run_as_printed(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    scope = {"__name__": "page"}
    for language, title, block in FENCE.findall(page.read_text()):
        if title:
            Path(title).write_text(block)
        elif language == "python" and page_name(page) in AFTER_PYTHON:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(block, scope)
        elif language == "console":
            for command in commands(block):
                if reason_of(page_name(page), command) is None:
                    code, output = run(command)
                    assert code == 0, f"{command}\n{output}"


def test_what_is_excused_is_printed_somewhere():
    for name, starts in EXCUSED.items():
        text = (ROOT / name).read_text()
        printed = [c for kind, _, block in FENCE.findall(text) if kind == "console"
                   for c in commands(block)]  # fmt: skip
        for start in starts:
            assert any(command.startswith(start) for command in printed), (name, start)


@pytest.mark.heavy
def test_what_init_prints_on_the_page_is_what_it_prints(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    text = (ROOT / "docs/guides/data.md").read_text()
    (table,) = [block for _, title, block in FENCE.findall(text) if title == "clinic.csv"]
    Path("clinic.csv").write_text(table)
    (shown,) = [b for kind, _, b in FENCE.findall(text) if kind == "console" and "Stated" in b]
    command, _, expected = shown.partition("\n")
    assert run(command[2:])[1].split() == expected.split()
    assert os.path.exists("clinic.yaml")
