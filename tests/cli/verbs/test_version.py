import json
from importlib.metadata import version

from typer.testing import CliRunner

from shoal.cli._main import app


def test_the_versions_of_the_parts_are_listed():
    shown = CliRunner().invoke(app, ["version"])
    assert shown.exit_code == 0
    for part in ("shoal", "numpy", "pyarrow"):
        assert version(part) in shown.stdout


def test_the_versions_are_json_too():
    shown = CliRunner().invoke(app, ["version", "--json"])
    assert json.loads(shown.stdout)["numpy"] == version("numpy")


def test_quiet_prints_nothing():
    assert CliRunner().invoke(app, ["version", "--quiet"]).output == ""
