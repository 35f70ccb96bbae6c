"""A features file drafted from names and kinds of columns."""

import pytest
import yaml

from shoal.errors import InvalidSetting
from shoal.jobs.drafts import draft_features


def drafted(folder, *, people="member_no,age\nCANARY,9\n", events, public=()):
    (folder / "members.csv").write_text(people)
    (folder / "visits.csv").write_text(events)
    for number, text in enumerate(public):
        (folder / f"public{number}.csv").write_text(text)
    paths = [str(folder / f"public{number}.csv") for number in range(len(public))]
    tables = [str(folder / "visits.csv")], str(folder / "members.csv"), paths
    text = draft_features(*tables, folder / "file.yaml")
    assert "CANARY" not in text
    return text, yaml.safe_load(text)


def test_the_column_of_people_is_one_that_all_tables_have(tmp_path):
    _, content = drafted(tmp_path, events="started,member_no\n2026-01-01,CANARY\n")
    assert content["person"] == "member_no"
    assert content["events"]["visits"] == {"table": "visits.csv", "time": "started"}


def test_a_table_that_names_people_otherwise_says_so_itself(tmp_path):
    text, content = drafted(tmp_path, events="pupil_id,at\nCANARY,2026-01-01\n")
    assert content["person"] == "member_no"
    assert content["events"]["visits"]["person"] == "pupil_id"
    text, content = drafted(tmp_path, events="wer,at\nCANARY,2026-01-01\n")
    assert "# person: " in text
    assert "person" not in content["events"]["visits"]


def test_public_tables_are_joined_by_the_column_that_events_have_too(tmp_path):
    events = "member_no,at,room: no,minutes\nCANARY,2026-01-01,r1,4\n"
    _, content = drafted(tmp_path, events=events, public=["floor,room: no,age\n1,r1,3\n"])
    assert content["public"]["public0"]["key"] == "room: no"
    assert content["events"]["visits"]["join"] == ["public0"]
    assert content["people"]["columns"] == {"age": {"low": 0, "high": 110}}
    assert content["events"]["visits"]["columns"] is None  # left open, as comments


def test_a_table_without_times_is_no_table_of_events(tmp_path):
    with pytest.raises(InvalidSetting, match="no column of times"):
        drafted(tmp_path, events="member_no,minutes\nCANARY,4\n")


def test_what_was_taken_from_the_cells_is_said(tmp_path):
    people = "member_no,smokes\n" + "".join(f"CANARY{i},{i % 2}\n" for i in range(20))
    text, content = drafted(tmp_path, people=people, events="at,member_no\n2026-01-01,CANARY1\n")
    assert content["people"]["columns"] == {"smokes": {"values": [0, 1]}}
    assert "a\n# well-known pair of answers such as 0 and 1" in text
