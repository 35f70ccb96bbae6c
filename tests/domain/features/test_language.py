"""Every problem of a features file is found at once, and named by its key."""

import copy

import pytest

from shoal.domain.features import FeaturesFile
from shoal.errors import InvalidFeatures

GOOD = {
    "version": 1,
    "person": "pupil",
    "period": {"from": "2025-03-03", "until": "2025-12-15", "zone": "America/Montevideo"},
    "people": {"table": "pupils.csv", "columns": {"age": {"low": 5, "high": 19}}},
    "public": {
        "courses": {
            "table": "courses.csv",
            "key": "course",
            "source": "the catalogue",
            "columns": {"subject": {"values": ["math", "language"]}},
        }
    },
    "events": {
        "log": {
            "table": "log.csv",
            "time": "at",
            "join": "courses",
            "columns": {"kind": {"values": ["login"]}, "minutes": {"low": 0, "high": 60}},
        }
    },
    "features": {"logins": {"count": "log", "where": {"kind": "login"}, "high": 400}},
}


def problems_of(path, value):
    content = copy.deepcopy(GOOD)
    *above, last = path
    at = content
    for step in above:
        at = at[step]
    if value is None:
        del at[last]
    else:
        at[last] = value
    with pytest.raises(InvalidFeatures) as refused:
        FeaturesFile.of(content)
    return refused.value.message


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (["public", "courses", "source"], None, "public.courses.source is missing: say who"),
        (["period"], None, "period is missing: from which day"),
        (["period", "until"], None, "period.until is missing"),
        (
            ["events", "log", "columns", "kind"],
            {"values": [True, False]},
            "events.log.columns.kind.values holds truth values",
        ),
        (["period", "until"], "2027-01-01", "at most 62"),
        (["period", "until"], "2025-03-03", "must be later"),
        (["period", "zone"], "Montevideo", "no zone"),
        (["peopl"], {}, "peopl is not a known key; did you mean 'people'"),
        (["features", "logins"], {"rank": "log"}, "'rank' compares people"),
        (["features", "logins"], {"top_k": "log"}, "read from everybody's rows"),
        (["features", "logins"], {"sql": "SELECT 1"}, "not in the language"),
        (["features", "logins"], {"same_class": "log"}, "joins one person's rows"),
        (["features", "logins"], {"counts": "log"}, "did you mean 'count'"),
        (["features", "logins", "high"], None, "high is missing: a bound by what it means"),
        (["features", "logins", "where"], {"kind": "quiz"}, "'quiz' is not in the public list"),
        (["features", "logins", "where"], {"hour": [1, 24]}, "where.hour is from and to"),
        (["features", "logins"], {"mean": "log.minutes"}, "none is missing"),
        (["features", "logins"], {"mean": "log.kind", "none": 0}, "must name a column of numbers"),
        (["features", "logins"], {"share": "log", "none": 0}, "which is missing"),
        (["features", "logins"], {"change": "log", "none": 0}, "window is missing"),
        (["features", "logins"], {"count": "log", "sum": "log.minutes"}, "names count and sum"),
        (["features", "logins"], {"ratio": ["a", "b"], "high": 1, "none": 0}, "two features"),
        (["features", "pupil"], {"count": "log", "high": 1}, "the name of two columns"),
        (["events", "log", "join"], "lessons", "not a table under `public`"),
        (["events", "log", "columns", "hour"], {"text": True}, "keep for times"),
        (["public", "courses", "key"], "pupil", "about people"),
        (["public", "courses", "table"], "pupils.csv", "not public"),
        (["people", "columns"], {"age": {"low": 5}}, "people.columns.age has no high"),
    ],
)
def test_a_problem_is_named_by_its_key_and_says_what_would_do(path, value, said):
    assert said in problems_of(path, value)


def test_all_problems_are_said_at_once():
    content = copy.deepcopy(GOOD)
    content["features"] = {"a": {"rank": "log"}, "b": {"count": "log"}, "c": {"days": "logs"}}
    with pytest.raises(InvalidFeatures, match="has 3 problems"):
        FeaturesFile.of(content)


def test_bounds_follow_where_they_are_public_anyway():
    content = copy.deepcopy(GOOD)
    content["features"] = {
        "weeks": {"weeks": "log"},
        "days": {"days": "log"},
        "long": {"mean": "log.minutes", "none": "missing"},
        "by": {"count": "log", "by": "subject", "high": 9, "label": "Lessons"},
    }
    schema = FeaturesFile.of(content).schema
    assert schema.bounds["weeks"] == (0, 41)
    assert schema.bounds["days"] == (0, 287)
    assert schema.bounds["long"] == (0, 60)
    assert schema.missing == {"long": "flag"}
    assert schema.columns[-2:] == ("by_math", "by_language")
    assert (schema.person, schema.max_rows_per_person) == ("pupil", 1)


def test_the_hash_of_a_file_is_of_what_it_says():
    other = {key: GOOD[key] for key in reversed(GOOD)}
    assert FeaturesFile.of(other).digest == FeaturesFile.of(GOOD).digest
    assert FeaturesFile.of({**GOOD, "person": "child"}).digest != FeaturesFile.of(GOOD).digest
