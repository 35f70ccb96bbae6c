import hashlib
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from shoal.cli._main import app
from shoal.data.catalogue import BUNDLED
from shoal.data.known_files import FILES, DataFile
from shoal.domain import Schema

CONTENT = b"x,y\n1,2\n"


def run(*words, **env):
    return CliRunner().invoke(app, ["data", *map(str, words)], env={"SHOAL_DATA": None, **env})


@pytest.fixture
def points(tmp_path, monkeypatch):
    """A catalogued file whose address is one on this disk."""
    published = tmp_path / "published.csv"
    published.write_bytes(CONTENT)
    digest = hashlib.sha256(CONTENT).hexdigest()
    file = DataFile("made/points.csv", digest, "https://home", url=published.as_uri())
    monkeypatch.setitem(FILES, "points", file)
    return tmp_path / "data"


def test_the_list_has_every_set_and_how_to_get_it(points):
    shown = run("list")
    assert shown.exit_code == 0
    for name in (*BUNDLED, *FILES):
        assert name in shown.stdout
    assert "comes with scikit-learn" in shown.stdout
    assert "shoal data fetch" in shown.stdout
    assert "an excerpt" in shown.stdout


def test_the_list_is_json_too_with_addresses_and_hashes(points):
    run("fetch", "points", "--to", points)
    listed = json.loads(run("list", "--json", SHOAL_DATA=str(points)).stdout)["sets"]
    sets = {one["name"]: one for one in listed}
    assert sets["iris"] == {"name": "iris", "here": True, "home": "scikit-learn"}
    assert sets["points"]["here"] is True
    assert sets["seeds"]["here"] is False
    assert sets["seeds"]["sha256"] == FILES["seeds"].sha256
    assert sets["seeds"]["header"].startswith("area,")
    assert "url" not in sets["adult"]


def test_a_set_is_fetched_and_the_way_to_load_it_shown(points):
    shown = run("fetch", "points", "--to", points)
    assert shown.exit_code == 0, shown.output
    assert (points / "points.csv").read_bytes() == CONTENT
    assert f"SHOAL_DATA={points}" in shown.stdout
    assert FILES["points"].sha256 in shown.stdout


def test_the_data_folder_may_be_a_setting(points):
    shown = run("fetch", "points", "--json", SHOAL_DATA=str(points))
    document = json.loads(shown.stdout)
    assert document["file"] == str(points / "points.csv")
    assert document["url"] == FILES["points"].url


def test_a_set_that_is_not_offered_ends_with_its_reason_and_exit_code_2(points):
    shown = run("fetch", "gowalla_nyc", "--to", points)
    assert shown.exit_code == 2
    assert "DatasetUnavailable" in shown.stderr
    assert "an excerpt" in shown.stderr


def test_without_a_folder_the_option_is_named():
    shown = run("fetch", "seeds")
    assert shown.exit_code == 2
    assert "--to data" in shown.stderr


def test_help_teaches_by_example():
    assert "shoal data fetch seeds --to data" in run("fetch", "--help").stdout


@pytest.mark.heavy
def test_a_table_to_try_is_made_with_its_domain(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["data", "make", "trips", "--rows", "50"]
    assert CliRunner().invoke(app, words).exit_code == 0
    assert Schema.load("trips.yaml").geo == ("lat", "lon")
    assert len(Path("trips.csv").read_text().splitlines()) == 51
    assert CliRunner().invoke(app, words).exit_code == 2
    assert CliRunner().invoke(app, [*words, "--overwrite"]).exit_code == 0
