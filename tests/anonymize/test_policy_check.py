from datetime import date

from shoal.anonymize._policy_check import nearest_spelling, parse_day_domain


def test_the_nearest_spelling_is_offered_or_else_all():
    assert nearest_spelling("roel", ["role", "type"]) == "; did you mean 'role'?"
    assert nearest_spelling("zzz", ["role", "type"]) == "; the choices are role, type"


def test_a_domain_of_days_may_be_dates_or_text():
    assert parse_day_domain((date(2001, 1, 1), "2002-01-01")) == (
        date(2001, 1, 1),
        date(2002, 1, 1),
    )
    assert parse_day_domain(("2002-01-01", "2001-01-01")) is None
    assert parse_day_domain((1, 2)) is None
