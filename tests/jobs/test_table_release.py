"""Tables as jobs: a release, a check without a search, and a preview that writes nothing."""

from pathlib import Path

import pytest

from shoal.anonymize._policy import read_policy
from shoal.errors import InvalidPolicy
from shoal.jobs._table_release import check_table, preview, release_table, source_of_policy

POLICY = """\
version: 1
input: {path: rows.csv}
attributes:
  sex: {role: quasi, hierarchy: {tree: {"*": [F, M]}}}
  town: {role: quasi, hierarchy: {tree: {"*": {north: [a, b], south: [c, d]}}}}
  case: {role: other}
privacy: {k: 3, suppression: 0}
output: {path: released.csv}
"""


@pytest.fixture
def policy(tmp_path):
    cases = [i // 2 if i < 30 else 99 for i in range(61)]
    towns = ["ab"[i % 2] if i < 60 else "d" for i in range(61)]
    rows = "".join(f"{'FM'[i % 2]},{towns[i]},{cases[i]}\n" for i in range(61))
    (tmp_path / "rows.csv").write_text(f"sex,town,case\n{rows}")
    (tmp_path / "policy.yaml").write_text(POLICY)
    return read_policy(tmp_path / "policy.yaml")


def test_a_preview_searches_and_advises_and_writes_nothing(policy, tmp_path):
    before = sorted(tmp_path.iterdir())
    seen = preview(policy)
    assert sorted(tmp_path.iterdir()) == before
    assert seen.outcome is not None
    assert seen.identifying.keys() == {"case"}
    assert [each.line for each in seen.advice if each.line] == [
        "recoding: local",
        "suppression: 0.05",
    ]


def test_a_preview_is_what_the_release_says(policy, tmp_path):
    seen, released = preview(policy), release_table(policy)
    assert (seen.outcome.labels == released.result.outcome.labels).all()
    assert seen.advice == released.advice
    assert seen.identifying == released.identifying
    assert released.files["table"] == str(tmp_path / "released.csv")
    assert Path(released.files["page"]).is_file()


def test_a_check_counts_without_a_search(policy):
    checked = check_table(policy)
    assert (checked.problem.N, checked.outcome, checked.advice) == (61, None, ())


def test_a_policy_without_a_table_is_refused(policy):
    without = policy.model_copy(update={"input": policy.input.model_copy(update={"path": None})})
    with pytest.raises(InvalidPolicy, match=r"input\.path"):
        source_of_policy(without)
