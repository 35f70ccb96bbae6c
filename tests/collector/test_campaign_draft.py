"""The author's file: what is chosen for it, and what no client would take."""

import pytest

from shoal.errors import InvalidSetting

from .conftest import MISSING

pytest.importorskip("cryptography", reason=f"cryptography is {MISSING}")

from shoal.collector._campaign import mechanism_of
from shoal.collector._campaign_draft import draft_campaign

YAML = """
name: a walk
purpose: Where people walk.
operator: The town
contact: town@example.org
columns:
  - {name: x, low: 0, high: 1, unit: km}
  - {name: y, low: -3.5, high: 110}
epsilon: "1"
n_expected: 20000
n_clusters: 5
opens: 2026-11-01T00:00:00Z
closes: 2027-11-01T00:00:00Z
"""


def draft(tmp_path, text=YAML):
    path = tmp_path / "campaign.yaml"
    path.write_text(text)
    return draft_campaign(path)


def test_grid_and_oracle_are_chosen_by_the_author(tmp_path):
    document = draft(tmp_path)
    (only,) = document["rounds"]
    question = only["question"]
    assert question["cells"] == [13, 13]
    assert question["columns"] == [["0.0", "1.0"], ["-3.5", "110.0"]]
    assert question["oracle"] == {"name": "local_hash", "buckets": 3, "digits": 5, "size": 169}
    mechanism = mechanism_of(question, ["x", "y"])
    assert mechanism.domain.names == ("x", "y")
    assert document["enrolment"] == "token"


def test_three_rounds_and_categories(tmp_path):
    rounds = draft(tmp_path, YAML + "rounds: 3\n")["rounds"]
    assert [one["share"] for one in rounds] == [2**31, 2**30, 2**30]
    assert [one["question"] for one in rounds[1:]] == ["later", "later"]
    start, end = YAML.index("columns"), YAML.index("epsilon")
    document = draft(tmp_path, YAML[:start] + "categories: [bus, bike, foot]\n" + YAML[end:])
    assert document["categories"] == ["bus", "bike", "foot"]
    assert document["rounds"][0]["question"]["oracle"]["size"] == 3


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("name: a walk", "title: a walk"),
        ('epsilon: "1"', 'epsilon: "1e1"'),
        ('epsilon: "1"', "epsilon: 21"),
        ('epsilon: "1"', "epsilon: -1"),
        ("low: 0, high: 1", "low: 1, high: 1"),
        ("low: 0, high: 1", "low: 0, high: .inf"),
        ("low: 0, high: 1", "low: a, high: 1"),
        ("n_clusters: 5", "n_clusters: 0"),
        ("n_clusters: 5", "n_clusters: five"),
        ("closes: 2027-11-01T00:00:00Z", "closes: tomorrow"),
        ("closes: 2027-11-01T00:00:00Z", "closes: 2020-11-01T00:00:00Z"),
        ("purpose: Where people walk.", "purpose: " + "x" * 201),
        ("contact: town@example.org", "contact: t\nsetting: central"),
        ("contact: town@example.org", "contact: t\nrounds: 2"),
        ("contact: town@example.org", "contact: t\nrounds: [3]"),
        ("contact: town@example.org", "contact: t\nrounds: {a: 1}"),
        ("contact: town@example.org", "contact: t\nrounds: true"),
        ("contact: town@example.org", "contact: t\nenrolment: none"),
    ],
)
def test_what_no_client_would_take_is_refused_at_once(tmp_path, old, new):
    assert old in YAML
    with pytest.raises((InvalidSetting, ValueError)):
        draft(tmp_path, YAML.replace(old, new))


TWO = """setting: two_aggregators
n_least: 100
aggregators:
  - {address: "https://a.example.org", key: "KEY1"}
  - {address: "https://b.example.org", key: "KEY2"}
""".replace("KEY1", "1" * 64).replace("KEY2", "2" * 64)


def test_two_aggregators_are_asked_about_cells_that_a_share_can_hold(tmp_path):
    (only,) = draft(tmp_path, YAML + TWO)["rounds"]
    assert only["question"]["mechanism"] == "cell_shares"
    assert only["question"]["cells"] == [32, 32]
    assert "oracle" not in only["question"]
    assert draft(tmp_path, YAML + TWO + "cells: 8\n")["rounds"][0]["question"]["cells"] == [8, 8]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("n_least: 100\n", ""),
        ("n_least: 100", "n_least: 0"),
        ("n_least: 100", "n_least: 100\ncells: 33"),
        ("n_least: 100", "n_least: 100\nrounds: 3"),
        ("n_least: 100", 'n_least: 100\nlabels: {epsilon: "1"}'),
        ("https://b.example.org", "https://a.example.org"),
        ("https://b.example.org", "http://b.example.org"),
        ("2" * 64, "1" * 64),
        ("2" * 64, "2" * 63),
    ],
)
def test_two_aggregators_that_are_not_two_or_not_clear_are_refused(tmp_path, old, new):
    assert old in TWO
    with pytest.raises(InvalidSetting):
        draft(tmp_path, YAML + TWO.replace(old, new))


def test_names_of_unknown_fields_are_counted_and_never_quoted(tmp_path):
    with pytest.raises(InvalidSetting, match="2 fields that are unknown") as caught:
        draft(tmp_path, YAML + "epsilonn: 2\nZyqvorna: 1\n")
    assert "Did you mean epsilon?" in caught.value.hint
    assert "Zyqvorna" not in str(caught.value)


MORE = "".join(f"  - {{name: c{i}, low: 0, high: 1}}\n" for i in range(2))


@pytest.mark.parametrize(
    ("more", "words", "rounds"),
    [
        ("", "", 1),
        ("", "rounds: auto\n", 1),
        (MORE, "", 3),
        (MORE, "rounds: auto\n", 3),
        (MORE, "rounds: 1\n", 1),
        (MORE, TWO, 1),
    ],
)
def test_four_columns_are_asked_in_rounds_unless_the_author_says_otherwise(
    tmp_path, more, words, rounds
):
    start = YAML.index("epsilon")
    assert len(draft(tmp_path, YAML[:start] + more + YAML[start:] + words)["rounds"]) == rounds


def test_a_shuffled_campaign_must_know_its_people(tmp_path):
    shuffled = YAML + 'setting: shuffled\ndelta: "0.000001"\nn_least: 500\n'
    assert draft(tmp_path, shuffled)["n_least"] == 500
    with pytest.raises(InvalidSetting, match="many times"):
        draft(tmp_path, shuffled + "enrolment: open\n")
