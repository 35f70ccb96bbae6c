"""Releases of every kind, made once and copied for each test that changes one."""

import shutil

import numpy as np
import pytest

import shoal
from shoal.anonymize import Policy
from shoal.errors import BoundsMissTheRows
from shoal.experiments import reproduce
from shoal.experiments._cells import Cell
from shoal.experiments.document import Document
from shoal.jobs import GroupsRequest, ReportsRequest, prepare_reports, release_groups, release_table
from shoal.pages import Claim, Reproduction
from shoal.synopsis import MixedSynopsis, UniformGrid

DOMAIN = "version: 1\ncolumns: {x: {low: 0, high: 1}, y: {low: 0, high: 1}}\n"


@pytest.fixture(scope="session")
def releases(tmp_path_factory):
    """Make a folder with a release of each kind; tests must not change it."""
    place = tmp_path_factory.mktemp("releases")
    rng = np.random.default_rng(1)
    middles = ((0.2, 0.2), (0.8, 0.3), (0.5, 0.8))
    rows = np.concatenate([rng.normal(at, 0.05, (500, 2)) for at in middles]).clip(0, 1)
    np.savetxt(place / "rows.csv", rows, "%.4f", ",", header="x,y", comments="")
    (place / "rows.yaml").write_text(DOMAIN)
    shared = {"table": str(place / "rows.csv"), "domain_file": place / "rows.yaml"}
    about = {"title": "Three places", "publisher": "The town", "epsilon": "1", **shared}
    kmeans = {"groups": "3", "ledger": place / "rows.ledger"}
    release_groups(GroupsRequest(output=place / "kmeans", **kmeans, **about))
    release_groups(GroupsRequest(output=place / "wave", method="wave", seed=1, **about))
    seeded = {"groups": "3", "seed": 1, "ledger": place / "seeded.ledger"}
    release_groups(GroupsRequest(output=place / "seeded", **seeded, **about))
    _accepted(place, about, kmeans)
    box = shoal.Box(x=(0, 1), y=(0, 1))
    UniformGrid(epsilon=1, domain=box, cells=8).fit(rows).save(place / "synopsis")
    (place / "reports").mkdir()
    output = str(place / "reports" / "reports.parquet")
    drawn = ReportsRequest(mechanism="local-grid", epsilon="2", output=output, **shared)
    prepare_reports(drawn).release()
    _mixed(place, rng)
    _table(place, rng)
    _reproduction(place)
    return place


def _accepted(place, about, kmeans):
    """Fit to bounds that miss most rows: stopped, then others are fitted, then accepted."""
    (place / "narrow.yaml").write_text(
        DOMAIN.replace("x: {low: 0, high: 1}", "x: {low: 0, high: 0.3}")
    )
    narrow = (
        about | kmeans | {"domain_file": place / "narrow.yaml", "ledger": place / "narrow.ledger"}
    )
    with pytest.raises(BoundsMissTheRows):
        release_groups(GroupsRequest(output=place / "accepted", **narrow))
    other = about | {"groups": "2", "ledger": place / "narrow.ledger"}
    release_groups(GroupsRequest(output=place / "between", **other))
    release_groups(GroupsRequest(output=place / "accepted", accept_clipping=True, **narrow))


def _mixed(place, rng):
    schema = shoal.Schema.of(
        {"version": 1, "columns": {"age": {"low": 0, "high": 99}, "sex": {"values": ["F", "M"]}}}
    )
    people = {"age": rng.integers(0, 99, 600), "sex": rng.choice(["F", "M"], 600)}
    MixedSynopsis(epsilon=1, domain=schema).fit(people).save(place / "mixed")
    model = shoal.PrivateKPrototypes(2, epsilon=1, domain=schema, n_init=2, n_synthetic=200)
    model.fit(people).save(place / "prototypes")


def _table(place, rng):
    (place / "table").mkdir()
    lines = [f"{rng.choice(['F', 'M'])},{rng.integers(20, 60)},{rng.integers(1, 5)}"]
    for _ in range(399):
        lines.append(f"{rng.choice(['F', 'M'])},{rng.integers(20, 60)},{rng.integers(1, 5)}")
    (place / "people.csv").write_text("sex,age,ill\n" + "\n".join(lines) + "\n")
    policy = {
        "version": 1,
        "input": {"path": "people.csv"},
        "privacy": {"k": 5, "suppression": 0.1},
        "attributes": {
            "sex": {"role": "quasi", "hierarchy": {"tree": {"*": ["F", "M"]}}},
            "age": {
                "role": "quasi",
                "type": "int",
                "domain": [20, 60],
                "hierarchy": {"kind": "interval", "width": 5},
            },
            "ill": {"role": "sensitive", "type": "int", "l": {"value": 2}},
        },
        "output": {"path": "table/released.csv"},
    }
    release_table(Policy.of(policy, place))


def _reproduction(place):
    def concluded(results, quick):
        claim = Claim("Section 1", "Two is more than one.", "holds")
        return Reproduction(
            title="Sums", lead="It holds.", claims=[claim], exhibits=[], setting=[], again="again"
        )

    def run(cell):
        return [{"part": "sums", "draw": 0, "value": 2.0}]

    cells = [Cell("sums", {"data": "none"}, cost=1.0)]
    document = Document("sums", 1, lambda quick: cells, run, concluded, lambda *_: [])
    reproduce(document, place / "reproduction", jobs=1)


@pytest.fixture
def copy_of(releases, tmp_path):
    """Return a function that copies one of the folders, to be changed."""

    def copied(name):
        shutil.copytree(releases / name, tmp_path / name)
        return tmp_path / name

    return copied
