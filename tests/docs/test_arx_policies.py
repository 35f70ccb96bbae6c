"""The policies migrated from ARX's examples release what their models ask for."""

import csv
import re
from collections import Counter
from pathlib import Path

import pytest
import yaml

from shoal.anonymize import recount, run_policy

DOCS = Path(__file__).parents[2] / "docs"
PEOPLE = """age,gender,zipcode
34,male,81667
45,female,81675
66,male,81925
70,female,81931
34,female,81931
70,male,81931
45,male,81931
"""
PATIENTS = """zipcode,age,disease
47677,29,gastric ulcer
47602,22,gastritis
47678,27,stomach cancer
47905,43,gastritis
47909,52,flu
47906,47,bronchitis
47605,30,bronchitis
47673,36,pneumonia
47607,32,stomach cancer
"""


def release(tmp_path, number, rows):
    content = yaml.safe_load((DOCS / f"policies/arx-example-{number}.yaml").read_text())
    (tmp_path / f"example-{number}.csv").write_text(rows)
    (tmp_path / "policy.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
    done = run_policy(tmp_path / "policy.yaml")
    with (tmp_path / f"example-{number}.released.csv").open(newline="") as file:
        return done, list(csv.DictReader(file))


@pytest.mark.heavy
def test_the_first_example_keeps_k_and_the_column_that_loses_least(tmp_path):
    _, rows = release(tmp_path, 1, PEOPLE)
    assert Counter(map(tuple, (row.values() for row in rows))) == {
        ("*", "male", "*"): 4,
        ("*", "female", "*"): 3,
    }


@pytest.mark.heavy
def test_the_eighth_example_keeps_k_and_t(tmp_path):
    done, rows = release(tmp_path, 8, PATIENTS)
    assert len(rows) == 9
    achieved = recount(tmp_path / "example-8.released.csv", done.policy)
    assert achieved.k >= 3
    assert achieved.t["disease"] <= 0.6
    assert achieved.classes > 1


def test_every_key_that_the_table_names_is_a_key_of_policies():
    from shoal.anonymize._policy import Attribute, Privacy, Search
    from shoal.anonymize._policy_rules import TransformSpec

    page = (DOCS / "guides/coming-from.md").read_text()
    here = [line.split("|")[5] for line in page.splitlines() if line.count("|") == 6]
    named = {key for cell in here for key in re.findall(r"`(\w+)(?::|`)", cell)}
    keys = {key for of in (Attribute, Privacy, Search, TransformSpec) for key in of.model_fields}
    known = keys | {"kind", "file", "size", "privacy", "population", "median", "entropy", "dm",
                    "aecs", "ordered", "hierarchical", "recursive", "distances", "quasi", "other",
                    "sensitive"}  # fmt: skip
    assert named <= known


@pytest.mark.parametrize("link", ["arx-example-1.yaml", "arx-example-8.yaml"])
def test_the_page_leads_to_the_policies(link):
    assert f"(../policies/{link})" in (DOCS / "guides/coming-from.md").read_text()
