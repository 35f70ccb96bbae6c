"""Features against a brute-force computation, and the rows of others when one person changes."""

import math
import statistics
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from itertools import groupby, pairwise
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal.engine.feature_table._queries as queries
from shoal.domain.features import FeaturesFile
from shoal.engine import features
from shoal.errors import InvalidFeatures, RepeatedKey, RepeatedPerson

START, MIDDLE, END = date(2025, 3, 3), date(2025, 7, 1), date(2025, 12, 15)
N_DAYS, N_WEEKS = 287, 41
KINDS = ["login", "exercise", "video", 'it\'s \\ "a\nforum"']
ODD_NAME = "sco\"re'; DROP \\ TABLE\n"
FEATURES = {
    "logins": {"count": "log", "where": {"kind": "login"}, "high": 400},
    "exercises": {"count": "log", "where": {"kind": ["exercise", "video"]}, "high": 600},
    "minutes": {"sum": "log.minutes", "high": 6000},
    "score": {"mean": f"log.{ODD_NAME}", "where": {"kind": "exercise"}, "none": "missing"},
    "evening": {"share": "log", "which": {"hour": [18, 23]}, "none": 0},
    "days": {"days": "log"},
    "weeks": {"weeks": "log"},
    "pause": {"gap": "log"},
    "run": {"streak": "log"},
    "evenness": {"evenness": "log", "none": 0},
    "recency": {"last": "log", "none": 287},
    "begin": {"first": "log", "none": 287},
    "items": {"distinct": "log.item", "high": 500},
    "by_subject": {"count": "log", "by": "subject", "high": 300},
    "change": {"change": "log", "window": [START, MIDDLE, END], "none": 0},
    "middle": {"median": "log.minutes", "none": "missing"},
    "upper": {"quantile": "log.minutes", "at": 0.9, "none": "missing"},
    "most": {"largest": "log.minutes", "none": "missing"},
    "least": {"smallest": "log.minutes", "none": "missing"},
    "spread": {"std": "log.minutes", "none": "missing"},
    "sessions": {"sessions": {"table": "log", "gap": "30 minutes"}, "high": 300},
    "young": {"count": "log", "where": {"grade": [1, 2], "weekday": ["monday"]}, "high": 300},
    "spring": {"count": "log", "where": {"from": MIDDLE, "until": END, "week": [1, 40]}, "high": 9},
    "per_login": {"ratio": ["minutes", "logins"], "high": 600, "none": 0},
    "more": {"difference": ["exercises", "logins"]},
}


def file_of(**changes):
    content = {
        "version": 1,
        "person": "pupil",
        "period": {"from": START, "until": END, "zone": "America/New_York"},
        "people": {
            "table": "pupils.csv",
            "columns": {"age": {"low": 5, "high": 19}, "sex": {"values": ["F", "M"]}},
        },
        "public": {
            "courses": {
                "table": "courses.csv",
                "key": "course",
                "source": "the catalogue of 2025",
                "columns": {
                    "subject": {"values": ["math", "language"]},
                    "grade": {"low": 1, "high": 6},
                },
            }
        },
        "events": {
            "log": {
                "table": "log.csv",
                "time": "at",
                "join": "courses",
                "columns": {
                    "kind": {"values": KINDS},
                    "minutes": {"low": 0, "high": 60, "step": 0.1},
                    ODD_NAME: {"low": 0, "high": 100, "step": 0.1},
                    "item": {"text": True},
                },
            }
        },
        "features": FEATURES,
    }
    return FeaturesFile.of(content | changes)


COURSES = {
    "course": ["m1", "l1", "x"],
    "subject": ["math", "language", "other"],
    "grade": [1, 2, 6],
}
NAMES = ("pupil", "at", "course", "kind", "minutes", ODD_NAME, "item")


