import pytest

from shoal.jobs.drafts._typical_bounds import is_personal, typical_bounds


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("age", 0, 110), ("Age", 0, 110), ("patient_age", 0, 110), ("Attendance (%)", 0, 100),
        ("pct", 0, 100), ("latitude", -90, 90), ("Lng", -180, 180), ("hours-per-week", 0, 168),
        ("YearOfBirth", 1900, 2030),
        ("income_quintile", 1, 5), ("Age at enrollment", 0, 110), ("age (years)", 0, 110),
        ("Percent passing", 0, 100),
    ],
)  # fmt: skip
def test_names_that_anybody_reads_alike_have_bounds(name, low, high):
    assert typical_bounds(name)[:2] == (low, high)


@pytest.mark.parametrize("name", ["village", "age_group", "income", "x", "gradeable", "%x", "1"])
def test_other_names_have_none(name):
    assert typical_bounds(name) is None


@pytest.mark.parametrize("name", ["final grade", "GPA", "pain_score", "Marks", "share"])
def test_names_of_many_scales_are_left_open(name):
    assert typical_bounds(name) is None


@pytest.mark.parametrize("name", ["name", "E-Mail", "Telefon", "Straße", "user name", "IBAN"])
def test_names_of_columns_that_name_people_are_known(name):
    assert is_personal(name)
