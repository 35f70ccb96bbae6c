import json
import stat
from pathlib import Path

import numpy as np
import pytest

from shoal.anonymize._explore import TrialFile, explore, policy_with, settings_to_explore
from shoal.anonymize._frequency_table import count_combinations
from shoal.anonymize._policy import Policy
from shoal.anonymize.search._run_search import run_search
from shoal.errors import AlreadyExists, InvalidSetting

POLICY = Policy.of(
    {
        "version": 1,
        "privacy": {"k": 5},
        "attributes": {
            name: {
                "role": "quasi",
                "hierarchy": {"tree": {"*": {"a": ["0", "1"], "b": ["2", "3"]}}},
            }
            for name in "xy"
        },
        "search": {"restarts": 1},
    }
)
TABLE = {
    name: np.minimum(*np.random.default_rng(i).integers(0, 4, (2, 120))).astype(str).tolist()
    for i, name in enumerate("xy")
}


@pytest.mark.heavy
def test_every_setting_gives_what_a_run_of_it_gives(tmp_path):
    settings = settings_to_explore([3, 8], [0, 0.05], ["global", "local"])
    trials = explore(POLICY, TABLE, settings, TrialFile(tmp_path / "t.json", POLICY, "table"))
    assert [trial.setting for trial in trials] == settings
    for trial in trials:
        rules = policy_with(POLICY, trial.setting)
        found = run_search(rules, count_combinations(rules, TABLE).problem)
        assert trial.loss == pytest.approx(found.metrics.ncp, abs=1e-6)
        assert (trial.groups, trial.smallest) == (found.metrics.classes, found.metrics.smallest)
        assert trial.highest_risk == 1 / found.metrics.smallest <= 1 / trial.k
        assert trial.rows_left_out == found.metrics.suppressed


@pytest.mark.heavy
def test_what_was_tried_is_not_tried_again_after_a_stop(tmp_path, monkeypatch):
    path, settings = tmp_path / "t.json", settings_to_explore([3, 8], [0.05], ["global"])

    def stop(done, of):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        explore(POLICY, TABLE, settings, TrialFile(path, POLICY, "table"), stop)
    kept = TrialFile(path, POLICY, "table")
    assert kept.is_resumed
    assert [kept.get(setting) is not None for setting in settings] == [True, False]
    done = []
    explore(POLICY, TABLE, settings, kept, lambda *counts: done.append(counts))
    assert done == [(1, 1)]
    monkeypatch.setattr("shoal.anonymize._explore.count_cells", None)  # nothing is read any more
    assert len(explore(POLICY, TABLE, settings, TrialFile(path, POLICY, "table"))) == 2


def test_the_file_is_its_owners_alone_and_of_one_table_and_policy(tmp_path):
    path, table = tmp_path / "t.json", tmp_path / "rows.csv"
    table.write_text("x,y\n")
    explore(
        POLICY,
        TABLE,
        settings_to_explore([3], [0], ["global"]),
        TrialFile(path, POLICY, str(table)),
    )
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    other_k = policy_with(POLICY, settings_to_explore([9], [0.1], ["local"])[0])
    assert TrialFile(path, other_k, str(table)).is_resumed
    table.write_text("x,y\n1,1\n")
    with pytest.raises(AlreadyExists, match="another table"):
        TrialFile(path, POLICY, str(table))
    assert not TrialFile(path, POLICY, str(table), overwrite=True).is_resumed
    path.write_text("not ours")
    with pytest.raises(AlreadyExists):
        TrialFile(path, POLICY, str(table))
    assert not json.dumps(Path(path).read_text()).startswith("{")


def test_a_setting_without_a_release_says_why(tmp_path):
    trials = TrialFile(tmp_path / "t.json", POLICY, "table")
    (only,) = explore(POLICY, TABLE, settings_to_explore([500], [0], ["global"]), trials)
    assert only.loss is None
    assert "k = 500" in only.refusal


@pytest.mark.parametrize(
    ("ks", "shares", "kinds"),
    [([1], [0], ["global"]), ([5], [1.0], ["global"]), ([5], [0], ["both"]), ([], [0], ["local"])],
)
def test_settings_that_make_no_sense_are_refused(ks, shares, kinds):
    with pytest.raises(InvalidSetting):
        settings_to_explore(ks, shares, kinds)
