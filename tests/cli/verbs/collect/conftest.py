"""A signed campaign in a folder of its own, and the command line to ask about it."""

import json

import pytest
from typer.testing import CliRunner

pytest.importorskip("cryptography", reason="pip install 'shoal[collector]'")

from shoal.cli._main import app
from shoal.collector._campaign import Campaign

YAML = """
name: a walk
purpose: Where people walk.
operator: The town
contact: town@example.org
columns:
  - {name: x, low: 0, high: 1}
  - {name: y, low: 0, high: 1}
epsilon: "4"
n_expected: 2000
n_clusters: 2
opens: 2020-01-01T00:00:00Z
closes: 2999-01-01T00:00:00Z
"""


def run_collect(*words):
    result = CliRunner().invoke(app, ["collect", *map(str, words), "--json"], catch_exceptions=True)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return json.loads(result.stdout)


@pytest.fixture
def run():
    """Runs a verb of ``shoal collect``, and gives its document."""
    return run_collect


@pytest.fixture
def yaml():
    """The author's file."""
    return YAML


@pytest.fixture
def campaign(run, tmp_path, monkeypatch):
    """A signed campaign in the folder that is worked in."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "campaign.yaml").write_text(YAML)
    run("key", "operator.key")
    signed = run("sign", "campaign.yaml")
    assert signed["people_needed"] > 0
    return Campaign.load("campaign.json")
