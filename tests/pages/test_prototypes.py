import numpy as np
import pytest

from shoal import report
from shoal.cluster import PrivateKPrototypes
from shoal.domain import Schema
from shoal.pages.prototypes import page

SCHEMA = Schema.of(
    {
        "version": 1,
        "columns": {
            "age": {"low": 0, "high": 100},
            "level": {"values": ["basic", "higher"]},
            "town": {"values": ["harbour", "hills", "plain"]},
        },
    }
)


def fitted(n, n_public=None):
    rng = np.random.default_rng(0)
    older = np.arange(n) % 3 == 0
    rows = {
        "age": np.clip(np.where(older, 75, 25) + rng.normal(0, 5, n), 0, 100),
        "level": np.where(older, "higher", "basic"),
        "town": rng.choice(["harbour", "hills", "plain"], n),
    }
    model = PrivateKPrototypes(
        2, epsilon=1, domain=SCHEMA, n_init=2, n_synthetic=300, n_public=n_public, random_state=1
    )
    return model.fit(rows)


@pytest.fixture(scope="module")
def made():
    return page(fitted(2000), title="Pupils", publisher="A school")


def test_there_is_a_card_for_each_group_largest_first(made):
    assert [figure.kind for figure in made.figures] == ["group_profile"] * 2
    sizes = [group["rows_about"] for group in made.values["groups"]]
    assert sizes == sorted(sizes, reverse=True)
    assert made.tables[0].rows[0][0] == f"Group {made.values['groups'][0]['group']}"


def test_groups_are_described_by_what_differs(made):
    text = " ".join(figure.alt for figure in made.figures)
    assert "higher" in text
    assert "everyone" in text
    assert any(line.label.startswith("Group") for line in made.lines if hasattr(line, "label"))


def test_a_report_takes_it(made):
    html = report.render(report.findings(made.to_result()))
    assert "Pupils" in html
    assert "card" in html or "<svg" in html


def test_few_rows_are_said_plainly():
    few = page(fitted(15, n_public=15))
    assert any("one group may describe" in limit for limit in few.limits)
    assert any("only the sizes" in limit for limit in few.limits)
    assert all(d["low"] is None for g in few.values["groups"] for d in g["differences"])