def a_programme(seed, n_events=400, n_people=12):
    """Pupils and their events: repeated rows, missing and odd cells, changes of the clock."""
    rng = np.random.default_rng(seed)
    people = {
        "pupil": [f"p{i}" for i in range(n_people)],
        "age": [float(a) for a in rng.integers(4, 21, n_people)],
        "sex": [["F", "M", "x", None][i] for i in rng.integers(0, 4, n_people)],
    }
    events = []
    for _ in range(n_events):
        day = int(rng.choice([-1, 6, 7, 100, 244, 245, *range(0, 287, 5), 286, 287]))
        at = datetime(2025, 3, 3, tzinfo=UTC) + timedelta(
            days=day, seconds=int(rng.integers(86400))
        )
        events.append((
            f"p{rng.integers(0, n_people + 2)}" if rng.random() > 0.02 else None,
            at.isoformat() if rng.random() > 0.02 else "yesterday",
            [*COURSES["course"], "unknown"][rng.integers(4)],
            [*KINDS, "quiz", None][rng.integers(6)],
            [None, "", "a", f"{rng.uniform(-5, 70):.2f}", "59.96"][rng.integers(5)],
            [None, f"{rng.uniform(0, 100):.1f}"][rng.integers(2)],
            [None, "i1", "i2 ", "i2", "i\\3"][rng.integers(5)],
        ))  # fmt: skip
    events += events[:20]
    return people, events


def log_of(events):
    return {name: [event[i] for event in events] for i, name in enumerate(NAMES)}


def table_of(people, events, file=None):
    tables = {"people": people, "courses": COURSES, "log": log_of(events)}
    return features(file or file_of(), tables=tables)


def rows_of(people, events, file=None):
    return {row["pupil"]: row for row in table_of(people, events, file).to_arrow().to_pylist()}


def number(cell, low, high):
    try:
        value = float(cell)
    except (TypeError, ValueError):
        return None
    return math.floor(min(max(value, low), high) * 10 + 0.5)


