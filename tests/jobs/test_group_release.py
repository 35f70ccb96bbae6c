"""Releases of groups as jobs: the same as the command's, told to whoever asked."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from shoal.cluster import load_model
from shoal.errors import InvalidBudget, InvalidSetting, NotNumeric, PromisesAddUp, UnknownBounds
from shoal.jobs._group_release import GroupsRequest, name_released, release_groups
from shoal.jobs._progress import Progress, ProgressFile
from shoal.pages.groups import CodeFiles
from shoal.privacy import Ledger, PureDP

DOMAIN = "version: 1\ncolumns: {age: {low: 0, high: 99}, sex: {values: [F, M]}}\n"


@pytest.fixture
def request_of(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    ages = np.clip(rng.normal(np.repeat([20, 70], 150), 3), 0, 99).astype(int)
    rows = "".join(f"{age},{'FM'[int(age > 45)]}\n" for age in ages)
    Path("people.csv").write_text("age,sex\n" + rows)
    Path("people.yaml").write_text(DOMAIN)
    return GroupsRequest(
        table="people.csv",
        groups="2",
        epsilon="1",
        domain_file=Path("people.yaml"),
        output=Path("groups"),
        ledger=Path("people.ledger"),
        seed=1,
    )


def page_of(folder):
    return json.loads(Path(folder, "report-simulation.json").read_text())


def spent_on(page):
    (line,) = [each for each in page["label"] if each["name"] == "All releases so far"]
    return line["value"]


def test_a_release_leaves_a_model_a_page_and_entries_of_the_check_and_of_all_else(request_of):
    released = release_groups(request_of)
    assert released.files[0] == Path("groups/report-simulation.html")
    assert load_model("groups").n_clusters_ == 2
    entries = Ledger("people.ledger").entries()
    assert entries["what"].to_pylist()[0] == "check of bounds"
    assert entries["total"].to_pylist()[1:] == ["1"]
    assert released.values["ledger"] == "people.ledger"
    assert not released.is_resumed


def test_two_releases_without_a_ledger_are_added_up_by_the_process(request_of):
    unkept = replace(request_of, ledger=None, seed=None)
    release_groups(unkept)
    with pytest.warns(PromisesAddUp, match="PureDP\\(epsilon=2"):
        release_groups(replace(unkept, output=Path("again")))


def test_whoever_watches_sees_the_steps_and_when_the_budget_is_spent(request_of, tmp_path):
    release_groups(request_of, Progress(ProgressFile(tmp_path / "progress"), steps=3))
    lines = [json.loads(line) for line in (tmp_path / "progress").read_text().splitlines()]
    steps = [*dict.fromkeys(line["step"] for line in lines if "step" in line)]
    assert steps == ["Checking rows", "Finding groups", "Writing the page"]
    spent = [line for line in lines if "spent" in line]
    assert sum(Fraction(line["spent"]) for line in spent) == 1
    assert lines[lines.index(spent[0]) - 1]["step"] == "Finding groups"


def test_named_groups_keep_title_publisher_and_what_the_page_said_of_the_ledger(request_of):
    Ledger("people.ledger", limit=PureDP(3))
    release_groups(replace(request_of, title="Our people", publisher="The town"))
    naming = GroupsRequest(table="groups", names="2: Old, 1: Young", output=Path("named"))
    named = name_released(naming)
    before, after = page_of("groups"), page_of("named")
    assert "of a limit of 3" in spent_on(before)
    assert spent_on(after) == spent_on(before)
    assert after["ledger"] == before["ledger"]
    assert after["settings"]["title"] == "Our people"
    assert after["settings"]["publisher"] == "The town"
    assert after["settings"]["code"] == before["settings"]["code"]
    assert load_model("named").profiles_.titles == ("Young", "Old")
    assert named.for_holder == ()
    assert Ledger("people.ledger").entries().num_rows == 2


def test_another_title_of_the_page_replaces_the_old_one(request_of):
    release_groups(replace(request_of, title="Our people"))
    naming = GroupsRequest(table="groups", names="A,B", output=Path("named"), title="New")
    name_released(naming)
    assert page_of("named")["settings"]["title"] == "New"


def test_a_model_without_a_page_is_named_all_the_same(request_of):
    release_groups(request_of)
    Path("groups/report-simulation.json").unlink()
    name_released(GroupsRequest(table="groups", names="A,B", output=Path("named")))
    assert spent_on(page_of("named")) == "not stated"


def test_code_on_the_page_names_the_files_that_may_be_named_and_no_others(request_of):
    release_groups(request_of)
    usual = page_of("groups")["settings"]["code"]
    assert 'model.fit("table.csv").save("groups")' in usual
    assert "people" not in usual
    files = CodeFiles("visits.csv", "visits.yaml", "named")
    release_groups(replace(request_of, code_files=files, output=Path("other")))
    code = page_of("other")["settings"]["code"]
    assert 'shoal.Schema.load("visits.yaml")' in code
    assert 'model.fit("visits.csv").save("named")' in code


def test_what_is_missing_is_named_as_a_setting(request_of):
    for changed, error, name in (
        ({"epsilon": None}, InvalidBudget, "epsilon"),
        ({"domain_file": None}, UnknownBounds, "domain"),
        ({"groups": None}, InvalidSetting, "n_clusters"),
    ):
        with pytest.raises(error) as refused:
            release_groups(replace(request_of, **changed))
        assert refused.value.setting == name
        assert "--" not in str(refused.value).replace("`shoal init TABLE`", "")


def test_nothing_is_written_or_spent_where_a_row_is_refused(request_of):
    with Path("people.csv").open("a") as table:
        table.write("somewhere,F\n")
    with pytest.raises(NotNumeric):
        release_groups(request_of)
    assert not Path("groups").exists()
    assert Ledger("people.ledger").entries().num_rows == 0


def test_rows_that_were_left_out_are_told_to_the_holder_alone(request_of):
    with Path("people.csv").open("a") as table:
        table.write("somewhere,F\n")
    released = release_groups(replace(request_of, drop=True))
    assert "1 without a number" in released.for_holder[0]
    assert "without a number" not in json.dumps(released.values)