def by_hand(pupil, events):
    """Every feature of a pupil, the slow way."""
    zone, own = ZoneInfo("America/New_York"), []
    for who, at, course, kind, minutes, score, item in events:
        if who != pupil or at == "yesterday":
            continue
        local = datetime.fromisoformat(at).astimezone(zone)
        day = (local.date() - START).days
        if 0 <= day < N_DAYS:
            place = COURSES["course"].index(course) if course in COURSES["course"] else None
            subject = None if place is None else COURSES["subject"][place]
            grade = None if place is None else COURSES["grade"][place]
            text = item.strip() if item else None
            numbers = number(minutes, 0, 60), number(score, 0, 100)
            own.append((local, day, kind, *numbers, text, subject, grade))
    n = len(own)
    logins = sum(e[2] == "login" for e in own)
    minutes = sorted(e[3] for e in own if e[3] is not None)
    scores = [e[4] for e in own if e[2] == "exercise" and e[4] is not None]
    weeks = Counter(e[1] // 7 for e in own)
    runs = [(has, len(list(g))) for has, g in groupby(w in weeks for w in range(N_WEEKS))]
    late = sum(e[1] >= (MIDDLE - START).days for e in own)
    # Wall-clock times: a session is told by what the clock shows.
    times = sorted(e[0].replace(tzinfo=None) for e in own)
    gaps = [b - a > timedelta(minutes=30) for a, b in pairwise(times)]
    more = sum(e[2] in ("exercise", "video") for e in own)
    return {
        "logins": logins,
        "exercises": more,
        "minutes": sum(minutes) / 10,
        "score": sum(scores) / (10 * len(scores)) if scores else None,
        "evening": sum(e[0].hour >= 18 for e in own) / n if n else 0,
        "days": len({e[1] for e in own}),
        "weeks": len(weeks),
        "pause": max((k for has, k in runs if not has), default=0),
        "run": max((k for has, k in runs if has), default=0),
        "evenness": (n * n - sum(c * c for c in weeks.values())) / (n * n) if n else 0,
        "recency": N_DAYS - 1 - max(e[1] for e in own) if n else 287,
        "begin": min(e[1] for e in own) if n else 287,
        "items": len({e[5] for e in own if e[5]}),
        "by_subject_math": sum(e[6] == "math" for e in own),
        "by_subject_language": sum(e[6] == "language" for e in own),
        "change": (late - (n - late)) / n if n else 0,
        "middle": statistics.median_low(minutes) / 10 if minutes else None,
        "upper": minutes[math.ceil(len(minutes) * 9 / 10) - 1] / 10 if minutes else None,
        "most": minutes[-1] / 10 if minutes else None,
        "least": minutes[0] / 10 if minutes else None,
        "spread": statistics.pstdev([m / 10 for m in minutes]) if minutes else None,
        "sessions": 1 + sum(gaps) if n else 0,
        "young": sum(e[7] in (1, 2) and e[0].weekday() == 0 for e in own),
        "spring": sum(e[1] >= (MIDDLE - START).days and e[1] // 7 < 40 for e in own),
        "per_login": (sum(minutes) / 10) / logins if logins else 0,
        "more": more - logins,
    }


@pytest.mark.parametrize(
    "seed", [0, 1, 2, *(pytest.param(s, marks=pytest.mark.slow) for s in range(3, 20))]
)
def test_every_feature_equals_a_brute_force_computation(seed):
    people, events = a_programme(seed, n_events=[0, 3, 400][min(seed, 2)])
    rows = rows_of(people, events)
    assert {*rows} == {*people["pupil"]}
    for pupil, row in rows.items():
        expected = by_hand(pupil, events)
        assert {*row} == {"pupil", "age", "sex", *expected}
        place = people["pupil"].index(pupil)
        assert row["age"] == people["age"][place]
        assert row["sex"] == (people["sex"][place] if people["sex"][place] in ("F", "M") else None)
        for name, value in expected.items():
            close = name == "spread" and value is not None
            assert row[name] == (pytest.approx(value, abs=1e-9) if close else value), name


def others(rows, pupil):
    return {name: row for name, row in rows.items() if name != pupil}


@st.composite
def changes(draw):
    """A programme, and the same with all rows of one person added, removed or changed."""
    seed = draw(st.integers(0, 9))
    n_people = draw(st.integers(2, 6))
    people, events = a_programme(seed, n_events=60, n_people=n_people)
    pupil = f"p{draw(st.integers(0, n_people + 1))}"
    more = draw(st.lists(st.sampled_from(events), max_size=30))
    kept = [event for event in events if event[0] != pupil]
    moved = kept + [(pupil, *event[1:]) for event in more]
    there = [i for i, name in enumerate(people["pupil"]) if name != pupil]
    fewer = {name: [column[i] for i in there] for name, column in people.items()}
    return people, events, fewer, draw(st.permutations(moved)), pupil


def _assert_only_one_row_differs(case):
    people, events, fewer, moved, pupil = case
    assert others(rows_of(people, events), pupil) == others(rows_of(fewer, moved), pupil)


@given(changes())
@settings(max_examples=4)
def test_rows_of_one_person_change_no_other_row(case):
    _assert_only_one_row_differs(case)


@pytest.mark.slow
@given(changes())
@settings(max_examples=500)
def test_rows_of_one_person_change_no_other_row_in_five_hundred_cases(case):
    _assert_only_one_row_differs(case)


@pytest.mark.parametrize(
    ("name", "mutant"),
    [
        (
            "GROUPED",
            "SELECT owner, {aggregates} FROM (SELECT *, count(*) OVER () AS everybody FROM {rows}) "
            "AS all_rows WHERE everybody > 60 GROUP BY owner",
        ),
        (
            "WEEKLY",
            "SELECT owner, {outer} FROM (SELECT min(owner) AS owner, {week} AS week, {inner} FROM "
            "{rows} GROUP BY {week}) AS weekly GROUP BY owner",
        ),
        (
            "RANKED",
            "SELECT owner, max(n) AS a0 FROM (SELECT owner, count(*) OVER () AS n FROM {rows} "
            "WHERE {where} AND {value} IS NOT NULL) AS ranked GROUP BY owner",
        ),
        (
            "SESSIONS",
            "SELECT owner, max(n) AS a0 FROM (SELECT owner, count({at}) OVER () AS n FROM {rows} "
            "WHERE {where}) AS paused GROUP BY owner",
        ),
    ],
)
def test_a_query_that_looks_at_another_persons_rows_is_caught(name, mutant, monkeypatch):
    people, events = a_programme(25, n_events=61, n_people=4)
    fewer = {name: column[:1] + column[2:] for name, column in people.items()}
    case = people, events, fewer, [event for event in events if event[0] != "p1"], "p1"
    _assert_only_one_row_differs(case)
    monkeypatch.setattr(queries, name, mutant)
    with pytest.raises(AssertionError):
        _assert_only_one_row_differs(case)


def test_a_person_without_a_row_has_one_where_the_file_says_so():
    people, events = a_programme(3)
    either = file_of(people={"table": "pupils.csv", "who": "either"})
    of_events = file_of(people={"who": "events"})
    have = {event[0] for event in events if by_hand(event[0], events)["days"]} - {None}
    assert {*rows_of(people, events, either)} == {*people["pupil"]} | have
    tables = {"courses": COURSES, "log": log_of(events)}
    rows = features(of_events, tables=tables).to_arrow()["pupil"].to_pylist()
    assert {*rows} == have


def test_two_rows_of_one_person_are_refused_unless_the_latest_is_asked_for():
    _, events = a_programme(3)
    people = {"pupil": ["p1", "p1", "p2"], "age": [7, 8, 9], "up": ["2025-01-01", "2025-02-01", ""]}
    columns = {"age": {"low": 5, "high": 19}}
    once = file_of(people={"table": "p.csv", "columns": columns})
    with pytest.raises(RepeatedPerson) as refused:
        rows_of(people, events, once)
    assert "p1" not in str(refused.value)
    latest = file_of(people={"table": "p.csv", "columns": columns, "repeats": {"latest": "up"}})
    found = {name: row["age"] for name, row in rows_of(people, events, latest).items()}
    assert found == {"p1": 8, "p2": 9}


def test_a_public_table_with_two_rows_of_one_key_is_refused():
    people, events = a_programme(3)
    twice = {name: [*column, column[0]] for name, column in COURSES.items()}
    tables = {"people": people, "courses": twice, "log": log_of(events)}
    with pytest.raises(RepeatedKey) as refused:
        features(file_of(), tables=tables)
    assert "m1" not in str(refused.value)


def test_ids_are_one_person_by_rules_that_look_at_a_cell_alone():
    people = {"pupil": ["7", "uy-12"], "age": [9, 9], "sex": ["F", "F"]}
    _, events = a_programme(3)
    event = next(e for e in events if by_hand(e[0], [e])["days"])
    own = [(who, *event[1:]) for who in ("UY-007", "7.0", "0012", "UY-12")]
    rules = file_of(id={"case": "ignore", "zeros": "strip", "prefix": "UY-"})
    found = {
        name: row["days"] + row["sessions"] for name, row in rows_of(people, own, rules).items()
    }
    assert found == {"7": 2, "12": 2}


def test_late_and_unreadable_events_are_left_out_or_refused():
    people = {"pupil": ["a"], "age": [9], "sex": ["F"]}
    log = {
        "pupil": ["a", "a", "a"],
        "at": ["2025-03-04T12:00:00Z"] * 2 + ["soon"],
        "arrived": ["2025-03-05T00:00:00Z", "2026-02-01T00:00:00Z", "2025-03-05T00:00:00Z"],
    }
    entry = {"table": "log.csv", "time": "at"}
    period = {"from": START, "until": END, "zone": "UTC", "arrived_before": date(2026, 1, 15)}
    few = {"n": {"count": "log", "high": 10}}
    file = file_of(period=period, events={"log": entry}, features=few, public={})
    table = features(file, tables={"people": people, "log": log})
    assert table.to_arrow()["n"].to_pylist() == [1.0]
    assert table.tally.events["log"] == {
        "counted": 1, "arrived late": 1, "unreadable time": 1, "outside the period": 0,
        "without a person": 0,
    }  # fmt: skip
    strict = file_of(
        period=period, events={"log": entry | {"times": "refuse"}}, features=few, public={}
    )
    with pytest.raises(InvalidFeatures) as refused:
        features(strict, tables={"people": people, "log": log}).to_arrow()
    assert "soon" not in str(refused.value)


def test_the_holder_sees_one_row_and_the_events_behind_each_value():
    people, events = a_programme(5)
    table = table_of(people, events)
    row, behind = table.explain("p3")
    assert row == rows_of(people, events)["p3"]
    assert behind["logins"] == row["logins"]
    assert behind["days"] == behind["evenness"] >= row["days"]
    assert table.explain("nobody") == (None, {})


def test_counts_for_the_holder_say_what_was_left_out():
    people, events = a_programme(5)
    table = table_of(people, events)
    table.to_arrow()
    assert table.tally.people == len(people["pupil"])
    counts = table.tally.events["log"]
    assert sum(v for k, v in counts.items() if not k.startswith("no listed")) == len(events)
    assert counts["unreadable time"] == sum(
        e[1] == "yesterday" and e[0] is not None for e in events
    )
    assert table.tally.strangers["log"] > 0
    assert counts["no listed kind"] > 0


def test_the_file_it_writes_is_its_owners_alone(tmp_path):
    people, events = a_programme(5)
    path = table_of(people, events).to_parquet(tmp_path / "pupils.parquet")
    assert path.stat().st_mode & 0o777 == 0o600
